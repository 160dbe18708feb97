package source

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPermutationIsABijection(t *testing.T) {
	for n := range int64(2001) {
		p := newPermutation(n, 1, n)
		seen := make([]bool, n)
		for i := range n {
			v := p.at(uint64(i))
			if v >= uint64(n) || seen[v] {
				t.Fatalf("n %d: %d becomes %d, which is taken or too large", n, i, v)
			}
			seen[v] = true
		}
	}
}

func TestPermutationOfLargeDomains(t *testing.T) {
	for _, n := range []int64{1<<31 + 1, 1 << 40, 1<<62 + 1, math.MaxInt64} {
		p := newPermutation(n, 0, 0)
		seen := map[uint64]bool{}
		for i := range uint64(1000) {
			for _, at := range []uint64{i, uint64(n) - 1 - i} {
				v := p.at(at)
				require.Less(t, v, uint64(n))
				require.False(t, seen[v])
				seen[v] = true
			}
		}
	}
}

// chiSquare is the statistic of counts that should all be the same, in standard
// deviations from what it is on average.
func chiSquare(counts []int, freedom int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	expected := float64(total) / float64(len(counts))
	sum := 0.0
	for _, c := range counts {
		d := float64(c) - expected
		sum += d * d / expected
	}
	return (sum - float64(freedom)) / math.Sqrt(2*float64(freedom))
}

// Over many seeds and epochs every order of a few elements is as frequent as any other,
// and every element is as often at any place. The seeds are fixed, so the result is always the same.
func TestPermutationIsUniform(t *testing.T) {
	for n := int64(2); n <= 6; n++ {
		t.Run(fmt.Sprintf("orders of %d", n), func(t *testing.T) {
			orders := 1
			for k := 2; k <= int(n); k++ {
				orders *= k
			}
			counts := make([]int, orders)
			for trial := range 60 * orders {
				p := newPermutation(n, uint64(trial%7), int64(trial/7))
				rank := 0 // Lehmer code
				for i := range n {
					smaller := 0
					for j := i + 1; j < n; j++ {
						if p.at(uint64(j)) < p.at(uint64(i)) {
							smaller++
						}
					}
					rank = rank*int(n-i) + smaller
				}
				counts[rank]++
			}
			require.Less(t, math.Abs(chiSquare(counts, orders-1)), 4.0)
		})
	}
	for _, n := range []int64{7, 16, 33, 100, 300} {
		t.Run(fmt.Sprintf("places of %d", n), func(t *testing.T) {
			counts := make([]int, n*n)
			for trial := range 250_000 / n {
				p := newPermutation(n, 99, trial)
				for i := range n {
					counts[i*n+int64(p.at(uint64(i)))]++
				}
			}
			require.Less(t, math.Abs(chiSquare(counts, int((n-1)*(n-1)))), 4.0)
		})
		t.Run(fmt.Sprintf("neighbours of %d", n), func(t *testing.T) {
			counts := make([]int, n-1) // of the distance around the circle from one to the next
			for trial := range 250_000 / n {
				p := newPermutation(n, uint64(trial), 0)
				for i := range n - 1 {
					counts[(int64(p.at(uint64(i+1)))-int64(p.at(uint64(i)))+n)%n-1]++
				}
			}
			require.Less(t, math.Abs(chiSquare(counts, int(n-2))), 4.0)
		})
	}
}

func TestPermutationDependsOnSeedAndEpoch(t *testing.T) {
	order := func(seed uint64, epoch int64) (out [64]uint64) {
		p := newPermutation(64, seed, epoch)
		for i := range out {
			out[i] = p.at(uint64(i))
		}
		return out
	}
	seen := map[[64]uint64]string{}
	for seed := range uint64(20) {
		for epoch := range int64(20) {
			o := order(seed, epoch)
			require.Equal(t, o, order(seed, epoch))
			require.Empty(t, seen[o], "seed %d, epoch %d", seed, epoch)
			seen[o] = fmt.Sprint(seed, epoch)
			still := 0
			for i, v := range o {
				if uint64(i) == v {
					still++
				}
			}
			require.Less(t, still, 10, "seed %d, epoch %d: most elements stay where they are", seed, epoch)
		}
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := newPermutation(1_000_003, 1, 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.at(uint64(i % 1_000_003))
	}
}
