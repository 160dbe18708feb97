package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// pushing is a function as an asynchronous source.
type pushing func(ctx context.Context, sink pipeline.Sink[int]) error

func (f pushing) Run(ctx context.Context, _ pipeline.Start, sink pipeline.Sink[int]) error {
	return f(ctx, sink)
}

// counting pushes n numbers, with those of each epoch 1000 higher.
type counting int

func (n counting) Run(ctx context.Context, at pipeline.Start, sink pipeline.Sink[int]) error {
	for v := range int(n) {
		if err := sink.Push(ctx, 1000*int(at.Epoch)+v); err != nil {
			return err
		}
	}
	return nil
}

func TestAsyncSource(t *testing.T) {
	for _, chunk := range []int{1, 7, 64} {
		got, stats, err := play(t, pipeline.FromAsync(counting(100)).Epochs(2).ChunkSize(chunk).Prefetch(2))
		require.Equal(t, io.EOF, err)
		require.Equal(t, append(upTo(0, 100), upTo(1000, 1100)...), got)
		require.EqualValues(t, 200, statsOf(t, stats, "counting").Out)
		require.Zero(t, stats.InFlight)
	}
}

// Several goroutines push at once: the elements of each keep their order.
func TestAsyncSourceOfManyGoroutines(t *testing.T) {
	noLeak(t)
	src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
		var group sync.WaitGroup
		for g := range 5 {
			group.Go(func() {
				for i := range 500 {
					if sink.Push(ctx, 1000*g+i) != nil {
						return
					}
				}
			})
		}
		group.Wait()
		return nil
	})
	got, _, err := play(t, pipeline.FromAsync(src).ChunkSize(8).Prefetch(2).Workers(2).Map(func(v int) (int, error) { return v, nil }))
	require.Equal(t, io.EOF, err)
	next := map[int]int{}
	for _, v := range got {
		require.Equal(t, next[v/1000], v%1000)
		next[v/1000]++
	}
	require.Equal(t, map[int]int{0: 500, 1: 500, 2: 500, 3: 500, 4: 500}, next)

	// Closed in the middle, all of them are let go.
	it, err := pipeline.FromAsync(src).Prefetch(1).ChunkSize(3).Start(context.Background())
	require.NoError(t, err)
	_, err = it.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, it.Close())
}

func TestAsyncErrors(t *testing.T) {
	src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
		for v := range 20 {
			if v == 7 || v == 8 {
				if err := sink.Fail(ctx, errBad); err != nil {
					return err
				}
				continue
			}
			if err := sink.Push(ctx, v); err != nil {
				return err
			}
		}
		return nil
	})
	got, _, err := play(t, pipeline.FromAsync(src).ChunkSize(3))
	require.Equal(t, upTo(0, 7), got)
	require.ErrorIs(t, err, errBad)
	requireStageError(t, err, "pushing", pipeline.KindSource, 0, 7)

	var c complaints
	got, stats, err := play(t, pipeline.FromAsync(src).ChunkSize(3).OnError(pipeline.Skip).ErrorSink(c.sink))
	require.Equal(t, io.EOF, err)
	require.Equal(t, append(upTo(0, 7), upTo(9, 20)...), got)
	require.EqualValues(t, 2, stats.ErrorCount())
	require.Len(t, c.told, 2)
}

// What Run returns is no error about one element.
func TestAsyncRunFails(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		for name, c := range map[string]struct {
			end  func(ctx context.Context, sink pipeline.Sink[int]) error
			kind pipeline.ErrorKind
		}{
			"error":         {func(context.Context, pipeline.Sink[int]) error { return errBad }, pipeline.KindSource},
			"panic":         {func(context.Context, pipeline.Sink[int]) error { panic(errBad) }, pipeline.KindPanic},
			"fatal element": {func(ctx context.Context, s pipeline.Sink[int]) error { return s.Fail(ctx, pipeline.Fatal(errBad)) }, pipeline.KindSource},
		} {
			t.Run(fmt.Sprint(name, " ", policy), func(t *testing.T) {
				src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
					for v := range 5 {
						if err := sink.Push(ctx, v); err != nil {
							return err
						}
					}
					return c.end(ctx, sink)
				})
				got, stats, err := play(t, pipeline.FromAsync(src).ChunkSize(3).OnError(policy))
				require.Equal(t, upTo(0, 5), got)
				require.ErrorIs(t, err, errBad)
				requireStageError(t, err, "pushing", c.kind, 0, 5)
				require.EqualValues(t, 1, stats.ErrorCount())
			})
		}
	}
}

