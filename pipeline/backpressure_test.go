package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// flood is an endless source that notes how far it was ahead of the consumer at most.
type flood struct {
	series
	it    atomic.Pointer[pipeline.Iterator[int]]
	times int64 // elements of the consumer that one of the source makes
	ahead atomic.Int64
}

func newFlood() *flood {
	f := &flood{times: 1}
	f.n = -1
	f.next = func(context.Context, int) error {
		f.note(f.pulled.Load() + 1)
		return nil
	}
	return f
}

// note is called when an element is about to come.
func (f *flood) note(pulled int64) {
	delivered := int64(0)
	if it := f.it.Load(); it != nil {
		delivered = it.Stats().Delivered / f.times
	}
	f.ahead.Store(max(f.ahead.Load(), pulled-delivered))
}

// What has been read and not delivered is at most Prefetch chunks, at any moment,
// whatever stages there are; and it is as much as that when the consumer sleeps.
func TestElementsInFlightAreBounded(t *testing.T) {
	shapes := map[string]struct {
		build       func(*pipeline.Pipeline[int]) *pipeline.Pipeline[int]
		times, held int64
	}{
		"nothing": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] { return p }, 1, 0},
		"map": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return p.Map(func(v int) (int, error) { return v, nil })
		}, 1, 0},
		"stages in order": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return p.Skip(0).Map(func(v int) (int, error) { return v, nil }).Skip(0).
				Map(func(v int) (int, error) { return v, nil })
		}, 1, 0},
		"flatmap": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return p.FlatMap(func(v int) ([]int, error) { return make([]int, 6), nil })
		}, 6, 0},
		"flatmap and stages in order": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return p.FlatMap(func(v int) ([]int, error) { return make([]int, 6), nil }).Skip(0).
				Map(func(v int) (int, error) { return v, nil })
		}, 6, 0},
		"shuffle": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return p.Shuffle(20).Map(func(v int) (int, error) { return v, nil })
		}, 1, 20},
		"batch, unbatch": {func(p *pipeline.Pipeline[int]) *pipeline.Pipeline[int] {
			return pipeline.FlatMap(pipeline.BatchRaw(p, 10), func(b []int) ([]int, error) { return b, nil })
		}, 1, 10},
	}
	for name, shape := range shapes {
		for _, unordered := range []bool{false, true} {
			if unordered && name == "flatmap and stages in order" {
				continue // the parts of a chunk overtake each other
			}
			t.Run(fmt.Sprint(name, unordered), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					prefetch, chunk := rapid.IntRange(1, 6).Draw(rt, "prefetch"), rapid.IntRange(1, 9).Draw(rt, "chunk")
					workers := rapid.IntRange(1, 4).Draw(rt, "workers")
					src := newFlood()
					src.times = shape.times
					p := shape.build(pipeline.From(src).Prefetch(prefetch).ChunkSize(chunk).Workers(workers).Epochs(1))
					if unordered {
						p = p.Unordered()
					}
					it, err := p.Start(context.Background())
					require.NoError(rt, err)
					src.it.Store(it)
					for range rapid.IntRange(0, 200).Draw(rt, "taken") {
						_, err := it.Next(t.Context())
						require.NoError(rt, err)
					}
					require.NoError(rt, it.Close())
					require.LessOrEqual(rt, src.ahead.Load(), int64(prefetch*chunk)+shape.held)
				})
			})
		}
	}
}

// What an element was made into counts until the last of it is delivered, also where it goes
// on in several chunks.
func TestPartsInFlightAreBounded(t *testing.T) {
	for _, c := range []struct{ prefetch, chunk, workers int }{{1, 1, 1}, {2, 3, 1}, {4, 8, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newFlood()
				const k = 12
				it, err := pipeline.From(src).Prefetch(c.prefetch).ChunkSize(c.chunk).Workers(c.workers).
					FlatMap(func(v int) ([]int, error) { return make([]int, k), nil }).Skip(0).
					Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
				require.NoError(t, err)
				for delivered := range int64(20 * k) {
					synctest.Wait()
					require.LessOrEqual(t, k*src.pulled.Load()-delivered, int64(k*c.prefetch*c.chunk))
					_, err := it.Next(t.Context())
					require.NoError(t, err)
				}
				require.NoError(t, it.Close())
			})
		})
	}
}

// Groups count by their elements, also where these are many more than are in flight else.
func TestBatchesInFlightAreBounded(t *testing.T) {
	for _, n := range []int{2, 10, 100} {
		for _, chunk := range []int{1, 7, 64} {
			t.Run(fmt.Sprint(n, " of ", chunk), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const prefetch = 4
					src := newFlood()
					sum := pipeline.Collate(pipeline.BatchRaw(pipeline.From(src).ChunkSize(chunk).Prefetch(prefetch).Workers(2), n),
						func(b []int) (int, error) { return len(b), nil })
					it, err := sum.Start(context.Background())
					require.NoError(t, err)
					for k := range 5 {
						synctest.Wait()
						ahead := src.pulled.Load() - int64(k*n)
						// What the stage holds for the next batch is not in flight.
						require.LessOrEqual(t, ahead, int64(prefetch*chunk+n))
						require.GreaterOrEqual(t, ahead, int64(n))
						_, err := it.Next(t.Context())
						require.NoError(t, err)
					}
					require.NoError(t, it.Close())
				})
			})
		}
	}
}

