package pipeline

// limitState counts the values of an epoch that have come.
type limitState struct {
	Seen uint64 `json:"seen"`
}

// taking passes the first n values of an epoch on.
type taking[T any] struct {
	n uint64
	limitState
}

func (t *taking[T]) push(v T, m meta, o *outlet[T]) error {
	if t.Seen < t.n {
		t.Seen++
		o.emit(v, m)
	}
	o.over = t.Seen == t.n
	return nil
}

func (t *taking[T]) finish(_ *outlet[T], cut bool) error {
	if !cut {
		t.Seen = 0
	}
	return nil
}

func (t *taking[T]) snapshot() (any, place, bool) { return t.limitState, place{}, false }

// skipping leaves the first n values of an epoch out.
type skipping[T any] struct {
	n uint64
	limitState
}

func (s *skipping[T]) push(v T, m meta, o *outlet[T]) error {
	if s.Seen < s.n {
		s.Seen++
		return nil
	}
	o.emit(v, m)
	return nil
}

func (s *skipping[T]) finish(_ *outlet[T], cut bool) error {
	if !cut {
		s.Seen = 0
	}
	return nil
}

func (s *skipping[T]) snapshot() (any, place, bool) { return s.limitState, place{}, false }
