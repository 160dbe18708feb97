package pipeline

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

// worker is a goroutine of a run that calls functions of the user.
type worker struct {
	run   *run
	name  string
	queue *queue                // whose chunk it works on
	at    atomic.Pointer[stage] // whose function it calls, or nil
	since atomic.Int64          // when it entered at
}

// enter says that functions of st are called from now on; leave that they are over. They
// return the time.
func (w *worker) enter(st *stage) time.Time {
	now := time.Now()
	w.since.Store(now.UnixNano())
	w.at.Store(st)
	return now
}

func (w *worker) leave(st *stage, entered time.Time) {
	w.at.Store(nil)
	st.busy.Add(int64(time.Since(entered)))
}

// abandoned reports whether what the worker does has no use any more.
func (w *worker) abandoned() bool { return w.queue.ended.Load() }

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
		r.oversee(func() {
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
		}, w)
	})
}

// oversee runs a goroutine, which is any of the workers. The run ends if a function
// of the user ends it.
func (r *run) oversee(f func(), workers ...*worker) {
	returned := false
	defer func() {
		if !returned {
			r.exited(workers...)
		}
	}()
	f()
	returned = true
}

// exited ends the run because a function of the user has ended the goroutine that was any
// of workers. The first that was in a stage is meant.
func (r *run) exited(workers ...*worker) {
	what := workers[0].name
	for i := len(workers) - 1; i >= 0; i-- {
		if st := workers[i].at.Swap(nil); st != nil {
			what = st.name
		}
	}
	r.abandon(fmt.Errorf("%w: %s: a function ended its goroutine (runtime.Goexit)", ErrPanic, what))
}

// forget is for a worker that has ended.
func (r *run) forget(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = slices.DeleteFunc(r.workers, func(o *worker) bool { return o == w })
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
