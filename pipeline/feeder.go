package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// feedMark is where the source stands.
type feedMark struct {
	Epoch    int64  `json:"epoch"`
	Position any    `json:"position,omitempty"` // of the cursor, if it tells
	Count    uint64 `json:"count"`              // elements of the epoch before it
}

// feedMarkJSON is a feedMark that was read.
type feedMarkJSON struct {
	Epoch    int64           `json:"epoch"`
	Position json.RawMessage `json:"position"`
	Count    uint64          `json:"count"`
}

// feeder makes chunks of what a source gives.
//
// The source runs in one goroutine. Another, the flusher, hands a chunk on that has
// waited for more elements for too long. Both hold mu when they touch a chunk.
type feeder[T any] struct {
	st      *stage
	worker  *worker
	out     *station
	src     Source[T]
	async   AsyncSource[T]
	size    func(*T) int64
	one     T    // being measured
	bounded bool // the bytes in flight are bounded, so each element is measured when it comes
	pool    sync.Pool

	epoch  int64
	at     feedMarkJSON // where to begin
	skip   uint32       // elements to read and drop then
	count  uint64       // elements of the epoch so far
	cursor Cursor[T]
	seek   Positioner    // cursor, if it tells positions
	places placed        // likewise, of elements
	bulk   BulkCursor[T] // cursor, if it gives many at once
	came   []T           // elements that it has just given

	mu       sync.Mutex
	cur      *chunk[T] // being filled
	mark     *mark     // of cur
	inputs   uint32    // elements since mark
	reserved int       // elements that the budget has been asked for and that have not come
	bytes    int64     // of cur
	since    time.Time // when the first element of cur was asked for
	begun    bool      // mark is of this epoch
	ended    bool      // nothing is handed on any more

	stopping  atomic.Bool  // the stream ends behind what has been read
	quitting  atomic.Int64 // no more of the epochs up to this one is needed
	cancelMu  sync.Mutex
	cancel    context.CancelFunc // of an epoch
	cancels   int64              // that epoch
	done      <-chan struct{}    // closed when the epoch is cancelled
	asked     atomic.Int64       // when Next was called, 0 when it has returned
	armed     chan struct{}      // tells the flusher of a chunk
	flushers  sync.WaitGroup
	leftAlone chan struct{} // closed: the flusher and the watch end
}

func newFeeder[T any](st *stage, out *station, src Source[T], async AsyncSource[T], size func(*T) int64, restored *mark, skip uint32) (*feeder[T], error) {
	f := &feeder[T]{
		st: st, worker: st.run.newWorker(st.name), out: out, src: src, async: async, size: size, skip: skip,
		bounded: st.run.cfg.prefetchBytes > 0, came: make([]T, 1), armed: make(chan struct{}, 1), leftAlone: make(chan struct{}),
	}
	out.source = f.worker
	f.quitting.Store(-1)
	if err := restored.restore(&f.at); err != nil {
		return nil, fmt.Errorf("%w: the place of the source: %w", ErrState, err)
	}
	f.at.Position = told(f.at.Position)
	if f.at.Epoch < 0 {
		return nil, fmt.Errorf("%w: the place of the source: epoch %d", ErrState, f.at.Epoch)
	}
	f.epoch, f.count = f.at.Epoch, f.at.Count+uint64(f.skip)
	return f, nil
}

// told is a position, nil if it tells nothing.
func told(position json.RawMessage) json.RawMessage {
	if string(position) == "null" {
		return nil
	}
	return position
}

// run goes through the epochs.
func (f *feeder[T]) run() {
	f.flushers.Go(func() { f.st.run.oversee(f.flusher, f.out.worker) })
	if f.st.run.cfg.sourceTimeout > 0 {
		f.flushers.Go(func() { f.st.run.oversee(f.watch, f.out.worker, f.worker) })
	}
	defer func() {
		close(f.leftAlone)
		f.flushers.Wait()
		f.st.run.budget.giveBack(f.reserved, 0)
	}()
	if f.st.epochs > 0 && f.epoch >= f.st.epochs {
		f.finish(false, true) // the state is that of the end
		return
	}
	for {
		if !f.oneEpoch() {
			return
		}
		f.mu.Lock()
		f.epoch++
		f.count, f.begun = 0, false
		f.skip, f.at = 0, feedMarkJSON{Epoch: f.epoch}
		f.mu.Unlock()
	}
}

