package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

func TestParseCommandInvertsString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := protocol.Command{
			Case:    rapid.StringMatching(`[a-z-]{1,12}`).Draw(t, "case"),
			Workers: rapid.IntRange(1, 1000).Draw(t, "workers"),
			N:       rapid.IntRange(1, 1<<30).Draw(t, "n"),
		}
		got, err := protocol.ParseCommand(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	})
}

func TestParseCommandRefuses(t *testing.T) {
	for _, line := range []string{"", "batch", "batch 2", "batch 2 3 4", "batch two 3", "batch 2 3.5", "batch 0 3", "batch 2 -1", "batch 2 99999999999999999999"} {
		_, err := protocol.ParseCommand(line)
		require.ErrorIs(t, err, protocol.ErrCommand, line)
	}
}

func FuzzParseCommand(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		c, err := protocol.ParseCommand(line)
		if err != nil {
			return
		}
		again, err := protocol.ParseCommand(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
