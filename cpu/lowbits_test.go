package cpu

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// requireLowBits compares the counts with those of the runes that Go decodes.
func requireLowBits(t require.TestingT, s []byte) {
	var want [8]int
	for _, r := range string(s) {
		want[r%8]++
	}
	require.Equal(t, want, CountLowBits(s), "%q", s)
}

// fillRunes fills s with code points of every length, mostly such of the given one.
func fillRunes(s []byte, mostly int, rng *rand.Rand) {
	limits := [...]int32{0, 0x80, 0x800, 0x10000, 0x110000}
	for len(s) > 0 {
		size := mostly
		if rng.IntN(4) == 0 {
			size = 1 + rng.IntN(4)
		}
		if size > len(s) {
			size = 1
		}
		r := limits[size-1] + rng.Int32N(limits[size]-limits[size-1])
		if r >= 0xd800 && r < 0xe000 {
			r = 0xd7ff
		}
		s = s[utf8.EncodeRune(s, r):]
	}
}

func TestLowBitsOfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= 2*longest; n++ {
			for s := range places[byte](mem, n) {
				fillRunes(s, 1+rng.IntN(4), rng)
				requireLowBits(t, s)
			}
		}
	})
}

func TestLowBitsReadsNothingElse(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := range longest {
			s := atEnd[byte](t, n)
			fillRunes(s, 3, rng)
			requireLowBits(t, s)
		}
	})
}

func TestLowBitsProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			requireLowBits(t, []byte(rapid.StringN(0, 500, -1).Draw(t, "s")))
		})
	})
}

func BenchmarkCountLowBits(b *testing.B) {
	s := make([]byte, 512)
	fillRunes(s, 1, rand.New(rand.NewPCG(5, 6)))
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			CountLowBits(s)
		}
	})
}
