package text

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/cpu"
)

// slowClasses are the masks of s found byte by byte with the standard library.
func slowClasses(s []byte) []cpu.Block {
	out := make([]cpu.Block, (len(s)+cpu.BlockSize-1)/cpu.BlockSize)
	for i, c := range s {
		b, bit := &out[i/cpu.BlockSize], uint64(1)<<(i%cpu.BlockSize)
		r := rune(c)
		letter := c < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
		for _, class := range []struct {
			mask *uint64
			in   bool
		}{
			{&b.Space, c < 0x80 && unicode.IsSpace(r)},
			{&b.Alnum, letter},
			{&b.Digit, c < 0x80 && unicode.IsDigit(r)},
			{&b.At, r == '@'},
			{&b.Dot, r == '.'},
			{&b.Colon, r == ':'},
			{&b.Key, letter || strings.ContainsRune("_-.", r)},
			{&b.NonASCII, c >= 0x80},
		} {
			if class.in {
				*class.mask |= bit
			}
		}
	}
	return out
}

func TestClassesOfEveryByteAtEveryPlace(t *testing.T) {
	var c classes
	for n := range 2*cpu.BlockSize + 3 {
		for v := range 256 {
			s := make([]byte, n)
			for i := range s {
				s[i] = byte(v + i*37)
			}
			c.classify(s)
			require.Equal(t, slowClasses(s), append([]cpu.Block{}, c.blocks...), "length %d, first byte %d", n, v)
		}
	}
}

func TestClassesProperty(t *testing.T) {
	var c classes // reused: nothing of the text before may show
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.Byte(), 0, 5*cpu.BlockSize).Draw(t, "text")
		c.classify(s)
		want := slowClasses(s)
		require.Equal(t, want, append([]cpu.Block{}, c.blocks...))
		var union cpu.Block
		for _, b := range want {
			union.Space |= b.Space
			union.Alnum |= b.Alnum
			union.Digit |= b.Digit
			union.At |= b.At
			union.Dot |= b.Dot
			union.Colon |= b.Colon
			union.Key |= b.Key
			union.NonASCII |= b.NonASCII
		}
		require.Equal(t, union, c.union)
	})
}

func BenchmarkClassify(b *testing.B) {
	s := []byte(strings.Repeat("The quick brown fox, 42 dogs @ home. ", 100))
	var c classes
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		c.classify(s)
	}
}
