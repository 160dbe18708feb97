package rosa

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// useLinkCut makes a state go over to the link-cut tree at its first climb.
func useLinkCut(s *State) {
	s.bytes = newTree[uint8](s.rollback, s.window)
	s.bytes.climbs = math.MaxInt64 / 2
}

// useSmallNodes makes nodes of a state with bounded steps overflow, and be asked, early.
func useSmallNodes(s *State) { s.order.shape = orderShape{leafFan: 4, innerFan: 4, glance: 2} }

// every calls f with every sequence of n of k tokens.
func every(k int64, n int, f func(x []int64)) {
	x := make([]int64, n)
	for {
		f(x)
		i := n - 1
		for ; i >= 0 && x[i] == k-1; i-- {
			x[i] = 0
		}
		if i < 0 {
			return
		}
		x[i]++
	}
}

// TestEverySequence compares every short sequence with the brute force: as bytes, by the
// link-cut tree, as other tokens, and with bounded steps.
func TestEverySequence(t *testing.T) {
	three, two := 9, 14
	if testing.Short() {
		three, two = 7, 11
	}
	for _, c := range []struct {
		k int64
		n int
	}{{1, 20}, {2, two}, {3, three}} {
		plain, linked, codes := NewState(), NewState(), NewState()
		bounded, small := NewState(WithBoundedSteps()), NewState(WithBoundedSteps())
		useSmallNodes(small)
		every(c.k, c.n, func(x []int64) {
			plain.Reset()
			linked.Reset()
			codes.Reset()
			bounded.Reset()
			small.Reset()
			useLinkCut(linked)
			for i, want := range brute(x) {
				if got, err := plain.Step(x[i]); got != want || err != nil {
					t.Fatalf("%v at %d: %+v, not %+v (%v)", x, i, got, want, err)
				}
				if got, _ := linked.Step(x[i]); got != want {
					t.Fatalf("%v at %d by the link-cut tree: %+v, not %+v", x, i, got, want)
				}
				if got, _ := bounded.Step(x[i]); got != want {
					t.Fatalf("%v at %d with bounded steps: %+v, not %+v", x, i, got, want)
				}
				if got, _ := small.Step(x[i]); got != want {
					t.Fatalf("%v at %d with bounded steps of small nodes: %+v, not %+v", x, i, got, want)
				}
				if want.Found() {
					want.Next += math.MinInt64
				}
				if got, _ := codes.Step(x[i] + math.MinInt64); got != want {
					t.Fatalf("%v at %d as codes: %+v, not %+v", x, i, got, want)
				}
			}
		})
	}
}

// drawTokens draws a stream that repeats pieces of itself.
func drawTokens(t *rapid.T) []int64 {
	token := rapid.SampledFrom([]*rapid.Generator[int64]{
		rapid.Int64Range(0, 1), rapid.Int64Range(0, 255), rapid.Int64Range(250, 260), rapid.Int64Range(-1, 400), rapid.Int64(),
	}).Draw(t, "alphabet")
	var x []int64
	for range rapid.IntRange(1, 40).Draw(t, "pieces") {
		if len(x) > 0 && rapid.Bool().Draw(t, "repeat") {
			from := rapid.IntRange(0, len(x)-1).Draw(t, "from")
			for range rapid.IntRange(1, 60).Draw(t, "length") {
				x = append(x, x[from])
				from++
			}
			continue
		}
		x = append(x, rapid.SliceOfN(token, 1, 30).Draw(t, "new")...)
	}
	return x
}