// A source that fails for ever ends, even if it does not look at what Fail returns.
func TestAsyncErrorsInRow(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprint("heeds ", heeds), func(t *testing.T) {
			noLeak(t)
			src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
				_ = sink.Push(ctx, 0)
				for ctx.Err() == nil {
					if err := sink.Fail(ctx, errBad); err != nil && heeds {
						return err
					}
				}
				return nil
			})
			got, stats, err := play(t, pipeline.FromAsync(src).OnError(pipeline.Skip).MaxErrorsInRow(100))
			require.Equal(t, []int{0}, got)
			require.ErrorIs(t, err, pipeline.ErrTooManyErrors)
			require.ErrorIs(t, err, errBad)
			require.EqualValues(t, 100, stats.ErrorCount())
		})
	}
}

// The error comes though Run does not return.
func TestAsyncErrorBeforeRunReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		it, err := pipeline.FromAsync(pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
			_ = sink.Push(ctx, 0)
			_ = sink.Fail(ctx, errBad)
			<-held
			return sink.Push(context.Background(), 1)
		})).CloseTimeout(time.Second).Start(context.Background())
		require.NoError(t, err)
		got, err := gather(t, it)
		require.Equal(t, []int{0}, got)
		require.ErrorIs(t, err, errBad)
		require.ErrorIs(t, it.Close(), pipeline.ErrStuck)
		close(held)
		require.NoError(t, it.Close())
	})
}

// Run gives Push a context of its own, so that only the pipeline ends it.
func TestAsyncRunIgnoresContext(t *testing.T) {
	endless := pushing(func(_ context.Context, sink pipeline.Sink[int]) error {
		for v := 0; ; v++ {
			if err := sink.Push(context.Background(), v); err != nil {
				return err
			}
		}
	})
	t.Run("close", func(t *testing.T) {
		noLeak(t)
		it, err := pipeline.FromAsync(endless).Prefetch(1).ChunkSize(2).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		require.NoError(t, it.Close())
	})
	t.Run("stop", func(t *testing.T) {
		noLeak(t)
		it, err := pipeline.FromAsync(endless).Prefetch(1).ChunkSize(2).Start(context.Background())
		require.NoError(t, err)
		it.Stop()
		got, err := gather(t, it)
		require.Equal(t, io.EOF, err)
		require.Equal(t, upTo(0, len(got)), append([]int{}, got...))
		require.NoError(t, it.Close())
	})
	t.Run("take", func(t *testing.T) {
		noLeak(t)
		got, _, err := play(t, pipeline.FromAsync(endless).Epochs(3).Take(5).ChunkSize(2))
		require.Equal(t, io.EOF, err)
		require.Equal(t, append(append(upTo(0, 5), upTo(0, 5)...), upTo(0, 5)...), got)
	})
	t.Run("bytes", func(t *testing.T) {
		noLeak(t)
		it, err := pipeline.FromAsync(endless).SizeOf(func(int) int64 { return 10 }).PrefetchBytes(25).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		require.NoError(t, it.Close())
	})
}

// Run may return while goroutines of its own still push: they are refused.
func TestAsyncPushAfterRun(t *testing.T) {
	noLeak(t)
	var group sync.WaitGroup
	var refused atomic.Int64
	src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
		for range 4 {
			group.Go(func() {
				for sink.Push(context.Background(), 1) == nil {
				}
				if sink.Fail(context.Background(), errBad) != nil {
					refused.Add(1)
				}
			})
		}
		return nil
	})
	it := begin(t, pipeline.FromAsync(src).Epochs(20).Prefetch(1).ChunkSize(3))
	_, err := gather(t, it)
	require.Equal(t, io.EOF, err)
	group.Wait()
	require.EqualValues(t, 80, refused.Load())
}

