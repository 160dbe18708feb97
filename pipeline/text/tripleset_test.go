package text

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTripleSetAgainstMap(t *testing.T) {
	var set tripleSet
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Uint64Range(2, 400), 0, 500).Draw(t, "keys")
		// A wrong guess of the number of keys must only cost time.
		set.reset(rapid.IntRange(0, 500).Draw(t, "guess"))
		want := map[uint64]bool{}
		for _, k := range keys {
			k *= 0x9e3779b97f4a7c15
			set.add(k)
			want[k] = true
		}
		require.Equal(t, len(want), set.count)
	})
}

// TestTripleSetFlood adds keys that a set placing by the high bits, the low
// bits or a known multiplier would put into one place, and counts how far each
// lies from where its search begins.
func TestTripleSetFlood(t *testing.T) {
	const n = 1 << 14
	inverse := uint64(1) // of the multiplier below, modulo 2⁶⁴
	const known = 0x9e3779b97f4a7c15
	for range 6 {
		inverse *= 2 - known*inverse
	}
	require.Equal(t, uint64(1), inverse*known)
	for name, key := range map[string]func(i uint64) uint64{
		"high bits":  func(i uint64) uint64 { return 0xdeadbeef<<32 | i },
		"low bits":   func(i uint64) uint64 { return i<<32 | 0xdeadbeef },
		"multiplier": func(i uint64) uint64 { return i * inverse },
	} {
		best := math.MaxInt
		for range 5 { // an unlucky multiplier is possible, five are not
			var set tripleSet
			set.reset(n)
			for i := range uint64(n) {
				set.add(key(i + 1))
			}
			require.Equal(t, n, set.count)
			moved := 0
			for i, k := range set.slots {
				if k != 0 {
					moved += (i - set.place(k)) & (len(set.slots) - 1)
				}
			}
			best = min(best, moved)
		}
		require.Less(t, best, 16*n, "%s: keys crowd together", name)
	}
}