// oneEpoch goes through an epoch; false tells that the stream has ended.
func (f *feeder[T]) oneEpoch() bool {
	ctx, cancel := context.WithCancel(f.st.run.sourceCtx)
	defer cancel()
	f.done = ctx.Done()
	f.cancelMu.Lock()
	f.cancel, f.cancels = cancel, f.epoch
	f.cancelMu.Unlock()
	if f.stopping.Load() || f.st.run.sourceCtx.Err() != nil {
		return f.finish(false, true)
	}
	var err error
	if f.over() {
		err = io.EOF
	} else {
		f.worker.enter(f.st)
		region := trace.StartRegion(f.st.run.ctx, f.st.name)
		if f.async != nil {
			err = f.push(ctx)
		} else {
			err = f.pull(ctx)
		}
		region.End()
		f.worker.at.Store(nil)
	}
	switch {
	case err == io.EOF, f.over():
		if f.count == 0 && f.st.epochs == 0 && !f.over() {
			f.fail(KindSource, fmt.Errorf("%w: it would be gone through for ever", ErrEmptySource))
			return false
		}
		return f.finish(true, f.st.final(f.epoch))
	case f.stopping.Load(), f.st.run.sourceCtx.Err() != nil:
		return f.finish(false, true)
	}
	f.fail(KindSource, err)
	return false
}

// over reports whether no more of the epoch is needed.
func (f *feeder[T]) over() bool { return f.quitting.Load() >= f.epoch }

// pull asks a cursor for the elements of an epoch. It returns io.EOF at its end.
func (f *feeder[T]) pull(ctx context.Context) (err error) {
	start := Start{Epoch: f.epoch, Seed: f.st.run.cfg.seed, Position: f.at.Position}
	f.ask()
	err = guard(func() (err error) {
		f.cursor, err = f.src.Open(ctx, start)
		return err
	})
	f.asked.Store(0)
	if err != nil {
		return fmt.Errorf("opening it: %w", sound(err))
	}
	defer func() {
		// What Close says of an epoch that was read to its end matters.
		closing := guard(func() error { return f.cursor.Close() }) // the cursor may be nil
		if closing != nil && err == io.EOF {
			err = sound(closing)
		}
	}()
	f.seek, _ = f.cursor.(Positioner)
	f.places, _ = f.cursor.(placed)
	if f.bulk = nil; !f.bounded {
		if f.bulk, _ = f.cursor.(BulkCursor[T]); f.bulk != nil && len(f.came) == 1 {
			f.came = make([]T, min(f.st.run.chunkSize, maxBulk))
		}
	}
	behind := uint64(f.skip)
	if start.Position == nil {
		behind += f.at.Count
	}
	for behind > 0 {
		if _, err := f.next(ctx); err == nil {
			behind--
		} else if err == io.EOF {
			return fmt.Errorf("%w: %s is shorter than when the state was taken, elements that are missing: %d", ErrStateMismatch, f.st.name, behind)
		} else if err = sound(err); isFatal(ctx, err) || errors.Is(err, ErrPanic) {
			return err
		} else if f.st.inRow.Add(1) >= int64(f.st.run.cfg.maxErrorsInRow) {
			return fmt.Errorf("%w: at %s; the last: %w", ErrTooManyErrors, f.st.name, err)
		} else {
			continue
		}
		f.st.passed()
	}
	for {
		if err := f.room(ctx); err != nil {
			return err
		}
		n, err := f.take(ctx)
		var bytes int64
		if err == nil && f.bounded {
			bytes, err = f.measure(f.came[0])
		}
		if err != nil && err != io.EOF {
			err = sound(err)
		}
		if err != nil {
			if err == io.EOF || isFatal(ctx, err) || errors.Is(err, ErrPanic) {
				return err
			}
			at := f.count
			if f.places != nil {
				at = f.places.upcoming()
			}
			if err := f.st.fault(KindSource, f.epoch, meta{origin: at}, err); err != nil {
				return err
			}
			continue
		}
		f.st.passed()
		m := meta{origin: f.count}
		if f.places != nil {
			var padded bool
			if m.origin, padded = f.places.ordinal(); padded {
				m.sub = padding
				f.st.padded.Add(1)
			}
		}
		if !f.add(ctx, f.came[:n], bytes, m) {
			return context.Canceled
		}
	}
}

