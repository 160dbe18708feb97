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
		for i, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 13, 4000, 64 << 10, 100_000, maxArenaSlab + 1}), 0, 20).Draw(t, "sizes") {
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
}

// TestArenaDoesNotGrow repeats a batch in which short texts stand between texts
// that are too long for a slab.
func TestArenaDoesNotGrow(t *testing.T) {
	var a arena
	for range 10 {
		for range 3 {
			a.alloc(1)
			a.alloc(maxArenaSlab + 1)
			a.giveBack(1)
		}
		require.Len(t, a.slabs, 1)
		a.reset()
	}
	for range 3 * keepArenaSlabs {
		a.alloc(maxArenaSlab)
	}
	a.reset()
	require.Len(t, a.slabs, keepArenaSlabs)
}
