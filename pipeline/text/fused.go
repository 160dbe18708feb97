package text

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// FusedPipeline runs stages over batches of strings: see the package comment for
// the three phases. It is safe for concurrent use, with one [Batch] for each
// batch under way.
type FusedPipeline struct {
	stages  []Stage
	place   [stageCount]int // of a stage in stages; -1 for one that does not run
	cleaner *TextCleaner
	quality *QualityFilter
	dedup   *StreamDeduplicator
	pii     *PIIMasker

	keepNulls   bool
	commitDedup bool

	batches sync.Pool
}

// FusedOption changes what a [FusedPipeline] does.
type FusedOption func(*FusedPipeline)

// WithStages sets the stages and their order: any of clean, quality, dedup and
// pii, each at most once, or none at all for a copy. Default [DefaultStages].
func WithStages(stages ...Stage) FusedOption {
	return func(f *FusedPipeline) { f.stages = slices.Clone(stages) }
}

// WithCleaner sets the cleaner. Default: trim and line ends, no bounds.
func WithCleaner(c *TextCleaner) FusedOption { return func(f *FusedPipeline) { f.cleaner = c } }

// WithQuality sets the bounds of quality. Default [PresetPretraining].
func WithQuality(q *QualityFilter) FusedOption { return func(f *FusedPipeline) { f.quality = q } }

// WithDedup sets the deduplicator, which several pipelines may share. Default: a
// new one.
func WithDedup(d *StreamDeduplicator) FusedOption { return func(f *FusedPipeline) { f.dedup = d } }

// WithPII sets the masker. Default: that of [NewPIIMasker] without options.
func WithPII(m *PIIMasker) FusedOption { return func(f *FusedPipeline) { f.pii = m } }

// WithKeepNulls sets whether null rows pass. They have no text, so cleaning,
// quality and masking let them pass, and deduplication has a policy for them,
// see [WithNulls]. Default false: a null is dropped by [StageSource].
func WithKeepNulls(on bool) FusedOption { return func(f *FusedPipeline) { f.keepNulls = on } }

// WithCommitDedup sets whether [FusedPipeline.Process] commits the deduplicator
// after each batch. Default false: committing is the caller's, who knows when a
// batch has been delivered.
func WithCommitDedup(on bool) FusedOption { return func(f *FusedPipeline) { f.commitDedup = on } }

// NewFusedPipeline returns a pipeline. The error is [ErrOption]: for a stage that
// is unknown or comes twice, and for options of a stage that does not run.
func NewFusedPipeline(opts ...FusedOption) (*FusedPipeline, error) {
	f := &FusedPipeline{stages: DefaultStages()}
	for _, o := range opts {
		o(f)
	}
	for s := range f.place {
		f.place[s] = -1
	}
	for i, s := range f.stages {
		switch {
		case s == StageSource || s >= stageCount:
			return nil, fmt.Errorf("%w: stage %s cannot be run here, use clean, quality, dedup or pii", ErrOption, s)
		case f.place[s] >= 0:
			return nil, fmt.Errorf("%w: stage %s is listed twice", ErrOption, s)
		}
		f.place[s] = i
	}
	for _, x := range []struct {
		stage Stage
		given bool
	}{
		{StageClean, f.cleaner != nil}, {StageQuality, f.quality != nil},
		{StageDedup, f.dedup != nil || f.commitDedup}, {StagePII, f.pii != nil},
	} {
		if x.given && !f.has(x.stage) {
			return nil, fmt.Errorf("%w: stage %s has options but does not run; add it to the stages", ErrOption, x.stage)
		}
	}
	if err := f.checkSpans(); err != nil {
		return nil, err
	}
	return f, f.fill()
}

// fill makes the stages that run and were not given.
func (f *FusedPipeline) fill() (err error) {
	if f.has(StageClean) && f.cleaner == nil {
		if f.cleaner, err = NewTextCleaner(); err != nil {
			return err
		}
	}
	if f.has(StageQuality) && f.quality == nil {
		if f.quality, err = NewQualityFilter(WithPreset(PresetPretraining)); err != nil {
			return err
		}
	}
	if f.has(StageDedup) && f.dedup == nil {
		if f.dedup, err = NewStreamDeduplicator(); err != nil {
			return err
		}
	}
	if f.has(StagePII) && f.pii == nil {
		if f.pii, err = NewPIIMasker(); err != nil {
			return err
		}
	}
	return nil
}

func (f *FusedPipeline) has(s Stage) bool { return f.place[s] >= 0 }