// next asks the cursor for an element.
func (f *feeder[T]) next(ctx context.Context) (v T, err error) {
	defer caught(&err)
	f.ask()
	defer f.asked.Store(0)
	return f.cursor.Next(ctx)
}

// maxBulk is the most elements that are asked for at once.
const maxBulk = 1024

// take asks the cursor for elements, and leaves them in f.came.
func (f *feeder[T]) take(ctx context.Context) (n int, err error) {
	defer caught(&err)
	f.ask()
	defer f.asked.Store(0)
	if f.bulk == nil {
		f.came[0], err = f.cursor.Next(ctx)
		return 1, err
	}
	most := min(f.reserved, len(f.came))
	n, err = f.bulk.NextBulk(ctx, f.came[:most])
	if err == nil && (n < 1 || n > most) {
		err = Fatal(fmt.Errorf("NextBulk returned %d elements of %d", n, most))
	}
	return n, err
}

// ask begins the time of an element, if it is limited.
func (f *feeder[T]) ask() {
	if f.st.run.cfg.sourceTimeout > 0 {
		f.asked.Store(time.Now().UnixNano())
	}
}

// measure is the size of an element.
func (f *feeder[T]) measure(v T) (n int64, err error) {
	defer caught(&err)
	f.one = v
	return max(f.size(&f.one), 0), nil
}

