package pipeline

import (
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShuffleIsAPermutationOfEachEpoch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		buffer := rapid.IntRange(0, 400).Draw(t, "buffer")
		p := From[rec](upTo(n)).Shuffle(buffer).Epochs(2).Seed(rapid.Uint64().Draw(t, "seed")).
			Workers(rapid.IntRange(1, 4).Draw(t, "workers")).ChunkSize(rapid.IntRange(1, 70).Draw(t, "chunk"))
		it, err := p.Start(t.Context())
		require.NoError(t, err)
		got, _ := takeAll(it)
		require.NoError(t, it.Close())
		require.Len(t, got, 2*n)
		for e := range 2 {
			epoch := firsts(got[e*n : (e+1)*n])
			slices.Sort(epoch)
			require.Equal(t, counted(n), epoch)
		}
	})
}

// neighbours counts the elements that come right behind the one before them.
func neighbours(list []int) (n int) {
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1]+1 {
			n++
		}
	}
	return n
}

func TestSeedsShuffle(t *testing.T) {
	order := func(seed uint64, workers int) []int {
		return firsts(allOf(t, From[rec](upTo(1000)).Shuffle(1000).Seed(seed).Workers(workers)))
	}
	for _, seed := range []uint64{0, 1, 2, 7, math.MaxUint64} {
		first := order(seed, 1)
		require.Less(t, neighbours(first), 10, "seed %d leaves the order", seed)
		require.Equal(t, first, order(seed, 5))
		require.NotEqual(t, first, order(seed+1, 1))
	}
	require.Equal(t, order(0, 2), firsts(allOf(t, From[rec](upTo(1000)).Shuffle(1000))), "0 is the default")
}

func TestEachEpochHasAnOrderOfItsOwn(t *testing.T) {
	const n, epochs = 200, 6
	all := firsts(allOf(t, From[rec](upTo(n)).Shuffle(n).Epochs(epochs)))
	seen := map[string]bool{}
	for e := range epochs {
		seen[fmt.Sprint(all[e*n:(e+1)*n])] = true
	}
	require.Len(t, seen, epochs)
}

func TestTwoShufflesDiffer(t *testing.T) {
	one := firsts(allOf(t, From[rec](upTo(100)).Shuffle(1).Shuffle(100)))
	other := firsts(allOf(t, From[rec](upTo(100)).Shuffle(100).Shuffle(1)))
	require.NotEqual(t, one, other)
}

// Under each of many seeds the first element of the shuffled stream is one of the
// first in the buffer, each as likely.
func TestShuffleHasNoBias(t *testing.T) {
	const n, seeds = 16, 4000
	for _, buffer := range []int{n, n / 2} {
		first, last := make([]int, n), make([]int, n)
		for seed := range uint64(seeds) {
			values := make([]modelValue, n)
			for i := range values {
				values[i] = modelValue{rec{V: []int{i}}, int64(i)}
			}
			out := shuffled(values, buffer, mix(seed, 0), 1, 1, 1, 0, true)
			first[out[0].V[0]]++
			last[slices.IndexFunc(out, func(v modelValue) bool { return v.V[0] == 0 })]++
		}
		require.Less(t, chiSquare(first[:buffer]), 60.0, "what comes first: %v", first)
		require.Zero(t, slices.Max(append(first[buffer:], 0)))
		if buffer == n {
			require.Less(t, chiSquare(last), 60.0, "where the first element goes: %v", last)
		}
	}
	// The engine follows the same rule.
	for seed := range uint64(50) {
		values := make([]modelValue, 40)
		for i := range values {
			values[i] = modelValue{rec{V: []int{i}}, int64(i)}
		}
		var want []int
		for _, v := range shuffled(values, 9, mix(seed, 0), 1, 1, 1, 0, true) {
			want = append(want, v.V[0])
		}
		require.Equal(t, want, firsts(allOf(t, From[rec](upTo(40)).Shuffle(9).Seed(seed))))
	}
}

// chiSquare is that of counts which should all be the same. With 15 degrees of
// freedom it exceeds 60 once in three million.
func chiSquare(counts []int) (sum float64) {
	total := 0
	for _, n := range counts {
		total += n
	}
	want := float64(total) / float64(len(counts))
	for _, n := range counts {
		sum += (float64(n) - want) * (float64(n) - want) / want
	}
	return sum
}

func TestABufferLargerThanMemoryIsNotAllocated(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := firsts(allOf(t, From[rec](upTo(1000)).Shuffle(math.MaxInt)))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	require.Less(t, neighbours(got), 10)
	slices.Sort(got)
	require.Equal(t, counted(1000), got)
}

// A buffer that leaves at the end is passed on in pieces, each at the cost of the
// piece.
func TestALargeBufferLeavesInLinearTime(t *testing.T) {
	const n = 400_000
	p := From(Source[int](&tally{n: n})).Shuffle(n).ChunkSize(16)
	it := begin(t, p)
	began := time.Now()
	sum := int64(0)
	for _, v := range takeRest(t, it) {
		sum += int64(v)
	}
	require.Equal(t, int64(n)*(n-1)/2, sum)
	// It takes a fifth of a second; if each piece cost as much as what is left, minutes.
	require.Less(t, time.Since(began), 20*time.Second)
}

// The orders are recorded: a state taken by one version must be good for the next.
func TestOrdersDoNotChange(t *testing.T) {
	all := firsts(allOf(t, From[rec](upTo(20)).Shuffle(8).Seed(42).Epochs(2)))
	require.Equal(t, []int{7, 0, 6, 1, 4, 10, 12, 11, 13, 14, 17, 3, 18, 2, 16, 15, 19, 8, 9, 5}, all[:20])
	require.Equal(t, []int{6, 0, 7, 10, 1, 11, 8, 13, 12, 9, 3, 17, 2, 4, 5, 14, 18, 15, 16, 19}, all[20:])

	shards := firsts(allOf(t, From[rec](upTo(16)).Shuffle(8).Seed(42).Shard(1, 2).CanonicalShards(4)))
	require.Equal(t, []int{5, 3, 9, 11, 1, 7, 13, 15}, shards)

	long := fmt.Sprint(firsts(allOf(t, From[rec](upTo(10_000)).Shuffle(1000).Seed(7).Shuffle(10))))
	require.EqualValues(t, 0x622bf8b3, crc32.ChecksumIEEE([]byte(long)))
}
