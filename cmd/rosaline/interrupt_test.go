//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// running is a process that reads its standard input from the test.
type running struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	cmdOut io.Closer // what out reads
	stderr *heard
}

// heard is standard error of a process, which a test can wait on.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
	select {
	case h.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func (h *heard) await(t *testing.T, what string) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for !strings.Contains(h.String(), what) {
		select {
		case <-h.more:
		case <-timeout:
			t.Fatalf("waiting for %q, heard %q", what, h.String())
		}
	}
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command(binary, args...), stderr: &heard{more: make(chan struct{}, 1)}}
	var err error
	r.in, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	r.out, r.cmdOut = bufio.NewReader(out), out
	r.cmd.Stderr = r.stderr
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

func (r *running) send(t *testing.T, s string) {
	t.Helper()
	_, err := io.WriteString(r.in, s)
	require.NoError(t, err)
}

// expect reads the given output.
func (r *running) expect(t *testing.T, s string) {
	t.Helper()
	got := make([]byte, len(s))
	_, err := io.ReadFull(r.out, got)
	require.NoError(t, err, r.stderr)
	require.Equal(t, s, string(got))
}

// wait returns the rest of the output and how the process ended.
func (r *running) wait(t *testing.T) (string, *os.ProcessState) {
	t.Helper()
	rest, err := io.ReadAll(r.out)
	require.NoError(t, err)
	_ = r.cmd.Wait()
	return string(rest), r.cmd.ProcessState
}

// TestInterrupt stops commands whose standard input stays open.
func TestInterrupt(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			r := start(t, "run", "-", "--batch", "1")
			r.send(t, proseRecords(20)+`{"id":"unfinished","te`)
			r.expect(t, proseRecords(20))
			require.NoError(t, r.cmd.Process.Signal(sig))
			rest, state := r.wait(t)
			require.Empty(t, rest)
			require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
			require.Contains(t, r.stderr.String(), "rosaline: interrupted: "+sig.String())
			require.Contains(t, r.stderr.String(), "interrupted after")
			require.NotContains(t, r.stderr.String(), "goroutine ")
		})
	}
}

// TestInterruptFinishesWhatWasRead has a batch that is not full when the signal
// comes: its records have been read and are written.
func TestInterruptFinishesWhatWasRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rep, rejects := filepath.Join(dir, "report.json"), filepath.Join(dir, "rejects.jsonl")
	r := start(t, "run", "-", "--batch", "8", "--report", rep, "--rejects", rejects)
	all := proseRecords(12) + record("short", "short")
	require.Less(t, len(all), 4096, "one write to a pipe, read at once")
	r.send(t, all)
	r.expect(t, proseRecords(8)) // the other four have been read too
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	rest, state := r.wait(t)
	require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
	require.Equal(t, proseRecords(12), proseRecords(8)+rest)
	require.Contains(t, read(t, rep), `"state": "interrupted"`)
	require.NoFileExists(t, rejects)
	require.Contains(t, read(t, rejects+".partial"), `"id":"short"`)
	require.Contains(t, r.stderr.String(), rejects+".partial")
}

// TestInterruptPipe stops commands that wait for the other end of a named pipe.
func TestInterruptPipe(t *testing.T) {
	pipeIn := func(t *testing.T) string {
		pipe := filepath.Join(t.TempDir(), "in.jsonl")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		return pipe
	}
	t.Run("open to read", func(t *testing.T) {
		t.Parallel()
		r := start(t, "run", pipeIn(t))
		r.stderr.await(t, "stages run on")
		require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
		_, state := r.wait(t)
		require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
	})
	t.Run("read", func(t *testing.T) {
		t.Parallel()
		pipe := pipeIn(t)
		r := start(t, "run", pipe, "--batch", "8")
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		require.NoError(t, err)
		defer w.Close() // until then there is no end
		_, err = w.WriteString(proseRecords(12) + `{"id":"unfinished","te`)
		require.NoError(t, err)
		r.expect(t, proseRecords(8))
		require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
		rest, state := r.wait(t)
		require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
		require.Equal(t, proseRecords(12), proseRecords(8)+rest)
	})
	t.Run("open to write", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		pipe := filepath.Join(dir, "pipe")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		r := start(t, "run", "-", "-o", pipe, "--rejects", filepath.Join(dir, "out")) // which is opened first
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(dir, "out.partial"))
			return err == nil
		}, 30*time.Second, time.Millisecond)
		require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
		_, state := r.wait(t)
		require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
		require.NoFileExists(t, filepath.Join(dir, "out.partial"))
	})
}

// TestInterruptEndlessLine stops a command in the middle of a line.
func TestInterruptEndlessLine(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero here")
	}
	sparse := filepath.Join(t.TempDir(), "sparse.txt")
	require.NoError(t, os.WriteFile(sparse, nil, 0o644))
	require.NoError(t, os.Truncate(sparse, 1<<40))
	for _, in := range []string{"/dev/zero", sparse} {
		t.Run(filepath.Base(in), func(t *testing.T) {
			t.Parallel()
			r := start(t, "run", "--format", "text", "--max-line", "1KiB", in)
			r.stderr.await(t, "stages run on")
			require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
			_, state := r.wait(t)
			require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
		})
	}
}

