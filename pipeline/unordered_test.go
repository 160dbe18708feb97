package pipeline_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// The same elements come, each epoch's before the next one's.
func TestUnorderedIsTheSameElements(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, epochs := rapid.IntRange(0, 60).Draw(rt, "n"), rapid.IntRange(1, 3).Draw(rt, "epochs")
		chunk := rapid.IntRange(1, 9).Draw(rt, "chunk")
		naps := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 20).Draw(rt, "naps")
		p := pipeline.From(&series{n: n}).Epochs(int64(epochs)).ChunkSize(chunk).
			Prefetch(rapid.IntRange(1, 6).Draw(rt, "prefetch")).Workers(rapid.IntRange(1, 5).Draw(rt, "workers")).Unordered().
			Map(func(v int) (int, error) {
				time.Sleep(time.Duration(naps[v%len(naps)]) * time.Microsecond)
				return v, nil
			}).
			Filter(func(v int) bool { return v%5 != 0 }).
			FlatMap(func(v int) ([]int, error) { return []int{v, v}, nil })
		it, err := p.Start(context.Background())
		require.NoError(rt, err)
		var got []int
		for {
			v, err := it.Next(context.Background())
			if err != nil {
				require.Equal(rt, io.EOF, err)
				break
			}
			require.EqualValues(rt, v/1000, it.Epoch())
			got = append(got, v)
		}
		require.NoError(rt, it.Close())
		require.True(rt, slices.IsSortedFunc(got, func(a, b int) int { return a/1000 - b/1000 }), "epochs are kept apart")
		var want []int
		for e := range epochs {
			for v := range n {
				if v := 1000*e + v; v%5 != 0 {
					want = append(want, v, v)
				}
			}
		}
		slices.Sort(got)
		require.Equal(rt, append([]int{}, want...), append([]int{}, got...))
	})
}

// An element that is ready does not wait for a slow one before it.
func TestUnorderedOvertakes(t *testing.T) {
	build := func() *pipeline.Pipeline[int] {
		return pipeline.From(&series{n: 20}).ChunkSize(1).Prefetch(4).Workers(2).Map(func(v int) (int, error) {
			if v == 0 {
				time.Sleep(time.Hour)
			}
			return v, nil
		})
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		it, err := build().Unordered().Start(context.Background())
		require.NoError(t, err)
		for v := 1; v < 20; v++ {
			got, err := it.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
		require.Zero(t, time.Since(began))
		got, err := it.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, got)
		require.Equal(t, time.Hour, time.Since(began))
		_, err = it.Next(t.Context())
		require.Equal(t, io.EOF, err)
		require.NoError(t, it.Close())
	})
	synctest.Test(t, func(t *testing.T) { // in order it does
		began := time.Now()
		it, err := build().Start(context.Background())
		require.NoError(t, err)
		got, err := it.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, got)
		require.Equal(t, time.Hour, time.Since(began))
		require.NoError(t, it.Close())
	})
}

func TestUnorderedHasNoState(t *testing.T) {
	p := pipeline.From(&series{n: 20})
	it := begin(t, p.Unordered())
	_, err := it.State()
	require.ErrorIs(t, err, pipeline.ErrUnordered)

	ordered := begin(t, p)
	state, err := ordered.State()
	require.NoError(t, err)
	_, err = p.Unordered().Resume(context.Background(), state)
	require.ErrorIs(t, err, pipeline.ErrUnordered)
}

// Batches are made of what comes, full but for the last of an epoch.
func TestUnorderedBatches(t *testing.T) {
	p := pipeline.From(&series{n: 23}).Epochs(3).ChunkSize(2).Workers(3).Unordered().
		Map(func(v int) (int, error) { time.Sleep(time.Duration(v%7) * 10 * time.Microsecond); return v, nil })
	got, _, err := play(t, pipeline.BatchRaw(p, 5))
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 15)
	for i, b := range got {
		if i%5 == 4 {
			require.Len(t, b, 3)
		} else {
			require.Len(t, b, 5)
		}
		for _, v := range b {
			require.Equal(t, i/5, v/1000, "a batch is of one epoch")
		}
	}
}

func TestUnorderedErrors(t *testing.T) {
	bad := func(v int) (int, error) {
		if v == 13 || v == 14 {
			return 0, errBad
		}
		return v, nil
	}
	p := pipeline.From(&series{n: 50}).ChunkSize(3).Workers(3).Unordered().Map(bad)
	got, stats, err := play(t, p.OnError(pipeline.Skip))
	require.Equal(t, io.EOF, err)
	require.ElementsMatch(t, append(upTo(0, 13), upTo(15, 50)...), got)
	require.EqualValues(t, 2, stats.ErrorCount())

	got, _, err = play(t, p)
	require.ErrorIs(t, err, errBad)
	require.Less(t, len(got), 50)
	require.NotContains(t, got, 13)
}
