package lineartime

import (
	"testing"
	"time"
)

const (
	// Factor is how many times the input grows.
	Factor = 16
	// most is how many times the time may grow: six times what is linear, for caches that
	// overflow, and less than half of what is quadratic.
	most = 6 * Factor

	shortest = 20 * time.Microsecond // a time below says nothing and counts for as much
	patience = 15 * time.Second      // at most, and
	tries    = 8                     // comparisons at least, before work is called slow
)

// Require fails the test if work on Factor·n takes far more than Factor times as long as
// work on n. prepare makes both beforehand; work is called many times. It skips under
// -short, since what it needs is time.
func Require(t *testing.T, n int, prepare func(n int) (work func())) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes times")
	}
	if small, large, ok := compare(prepare(n), prepare(Factor*n), patience); !ok {
		t.Fatalf("not linear: work on %d takes %v, on %d %v", n, small, Factor*n, large)
	}
}

// compare returns the least times of both, and whether their ratio is within the bound.
func compare(small, large func(), patience time.Duration) (a, b time.Duration, ok bool) {
	a, b = 1<<62, 1<<62
	began := time.Now()
	for try := 0; try < tries || time.Since(began) < patience; try++ {
		for range 3 {
			a = min(a, max(took(small), shortest))
		}
		if b = min(b, took(large)); b <= most*a {
			return a, b, true
		}
	}
	return a, b, false
}

func took(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}
