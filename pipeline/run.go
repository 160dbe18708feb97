package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// run is a started pipeline: what all its goroutines share.
//
//	feeder ─▸ station ─▸ queue ─▸ station ─▸ queue ─▸ … ─▸ queue ─▸ Iterator
//	          serial     parallel  serial     parallel      parallel
//	          stages     stages    stages     stages        stages
//
// A station is a goroutine; the first one is the source's. The stages of all queues
// are done by the same workers.
type run struct {
	cfg    config
	stages []*stage

	ctx          context.Context // of the stages; ends with the run
	cancelCtx    context.CancelFunc
	sourceCtx    context.Context // of the source; ends when nothing more is read
	cancelSource context.CancelFunc
	unhook       func() bool // from the context of Start

	budget    *budget
	chunkSize int
	quitters  []interface{ quit(epoch int64) } // by stage: sources and caches
	feed      feed
	queues    []*queue
	stations  []*station
	work      chan *task
	retire    chan struct{} // tells a worker to end
	tasks     sync.Pool     // *task

	mu      sync.Mutex
	workers []*worker // all goroutines that call functions of the user
	cause   error     // why the stream was abandoned

	producers    sync.WaitGroup // stations
	all          sync.WaitGroup
	finished     chan struct{} // closed when no goroutine is left
	started      time.Time
	ended        atomic.Int64 // when the last goroutine ended, nanoseconds since started
	consumerWait atomic.Int64 // nanoseconds the consumer waited
	running      atomic.Int64 // workers
	sinkMu       sync.Mutex
}

// station is a goroutine that runs stages in order, between two queues.
type station struct {
	run     *run
	worker  *worker
	in      *queue   // nil for the source's
	replay  replayer // asks in for its input, or nil
	serials []serial
	out     *queue
}

// pass sends a chunk through the stages and on; false tells that the stream ends
// here.
func (s *station) pass(c carrier) bool {
	for _, op := range s.serials {
		c = op.feed(s.worker, c)
		if h := c.header(); len(h.meta) == 0 && !h.control() {
			break // of the rest of an epoch that was ended early nothing may be marked
		}
	}
	h := c.header()
	over := h.eof || h.err != nil
	return s.out.put(c) && !over
}

