package text

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestArena fills each piece with its number and finds it untouched at the end.
func TestArena(t *testing.T) {
	var a arena
	rapid.Check(t, func(t *rapid.T) {
		a.reset()
		var pieces [][]byte
		for i, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 13, 4000, 64 << 10, 100_000}), 0, 40).Draw(t, "sizes") {
			back := rapid.IntRange(0, n).Draw(t, "back")
			p := a.alloc(n)
			require.Len(t, p, n)
			a.giveBack(back)
			p = p[:n-back]
			for k := range p {
				p[k] = byte(i)
			}
			pieces = append(pieces, p)
		}
		for i, p := range pieces {
			require.Equal(t, len(p), bytes.Count(p, []byte{byte(i)}))
		}
	})
	a.alloc(keepArenaSlab + 1)
	a.reset()
	for _, s := range a.slabs {
		require.LessOrEqual(t, len(s), keepArenaSlab)
	}
}
