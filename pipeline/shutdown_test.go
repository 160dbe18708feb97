package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/pipeline"
)

// noLeak checks at the end of a test that it has left no goroutine. Such a test
// does not run beside others.
func noLeak(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// full is a pipeline with a stage of each kind.
func full(src pipeline.Source[int]) *pipeline.Pipeline[[]int] {
	p := pipeline.From(src).Epochs(0).ChunkSize(5).Prefetch(4).Workers(3).
		Map(func(v int) (int, error) { return v, nil }).
		Shuffle(20).
		FlatMap(func(v int) ([]int, error) { return []int{v, v}, nil })
	return pipeline.BatchRaw(p, 3).Map(func(b []int) ([]int, error) { return b, nil })
}

func TestCloseAtOnce(t *testing.T) {
	noLeak(t)
	for i := range 100 {
		src := &series{n: -1}
		it, err := full(src).Start(context.Background())
		require.NoError(t, err)
		if i%2 == 1 {
			time.Sleep(time.Duration(i) * 10 * time.Microsecond)
		}
		require.NoError(t, it.Close())
		require.NoError(t, it.Close(), "a second time too")
		_, err = it.Next(t.Context())
		require.ErrorIs(t, err, pipeline.ErrClosed)
		require.Equal(t, src.opened.Load(), src.closed.Load(), "cursors are closed")
	}
}

func TestCloseMidway(t *testing.T) {
	noLeak(t)
	for k := 1; k < 60; k += 7 {
		src := &series{n: 50}
		it, err := full(src).Start(context.Background())
		require.NoError(t, err)
		for range k {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, it.Close())
		_, err = it.Next(t.Context())
		require.ErrorIs(t, err, pipeline.ErrClosed)
		require.EqualValues(t, k, it.Stats().Delivered)
		require.Equal(t, src.opened.Load(), src.closed.Load())
	}
}

// Nothing can move any more when Close comes.
func TestCloseWithFullQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, unordered := range []bool{false, true} {
			src := &series{n: -1}
			p := full(src)
			if unordered {
				p = p.Unordered()
			}
			it, err := p.Start(context.Background())
			require.NoError(t, err)
			_, err = it.Next(t.Context())
			require.NoError(t, err)
			synctest.Wait()
			pulled := src.pulled.Load()
			time.Sleep(time.Hour)
			require.Equal(t, pulled, src.pulled.Load(), "it was not full")
			before := time.Now()
			require.NoError(t, it.Close())
			require.Equal(t, before, time.Now())
		}
	})
}

func TestCloseWhileSourceSleeps(t *testing.T) {
	for name, p := range map[string]*pipeline.Pipeline[int]{
		"Next": pipeline.From(&series{n: -1, next: func(ctx context.Context, _ int) error { return nap(ctx, 30*time.Second) }}),
		"Open": pipeline.From(&series{n: -1, open: func(ctx context.Context, _ pipeline.Start) error { return nap(ctx, 30*time.Second) }}),
		"Run":  pipeline.FromAsync(pushing(func(ctx context.Context, sink pipeline.Sink[int]) error { return nap(ctx, 30*time.Second) })),
	} {
		for _, opened := range []time.Duration{0, time.Second} {
			t.Run(fmt.Sprint(name, opened), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					it, err := p.Start(context.Background())
					require.NoError(t, err)
					time.Sleep(opened)
					before := time.Now()
					require.NoError(t, it.Close())
					require.Equal(t, before, time.Now(), "it must not wait for the source")
				})
			})
		}
	}
}

func TestBreakClosesIterator(t *testing.T) {
	noLeak(t)
	it, err := full(&series{n: -1}).Start(context.Background())
	require.NoError(t, err)
	n := 0
	for _, err := range it.All(t.Context()) {
		require.NoError(t, err)
		if n++; n == 5 {
			break
		}
	}
	_, err = it.Next(t.Context())
	require.ErrorIs(t, err, pipeline.ErrClosed)

	it, err = full(&series{n: 10}).Start(context.Background())
	require.NoError(t, err)
	for range it.Epochs(t.Context()) {
		break
	}
	_, err = it.Next(t.Context())
	require.ErrorIs(t, err, pipeline.ErrClosed)
}

