package rosa

import (
	"fmt"
	"math"
	"testing"

	"github.com/rosaline-go/rosaline/internal/lineartime"
	"github.com/stretchr/testify/require"
)

// hostile are streams that make climbs, or paths of a link-cut tree, as long as they get.
var hostile = map[string]func(n int) func(i int) int64{
	"unary":     func(int) func(int) int64 { return func(int) int64 { return 0 } },
	"period 16": func(int) func(int) int64 { return func(i int) int64 { return int64(i * i % 16) } },
	"a^n b a^n": func(n int) func(int) int64 { return func(i int) int64 { return int64(1 - min(1, max(i-n/2, n/2-i))) } },
	"stairs": func(n int) func(int) int64 {
		next, step := 0, 0
		return func(i int) int64 {
			if i == next {
				step++
				next += step + 1
				return 1
			}
			return 0
		}
	},
	"combs": func(int) func(int) int64 {
		return func(i int) int64 { return int64(max(0, i%2000-1998) * (1 + i/2000%255)) }
	},
	// The links of the last classes are unlike those of the classes before.
	"a^n, then bits": func(n int) func(int) int64 {
		bits := random(2)(n)
		return func(i int) int64 { return bits(i) * int64(2*i/n) }
	},
}

// TestCandidatesAreLinear: no stream takes quadratic time.
func TestCandidatesAreLinear(t *testing.T) {
	for name, stream := range hostile {
		for _, kr := range [][2]int{{1, 1}, {16, 4}} {
			t.Run(fmt.Sprint(name, kr), func(t *testing.T) {
				lineartime.Require(t, 10_000, func(n int) func() {
					f := stream(n)
					x := make([]int64, n)
					for i := range x {
						x[i] = f(i)
					}
					return func() {
						c := NewCandidates(WithSuffixes(kr[0]), WithOccurrences(kr[1]))
						row := NewCandidateRows(1, c.Slots())
						for _, token := range x {
							_ = c.StepInto(&row, token)
						}
					}
				})
			})
		}
	}
}

// TestAutomatonMemory holds the bytes a token to what the documentation says.
func TestAutomatonMemory(t *testing.T) {
	n := 30_000
	for _, in := range streams {
		f := in.token(n)
		c, s := NewCandidates(), NewQKV()
		row := NewCandidateRows(1, c.Slots())
		for i := range n {
			token := f(i)
			_ = c.StepInto(&row, token)
			_, _ = s.Step(token, token, token)
		}
		require.Equal(t, n, c.Len())
		t.Logf("%-10s %4.0f and %4.0f B/token", in.name, float64(c.Bytes())/float64(n), float64(s.Bytes())/float64(n))
		require.LessOrEqual(t, float64(c.Bytes())/float64(n), 200.0, in.name)
		require.LessOrEqual(t, float64(s.Bytes())/float64(n), 150.0, in.name)
	}
}

// TestRingMemory: rings grow with what they hold, whatever may be asked for.
func TestRingMemory(t *testing.T) {
	n := 10_000
	for name, token := range map[string]func(i int) int64{
		"ASCII": random(95)(n), "4-bit": random(16)(n), "unary": func(int) int64 { return 0 },
		"text": text(n), "period": func(i int) int64 { return int64(i * i % 16) },
	} {
		stream := func(r int, climbs int64) *Candidates {
			c := NewCandidates(WithSuffixes(1), WithOccurrences(r))
			c.begin()
			c.automaton.climbs = climbs
			for i := range n {
				c.skip(token(i))
			}
			return c
		}
		kept := 0
		for _, s := range stream(1, math.MinInt64/2).automaton.classes {
			if s.frequency > 1 {
				kept += 4 * min(int(s.frequency), 4096)
			}
		}
		for how, climbs := range map[string]int64{"climbing": math.MinInt64 / 2, "linked": math.MaxInt64 / 2} {
			few, all := stream(4, climbs).Bytes(), stream(4096, climbs).Bytes()
			t.Logf("%s, %s: %.1f B/token, %.1f where R is 4, of %.1f kept: %.2f", name, how, float64(all)/float64(n),
				float64(few)/float64(n), float64(kept)/float64(n), float64(all-few)/float64(kept))
			require.LessOrEqual(t, all, few+5*kept/2, "%s, %s", name, how)
		}
	}
}

func BenchmarkCandidates(b *testing.B) {
	for _, in := range streams {
		for _, kr := range [][2]int{{1, 1}, {4, 4}, {16, 4}} {
			for _, n := range []int{100_000, 1_000_000} {
				b.Run(fmt.Sprintf("%s/K%dR%d/%d", in.name, kr[0], kr[1], n), func(b *testing.B) {
					f := in.token(n)
					x := make([]int64, n)
					for i := range x {
						x[i] = f(i)
					}
					bytes := 0
					for b.Loop() {
						c := NewCandidates(WithSuffixes(kr[0]), WithOccurrences(kr[1]))
						row := NewCandidateRows(1, c.Slots())
						for _, token := range x {
							if err := c.StepInto(&row, token); err != nil {
								b.Fatal(err)
							}
						}
						bytes = c.Bytes()
					}
					b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
					b.ReportMetric(float64(bytes)/float64(n), "B/token")
				})
			}
		}
	}
}

func BenchmarkQKV(b *testing.B) {
	const n = 100_000
	for _, in := range streams {
		b.Run(in.name, func(b *testing.B) {
			f := in.token(n)
			for b.Loop() {
				s := NewQKV()
				for i := range n {
					token := f(i)
					if _, err := s.Step(token, token, token); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}

func BenchmarkCandidatesPrefill(b *testing.B) {
	const n = 100_000
	for _, in := range streams {
		for _, kr := range [][2]int{{4, 4}, {16, 4}} {
			b.Run(fmt.Sprintf("%s/K%dR%d", in.name, kr[0], kr[1]), func(b *testing.B) {
				f := in.token(n)
				x := make([]int64, n)
				for i := range x {
					x[i] = f(i)
				}
				for b.Loop() {
					if _, err := NewCandidates(WithSuffixes(kr[0]), WithOccurrences(kr[1])).Prefill(x); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}

// TestLeaveShortensTheWay: the classes of a path may hang in a long row of the splay tree,
// but not for long.
func TestLeaveShortensTheWay(t *testing.T) {
	const n = 1000
	a := newAutomaton(1)
	for i := range n {
		if v := a.extend(0); v != 0 {
			a.touch(v, int32(i))
		}
	}
	// One path, the deepest class at its root, the others from the least one to the right.
	a.paths.build(a.classes)
	nodes := a.paths.nodes
	nodes[n].left, nodes[1].parent, nodes[n].parent = 1, n, 0
	for v := int32(2); v < n; v++ {
		nodes[v-1].right, nodes[v].parent = v, v-1
	}
	visited := n
	for range 12 {
		a.access(n)
		v := int32(n)
		for k := int32(1); k < 4; k++ {
			v = a.above(v)
			require.Equal(t, n-k, v)
		}
		require.LessOrEqual(t, a.paths.visited, visited)
		visited = a.paths.visited
		a.leave(v, 4)
	}
	require.Less(t, visited, 30)
}
