package pipeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// filesOf is a source of the numbers 0 to n−1 in files of that many each.
func filesOf(n, each int) numbers {
	s := numbers{seek: true}
	for at := 0; at < n; at += each {
		s.files = append(s.files, [2]int{at, min(at+each, n)})
	}
	return s
}

// ranks are what each rank sees.
func ranks(t *testing.T, src numbers, world int, mode ShardMode, byFile bool) (seen [][]int, padded [][]int) {
	for rank := range world {
		p := From[rec](src).OnError(Skip).Shard(rank, world).ShardMode(mode)
		if byFile {
			p = p.ShardFiles()
		}
		var own, pad []int
		for _, r := range allOf(t, p) {
			if r.Pad {
				pad = append(pad, r.V[0])
			} else {
				own = append(own, r.V[0])
			}
		}
		seen, padded = append(seen, own), append(padded, pad)
	}
	return seen, padded
}

func TestShardsByRecord(t *testing.T) {
	for _, n := range []int{0, 1, 3, 8, 10, 64} {
		for _, world := range []int{1, 2, 4, 8} {
			for _, mode := range []ShardMode{Uneven, Pad, Drop} {
				t.Run(fmt.Sprint(n, " of ", world, " ", mode), func(t *testing.T) {
					seen, padded := ranks(t, upTo(n), world, mode, false)
					union := slices.Concat(seen...)
					slices.Sort(union)
					for rank := range world {
						for i, v := range seen[rank] {
							require.Equal(t, i*world+rank, v)
						}
						switch got := len(seen[rank]) + len(padded[rank]); mode {
						case Uneven:
							require.Equal(t, len(seen[0])-got <= 1 && got <= len(seen[0]), true)
							require.Empty(t, padded[rank])
						case Pad:
							require.Equal(t, (n+world-1)/world, got)
							require.LessOrEqual(t, len(padded[rank]), 1)
							for _, v := range padded[rank] {
								require.Equal(t, (n/world*world+rank)%n, v, "what is repeated comes from the beginning")
							}
						case Drop:
							require.Equal(t, n/world, got)
							require.Empty(t, padded[rank])
						}
					}
					if mode == Drop {
						require.Equal(t, counted(n/world*world), append([]int{}, union...))
					} else {
						require.Equal(t, counted(n), append([]int{}, union...))
					}
				})
			}
		}
	}
}

func TestShardsByFile(t *testing.T) {
	for _, n := range []int{0, 3, 10, 47} {
		for _, world := range []int{1, 3, 4, 8} {
			src := filesOf(n, 4)
			for _, mode := range []ShardMode{Uneven, Pad, Drop} {
				t.Run(fmt.Sprint(n, " of ", world, " ", mode), func(t *testing.T) {
					seen, padded := ranks(t, src, world, mode, true)
					longest, shortest := 0, n
					for rank := range world {
						own := 0
						for i := rank; i < len(src.files); i += world {
							own += src.files[i][1] - src.files[i][0]
						}
						longest, shortest = max(longest, own), min(shortest, own)
					}
					for rank := range world {
						for _, v := range seen[rank] {
							require.Equal(t, rank, v/4%world, "the files of another rank")
						}
						if mode == Pad {
							require.Len(t, append(seen[rank], padded[rank]...), longest)
						} else {
							require.Empty(t, padded[rank])
						}
						if mode == Drop {
							require.Len(t, seen[rank], shortest)
						}
					}
					if mode != Drop {
						union := slices.Concat(seen...)
						slices.Sort(union)
						require.Equal(t, counted(n), append([]int{}, union...))
					}
				})
			}
		}
	}
}