// A panic of the consumer goes through the loop and closes the iterator.
func TestPanicOfConsumerClosesIterator(t *testing.T) {
	noLeak(t)
	it, err := full(&series{n: -1}).Start(context.Background())
	require.NoError(t, err)
	require.PanicsWithValue(t, "consumer", func() {
		for range it.All(t.Context()) {
			panic("consumer")
		}
	})
	_, err = it.Next(t.Context())
	require.ErrorIs(t, err, pipeline.ErrClosed)
}

// An iterator that nobody has any more is closed by the garbage collector.
func TestLostIteratorIsClosed(t *testing.T) {
	noLeak(t)
	src := &series{n: -1}
	func() {
		it, err := full(src).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
	}()
	soon(t, "the cursor is closed", func() bool {
		runtime.GC()
		return src.closed.Load() == src.opened.Load()
	})
}

func TestContextOfStart(t *testing.T) {
	cause := errors.New("the deadline of the job")
	t.Run("cancelled while it runs", func(t *testing.T) {
		noLeak(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		it, err := full(&series{n: -1}).Start(ctx)
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
		cancel(cause)
		for err == nil {
			_, err = it.Next(t.Context())
		}
		require.Equal(t, cause, err)
		_, err = it.Next(t.Context())
		require.Equal(t, cause, err)
		require.NoError(t, it.Close())
		_, err = it.Next(t.Context())
		require.Equal(t, cause, err, "Close does not replace it")
	})
	t.Run("cancelled before", func(t *testing.T) {
		noLeak(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		it, err := full(&series{n: -1}).Start(ctx)
		require.NoError(t, err)
		for err == nil {
			_, err = it.Next(t.Context())
		}
		require.Equal(t, cause, err)
		require.NoError(t, it.Close())
	})
	t.Run("closed after it was cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			it, err := full(&series{n: -1}).Start(ctx)
			require.NoError(t, err)
			cancel(cause)
			synctest.Wait()
			require.NoError(t, it.Close())
			_, err = it.Next(t.Context())
			require.Equal(t, cause, err, "the first cause counts")
		})
	})
	t.Run("cancelled while the source is quiet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
			defer cancel()
			it, err := pipeline.From(&series{n: -1, next: func(ctx context.Context, _ int) error { return quiet(ctx) }}).
				OnError(pipeline.Skip).Start(ctx)
			require.NoError(t, err)
			began := time.Now()
			_, err = it.Next(t.Context())
			require.Equal(t, cause, err)
			require.Equal(t, time.Minute, time.Since(began))
			require.NoError(t, it.Close())
		})
	})
	// All elements are on their way and no goroutine is left; the stream ends all
	// the same.
	t.Run("cancelled when all was read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			it, err := pipeline.From(&series{n: 10}).Start(ctx)
			require.NoError(t, err)
			v, err := it.Next(t.Context())
			require.NoError(t, err)
			require.Zero(t, v)
			synctest.Wait()
			cancel(cause)
			synctest.Wait()
			_, err = it.Next(t.Context())
			require.Equal(t, cause, err)
			require.NoError(t, it.Close())
		})
	})
	t.Run("cancelled after the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			it, err := pipeline.From(&series{n: 10}).Start(ctx)
			require.NoError(t, err)
			got, err := gather(t, it)
			require.Equal(t, upTo(0, 10), got)
			require.Equal(t, io.EOF, err)
			cancel(cause)
			synctest.Wait()
			_, err = it.Next(t.Context())
			require.Equal(t, io.EOF, err, "the end stays the end")
			require.NoError(t, it.Close())
		})
	})
}

