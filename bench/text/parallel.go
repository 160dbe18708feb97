package main

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/pipeline/text"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// shareRows is the size of what a worker takes at a time: small, so that no worker
// waits long for the last one.
const shareRows = 256

// crew is so many workers on one job.
type crew int

// form is what the report calls the jobs of a crew.
func (n crew) form() string { return fmt.Sprintf("%d workers", int(n)) }

// do calls f for each worker, all at once, and returns the first error by worker.
func (n crew) do(f func(worker int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range int(n) {
		wg.Go(func() { errs[w] = f(w) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// columnSpecs are the jobs on columns that are cut into one slice a worker.
func (n crew) columnSpecs() []measure.Spec {
	return []measure.Spec{
		measure.NewSpec("prefix select", n.form(), n.bindPrefix),
		measure.NewSpec("equal", n.form(), n.bindEqual),
		measure.NewSpec("pack into", n.form(), n.bindPack),
	}
}

// textSpecs are the jobs on texts, whose batches the workers take in turns.
func (n crew) textSpecs() []measure.Spec {
	specs := []measure.Spec{measure.NewSpec("quality", n.form(), n.bindQuality)}
	for _, f := range fusedJobs() {
		specs = append(specs, measure.NewSpec(f.job, n.form(), func(d *measure.Dataset) (measure.Work, error) {
			return n.bindFused(d, f)
		}))
	}
	return specs
}

// slices cuts the column of rows into one slice a worker.
func (n crew) slices(rows []string) ([]*stringtensor.Column, error) {
	parts, err := cut(rows, (len(rows)+int(n)-1)/int(n))
	for err == nil && len(parts) < int(n) {
		var empty *stringtensor.Column
		empty, err = stringtensor.FromStrings(nil)
		parts = append(parts, empty)
	}
	return parts, err
}

func (n crew) bindPrefix(d *measure.Dataset) (measure.Work, error) {
	parts, err := n.slices(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	prefix, found := prefixOf(d), make([]stringtensor.Selection, n)
	return measure.Work{
		Run: func() error {
			return n.do(func(w int) error {
				found[w] = parts[w].WherePrefixInto(found[w][:0], prefix)
				return nil
			})
		},
		Rows: func() (iter.Seq[[]byte], error) {
			kept := make([]*stringtensor.Column, n)
			for w := range kept {
				if kept[w], err = parts[w].Filter(found[w]); err != nil {
					return nil, err
				}
			}
			c, err := stringtensor.Concat(kept...)
			return columnRows(c), err
		},
	}, nil
}

func (n crew) bindEqual(d *measure.Dataset) (measure.Work, error) {
	a, err := n.slices(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	b, err := n.slices(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	var different atomic.Bool
	return measure.Work{
		Run: func() error {
			different.Store(false)
			return n.do(func(w int) error {
				if !a[w].Equal(b[w]) {
					different.Store(true)
				}
				return nil
			})
		},
		Rows: func() (iter.Seq[[]byte], error) {
			return slices.Values([][]byte{measure.Verdict(!different.Load())}), nil
		},
	}, nil
}

// bindPack binds packing where each worker has offsets of its own, from 0, and its
// part of the payload.
func (n crew) bindPack(d *measure.Dataset) (measure.Work, error) {
	parts, err := n.slices(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	out := make([]struct {
		offsets []uint32
		payload []byte
	}, n)
	for w, p := range parts {
		k, size := p.GPUSize()
		out[w].offsets, out[w].payload = make([]uint32, k), make([]byte, size)
	}
	return measure.Work{
		Run: func() error {
			return n.do(func(w int) (err error) {
				o := &out[w]
				o.offsets, o.payload, err = parts[w].GPUBuffersInto(o.offsets, o.payload)
				return err
			})
		},
		Rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) {
				for _, o := range out {
					for i := range len(o.offsets) - 1 {
						if !yield(o.payload[o.offsets[i]:o.offsets[i+1]]) {
							return
						}
					}
				}
			}, nil
		},
	}, nil
}

func (n crew) bindQuality(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	q, err := newQuality(text.WordsBySpace)
	if err != nil {
		return measure.Work{}, err
	}
	measurers := make([]*text.Measurer, n)
	for w := range measurers {
		measurers[w] = text.NewMeasurer()
	}
	kept := make([]bool, c.Len())
	return measure.Work{
		Run: func() error {
			var next atomic.Int64
			return n.do(func(w int) error {
				for {
					lo := int(next.Add(shareRows)) - shareRows
					if lo >= len(kept) {
						return nil
					}
					for i := lo; i < min(lo+shareRows, len(kept)); i++ {
						kept[i] = q.Check(measurers[w], c.Bytes(i)).Kept()
					}
				}
			})
		},
		Rows: func() (iter.Seq[[]byte], error) { return verdictRows(kept), nil },
	}, nil
}

// bindFused binds a pass whose outer phases run on all workers, and the middle one
// in the order of the batches. The survivors are packed.
func (n crew) bindFused(d *measure.Dataset, j fusedJob) (measure.Work, error) {
	batches, err := cut(d.Rows, shareRows)
	if err != nil {
		return measure.Work{}, err
	}
	out := make([]text.Packed, len(batches))
	scratch := make([]*text.Batch, n)
	for w := range scratch {
		scratch[w] = text.NewBatch()
	}
	return measure.Work{
		Run: func() error {
			f, err := newPipeline(j)
			if err != nil {
				return err
			}
			var next atomic.Int64
			order := newTurns()
			return n.do(func(w int) error {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(batches) {
						return nil
					}
					f.Scan(scratch[w], batches[i])
					order.wait(i)
					err := f.Resolve(scratch[w])
					order.done()
					if err != nil {
						return err
					}
					if err := f.EmitInto(scratch[w], &out[i]); err != nil {
						return err
					}
				}
			})
		},
		Rows: func() (iter.Seq[[]byte], error) { return packedRows(out), nil },
	}, nil
}

// turns lets one goroutine at a time go, by number.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	turn int
}

func newTurns() *turns {
	t := new(turns)
	t.cond = sync.NewCond(&t.mu)
	return t
}

// wait returns when it is the turn of i.
func (t *turns) wait(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.turn != i {
		t.cond.Wait()
	}
}

// done ends the turn of whoever has it.
func (t *turns) done() {
	t.mu.Lock()
	t.turn++
	t.mu.Unlock()
	t.cond.Broadcast()
}
