package rosa

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// lcsOf returns how many tokens are equal going back from j and from i, of which −1 is the
// empty prefix, and which is the lesser prefix read backwards.
func lcsOf(x []int64, j, i int) (lcs int, before bool) {
	for ; j >= 0 && i >= 0 && x[j] == x[i]; j, i = j-1, i-1 {
		lcs++
	}
	return lcs, j < 0 || i >= 0 && uint64(x[j]) < uint64(x[i])
}

// requireSound requires that an order is that of x, and that all its nodes know of each
// other is true.
func requireSound(t require.TestingT, x []int64, o *order) {
	require.Equal(t, len(x), int(o.places.count))
	if len(x) == 0 {
		return
	}
	require.LessOrEqual(t, o.height, int32(maxHeight))
	last, seen := int32(-1), 0
	lastLeaf := int32(0)
	var walk func(level, v, parent int32) summary
	walk = func(level, v, parent int32) summary {
		require.Equal(t, parent, *o.parent(level, v))
		if level == 0 {
			l := o.leaf(v)
			require.Positive(t, l.count)
			require.Equal(t, lastLeaf, l.prev)
			if lastLeaf != 0 {
				require.Equal(t, v, o.leaf(lastLeaf).next)
			}
			lastLeaf = v
			for k, end := range l.ends[:l.count] {
				require.Equal(t, v, o.places.at(end).leaf)
				require.Equal(t, x[end], o.token(end))
				lcs, before := lcsOf(x, int(last), int(end))
				require.True(t, before)
				require.Equal(t, lcs, int(l.lcs[k]))
				last = end
				seen++
			}
			return summary{l.ends[0], slices.Min(l.lcs[:l.count]), slices.Max(l.ends[:l.count])}
		}
		n := o.inner(v)
		require.Positive(t, n.count)
		all := summary{n.first[0], math.MaxInt32, -1}
		for k, kid := range n.kids[:n.count] {
			if k > 0 {
				both, full := countOf(o, level-1, n.kids[k-1])+countOf(o, level-1, kid), o.shape.innerFan
				if level == 1 {
					full = o.shape.leafFan
				}
				require.Greater(t, both, full/2, "level %d", level-1)
			}
			below := walk(level-1, kid, v)
			require.Equal(t, below, summary{n.first[k], n.least[k], n.newest[k]})
			all.least, all.newest = min(all.least, below.least), max(all.newest, below.newest)
		}
		return all
	}
	walk(o.height, o.root, 0)
	if o.height > 0 {
		require.Greater(t, o.inner(o.root).count, int32(1))
	}
	require.Zero(t, o.leaf(lastLeaf).next)
	require.Equal(t, len(x), seen)
	i := int32(len(x) - 1)
	require.Equal(t, i, o.leaf(o.path[0].node).ends[o.path[0].at])
	for level := int32(1); level <= o.height; level++ {
		require.Equal(t, o.path[level-1].node, o.inner(o.path[level].node).kids[o.path[level].at])
	}
	require.Equal(t, o.root, o.path[o.height].node)
}

// countOf returns how many prefixes or kids a node, at a level, has.
func countOf(o *order, level, v int32) int32 {
	if level > 0 {
		return o.inner(v).count
	}
	return o.leaf(v).count
}

// nodesOf returns how many nodes there are at each level.
func nodesOf(o *order) []int {
	n := make([]int, o.height+1)
	var walk func(level, v int32)
	walk = func(level, v int32) {
		n[level]++
		if level > 0 {
			for _, kid := range o.inner(v).kids[:o.inner(v).count] {
				walk(level-1, kid)
			}
		}
	}
	walk(o.height, o.root)
	return n
}

