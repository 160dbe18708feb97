package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// ranks returns what each rank sees of n elements.
func ranks(t *testing.T, n int64, world int, seed uint64, epoch int64, opts ...SamplerOption) [][]padded {
	t.Helper()
	src := Generate(n, func(i int64) (padded, error) { return padded{value: i}, nil })
	out := make([][]padded, world)
	for rank := range world {
		s, err := DistributedSampler[padded](src, rank, world, opts...)
		require.NoError(t, err)
		c, err := s.Open(context.Background(), pipeline.Start{Seed: seed, Epoch: epoch})
		require.NoError(t, err)
		for range s.Len() {
			v, err := c.Next(context.Background())
			require.NoError(t, err)
			out[rank] = append(out[rank], v)
		}
		_, err = c.Next(context.Background())
		require.EqualError(t, err, "EOF")
		marked := int64(0)
		for _, v := range out[rank] {
			if v.padded {
				marked++
			}
		}
		require.Equal(t, s.Padded(), marked)
	}
	return out
}

func TestDistributedSamplerModes(t *testing.T) {
	for _, n := range []int64{0, 1, 3, 7, 8, 10, 64, 100} {
		for _, world := range []int{1, 2, 3, 4, 8} {
			for _, shuffle := range []bool{false, true} {
				for _, mode := range []pipeline.ShardMode{pipeline.Uneven, pipeline.Pad, pipeline.Drop} {
					name := fmt.Sprint(n, world, shuffle, mode)
					parts := ranks(t, n, world, 5, 2, WithShuffle(shuffle), WithShardMode(mode))
					times := make([]int, n)
					extra := 0
					for rank, part := range parts {
						for _, v := range part {
							if v.padded {
								extra++
								continue
							}
							times[v.value]++
						}
						switch {
						case mode == pipeline.Pad:
							require.Len(t, part, int(math.Ceil(float64(n)/float64(world))), name)
						case mode == pipeline.Drop:
							require.Len(t, part, int(n)/world, name)
						default:
							require.InDelta(t, float64(n)/float64(world), len(part), 0.99, name)
							require.LessOrEqual(t, len(part), len(parts[0]), "%s: rank %d", name, rank)
						}
					}
					dropped := 0
					for _, k := range times {
						require.LessOrEqual(t, k, 1, "%s: an element comes twice", name)
						if k == 0 {
							dropped++
						}
					}
					rest := int(n) % world
					switch {
					case mode == pipeline.Drop:
						require.Equal(t, rest, dropped, name)
					default:
						require.Zero(t, dropped, name)
					}
					if mode == pipeline.Pad && rest > 0 {
						require.Equal(t, world-rest, extra, name)
					} else {
						require.Zero(t, extra, name)
					}
				}
			}
		}
	}
}

// The examples of the documentation, by value.
func TestDistributedSamplerPads(t *testing.T) {
	values := func(parts [][]padded) (out [][]int64) {
		for _, part := range parts {
			row := []int64{}
			for _, v := range part {
				if v.padded {
					v.value += 100
				}
				row = append(row, v.value)
			}
			out = append(out, row)
		}
		return out
	}
	plain := WithShuffle(false)
	require.Equal(t, [][]int64{{0, 4, 8}, {1, 5, 9}, {2, 6, 100}, {3, 7, 101}}, values(ranks(t, 10, 4, 0, 0, plain)))
	require.Equal(t, [][]int64{{0}, {1}, {2}, {100}, {101}, {102}, {100}, {101}}, values(ranks(t, 3, 8, 0, 0, plain)))
	require.Equal(t, [][]int64{{}, {}, {}}, values(ranks(t, 0, 3, 0, 0, plain)))
}

func TestDistributedSamplerShuffles(t *testing.T) {
	world := 4
	order := func(seed uint64, epoch int64) []int64 {
		parts := ranks(t, 1000, world, seed, epoch)
		var out []int64
		for i := range len(parts[0]) {
			for rank := range world {
				out = append(out, parts[rank][i].value)
			}
		}
		return out
	}
	base := order(0, 0)
	require.Equal(t, base, order(0, 0))
	sorted := slices.Sorted(slices.Values(base))
	for i, v := range sorted {
		require.Equal(t, int64(i), v)
	}
	inOrder := 0
	for i := range base[1:] {
		if base[i]+1 == base[i+1] {
			inOrder++
		}
	}
	require.Less(t, inOrder, 20, "seed 0 does not shuffle")
	require.NotEqual(t, base, order(0, 1), "epochs have the same order")
	require.NotEqual(t, base, order(1, 0), "seeds have the same order")
	// The order does not depend on the number of ranks.
	world = 8
	require.Equal(t, base, order(0, 0))
}

func TestDistributedSamplerOfMany(t *testing.T) {
	src := Generate(math.MaxInt64, func(i int64) (int64, error) { return i, nil })
	s := must(DistributedSampler[int64](src, 999, 1000, WithShuffle(false)))
	at := fmt.Appendf(nil, `{"index":%d}`, s.Len()-1)
	got, _ := replay[int64](t, s, pipeline.Start{Position: at}, 9)
	// The place is beyond the largest int64 and comes from the beginning again.
	place := uint64(s.Len()-1)*1000 + 999
	require.Equal(t, []string{fmt.Sprint(place % math.MaxInt64)}, got)
}

func TestDistributedSamplerErrors(t *testing.T) {
	src := Memory([]int64{1, 2, 3})
	for _, c := range [][2]int{{0, 0}, {-1, 2}, {2, 2}, {0, -1}} {
		_, err := DistributedSampler[int64](src, c[0], c[1])
		require.ErrorIs(t, err, ErrOption, c)
	}
	_, err := DistributedSampler[int64](src, 0, 1, WithShardMode(9))
	require.ErrorIs(t, err, ErrOption)
	_, err = DistributedSampler[int64](nil, 0, 1)
	require.ErrorIs(t, err, ErrOption)

	broken := errors.New("broken")
	failing := Generate(4, func(i int64) (int64, error) {
		if i == 1 {
			return 0, broken
		}
		return i, nil
	})
	got, _ := replay[int64](t, must(DistributedSampler[int64](failing, 0, 1, WithShuffle(false))), pipeline.Start{}, 9)
	require.Equal(t, []string{"0", "error: source: element 1: broken", "2", "3"}, got)
}