// The context of Next ends that call only, and nothing is lost.
func TestContextOfNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: 5, next: func(ctx context.Context, _ int) error { return nap(ctx, time.Second) }}).
			Start(context.Background())
		require.NoError(t, err)
		var got []int
		cause := errors.New("no time")
		for len(got) < 5 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, cause)
			v, err := it.Next(ctx)
			cancel()
			if err == nil {
				got = append(got, v)
				continue
			}
			require.Equal(t, cause, err)
		}
		require.Equal(t, upTo(0, 5), got)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = it.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = it.Next(t.Context())
		require.Equal(t, io.EOF, err)
		require.NoError(t, it.Close())
	})
}

// A call of Next that waits holds up nobody else: not another one with a context of its own,
// not State, Stats or Close.
func TestWaitingNextHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: -1, next: func(ctx context.Context, v int) error {
			if v < 3 {
				return nil
			}
			return quiet(ctx)
		}}).Start(context.Background())
		require.NoError(t, err)
		var group sync.WaitGroup
		for range 3 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		for range 2 {
			group.Go(func() {
				_, err := it.Next(t.Context())
				require.ErrorIs(t, err, pipeline.ErrClosed)
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = it.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualValues(t, 3, it.Stats().Delivered)
		_, err = it.State()
		require.NoError(t, err)
		require.False(t, it.Done())
		require.Zero(t, it.Epoch())
		require.NoError(t, it.Close())
		group.Wait()
	})
}

// After Stop comes what was on its way, then the end.
func TestStopThenDrain(t *testing.T) {
	noLeak(t)
	src := &series{n: -1}
	it, err := pipeline.From(src).ChunkSize(4).Prefetch(4).Workers(3).Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
	require.NoError(t, err)
	for v := range 10 {
		got, err := it.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	it.Stop()
	it.Stop()
	rest, err := gather(t, it)
	require.Equal(t, io.EOF, err)
	require.Equal(t, upTo(10, 10+len(rest)), rest)
	require.EqualValues(t, src.pulled.Load(), 10+len(rest), "all that was read is delivered")
	require.LessOrEqual(t, len(rest), 16)
	_, err = it.Next(t.Context())
	require.Equal(t, io.EOF, err)
	require.NoError(t, it.Close())
	require.Zero(t, it.Stats().InFlight)
}

func TestStopWhileSourceIsQuiet(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		for name, p := range map[string]*pipeline.Pipeline[int]{
			"source": pipeline.From(&series{n: -1, next: func(ctx context.Context, v int) error {
				if v < 3 {
					return nil
				}
				return quiet(ctx)
			}}),
			"async source": pipeline.FromAsync(pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
				for v := range 3 {
					if err := sink.Push(ctx, v); err != nil {
						return err
					}
				}
				return quiet(ctx)
			})),
		} {
			t.Run(fmt.Sprint(name, " ", policy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					it, err := p.OnError(policy).Start(context.Background())
					require.NoError(t, err)
					for range 2 {
						_, err := it.Next(t.Context())
						require.NoError(t, err)
					}
					time.Sleep(10 * time.Second)
					it.Stop()
					got, err := gather(t, it)
					require.Equal(t, []int{2}, got)
					require.Equal(t, io.EOF, err, "it is no error")
					require.Zero(t, it.Stats().ErrorCount())
					require.NoError(t, it.Close())
				})
			})
		}
	}
}

func TestStopAtOnce(t *testing.T) {
	noLeak(t)
	for range 50 {
		it, err := full(&series{n: -1}).Start(context.Background())
		require.NoError(t, err)
		it.Stop()
		_, err = gather(t, it)
		require.Equal(t, io.EOF, err)
		require.NoError(t, it.Close())
	}
}

