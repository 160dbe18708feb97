package main

import (
	"bufio"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A record that comes through a pipe is written before the next one comes: the
// test would hang.
func TestRecordsOfAPipeComeAtOnce(t *testing.T) {
	for _, args := range [][]string{{"run", "-", "--stages", "none"}, {"quality", "-"}} {
		cmd := exec.Command(binary, args...)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for _, id := range []string{"a", "b", "c"} {
			_, err := in.Write([]byte(`{"id":"` + id + `","text":"one two three"}` + "\n"))
			require.NoError(t, err)
			require.True(t, lines.Scan())
			require.Contains(t, lines.Text(), `"id":"`+id+`"`)
		}
		require.NoError(t, in.Close())
		require.False(t, lines.Scan())
		require.NoError(t, cmd.Wait())
	}
}
