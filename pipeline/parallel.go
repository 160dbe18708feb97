package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
)

// mapping applies a function from T to T in place; without keep it is a map, else
// a filter.
type mapping[T any] struct {
	st   *stage
	call func(v *T) (keep bool, err error)
	// random, if set, is called instead, with the source of random numbers of the value.
	random func(rng *rand.Rand, v *T) (keep bool, err error)
}

func (o *mapping[T]) apply(w *worker, c carrier) carrier {
	in := c.(*chunk[T])
	next, kept := 0, 0
	for next < len(in.vals) {
		at := next
		var err error
		next, kept, err = o.some(w, in, next, kept)
		if err == nil {
			break
		}
		at = next - 1
		if err := o.st.fault(KindTransform, in.epoch, in.meta[at], err); err != nil {
			in.fail(err, in.behind(at, kept))
			break
		}
	}
	in.keep(kept)
	return in
}

// behind is the place of value at; the first kept values are what came of those before.
func (h *head) behind(at, kept int) place {
	p := place{at: h.at, skip: h.meta[at].from}
	for j := kept - 1; j >= 0 && h.meta[j].from == p.skip; j-- {
		p.drop++
	}
	return p
}

// some works on values from next on, up to the first error, which belongs to the
// value before the next that it returns.
func (o *mapping[T]) some(w *worker, in *chunk[T], first, have int) (next, kept int, err error) {
	next, kept = first, have
	defer caught(&err)
	var pcg *rand.PCG
	var rng *rand.Rand
	if o.random != nil {
		pcg = new(rand.PCG)
		rng = rand.New(pcg)
	}
	for next < len(in.vals) && !w.abandoned() {
		i := next
		next++
		var keep bool
		if rng != nil {
			pcg.Seed(mix(o.st.run.cfg.seed, uint64(in.epoch)), mix(in.meta[i].key(), uint64(o.st.index)))
			keep, err = o.random(rng, &in.vals[i])
		} else {
			keep, err = o.call(&in.vals[i])
		}
		if err != nil {
			return next, kept, err
		}
		if keep {
			if kept != i {
				in.vals[kept], in.meta[kept] = in.vals[i], in.meta[i]
			}
			kept++
		}
		o.st.passed()
	}
	return next, kept, nil
}

// origin says for which value a function of the user is called.
type origin struct {
	ctx   context.Context
	epoch int64
	meta  meta
}

// conversion makes values of another type.
type conversion[T, U any] struct {
	st   *stage
	kind ErrorKind
	// call makes values of v.
	call func(o origin, v T, emit func(U)) error
	// one, if set, is called instead and makes one value.
	one  func(v T) (U, error)
	pool sync.Pool
}

func (o *conversion[T, U]) apply(w *worker, c carrier) carrier {
	in := c.(*chunk[T])
	out := newChunk[U](&o.pool)
	out.move(&in.head)
	for next := 0; next < len(in.vals); {
		var have int
		var err error
		next, have, err = o.some(w, in, out, next)
		if err == nil {
			break
		}
		out.keep(have)
		at := next - 1
		if err := o.st.fault(o.kind, in.epoch, in.meta[at], err); err != nil {
			p := place{at: in.at, skip: in.meta[at].from}
			for j := have - 1; j >= 0 && out.meta[j].from == p.skip; j-- {
				p.drop++
			}
			out.fail(err, p)
			break
		}
	}
	in.recycle()
	return out
}

// some works on values from next on, up to the first error; what came of the value with the
// error is behind the first kept ones.
func (o *conversion[T, U]) some(w *worker, in *chunk[T], out *chunk[U], first int) (next, kept int, err error) {
	next, kept = first, len(out.vals)
	defer caught(&err)
	if o.one != nil {
		for next < len(in.vals) && !w.abandoned() {
			i := next
			next++
			v, err := o.one(in.vals[i])
			if err != nil {
				return next, kept, err
			}
			out.append(v, in.meta[i])
			kept++
			o.st.passed()
		}
		return next, kept, nil
	}
	emit := func(v U) { out.append(v, in.meta[next-1].child(len(out.vals)-kept)) }
	for next < len(in.vals) && !w.abandoned() {
		next++
		if err := o.call(origin{w.run.ctx, in.epoch, in.meta[next-1]}, in.vals[next-1], emit); err != nil {
			return next, kept, err
		}
		kept = len(out.vals)
		o.st.passed()
	}
	return next, kept, nil
}

// collated makes one element of a batch. Under Skip a batch that does not go together
// falls back to the elements that do.
func collated[T, U any](st *stage, collate func([]T) (U, error)) func(origin, []T, func(U)) error {
	return func(from origin, batch []T, emit func(U)) error {
		v, err := tryCollate(collate, batch)
		for err != nil && st.run.cfg.policy == Skip && len(batch) > 1 {
			var bad int
			if bad, err = odd(collate, batch, err); bad < 0 {
				return err
			}
			if err := st.fault(KindCollate, from.epoch, from.meta, err); err != nil {
				return err
			}
			rest := make([]T, 0, len(batch)-1)
			batch = append(append(rest, batch[:bad]...), batch[bad+1:]...)
			v, err = tryCollate(collate, batch)
		}
		if err != nil {
			return err
		}
		emit(v)
		return nil
	}
}

// tryCollate calls collate and turns a panic into an error.
func tryCollate[T, U any](collate func([]T) (U, error), batch []T) (v U, err error) {
	defer caught(&err)
	return collate(batch)
}

// odd finds an element without which the batch goes together, or at least further:
// the one that the error names, or the only one whose absence helps, or else one
// outside the largest group that goes with a common first element. −1 tells
// that no two elements go together.
func odd[T, U any](collate func([]T) (U, error), batch []T, err error) (int, error) {
	var named *ItemError
	if errors.As(err, &named) && named.Item >= 0 && named.Item < len(batch) {
		return named.Item, err
	}
	without := make([]T, 0, len(batch)-1)
	for i := range batch {
		without = append(append(without[:0], batch[:i]...), batch[i+1:]...)
		if _, e := tryCollate(collate, append([]T(nil), without...)); e == nil {
			return i, &ItemError{i, err}
		}
	}
	best, outside := 0, -1
	for first := range batch {
		group, left := []T{batch[first]}, -1
		for i := range batch {
			if i == first {
				continue
			}
			with := append(append([]T(nil), group...), batch[i])
			if _, e := tryCollate(collate, with); e == nil {
				group = with
			} else if left < 0 {
				left = i
			}
		}
		if len(group) > best && left >= 0 {
			if _, e := tryCollate(collate, append([]T(nil), group...)); e == nil {
				best, outside = len(group), left
			}
		}
		if 2*best > len(batch) { // no other can be larger
			break
		}
	}
	return outside, &ItemError{outside, err}
}

// lap makes one epoch of several.
type lap[T any] struct {
	st *stage
	n  int64
}

func (o *lap[T]) apply(_ *worker, c carrier) carrier {
	in := c.(*chunk[T])
	again := in.epoch % o.n
	in.epoch /= o.n
	if again < o.n-1 {
		in.last = false
	}
	if again > 0 {
		for i := range in.meta {
			in.meta[i] = in.meta[i].child(int(again))
		}
	}
	return in
}
