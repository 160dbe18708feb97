package pipeline

import (
	"math"
	"time"
)

// autotune lets a run change how many workers it has and how much it prefetches.
type autotune struct {
	workers int           // at most
	every   time.Duration // how often it looks
}

// Autotune lets the pipeline choose the number of workers, up to most, and how many
// chunks are prefetched, up to eight times Prefetch and within PrefetchBytes. It looks
// ten times a second, at what waits for what. The output does not change. 0 is the
// number of CPUs.
func (p *Pipeline[T]) Autotune(most int) *Pipeline[T] {
	if most < 0 {
		return &Pipeline[T]{p.complain("Autotune(%d) is negative", most)}
	}
	if most == 0 {
		most = defaultWorkers()
	}
	return p.with(func(c *config) { c.autotune = &autotune{workers: most, every: 100 * time.Millisecond} })
}

// tune changes the number of workers and the bound on what is in flight:
//
//   - the consumer waits and the workers are busy: one more worker;
//   - the consumer waits, the workers do not and the source had no room: a
//     quarter more in flight;
//   - the workers are busy less than half of the time: one less.
func (r *run) tune() {
	cfg := r.cfg.autotune
	ticker := time.NewTicker(cfg.every)
	defer ticker.Stop()
	producing := make(chan struct{})
	r.all.Go(func() {
		r.producers.Wait()
		close(producing)
	})
	limit := r.budget.limit
	most := int(min(8*int64(limit), math.MaxInt))
	var busy, consumer, full int64
	for {
		select {
		case <-ticker.C:
		case <-producing:
			return
		}
		b, c, f := r.busyWorkers(), r.consumerWait.Load(), r.stages[0].waitOut.Load()
		d := float64(cfg.every)
		workers := r.running.Load()
		busyShare := float64(b-busy) / d / float64(max(workers, 1))
		starved, noRoom := float64(c-consumer)/d > 0.1, float64(f-full)/d > 0.1
		busy, consumer, full = b, c, f
		switch {
		case starved && busyShare > 0.8 && workers < int64(cfg.workers):
			r.addWorker()
		case starved && noRoom && limit < most:
			limit += max(limit/4, 1)
			r.budget.setLimit(min(limit, most))
		case !starved && busyShare < 0.5 && workers > 1:
			select {
			case r.retire <- struct{}{}:
			default:
			}
		}
	}
}

// busyWorkers is how long stages on the workers have been busy, in nanoseconds.
func (r *run) busyWorkers() int64 {
	var n int64
	for _, q := range r.queues {
		for _, st := range q.stages {
			n += st.busy.Load()
		}
	}
	return n
}
