package pipeline

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderIsThatOfTheSourceForAnyWorkers(t *testing.T) {
	src := upTo(700)
	src.sleeps = true
	slow := func(r rec) (rec, error) {
		doze()
		return rec{V: []int{2 * r.V[0]}}, nil
	}
	var want []int
	for i := range 700 {
		want = append(want, 2*i)
	}
	for _, workers := range []int{1, 2, 3, 7, 100} {
		for _, chunk := range []int{1, 5, 64} {
			p := From[rec](src).Map(slow).Workers(workers).ChunkSize(chunk)
			require.Equal(t, want, firsts(allOf(t, p)), "%d workers, chunks of %d", workers, chunk)
		}
	}
}

func TestFlatMapMakesEachManyInTheirPlace(t *testing.T) {
	const n, k = 300, 4
	p := FlatMap(From[rec](upTo(n)), func(r rec) ([]string, error) {
		doze()
		var out []string
		for i := range k {
			out = append(out, fmt.Sprint(r.V[0], ".", i))
		}
		return out, nil
	}).Workers(3).ChunkSize(7)
	var want []string
	for i := range n {
		for j := range k {
			want = append(want, fmt.Sprint(i, ".", j))
		}
	}
	require.Equal(t, want, allOf(t, p))
}

func TestChainsOfFilters(t *testing.T) {
	const n = 2000
	for length := 1; length <= 10; length++ {
		p := From[rec](upTo(n)).Workers(2).ChunkSize(17)
		seen := counted(n)
		var kept []int // behind each filter
		for k := range length {
			keep := func(i int) bool { return (i*(2*k+3)+k)%(k+3) != 0 }
			p = p.Filter(func(r rec) bool { return keep(r.V[0]) })
			seen = slices.DeleteFunc(slices.Clone(seen), func(i int) bool { return !keep(i) })
			kept = append(kept, len(seen))
		}
		it := begin(t, p)
		require.Equal(t, seen, firsts(takeRest(t, it)))
		require.NoError(t, it.Close())
		stages := it.Stats().Stages
		require.Len(t, stages, length+1)
		require.EqualValues(t, n, stages[0].Out)
		before := int64(n)
		for k, st := range stages[1:] {
			require.Equal(t, before, st.In, "filter %d of %d sees what the one before kept", k, length)
			require.EqualValues(t, kept[k], st.Out)
			before = st.Out
		}
	}
}

func TestAFilterThatKeepsNothing(t *testing.T) {
	p := BatchRaw(From[rec](upTo(500)).Filter(func(rec) bool { return false }).Epochs(3), 4)
	require.Empty(t, allOf(t, p))
}

func TestAMillionEpochsOfWhichFiveElementsAreTaken(t *testing.T) {
	it := begin(t, From[rec](upTo(3)).Epochs(1_000_000))
	require.Equal(t, []int{0, 1, 2, 0, 1}, firsts(takeN(t, it, 5)))
	require.EqualValues(t, 1, it.Epoch())
	require.NoError(t, it.Close())
}

func TestSizes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 100_000} {
		for _, size := range []int{1, 32, 100, n + 1} {
			if n == 100_000 && size == 1 && testing.Short() {
				continue
			}
			batches := allOf(t, BatchRaw(From[rec](upTo(n)), size))
			require.Equal(t, counted(n), flat(batches))
			require.Len(t, batches, (n+size-1)/size)
			for i, b := range batches {
				if i < len(batches)-1 {
					require.Len(t, b, size)
				}
			}
			full := allOf(t, BatchRaw(From[rec](upTo(n)), size).DropLast())
			require.Len(t, full, n/size)
		}
	}
}

func TestTheConsumerOwnsWhatItReceived(t *testing.T) {
	it := begin(t, BatchRaw(From[rec](upTo(1000)), 8).ChunkSize(2).Prefetch(2))
	var kept [][]rec
	for range 100 {
		b, err := it.Next(context.Background())
		require.NoError(t, err)
		kept = append(kept, b)
	}
	takeRest(t, it)
	require.Equal(t, counted(800), flat(kept))
}
