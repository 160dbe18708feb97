package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
)

// mapping applies a function from T to T in place; without keep it is a map, else
// a filter.
type mapping[T any] struct {
	st   *stage
	size func(*T) int64
	call func(v *T) (keep bool, err error)
	// random, if set, is called instead, with the source of random numbers of the value.
	random func(rng *rand.Rand, v *T) (keep bool, err error)
}

func (o *mapping[T]) apply(w *worker, c carrier) carrier {
	in := c.(*chunk[T])
	next, kept := 0, 0
	for next < len(in.vals) {
		var err error
		next, kept, err = o.some(w, in, next, kept)
		if err == nil {
			break
		}
		at := in.meta[next-1]
		if err := o.st.fault(KindTransform, in.epoch, at, err); err != nil {
			in.fail(err, in.behind(at.from, in.meta[:kept]))
			break
		}
	}
	in.keep(kept)
	o.st.in.Add(int64(next))
	o.st.bytes.Add(in.sizeOrZero(o.size))
	return in
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
	size func(*U) int64
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
	next := 0
	for next < len(in.vals) {
		var have int
		var err error
		next, have, err = o.some(w, in, out, next)
		if err == nil {
			break
		}
		out.keep(have)
		at := in.meta[next-1]
		if err := o.st.fault(o.kind, in.epoch, at, err); err != nil {
			out.fail(err, out.behind(at.from, out.meta))
			break
		}
	}
	o.st.in.Add(int64(next))
	o.st.bytes.Add(out.sizeOrZero(o.size))
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
		first := batch
		if st.run.cfg.policy == Skip {
			first = slices.Clone(batch) // it may be tried again
		}
		v, err := tryCollate(collate, first)
		for err != nil && st.run.cfg.policy == Skip && len(batch) > 1 {
			odd := oddOnes(from.ctx, collate, batch, err)
			if len(odd) == 0 {
				return err
			}
			rest := make([]T, 0, len(batch)-len(odd))
			for i, v := range batch {
				if len(odd) == 0 || i != odd[0] {
					rest = append(rest, v)
					continue
				}
				odd = odd[1:]
				if err := st.fault(KindCollate, from.epoch, from.meta, &ItemError{i, unnamed(err)}); err != nil {
					return err
				}
			}
			batch = rest
			v, err = tryCollate(collate, slices.Clone(batch))
		}
		if err != nil {
			return err
		}
		emit(v)
		return nil
	}
}

// unnamed is what an error says of the element that it names.
func unnamed(err error) error {
	if named, ok := err.(*ItemError); ok && named != nil {
		return named.Err
	}
	return err
}

// tryCollate calls collate and turns a panic into an error.
func tryCollate[T, U any](collate func([]T) (U, error), batch []T) (v U, err error) {
	defer caught(&err)
	return collate(batch)
}

// maxAnchors bounds the groups that oddOnes tries.
const maxAnchors = 16

// oddOnes finds the elements that do not go with the others, in their order: the one
// that the error names, or else the only one whose absence helps, or else those outside
// the largest group that goes together of those begun by the first few elements. It finds
// none if no two go together, or if ctx is done. For a batch of n it collates about
// 17·n times.
func oddOnes[T, U any](ctx context.Context, collate func([]T) (U, error), batch []T, err error) []int {
	var named *ItemError
	if errors.As(sound(err), &named) && named != nil && named.Item >= 0 && named.Item < len(batch) {
		return []int{named.Item}
	}
	goes := func(some []T) bool { // collate may keep what it is given
		_, err := tryCollate(collate, slices.Clone(some))
		return err == nil
	}
	without := make([]T, 0, len(batch)-1)
	for i := range batch {
		if ctx.Err() != nil {
			return nil
		}
		if without = append(append(without[:0], batch[:i]...), batch[i+1:]...); goes(without) {
			return []int{i}
		}
	}
	var best []int
	for first := range min(len(batch), maxAnchors) {
		group, outside := []T{batch[first]}, []int{}
		for i, v := range batch {
			if ctx.Err() != nil {
				return nil
			}
			if i == first {
				continue
			}
			if with := append(group, v); goes(with) {
				group = with
			} else {
				outside = append(outside, i)
			}
		}
		if (best == nil || len(outside) < len(best)) && goes(group) {
			best = outside
		}
		if best != nil && 2*len(best) < len(batch) { // no other group can be larger
			break
		}
	}
	if len(best) == len(batch)-1 {
		return nil
	}
	return best
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
	o.st.in.Add(int64(len(in.meta)))
	return in
}
