package pipeline

// grouping makes batches of n values each; the last of an epoch may be shorter.
type grouping[T any] struct {
	n        int
	dropLast bool
	straddle bool // batches go over from one epoch to the next

	batch []T
	first meta
	from  place // of batch[0]
}

func (g *grouping[T]) push(v T, m meta, o *outlet[[]T]) error {
	if len(g.batch) == 0 {
		g.first, g.from = m, o.here()
		g.batch = make([]T, 0, min(g.n, 1024))
	}
	g.batch = append(g.batch, v)
	if len(g.batch) == g.n {
		g.give(o)
	}
	return nil
}

func (g *grouping[T]) give(o *outlet[[]T]) {
	o.emit(g.batch, g.first)
	g.batch = nil
}

func (g *grouping[T]) finish(o *outlet[[]T], cut bool) error {
	if len(g.batch) == 0 || g.straddle && !cut && !o.st.final(o.epoch) {
		return nil
	}
	if g.dropLast {
		g.batch = nil
		return nil
	}
	g.give(o)
	return nil
}

// snapshot needs no state: batches begin where the first value held does.
func (g *grouping[T]) snapshot() (any, place, bool) {
	return struct{}{}, g.from, len(g.batch) > 0
}