// room makes sure that there is a place for an element, and notes where the source
// stands before the first one of a chunk.
func (f *feeder[T]) room(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // the source may not look at it
		return err
	}
	if f.reserved > 0 && f.begun {
		return nil
	}
	again := f.begun && f.inputs < marksEvery
	if f.reserved == 0 {
		f.worker.at.Store(nil)
		f.reserved = f.st.run.budget.takeElements(f.st.run.chunkSize, f.st, ctx.Done(), f.done)
		f.worker.enter(f.st)
		if f.reserved == 0 {
			return cmp.Or(ctx.Err(), context.Canceled)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !again {
		if err := guard(func() error { f.begin(); return nil }); err != nil {
			return err
		}
	}
	f.since = time.Now()
	return nil
}

// begin notes where the source stands.
func (f *feeder[T]) begin() {
	m := feedMark{Epoch: f.epoch, Count: f.count}
	if f.seek != nil {
		m.Position = f.seek.Position()
	}
	f.mark, f.inputs, f.begun = &mark{stage: f.st.id, state: m}, 0, true
}

// add puts elements into the chunk, no more than are reserved, and hands that on if it is
// full; m is of the first. It returns false when nothing is wanted any more.
func (f *feeder[T]) add(ctx context.Context, vals []T, bytes int64, m meta) bool {
	if bytes > 0 {
		b := f.st.run.budget
		if !b.tryBytes(bytes) {
			f.worker.at.Store(nil)
			ok := f.flushNow() && b.takeBytes(bytes, f.st, ctx.Done(), f.done)
			f.worker.enter(f.st)
			if !ok {
				return false
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	first := f.cur == nil
	if first {
		f.cur = newChunk[T](&f.pool)
		f.cur.epoch, f.cur.at = f.epoch, f.mark
	}
	for _, v := range vals {
		m.from = f.inputs
		f.inputs++
		f.cur.append(v, m)
		m.origin++
	}
	clear(vals)
	f.count += uint64(len(vals))
	f.reserved -= len(vals)
	f.bytes += bytes
	switch {
	case f.reserved == 0:
		return f.flush()
	case !first:
	case time.Since(f.since) >= f.st.run.cfg.flushAfter:
		return f.flush() // a slow source: the element has waited long enough
	default:
		select {
		case f.armed <- struct{}{}:
		default:
		}
	}
	return true
}

// flushNow hands the chunk on.
func (f *feeder[T]) flushNow() bool {
	f.mu.Lock()
	defer f.mu.Unlock() // also if a stage in order ends the goroutine
	return f.flush()
}

// flush hands the chunk on; mu is held.
func (f *feeder[T]) flush() bool {
	if f.cur == nil {
		return !f.ended
	}
	return f.hand(f.cur)
}

// hand hands a chunk on; mu is held.
func (f *feeder[T]) hand(c *chunk[T]) bool {
	if c == f.cur {
		f.cur = nil
		c.elements, c.bytes = len(c.vals), f.bytes
		f.bytes = 0
		now := time.Now()
		f.st.busy.Add(int64(now.Sub(f.since)))
		f.since = now
	}
	c.inputs = f.inputs
	bytes := c.bytes
	if !f.bounded {
		var at int
		var err error
		if bytes, at, err = c.size(f.size); err != nil {
			m := c.meta[at]
			fault := &StageError{Stage: f.st.name, Kind: KindPanic, Epoch: f.epoch, Index: m.origin, Err: err}
			f.st.errors[KindPanic].Add(1)
			c.keep(at)
			c.fail(fault, place{f.mark, m.from, 0})
		}
	}
	f.st.bytes.Add(bytes)
	f.st.out.Add(int64(len(c.vals)))
	if f.ended || !f.out.pass(c) {
		f.ended = true
	}
	return !f.ended
}

// closing is the chunk that ends an epoch or the stream; mu is held.
func (f *feeder[T]) closing() *chunk[T] {
	if f.cur != nil {
		return f.cur
	}
	c := newChunk[T](&f.pool)
	if !f.begun {
		m := feedMark{Epoch: f.epoch, Count: f.count}
		f.inputs = 0
		if f.at.Position != nil { // the stream was resumed, and nothing has been read since
			m.Position, m.Count, f.inputs = f.at.Position, f.at.Count, f.skip
		}
		f.mark = &mark{stage: f.st.id, state: m}
	}
	c.epoch, c.at = f.epoch, f.mark
	return c
}

// finish ends the epoch (last) or the stream (eof). It returns whether there is more
// to come.
func (f *feeder[T]) finish(last, eof bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.closing()
	c.last, c.eof = last, eof
	f.hand(c)
	f.seek, f.places = nil, nil
	return !eof && !f.ended
}

// fail ends the stream with an error.
func (f *feeder[T]) fail(kind ErrorKind, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	if _, ok := err.(reported); !ok {
		err = sound(err)
		fault := &StageError{Stage: f.st.name, Kind: kindOf(err, kind), Epoch: f.epoch, Index: f.count, Err: err}
		f.st.errors[fault.Kind].Add(1)
		err = fault
	}
	c := f.closing()
	c.fail(err, place{f.mark, f.inputs, 0})
	f.hand(c)
	f.ended = true
}

// flusher hands on chunks that wait too long.
func (f *feeder[T]) flusher() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-f.armed:
		case <-f.leftAlone:
			return
		}
		for {
			f.mu.Lock()
			if f.cur == nil {
				f.mu.Unlock()
				break
			}
			wait := f.st.run.cfg.flushAfter - time.Since(f.since)
			f.mu.Unlock()
			if wait <= 0 {
				f.flushNow()
				break
			}
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-f.leftAlone:
				return
			}
		}
	}
}

// watch ends the stream when the source takes too long.
func (f *feeder[T]) watch() {
	limit := f.st.run.cfg.sourceTimeout
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-f.leftAlone:
			return
		}
		wait := limit
		if asked := f.asked.Load(); asked != 0 {
			wait -= time.Since(time.Unix(0, asked))
		}
		if wait <= 0 {
			f.fail(KindSource, fmt.Errorf("%w: more than %v for one element", ErrSourceTimeout, limit))
			f.cancelUpTo(math.MaxInt64)
			return
		}
		timer.Reset(wait)
	}
}

// cancelUpTo cancels the epoch being read if it is not after that one.
func (f *feeder[T]) cancelUpTo(epoch int64) {
	f.cancelMu.Lock()
	defer f.cancelMu.Unlock()
	if f.cancel != nil && f.cancels <= epoch {
		f.cancel()
	}
}

// quit implements [feed].
func (f *feeder[T]) quit(epoch int64) {
	f.cancelMu.Lock()
	f.quitting.Store(max(epoch, f.quitting.Load()))
	f.cancelMu.Unlock()
	f.cancelUpTo(epoch)
}

// stop implements [feed].
func (f *feeder[T]) stop() {
	f.stopping.Store(true)
	f.cancelUpTo(math.MaxInt64)
}
