package pipeline

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Iterator is a running pipeline, seen by its consumer. Its methods may be called
// by several goroutines; each element goes to one of them.
//
// An iterator has goroutines until its stream has ended or Close is called. One
// that becomes unreachable is closed.
type Iterator[T any] struct {
	run    *run
	config stateConfig

	queue   *queue
	waiting chan struct{} // full while one waits for a chunk; before mu
	mu      sync.Mutex    // of what follows
	cur     *chunk[T]     // nil before the first chunk and after the last
	at      int           // next value of cur
	pos     place         // behind what was delivered, if cur is nil
	ended   bool          // the consumer has seen the end of the epoch that pos is at the end of
	err     error         // what Next returns from now on

	delivered atomic.Int64
	epoch     atomic.Int64 // of the last value delivered, or of the next if an epoch has ended
	reachable runtime.Cleanup
}

func start[T any](ctx context.Context, p plan, s *state) (*Iterator[T], error) {
	p, err := p.validate()
	if err != nil {
		return nil, err
	}
	it := &Iterator[T]{config: p.stateConfig(), waiting: make(chan struct{}, 1)}
	if s != nil {
		if diff := s.Config.differences(it.config); len(diff) > 0 {
			return nil, fmt.Errorf("%w: %s", ErrStateMismatch, strings.Join(diff, "; "))
		}
		if p.cfg.unordered {
			return nil, ErrUnordered
		}
		it.pos = s.Place.decode()
		it.ended = s.Ended
		it.delivered.Store(s.Delivered)
		it.epoch.Store(s.Epoch)
	}
	if it.run, err = p.start(ctx, it.pos); err != nil {
		return nil, err
	}
	it.queue = it.run.queues[len(it.run.queues)-1]
	it.reachable = runtime.AddCleanup(it, func(r *run) {
		r.unhook()
		r.abandon(ErrClosed)
	}, it.run)
	return it, nil
}

// Next returns the next element. After the last it returns io.EOF; a stream that
// failed, or whose context ended, returns that error instead, after everything before it.
// No such error is io.EOF: one that wraps it wraps io.ErrUnexpectedEOF here.
// When ctx is done Next returns its cause and nothing is lost; likewise [ErrStalled]: it may
// be called again. The pipeline keeps no element that it has returned, except in a
// [Pipeline.Cache]. Functions of the pipeline must not call Next or Close.
func (it *Iterator[T]) Next(ctx context.Context) (T, error) {
	for {
		v, boundary, err := it.step(ctx)
		if !boundary || err != nil {
			return v, err
		}
	}
}

// step returns the next element, or tells that an epoch has ended.
func (it *Iterator[T]) step(ctx context.Context) (v T, boundary bool, err error) {
	it.mu.Lock()
	for {
		v, boundary, ok, err := it.ready(ctx)
		it.mu.Unlock()
		if ok {
			return v, boundary, err
		}
		if err := it.fetch(ctx); err != nil {
			return v, false, err
		}
		it.mu.Lock()
	}
}

// ready is step without waiting; ok tells whether there is something. mu is held.
func (it *Iterator[T]) ready(ctx context.Context) (v T, boundary, ok bool, err error) {
	for {
		if it.err != nil {
			return v, false, true, it.err
		}
		if ctx.Err() != nil {
			return v, false, true, sound(context.Cause(ctx))
		}
		c := it.cur
		switch {
		case it.queue.ended.Load():
			it.over(nil)
		case c == nil:
			return v, false, false, nil
		case it.at < len(c.vals):
			var none T
			v, c.vals[it.at] = c.vals[it.at], none
			it.at++
			it.delivered.Add(1)
			it.ended = false
			it.epoch.Store(c.epoch)
			if it.at == len(c.vals) {
				it.run.budget.give(&c.head)
			}
			return v, false, true, nil
		case it.pass():
			return v, true, true, nil
		}
	}
}

// pass leaves a chunk whose values were delivered. It tells whether an epoch ended
// behind them.
func (it *Iterator[T]) pass() bool {
	c := it.cur
	it.pos = c.place(len(c.vals))
	// A resumed stream may come from before an end that the consumer has seen.
	boundary := c.last && c.epoch >= it.epoch.Load()
	if boundary {
		it.ended = true
		it.epoch.Store(c.epoch + 1)
	}
	switch {
	case c.err != nil:
		it.over(c.err)
	case c.eof:
		it.over(io.EOF)
	}
	it.run.budget.give(&c.head)
	it.cur = nil
	c.recycle()
	return boundary
}

// over ends the stream. Without a reason it is that for which it was abandoned.
func (it *Iterator[T]) over(reason error) {
	if reason == nil {
		if reason = it.run.whyAbandoned(); reason == nil {
			reason = ErrClosed
		}
	}
	it.err = reason
	it.run.unhook()
	it.settle()
	it.queue.endBefore()
}

// settle keeps the place behind what was delivered, and lets go of the chunk.
func (it *Iterator[T]) settle() {
	if it.cur != nil {
		it.pos = it.cur.place(it.at)
		it.cur = nil
	}
}

