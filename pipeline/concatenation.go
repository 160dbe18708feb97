package pipeline

import (
	"fmt"
)

// concatenation packs by PackConcat. Its state is the place of the sequence with which the
// row begins, and how many tokens of that are in rows before.
type concatenation[E any] struct {
	packConfig[E]
	dropLast, straddle bool

	row      Packed[E]
	used     int
	segments int32
	first    meta
	from     place  // of the first sequence
	offset   int    // where in it the row begins
	came     uint64 // sequences so far
	order    uint64 // sequences before the first
	epoch    int64  // the ends of epochs before this one have been passed on

	restored *concatState // until the first sequence has come again, which is the next
}

// concatState is what concatenation remembers.
type concatState struct {
	Epoch  int64 `json:"epoch"`
	Offset int   `json:"offset,omitempty"`
}

func (s *concatenation[E]) restore(from *mark) error {
	var state concatState
	if err := from.restore(&state); err != nil {
		return err
	}
	if state.Offset < 0 {
		return fmt.Errorf("a row begins %d tokens into a sequence", state.Offset)
	}
	s.epoch = state.Epoch
	if state.Offset > 0 {
		s.restored = &state
	}
	return nil
}

func (s *concatenation[E]) push(seq []E, m meta, o *outlet[Packed[E]]) error {
	n := s.tokens(seq)
	at := 0
	if s.restored != nil {
		if at = s.restored.Offset; at >= n {
			return Fatal(fmt.Errorf("%w: a sequence before %s has %d tokens; when the state was taken it had more than %d", ErrStateMismatch, o.st.name, n, at))
		}
	}
	s.restored, s.epoch = nil, max(s.epoch, o.epoch)
	for at < n {
		if s.used == 0 {
			s.row = s.packConfig.row()
			s.first, s.from, s.order, s.offset, s.segments = m, o.here(), s.came, at, 0
			if at > 0 {
				s.first = m.child(at)
			}
		}
		part := min(n-at, s.length-s.used)
		s.segments++
		s.fill(&s.row, s.used, s.segments, seq, at, part)
		s.used += part
		at += part
		if s.used == s.length {
			s.give(o)
		}
	}
	s.came++
	return nil
}

func (s *concatenation[E]) give(o *outlet[Packed[E]]) {
	o.emit(s.packConfig.finish(s.row, s.used), s.first)
	s.row, s.used = Packed[E]{}, 0
}

func (s *concatenation[E]) finish(o *outlet[Packed[E]], cut bool) error {
	if !cut {
		s.epoch = max(s.epoch, o.epoch+1)
	}
	switch {
	case !cut && s.straddle && !o.st.final(o.epoch):
		return nil
	case s.restored != nil && cut:
		return nil
	case s.restored != nil:
		return Fatal(fmt.Errorf("%w: the input of %s is shorter than when the state was taken", ErrStateMismatch, o.st.name))
	case s.used == 0, s.dropLast && cut: // the row may become full when the stream is resumed
		return nil
	case s.dropLast:
		s.row, s.used = Packed[E]{}, 0
		return nil
	}
	s.give(o)
	return nil
}

func (s *concatenation[E]) snapshot() (any, place, bool) {
	switch {
	case s.restored != nil:
		return s.restored, place{}, false
	case s.used == 0:
		return concatState{Epoch: s.epoch}, place{}, false
	}
	return concatState{s.epoch, s.offset}, s.from, true
}

// retraced implements [retracer].
func (s *concatenation[E]) retraced() uint64 {
	if s.used == 0 {
		return 0
	}
	return s.came - s.order
}

// holding implements [holder].
func (s *concatenation[E]) holding() int {
	if s.used == 0 {
		return 0
	}
	return int(s.segments)
}
