package rosa

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sequences are all of n of k tokens.
type sequences struct {
	k int64
	n int
}

// exhaustive are the sequences of which no test leaves out one.
func exhaustive() []sequences {
	if testing.Short() {
		return []sequences{{1, 20}, {2, 11}, {3, 7}}
	}
	return []sequences{{1, 20}, {2, 14}, {3, 9}}
}

// TestEverySplit: a prefill, steps and another prefill answer as the brute force does,
// wherever a short sequence is cut.
func TestEverySplit(t *testing.T) {
	for _, v := range []struct {
		name  string
		less  int   // tokens of a sequence
		shift int64 // of the tokens
		empty func(s *State) *State
	}{
		{"bytes", 0, 0, func(s *State) *State { s.Reset(); return s }},
		{"link-cut tree", 0, 0, func(s *State) *State {
			s.Reset()
			if s.bytes == nil {
				useLinkCut(s)
			}
			s.bytes.climbs = math.MaxInt64 / 2
			return s
		}},
		{"bytes and codes", 3, 255, func(*State) *State { return NewState() }},
	} {
		s := NewState()
		for _, in := range exhaustive() {
			n := in.n - v.less
			got, garbage := make([]Match, n), slices.Repeat([]Match{{77, 77, 77}}, n)
			y := make([]int64, n)
			every(in.k, n, func(x []int64) {
				for i := range x {
					y[i] = x[i] + v.shift
				}
				want := brute(y)
				for from := range n + 1 {
					for to := from; to <= n; to++ {
						s = v.empty(s)
						copy(got, garbage)
						err := s.PrefillInto(got[:from], y[:from])
						for i := from; i < to && err == nil; i++ {
							got[i], err = s.Step(y[i])
						}
						if err == nil {
							err = s.PrefillInto(got[to:], y[to:])
						}
						if err != nil || !slices.Equal(want, got) {
							require.NoError(t, err)
							require.Equal(t, want, got, "%s: %v, steps from %d to %d", v.name, y, from, to)
						}
					}
				}
			})
		}
	}
}

// TestEverySplitOfCandidates: a prefill, steps and another prefill answer as the definition
// does, wherever a short sequence is cut, and so do prefills of which every second token is
// asked for.
func TestEverySplitOfCandidates(t *testing.T) {
	for _, v := range []struct {
		k, r   int
		linked bool
		less   int   // tokens of a sequence
		shift  int64 // of the tokens
	}{{3, 2, false, 0, 0}, {2, 3, true, 2, 0}, {2, 2, false, 3, 255}} {
		var stream *Candidates
		empty := func() *Candidates {
			if stream == nil || v.shift != 0 { // it is of codes after a reset
				stream = NewCandidates(WithSuffixes(v.k), WithOccurrences(v.r))
			}
			stream.Reset()
			if v.linked {
				relink(stream)
			}
			return stream
		}
		for _, in := range exhaustive() {
			n, slots := in.n-v.less, v.k*v.r
			want, got := NewCandidateRows(n, slots), NewCandidateRows(n, slots)
			garbage, asked := garbageRows(n, slots), garbageRows(n, slots)
			y, row, model := make([]int64, n), []candidate{}, newCandidateModel()
			every(in.k, n, func(x []int64) {
				model.reset()
				for i := range x {
					y[i] = x[i] + v.shift
					row = shown(row[:0], model.push(y[i]), v.k, v.r)
					putRow(&want, i, row)
				}
				for from := range n + 1 {
					for to := from; to <= n; to++ {
						copyRows(&got, 0, &garbage)
						c := empty()
						err := prefillAt(c, &got, y, 0, from)
						if err == nil {
							err = stepAt(c, &got, y, from, to)
						}
						if err == nil {
							err = prefillAt(c, &got, y, to, n)
						}
						if err != nil || !equalRows(&want, &got) {
							require.NoError(t, err)
							require.Equal(t, want, got, "%+v: %v, steps from %d to %d", v, y, from, to)
						}
						copyRows(&got, 0, &garbage)
						c = empty()
						if err = selectAt(c, &got, &asked, y, 0, from); err == nil {
							err = stepAt(c, &got, y, from, to)
						}
						if err == nil {
							err = selectAt(c, &got, &asked, y, to, n)
						}
						require.NoError(t, err)
						for i := range y {
							expected := &want
							if (i < from || i >= to) && i%2 == 0 {
								expected = &garbage // nobody asked
							}
							if !equalRow(expected, i, &got, i) {
								require.Equal(t, expected.Row(i), got.Row(i), "%+v: %v at %d, steps from %d to %d", v, y, i, from, to)
							}
						}
					}
				}
			})
		}
	}
}

// rowsFrom returns some rows, which share memory.
func rowsFrom(rows *CandidateRows, from, to int) CandidateRows {
	slots := len(rows.Source) / len(rows.Count)
	a, b := from*slots, to*slots
	return CandidateRows{
		Source: rows.Source[a:b], Length: rows.Length[a:b], State: rows.State[a:b],
		Frequency: rows.Frequency[a:b], Count: rows.Count[from:to],
	}
}

// prefillAt prefills some tokens of a text whose rows are given.
func prefillAt(c *Candidates, rows *CandidateRows, text []int64, from, to int) error {
	some := rowsFrom(rows, from, to)
	return c.PrefillInto(&some, text[from:to])
}

// stepAt is prefillAt by steps.
func stepAt(c *Candidates, rows *CandidateRows, text []int64, from, to int) error {
	for i := from; i < to; i++ {
		row, err := c.Step(text[i])
		if err != nil {
			return err
		}
		copyRows(rows, i, &row)
	}
	return nil
}

// selectAt is prefillAt of which the odd places of the text are asked for, the last first.
// It leaves the other rows as they are, and uses others in between.
func selectAt(c *Candidates, rows, between *CandidateRows, text []int64, from, to int) error {
	var memory [32]int64
	queries := memory[:0]
	for i := to - 1; i >= from; i-- {
		if i%2 == 1 {
			queries = append(queries, int64(i-from))
		}
	}
	if len(queries) == 0 {
		for _, token := range text[from:to] {
			if _, err := c.Step(token); err != nil {
				return err
			}
		}
		return nil
	}
	asked := rowsFrom(between, 0, len(queries))
	if err := c.PrefillSelectedInto(&asked, text[from:to], queries); err != nil {
		return err
	}
	for i, q := range queries {
		row := asked.Row(i)
		copyRows(rows, from+int(q), &row)
	}
	return nil
}
