package pipeline

import (
	"errors"
	"fmt"
	"slices"
)

// fitting packs by PackWhole and PackBestFit.
//
// Where a sequence goes depends on how much room the open rows have, alone. So
// a state is how far the rows were filled when the oldest of them was begun, and how
// many were given out since: given the input from there on, those rows, of which the
// first sequences are not known, are made again and left out.
type fitting[E any] struct {
	packConfig[E]
	most               int // rows open at once
	truncate, straddle bool

	rows  []*openRow[E] // oldest first
	spare []*openRow[E]
	came  uint64 // sequences so far
	given uint64 // rows so far
	owed  uint64 // rows to be left out still
	held  int    // sequences
	epoch int64  // the ends of epochs before this one have been passed on

	restored *fitState // until the oldest held sequence has come again, which is the next
}

// openRow is a row being filled.
type openRow[E any] struct {
	row      Packed[E]
	used     int
	segments int32
	first    meta
	ghost    bool // the first sequences are not known

	// When the first sequence came:
	from   place  // its place
	order  uint64 // sequences before it
	given  uint64 // rows before it
	beside []int  // how far the other rows were filled, oldest first
}

// fitState is what fitting remembers.
type fitState struct {
	Epoch  int64  `json:"epoch"`
	Given  uint64 `json:"given,omitempty"`
	Beside []int  `json:"beside,omitempty"` // if any were given
}

func (s *fitting[E]) restore(from *mark) error {
	var state fitState
	if err := from.restore(&state); err != nil {
		return err
	}
	s.epoch = state.Epoch
	if state.Given == 0 {
		return nil // all sequences since the oldest one held are held
	}
	if len(state.Beside) >= s.most {
		return fmt.Errorf("it has %d rows beside the oldest, the pipeline has %d at most", len(state.Beside), s.most-1)
	}
	if uint64(len(state.Beside)) > state.Given {
		return errors.New("its counts contradict each other")
	}
	for _, used := range state.Beside {
		if used < 1 || used >= s.length {
			return fmt.Errorf("a row of %d has %d tokens", s.length, used)
		}
		s.rows = append(s.rows, &openRow[E]{used: used, ghost: true})
	}
	s.owed, s.restored = state.Given, &state
	return nil
}

func (s *fitting[E]) push(seq []E, m meta, o *outlet[Packed[E]]) error {
	n := s.tokens(seq)
	switch {
	case n == 0:
		s.came++
		return nil
	case n > s.length && !s.truncate:
		return fmt.Errorf("%w: %d tokens, a row has %d", ErrTooLong, n, s.length)
	case n > s.length:
		seq = seq[:len(seq)-(n-s.length)]
		n = s.length
	}
	best := -1
	for i, r := range s.rows {
		if r.used+n <= s.length && (best < 0 || r.used > s.rows[best].used) {
			best = i
		}
	}
	switch {
	case best < 0:
		if len(s.rows) == s.most {
			if err := s.give(0, o); err != nil {
				return err
			}
		}
		best = s.open(m, o)
	case s.restored != nil:
		return s.mismatch(o) // the oldest one held began a row
	}
	s.restored, s.epoch = nil, max(s.epoch, o.epoch)
	s.came++
	r := s.rows[best]
	if !r.ghost {
		r.segments++
		s.held++
		s.fill(&r.row, r.used, r.segments, seq, 0, n)
	}
	r.used += n
	if r.used == s.length {
		return s.give(best, o)
	}
	return nil
}

// open begins a row and returns its index.
func (s *fitting[E]) open(m meta, o *outlet[Packed[E]]) int {
	var r *openRow[E]
	if n := len(s.spare); n > 0 {
		r = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		r = new(openRow[E])
	}
	beside := r.beside[:0]
	for _, other := range s.rows {
		beside = append(beside, other.used)
	}
	*r = openRow[E]{row: s.packConfig.row(), first: m, from: o.here(), order: s.came, given: s.given, beside: beside}
	s.rows = append(s.rows, r)
	return len(s.rows) - 1
}

// give gives a row out, unless that was done before the state was taken.
func (s *fitting[E]) give(i int, o *outlet[Packed[E]]) error {
	r := s.rows[i]
	s.rows = slices.Delete(s.rows, i, i+1)
	s.spare = append(s.spare, r)
	s.given++
	s.held -= int(r.segments)
	switch {
	case s.owed > 0:
		s.owed--
		if s.owed == 0 && len(s.rows) > 0 && s.rows[0].ghost {
			return s.mismatch(o)
		}
	case r.ghost:
		return s.mismatch(o)
	default:
		o.emit(s.packConfig.finish(r.row, r.used), r.first)
	}
	r.row = Packed[E]{}
	return nil
}

func (s *fitting[E]) mismatch(o *outlet[Packed[E]]) error {
	return Fatal(fmt.Errorf("%w: the input of %s is not that of when the state was taken", ErrStateMismatch, o.st.name))
}

func (s *fitting[E]) finish(o *outlet[Packed[E]], cut bool) error {
	if !cut {
		s.epoch = max(s.epoch, o.epoch+1)
	}
	switch {
	case !cut && s.straddle && !o.st.final(o.epoch):
		return nil
	case s.owed > 0 && cut:
		return nil // the rows that are to come next have not all come again
	case s.owed > 0:
		return s.mismatch(o)
	}
	for len(s.rows) > 0 {
		if err := s.give(0, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *fitting[E]) snapshot() (any, place, bool) {
	if s.restored != nil {
		return s.restored, place{}, false
	}
	oldest := s.oldest()
	if oldest == nil {
		return fitState{Epoch: s.epoch}, place{}, false
	}
	state := fitState{Epoch: s.epoch, Given: s.given - oldest.given + s.owed}
	if state.Given > 0 {
		state.Beside = slices.Clone(oldest.beside)
	}
	return state, oldest.from, true
}

// oldest is the row with the oldest held sequence, nil if none is held.
func (s *fitting[E]) oldest() *openRow[E] {
	for _, r := range s.rows {
		if !r.ghost {
			return r
		}
	}
	return nil
}

// retraced implements [retracer].
func (s *fitting[E]) retraced() uint64 {
	if oldest := s.oldest(); oldest != nil {
		return s.came - oldest.order
	}
	return 0
}

// holding implements [holder].
func (s *fitting[E]) holding() int { return s.held }
