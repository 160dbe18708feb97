package abi1

import (
	"fmt"
	"math"
	"slices"

	"github.com/rosaline-go/rosaline/rosa"
)

// CandidateState finds candidates for each row, as [rosa.Candidates] does: of the K longest
// suffixes that occurred earlier the R newest occurrences each. It may be used by several
// goroutines, one after the other, and the arrays by others in between. A call that fails
// has changed nothing, but where others damaged the arrays: [rosa.ErrBroken].
//
// Results go into memory of the caller: a row of K·R slots for each row, or for each token
// or query of each row, row after row. Slots that are not used have source and state −1,
// length and frequency 0.
type CandidateState struct {
	rows     *rows[*newest]
	n, slots int // rows, K·R
	call     candidateCall
	step     func(row int)
	prefill  func(row int)
	selected func(row int)
	masked   func(row int)
}

// candidateCall is the arguments of a call, for threads to see.
type candidateCall struct {
	out             *rosa.CandidateRows
	tokens, queries []int64
	order           []int // of the queries of each row, by position
	active, reset   []uint8
}

// BindCandidates returns the state that lies in arrays, of which all is checked before; see
// [Bind].
func BindCandidates(a *CandidateArrays, opts ...Option) (*CandidateState, error) {
	if a.SuffixK < 1 || a.OccurrencesR < 1 || a.SuffixK > math.MaxInt32/a.OccurrencesR {
		return nil, fmt.Errorf("%w: suffix_k %d, occurrences_r %d; both are at least 1, and int32 counts their product",
			ErrLayout, a.SuffixK, a.OccurrencesR)
	}
	r, err := bind(&a.Automaton, a.arrays(), a.Ragged, opts, func(row int) *newest {
		s := newNewest(a, row)
		return &s
	})
	if err != nil {
		return nil, err
	}
	s := &CandidateState{rows: r, n: a.BatchSize, slots: a.SuffixK * a.OccurrencesR}
	s.step, s.prefill, s.selected, s.masked = s.stepRow, s.prefillRow, s.selectedRow, s.maskedRow
	return s, nil
}

// Positions returns how many tokens each row has, as a copy; none after Close.
func (s *CandidateState) Positions() []int64 { return s.rows.copied() }

// Step takes a token for each row of a uniform state. Errors: [rosa.ErrMode],
// [rosa.ErrLength], [ErrOverlap], [ErrCounters], [rosa.ErrFull], [rosa.ErrClosed],
// [rosa.ErrBroken].
func (s *CandidateState) Step(out *rosa.CandidateRows, tokens []int64) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(false); err != nil {
		return err
	}
	c := candidateCall{out: out, tokens: tokens}
	if err := s.check(&c, s.n, s.n); err != nil {
		return err
	}
	if err := s.rows.takes(1); err != nil {
		return err
	}
	return s.do(s.step, stepRows, c, 1)
}

// Prefill takes the same number of tokens for each row of a uniform state that is empty,
// row after row. None leave it empty. Errors are those of Step and [ErrNotEmpty].
func (s *CandidateState) Prefill(out *rosa.CandidateRows, tokens []int64) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(false); err != nil {
		return err
	}
	c := candidateCall{out: out, tokens: tokens}
	if err := s.check(&c, len(tokens), len(tokens)); err != nil {
		return err
	}
	if err := s.rows.begins(len(tokens) / s.n); err != nil {
		return err
	}
	return s.do(s.prefill, prefillRows, c, len(tokens)/s.n)
}

// PrefillSelected is Prefill that gives the candidates of some tokens only: of each row as
// many queries, one at least, row after row: positions among the tokens, each at most once,
// in any order. Errors are those of Prefill and [rosa.ErrQuery].
func (s *CandidateState) PrefillSelected(out *rosa.CandidateRows, tokens, queries []int64) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(false); err != nil {
		return err
	}
	c := candidateCall{out: out, tokens: tokens, queries: queries}
	if err := s.check(&c, len(tokens), len(queries)); err != nil {
		return err
	}
	var err error
	if c.order, err = s.orders(queries, len(tokens)/s.n); err != nil {
		return err
	}
	if err := s.rows.begins(len(tokens) / s.n); err != nil {
		return err
	}
	return s.do(s.selected, prefillRows, c, len(tokens)/s.n)
}

// StepMasked takes a token for each active row of a ragged state; other rows have no
// candidates. An active row that is to be reset is reset first; a row that is not active
// is not reset. Masks are 0 for no; reset may be nil for no row. Errors are those of Step.
func (s *CandidateState) StepMasked(out *rosa.CandidateRows, tokens []int64, active, reset []uint8) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(true); err != nil {
		return err
	}
	c := candidateCall{out: out, tokens: tokens, active: active, reset: reset}
	if err := s.check(&c, s.n, s.n); err != nil {
		return err
	}
	if err := s.rows.takesMasked(active, reset); err != nil {
		return err
	}
	return s.do(s.masked, stepRows, c, 0)
}

// Reset empties a uniform state, in time of what it holds.
func (s *CandidateState) Reset() error { return s.rows.resetAll() }

// ResetMasked empties rows of a ragged state, in time of what they hold.
func (s *CandidateState) ResetMasked(reset []uint8) error { return s.rows.resetMasked(reset) }