// Stages returns the stages in the order they run.
func (f *FusedPipeline) Stages() []Stage { return slices.Clone(f.stages) }

// Deduplicator returns the deduplicator, which the caller commits; nil if
// deduplication is not a stage.
func (f *FusedPipeline) Deduplicator() *StreamDeduplicator { return f.dedup }

// Result is what became of one batch.
type Result struct {
	Column *stringtensor.Column   // the survivors, in memory of their own
	Rows   stringtensor.Selection // the input row of each survivor, ascending
	Drops  []Drop                 // the other rows, ascending
	Totals

	// Spans has the spans of each survivor if the masker only reports them, see
	// [WithSpansOnly]; else it is nil.
	Spans [][]Span

	// Position is where the deduplicator that resolved this batch stood after it, to
	// be given to [StreamDeduplicator.CommitTo] once the batch is delivered; 0 where
	// deduplication is not a stage.
	Position int
}

// Process runs all phases on a column: O(bytes), a fixed number of allocations.
// Batches get the same results whatever they are cut into, as long as they come
// in the same order. The error is that of [FusedPipeline.Emit]; what the batch
// staged for deduplication is then still staged, to be rolled back.
func (f *FusedPipeline) Process(col *stringtensor.Column) (*Result, error) {
	b, _ := f.batches.Get().(*Batch)
	if b == nil {
		b = NewBatch()
	}
	defer f.batches.Put(b)
	f.Scan(b, col)
	if err := f.Resolve(b); err != nil {
		return nil, err
	}
	r, err := f.Emit(b)
	if err == nil && f.commitDedup {
		f.dedup.Commit()
	}
	return r, err
}

// Scan takes a column into b and does all work on it that needs no other batch.
// Any number of batches may be scanned at once. The column must stay as it is
// until Emit.
func (f *FusedPipeline) Scan(b *Batch, col *stringtensor.Column) {
	b.begin(f, col)
	for i := range b.records {
		r := &b.records[i]
		if col.IsNull(i) {
			r.null = true
			if f.keepNulls {
				r.deduped = f.has(StageDedup)
			} else {
				r.drop(StageSource, Verdict{Reason: ReasonNull})
			}
			continue
		}
		f.scan(b, r, col.Bytes(i))
	}
	b.phase = phaseScanned
}

// scan runs the stages on one text. After deduplication it goes on as if the
// text were a first occurrence; Resolve knows better.
func (f *FusedPipeline) scan(b *Batch, r *record, s []byte) {
	classified := false // the classes in the measurer are those of s
	classify := func() {
		if !classified {
			b.measurer.classes.classify(s)
			classified = true
		}
	}
	var v Verdict
	for i, stage := range f.stages {
		switch stage {
		case StageClean:
			var out []byte
			out, v = b.clean(f.cleaner, s)
			classified = classified && unsafe.SliceData(out) == unsafe.SliceData(s) && len(out) == len(s)
			s = out
		case StageQuality:
			classify()
			var out []byte
			out, v = f.quality.filter(&b.measurer, s, &b.measurer.classes, &b.arena)
			classified = unsafe.SliceData(out) == unsafe.SliceData(s) && len(out) == len(s)
			s = out
		case StageDedup:
			r.key, r.hash, r.deduped = s, f.dedup.hash(s), true
		case StagePII:
			var c *classes
			if f.pii.needsClasses(s) {
				classify()
				c = &b.measurer.classes
			}
			spans := b.find(f.pii, r, s, c)
			if len(spans) == 0 || f.pii.spansOnly {
				break
			}
			if i == len(f.stages)-1 {
				r.masking = true // by Emit, into the column
				break
			}
			room := b.arena.alloc(f.pii.maskedLen(len(s), spans))
			s, classified = f.pii.appendMasked(room[:0], s, spans), false
		}
		if !v.Kept() {
			r.drop(stage, v)
			return
		}
	}
	r.text, r.outLen = s, len(s)
	if r.masking {
		r.outLen = f.pii.maskedLen(len(s), b.spans[r.spanLo:r.spanHi])
	}
}

// Resolve tells first occurrences from duplicates. Batches must be resolved in
// their order, one at a time; the work is a look-up for each row. Without
// deduplication it does nothing. The error is [ErrPhase].
func (f *FusedPipeline) Resolve(b *Batch) error { return f.ResolveWith(f.dedup, b) }

