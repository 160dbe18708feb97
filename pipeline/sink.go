package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
)

// push lets an asynchronous source push the elements of an epoch. It returns
// io.EOF at its end.
func (f *feeder[T]) push(ctx context.Context) error {
	s := &sink[T]{feeder: f, done: ctx.Done(), behind: f.at.Count + uint64(f.skip)}
	s.mu = make(chan struct{}, 1)
	err := s.run(ctx)
	switch {
	case s.err != nil:
		return s.err
	case err != nil:
		return sound(err)
	case ctx.Err() != nil:
		return ctx.Err()
	case s.behind > 0:
		return fmt.Errorf("%w: %s is shorter than when the state was taken, elements that are missing: %d", ErrStateMismatch, f.st.name, s.behind)
	}
	return io.EOF
}

// run runs the source.
func (s *sink[T]) run(ctx context.Context) error {
	s.ask()
	defer func() {
		s.mu <- struct{}{} // no Push is under way
		s.closed = true
		<-s.mu
		s.asked.Store(0)
	}()
	return guard(func() error {
		return s.async.Run(ctx, Start{Epoch: s.epoch, Seed: s.st.run.cfg.seed}, s)
	})
}

// sink implements [Sink].
type sink[T any] struct {
	*feeder[T]
	done   <-chan struct{} // closed when the epoch is over, or cancelled
	mu     chan struct{}   // a mutex that can be waited for until a context is done
	behind uint64          // elements to drop: they were delivered before the stream was resumed
	err    error           // ends the stream
	closed bool
}

func (s *sink[T]) lock(ctx context.Context) error {
	select {
	case s.mu <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return context.Canceled
	}
	var err error
	select {
	case <-s.done:
		err = context.Canceled
	default:
	}
	switch {
	case s.err != nil:
		err = s.err
	case s.closed:
		err = ErrClosed
	}
	if err != nil {
		<-s.mu
		return err
	}
	s.asked.Store(0)
	return nil
}

// unlock lets the next one in.
func (s *sink[T]) unlock() {
	s.ask()
	<-s.mu
}

// end ends the stream, though Run may not return.
func (s *sink[T]) end(err error) error {
	s.err = err
	s.fail(KindSource, err)
	s.cancelUpTo(math.MaxInt64)
	return err
}

// Push implements [Sink].
func (s *sink[T]) Push(ctx context.Context, v T) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	s.st.passed()
	if s.behind > 0 {
		s.behind--
		return nil
	}
	if err := s.room(ctx); err != nil {
		return err
	}
	var bytes int64
	if s.bounded {
		var err error
		if bytes, err = s.measure(v); err != nil {
			return s.end(err)
		}
	}
	s.came[0] = v
	if !s.add(ctx, s.came[:1], bytes, meta{origin: s.count}) {
		return cmp.Or(ctx.Err(), ErrClosed)
	}
	return nil
}

// Fail implements [Sink].
func (s *sink[T]) Fail(ctx context.Context, err error) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	if err = sound(err); isFatal(ctx, err) {
		return s.end(err)
	}
	if s.behind > 0 { // it was reported before the state was taken
		if n := s.st.inRow.Add(1); n >= int64(s.st.run.cfg.maxErrorsInRow) {
			return s.end(fmt.Errorf("%w: %d at %s; the last: %w", ErrTooManyErrors, n, s.st.name, err))
		}
		return nil
	}
	if err := s.st.fault(KindSource, s.epoch, meta{origin: s.count}, err); err != nil {
		return s.end(err)
	}
	return nil
}
