package text

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/cpu"
)

// TestDecodeEveryCodePoint compares decoding with package utf8, and the look-up by
// groups with that by pages.
func TestDecodeEveryCodePoint(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := utf8.AppendRune(nil, r)
		for _, behind := range []string{"", "a", "日本"} {
			s = append(s[:utf8.RuneLen(r)], behind...)
			got, size := decode(s, true)
			if got != r || size != utf8.RuneLen(r) {
				require.Fail(t, "decoded wrongly", "%U as %U, %d bytes", r, got, size)
			}
		}
		three, ok := decodeThree(s)
		if ok != (utf8.RuneLen(r) == 3) || ok && three != r {
			require.Fail(t, "decoded wrongly as three bytes", "%U as %U", r, three)
		}
		g := groupOf(r)
		if (g.alnum>>(r&63)&1 != 0) != isAlnum(r) || (g.space>>(r&63)&1 != 0) != isSpace(r) {
			require.Fail(t, "group and page differ", "%U", r)
		}
	}
}

// TestIdeographs: vectors find the code points from 4000 to 9FFF whose second byte is not
// B7, all of them alphanumeric and none white space.
func TestIdeographs(t *testing.T) {
	known := func(r rune) bool { return r >= 0x4000 && r <= 0x9fff && string(r)[1] != 0xb7 }
	for r := rune(0x4000); r <= 0x9fff; r++ {
		require.True(t, !known(r) || isAlnum(r) && !isSpace(r), "%U", r)
	}
	if cpu.Active() == cpu.Generic {
		t.Skip("needs vectors")
	}
	var x ideographs
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.Rune(), rapid.Int32Range(0x3fc0, 0x4040), rapid.Int32Range(0x4d80, 0x4e40), rapid.Int32Range(0x9f80, 0xa040), rapid.Int32Range(0x4000, 0x9fff))
		s := []byte(string(rapid.SliceOfN(piece, 1, 120).Draw(t, "text")))
		blocks := (len(s) + cpu.BlockSize - 1) / cpu.BlockSize
		want := make([]uint64, blocks)
		for i, r := range string(s) {
			if known(r) {
				want[i/cpu.BlockSize] |= 1 << (i % cpu.BlockSize)
			}
		}
		require.True(t, x.find(s))
		for i := range want {
			require.Equal(t, want[i], x.begin(i), "block %d", i)
		}
	})
}
