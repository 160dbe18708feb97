package rosa

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bruteWindow returns the match of the last token of x among its last n.
func bruteWindow(x []int64, n int) Match {
	from := max(len(x)-n, 0)
	all := brute(x[from:])
	m := all[len(all)-1]
	if m.Found() {
		m.Source += from
	}
	return m
}

// TestEveryWindow compares every short sequence in every window with the brute force.
func TestEveryWindow(t *testing.T) {
	three, two := 7, 11
	if testing.Short() {
		three, two = 6, 8
	}
	for _, c := range []struct {
		k int64
		n int
	}{{1, 12}, {2, two}, {3, three}} {
		for size := 1; size <= c.n; size++ {
			plain, linked, codes := NewState(WithWindow(size)), NewState(WithWindow(size)), NewState(WithWindow(size))
			every(c.k, c.n, func(x []int64) {
				plain.Reset()
				linked.Reset()
				codes.Reset()
				useLinkCut(linked)
				for i := range x {
					want := bruteWindow(x[:i+1], size)
					if got, err := plain.Step(x[i]); got != want || err != nil {
						t.Fatalf("%v at %d, window %d: %+v, not %+v (%v)", x, i, size, got, want, err)
					}
					if got, _ := linked.Step(x[i]); got != want {
						t.Fatalf("%v at %d, window %d, by the link-cut tree: %+v, not %+v", x, i, size, got, want)
					}
					if want.Found() {
						want.Next += 1000
					}
					if got, _ := codes.Step(x[i] + 1000); got != want {
						t.Fatalf("%v at %d, window %d, as codes: %+v, not %+v", x, i, size, got, want)
					}
				}
			})
		}
	}
}

// TestWindowAgainstBruteForce: long streams, which the window leaves many times, with
// rollbacks, clones, and loads of what was saved.
func TestWindowAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 3, 7, 20, 64, 100, 1000}).Draw(t, "window")
		keep := rapid.IntRange(0, 20).Draw(t, "rollback")
		s := NewState(WithWindow(size), WithRollback(keep))
		if rapid.Bool().Draw(t, "linked") {
			useLinkCut(s)
		}
		x := drawTokens(t)
		for len(x) < 300 {
			x = append(x, x...)
		}
		for i := 0; i < len(x); i++ {
			got, err := s.Step(x[i])
			require.NoError(t, err)
			require.Equal(t, bruteWindow(x[:i+1], size), got, "at %d", i)
			require.Equal(t, i+1, s.Len())
			if i%50 != 49 {
				continue
			}
			switch rapid.IntRange(0, 5).Draw(t, "operation") {
			case 0:
				n := rapid.IntRange(0, keep).Draw(t, "back")
				require.NoError(t, s.Rollback(n))
				i -= n
				require.Equal(t, bruteWindow(x[:i+1], size), s.Predict())
			case 1:
				c := s.Clone()
				_, err := s.Step(7)
				require.NoError(t, err)
				s = c
			case 2:
				s, err = Load(bytes.NewReader(saved(t, s)), WithWindow(size), WithRollback(keep))
				require.NoError(t, err)
				keepAll := x[max(i+1-size, 0) : i+1]
				require.Equal(t, keepAll, s.Tokens(nil))
				keep = 0 // of what was before, nothing is there to go back to
			}
		}
	})
}

// TestWindowIsBounded: an endless stream of ever new tokens takes bounded memory.
func TestWindowIsBounded(t *testing.T) {
	for name, token := range map[string]func(i int) int64{
		"new": func(i int) int64 { return int64(i) }, "bytes": func(i int) int64 { return int64(i * i % 251) }, "one": func(int) int64 { return 1 },
	} {
		s := NewState(WithWindow(100))
		for i := range 50_000 {
			_, err := s.Step(token(i))
			require.NoError(t, err)
		}
		require.Less(t, s.Bytes(), 60_000, name)
		require.ErrorIs(t, s.Rollback(200), ErrRollback)
	}
}