// TestOrderMerges: nodes of all levels become one with a neighbour as tokens are taken back
// one by one, and the order is sound.
func TestOrderMerges(t *testing.T) {
	r := splitmix64(6)
	s := NewState(WithBoundedSteps())
	useSmallNodes(s)
	o := s.order
	var x []int64
	var merged [maxHeight]int
	for range 60 {
		// Copies of the last tokens are neighbours of them: others are split off, and stay alone.
		for range r.below(60) {
			x = append(x, int64(r.below(4)))
		}
		last := x[max(0, len(x)-30):]
		for range r.below(6) {
			x = append(x, last...)
		}
		require.NoError(t, s.PrefillInto(make([]Match, len(x)-s.Len()), x[s.Len():]))
		requireSound(t, x, o)
		for back := r.below(uint64(len(x) + 1)); back > 0 && len(x) > 1; back-- {
			before := nodesOf(o)
			var counts [maxHeight]int32 // of the nodes around the last prefix
			for level := range o.height {
				counts[level] = countOf(o, level, o.path[level].node)
			}
			x = x[:len(x)-1]
			require.NoError(t, s.Rollback(1))
			for level, n := range nodesOf(o) {
				if n < before[level] && level < len(before)-1 && counts[level] > 1 {
					merged[level]++ // it was not left empty
				}
			}
			if back%16 == 0 {
				requireSound(t, x, o)
			}
		}
		requireSound(t, x, o)
		if len(x) > 0 {
			want, err := NewState().Prefill(x)
			require.NoError(t, err)
			require.Equal(t, want[len(x)-1], s.Predict())
		}
	}
	t.Log("merges by level:", merged)
	for level := range 4 {
		require.Positive(t, merged[level], "level %d", level)
	}
}

// TestBoundedStepsBackAndForth holds what drafts cost that come and are taken back: the
// nodes that a step, or a token that is taken back, looks at, and the memory of a token of
// the most there were.
func TestBoundedStepsBackAndForth(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 5_000
	}
	for _, c := range []struct {
		name        string
		copied      int // so many of the last tokens are the draft, or another token if 0
		times, back int // the draft comes so many times; up to so many tokens are taken back, or the drafts if 0
	}{
		{"copies of the last 440", 440, 30, 0}, {"the last 440 again", 440, 1, 0}, {"the last 30 again", 30, 30, 0},
		{"others", 0, 30, 0}, {"up to 30", 0, 1, 30}, {"up to 1000", 0, 1, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := splitmix64(1)
			s := NewState(WithBoundedSteps())
			o := s.order
			var x []int64
			peak, steps, visits, backVisits := 0, 0, int32(0), int32(0)
			step := func(token int64) {
				x = append(x, token)
				_, err := s.Step(token)
				require.NoError(t, err)
				steps++
				peak = max(peak, len(x))
				log := int32(bits.Len(uint(len(x))))
				if visits = max(visits, o.visits); o.visits > log*log+32 {
					t.Fatalf("at %d: %d nodes are visited", len(x), o.visits)
				}
			}
			takeBack := func(n int) {
				o.visits = 0
				require.NoError(t, s.Rollback(n))
				log := int32(bits.Len(uint(len(x))))
				x = x[:len(x)-n]
				if n == 1 {
					backVisits = max(backVisits, o.visits)
				}
				if o.visits > int32(n)*(8*log)+log*log+32 {
					t.Fatalf("at %d: %d nodes are visited to take %d back", len(x), o.visits, n)
				}
			}
			for len(x) < n && steps < 25*n {
				more := 400
				if c.back > 0 {
					more = 1 + int(r.below(uint64(c.back)))*11/10
				}
				for range more {
					step(int64(r.below(4)))
				}
				if c.back > 0 {
					takeBack(1 + int(r.below(uint64(min(len(x), c.back)))))
					continue
				}
				last, from := x[max(0, len(x)-c.copied):], len(x)
				for range c.times {
					if c.copied == 0 {
						step(int64(r.below(4)))
					}
					for _, token := range last[:min(c.copied, len(last))] {
						step(token)
					}
				}
				for range 10 {
					if len(x) > from {
						takeBack(1)
					}
				}
				takeBack(len(x) - from)
			}
			a := float64(s.Bytes()) / float64(peak)
			t.Logf("%d tokens, %d at a time: %d nodes a step at most, %d a token back, %.1f bytes a token", len(x), peak, visits, backVisits, a)
			require.LessOrEqual(t, a, 36.0)
			if len(x) < 5000 {
				requireSound(t, x, o)
			}
		})
	}
}

