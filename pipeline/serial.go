package pipeline

import (
	"context"
	"runtime/trace"
	"sync"
)

// operator is what a stage that runs in order does.
type operator[T, U any] interface {
	// push takes the next value. After an error the value counts as not pushed.
	push(v T, m meta, o *outlet[U]) error
	// finish gives out what is held back: the epoch ends, or the stream because of an
	// error (cut). What comes then is a new epoch, or follows without a gap.
	finish(o *outlet[U], cut bool) error
	// snapshot tells what the operator remembers. If that depends on inputs it has been given,
	// up is the place of the first of them, and held is true: a restored operator is given
	// its input again from there on.
	snapshot() (state any, up place, held bool)
}

// outlet takes what an operator gives out.
type outlet[U any] struct {
	st    *stage
	ctx   context.Context
	epoch int64
	in    *head  // the input
	turn  uint64 // counts the inputs
	at    int    // index of the value being pushed
	out   *chunk[U]
	next  uint32 // number of the next output, as meta.from
	skip  uint32 // outputs to leave out: they were delivered before the stream was resumed
	over  bool   // nothing more of the epoch is needed
}

// emit gives out a value; m says what it came from.
func (o *outlet[U]) emit(v U, m meta) {
	m.from = o.next
	o.next++
	if o.skip > 0 {
		o.skip--
		return
	}
	o.out.append(v, m)
}

// here is the place of the value being pushed.
func (o *outlet[U]) here() place { return o.in.place(o.at) }

// marksEvery is how many elements a mark serves at least: where chunks are small, marks
// would else be what is allocated most. A resumed stage does as many again.
const marksEvery = 16

// serialStage runs an operator.
type serialStage[T, U any] struct {
	st   *stage
	op   operator[T, U]
	pool sync.Pool
	o    outlet[U]

	stood *mark // the last mark; outputs are counted from there on
	since int   // inputs since

	quit bool // the rest of the epoch is dropped
}

// newSerial makes a stage of an operator; the first skip outputs are left out.
func newSerial[T, U any](st *stage, op operator[T, U], skip uint32) *serialStage[T, U] {
	s := &serialStage[T, U]{st: st, op: op}
	s.o.st, s.o.ctx, s.o.skip = st, st.run.ctx, skip
	return s
}

// feed implements [serial].
func (s *serialStage[T, U]) feed(w *worker, c carrier) carrier {
	entered := w.enter(s.st)
	defer w.leave(s.st, entered)
	if trace.IsEnabled() {
		defer trace.StartRegion(s.st.run.ctx, s.st.name).End()
	}
	in := c.(*chunk[T])
	out := newChunk[U](&s.pool)
	out.epoch = in.epoch
	o := &s.o
	o.in, o.at, o.out, o.epoch = &in.head, in.begin, out, in.epoch
	o.turn++
	if s.stood == nil || o.next >= marksEvery || s.since >= marksEvery {
		s.stood, s.since, o.next = s.mark(in.place(in.begin)), 0, 0
	}
	out.at = s.stood
	s.since += len(in.vals)
	s.st.in.Add(int64(len(in.vals) - in.begin))
	err := s.push(in)
	var end place
	switch {
	case err != nil:
		end = in.place(o.at)
	case in.err != nil:
		err, end = in.err, in.place(len(in.vals))
	}
	switch {
	case err != nil:
		s.finish(true)
		out.inputs = o.next + o.skip
		out.fail(err, place{at: s.mark(end)})
	case in.last:
		if err = s.finish(false); err != nil {
			out.inputs = o.next + o.skip
			out.fail(err, place{at: s.mark(in.place(len(in.vals)))})
			break
		}
		fallthrough
	default:
		out.inputs = o.next + o.skip
		out.last, out.eof = in.last && !s.quit, in.eof
		if o.over && !s.quit {
			s.quit = true
			out.last, out.eof = true, in.eof || s.st.final(in.epoch)
			s.st.quit(in.epoch)
		}
	}
	if in.last {
		s.quit, s.stood = false, nil
	}
	o.over = false
	if len(out.vals) > 0 || out.control() {
		out.elements, out.bytes = in.elements, in.bytes
	} else {
		s.st.run.budget.give(&in.head)
	}
	s.st.out.Add(int64(len(out.vals)))
	in.recycle()
	return out
}

// mark is where the stage stands before an input.
func (s *serialStage[T, U]) mark(in place) *mark {
	state, up, held := s.op.snapshot()
	if !held {
		up = in
	}
	return &mark{s.st.id, state, up}
}

// push pushes the values of a chunk up to the first error that ends the stream,
// or up to where no more is needed. o.at is the value that is concerned.
func (s *serialStage[T, U]) push(in *chunk[T]) error {
	o := &s.o
	for o.at < len(in.vals) && !s.quit && !o.over {
		if err := s.some(in); err != nil {
			if err := s.st.fault(KindTransform, in.epoch, in.meta[o.at], err); err != nil {
				return err
			}
			o.at++
		}
	}
	return nil
}

// some pushes values up to the first error.
func (s *serialStage[T, U]) some(in *chunk[T]) (err error) {
	o := &s.o
	defer caught(&err)
	for o.at < len(in.vals) && !o.over {
		if err := s.op.push(in.vals[o.at], in.meta[o.at], o); err != nil {
			return err
		}
		o.at++
		s.st.passed()
	}
	return nil
}

// finish finishes the operator. Under Skip its error is reported and the stream goes on.
func (s *serialStage[T, U]) finish(cut bool) error {
	o := &s.o
	o.at = len(o.in.meta)
	err := guard(o.ctx, func(context.Context) error { return s.op.finish(o, cut) })
	if err == nil {
		return nil
	}
	var m meta
	if n := len(o.in.meta); n > 0 {
		m = o.in.meta[n-1]
	}
	return s.st.fault(KindTransform, o.epoch, m, err)
}
