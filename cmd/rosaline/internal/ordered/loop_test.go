package ordered

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
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errPlanted = errors.New("planted")

// item records what was done to it.
type item struct {
	n, scans, emits int
	sum             int // of all resolved so far
}

// recorder is work on the numbers 0 to count-1 that notes what the loop did and
// runs the planted functions first.
type recorder struct {
	count int
	next  func(ctx context.Context, n int) error
	scan  func(n int) error
	res   func(n int) error
	emit  func(n int) error
	write func(n int) error

	n, sum   int
	live     atomic.Int64 // items handed out and not recycled
	peak     atomic.Int64
	workers  atomic.Int64
	crowd    atomic.Int64 // most workers at once
	written  []item
	mu       sync.Mutex
	recycled map[int]int
}

func (r *recorder) Next(ctx context.Context) (*item, error) {
	var err error
	if r.next != nil {
		if err = r.next(ctx, r.n); err != nil && !isLast(err) {
			return nil, err
		}
	}
	if r.n == r.count {
		return nil, io.EOF
	}
	it := &item{n: r.n}
	r.n++
	raise(&r.peak, r.live.Add(1))
	return it, err
}

func (r *recorder) work(f func(int) error, n int) error {
	raise(&r.crowd, r.workers.Add(1))
	defer r.workers.Add(-1)
	if f == nil {
		return nil
	}
	return f(n)
}

func (r *recorder) Scan(it *item) error {
	it.scans++
	return r.work(r.scan, it.n)
}

func (r *recorder) Resolve(it *item) error {
	r.sum += it.n
	it.sum = r.sum
	if r.res != nil {
		return r.res(it.n)
	}
	return nil
}

func (r *recorder) Emit(it *item) error {
	it.emits++
	return r.work(r.emit, it.n)
}

func (r *recorder) Write(it *item) error {
	if r.write != nil {
		if err := r.write(it.n); err != nil {
			return err
		}
	}
	r.written = append(r.written, *it)
	return nil
}

func (r *recorder) Recycle(it *item) {
	r.live.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recycled == nil {
		r.recycled = map[int]int{}
	}
	r.recycled[it.n]++
}

func raise(peak *atomic.Int64, n int64) {
	for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
	}
}

// requireWritten checks that exactly the first n items went all the way, and
// that every item was given back once.
func requireWritten(t require.TestingT, r *recorder, n int) {
	require.Len(t, r.written, n)
	sum := 0
	for i, it := range r.written {
		sum += i
		require.Equal(t, item{n: i, scans: 1, emits: 1, sum: sum}, it)
	}
	require.Zero(t, r.live.Load(), "items not recycled")
	require.Len(t, r.recycled, r.n)
	for n, times := range r.recycled {
		require.Equal(t, 1, times, "item %d", n)
	}
}

// delay takes a while that differs from call to call.
func delay(int) error {
	if d := rand.IntN(4); d > 0 {
		time.Sleep(time.Duration(d*50) * time.Microsecond)
	}
	return nil
}

func TestRunKeepsOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		for _, prefetch := range []int{1, 5} {
			t.Run(fmt.Sprintf("workers=%d/prefetch=%d", workers, prefetch), func(t *testing.T) {
				r := &recorder{count: 150, scan: delay, emit: delay, res: delay, write: delay}
				stats, err := Run(t.Context(), r, Config{Workers: workers, Prefetch: prefetch})
				require.NoError(t, err)
				requireWritten(t, r, 150)
				require.EqualValues(t, 150, stats.Items)
				require.Equal(t, workers+prefetch, stats.Slots)
				require.LessOrEqual(t, r.peak.Load(), int64(workers+prefetch), "items in flight")
				require.LessOrEqual(t, r.crowd.Load(), int64(workers))
				for _, q := range []Queue{stats.Scan, stats.Resolve, stats.Emit, stats.Write} {
					require.LessOrEqual(t, q.Max, stats.Slots)
					require.LessOrEqual(t, q.Mean, float64(q.Max))
				}
			})
		}
	}
}

func TestRunOfNothing(t *testing.T) {
	r := &recorder{}
	stats, err := Run(t.Context(), r, Config{})
	require.NoError(t, err)
	require.Equal(t, Stats{Slots: 2}, stats)
}

// TestRunEndsAtFirstError plants errors and panics at random places and derives
// by hand which comes first in the order of the stream.
func TestRunEndsAtFirstError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const count = 40
		r := &recorder{count: count}
		end := count // items that must be written
		var want error
		for _, phase := range []string{"next", "scan", "resolve", "emit", "write"} {
			if !rapid.Bool().Draw(t, phase) {
				continue
			}
			at := rapid.IntRange(0, count-1).Draw(t, "at")
			kind := rapid.SampledFrom([]string{"error", "last", "panic"}).Draw(t, "kind")
			name := fmt.Errorf("%w in %s at %d", errPlanted, phase, at)
			f := func(n int) error {
				switch {
				case n != at:
					return nil
				case kind == "panic":
					panic(name)
				case kind == "last":
					return Last(name)
				}
				return name
			}
			written := at
			switch phase {
			case "next":
				r.next = func(_ context.Context, n int) error { return f(n) }
			case "scan":
				r.scan = f
			case "resolve":
				r.res = f
			case "emit":
				r.emit = f
			case "write":
				r.write = f
			}
			if kind == "last" && phase != "write" {
				written++ // the error comes after its item
			}
			if written < end || written == end && want == nil {
				end = written
				want = name
				if kind == "panic" {
					want = ErrPanic
				}
			} else if written == end {
				want = errAny // two at one place: which is told is not fixed
			}
		}
		cfg := Config{Workers: rapid.IntRange(1, 7).Draw(t, "workers"), Prefetch: rapid.IntRange(1, 4).Draw(t, "prefetch")}
		_, err := Run(context.Background(), r, cfg)
		switch want {
		case nil:
			require.NoError(t, err)
		case errAny:
			require.Error(t, err)
		default:
			require.ErrorIs(t, err, want)
		}
		requireWritten(t, r, end)
	})
}

