package lineartime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spin does n steps of work that no compiler leaves out.
func spin(n int) {
	for range n {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

var sink uint64

func TestRequire(t *testing.T) {
	Require(t, 50_000, func(n int) func() { return func() { spin(n) } })
}

func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("takes times")
	}
	const n = 300
	quadratic := func(n int) func() { return func() { spin(n * n) } }
	_, _, ok := compare(quadratic(n), quadratic(Factor*n), 0)
	require.False(t, ok, "quadratic work passes")
	// The first runs are disturbed.
	disturbed := 5
	a, b, ok := compare(func() { time.Sleep(time.Millisecond) }, func() {
		if disturbed--; disturbed >= 0 {
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(Factor * time.Millisecond)
	}, 0)
	require.True(t, ok, "%v and %v", a, b)
}