// Close ends the threads of the state and lets the arrays go.
func (s *CandidateState) Close() { s.rows.close() }

// check checks that there are so many tokens and results, in memory of their own.
func (s *CandidateState) check(c *candidateCall, tokens, results int) error {
	if len(c.tokens) != tokens || tokens%s.n != 0 || results%s.n != 0 {
		return fmt.Errorf("%w: %d tokens and %d results for %d rows; all rows have as many",
			rosa.ErrLength, len(c.tokens), results, s.n)
	}
	o := c.out
	for _, column := range []struct {
		name string
		data []int64
	}{{"Source", o.Source}, {"Length", o.Length}, {"State", o.State}, {"Frequency", o.Frequency}} {
		if len(column.data)%s.slots != 0 || len(column.data)/s.slots != results {
			return fmt.Errorf("%w: %s has %d elements for %d results of %d slots",
				rosa.ErrLength, column.name, len(column.data), results, s.slots)
		}
	}
	if len(o.Count) != results {
		return fmt.Errorf("%w: Count has %d elements for %d results", rosa.ErrLength, len(o.Count), results)
	}
	written := [5]span{
		spanOf("Source", o.Source), spanOf("Length", o.Length), spanOf("State", o.State),
		spanOf("Frequency", o.Frequency), spanOf("Count", o.Count),
	}
	return s.rows.apart(written[:], spanOf("tokens", c.tokens), spanOf("queries", c.queries),
		spanOf("active", c.active), spanOf("reset", c.reset))
}

// orders returns the queries of each row by their position among n tokens.
func (s *CandidateState) orders(queries []int64, n int) ([]int, error) {
	each := len(queries) / s.n
	if each == 0 {
		return nil, fmt.Errorf("%w: there is none; use Prefill, or ask for one", rosa.ErrQuery)
	}
	order := make([]int, len(queries))
	for row := range s.n {
		of, o := queries[row*each:(row+1)*each], order[row*each:(row+1)*each]
		for i, q := range of {
			if q < 0 || q >= int64(n) {
				return nil, fmt.Errorf("%w: row %d: query %d is %d, not from 0 to %d", rosa.ErrQuery, row, i, q, n-1)
			}
			o[i] = i
		}
		slices.SortFunc(o, func(i, j int) int { return int(of[i] - of[j]) })
		for i := 1; i < each; i++ {
			if of[o[i]] == of[o[i-1]] {
				return nil, fmt.Errorf("%w: row %d: queries %d and %d are both %d; ask once", rosa.ErrQuery, row, o[i-1], o[i], of[o[i]])
			}
		}
	}
	return order, nil
}

// do does a call on each row and moves the position of uniform rows.
func (s *CandidateState) do(f func(row int), enough int, c candidateCall, tokens int) error {
	s.call = c
	err := s.rows.each(f, enough)
	s.call = candidateCall{}
	if err == nil && !s.rows.ragged {
		s.rows.advance(tokens)
	}
	return err
}

// take steps a row and puts the candidates into a result.
func (s *CandidateState) take(row int, token int64, position, result int) {
	o, from, to := s.call.out, result*s.slots, (result+1)*s.slots
	out := slots{o.Source[from:to:to], o.Length[from:to:to], o.State[from:to:to], o.Frequency[from:to:to]}
	n := s.rows.rows[row].step(token, position, &out)
	s.pad(&out, n)
	o.Count[result] = int32(n)
}

// pad fills the slots from n on.
func (s *CandidateState) pad(out *slots, n int) {
	for i := n; i < s.slots; i++ {
		out.source[i], out.state[i] = -1, -1
	}
	clear(out.length[n:])
	clear(out.frequency[n:])
}

func (s *CandidateState) stepRow(row int) {
	s.take(row, s.call.tokens[row], int(*s.rows.position), row)
}

func (s *CandidateState) prefillRow(row int) {
	n := len(s.call.tokens) / s.n
	for i, token := range s.call.tokens[row*n : (row+1)*n] {
		s.take(row, token, i, row*n+i)
	}
}

func (s *CandidateState) selectedRow(row int) {
	n, each := len(s.call.tokens)/s.n, len(s.call.queries)/s.n
	queries, order := s.call.queries[row*each:(row+1)*each], s.call.order[row*each:(row+1)*each]
	for i, token := range s.call.tokens[row*n : (row+1)*n] {
		if len(order) > 0 && queries[order[0]] == int64(i) {
			s.take(row, token, i, row*each+order[0])
			order = order[1:]
		} else {
			s.rows.rows[row].step(token, i, nil)
		}
	}
}

func (s *CandidateState) maskedRow(row int) {
	if s.call.active[row] == 0 {
		o, from, to := s.call.out, row*s.slots, (row+1)*s.slots
		s.pad(&slots{o.Source[from:to], o.Length[from:to], o.State[from:to], o.Frequency[from:to]}, 0)
		o.Count[row] = 0
		return
	}
	if s.call.reset != nil && s.call.reset[row] != 0 {
		s.rows.begin(row)
	}
	position := &s.rows.positions[row]
	s.take(row, s.call.tokens[row], int(*position), row)
	*position++
}
