package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInputThatShrinks: what is left of a file that becomes shorter while it is read is
// written, and is not taken for all of it, whether the file has a name or not.
func TestInputThatShrinks(t *testing.T) {
	all := numbers(6_000)
	known := map[string]bool{}
	for l := range strings.Lines(all) {
		known[l] = true
	}
	for _, c := range []struct {
		stdin bool
		flags []string
	}{
		{false, nil}, {true, nil}, {false, []string{"--epochs", "2"}}, {true, []string{"--shuffle", "30"}},
		{false, []string{"--shard", "1/2", "--shard-mode", "drop"}},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			path := write(t, t.TempDir(), "in.jsonl", all)
			var out, said bytes.Buffer
			s, arg := streams{strings.NewReader(""), &out, &said}, path
			if c.stdin {
				f, err := os.Open(path)
				require.NoError(t, err)
				defer f.Close()
				s.in, arg = f, "-"
			}
			cmd := newCommand(s)
			var steps atomic.Int64
			cmd.pause = func() {
				// The first chunk has been read by now, and what is in flight ends far from
				// the end of the file.
				if steps.Add(1) == 4 {
					_ = os.Truncate(path, 0)
				}
			}
			code := cmd.execute(context.Background(), append([]string{"run", arg, "--stages", "none", "--batch", "8"}, c.flags...))
			require.Equal(t, exitFailed, code, said.String())
			require.Contains(t, said.String(), "the file became shorter while it was read")
			require.NotEmpty(t, out.String())
			require.Less(t, out.Len(), len(all))
			for l := range strings.Lines(out.String()) {
				require.True(t, known[l], l)
			}
		})
	}
}
