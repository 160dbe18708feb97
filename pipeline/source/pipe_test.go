package source

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Lines that come through a pipe do not wait for more of them: the test would hang.
func TestLinesOfAPipeComeAtOnce(t *testing.T) {
	for _, shard := range []ReaderOption{WithShard(0, 1, pipeline.Uneven), WithShard(1, 2, pipeline.Uneven)} {
		from, to, err := os.Pipe()
		require.NoError(t, err)
		defer from.Close()
		r, err := NewReader([]Input{{Path: Stdin, Format: FormatText}}, WithStdin(from), shard)
		require.NoError(t, err)
		defer r.Close()

		for _, text := range []string{"one\ntwo\n", "three\nfour\nfi", "ve\nsix\n"} {
			_, err = to.WriteString(text)
			require.NoError(t, err)
			if text[len(text)-1] != '\n' {
				continue // the rest of a line must come first
			}
			c, err := r.Next(context.Background())
			require.NoError(t, err)
			last := c.Line(c.Len() - 1)
			require.Contains(t, text, string(last.Data)+"\n")
			require.Equal(t, int64(map[string]int{"two": 2, "six": 6}[string(last.Data)]), last.Pos.Line)
			c.Release()
		}
		require.NoError(t, to.Close())
		_, err = r.Next(context.Background())
		require.Equal(t, io.EOF, err)
	}
}
