package workers

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withCPUs lets there be so many CPUs.
func withCPUs(t *testing.T, n int) {
	old := cpus
	cpus = func() int { return n }
	t.Cleanup(func() { cpus = old })
}

func TestThreads(t *testing.T) {
	withCPUs(t, 12)
	for _, c := range []struct {
		value string
		want  int
	}{
		{"1", 1}, {"2", 2}, {"007", 7}, {"16", 12}, {"4294967296", 12}, {"99999999999999999999999", 12},
		{"", 1}, {"0", 1}, {"00", 1}, {" 2", 1}, {"2 ", 1}, {"+2", 1}, {"-1", 1}, {"1e3", 1}, {"0x4", 1}, {"٣", 1}, {"2\n", 1},
	} {
		t.Setenv(Variable, c.value)
		require.Equal(t, c.want, Threads(0, 100), "%q", c.value)
	}
	t.Setenv(Variable, "3")
	require.Equal(t, 5, Threads(5, 100), "what is asked for outranks the variable")
	require.Equal(t, 4, Threads(5, 4))
	require.Equal(t, 1, Threads(5, 1))
	withCPUs(t, 100)
	require.Equal(t, Most, Threads(math.MaxInt, 1000))
}

// TestEachRowOnce: whatever the number of rows and threads, time after time.
func TestEachRowOnce(t *testing.T) {
	withCPUs(t, 16)
	for _, threads := range []int{1, 2, 3, 16} {
		for _, n := range []int{1, 2, 3, 16, 17, 100} {
			r := New(n, threads)
			counts := make([]int32, n) // not atomic: a row is in one place at a time
			runs := 200
			for i := range runs {
				if i == runs/2 {
					time.Sleep(time.Millisecond) // until the goroutines sleep
				}
				require.NoError(t, r.Each(func(row int) { counts[row]++ }, 2))
			}
			for row, c := range counts {
				require.EqualValues(t, runs, c, "row %d of %d on %d threads", row, n, threads)
			}
			require.Equal(t, max(1, min(n, threads)), r.Threads())
			r.Close()
		}
	}
}

// TestLateCaller: the caller may find that others did all rows.
func TestLateCaller(t *testing.T) {
	p := newPool(2)
	defer p.ended.Wait()
	defer p.close()
	count := 0
	for range 5000 {
		require.NoError(t, p.run(func(int) { count++ }, 1)) // a row of the other lane
	}
	require.Equal(t, 5000, count)
}

// TestPoolWhenNeeded: no goroutine before there are rows enough.
func TestPoolWhenNeeded(t *testing.T) {
	withCPUs(t, 16)
	r := New(8, 4)
	defer r.Close()
	before := runtime.NumGoroutine()
	require.NoError(t, r.Each(func(int) {}, 9))
	require.Equal(t, 1, r.Threads())
	require.Equal(t, before, runtime.NumGoroutine())
	require.NoError(t, r.Each(func(int) {}, 8))
	require.Equal(t, 4, r.Threads())
	require.Equal(t, before+3, runtime.NumGoroutine())
}

// TestPanics become errors, and the pool goes on.
func TestPanics(t *testing.T) {
	withCPUs(t, 16)
	cause := errors.New("cause")
	for _, threads := range []int{1, 2, 8} {
		r := New(40, threads)
		for bad := range 40 {
			err := r.Each(func(row int) {
				if row == bad {
					panic(cause)
				}
			}, 2)
			var p *Panic
			require.ErrorAs(t, err, &p)
			require.ErrorIs(t, err, cause)
			require.Equal(t, bad, p.Row)
			require.Contains(t, err.Error(), "workers_test.go")
			var done atomic.Int32
			require.NoError(t, r.Each(func(int) { done.Add(1) }, 2))
			require.EqualValues(t, 40, done.Load())
		}
		r.Close()
	}
	require.Error(t, New(1, 1).Each(func(int) { panic("not an error") }, 2))
}

// TestGarbage: who forgets Close leaves no goroutine behind.
func TestGarbage(t *testing.T) {
	withCPUs(t, 16)
	before := goleak.IgnoreCurrent()
	func() {
		r := New(8, 4)
		require.NoError(t, r.Each(func(int) { _ = r }, 2))
	}()
	runtime.GC()
	require.NoError(t, goleak.Find(before)) // it waits a while
}

// TestEachAllocatesNothing: neither with threads nor without.
func TestEachAllocatesNothing(t *testing.T) {
	withCPUs(t, 16)
	for _, threads := range []int{1, 2} {
		r := New(8, threads)
		f := func(int) {}
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = r.Each(f, 2) }))
		r.Close()
	}
}

func BenchmarkEach(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run([]string{1: "1", 2: "2"}[threads], func(b *testing.B) {
			r := New(64, threads)
			defer r.Close()
			f := func(int) {}
			for b.Loop() {
				_ = r.Each(f, 2)
			}
		})
	}
}