// TestOrderIsSound: it grows and shrinks, through several levels of nodes.
func TestOrderIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]func(r *splitmix64) int64{
			func(r *splitmix64) int64 { return int64(r.below(2)) },
			func(r *splitmix64) int64 { return int64(r.below(50)) },
			func(r *splitmix64) int64 { return int64(r.below(math.MaxUint64)) },
			func(r *splitmix64) int64 { return -int64(r.below(300) / 299) },
		}).Draw(t, "token")
		r := splitmix64(rapid.Uint64().Draw(t, "seed"))
		s := NewState(WithBoundedSteps())
		if rapid.Bool().Draw(t, "small") {
			useSmallNodes(s)
		}
		var x []int64
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 1500).Draw(t, "more") {
				x = append(x, token(&r))
				_, err := s.Step(x[len(x)-1])
				require.NoError(t, err)
			}
			requireSound(t, x, s.order)
			x = x[:rapid.IntRange(0, len(x)).Draw(t, "left")]
			require.NoError(t, s.Rollback(s.Len()-len(x)))
			requireSound(t, x, s.order)
			want := NewState()
			_, err := want.Prefill(x)
			require.NoError(t, err)
			require.Equal(t, want.Predict(), s.Predict())
		}
	})
}

// breaking returns n tokens in which matches of all lengths up to n/4 break.
func breaking(n int) func(int) int64 {
	return func(i int) int64 { return int64((i + 1) % (n / 2) / (n/2 - 1)) }
}

// boundedStreams are inputs with long repeats, of n tokens each.
var boundedStreams = []struct {
	name  string
	token func(n int) func(i int) int64
}{
	{"unary", func(int) func(int) int64 { return func(int) int64 { return 7 } }},
	{"a^n b a^n b", breaking},
	{"a^n b a^n b, b before a", func(n int) func(int) int64 {
		f := breaking(n)
		return func(i int) int64 { return 1 - f(i) }
	}},
	{"b a^n b a^n", func(n int) func(int) int64 {
		f := breaking(n)
		return func(i int) int64 { return f(n - 1 - i) }
	}},
	{"a^k b", func(int) func(int) int64 { return func(i int) int64 { return int64(max(0, i%447-445)) } }},
	{"comb", func(int) func(int) int64 {
		return func(i int) int64 { return int64(max(0, i%300-298) * (1 + i/300%250)) }
	}},
	{"period", func(int) func(int) int64 { return func(i int) int64 { return int64(i * i % 16) } }},
	{"long period", func(n int) func(int) int64 { return func(i int) int64 { return int64(i%(n/3)*7919%1000 - 500) } }},
	{"fibonacci", fibonacci},
	{"thue-morse", func(int) func(int) int64 { return func(i int) int64 { return int64(bits.OnesCount(uint(i)) & 1) } }},
	{"bits", random(2)}, {"bytes", random(256)},
	{"ids", func(n int) func(int) int64 {
		f := random(65536)(n)
		return func(i int) int64 { return f(i) + 256 }
	}},
	{"new", func(int) func(int) int64 { return func(i int) int64 { return math.MinInt64 + int64(i) } }},
	{"bytes, then others", func(n int) func(int) int64 {
		f := random(4)(n)
		return func(i int) int64 { return f(i) * (1 + int64(i/(n/2))*1e12) }
	}},
	{"copies", func(n int) func(int) int64 {
		r := splitmix64(5)
		x := []int64{0}
		for len(x) < n {
			from := int(r.below(uint64(len(x))))
			x = append(x, x[from:min(len(x), from+int(r.below(1+uint64(n)/8)))]...)
			x = append(x, int64(r.below(3)))
		}
		return func(i int) int64 { return x[i] }
	}},
}

// TestBoundedSteps compares with the tree, on long streams, and holds each step to a bound
// of nodes that grows with the square of the logarithm.
func TestBoundedSteps(t *testing.T) {
	for _, in := range boundedStreams {
		t.Run(in.name, func(t *testing.T) {
			most := 200_000
			if testing.Short() {
				most = 20_000
			}
			for n := most / 16; n <= most; n *= 2 {
				token := in.token(n)
				s, want := NewState(WithBoundedSteps()), NewState()
				visits := int32(0)
				for i := range n {
					x := token(i)
					m, err := want.Step(x)
					require.NoError(t, err)
					if got, err := s.Step(x); got != m || err != nil {
						t.Fatalf("at %d of %d: %+v, not %+v (%v)", i, n, got, m, err)
					}
					log := int32(bits.Len(uint(i + 1)))
					if visits = max(visits, s.order.visits); s.order.visits > log*log+32 {
						t.Fatalf("at %d of %d: %d nodes are visited", i, n, s.order.visits)
					}
				}
				t.Logf("%d tokens: %d nodes a step at most, %.1f bytes a token", n, visits, float64(s.Bytes())/float64(n))
			}
		})
	}
}