// Many goroutines at once: each element goes to one of them, in the end all see the
// same.
func TestManyConsumers(t *testing.T) {
	noLeak(t)
	it, err := pipeline.From(&series{n: 5000}).ChunkSize(7).Workers(3).Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
	require.NoError(t, err)
	var mu sync.Mutex
	var got []int
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			last := -1
			for {
				v, err := it.Next(t.Context())
				if err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					return
				}
				if v <= last {
					t.Errorf("%d came after %d", v, last)
				}
				last = v
				mu.Lock()
				got = append(got, v)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	require.ElementsMatch(t, upTo(0, 5000), got)
	require.NoError(t, it.Close())
}

func TestRaces(t *testing.T) {
	noLeak(t)
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		it, err := full(&series{n: 100}).Start(context.Background())
		require.NoError(t, err)
		var group sync.WaitGroup
		for what := range 10 {
			group.Go(func() {
				for range rand.IntN(200) {
					switch what {
					case 0:
						it.Stats()
					case 1:
						if _, err := it.State(); err != nil {
							t.Error(err)
						}
					case 2:
						it.Epoch()
						it.Done()
					default:
						if _, err := it.Next(t.Context()); err != nil && err != io.EOF && !errors.Is(err, pipeline.ErrClosed) {
							t.Error(err)
						}
					}
				}
				switch what {
				case 3:
					it.Stop()
				case 4, 5:
					if err := it.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		require.NoError(t, it.Close())
		_, err = it.Next(t.Context())
		require.Error(t, err)
	}
}

func TestManyWorkersCancelledAndRestarted(t *testing.T) {
	noLeak(t)
	var inside, most atomic.Int64
	p := pipeline.From(&series{n: -1}).ChunkSize(1).Workers(64).Prefetch(200).
		Transform(pipeline.TransformFunc[int, int](func(ctx context.Context, v int, emit func(int)) error {
			most.Store(max(most.Load(), inside.Add(1)))
			defer inside.Add(-1)
			emit(v)
			if v > 100 {
				return quiet(ctx)
			}
			return nil
		}))
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		it, err := p.Start(ctx)
		require.NoError(t, err)
		for v := range 100 {
			got, err := it.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
		soon(t, "all workers are busy", func() bool { return inside.Load() == 64 })
		cancel()
		require.NoError(t, it.Close())
		require.Zero(t, inside.Load(), "Close waits for all of them")
	}
}

// gate holds up those who pass it until it is opened.
type gate struct {
	entered atomic.Bool
	opened  chan struct{}
}

func (g *gate) pass() error {
	g.entered.Store(true)
	<-g.opened
	return nil
}

// stuck are pipelines with a function that does not return before the gate is opened.
var stuck = map[string]func(g *gate) (string, *pipeline.Pipeline[int]){
	"map": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "map", pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { return v, g.pass() })
	},
	"named map": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "tokenize", pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { return v, g.pass() }).Named("tokenize")
	},
	"stateful": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "stateful", pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { return v, nil }).
			Stateful(func() pipeline.StatefulTransform[int, int] { return blocking{g} })
	},
	"stateful behind the source": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "stateful", pipeline.From(&series{n: -1}).Stateful(func() pipeline.StatefulTransform[int, int] { return blocking{g} })
	},
	"source": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "series", pipeline.From(&series{n: -1, next: func(context.Context, int) error { return g.pass() }})
	},
	"opening of the source": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "series", pipeline.From(&series{n: -1, open: func(context.Context, pipeline.Start) error { return g.pass() }})
	},
	"closing of the source": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "series", pipeline.From(&series{n: 3, close: g.pass})
	},
	"async source": func(g *gate) (string, *pipeline.Pipeline[int]) {
		return "pushing", pipeline.FromAsync(pushing(func(context.Context, pipeline.Sink[int]) error { return g.pass() }))
	},
}

type blocking struct{ *gate }

func (b blocking) Push(_ context.Context, v int, emit func(int)) error { return b.pass() }
func (b blocking) Finish(context.Context, func(int)) error             { return nil }

