package pipeline_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// After the end every number is exact: what goes into a stage comes out, was rejected, or was
// an error.
func TestStatsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(rt, "n")
		epochs := rapid.IntRange(1, 2).Draw(rt, "epochs")
		badSource := func(v int) bool { return v%17 == 3 }
		badMap := func(v int) bool { return v%11 == 5 }
		panicMap := func(v int) bool { return v%23 == 7 }
		rejected := func(v int) bool { return v%3 == 1 }
		src := &series{n: n, next: func(_ context.Context, v int) error {
			if badSource(v) {
				return errBad
			}
			return nil
		}}
		p := pipeline.From(src).Epochs(int64(epochs)).OnError(pipeline.Skip).SizeOf(func(v int) int64 { return int64(v % 10) }).
			ChunkSize(rapid.IntRange(1, 20).Draw(rt, "chunk")).Prefetch(rapid.IntRange(1, 5).Draw(rt, "prefetch")).
			Workers(rapid.IntRange(1, 4).Draw(rt, "workers")).
			Map(func(v int) (int, error) {
				if panicMap(v) {
					panic(errBad)
				}
				if badMap(v) {
					return 0, errBad
				}
				return v, nil
			}).
			Filter(func(v int) bool { return !rejected(v) }).
			Skip(4).
			FlatMap(func(v int) ([]int, error) { return make([]int, v%3), nil })
		if rapid.Bool().Draw(rt, "unordered") {
			p = p.Unordered()
		}
		it, err := p.Start(context.Background())
		require.NoError(rt, err)
		got, end := gather(t, it)
		require.Equal(rt, io.EOF, end)
		require.NoError(rt, it.Close())

		var read, bytes, mapErrors, panics, kept, skipped int64
		for e := range epochs {
			left := 4
			for i := range n {
				v := 1000*e + i
				if badSource(v) {
					continue
				}
				read++
				bytes += int64(v % 10)
				switch {
				case panicMap(v):
					panics++
				case badMap(v):
					mapErrors++
				case rejected(v):
				default:
					kept++
					if left > 0 {
						left--
						skipped++
					}
				}
			}
		}
		s := it.Stats()
		source, mapped, filter := statsOf(t, s, "series"), statsOf(t, s, "map"), statsOf(t, s, "filter")
		skip, flat := statsOf(t, s, "skip"), statsOf(t, s, "flatmap")
		require.Equal(rt, read, source.Out)
		require.Equal(rt, bytes, source.Bytes)
		require.Equal(rt, int64(n*epochs)-read, source.Errors[pipeline.KindSource])
		require.Equal(rt, read, mapped.In)
		require.Equal(rt, mapErrors, mapped.Errors[pipeline.KindTransform])
		require.Equal(rt, panics, mapped.Errors[pipeline.KindPanic])
		require.Equal(rt, read-mapErrors-panics, mapped.Out)
		require.Equal(rt, mapped.Out, filter.In)
		require.Equal(rt, kept, filter.Out)
		require.Empty(rt, filter.Errors)
		require.Equal(rt, kept, skip.In)
		require.Equal(rt, kept-skipped, skip.Out)
		require.Equal(rt, skip.Out, flat.In)
		require.EqualValues(rt, len(got), flat.Out)
		require.EqualValues(rt, len(got), s.Delivered)
		require.Equal(rt, source.Errors[pipeline.KindSource]+mapErrors+panics, s.ErrorCount())
		require.EqualValues(rt, epochs, s.Epoch)
		require.Zero(rt, s.InFlight)
		require.Zero(rt, s.Bytes)
		require.Zero(rt, s.Workers)
		for _, st := range s.Stages {
			require.Zero(rt, st.Queue.Depth)
			require.LessOrEqual(rt, st.Queue.Peak, st.Queue.Limit)
		}
	})
}