// loop passes on what comes in.
func (s *station) loop() {
	defer s.in.endBefore()
	for {
		var c carrier
		if s.replay != nil {
			c = s.replay.next(s.worker)
		} else {
			c = s.in.take(nil, nil)
		}
		if c == nil || !s.pass(c) {
			return
		}
	}
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

// start starts the stages of a plan behind a place.
func (p *plan) start(ctx context.Context, from place) (*run, error) {
	r := &run{cfg: p.cfg, started: time.Now(), finished: make(chan struct{}), retire: make(chan struct{})}
	// What belongs to the run ends with the run, whatever becomes of ctx.
	r.ctx, r.cancelCtx = context.WithCancel(context.WithoutCancel(ctx))
	r.sourceCtx, r.cancelSource = context.WithCancel(r.ctx)
	limit := r.cfg.prefetch * r.cfg.chunk
	r.chunkSize = max(1, min(r.cfg.chunk, limit/(r.cfg.workers+2)))
	r.budget = newBudget(limit, r.cfg.prefetchBytes)
	if err := r.build(p, from); err != nil {
		r.cancelCtx()
		return nil, err
	}
	window := 0
	for _, q := range r.queues {
		window += cap(q.window)
	}
	r.work = make(chan *task, window)
	for _, s := range r.stations {
		r.producers.Add(1)
		r.all.Go(func() {
			defer r.producers.Done()
			if s.in == nil {
				r.oversee(s.worker, r.feed.run)
			} else {
				r.oversee(s.worker, s.loop)
			}
		})
	}
	for range r.cfg.workers {
		r.addWorker()
	}
	r.all.Go(func() {
		r.producers.Wait()
		close(r.work)
	})
	if r.cfg.autotune != nil {
		r.all.Go(r.tune)
	}
	// ctx ends also what is still to be delivered when no goroutine is left.
	r.unhook = context.AfterFunc(ctx, func() { r.abandon(context.Cause(ctx)) })
	go func() {
		r.all.Wait()
		r.cancelCtx()
		r.ended.Store(int64(time.Since(r.started)))
		close(r.finished)
	}()
	return r, nil
}

// build makes the stages, queues and stations.
func (r *run) build(p *plan, from place) error {
	specs := p.stages
	r.quitters = make([]interface{ quit(int64) }, len(specs))
	ids, labels := map[string]int{}, map[string]int{}
	for i, spec := range specs {
		st := &stage{run: r, index: i}
		st.id = distinct(spec.name, ids)
		st.name = st.id
		if spec.label != "" {
			st.name = distinct(spec.label, labels)
		}
		r.stages = append(r.stages, st)
	}
	// How often the stages go through their input, and where they begin, follows
	// from the end.
	marks := make([]*mark, len(specs))
	skips := make([]uint32, len(specs))
	places := make([]place, len(specs)) // of the queue behind the stage
	epochs, laps := r.cfg.epochs, int64(1)
	for i := len(specs) - 1; i >= 0; i-- {
		spec, st := specs[i], r.stages[i]
		st.epochs, st.laps = epochs, laps
		if n := max(spec.laps, 1); n > 1 {
			epochs *= n
			laps *= n
		}
		if spec.kind == kindReplay {
			epochs, laps = 1, 1
		}
		if spec.kind == kindParallel {
			continue
		}
		marks[i], skips[i], places[i] = from.at, from.skip, from
		if from.at == nil {
			from = place{}
			continue
		}
		if from.at.stage != st.id {
			return fmt.Errorf("%w: it has a place of the stage %q where the pipeline has %q", ErrState, from.at.stage, st.id)
		}
		if spec.kind == kindFeed && from.at.up != (place{}) {
			return fmt.Errorf("%w: it has a place before the source", ErrState)
		}
		from = from.at.up
	}
	window := max(r.cfg.prefetch, 2*r.cfg.workers) + 2
	if r.cfg.autotune != nil {
		window = max(8*r.cfg.prefetch, 2*r.cfg.autotune.workers) + 2
	}
	var s *station
	begin := func(in *queue) {
		s = &station{run: r, in: in, worker: r.newWorker("the stages in order")}
		r.stations = append(r.stations, s)
	}
	connect := func(i int) { // queue behind stage i
		s.out = newQueue(r, window)
		s.out.before = r.stages[i]
		r.queues = append(r.queues, s.out)
	}
	begin(nil)
	var err error
	for i, spec := range specs {
		st := r.stages[i]
		switch spec.kind {
		case kindFeed:
			if r.feed, err = spec.feed(st, s, marks[i], skips[i]); err != nil {
				return err
			}
			r.quitters[i] = r.feed
		case kindParallel:
			if s.out == nil {
				connect(i - 1)
			}
			s.out.stages = append(s.out.stages, st)
			s.out.apply = append(s.out.apply, spec.parallel(st))
		case kindReplay:
			if s.out == nil {
				connect(i - 1)
			}
			in := s.out
			in.after = st
			begin(in)
			restored := marks[i]
			if s.replay, err = spec.replay(st, in, restored, skips[i]); err != nil {
				return fmt.Errorf("%w: the place of %s: %w", ErrState, st.name, err)
			}
			r.quitters[i] = s.replay
		case kindSerial:
			if s.out != nil {
				in := s.out
				in.after = st
				begin(in)
			}
			op, err := spec.serial(st, marks[i], skips[i])
			if err != nil {
				return fmt.Errorf("%w: the place of %s: %w", ErrState, st.name, err)
			}
			if marks[i] != nil {
				op.resume(marks[i])
			}
			s.serials = append(s.serials, op)
		}
	}
	if s.out == nil {
		connect(len(specs) - 1)
	}
	for _, q := range r.queues {
		q.from = places[q.before.index]
		q.drop = int(q.from.drop)
	}
	return nil
}

// distinct numbers the names that come more than once.
func distinct(name string, seen map[string]int) string {
	if seen[name]++; seen[name] > 1 {
		return fmt.Sprintf("%s#%d", name, seen[name])
	}
	return name
}

// newWorker registers a goroutine that calls functions of the user.
func (r *run) newWorker(name string) *worker {
	w := &worker{run: r, name: name}
	r.mu.Lock()
	r.workers = append(r.workers, w)
	r.mu.Unlock()
	return w
}

// addWorker starts a worker.
func (r *run) addWorker() {
	n := r.running.Add(1)
	w := r.newWorker("a worker")
	r.all.Go(func() {
		defer r.running.Add(-1)
		defer r.forget(w)
		if r.cfg.pinThreads {
			unpin := pin(int(n - 1))
			defer unpin()
		}
		r.oversee(w, func() {
			for {
				select {
				case t, ok := <-r.work:
					if !ok {
						return
					}
					t.queue.work(w, t)
				case <-r.retire:
					return
				}
			}
		})
	})
}

// oversee runs a goroutine. The run ends if a function of the user ends it.
func (r *run) oversee(w *worker, f func()) {
	returned := false
	defer func() {
		if !returned {
			r.exited(w)
		}
	}()
	f()
	returned = true
}

// exited ends the run because a function of the user has ended the goroutine of w.
func (r *run) exited(w *worker) {
	what := w.name
	if st := w.at.Swap(nil); st != nil {
		what = st.name
	}
	r.abandon(fmt.Errorf("%w: %s: a function ended its goroutine (runtime.Goexit)", ErrPanic, what))
}

// forget is for a worker that has ended.
func (r *run) forget(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = slices.DeleteFunc(r.workers, func(o *worker) bool { return o == w })
}

// offer gives an error to the sink.
func (r *run) offer(err *StageError) {
	if r.cfg.errorSink == nil {
		return
	}
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	defer func() { _ = recover() }() // a sink that panics must not take the run with it
	r.cfg.errorSink(err)
}

// abandon ends everything. The first cause is kept.
func (r *run) abandon(cause error) {
	r.mu.Lock()
	if r.cause == nil {
		r.cause = cause
	}
	r.mu.Unlock()
	r.queues[len(r.queues)-1].endBefore()
	r.cancelCtx()
}

// whyAbandoned is the cause, nil if the stream was not.
func (r *run) whyAbandoned() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// inside lists the functions of the user that are being called, those that have
// been for longest first.
func (r *run) inside() string {
	type call struct {
		what  string
		since time.Duration
	}
	var calls []call
	now := time.Now()
	r.mu.Lock()
	for _, w := range r.workers {
		if st := w.at.Load(); st != nil {
			calls = append(calls, call{st.name, now.Sub(time.Unix(0, w.since.Load()))})
		}
	}
	r.mu.Unlock()
	sort.Slice(calls, func(i, j int) bool { return calls[i].since > calls[j].since })
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("%s (for %v)", c.what, c.since.Round(time.Millisecond)))
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// defaultWorkers is the number of CPUs, at most 8.
func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), 8) }

// defaultPrefetch is twice the number of CPUs, at least 8.
func defaultPrefetch() int { return max(2*runtime.GOMAXPROCS(0), 8) }
