package ordered

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
)

// ErrPanic is returned when a method of [Work] panicked; the error holds the
// value and the stack.
var ErrPanic = errors.New("ordered: panic in a worker")

// Work is what the loop does to items. Next, Resolve and Write are each called
// by one goroutine, in the order of the stream; Scan and Emit by any worker, on
// different items at once. An item is in one call at a time.
//
// An error from any of them ends the stream before the item it belongs to, or
// after it if it was marked by [Last].
type Work[T any] interface {
	// Next returns the next item, or io.EOF at the end. It must return soon
	// after ctx is done.
	Next(ctx context.Context) (T, error)
	// Scan does what depends on the item alone.
	Scan(T) error
	// Resolve does what depends on the items before.
	Resolve(T) error
	// Emit does the rest that depends on the item alone.
	Emit(T) error
	// Write hands the item on.
	Write(T) error
	// Recycle takes back an item that the loop is done with, written or not.
	// It may be called by two goroutines at once, for different items.
	Recycle(T)
}

// last marks an error that comes after its item.
type last struct{ err error }

func (l *last) Error() string { return l.err.Error() }
func (l *last) Unwrap() error { return l.err }

// Last returns err marked so that the item it is returned for still goes on and
// is the last of the stream. Last(nil) is nil.
func Last(err error) error {
	if err == nil {
		return nil
	}
	return &last{err}
}

func isLast(err error) bool {
	var mark *last
	return errors.As(err, &mark)
}

// Config sizes the loop.
type Config struct {
	Workers  int // goroutines that run Scan and Emit; less than 1 stands for 1
	Prefetch int // items in flight besides one per worker; less than 1 stands for 1
}

// Queue tells how many items were in a queue, looked at whenever one was written.
type Queue struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// Stats tells how a run went.
type Stats struct {
	Items   int64 // written
	Slots   int   // most items that may be in flight
	Scan    Queue // waiting for a worker to Scan them
	Resolve Queue // at Scan, or waiting for the items before
	Emit    Queue // waiting for a worker to Emit them
	Write   Queue // at Emit, or waiting for the items before
}

// slot carries one item round the loop. Its err ends the stream.
type slot[T any] struct {
	item    T
	held    bool // there is an item, to be recycled
	err     error
	scanned chan struct{} // gets a token when Scan is over
	emitted chan struct{} // gets a token when Emit is over
}

// goesOn reports whether the item of s is still to be worked on.
func (s *slot[T]) goesOn() bool { return s.err == nil || isLast(s.err) }

type loop[T any] struct {
	work Work[T]
	ctx  context.Context // done: Next must return

	free    chan *slot[T] // not in flight
	scan    chan *slot[T] // for any worker
	resolve chan *slot[T] // for the resolver, in order
	emit    chan *slot[T] // for any worker
	write   chan *slot[T] // for the writer, in order

	full   chan struct{} // closed once the last item is known: no more is read or scanned
	failed chan struct{} // closed once the last item is written: nothing else matters
	fill   func()        // closes full and ends ctx
}

// Run drives w until Next returns io.EOF, something fails, or ctx is done. Items
// in flight before the end of the stream still go all the way. Run returns when
// all its goroutines have. The error is the first in the order of the stream, or
// the cause of the end of ctx.
func Run[T any](ctx context.Context, w Work[T], cfg Config) (Stats, error) {
	workers := max(cfg.Workers, 1)
	slots := workers + max(cfg.Prefetch, 1)
	inner, cancel := context.WithCancel(ctx)
	l := &loop[T]{
		work:    w,
		ctx:     inner,
		free:    make(chan *slot[T], slots),
		scan:    make(chan *slot[T], slots),
		resolve: make(chan *slot[T], slots),
		emit:    make(chan *slot[T], slots),
		write:   make(chan *slot[T], slots),
		full:    make(chan struct{}),
		failed:  make(chan struct{}),
	}
	l.fill = sync.OnceFunc(func() { close(l.full); cancel() })
	defer l.fill()
	for range slots {
		l.free <- &slot[T]{scanned: make(chan struct{}, 1), emitted: make(chan struct{}, 1)}
	}
	var all sync.WaitGroup
	all.Go(l.read)
	all.Go(l.resolveInOrder)
	for range workers {
		all.Go(l.serve)
	}
	stats, err := l.writeInOrder()
	all.Wait()
	return stats, err
}

