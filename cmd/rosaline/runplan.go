package main

import (
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// runPlan is the pipeline of rosaline run.
type runPlan struct {
	plan  *pipeline.Pipeline[*batch]
	split *splitting // nil unless records are shuffled
}

// newRunPlan makes the pipeline of inputs, whose batches are for w. Dedup is that of a run that
// can be resumed, else nil.
func newRunPlan(f *runFlags, in *intake, decode *decoding, stages *text.FusedPipeline, w *writer, dedup *resume.Dedup) *runPlan {
	p := &runPlan{}
	groups := pipeline.Apply(pipeline.From(in), decode)
	if f.shuffle.n > 0 {
		pool := new(itemPool)
		p.split = &splitting{pool: pool, pause: w.pause}
		shuffled := pipeline.Apply(groups, p.split).Shuffle(f.shuffle.n)
		groups = pipeline.Apply(pipeline.BatchRaw(shuffled, f.batch.n), &gathering{pool, w.pause})
	}
	batches := pipeline.Apply(groups, &scanning{stages, w.pool, w.pause})
	batches = batches.Stateful(func() pipeline.StatefulTransform[*batch, *batch] {
		if dedup != nil {
			return newResumableResolving(stages, f.epochs.n == 0, w.pause, dedup)
		}
		return newResolving(stages, f.epochs.n == 0, w.pause)
	}).Named("resolve")
	batches = batches.Transform(&emitting{stages, f.fileFormat, f.columns(), w.rejects != nil, w.pause})
	p.plan = configure(batches, &f.engineFlags)
	return p
}

// writer writes the batches of rosaline run and counts what is in them.
type writer struct {
	*intake
	out      *sink
	rejects  target // nil when nobody asked for them
	tally    tally
	progress *progress
	pool     *batchPool
	pause    func()
}

// write writes a batch and lets go of it.
func (w *writer) write(b *batch) error {
	w.pause()
	if err := w.out.write(b); err != nil {
		return err
	}
	if w.rejects != nil {
		if _, err := w.rejects.Write(b.rejects); err != nil {
			return err
		}
	}
	w.tally.add(b.records.bad, b.records.stats, b.result)
	w.progress.set(w.intake.progress())
	w.pool.put(b)
	return nil
}
