package pipeline_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// The output is the same with it and without.
func TestAutotuneKeepsOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		build := func() *pipeline.Pipeline[[]int] {
			p := pipeline.From(&series{n: 400}).Epochs(2).ChunkSize(2).Prefetch(2).Workers(1).Seed(3).
				Map(func(v int) (int, error) { time.Sleep(time.Duration(v%7) * 10 * time.Millisecond); return v, nil }).
				Filter(func(v int) bool { return v%5 != 0 }).Shuffle(20)
			return pipeline.BatchRaw(p, 4)
		}
		want, _, err := play(t, build())
		require.Equal(t, io.EOF, err)
		got, _, err := play(t, build().Autotune(6))
		require.Equal(t, io.EOF, err)
		require.Equal(t, want, got)
	})
}

// Where the consumer waits for slow work there are more workers, up to the bound; where
// it does not, they become fewer; in the end none is left.
func TestAutotuneChangesWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: -1}).ChunkSize(1).Prefetch(16).Workers(1).
			Map(func(v int) (int, error) { time.Sleep(20 * time.Millisecond); return v, nil }).
			Autotune(5).Start(context.Background())
		require.NoError(t, err)
		most := 0
		for range 1000 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
			most = max(most, it.Stats().Workers)
		}
		require.Equal(t, 5, most)
		for range 50 {
			time.Sleep(time.Second)
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, 1, it.Stats().Workers)
		require.NoError(t, it.Close())
		require.Zero(t, it.Stats().Workers)
	})
}

// Work that takes longer than the time between two looks is work too.
func TestAutotuneWithLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: -1}).ChunkSize(1).Prefetch(16).Workers(1).
			Map(func(v int) (int, error) { time.Sleep(800 * time.Millisecond); return v, nil }).
			Autotune(4).Start(context.Background())
		require.NoError(t, err)
		for range 200 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, 4, it.Stats().Workers)
		require.NoError(t, it.Close())
	})
}

// More is prefetched only within the bounds.
func TestAutotuneStaysInBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		n := 0
		src.next = func(ctx context.Context, v int) error {
			src.note(src.pulled.Load() + 1)
			if n++; n%40 == 0 {
				return nap(ctx, 400*time.Millisecond) // in gusts
			}
			return nil
		}
		it, err := pipeline.From(src).ChunkSize(1).Prefetch(4).Workers(1).
			Map(func(v int) (int, error) { return v, nil }).Autotune(2).Start(context.Background())
		require.NoError(t, err)
		src.it.Store(it)
		for range 4000 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
			time.Sleep(9 * time.Millisecond)
		}
		require.NoError(t, it.Close())
		require.LessOrEqual(t, src.ahead.Load(), int64(8*4))
		require.Greater(t, src.ahead.Load(), int64(4), "more was prefetched")
		for _, st := range it.Stats().Stages {
			require.LessOrEqual(t, st.Queue.Peak, st.Queue.Limit)
		}
	})
}

func TestAutotuneLeavesNoGoroutine(t *testing.T) {
	noLeak(t)
	for range 20 {
		it, err := full(&series{n: -1}).Autotune(0).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, it.Close())
	}
}