// They stay as they are once the stream has ended.
func TestStatsStandStillAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: 10, next: func(ctx context.Context, _ int) error { return nap(ctx, time.Second) }}).
			Map(func(v int) (int, error) { time.Sleep(100 * time.Millisecond); return v, nil }).Start(context.Background())
		require.NoError(t, err)
		got, err := gather(t, it)
		require.Len(t, got, 10)
		require.Equal(t, io.EOF, err)
		require.NoError(t, it.Close())
		s := it.Stats()
		time.Sleep(time.Hour)
		require.Equal(t, s, it.Stats())
		require.InDelta(t, 10.1, s.Elapsed.Seconds(), 0.2)
		require.InDelta(t, 10.1, s.Waited.Seconds(), 0.2)
		require.InDelta(t, 1.0, statsOf(t, s, "map").Busy.Seconds(), 0.01)
		require.InDelta(t, 10, statsOf(t, s, "series").Busy.Seconds(), 0.2)
		require.Zero(t, statsOf(t, s, "map").WaitIn)
	})
}

// Where something waits it is told: the source has no room behind a slow consumer, a
// stage in order has no input behind a slow source.
func TestWaitsOfStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: 10}).Prefetch(1).ChunkSize(1).
			Map(func(v int) (int, error) { return v, nil }).Skip(0).Start(context.Background())
		require.NoError(t, err)
		for range 10 {
			time.Sleep(time.Second)
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, it.Close())
		s := it.Stats()
		require.InDelta(t, 9, statsOf(t, s, "series").WaitOut.Seconds(), 1.5)
		require.InDelta(t, 9, statsOf(t, s, "skip").WaitIn.Seconds(), 1.5)
		require.Zero(t, s.Waited)
	})
}

// While it runs a queue holds at most its limit.
func TestQueueDepth(t *testing.T) {
	var it atomic.Pointer[pipeline.Iterator[int]]
	var over atomic.Int64
	watch := func(v int) (int, error) {
		if it := it.Load(); it != nil {
			for _, st := range it.Stats().Stages {
				if q := st.Queue; q.Depth > q.Limit || q.Peak > q.Limit {
					over.Add(1)
				}
			}
		}
		return v, nil
	}
	run := begin(t, pipeline.From(&series{n: 3000}).ChunkSize(1).Prefetch(3).Workers(2).Map(watch).Skip(0).Map(watch))
	it.Store(run)
	got, err := gather(t, run)
	require.Equal(t, io.EOF, err)
	require.Equal(t, upTo(0, 3000), got)
	require.Zero(t, over.Load())
	q := statsOf(t, run.Stats(), "map").Queue
	require.Positive(t, q.Peak)
	require.GreaterOrEqual(t, float64(q.Peak), q.Mean)
	require.NotZero(t, statsOf(t, run.Stats(), "map#2").Queue.Limit, "each queue belongs to the stage before it")
	require.Zero(t, statsOf(t, run.Stats(), "series").Queue, "the map follows at once")
}

// After Close, in the middle, nothing moves any more.
func TestStatsAfterClose(t *testing.T) {
	it := begin(t, full(&series{n: -1}))
	for range 20 {
		_, err := it.Next(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, it.Close())
	s := it.Stats()
	require.EqualValues(t, 20, s.Delivered)
	time.Sleep(5 * time.Millisecond)
	require.Equal(t, s, it.Stats())
	require.Zero(t, s.Workers)
}

func TestStatsString(t *testing.T) {
	src := &series{n: 10}
	_, s, _ := play(t, pipeline.BatchRaw(pipeline.From(src).OnError(pipeline.Skip).Map(func(v int) (int, error) {
		if v == 3 {
			return 0, errBad
		}
		return v, nil
	}).Named("tokenize"), 2))
	s.Elapsed = 2 * time.Second
	lines := strings.Split(strings.TrimSpace(s.String()), "\n")
	require.Len(t, lines, 4)
	require.Equal(t, "5 delivered in 2s (2/s), 1 errors", lines[0])
	for i, want := range []string{"series in 0 out 10", "tokenize in 10 out 9", "batch in 9 out 5"} {
		require.Contains(t, strings.Join(strings.Fields(lines[i+1]), " "), want)
	}
	require.Equal(t, "0 delivered in 0s (0/s), 0 errors\n", pipeline.Stats{}.String())
}