var errAny = errors.New("any")

func TestLastOfNil(t *testing.T) { require.NoError(t, Last(nil)) }

func TestPanicHasItsStack(t *testing.T) {
	r := &recorder{count: 3, scan: func(n int) error { panic("planted") }}
	_, err := Run(t.Context(), r, Config{Workers: 2})
	require.ErrorIs(t, err, ErrPanic)
	require.ErrorContains(t, err, "Scan: planted")
	require.ErrorContains(t, err, "loop_test.go")
}

// TestCancelFinishesWhatIsInFlight cancels in the middle: what was read before
// is written, the cause comes back, nothing hangs.
func TestCancelFinishesWhatIsInFlight(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := &recorder{count: 1 << 30, scan: delay, emit: delay}
		r.next = func(_ context.Context, n int) error {
			if n == 50 {
				cancel(errPlanted)
			}
			return nil
		}
		_, err := Run(ctx, r, Config{Workers: workers})
		require.ErrorIs(t, err, errPlanted)
		requireWritten(t, r, 51) // the item at hand when the cancel came still counts
	}
}

// TestBlockedNext has a source that waits for ever, as a terminal does.
func TestBlockedNext(t *testing.T) {
	blocked := make(chan struct{}, 3)
	block := func(ctx context.Context, n int) error {
		if n < 3 {
			return nil
		}
		blocked <- struct{}{}
		<-ctx.Done()
		return fmt.Errorf("read: %w", ctx.Err())
	}
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := &recorder{count: 100, next: block}
		r.write = func(n int) error {
			if n == 2 {
				<-blocked
				cancel(errPlanted)
			}
			return nil
		}
		_, err := Run(ctx, r, Config{Workers: 2})
		require.ErrorIs(t, err, errPlanted)
		requireWritten(t, r, 3)
	})
	t.Run("write fails", func(t *testing.T) {
		r := &recorder{count: 100, next: block, write: func(n int) error { return errPlanted }}
		_, err := Run(t.Context(), r, Config{Workers: 2})
		require.ErrorIs(t, err, errPlanted)
		requireWritten(t, r, 0)
	})
	t.Run("scan fails", func(t *testing.T) {
		r := &recorder{count: 100, next: block, scan: func(n int) error { return errPlanted }}
		_, err := Run(t.Context(), r, Config{Workers: 2})
		require.ErrorIs(t, err, errPlanted)
		requireWritten(t, r, 0)
	})
}

// TestNothingIsResolvedBehindTheEnd keeps what is behind an error from leaving a
// trace in what Resolve remembers.
func TestNothingIsResolvedBehindTheEnd(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		r := &recorder{count: 100}
		r.scan = func(n int) error {
			if n == 20 {
				return errPlanted
			}
			return nil
		}
		_, err := Run(t.Context(), r, Config{Workers: workers, Prefetch: 30})
		require.ErrorIs(t, err, errPlanted)
		require.Equal(t, 19*20/2, r.sum)
	}
}

// TestWorkersOverlap shows that Scan runs on several items at once: two wait for
// each other.
func TestWorkersOverlap(t *testing.T) {
	var met sync.WaitGroup
	met.Add(2)
	meet := func(n int) error {
		met.Done()
		met.Wait()
		return nil
	}
	r := &recorder{count: 2, scan: meet}
	_, err := Run(t.Context(), r, Config{Workers: 2})
	require.NoError(t, err)
	requireWritten(t, r, 2)
}

func TestNoAllocationPerItem(t *testing.T) {
	run := func(count int) uint64 {
		w := counter(count)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Run(t.Context(), &w, Config{Workers: 2, Prefetch: 4})
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	few, many := run(100), run(10_100)
	// What goroutines elsewhere allocate meanwhile is counted too.
	require.Less(t, many-min(few, many), uint64(1000))
}

// counter is work without any.
type counter int

func (c *counter) Next(context.Context) (int, error) {
	if *c == 0 {
		return 0, io.EOF
	}
	*c--
	return 0, nil
}
func (*counter) Scan(int) error    { return nil }
func (*counter) Resolve(int) error { return nil }
func (*counter) Emit(int) error    { return nil }
func (*counter) Write(int) error   { return nil }
func (*counter) Recycle(int)       {}

func BenchmarkRun(b *testing.B) {
	w := counter(b.N)
	b.ReportAllocs()
	_, err := Run(b.Context(), &w, Config{Workers: runtime.GOMAXPROCS(0), Prefetch: 8})
	require.NoError(b, err)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
