package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawBits draws n bits at a place within bytes that are otherwise random.
func drawBits(t *rapid.T, n int) (bitmap, []bool) {
	off := rapid.IntRange(0, 70).Draw(t, "offset")
	size := (off + n + 7) / 8
	m := bitmap{rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes"), off}
	want := make([]bool, n)
	for i := range want {
		want[i] = m.bits[(off+i)/8]&(1<<((off+i)%8)) != 0
	}
	return m, want
}

func TestBitmapAgreesWithBools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		m, want := drawBits(t, n)
		ones := 0
		for i, w := range want {
			require.Equal(t, w, m.get(i))
			if w {
				ones++
			}
		}
		require.Equal(t, ones, m.ones(n))

		lo := rapid.IntRange(0, n).Draw(t, "lo")
		s := m.slice(lo)
		for i, w := range want[lo:] {
			require.Equal(t, w, s.get(i))
		}

		copied := newBitmap(n + lo)
		copied.put(lo, m, n)
		require.True(t, copied.slice(lo).equal(m, n))
		require.Zero(t, copied.ones(lo))
		require.Equal(t, ones, copied.ones(n+lo), "bits after the last must stay zero")

		full := newBitmap(n + lo)
		full.put(lo, bitmap{}, n)
		require.Equal(t, n, full.ones(n+lo))

		if n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "flipped")
			copied.bits[(lo+i)/8] ^= 1 << ((lo + i) % 8)
			require.False(t, copied.slice(lo).equal(m, n))
		}
	})
}

func TestBitmapHolds(t *testing.T) {
	require.True(t, bitmap{make([]byte, 2), 3}.holds(13))
	require.False(t, bitmap{make([]byte, 2), 3}.holds(14))
	require.True(t, bitmap{make([]byte, 0), 0}.holds(0))
	require.False(t, bitmap{make([]byte, 2), 24}.holds(0))
	require.False(t, bitmap{make([]byte, 2), -1}.holds(1))
}
