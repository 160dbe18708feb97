package pipeline

import (
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// queue carries chunks from one goroutine to the next, in order, by way of the
// workers if there are stages that run in parallel between them:
//
//	put ──▸ order ─────────────▸ take, which waits for the chunk to be worked on
//	  └───▸ run.work ─▸ worker ─┘
//
// When the order does not matter the chunks go by the workers alone, and those
// that say something about the stream, like the end of an epoch, wait until all
// before them are done.
type queue struct {
	run       *run
	stages    []*stage // that run in parallel
	apply     []applyFunc
	unordered bool
	before    *stage // whose output goes in
	after     *stage // whose input comes out; nil for the consumer

	order    chan *task // ordered: all; unordered: those that are done
	window   chan struct{}
	pending  *task // taken from order, not yet done
	from     place // where the stream was resumed
	drop     int   // values of from that are still to come
	inFlight sync.WaitGroup

	done  chan struct{} // closed: nothing goes in or comes out any more
	ended atomic.Bool   // likewise
	end   func()        // closes done
	depth atomic.Int64  // chunks in the queue
	peak  atomic.Int64
	seen  atomic.Int64 // sum of the depths at each take, for the mean
	takes atomic.Int64
}

// task is a chunk on its way.
type task struct {
	queue *queue
	chunk carrier
	done  chan struct{} // gets a token when the workers are done with it
}

func newQueue(r *run, window int) *queue {
	q := &queue{
		run: r, unordered: r.cfg.unordered,
		order: make(chan *task, window), window: make(chan struct{}, window), done: make(chan struct{}),
	}
	q.end = sync.OnceFunc(func() {
		q.ended.Store(true)
		close(q.done)
	})
	return q
}

// put hands a chunk on; false tells that the queue has ended. The chunk is cut
// if it is much longer than the others.
func (q *queue) put(c carrier) bool {
	h := c.header()
	if len(h.meta) == 0 && !h.control() {
		q.run.budget.give(h)
		c.recycle()
		return true
	}
	for size := q.run.chunkSize; len(h.meta) >= 2*size; {
		if !q.putOne(c.front(size)) {
			return false
		}
	}
	return q.putOne(c)
}

func (q *queue) putOne(c carrier) bool {
	h := c.header()
	if q.unordered && len(q.apply) > 0 && len(h.meta) > 0 && h.control() {
		if !q.putOne(c.front(len(h.meta))) {
			return false
		}
	}
	t := q.run.newTask(q, c)
	select {
	case q.window <- struct{}{}:
	default:
		waiting := time.Now()
		select {
		case q.window <- struct{}{}:
		case <-q.done:
			return false
		}
		q.before.waitOut.Add(int64(time.Since(waiting)))
	}
	if n := q.depth.Add(1); n > q.peak.Load() {
		q.peak.Store(n) // by this goroutine alone
	}
	inline := len(q.apply) == 0 || len(h.meta) == 0
	if q.unordered {
		if !inline {
			q.inFlight.Add(1)
			q.run.work <- t
			return true
		}
		q.inFlight.Wait()
		if len(q.apply) > 0 {
			t.chunk = q.convert(c)
		}
		t.done <- struct{}{}
		q.order <- t
		return true
	}
	if inline && len(q.apply) > 0 {
		t.chunk = q.convert(c)
	}
	q.order <- t // has room: it is as large as the window
	if inline {
		t.done <- struct{}{}
	} else {
		q.run.work <- t // has room for the windows of all queues
	}
	return true
}

// convert sends a chunk without values through the stages, for the type and the
// numbers of epochs.
func (q *queue) convert(c carrier) carrier {
	for _, apply := range q.apply {
		c = apply(nil, c)
	}
	return c
}

// work does what the stages do.
func (q *queue) work(w *worker, t *task) {
	w.queue = q
	returned := false
	defer func() {
		if !returned { // before the end of the epoch can pass
			q.run.exited(w)
		}
		if q.unordered {
			q.inFlight.Done()
		}
	}()
	if !w.abandoned() {
		for i, apply := range q.apply {
			st := q.stages[i]
			entered := w.enter(st)
			if trace.IsEnabled() {
				region := trace.StartRegion(q.run.ctx, st.name)
				t.chunk = apply(w, t.chunk)
				region.End()
			} else {
				t.chunk = apply(w, t.chunk)
			}
			st.out.Add(int64(len(t.chunk.header().meta)))
			w.leave(st, entered)
		}
	}
	t.done <- struct{}{}
	if q.unordered {
		q.order <- t // has room: it is as large as the window
	}
	returned = true
}

// take returns the next chunk; nil tells that the queue has ended, or that one of
// the other channels had something. The chunk is the caller's.
func (q *queue) take(cancel <-chan struct{}, alarm <-chan time.Time) carrier {
	t := q.pending
	if t == nil {
		select {
		case t = <-q.order:
		default:
			waiting := time.Now()
			select {
			case t = <-q.order:
			case <-q.done:
			case <-cancel:
			case <-alarm:
			}
			q.waited(waiting)
			if t == nil {
				return nil
			}
		}
		q.pending = t
	}
	select {
	case <-t.done:
	default:
		waiting := time.Now()
		select {
		case <-t.done:
		case <-q.done:
			t = nil
		case <-cancel:
			t = nil
		case <-alarm:
			t = nil
		}
		q.waited(waiting)
		if t == nil {
			return nil
		}
	}
	if q.ended.Load() {
		return nil // the workers may have passed it on untouched
	}
	q.pending = nil
	q.takes.Add(1)
	q.seen.Add(q.depth.Add(-1))
	<-q.window
	c := t.chunk
	q.run.tasks.Put(t.clear())
	if q.drop > 0 {
		h := c.header()
		h.begin = min(q.drop, len(h.meta))
		if q.drop -= h.begin; q.drop > 0 {
			h.end = &q.from // nothing has come that had not been delivered
		}
	}
	return c
}

// endBefore ends the queue, all queues before it and the source: nothing of them is
// wanted any more.
func (q *queue) endBefore() {
	// The source comes last, so that the end it makes is not taken for that of the stream.
	defer q.run.cancelSource()
	for _, before := range q.run.queues {
		before.end()
		if before == q {
			return
		}
	}
}

func (q *queue) waited(since time.Time) {
	d := int64(time.Since(since))
	if q.after != nil {
		q.after.waitIn.Add(d)
	} else {
		q.run.consumerWait.Add(d)
	}
}

func (t *task) clear() *task {
	t.queue, t.chunk = nil, nil
	return t
}

func (r *run) newTask(q *queue, c carrier) *task {
	t, ok := r.tasks.Get().(*task)
	if !ok {
		t = &task{done: make(chan struct{}, 1)}
	}
	t.queue, t.chunk = q, c
	return t
}
