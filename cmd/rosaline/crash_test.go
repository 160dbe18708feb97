//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// awaitPart waits until a file is there.
func awaitPart(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(path)
		return err == nil
	}, 30*time.Second, time.Millisecond, path)
}

// TestKill: a process that is killed leaves complete parts, and one that has the name of
// an incomplete one. What it held is free for the next.
func TestKill(t *testing.T) {
	for _, format := range outFormats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"run", "-", "-o", dir, "--out-format", format, "--shard-rows", "5", "--batch", "1"}
			r := start(t, args...)
			r.send(t, proseRecords(12))
			awaitPart(t, filepath.Join(dir, "part-00002."+format+".partial"))
			require.NoError(t, r.cmd.Process.Kill())
			_, state := r.wait(t)
			require.False(t, state.Success())
			require.NoError(t, os.Remove(filepath.Join(dir, "part-00002."+format+".partial")))
			all, sizes := readParts(t, dir, format)
			require.Equal(t, []int{5, 5}, sizes)
			for i, one := range all {
				require.Equal(t, prose(i), one.Text)
			}

			again := process(t, dir, proseRecords(12), append(args, "--overwrite")...)
			require.Equal(t, exitDone, again.code, again.err)
			_, sizes = readParts(t, dir, format)
			require.Equal(t, []int{5, 5, 2}, sizes)
			require.NoFileExists(t, filepath.Join(dir, ".part.lock"))
		})
	}
}

// TestInterruptedTable: what was read is written, and can be read.
func TestInterruptedTable(t *testing.T) {
	for _, format := range outFormats[1:] {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out."+format)
			r := start(t, "run", "-", "-o", path, "--batch", "1", "--rejects", "/dev/stdout")
			r.send(t, proseRecords(12)+record("short", "short")+`{"id":"unfinished","te`)
			r.expect(t, `{"id":"short",`)
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGINT))
			_, state := r.wait(t)
			require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
			require.Contains(t, r.stderr.String(), path+".partial")
			require.Len(t, readOutput(t, path+".partial", format), 12)
		})
	}
}

// TestTwoRunsIntoOneFolder: the second is refused.
func TestTwoRunsIntoOneFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, "run", "-", "-o", dir)
	awaitPart(t, filepath.Join(dir, ".part.lock"))
	second := process(t, dir, proseRecords(1), "run", "-", "-o", dir, "--overwrite")
	require.Equal(t, exitFailed, second.code)
	require.Contains(t, second.err, "another run is writing")
	require.NoError(t, r.in.Close())
	_, state := r.wait(t)
	require.True(t, state.Success(), r.stderr)
}

// TestTableIntoAClosedPipe: whoever reads has seen enough.
func TestTableIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	in := write(t, t.TempDir(), "in.jsonl", proseRecords(1000))
	r := start(t, "run", in, "--epochs", "0", "--out-format", "arrow", "--log-level", "warn")
	_, err := r.out.Peek(100)
	require.NoError(t, err)
	require.NoError(t, r.cmdOut.Close())
	_ = r.cmd.Wait()
	require.Equal(t, exitFailed, r.cmd.ProcessState.ExitCode(), r.stderr)
	require.Empty(t, r.stderr.String())
}
