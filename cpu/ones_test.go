package cpu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fillOnes sets each bit with the chance of one in every; 0 sets none.
func fillOnes(words []uint64, every int, rng *rand.Rand) {
	for i := range words {
		words[i] = 0
		for k := range 64 {
			if every > 0 && rng.IntN(every) == 0 {
				words[i] |= 1 << k
			}
		}
	}
}

// placesOf returns base plus the places of the ones, by an integer of many words.
func placesOf(words []uint64, base uint32) []uint32 {
	x := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(words[i]))
	}
	out := []uint32{}
	for i := range x.BitLen() {
		if x.Bit(i) != 0 {
			out = append(out, base+uint32(i))
		}
	}
	return out
}

func requireOnes(t require.TestingT, words []uint64, base uint32, slack int) {
	want := placesOf(words, base)
	mem := make([]uint32, len(want)+slack+1)
	mem[len(want)+slack] = 0xabcdef01
	dst := mem[: len(want)+slack : len(want)+slack]
	n := SelectOnes(dst, words, base)
	require.Equal(t, len(want), n)
	require.Equal(t, want, dst[:n])
	require.Equal(t, uint32(0xabcdef01), mem[len(want)+slack])
	require.Equal(t, len(want), CountOnes(words))
}

func TestOnesOfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= longest; n++ {
			for words := range places[uint64](mem, n) {
				fillOnes(words, []int{0, 1, 2, 8, 30, 1000}[rng.IntN(6)], rng)
				requireOnes(t, words, []uint32{0, 7, 1 << 31, 0xffffff00}[rng.IntN(4)], []int{0, 1, 15, 16, 64, 300}[rng.IntN(6)])
			}
		}
	})
}

func TestSelectOnesOfEveryByteAndCount(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for b := range uint64(256) {
			for k := range 8 {
				// Alone, so that there are few, and among ones, so that there are many.
				requireOnes(t, []uint64{0, b << (8 * k), 0, 1}, 0, 300)
				requireOnes(t, []uint64{0, ^(0xff << (8 * k)) | b<<(8*k), 0, 1}, 0, 300)
			}
		}
		for n := range 65 {
			requireOnes(t, []uint64{1<<n - 1, 0, ^uint64(0) << (64 - n), 5}, 3, 300)
		}
	})
}

func TestSelectOnesWritesNothingElse(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, every := range []int{1, 2, 10, 100} {
			words := make([]uint64, 16)
			fillOnes(words, every, rng)
			want := placesOf(words, 9)
			dst := atEnd[uint32](t, len(want))
			require.Equal(t, len(want), SelectOnes(dst, words, 9))
			require.Equal(t, want, dst)
		}
	})
}

func TestOnesProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			words := make([]uint64, rapid.IntRange(0, 300).Draw(t, "n"))
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			for i := range words {
				fillOnes(words[i:i+1], rapid.SampledFrom([]int{0, 1, 2, 5, 20, 100}).Draw(t, "every"), rng)
			}
			requireOnes(t, words, rapid.Uint32().Draw(t, "base"), rapid.IntRange(0, 100).Draw(t, "slack"))
		})
	})
}

func BenchmarkSelectOnes(b *testing.B) {
	for _, every := range []int{1, 2, 10, 100, 1000, 100_000} {
		words := make([]uint64, 300_000/64)
		fillOnes(words, every, rand.New(rand.NewPCG(5, 6)))
		dst := make([]uint32, 64*len(words))
		b.Run(fmt.Sprintf("1in%d", every), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(8 * len(words)))
				for b.Loop() {
					SelectOnes(dst, words, 0)
				}
			})
		})
	}
}

func BenchmarkCountOnes(b *testing.B) {
	words := make([]uint64, 300_000/64)
	fillOnes(words, 2, rand.New(rand.NewPCG(5, 6)))
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(int64(8 * len(words)))
		for b.Loop() {
			CountOnes(words)
		}
	})
}
