package pipeline

import (
	"context"
	"fmt"
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
	past  bool   // the epoch was finished before the stream was resumed
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

// holder is an operator that tells how many values it holds back. Those are not in flight:
// the source may go on meanwhile, or a batch could never fill up.
type holder interface{ holding() int }

// bulkOperator is an operator that takes many values at once, and does not fail. o.at
// is the first of them, and behind the last when pushAll returns.
type bulkOperator[T, U any] interface {
	pushAll(vals []T, metas []meta, o *outlet[U])
}

// retracer is an operator that holds values back and tells how many it has been given
// from the place of its snapshot on.
type retracer interface{ retraced() uint64 }

// serialStage runs an operator.
type serialStage[T, U any] struct {
	st   *stage
	op   operator[T, U]
	size func(*U) int64
	pool sync.Pool
	o    outlet[U]

	stood *mark // the last mark; outputs are counted from there on
	since int   // inputs since

	bulk     bulkOperator[T, U] // op, if it is one
	holder   holder             // likewise
	held     int                // values it held after the last chunk
	elements int                // of the budget, that come back when they leave
	bytes    int64              // likewise

	given    uint64 // values pushed
	restored *mark  // if the operator was cut behind it: until that has been done again
	toCut    uint64 // values until then

	quit  bool  // the rest of the epoch is dropped
	begun int64 // the ends of epochs before this one were passed on before the stream was resumed
	past  int64 // likewise, up to now
}

// newSerial makes a stage of an operator; the first skip outputs are left out.
func newSerial[T, U any](st *stage, op operator[T, U], skip uint32) *serialStage[T, U] {
	s := &serialStage[T, U]{st: st, op: op, size: sizeOf[U]()}
	s.holder, _ = op.(holder)
	s.bulk, _ = op.(bulkOperator[T, U])
	s.o.st, s.o.ctx, s.o.skip = st, st.run.ctx, skip
	return s
}

// feed implements [serial].
func (s *serialStage[T, U]) feed(w *worker, c carrier) carrier {
	entered := w.enter(s.st)
	if trace.IsEnabled() {
		defer trace.StartRegion(s.st.run.ctx, s.st.name).End()
	}
	in := c.(*chunk[T])
	out := newChunk[U](&s.pool)
	out.epoch = in.epoch
	o := &s.o
	o.in, o.at, o.out, o.epoch = &in.head, in.begin, out, in.epoch
	o.past = in.epoch < s.begun
	o.turn++
	if s.stood == nil || s.restored == nil && (o.next >= marksEvery || s.since >= marksEvery) {
		s.stood, s.since, o.next = s.mark(in.place(in.begin)), 0, 0
	}
	out.at = s.stood
	s.since += len(in.vals)
	err := s.push(in)
	s.st.in.Add(int64(o.at - in.begin))
	var end place
	switch {
	case err != nil:
		end = in.place(o.at)
	case in.err != nil && (s.quit || o.over) && s.st.final(in.epoch):
		// It is behind the end of the stream.
	case in.err != nil:
		err, end = in.err, in.place(len(in.vals))
	}
	switch {
	case err != nil:
		if o.skip == 0 && s.restored == nil && !s.st.run.cfg.holdOnError {
			s.st.cut = s.given + 1
			s.finish(true)
		}
		out.cutOff = true
		out.inputs = o.next + o.skip
		at := place{at: s.mark(end), skip: o.skip} // those to leave out still were delivered
		if s.restored != nil {
			at.skip += o.next
		}
		out.fail(err, at)
	case in.last:
		if err = s.finish(false); err == nil && o.skip > 0 && !s.quit && in.epoch >= s.begun {
			err = s.st.fault(KindTransform, in.epoch, meta{}, Fatal(fmt.Errorf("%w: the input of %s is shorter than when the state was taken", ErrStateMismatch, s.st.name)))
		}
		if err != nil {
			out.inputs = o.next + o.skip
			out.fail(err, place{at: s.mark(in.place(len(in.vals))), skip: o.skip})
			break
		}
		fallthrough
	default:
		out.inputs = o.next + o.skip
		out.last, out.eof = in.last && !s.quit && in.epoch >= s.begun, in.eof
		if o.over && !s.quit {
			s.quit = true
			out.last, out.eof = true, in.eof || s.st.final(in.epoch)
			s.st.quit(in.epoch)
		}
	}
	if out.cutOff = out.cutOff || in.cutOff; out.cutOff {
		s.stood = s.stood.recut()
		out.at = s.stood
	}
	if out.last {
		s.past = in.epoch + 1
	}
	if in.last {
		s.quit = false
		if s.restored == nil {
			s.stood = nil
		}
	}
	o.over = false
	s.account(in, out)
	s.st.out.Add(int64(len(out.vals)))
	s.st.bytes.Add(out.sizeOrZero(s.size))
	in.recycle()
	w.leave(s.st, entered) // not deferred: who ends the goroutine is still inside
	return out
}

// account gives back what the values that stay hold of the budget, and takes it again, over
// the bound if need be, for those that leave.
func (s *serialStage[T, U]) account(in *chunk[T], out *chunk[U]) {
	elements, bytes := s.elements+in.elements, s.bytes+in.bytes // that leave
	s.elements, s.bytes = 0, 0
	if s.holder != nil {
		values := s.held + len(in.vals)
		if s.held = s.holder.holding(); s.held > 0 {
			share := min(1, float64(s.held)/float64(max(values, 1)))
			s.elements, s.bytes = int(float64(elements)*share), int64(float64(bytes)*share)
			elements -= s.elements
			bytes -= s.bytes
		}
	}
	if len(out.vals) == 0 && !out.control() {
		elements, bytes = 0, 0 // what left came to nothing
	}
	out.elements, out.bytes = elements, bytes
	if elements != in.elements || bytes != in.bytes {
		s.st.run.budget.giveBack(in.elements-elements, in.bytes-bytes)
	}
	in.elements, in.bytes = 0, 0
}

// mark is where the stage stands before an input.
func (s *serialStage[T, U]) mark(in place) *mark {
	if s.restored != nil {
		return s.restored
	}
	state, up, held := s.op.snapshot()
	if !held {
		up = in
	}
	m := &mark{stage: s.st.id, state: state, up: up, st: s.st, start: s.given, begun: s.past}
	if r, ok := s.op.(retracer); held && ok {
		m.start -= r.retraced()
	} else if held {
		m.st = nil
	}
	return m
}

// resume implements [serial].
func (s *serialStage[T, U]) resume(m *mark) {
	s.begun, s.past = max(s.begun, m.begun), m.begun
	if m.cut > 0 {
		s.restored, s.toCut = m, m.cut-1
	}
}

// push pushes the values of a chunk up to the first error that ends the stream,
// or up to where no more is needed. o.at is the value that is concerned.
func (s *serialStage[T, U]) push(in *chunk[T]) error {
	o := &s.o
	for {
		if s.restored != nil && s.toCut == 0 {
			s.restored = nil
			at := o.at
			s.finish(true)
			o.at = at
		}
		if o.at >= len(in.vals) || s.quit || o.over {
			return nil
		}
		if s.bulk != nil && s.restored == nil {
			s.given += uint64(len(in.vals) - o.at)
			s.bulk.pushAll(in.vals[o.at:], in.meta[o.at:], o)
			return nil
		}
		if err := s.some(in); err != nil {
			if err := s.st.fault(KindTransform, in.epoch, in.meta[o.at], err); err != nil {
				return err
			}
			o.at++
		}
	}
}

// some pushes values up to the first error. What came of the value with the error is
// dropped.
func (s *serialStage[T, U]) some(in *chunk[T]) (err error) {
	o := &s.o
	have, next, skip := len(o.out.vals), o.next, o.skip // before the value
	defer func() {
		if err != nil {
			o.out.keep(have)
			o.next, o.skip = next, skip
		}
	}()
	defer caught(&err)
	for o.at < len(in.vals) && !o.over && (s.restored == nil || s.toCut > 0) {
		have, next, skip = len(o.out.vals), o.next, o.skip
		if err := s.op.push(in.vals[o.at], in.meta[o.at], o); err != nil {
			return err
		}
		o.at++
		s.st.passed()
		s.given++
		if s.restored != nil {
			s.toCut--
		}
	}
	return nil
}

// finish finishes the operator. Under Skip its error is reported and the stream goes on.
func (s *serialStage[T, U]) finish(cut bool) error {
	o := &s.o
	o.at = len(o.in.meta)
	err := guard(func() error { return s.op.finish(o, cut) })
	if err == nil || cut { // if it is cut there is an error already
		return nil
	}
	var m meta
	if n := len(o.in.meta); n > 0 {
		m = o.in.meta[n-1]
	}
	return s.st.fault(KindTransform, o.epoch, m, err)
}
