package pipeline

// grouping makes batches of n values each; the last of an epoch may be shorter.
type grouping[T any] struct {
	n        int
	dropLast bool
	straddle bool // batches go over from one epoch to the next

	batch []T
	first meta
	from  place // of batch[0]
	groupingState
}

// groupingState is what is remembered of batches: they begin where the first value held
// does. Where they go over from one epoch to the next that may be in an epoch whose end
// has been passed on; see [serialStage.begun].
type groupingState struct {
	Epoch int64 `json:"epoch"`
}

func (g *grouping[T]) push(v T, m meta, o *outlet[[]T]) error {
	g.Epoch = o.epoch
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

// pushAll implements [bulkOperator].
func (g *grouping[T]) pushAll(vals []T, metas []meta, o *outlet[[]T]) {
	g.Epoch = o.epoch
	for len(vals) > 0 {
		if len(g.batch) == 0 {
			g.first, g.from = metas[0], o.in.place(o.at)
			g.batch = make([]T, 0, min(g.n, 1024))
		}
		n := min(len(vals), g.n-len(g.batch))
		g.batch = append(g.batch, vals[:n]...)
		vals, metas = vals[n:], metas[n:]
		if o.at += n; len(g.batch) == g.n {
			g.give(o)
		}
	}
}

func (g *grouping[T]) give(o *outlet[[]T]) {
	o.emit(g.batch, g.first)
	g.batch = nil
}

func (g *grouping[T]) finish(o *outlet[[]T], cut bool) error {
	if !cut {
		g.Epoch = o.epoch + 1
	}
	if len(g.batch) == 0 || g.straddle && !cut && !o.st.final(o.epoch) {
		return nil
	}
	if g.dropLast {
		if !cut { // else they belong to the rest
			g.batch = nil
		}
		return nil
	}
	g.give(o)
	return nil
}

// retraced implements [retracer].
func (g *grouping[T]) retraced() uint64 { return uint64(len(g.batch)) }

func (g *grouping[T]) snapshot() (any, place, bool) {
	return g.groupingState, g.from, len(g.batch) > 0
}

// holding implements [holder].
func (g *grouping[T]) holding() int { return len(g.batch) }
