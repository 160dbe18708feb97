package pipeline

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// caching keeps the values of its input, one epoch, and gives them out again in
// every epoch. It asks for more input only when it has given out what it has, so that an
// epoch that is not needed to its end does not read to the end.
type caching[T any] struct {
	st   *stage
	in   *queue
	pool sync.Pool

	vals     []T
	meta     []meta
	complete bool // vals are the whole epoch
	epoch    int64
	at       int   // values given out in the epoch
	err      error // the input fails behind vals
	ended    bool  // the input was stopped behind vals
	quitting atomic.Int64
	stopping atomic.Bool
}

// cacheState is where a cache stands.
type cacheState struct {
	Epoch int64 `json:"epoch"`
	At    int   `json:"at"`
}

func newCaching[T any](st *stage, in *queue, restored *mark, skip uint32) (*caching[T], error) {
	c := &caching[T]{st: st, in: in}
	c.quitting.Store(-1)
	var state cacheState
	if err := restored.restore(&state); err != nil {
		return nil, err
	}
	if state.Epoch < 0 || state.At < 0 {
		return nil, fmt.Errorf("epoch %d, value %d", state.Epoch, state.At)
	}
	c.epoch, c.at = state.Epoch, state.At+int(skip)
	return c, nil
}

// next implements [replayer].
func (c *caching[T]) next(w *worker) carrier {
	out := newChunk[T](&c.pool)
	out.epoch = c.epoch
	out.at = &mark{stage: c.st.id, state: cacheState{c.epoch, c.at}}
	again := c.epoch > 0 || c.complete // nothing is on its way
	if c.st.epochs > 0 && c.epoch >= c.st.epochs || again && c.stopping.Load() {
		out.eof = true
		return out
	}
	var of *head // the input whose budget goes on with the output
	for !c.complete && !c.ended && c.err == nil && c.at >= len(c.vals) && !c.over() {
		of = c.more()
		if of == nil {
			return nil
		}
		if c.at < len(c.vals) || c.complete {
			break
		}
		c.st.run.budget.give(of)
	}
	if of != nil {
		out.elements, out.bytes = of.elements, of.bytes
	}
	if !c.over() {
		for i := c.at; i < min(len(c.vals), c.at+c.st.run.chunkSize); i++ {
			m := c.meta[i]
			m.from = out.inputs
			if c.epoch > 0 {
				m = m.child(int(c.epoch))
			}
			out.inputs++
			out.append(c.vals[i], m)
		}
	}
	c.at += len(out.vals)
	c.st.out.Add(int64(len(out.vals)))
	switch {
	case c.complete && c.at > len(c.vals):
		out.fail(fmt.Errorf("%w: the input of %s is shorter than when the state was taken", ErrStateMismatch, c.st.name), place{at: out.at})
	case c.over(), c.complete && c.at >= len(c.vals):
		out.last, out.eof = true, c.st.final(c.epoch)
		c.epoch++
		c.at = 0
		if c.complete && len(c.vals) == 0 && c.st.epochs == 0 {
			out.fail(fmt.Errorf("%w: it would be gone through for ever", ErrEmptySource), place{at: out.at})
		}
	case c.err != nil && c.at >= len(c.vals):
		out.fail(c.err, place{at: out.at, skip: out.inputs})
	case c.ended && c.at >= len(c.vals):
		out.eof = true
	}
	return out
}

func (c *caching[T]) over() bool { return c.quitting.Load() >= c.epoch }

// more takes a chunk of the input.
func (c *caching[T]) more() *head {
	in, ok := c.in.take(nil, nil).(*chunk[T])
	if !ok {
		return nil
	}
	c.st.in.Add(int64(len(in.vals)))
	c.vals = append(c.vals, in.vals...)
	c.meta = append(c.meta, in.meta...)
	c.complete, c.ended, c.err = in.last, in.eof && !in.last, in.err
	of := &head{elements: in.elements, bytes: in.bytes}
	in.recycle()
	return of
}

// quit implements [replayer].
func (c *caching[T]) quit(epoch int64) {
	for {
		was := c.quitting.Load()
		if epoch <= was || c.quitting.CompareAndSwap(was, epoch) {
			return
		}
	}
}

// stop implements [replayer].
func (c *caching[T]) stop() { c.stopping.Store(true) }
