//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInterruptRosa: what was read is written, and the output is left under its partial
// name.
func TestInterruptRosa(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out.jsonl")
	for _, args := range [][]string{{"rosa", "--batch", "1"}, {"rosa", "-", "--batch", "1", "-o", out}} {
		r := start(t, args...)
		r.send(t, tokenLine(1, []int64{4, 4})+`{"id":2,"tok`)
		want := `{"id":1,"next":[-1,4],"length":[0,1],"source":[-1,0]}` + "\n"
		if len(args) == 3 {
			r.expect(t, want)
		} else {
			require.Eventually(t, func() bool {
				b, err := os.ReadFile(out + ".partial")
				return err == nil && len(b) > 0
			}, 30*time.Second, time.Millisecond)
		}
		require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
		rest, state := r.wait(t)
		require.Empty(t, rest)
		require.Equal(t, exitInterrupted, state.ExitCode(), r.stderr)
		if len(args) > 3 {
			require.Equal(t, want, read(t, out+".partial"))
			require.NoFileExists(t, out)
			require.Contains(t, r.stderr.String(), out+".partial")
		}
	}
}

// TestRosaIntoAClosedPipe has a reader that goes in the middle of a line that is written in
// parts.
func TestRosaIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "rosa", "--text", "--candidates", "32,32")
	cmd.Stdin = strings.NewReader(strings.Repeat(strings.Repeat("ab", 4000)+"\n", 4))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	_ = cmd.Wait()
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	require.Empty(t, stderr.String())
}