// fetch waits for a chunk, unless another goroutine has done so meanwhile.
func (it *Iterator[T]) fetch(ctx context.Context) error {
	select {
	case it.waiting <- struct{}{}:
	case <-ctx.Done():
		return sound(context.Cause(ctx))
	}
	defer func() { <-it.waiting }()
	it.mu.Lock()
	there := it.cur != nil || it.err != nil
	it.mu.Unlock()
	if there {
		return nil
	}
	var alarm <-chan time.Time
	stall := it.run.cfg.stallTimeout
	if stall > 0 {
		t := time.NewTimer(stall)
		defer t.Stop()
		alarm = t.C
	}
	c := it.queue.take(ctx.Done(), alarm)
	it.mu.Lock()
	defer it.mu.Unlock()
	switch {
	case c != nil:
		it.cur = c.(*chunk[T])
		it.at = it.cur.begin
	case it.queue.ended.Load():
		it.over(nil)
	case ctx.Err() != nil:
		return sound(context.Cause(ctx))
	default:
		return fmt.Errorf("%w: nothing has come for %v; functions being called: %s", ErrStalled, stall, it.run.inside())
	}
	return nil
}

// All goes through the elements. An error comes last, with the zero element; the
// end is no error. Leaving the loop closes the iterator, and so does any error, also that
// of ctx and [ErrStalled]: use Next to go on after those.
func (it *Iterator[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer it.Close()
		for {
			v, err := it.Next(ctx)
			if err == io.EOF {
				return
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Epochs goes through the epochs: their numbers and their elements, which need not be
// gone through to the end. An error comes as an element, last. Leaving the outer loop closes the
// iterator.
func (it *Iterator[T]) Epochs(ctx context.Context) iter.Seq2[int64, iter.Seq2[T, error]] {
	return func(yield func(int64, iter.Seq2[T, error]) bool) {
		defer it.Close()
		for {
			epoch := it.Epoch()
			ended, failed := false, false // the epoch, the stream
			one := func(yield func(T, error) bool) {
				for !ended && !failed {
					v, boundary, err := it.step(ctx)
					switch {
					case err == io.EOF:
						failed = true
					case err != nil:
						failed = true
						yield(v, err)
					case boundary:
						ended = true
					case !yield(v, nil):
						return
					}
				}
			}
			if last := it.run.cfg.epochs; last > 0 && epoch >= last { // what is left is the end
				for range one {
				}
			}
			if it.Done() {
				return
			}
			if !yield(epoch, one) {
				return
			}
			for v, err := range one { // the rest
				if err != nil {
					yield(epoch, func(yield func(T, error) bool) { yield(v, err) })
				}
			}
			if failed {
				return
			}
		}
	}
}

// Done reports whether the stream has ended, so that Next returns an error.
func (it *Iterator[T]) Done() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.err != nil
}

// Epoch returns the epoch of the element that Next returned last, from 0; once the
// end of an epoch has been seen, the next.
func (it *Iterator[T]) Epoch() int64 { return it.epoch.Load() }

// State returns what the consumer has received, as JSON of a few hundred bytes, for
// [Pipeline.Resume]: positions, counts and the seed, no elements. It may be called between any two
// elements and after the end, also when that was an error.
func (it *Iterator[T]) State() ([]byte, error) {
	s, err := it.state()
	if err != nil {
		return nil, err
	}
	return s.encode()
}

// ReportState is [Iterator.State] and [ReadState] of it, without the time to read it.
func (it *Iterator[T]) ReportState() ([]byte, StateReport, error) {
	s, err := it.state()
	if err != nil {
		return nil, StateReport{}, err
	}
	raw, err := s.encode()
	return raw, s.report(), err
}

func (it *Iterator[T]) state() (*state, error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.run.cfg.unordered {
		return nil, ErrUnordered
	}
	pos := it.pos
	if it.cur != nil {
		pos = it.cur.place(it.at)
	}
	encoded, err := pos.encode()
	if err != nil {
		return nil, err
	}
	return &state{
		Version: stateVersion, Config: it.config, Delivered: it.delivered.Load(),
		Ended: it.ended, Epoch: it.epoch.Load(), Place: encoded,
	}, nil
}

// Stop ends the stream early and cleanly: nothing more is read from the source, what
// is on its way is still delivered, then Next returns io.EOF. What stages hold back, like
// a shuffle buffer, is not delivered: it belongs to the rest that State resumes.
func (it *Iterator[T]) Stop() {
	for _, q := range it.run.quitters {
		if q != nil {
			q.stop()
		}
	}
}

// Close ends the stream now: Next returns [ErrClosed], unless the stream has ended before.
// It waits until no goroutine is left, or until functions of the user have not returned
// for [Pipeline.CloseTimeout]: then it returns [ErrStuck] and says which. It may be
// called again, to wait again.
func (it *Iterator[T]) Close() error {
	it.run.unhook()
	it.run.abandon(ErrClosed)
	it.reachable.Stop()
	timeout := time.NewTimer(it.run.cfg.closeTimeout)
	defer timeout.Stop()
	select {
	case <-it.run.finished:
		return nil
	default:
	}
	select {
	case <-it.run.finished:
		return nil
	case <-timeout.C:
	}
	return fmt.Errorf("%w: after %v these are still being called: %s", ErrStuck, it.run.cfg.closeTimeout, it.run.inside())
}