// TestInterruptEndlessRun: an endless run ends at a signal, and everything that was read
// is written, whether it waits in a shuffle buffer or not.
func TestInterruptEndlessRun(t *testing.T) {
	for _, more := range [][]string{nil, {"--shuffle", "50"}, {"--unordered"}} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			t.Parallel()
			in := write(t, t.TempDir(), "in.jsonl", proseRecords(100))
			r := start(t, append([]string{"run", in, "--epochs", "0", "--batch", "8"}, more...)...)
			var head strings.Builder
			for range 250 {
				l, err := r.out.ReadString('\n')
				require.NoError(t, err)
				head.WriteString(l)
			}
			require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
			rest, state := r.wait(t)
			require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
			all := head.String() + rest
			epoch := sorted(proseRecords(100))
			for len(all) > 0 {
				n, at := 0, 0
				for n < 100 && at < len(all) {
					at += strings.IndexByte(all[at:], '\n') + 1
					n++
				}
				if n < 100 {
					require.Subset(t, epoch, slices.Collect(strings.Lines(all)))
				} else {
					require.Equal(t, epoch, sorted(all[:at]))
				}
				all = all[at:]
			}
		})
	}
}

func TestInterruptQuality(t *testing.T) {
	t.Parallel()
	r := start(t, "quality", "-", "--batch", "1")
	r.send(t, record("1", "a"))
	r.expect(t, `{"id":"1","chars":1,"words":1,"entropy":0,"repetition":0,"symbol_ratio":0}`+"\n")
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	_, state := r.wait(t)
	require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
}

// TestSecondSignal ends a process that cannot get rid of its output.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, dir, "in.jsonl", strings.Repeat(proseRecords(1000), 10))
	// One batch fills the pipe several times over, so whoever has begun to write
	// it waits for us to read.
	r := start(t, "run", in, "--dedup", "off", "--batch", "10000")
	_, err := r.out.Peek(1)
	require.NoError(t, err)
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	r.stderr.await(t, "a second signal ends at once")
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	_ = r.cmd.Wait()
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled() && status.Signal() == syscall.SIGINT, "%v, said %s", r.cmd.ProcessState, r.stderr)
}

// TestClosedOutput has a reader that takes one line and goes, as head does.
func TestClosedOutput(t *testing.T) {
	for _, args := range [][]string{{"run", "--dedup", "off"}, {"quality"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := write(t, dir, "in.jsonl", strings.Repeat(proseRecords(1000), 10))
			cmd := exec.Command(binary, append(args, in, "--log-level", "warn")...)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.NoError(t, cmd.Start())
			_, err = bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, out.Close())
			_ = cmd.Wait()
			require.Equal(t, exitFailed, cmd.ProcessState.ExitCode(), "%v", cmd.ProcessState)
			require.Empty(t, stderr.String())
		})
	}
}

// TestEndlessRunIntoAClosedPipe: who reads it decides how long it is.
func TestEndlessRunIntoAClosedPipe(t *testing.T) {
	for _, more := range [][]string{nil, {"--shuffle", "10"}, {"--unordered"}} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			t.Parallel()
			in := write(t, t.TempDir(), "in.jsonl", proseRecords(20))
			r := start(t, append([]string{"run", in, "--epochs", "0", "--log-level", "warn"}, more...)...)
			seen := map[string]int{}
			for range 1000 {
				l, err := r.out.ReadString('\n')
				require.NoError(t, err)
				seen[l]++
			}
			require.Len(t, seen, 20)
			for l, n := range seen {
				require.Equal(t, 50, n, l)
			}
			require.NoError(t, r.cmdOut.Close())
			_ = r.cmd.Wait()
			require.Equal(t, exitFailed, r.cmd.ProcessState.ExitCode(), r.stderr)
			require.Empty(t, r.stderr.String())
		})
	}
}

// TestOutputToPipe writes to a named pipe straight.
func TestOutputToPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	got := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			b = fmt.Append(nil, err)
		}
		got <- string(b)
	}()
	r := process(t, dir, proseRecords(3), "run", "-", "-o", pipe)
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, proseRecords(3), <-got)
	require.NoFileExists(t, pipe+".partial")
}

// TestStdoutByName: a pipe has two names, and is one file all the same.
func TestStdoutByName(t *testing.T) {
	t.Parallel()
	r := process(t, t.TempDir(), proseRecords(3), "run", "-", "--rejects", "/dev/stdout")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "--rejects /dev/stdout would overwrite --output -")
}

// TestStdoutRedirectedToInput would read what it writes, without end.
func TestStdoutRedirectedToInput(t *testing.T) {
	t.Parallel()
	in := write(t, t.TempDir(), "in.jsonl", proseRecords(3))
	f, err := os.OpenFile(in, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command(binary, "run", in)
	cmd.Stdout = f
	require.Error(t, cmd.Run())
	require.Equal(t, exitUsage, cmd.ProcessState.ExitCode())
	require.Equal(t, proseRecords(3), read(t, in))
}
