package text

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slowClasses are the masks of s found byte by byte with the standard library.
func slowClasses(s []byte) []block {
	out := make([]block, (len(s)+blockSize-1)/blockSize)
	for i, c := range s {
		b, bit := &out[i/blockSize], uint64(1)<<(i%blockSize)
		r := rune(c)
		letter := c < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
		for _, class := range []struct {
			mask *uint64
			in   bool
		}{
			{&b.space, c < 0x80 && unicode.IsSpace(r)},
			{&b.alnum, letter},
			{&b.digit, c < 0x80 && unicode.IsDigit(r)},
			{&b.at, r == '@'},
			{&b.dot, r == '.'},
			{&b.colon, r == ':'},
			{&b.key, letter || strings.ContainsRune("_-.", r)},
			{&b.nonASCII, c >= 0x80},
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
	for n := range 2*blockSize + 3 {
		for v := range 256 {
			s := make([]byte, n)
			for i := range s {
				s[i] = byte(v + i*37)
			}
			c.classify(s)
			require.Equal(t, slowClasses(s), append([]block{}, c.blocks...), "length %d, first byte %d", n, v)
		}
	}
}

func TestClassesProperty(t *testing.T) {
	var c classes // reused: nothing of the text before may show
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.Byte(), 0, 5*blockSize).Draw(t, "text")
		c.classify(s)
		want := slowClasses(s)
		require.Equal(t, want, append([]block{}, c.blocks...))
		var union block
		for _, b := range want {
			union.space |= b.space
			union.alnum |= b.alnum
			union.digit |= b.digit
			union.at |= b.at
			union.dot |= b.dot
			union.colon |= b.colon
			union.key |= b.key
			union.nonASCII |= b.nonASCII
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