// read fills slots from Next and puts each in the queue of the workers and in
// that of the resolver.
func (l *loop[T]) read() {
	defer close(l.resolve)
	defer close(l.scan)
	for {
		var s *slot[T]
		select {
		case <-l.full:
			return
		case s = <-l.free:
		}
		item, err := l.next()
		if err == io.EOF {
			return
		}
		s.item, s.err = item, err
		s.held = s.goesOn()
		l.resolve <- s
		if s.held {
			l.scan <- s
		} else {
			s.scanned <- struct{}{}
		}
		if err != nil {
			return
		}
	}
}

// next calls Next unless ctx is done.
func (l *loop[T]) next() (item T, err error) {
	if l.ctx.Err() != nil {
		return item, context.Cause(l.ctx)
	}
	defer func() {
		if err != nil && err != io.EOF && !isLast(err) && l.ctx.Err() != nil {
			err = context.Cause(l.ctx) // why Next gave up
		}
	}()
	defer caught("Next", &err)
	return l.work.Next(l.ctx)
}

// serve runs Scan and Emit until both queues are closed. Items to emit come
// first: they are older and free their slot sooner.
func (l *loop[T]) serve() {
	scan, emit := l.scan, l.emit
	for scan != nil || emit != nil {
		select {
		case s, ok := <-emit:
			if !ok {
				emit = nil
				continue
			}
			l.emitOne(s)
			continue
		default:
		}
		select {
		case s, ok := <-emit:
			if !ok {
				emit = nil
				continue
			}
			l.emitOne(s)
		case s, ok := <-scan:
			if !ok {
				scan = nil
				continue
			}
			if !closed(l.full) {
				if err := guard("Scan", l.work.Scan, s.item); err != nil {
					s.err = err
				}
			}
			s.scanned <- struct{}{}
		}
	}
}

func (l *loop[T]) emitOne(s *slot[T]) {
	if !closed(l.failed) {
		if err := guard("Emit", l.work.Emit, s.item); err != nil {
			s.err = err
		}
	}
	s.emitted <- struct{}{}
}

// resolveInOrder runs Resolve and decides where the stream ends, but for what
// Emit and Write may still say.
func (l *loop[T]) resolveInOrder() {
	defer close(l.write)
	defer close(l.emit)
	ended := false
	for s := range l.resolve {
		<-s.scanned
		if ended || closed(l.failed) {
			l.recycle(s)
			continue
		}
		if s.goesOn() {
			if err := guard("Resolve", l.work.Resolve, s.item); err != nil {
				s.err = err
			}
		}
		if s.err != nil {
			ended = true
			l.fill()
		}
		l.write <- s
		if s.goesOn() {
			l.emit <- s
		} else {
			s.emitted <- struct{}{}
		}
	}
}

// writeInOrder runs Write up to the end of the stream.
func (l *loop[T]) writeInOrder() (stats Stats, first error) {
	stats.Slots = cap(l.free)
	for s := range l.write {
		<-s.emitted
		if first == nil {
			if s.goesOn() {
				l.sample(&stats)
				if err := guard("Write", l.work.Write, s.item); err != nil {
					s.err = err
				} else {
					stats.Items++
				}
			}
			if s.err != nil {
				first = s.err
				close(l.failed)
				l.fill()
			}
		}
		l.recycle(s)
		s.err = nil
		l.free <- s
	}
	stats.mean()
	return stats, first
}

// recycle gives the item of s back. The slot of an item that is not written stays
// out of the round: reading has ended.
func (l *loop[T]) recycle(s *slot[T]) {
	if s.held {
		l.work.Recycle(s.item)
	}
	var none T
	s.item, s.held = none, false
}

// sample looks at the queues; Mean holds sums until the run is over.
func (l *loop[T]) sample(stats *Stats) {
	for _, q := range [...]struct {
		queue *Queue
		n     int
	}{
		{&stats.Scan, len(l.scan)}, {&stats.Resolve, len(l.resolve)},
		{&stats.Emit, len(l.emit)}, {&stats.Write, len(l.write)},
	} {
		q.queue.Mean += float64(q.n)
		q.queue.Max = max(q.queue.Max, q.n)
	}
}

func (s *Stats) mean() {
	for _, q := range []*Queue{&s.Scan, &s.Resolve, &s.Emit, &s.Write} {
		q.Mean /= float64(max(s.Items, 1))
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// guard calls f and turns a panic into an error.
func guard[T any](name string, f func(T) error, item T) (err error) {
	defer caught(name, &err)
	return f(item)
}

func caught(name string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %s: %v\n%s", ErrPanic, name, v, debug.Stack())
	}
}