// ResolveWith is [FusedPipeline.Resolve] by another deduplicator than that of the
// pipeline, for a run that has one for each epoch, say: the batches of a stream may be
// resolved by different ones. The errors are [ErrPhase], and [ErrOption] if
// d is nil and deduplication is a stage, which leaves the batch as it was.
func (f *FusedPipeline) ResolveWith(d *StreamDeduplicator, b *Batch) error {
	if b.phase != phaseScanned || b.pipeline != f {
		return fmt.Errorf("%w: Resolve needs a batch that this pipeline scanned and that is not yet resolved", ErrPhase)
	}
	if f.has(StageDedup) && d == nil {
		return fmt.Errorf("%w: stage %s runs, but the batch came without a deduplicator", ErrOption, StageDedup)
	}
	b.phase = phaseResolved
	if !f.has(StageDedup) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var near nearby
	for i := range b.records {
		if i%lookAhead == 0 {
			for j := i; j < min(i+lookAhead, len(b.records)); j++ {
				if r := &b.records[j]; r.deduped {
					d.set.expect(&near, r.hash)
				}
			}
			near.fetch()
		}
		r := &b.records[i]
		if !r.deduped {
			continue
		}
		unique := false
		if r.null {
			unique = d.uniqueNull()
		} else {
			unique = !d.knows(r.hash, r.key) && d.stage(r.hash, present(r.key))
		}
		if !unique {
			r.drop(StageDedup, Verdict{Reason: ReasonDuplicate, Value: 1})
		}
	}
	b.position = d.set.n
	return nil
}

// Emit writes the survivors of a resolved batch into a column of their own and
// leaves b ready for another. Any number of batches may be emitted at once. The
// errors are [ErrPhase], and [stringtensor.ErrStringTooLong] where a replacement
// makes a text longer than a column can hold.
func (f *FusedPipeline) Emit(b *Batch) (*Result, error) {
	if b.phase != phaseResolved || b.pipeline != f {
		return nil, fmt.Errorf("%w: Emit needs a batch that this pipeline resolved", ErrPhase)
	}
	defer b.forget()
	res := &Result{Position: b.position}
	f.count(b, &res.Totals)
	var pooled int64
	for i := range b.records {
		if r := &b.records[i]; r.verdict.Kept() && (r.outLen > stringtensor.MaxInline || r.masking) {
			pooled += int64(r.outLen)
		}
	}
	var out stringtensor.Builder
	out.Reserve(int(res.RowsOut), int(min(pooled, stringtensor.MaxStringLen)))
	res.Rows = make(stringtensor.Selection, 0, res.RowsOut)
	res.Drops = make([]Drop, 0, res.RowsIn-res.RowsOut)
	for i := range b.records {
		r := &b.records[i]
		if !r.verdict.Kept() {
			res.Drops = append(res.Drops, Drop{i, r.stage, r.verdict})
			continue
		}
		if err := f.emit(b, r, &out); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		res.Rows = append(res.Rows, uint32(i))
	}
	res.Column, res.Spans = out.Finish(), f.survivingSpans(b)
	return res, nil
}

// emit appends one survivor.
func (f *FusedPipeline) emit(b *Batch, r *record, out *stringtensor.Builder) error {
	switch {
	case r.null:
		out.AppendNull()
	case r.masking:
		room, err := out.Room(r.outLen)
		if err != nil {
			return err
		}
		f.pii.appendMasked(room[:0], r.text, b.spans[r.spanLo:r.spanHi])
		out.AppendRoom(r.outLen)
	default:
		return out.Append(r.text)
	}
	return nil
}

// count fills the totals, which are zero.
func (f *FusedPipeline) count(b *Batch, t *Totals) {
	t.RowsIn = int64(len(b.records))
	for i := range b.records {
		r := &b.records[i]
		t.BytesIn += int64(len(b.column.Bytes(i)))
		place := len(f.stages)
		if r.verdict.Kept() {
			t.RowsOut++
			t.BytesOut += int64(r.outLen)
		} else {
			t.Stages[r.stage].Dropped[r.verdict.Reason]++
			place = f.place[r.stage]
		}
		if f.has(StagePII) && place > f.place[StagePII] {
			for _, x := range b.spans[r.spanLo:r.spanHi] {
				t.Masked[x.Kind]++
			}
		}
	}
	in := t.RowsIn
	for i := -1; i < len(f.stages); i++ {
		s := &t.Stages[StageSource]
		if i >= 0 {
			s = &t.Stages[f.stages[i]]
		}
		s.In, s.Kept = in, in
		for _, n := range s.Dropped {
			s.Kept -= n
		}
		in = s.Kept
	}
}
