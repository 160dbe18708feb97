package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
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
	quitters  []quitter // by stage: sources and caches
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
				r.oversee(r.feed.run, s.worker, s.source)
			} else {
				r.oversee(s.loop, s.worker)
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
	r.quitters = make([]quitter, len(specs))
	ids, names := map[string]bool{}, map[string]bool{}
	for i, spec := range specs {
		st := &stage{run: r, index: i, id: distinct(spec.name, ids)}
		if spec.label != "" {
			st.name = distinct(spec.label, names)
		}
		r.stages = append(r.stages, st)
	}
	for _, st := range r.stages {
		if st.name == "" { // what the user chose comes first
			st.name = distinct(st.id, names)
		}
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
			if s.replay, err = spec.replay(st, in, marks[i], skips[i]); err != nil {
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

// distinct adds a number to a name that is taken.
func distinct(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s#%d", name, n)
	}
	taken[out] = true
	return out
}

// offer gives an error to the sink.
func (r *run) offer(err *StageError) {
	if r.cfg.errorSink == nil {
		return
	}
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			r.abandon(fmt.Errorf("pipeline: the error sink: %w", &PanicError{v, debug.Stack()}))
		}
	}()
	r.cfg.errorSink(err)
}

// abandon ends everything. The first cause is kept.
func (r *run) abandon(cause error) {
	r.mu.Lock()
	if r.cause == nil {
		r.cause = sound(cause)
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

// defaultWorkers is the number of CPUs, at most 8.
func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), 8) }

// defaultPrefetch is twice the number of CPUs, at least 8.
func defaultPrefetch() int { return max(2*runtime.GOMAXPROCS(0), 8) }