// A Push whose context ends leaves the stream as it is.
func TestAsyncPushGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gaveUp := 0
		src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
			for v := range 10 {
				for {
					short, cancel := context.WithTimeout(ctx, time.Second)
					err := sink.Push(short, v)
					cancel()
					if err == nil {
						break
					}
					if ctx.Err() != nil {
						return err
					}
					gaveUp++
				}
			}
			return nil
		})
		it, err := pipeline.FromAsync(src).Prefetch(1).ChunkSize(1).Start(context.Background())
		require.NoError(t, err)
		var got []int
		for {
			time.Sleep(3500 * time.Millisecond)
			v, err := it.Next(t.Context())
			if err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
			got = append(got, v)
		}
		require.Equal(t, upTo(0, 10), got)
		require.Greater(t, gaveUp, 10)
		require.NoError(t, it.Close())
	})
}

func TestAsyncResume(t *testing.T) {
	p := pipeline.BatchRaw(pipeline.FromAsync(counting(20)).Epochs(2).ChunkSize(3).Shuffle(4).Seed(5), 3)
	all, _, err := play(t, p)
	require.Equal(t, io.EOF, err)
	require.Len(t, all, 14)
	for k := range len(all) + 1 {
		it := begin(t, p)
		for range k {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		state, err := it.State()
		require.NoError(t, err)
		rest, err := p.Resume(context.Background(), state)
		require.NoError(t, err)
		got, end := gather(t, rest)
		require.Equal(t, io.EOF, end)
		require.Equal(t, append([][]int{}, all[k:]...), append([][]int{}, got...))
		require.NoError(t, rest.Close())
	}
}

// A source that has become shorter is not resumed in silence.
func TestAsyncResumeOfShorterSource(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		it := begin(t, pipeline.FromAsync(counting(20)).OnError(policy))
		for range 15 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		state, err := it.State()
		require.NoError(t, err)
		rest, err := pipeline.FromAsync(counting(10)).OnError(policy).Resume(context.Background(), state)
		require.NoError(t, err)
		got, err := gather(t, rest)
		require.Empty(t, got)
		require.ErrorIs(t, err, pipeline.ErrStateMismatch)
		require.NoError(t, rest.Close())
	}
}

func TestAsyncSourceTimeout(t *testing.T) {
	for name, src := range map[string]pushing{
		"at once": func(ctx context.Context, sink pipeline.Sink[int]) error { return quiet(ctx) },
		"after some": func(ctx context.Context, sink pipeline.Sink[int]) error {
			for v := range 3 {
				if err := sink.Push(ctx, v); err != nil {
					return err
				}
			}
			return quiet(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				it, err := pipeline.FromAsync(src).SourceTimeout(time.Second).Start(context.Background())
				require.NoError(t, err)
				began := time.Now()
				got, err := gather(t, it)
				require.ErrorIs(t, err, pipeline.ErrSourceTimeout)
				require.InDelta(t, 1, time.Since(began).Seconds(), 0.5)
				if name == "at once" {
					require.Empty(t, got)
				} else {
					require.Equal(t, upTo(0, 3), got)
				}
				require.NoError(t, it.Close())
			})
		})
	}
}

// A consumer that takes its time is no fault of the source; nor are elements
// that fail one after the other.
func TestAsyncSourceTimeoutCountsTheSourceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
			for v := range 12 {
				if err := nap(ctx, 700*time.Millisecond); err != nil {
					return err
				}
				var err error
				if v%3 == 0 {
					err = sink.Push(ctx, v)
				} else {
					err = sink.Fail(ctx, errBad)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		it, err := pipeline.FromAsync(src).Epochs(2).Prefetch(1).ChunkSize(1).SourceTimeout(time.Second).OnError(pipeline.Skip).
			Start(context.Background())
		require.NoError(t, err)
		n := 0
		for {
			time.Sleep(5 * time.Second)
			_, err := it.Next(t.Context())
			if err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
			n++
		}
		require.Equal(t, 8, n)
		require.NoError(t, it.Close())
	})
}