// Records that cannot be read count for no rank, so that all agree on the others.
func TestShardsOfBadRecords(t *testing.T) {
	src := filesOf(40, 6)
	src.bad = func(i int) bool { return i%7 == 3 || i == 39 }
	good := slices.DeleteFunc(counted(40), src.isBad)
	for _, byFile := range []bool{false, true} {
		for _, mode := range []ShardMode{Uneven, Pad} {
			seen, padded := ranks(t, src, 4, mode, byFile)
			union := slices.Concat(seen...)
			slices.Sort(union)
			require.Equal(t, good, union)
			if mode == Pad {
				for rank := range 4 {
					require.Equal(t, len(seen[0])+len(padded[0]), len(seen[rank])+len(padded[rank]))
				}
			}
		}
	}
	// Each error is reported by one rank.
	reported := 0
	for rank := range 4 {
		it := begin(t, From[rec](src).OnError(Skip).Shard(rank, 4))
		takeRest(t, it)
		reported += int(it.Stats().ErrorCount())
	}
	require.Equal(t, 40-len(good), reported)
}

func TestShardsTogetherAreEveryEpochAnew(t *testing.T) {
	orders := map[string]bool{}
	var all [][]int
	for rank := range 3 {
		got := firsts(allOf(t, From[rec](upTo(30)).Shard(rank, 3).Shuffle(10).Epochs(2)))
		require.Len(t, got, 20)
		require.ElementsMatch(t, got[:10], got[10:])
		orders[fmt.Sprint(got[:10])], orders[fmt.Sprint(got[10:])] = true, true
		all = append(all, got[:10])
	}
	require.Len(t, orders, 6)
	require.ElementsMatch(t, counted(30), slices.Concat(all...))
}

// merged are the elements of all ranks in the order of the rounds.
func merged(t *testing.T, world int, p func() *Pipeline[rec]) []int {
	var parts [][]rec
	for rank := range world {
		parts = append(parts, allOf(t, p().Shard(rank, world)))
	}
	var out []int
	for i := range parts[0] {
		for _, part := range parts {
			if i < len(part) {
				out = append(out, part[i].V...)
			}
		}
	}
	return out
}

func TestCanonicalShardsDoNotDependOnTheRanks(t *testing.T) {
	const canonical = 8
	for _, n := range []int{0, 5, 8, 64, 99, 200} {
		for _, buffer := range []int{1, 16, 50, 1000} {
			plain := func() *Pipeline[rec] {
				return From[rec](upTo(n)).Map(func(r rec) (rec, error) { return r, nil }).
					CanonicalShards(canonical).Shuffle(buffer).Seed(3)
			}
			one := merged(t, 1, plain)
			require.ElementsMatch(t, counted(n), one)
			for _, world := range []int{2, 4, 8} {
				require.Equal(t, one, merged(t, world, plain), "%d elements, buffer %d, %d ranks", n, buffer, world)
			}
		}
	}
}

// The batches of a round, of all ranks together, are one batch of the same elements.
func TestCanonicalShardsInBatches(t *testing.T) {
	const canonical, global = 8, 16
	steps := func(world int) (out [][]int) {
		for rank := range world {
			p := BatchRaw(From[rec](upTo(320)).CanonicalShards(canonical).Shuffle(64).Shard(rank, world), global/world)
			for i, b := range allOf(t, p) {
				if rank == 0 {
					out = append(out, nil)
				}
				out[i] = append(out[i], firsts(b)...)
			}
		}
		for _, step := range out {
			slices.Sort(step)
		}
		return out
	}
	one := steps(1)
	require.Len(t, one, 320/global)
	require.Equal(t, one, steps(2))
	require.Equal(t, one, steps(4))
	require.Equal(t, one, steps(8))
}

// With a filter before the shuffle the shards do not keep step, but each has the
// same order.
func TestCanonicalShardsBehindAFilter(t *testing.T) {
	const canonical, n = 8, 300
	shards := func(world int) (out [canonical][]int) {
		for rank := range world {
			p := From[rec](upTo(n)).Filter(func(r rec) bool { return r.V[0]%5 != 2 }).
				CanonicalShards(canonical).Shuffle(40).Shard(rank, world)
			for _, v := range firsts(allOf(t, p)) {
				out[v%canonical] = append(out[v%canonical], v)
			}
		}
		return out
	}
	one := shards(1)
	for _, world := range []int{2, 4, 8} {
		require.Equal(t, one, shards(world))
	}
	require.Greater(t, neighbours(counted(n))-neighbours(slices.Concat(one[:]...)), 200)
}