// TestBoundedStepsGoBack: half of a long stream is taken back, and comes again.
func TestBoundedStepsGoBack(t *testing.T) {
	n := 50_000
	for _, in := range boundedStreams {
		token := in.token(n)
		x := make([]int64, n)
		for i := range x {
			x[i] = token(i)
		}
		want, err := NewState().Prefill(x)
		require.NoError(t, err)
		s := NewState(WithBoundedSteps())
		got, err := s.Prefill(x)
		require.NoError(t, err)
		require.Equal(t, want, got, in.name)
		clone := s.Clone()
		require.NoError(t, s.Rollback(n/2))
		require.Equal(t, want[n-n/2-1], s.Predict(), in.name)
		require.Equal(t, want[n-1], clone.Predict(), in.name)
		got, err = s.Prefill(x[n-n/2:])
		require.NoError(t, err)
		require.Equal(t, want[n-n/2:], got, in.name)
		require.NoError(t, clone.Rollback(n))
		require.Equal(t, none, clone.Predict())
		require.Zero(t, clone.Len())
		require.ErrorIs(t, clone.Rollback(1), ErrRollback)
		got, err = clone.Prefill(x)
		require.NoError(t, err)
		require.Equal(t, want, got, in.name)
	}
}

// TestBoundedStepsWithWindow: the window wins.
func TestBoundedStepsWithWindow(t *testing.T) {
	for _, opts := range [][]StateOption{
		{WithBoundedSteps(), WithWindow(9)}, {WithWindow(9), WithBoundedSteps()},
	} {
		s, want := NewState(opts...), NewState(WithWindow(9))
		for i := range 500 {
			x := int64(i * i % 13)
			m, err := want.Step(x)
			require.NoError(t, err)
			got, err := s.Step(x)
			require.NoError(t, err)
			require.Equal(t, m, got)
		}
		require.Equal(t, want.Bytes(), s.Bytes())
	}
}

// TestBoundedStepsAfterWindow: what a window had forgotten is not there to go back to.
func TestBoundedStepsAfterWindow(t *testing.T) {
	s := NewState(WithWindow(10))
	x := []int64{1, 2, 3, 4, 5, 5000, 1, 2, 3, 1, 2, 4, 1, 2, 3, 1}
	_, err := s.Prefill(x)
	require.NoError(t, err)
	s, err = Load(bytes.NewReader(saved(t, s)), WithBoundedSteps())
	require.NoError(t, err)
	require.Equal(t, x[6:], s.Tokens(nil))
	require.Equal(t, len(x), s.Len())
	require.Equal(t, bruteWindow(x, 10), s.Predict())
	require.ErrorIs(t, s.Rollback(11), ErrRollback)
	require.NoError(t, s.Rollback(3))
	require.Equal(t, bruteWindow(x[:13], 7), s.Predict())
	require.NoError(t, s.Rollback(7))
	require.Equal(t, 6, s.Len())
	require.Equal(t, none, s.Predict())
	require.Empty(t, s.Tokens(nil))
	s.Reset()
	require.Zero(t, s.Len())
}

// TestBatchWithBoundedSteps: rows may have them too.
func TestBatchWithBoundedSteps(t *testing.T) {
	for _, threads := range []int{1, 3} {
		b := newBatch(t, 100, WithRagged(), WithThreads(threads), WithCapacity(200), WithStates(WithBoundedSteps()))
		defer b.Close()
		want := newBatch(t, 100, WithRagged(), WithThreads(threads), WithCapacity(200))
		defer want.Close()
		r := splitmix64(9)
		tokens, active, reset := make([]int64, 100), make([]bool, 100), make([]bool, 100)
		for step := range 190 {
			for row := range tokens {
				tokens[row] = int64(r.below(uint64(2+row*row))) - 5
				active[row], reset[row] = r.below(8) > 0, r.below(100) == 0
			}
			m, err := want.StepMasked(tokens, active, reset)
			require.NoError(t, err)
			got, err := b.StepMasked(tokens, active, reset)
			require.NoError(t, err)
			require.Equal(t, m, got, fmt.Sprint(step))
		}
	}
}
