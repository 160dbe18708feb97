package abi1

import (
	"fmt"

	"github.com/rosaline-go/rosaline/rosa"
)

// State predicts the next token of each row: the one behind the newest earlier occurrence
// of the longest suffix that has one, −1 if there is none. It may be used by several
// goroutines, one after the other, and the arrays by others in between. A call that fails
// has changed nothing, but where others damaged the arrays: [rosa.ErrBroken].
type State struct {
	rows    *rows[*latest]
	n       int // rows
	call    call
	step    func(row int)
	prefill func(row int)
	masked  func(row int)
}

// call is the arguments of a call, for threads to see.
type call struct {
	next, tokens  []int64
	active, reset []uint8
}

// Bind returns the state that lies in arrays. All is checked before: [ErrVersion],
// [ErrMissing], [ErrReadOnly], [ErrLayout], [ErrOverlap], [ErrCounters], and, in time of
// the arrays' size, [ErrUnsound]. The arrays must stay where they are until Close.
func Bind(a *Arrays, opts ...Option) (*State, error) {
	ragged := a.Positions.Data != nil
	r, err := bind(&a.Automaton, a.arrays(), ragged, opts, func(row int) *latest {
		l := newLatest(a, row)
		return &l
	})
	if err != nil {
		return nil, err
	}
	s := &State{rows: r, n: a.BatchSize}
	s.step, s.prefill, s.masked = s.stepRow, s.prefillRow, s.maskedRow
	return s, nil
}

// Positions returns how many tokens each row has, as a copy; none after Close.
func (s *State) Positions() []int64 { return s.rows.copied() }

// Step takes a token for each row of a uniform state and puts the predictions into next.
// Errors: [rosa.ErrMode], [rosa.ErrLength], [ErrOverlap], [ErrCounters], [rosa.ErrFull],
// [rosa.ErrClosed], [rosa.ErrBroken].
func (s *State) Step(next, tokens []int64) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(false); err != nil {
		return err
	}
	if err := s.shape(next, tokens, s.n, nil, nil); err != nil {
		return err
	}
	if err := s.rows.takes(1); err != nil {
		return err
	}
	err := s.do(s.step, stepRows, call{next: next, tokens: tokens})
	if err == nil {
		s.rows.advance(1)
	}
	return err
}

// Prefill takes the same number of tokens for each row of a uniform state that is empty,
// row after row, and puts the predictions into next likewise. None leave it empty. Errors
// are those of Step and [ErrNotEmpty].
func (s *State) Prefill(next, tokens []int64) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(false); err != nil {
		return err
	}
	if len(tokens)%s.n != 0 {
		return fmt.Errorf("%w: %d tokens for %d rows; all rows take as many", rosa.ErrLength, len(tokens), s.n)
	}
	if err := s.shape(next, tokens, len(tokens), nil, nil); err != nil {
		return err
	}
	if err := s.rows.begins(len(tokens) / s.n); err != nil {
		return err
	}
	err := s.do(s.prefill, prefillRows, call{next: next, tokens: tokens})
	if err == nil {
		s.rows.advance(len(tokens) / s.n)
	}
	return err
}

// StepMasked takes a token for each active row of a ragged state and puts its prediction
// into next, −1 for other rows. An active row that is to be reset is reset first; a row
// that is not active is not reset. Masks are 0 for no; reset may be nil for no row. Errors
// are those of Step.
func (s *State) StepMasked(next, tokens []int64, active, reset []uint8) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if err := s.rows.usable(true); err != nil {
		return err
	}
	if err := s.shape(next, tokens, s.n, active, reset); err != nil {
		return err
	}
	if err := s.rows.takesMasked(active, reset); err != nil {
		return err
	}
	return s.do(s.masked, stepRows, call{next, tokens, active, reset})
}

// Reset empties a uniform state, in time of what it holds.
func (s *State) Reset() error { return s.rows.resetAll() }

// ResetMasked empties rows of a ragged state, in time of what they hold.
func (s *State) ResetMasked(reset []uint8) error { return s.rows.resetMasked(reset) }

// Close ends the threads of the state and lets the arrays go.
func (s *State) Close() { s.rows.close() }

// shape checks that there are so many tokens and as many places for predictions, apart
// from other memory.
func (s *State) shape(next, tokens []int64, n int, active, reset []uint8) error {
	if len(next) != n || len(tokens) != n {
		return fmt.Errorf("%w: %d tokens and %d predictions for %d rows", rosa.ErrLength, len(tokens), len(next), s.n)
	}
	written := [1]span{spanOf("next", next)}
	return s.rows.apart(written[:], spanOf("tokens", tokens), spanOf("active", active), spanOf("reset", reset))
}

func (s *State) do(f func(row int), enough int, c call) error {
	s.call = c
	err := s.rows.each(f, enough)
	s.call = call{}
	return err
}

func (s *State) stepRow(row int) {
	s.call.next[row] = s.rows.rows[row].step(s.call.tokens[row], int(*s.rows.position))
}

func (s *State) prefillRow(row int) {
	n := len(s.call.tokens) / s.n
	if n > 0 {
		s.rows.rows[row].prefill(s.call.next[row*n:(row+1)*n], s.call.tokens[row*n:(row+1)*n])
	}
}

func (s *State) maskedRow(row int) {
	s.call.next[row] = -1
	if s.call.active[row] == 0 {
		return
	}
	if s.call.reset != nil && s.call.reset[row] != 0 {
		s.rows.begin(row)
	}
	position := &s.rows.positions[row]
	s.call.next[row] = s.rows.rows[row].step(s.call.tokens[row], int(*position))
	*position++
}
