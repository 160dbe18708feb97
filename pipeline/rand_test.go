package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// draw is a MapRand that notes what it draws.
func draw(rng *rand.Rand, r rec) (rec, error) {
	doze()
	r.Rand = rng.Uint64()
	return r, nil
}

// drawn are what each element drew in an epoch, by its numbers.
func drawn(t *testing.T, list []rec) map[string]uint64 {
	out := map[string]uint64{}
	for _, r := range list {
		key := fmt.Sprint(r.V)
		require.NotContains(t, out, key)
		out[key] = r.Rand
	}
	return out
}

func TestMapRandDependsOnTheElementAlone(t *testing.T) {
	const n = 120
	src := filesOf(n, 7)
	plain := From[rec](src).MapRand(draw).Seed(5)
	want := drawn(t, allOf(t, plain.Workers(1).ChunkSize(64)))
	require.Len(t, want, n)

	for _, workers := range []int{1, 2, 7} {
		for _, chunk := range []int{1, 3, 64} {
			require.Equal(t, want, drawn(t, allOf(t, plain.Workers(workers).ChunkSize(chunk))))
		}
	}
	require.Equal(t, want, drawn(t, allOf(t, plain.Shuffle(30))), "what comes behind does not matter")

	all := map[string]uint64{}
	for rank := range 4 {
		for k, v := range drawn(t, allOf(t, plain.Shard(rank, 4))) {
			all[k] = v
		}
	}
	require.Equal(t, want, all, "the rank does not matter")

	// Nor that it was resumed.
	for _, k := range []int{0, 1, 50, 119} {
		it := begin(t, plain.ChunkSize(16))
		got := takeN(t, it, k)
		got = append(got, takeRest(t, goOn(t, plain.ChunkSize(5), saved(t, it)))...)
		require.Equal(t, want, drawn(t, got))
	}
}

func TestMapRandIsAnotherForEachSeedEpochAndStage(t *testing.T) {
	const n = 50
	twice := From[rec](upTo(n)).MapRand(draw).Epochs(3)
	seen := map[uint64]bool{}
	count := 0
	for _, p := range []*Pipeline[rec]{
		twice, twice.Seed(1),
		From[rec](upTo(n)).Filter(func(rec) bool { return true }).MapRand(draw).Epochs(3),
	} {
		for _, r := range allOf(t, p) {
			seen[r.Rand] = true
			count++
		}
	}
	require.Len(t, seen, count)
}

// Many made of one draw each for itself, whatever made them.
func TestMapRandOfSiblings(t *testing.T) {
	src := upTo(40)
	ways := map[string]*Pipeline[rec]{
		"flatmap": From[rec](src).FlatMap(func(r rec) ([]rec, error) {
			return []rec{{V: []int{r.V[0], 0}}, {V: []int{r.V[0], 1}}, {V: []int{r.V[0], 2}}}, nil
		}),
		"batch":    FlatMap(BatchRaw(From[rec](src).Shuffle(9), 4), func(b []rec) ([]rec, error) { return b, nil }),
		"repeat":   From[rec](src).Repeat(3),
		"cache":    From[rec](src).Cache().Repeat(2),
		"stateful": From[rec](src).Stateful(func() StatefulTransform[rec, rec] { return new(savedHoard) }),
	}
	for name, p := range ways {
		t.Run(name, func(t *testing.T) {
			p := p.MapRand(draw)
			all := allOf(t, p.Workers(1))
			seen := map[uint64]bool{}
			for _, r := range all {
				seen[r.Rand] = true
			}
			require.Len(t, seen, len(all))
			rands := func(list []rec) (out []uint64) {
				for _, r := range list {
					out = append(out, r.Rand)
				}
				return out
			}
			for _, chunk := range []int{1, 3, 20} {
				require.Equal(t, rands(all), rands(allOf(t, p.ChunkSize(chunk).Workers(3))), "chunks of %d", chunk)
			}
			for k := 0; k < len(all); k += 7 {
				it := begin(t, p.ChunkSize(5))
				takeN(t, it, k)
				require.Equal(t, rands(all[k:]), rands(takeRest(t, goOn(t, p.ChunkSize(2), saved(t, it)))), "resumed after %d", k)
			}
		})
	}
}

func TestMapRandHasNoBias(t *testing.T) {
	counts := make([]int, 16)
	for _, r := range allOf(t, From[rec](upTo(16_000)).MapRand(func(rng *rand.Rand, r rec) (rec, error) {
		r.Rand = uint64(rng.IntN(16))
		return r, nil
	})) {
		counts[r.Rand]++
	}
	require.Less(t, chiSquare(counts), 60.0)
	require.Positive(t, slices.Min(counts))
}

// What an element draws is recorded: it must not change from one version to the next.
func TestWhatIsDrawnDoesNotChange(t *testing.T) {
	var got []uint64
	for _, r := range allOf(t, From[rec](upTo(3)).MapRand(draw).Seed(42).Epochs(2)) {
		got = append(got, r.Rand)
	}
	require.Equal(t, []uint64{0xa50930804f6451a9, 0x21c614856879940b, 0xdb514687239a7491, 0x90603b77cd2d81cc, 0x8b81a6f6b01f5189, 0xee0ed40dbadf1124}, got)
}
