package pipeline

import (
	"encoding/json"
	"fmt"
)

// statefulOperator runs transforms of the user that remember, one an epoch.
type statefulOperator[T, U any] struct {
	st    *stage
	make  func() StatefulTransform[T, U]
	epoch int64
	cur   StatefulTransform[T, U] // nil before the first value of an epoch
	from  place                   // of that value
	given uint64                  // values given out in the epoch
	came  uint64                  // values pushed since from
	owed  uint64                  // values that had been given out when the state was taken

	restored *statefulState
}

// statefulState is what a stateful transform remembers. Without a snapshot it is
// given the epoch again, and what it gives out is dropped up to Given.
type statefulState struct {
	Epoch    int64           `json:"epoch"`
	Given    uint64          `json:"given"`
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
}

func newStateful[T, U any](st *stage, make func() StatefulTransform[T, U], restored *mark) (*statefulOperator[T, U], error) {
	s := &statefulOperator[T, U]{st: st, make: make, epoch: -1}
	if restored != nil {
		s.restored = new(statefulState)
		if err := restored.restore(s.restored); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// begin makes the transform of an epoch.
func (s *statefulOperator[T, U]) begin(o *outlet[U]) error {
	if s.cur != nil && s.epoch == o.epoch {
		return nil
	}
	var cur StatefulTransform[T, U]
	if err := guard(func() error { cur = s.make(); return nil }); err != nil {
		return Fatal(err)
	} else if cur == nil {
		return Fatal(fmt.Errorf("%s: there is no transform for epoch %d", s.st.name, o.epoch))
	}
	s.cur, s.epoch, s.from = cur, o.epoch, o.here()
	s.given, s.owed, s.came = 0, 0, 0
	if e, ok := s.cur.(EpochStarter); ok {
		if err := guard(func() error { e.StartEpoch(o.epoch); return nil }); err != nil {
			return Fatal(err)
		}
	}
	if r := s.restored; r != nil && r.Epoch == o.epoch {
		if r.Snapshot == nil {
			s.owed = r.Given
		} else {
			s.given = r.Given
			saved, ok := s.cur.(Resumable)
			if !ok {
				return Fatal(fmt.Errorf("%w: %s cannot take back what it remembered", ErrStateMismatch, s.st.name))
			}
			if err := guard(func() error { return saved.Restore(r.Snapshot) }); err != nil {
				return Fatal(fmt.Errorf("%w: %s: %w", ErrState, s.st.name, err))
			}
		}
	}
	s.restored = nil
	return nil
}

// emitter gives out values made of one with meta m.
func (s *statefulOperator[T, U]) emitter(m meta, o *outlet[U]) func(U) {
	n := 0
	return func(v U) {
		if s.owed > 0 {
			s.owed--
		} else {
			o.emit(v, m.child(n))
		}
		s.given++
		n++
	}
}

func (s *statefulOperator[T, U]) push(v T, m meta, o *outlet[U]) error {
	if err := s.begin(o); err != nil {
		return err
	}
	given, owed, passed := s.given, s.owed, false
	defer func() {
		if !passed { // what it gave out is dropped
			s.given, s.owed = given, owed
		}
	}()
	err := s.cur.Push(o.ctx, v, s.emitter(m, o))
	if passed = err == nil; passed {
		s.came++
	}
	return err
}

// retraced implements [retracer].
func (s *statefulOperator[T, U]) retraced() uint64 { return s.came }

func (s *statefulOperator[T, U]) finish(o *outlet[U], cut bool) error {
	if (cut || o.past) && s.cur == nil && (s.restored == nil || s.restored.Epoch != o.epoch) {
		return nil // it has seen nothing of the epoch, or was finished before
	}
	if err := s.begin(o); err != nil {
		return err
	}
	// The first element of the epoch stands for all: the last one is not known to
	// a transform that was resumed behind it.
	m := meta{origin: uint64(s.st.run.cfg.rank())}
	cur := s.cur
	s.cur = nil
	return cur.Finish(o.ctx, s.emitter(m.child(-2), o))
}

func (s *statefulOperator[T, U]) snapshot() (any, place, bool) {
	switch {
	case s.restored != nil:
		return s.restored, place{}, false
	case s.cur == nil:
		return &statefulState{Epoch: -1}, place{}, false
	}
	state := &statefulState{Epoch: s.epoch, Given: s.given + s.owed}
	if saved, ok := s.cur.(Resumable); ok {
		var err error
		if state.Snapshot, err = snapshotOf(saved); err == nil {
			return state, place{}, false
		}
	}
	return state, s.from, true
}

// snapshotOf is what a transform remembers, as JSON. One that fails, or panics, is
// treated as if it could not tell.
func snapshotOf(saved Resumable) (raw json.RawMessage, err error) {
	defer caught(&err)
	snapshot, err := saved.Snapshot()
	if err != nil {
		return nil, err
	}
	return json.Marshal(snapshot)
}
