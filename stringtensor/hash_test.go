package stringtensor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// Values from the XXH3 reference for the empty input; those of other strings are
// in the goldens.
func TestHashOfEmptyAndNull(t *testing.T) {
	b := NewBuilder()
	require.NoError(t, b.AppendString(""))
	b.AppendNull()
	c := b.Finish()
	require.Equal(t, uint64(0x2d06800538d394c2), c.Hash64(0))
	hi, lo := c.Hash128(0)
	require.Equal(t, uint64(0x99aa06d3014798d8), hi)
	require.Equal(t, uint64(0x6001c324468d497f), lo)

	require.Equal(t, NullHash, c.Hash64(1))
	hi, lo = c.Hash128(1)
	require.Equal(t, NullHash, hi)
	require.Equal(t, NullHash, lo)
	require.Equal(t, []uint64{0x2d06800538d394c2, NullHash}, c.HashAll())
}

// Values of the XXH3 reference implementation, one of each of its ranges of
// length and both sides of the border of a view.
func TestHashOfReference(t *testing.T) {
	for _, x := range []struct {
		row    string
		h      uint64
		hi128  uint64
		low128 uint64
	}{
		{"a", 0xe6c632b61e964e1f, 0xa96faf705af16834, 0xe6c632b61e964e1f},
		{"abcdefghijkl", 0x52beba2086c3f6d7, 0xd5c1c71e1ef3a2b6, 0xca41a0e8a26ef9e2},
		{"abcdefghijklm", 0xd7b6fd946b75df4b, 0xb3f3c61b89a9d122, 0x4c633bfeef25de5b},
		{"日本語のテキスト長い文字列", 0x10894ffa86a2ae43, 0x259084b7aa4714e5, 0x0671a8aa850867b4},
		{strings.Repeat("x", 300), 0xa5d1b4607dc83554, 0x125237ea2ad7bc7a, 0xa5d1b4607dc83554},
	} {
		c := modelOf(x.row).build(t, MaxStringLen)
		require.Equal(t, x.h, c.Hash64(0), x.row)
		hi, lo := c.Hash128(0)
		require.Equal(t, x.hi128, hi, x.row)
		require.Equal(t, x.low128, lo, x.row)
	}
}

func TestHashPanicsOutOfRange(t *testing.T) {
	c := modelOf("a").build(t, MaxStringLen)
	require.Panics(t, func() { c.Hash64(1) })
	require.Panics(t, func() { c.Hash128(-1) })
}

// The rows that are hashed from their views beside another implementation.
func TestHashOfInlineRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, MaxInline+2), 1, 50).Draw(t, "rows")
		c, err := FromBytes(rows)
		require.NoError(t, err)
		for i, h := range c.HashAll() {
			require.Equal(t, xxh3.Hash(rows[i]), h, "row %d", i)
			require.Equal(t, h, c.Hash64(i), "row %d", i)
		}
	})
}