// With a consumer that sleeps all the room is used but for less than half a chunk, and
// no more.
func TestSleepingConsumer(t *testing.T) {
	for _, prefetch := range []int{1, 2, 8} {
		for _, chunk := range []int{1, 16} {
			for _, workers := range []int{1, 4} {
				t.Run(fmt.Sprint(prefetch, chunk, workers), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						src := newFlood()
						it, err := pipeline.From(src).Prefetch(prefetch).ChunkSize(chunk).Workers(workers).
							Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
						require.NoError(t, err)
						limit := prefetch * chunk
						for range 3 {
							time.Sleep(time.Hour)
							delivered := it.Stats().Delivered
							goes := max(1, min(chunk, limit/(workers+2))) // together
							require.LessOrEqual(t, it.Stats().InFlight, limit)
							require.Greater(t, it.Stats().InFlight, limit-(goes+1)/2)
							require.LessOrEqual(t, src.pulled.Load()-delivered, int64(limit))
							require.Greater(t, src.pulled.Load()-delivered, int64(limit-chunk), "a chunk goes as a whole")
							for range limit + 3 {
								_, err := it.Next(t.Context())
								require.NoError(t, err)
							}
						}
						require.NoError(t, it.Close())
					})
				})
			}
		}
	}
}

// A worker that is slow holds up the source as well.
func TestSlowWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		it, err := pipeline.From(src).Prefetch(3).ChunkSize(2).Workers(2).
			Map(func(v int) (int, error) { time.Sleep(time.Second); return v, nil }).Start(context.Background())
		require.NoError(t, err)
		src.it.Store(it)
		began := time.Now()
		for v := range 40 {
			got, err := it.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
		require.LessOrEqual(t, src.ahead.Load(), int64(6))
		require.LessOrEqual(t, time.Since(began), 25*time.Second, "two workers need 20 s")
		require.NoError(t, it.Close())
	})
}

func TestBytesInFlightAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(1, 400).Draw(rt, "limit")
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 150), 1, 20).Draw(rt, "sizes")
		size := func(v int) int64 { return sizes[v%len(sizes)] }
		sum := func(from, to int) (n, largest int64) {
			for v := from; v < to; v++ {
				n += size(v)
				largest = max(largest, size(v))
			}
			return n, largest
		}
		var it atomic.Pointer[pipeline.Iterator[int]]
		var wrong atomic.Pointer[string]
		src := &series{n: 300, next: func(_ context.Context, v int) error {
			it := it.Load()
			if it == nil {
				return nil
			}
			// All before this one have their room, so one of them may be larger than all of it
			// only if nothing else was there.
			first := int(it.Stats().Delivered)
			if bytes, largest := sum(first, v); bytes > max(limit, largest) {
				what := fmt.Sprintf("%d bytes from %d to %d", bytes, first, v)
				wrong.Store(&what)
			}
			return nil
		}}
		p := pipeline.From(src).SizeOf(size).PrefetchBytes(limit).Workers(rapid.IntRange(1, 3).Draw(rt, "workers")).
			ChunkSize(rapid.IntRange(1, 9).Draw(rt, "chunk")).Map(func(v int) (int, error) { return v, nil })
		run, err := p.Start(context.Background())
		require.NoError(rt, err)
		it.Store(run)
		for n := range 300 {
			v, err := run.Next(context.Background())
			require.NoError(rt, err)
			require.Equal(rt, n, v, "nothing is lost, however large it is")
		}
		_, err = run.Next(context.Background())
		require.Equal(rt, io.EOF, err)
		require.NoError(rt, run.Close())
		require.Nil(rt, wrong.Load())
		require.Zero(rt, run.Stats().Bytes)
	})
}

// Exactly: with elements of 100 bytes and 250 allowed two are on their way, and the source
// has one more in hand, whose size had to be seen.
func TestBytesOfSleepingConsumer(t *testing.T) {
	for _, c := range []struct {
		size, limit, pulled int64
	}{
		{100, 250, 3},
		{100, 200, 3},
		{100, 199, 2},
		{100, 1, 2}, // one that is larger than allowed passes alone
		{0, 1, 64},
	} {
		for _, workers := range []int{1, 8} {
			t.Run(fmt.Sprint(c, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					src := newFlood()
					it, err := pipeline.From(src).SizeOf(func(int) int64 { return c.size }).PrefetchBytes(c.limit).
						ChunkSize(8).Prefetch(8).Workers(workers).Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
					require.NoError(t, err)
					for k := range int64(10) {
						synctest.Wait()
						require.LessOrEqual(t, src.pulled.Load(), k+c.pulled)
						require.LessOrEqual(t, it.Stats().Bytes, max(c.limit, c.size))
						v, err := it.Next(t.Context())
						require.NoError(t, err)
						require.EqualValues(t, k, v)
					}
					synctest.Wait()
					if c.size > 0 {
						require.EqualValues(t, 10+c.pulled, src.pulled.Load(), "the room is used")
					}
					require.NoError(t, it.Close())
				})
			})
		}
	}
}

