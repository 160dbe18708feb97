package workers

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// pool is the goroutines and what they are to do.
type pool struct {
	lanes []lane
	f     func(row int)
	n     int

	turn     atomic.Uint32 // the number of the operation
	left     atomic.Int64  // rows that are not done
	waiting  atomic.Bool   // the caller sleeps, or is about to, until they are
	finished chan struct{} // and is woken
	failed   atomic.Pointer[Panic]
	closed   atomic.Bool
	ended    sync.WaitGroup
}

// lane is the rows of one goroutine. Lanes lie apart from one another in memory.
type lane struct {
	// rows is how many nobody took. Who comes late to an operation may well take rows of
	// the next, which begins when all rows that were taken before are counted.
	rows   atomic.Int64
	asleep atomic.Bool
	wake   chan struct{}
	_      [128 - 24]byte
}

// spins is how often a goroutine looks for the next operation, or for the end of one,
// before it sleeps: a few microseconds, about what it takes to wake it. The caller looks
// longer, since others are at work then.
const spins, callerSpins = 20000, 20000

func newPool(threads int) *pool {
	p := &pool{lanes: make([]lane, threads), finished: make(chan struct{}, 1)}
	for i := 1; i < threads; i++ {
		p.lanes[i].wake = make(chan struct{}, 1)
		p.ended.Go(func() { p.serve(i) })
	}
	return p
}

// bounds returns the rows of a lane.
func (p *pool) bounds(i int) (from, to int) {
	return i * p.n / len(p.lanes), (i + 1) * p.n / len(p.lanes)
}

// run calls f with each of n rows.
func (p *pool) run(f func(row int), n int) error {
	p.f, p.n = f, n
	p.left.Store(int64(n))
	for i := range p.lanes {
		from, to := p.bounds(i)
		p.lanes[i].rows.Store(int64(to - from))
	}
	p.turn.Add(1)
	for i := range p.lanes[1:] {
		p.rouse(&p.lanes[1+i])
	}
	if p.left.Add(-p.work(0)) > 0 {
		p.wait()
	}
	p.f = nil
	if failed := p.failed.Swap(nil); failed != nil {
		return failed
	}
	return nil
}

// wait returns when all rows are done.
func (p *pool) wait() {
	for i := 0; i < callerSpins && p.left.Load() > 0; i++ {
	}
	// It may be woken by who was last in the operation before, and told late.
	for p.left.Load() > 0 {
		p.waiting.Store(true)
		// Unless they came to be done in between and nobody saw it waiting.
		if p.left.Load() > 0 || !p.waiting.Swap(false) {
			<-p.finished
		}
	}
}

// rouse wakes the goroutine of a lane if it sleeps.
func (p *pool) rouse(l *lane) {
	if l.asleep.Swap(false) {
		l.wake <- struct{}{}
	}
}

// serve is the goroutine of a lane.
func (p *pool) serve(i int) {
	l := &p.lanes[i]
	for seen := uint32(0); ; {
		turn := p.turn.Load()
		for n := 0; turn == seen && n < spins && !p.closed.Load(); n++ {
			turn = p.turn.Load()
		}
		if turn == seen {
			l.asleep.Store(true)
			// Unless it came in between and nobody saw this lane asleep.
			if came := p.turn.Load() != seen || p.closed.Load(); !came || !l.asleep.Swap(false) {
				<-l.wake
			}
			if p.closed.Load() {
				return
			}
			continue
		}
		seen = turn
		if done := p.work(i); done > 0 && p.left.Add(-done) == 0 && p.waiting.Swap(false) {
			p.finished <- struct{}{}
		}
	}
}

// work does what rows it finds, those of lane i first, and returns how many.
func (p *pool) work(i int) (done int64) {
	for k := range p.lanes {
		j := (i + k) % len(p.lanes)
		l := &p.lanes[j]
		for {
			v := l.rows.Load()
			if v == 0 {
				break
			}
			if l.rows.CompareAndSwap(v, v-1) {
				_, to := p.bounds(j)
				p.do(to - int(v))
				done++
			}
		}
	}
	return done
}

// do does a row, unless one failed.
func (p *pool) do(row int) {
	if p.failed.Load() != nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			p.failed.CompareAndSwap(nil, &Panic{row, v, debug.Stack()})
		}
	}()
	p.f(row)
}

// close ends the goroutines. Nothing runs.
func (p *pool) close() {
	p.closed.Store(true)
	for i := range p.lanes[1:] {
		p.rouse(&p.lanes[1+i])
	}
}