// Close waits up to a deadline for a function that does not return, then says which.
// All goroutines end when it returns.
func TestCloseNamesFunctionThatDoesNotReturn(t *testing.T) {
	for name, build := range stuck {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			g := &gate{opened: make(chan struct{})}
			stage, p := build(g)
			const timeout = 20 * time.Millisecond
			it, err := p.CloseTimeout(timeout).Workers(1).Start(context.Background())
			require.NoError(t, err)
			soon(t, "the function is called", g.entered.Load)
			began := time.Now()
			err = it.Close()
			require.GreaterOrEqual(t, time.Since(began), timeout)
			require.ErrorIs(t, err, pipeline.ErrStuck)
			require.ErrorContains(t, err, stage+" (for ")
			_, err = it.Next(t.Context())
			require.ErrorIs(t, err, pipeline.ErrClosed, "the stream ends at once")
			require.ErrorIs(t, it.Close(), pipeline.ErrStuck)
			close(g.opened)
			require.NoError(t, goleak.Find(before))
			require.NoError(t, it.Close())
		})
	}
}

// A panic anywhere leaves no goroutine, without Close too.
func TestPanicLeavesNoGoroutine(t *testing.T) {
	boom := func(v int) {
		if v == 57 {
			panic("boom")
		}
	}
	for name, p := range map[string]*pipeline.Pipeline[int]{
		"source": pipeline.From(&series{n: -1, next: func(_ context.Context, v int) error { boom(v); return nil }}).Map(func(v int) (int, error) { return v, nil }),
		"worker": pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { boom(v); return v, nil }),
		"stateful": pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { return v, nil }).
			Stateful(func() pipeline.StatefulTransform[int, int] { return exiting{boom} }),
		"run": pipeline.FromAsync(pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
			for v := 0; ; v++ {
				boom(v)
				if err := sink.Push(ctx, v); err != nil {
					return err
				}
			}
		})),
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			it, err := p.Workers(4).ChunkSize(4).Start(context.Background())
			require.NoError(t, err)
			got, err := gather(t, it)
			require.ErrorIs(t, err, pipeline.ErrPanic)
			require.Equal(t, upTo(0, 57), got)
		})
	}
}

// The end of the stream too leaves no goroutine without Close.
func TestEndLeavesNoGoroutine(t *testing.T) {
	noLeak(t)
	it, err := full(&series{n: 100}).Epochs(2).Autotune(4).Start(context.Background())
	require.NoError(t, err)
	got, err := gather(t, it)
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 134)
}

// Stalls and errors everywhere, on many workers: what is left comes in its order,
// and is counted.
func TestChaos(t *testing.T) {
	noLeak(t)
	n := 50_000
	if testing.Short() {
		n = 10_000
	}
	var failed, stalled atomic.Int64
	p := pipeline.From(&series{n: n}).Workers(16).ChunkSize(16).OnError(pipeline.Skip).
		Map(func(v int) (int, error) {
			luck := rand.New(rand.NewPCG(7, uint64(v)))
			if luck.IntN(100) < 30 {
				stalled.Add(1)
				if v%16 == 0 {
					time.Sleep(time.Duration(luck.IntN(200)) * time.Microsecond)
				} else {
					runtime.Gosched()
				}
			}
			if luck.IntN(100) < 40 {
				failed.Add(1)
				if v%2 == 0 {
					panic(errBad)
				}
				return 0, errBad
			}
			return v, nil
		})
	got, stats, err := play(t, p)
	require.Equal(t, io.EOF, err)
	require.IsIncreasing(t, got)
	require.EqualValues(t, n, int64(len(got))+failed.Load())
	require.EqualValues(t, failed.Load(), stats.ErrorCount())
	require.InDelta(t, 0.4*float64(n), float64(failed.Load()), 0.03*float64(n))
	require.InDelta(t, 0.3*float64(n), float64(stalled.Load()), 0.03*float64(n))
	require.Zero(t, stats.InFlight)
}