// Batches too count by their bytes.
func TestBytesOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		p := pipeline.From(src).SizeOf(func(int) int64 { return 100 }).PrefetchBytes(1000).ChunkSize(4).Prefetch(100)
		it, err := pipeline.BatchRaw(p, 32).Start(context.Background())
		require.NoError(t, err)
		for k := range int64(5) {
			synctest.Wait()
			require.LessOrEqual(t, src.pulled.Load()-32*k, int64(10+32+1))
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, it.Close())
	})
}

// With room for one element there is one on its way.
func TestPrefetchOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		it, err := pipeline.From(src).Prefetch(1).ChunkSize(1).Workers(4).Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
		require.NoError(t, err)
		for k := range 20 {
			synctest.Wait()
			require.EqualValues(t, k+1, src.pulled.Load())
			v, err := it.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, k, v)
		}
		require.NoError(t, it.Close())
	})
}

// A slow source's elements come one by one, each when it is there.
func TestSlowSource(t *testing.T) {
	for _, pace := range []time.Duration{10 * time.Millisecond, 3 * time.Millisecond} {
		t.Run(pace.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				it, err := pipeline.From(&series{n: 20, next: func(ctx context.Context, _ int) error { return nap(ctx, pace) }}).
					Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
				require.NoError(t, err)
				for v := range 20 {
					got, err := it.Next(t.Context())
					require.NoError(t, err)
					require.Equal(t, v, got)
					late := time.Since(began) - time.Duration(v+1)*pace
					require.LessOrEqual(t, late, 10*time.Millisecond, "element %d", v)
				}
				_, err = it.Next(t.Context())
				require.Equal(t, io.EOF, err)
				require.NoError(t, it.Close())
			})
		})
	}
}

// In real time too, with a bound that a busy machine keeps at least once.
func TestFirstElementOfSlowSource(t *testing.T) {
	fastest := time.Hour
	for range 10 {
		began := time.Now()
		it, err := pipeline.From(&series{n: -1, next: func(ctx context.Context, _ int) error { return nap(ctx, 10*time.Millisecond) }}).
			Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(t.Context())
		require.NoError(t, err)
		fastest = min(fastest, time.Since(began))
		require.NoError(t, it.Close())
		if fastest < 25*time.Millisecond {
			break
		}
	}
	require.Less(t, fastest, 100*time.Millisecond, "a full chunk would take 640 ms")
}

// What came quickly does not wait for what comes late.
func TestSilenceAfterSomeElements(t *testing.T) {
	for name, p := range map[string]*pipeline.Pipeline[int]{
		"source": pipeline.From(&series{n: 6, next: func(ctx context.Context, v int) error {
			if v == 3 {
				return nap(ctx, time.Second)
			}
			return nil
		}}),
		"async source": pipeline.FromAsync(pushing(func(ctx context.Context, sink pipeline.Sink[int]) error {
			for v := range 6 {
				if v == 3 {
					if err := nap(ctx, time.Second); err != nil {
						return err
					}
				}
				if err := sink.Push(ctx, v); err != nil {
					return err
				}
			}
			return nil
		})),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				it, err := p.Map(func(v int) (int, error) { return v, nil }).Start(context.Background())
				require.NoError(t, err)
				for v := range 3 {
					got, err := it.Next(t.Context())
					require.NoError(t, err)
					require.Equal(t, v, got)
				}
				require.LessOrEqual(t, time.Since(began), 10*time.Millisecond)
				got, err := gather(t, it)
				require.Equal(t, []int{3, 4, 5}, got)
				require.Equal(t, io.EOF, err)
				require.LessOrEqual(t, time.Since(began), 1010*time.Millisecond)
				require.NoError(t, it.Close())
			})
		})
	}
}

func TestFlushAfter(t *testing.T) {
	for _, wait := range []time.Duration{0, 50 * time.Millisecond, 2 * time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				it, err := pipeline.From(&series{n: 2, next: func(ctx context.Context, v int) error {
					if v == 1 {
						return nap(ctx, time.Second)
					}
					return nil
				}}).FlushAfter(wait).Start(context.Background())
				require.NoError(t, err)
				_, err = it.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, min(wait, time.Second), time.Since(began))
				require.NoError(t, it.Close())
			})
		})
	}
}

// A consumer that takes 500 µs for each batch is not held up.
func TestSteadyConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.BatchRaw(pipeline.From(&series{n: 3200}).Map(func(v int) (int, error) { return v, nil }), 32).
			Start(context.Background())
		require.NoError(t, err)
		began := time.Now()
		for range 100 {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
			time.Sleep(500 * time.Microsecond)
		}
		require.Equal(t, 50*time.Millisecond, time.Since(began), "nothing else takes time")
		require.NoError(t, it.Close())
	})
}