// TestAgainstBruteForce: steps, prefills, clones and resets in any order.
func TestAgainstBruteForce(t *testing.T) {
	s := NewState()
	rapid.Check(t, func(t *rapid.T) {
		x := drawTokens(t)
		s.Reset()
		if rapid.Bool().Draw(t, "fresh") {
			s = NewState(WithRollback(rapid.SampledFrom([]int{0, 1, 5, 1000}).Draw(t, "rollback")))
			switch rapid.IntRange(0, 3).Draw(t, "structure") {
			case 0:
				useLinkCut(s)
			case 1:
				s = NewState(WithBoundedSteps())
			case 2:
				s = NewState(WithBoundedSteps())
				useSmallNodes(s)
			}
		}
		want := brute(x)
		for i := 0; i < len(x); {
			n := rapid.IntRange(1, len(x)-i).Draw(t, "n")
			switch rapid.IntRange(0, 4).Draw(t, "operation") {
			case 0:
				got, err := s.Prefill(x[i : i+n])
				require.NoError(t, err)
				require.Equal(t, want[i:i+n], got)
			case 1:
				n = 1
				got, err := s.Step(x[i])
				require.NoError(t, err)
				require.Equal(t, want[i], got)
			case 2:
				other := s
				s = s.Clone()
				_, err := other.Prefill(x[:n])
				require.NoError(t, err)
				n = 0
			case 3, 4:
				// Other tokens come, of whatever kind, and go.
				before := s.Len()
				_, err := s.Prefill(rapid.SliceOfN(rapid.SampledFrom(append([]int64{0, 255, 256, -1}, x...)), 0, 50).Draw(t, "others"))
				require.NoError(t, err)
				back := rapid.IntRange(0, min(before, 30)).Draw(t, "back")
				require.NoError(t, s.Rollback(s.Len()-before+back))
				n = -back
			}
			i += n
			if i > 0 {
				require.Equal(t, want[i-1], s.Predict())
			}
		}
		require.Equal(t, x, s.Tokens(nil))
		require.Equal(t, len(x), s.Len())
	})
}

// TestManyChildren: nodes with every number of children, bytes and others.
func TestManyChildren(t *testing.T) {
	for _, c := range []struct{ before, tokens int64 }{{255, 255}, {-1, 300}, {-1, 5000}} {
		var x []int64
		for i := range c.tokens {
			x = append(x, c.before, i)
		}
		for i := range c.tokens {
			x = append(x, c.before, i*7919%c.tokens)
		}
		s := NewState()
		got, err := s.Prefill(x)
		require.NoError(t, err)
		if c.tokens <= 300 {
			require.Equal(t, brute(x), got)
		}
		for i := range c.tokens {
			require.Equal(t, int(2*(i*7919%c.tokens)+1), got[2*(c.tokens+i)+1].Source)
		}
	}
}

func TestFull(t *testing.T) {
	for _, s := range []*State{{}, NewState(WithBoundedSteps())} {
		requireFull(t, s)
	}
}

// requireFull requires that a state takes no more tokens than it may.
func requireFull(t *testing.T, s *State) {
	s.limit = 3
	_, err := s.Prefill([]int64{1, 2, 3, 4})
	require.ErrorIs(t, err, ErrFull)
	require.Zero(t, s.Len())
	_, err = s.Prefill([]int64{1, 2, 1})
	require.NoError(t, err)
	for _, token := range []int64{1, 1000} {
		_, err = s.Step(token)
		require.ErrorIs(t, err, ErrFull)
		require.Equal(t, Match{2, 0, 1}, s.Predict())
	}
	require.ErrorIs(t, s.PrefillInto(make([]Match, 1), nil), ErrLength)
	require.NoError(t, s.PrefillInto(nil, nil))
	s.Reset()
	_, err = s.Prefill([]int64{4, 5, 6})
	require.NoError(t, err)
}

// TestMemory holds the bytes a token to the bounds, spare memory included.
func TestMemory(t *testing.T) {
	n := 200_000
	random := func(k uint64) func(int) int64 {
		r := splitmix64(1)
		return func(int) int64 { return int64(r.below(k)) }
	}
	for name, c := range map[string]struct {
		token func(i int) int64
		most  float64
	}{
		"random bytes": {random(256), 25}, "random bits": {random(2), 50}, "one": {func(int) int64 { return 5 }, 2},
		"comb":       {func(i int) int64 { return int64(min(i%447, 1)) + int64(max(0, 1-i%447)*(i%200)) }, 50},
		"65,536 ids": {func() func(int) int64 { f := random(65536); return func(i int) int64 { return f(i) + 1000 } }(), 60},
	} {
		s := NewState()
		for i := range n {
			_, err := s.Step(c.token(i))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, float64(s.Bytes())/float64(n), c.most, name)
		s = NewState(WithBoundedSteps())
		for i := range n {
			_, err := s.Step(c.token(i))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, float64(s.Bytes())/float64(n), 32.0, "%s with bounded steps", name)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	r := splitmix64(3)
	x := make([]int64, 20000)
	for i := range x {
		x[i] = int64(r.below(300))
	}
	m := make([]Match, len(x))
	for _, s := range []*State{NewState(), NewState(WithBoundedSteps())} {
		run := func() {
			s.Reset()
			require.NoError(t, s.PrefillInto(m, x))
		}
		run()
		require.LessOrEqual(t, testing.AllocsPerRun(5, run), 1.0)
	}
}
