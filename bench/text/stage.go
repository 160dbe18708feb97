package main

import (
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/pipeline/text"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// packedForm is the form that writes offsets and payload.
const packedForm = "batches of 1024, packed"

// batchRows is the size of a batch in the forms that cut the column.
const batchRows = 1024

// fusedJob is a job of a fused pass.
type fusedJob struct {
	job    string
	stages []text.Stage
	kinds  []text.Kind
}

func fusedJobs() []fusedJob {
	return []fusedJob{
		{"clean", []text.Stage{text.StageClean}, nil},
		{"pii", []text.Stage{text.StagePII}, text.DefaultKinds()},
		{"pii email", []text.Stage{text.StagePII}, []text.Kind{text.KindEmail}},
		{"fused", []text.Stage{text.StageClean, text.StageQuality, text.StageDedup}, nil},
		{"fused + pii", text.DefaultStages(), text.DefaultKinds()},
	}
}

// textSpecs are the jobs on texts: single stages, and several fused in one pass.
func textSpecs() []measure.Spec {
	specs := []measure.Spec{
		measure.NewSpec("quality", "QualityFilter.Check", bindQuality(text.WordsBySpace)),
		measure.NewSpec("quality by script", "QualityFilter.Check", bindQuality(text.WordsByScript)),
		measure.NewSpec("dedup", "StreamDeduplicator.Filter", bindDedup),
		measure.NewSpec("utf8", "ValidateUTF8", bindUTF8),
		measure.NewSpec("clean", "TextCleaner.CleanColumn", bindClean),
	}
	for _, f := range fusedJobs() {
		inBatches := func(rows int) func(*measure.Dataset) (measure.Work, error) {
			return func(d *measure.Dataset) (measure.Work, error) { return bindFused(d, f, rows) }
		}
		specs = append(specs,
			measure.NewSpec(f.job, "one batch", inBatches(math.MaxInt)),
			measure.NewSpec(f.job, "batches of 1024", inBatches(batchRows)),
			measure.NewSpec(f.job, packedForm, func(d *measure.Dataset) (measure.Work, error) { return bindPacked(d, f) }))
	}
	return specs
}

// newQuality returns the filter of the preset. The other systems know words between
// white space only, so that is what stands beside them.
func newQuality(words text.Words) (*text.QualityFilter, error) {
	return text.NewQualityFilter(text.WithPreset(text.PresetPretraining), text.WithWords(words))
}

func bindQuality(words text.Words) func(*measure.Dataset) (measure.Work, error) {
	return func(d *measure.Dataset) (measure.Work, error) {
		c, err := stringtensor.FromStrings(d.Rows)
		if err != nil {
			return measure.Work{}, err
		}
		q, err := newQuality(words)
		if err != nil {
			return measure.Work{}, err
		}
		m, kept := text.NewMeasurer(), make([]bool, c.Len())
		return measure.Work{
			Run: func() error {
				for i := range kept {
					kept[i] = q.Check(m, c.Bytes(i)).Kept()
				}
				return nil
			},
			Rows: func() (iter.Seq[[]byte], error) { return verdictRows(kept), nil },
		}, nil
	}
}

// verdictRows yields a row for each verdict.
func verdictRows(verdicts []bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, v := range verdicts {
			if !yield(measure.Verdict(v)) {
				return
			}
		}
	}
}

func bindClean(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	cleaner, err := text.NewTextCleaner()
	if err != nil {
		return measure.Work{}, err
	}
	return ofColumn(func() (*stringtensor.Column, error) {
		cleaned, err := cleaner.CleanColumn(c)
		if err != nil {
			return nil, err
		}
		return cleaned.Column, nil
	}), nil
}

func bindDedup(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	return ofColumn(func() (*stringtensor.Column, error) {
		dedup, err := text.NewStreamDeduplicator()
		if err != nil {
			return nil, err
		}
		return c.Filter(dedup.Filter(c))
	}), nil
}

func bindUTF8(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	return measure.Work{
		Run:  c.ValidateUTF8,
		Rows: func() (iter.Seq[[]byte], error) { return slices.Values([][]byte{measure.Verdict(true)}), nil },
	}, nil
}

// million is how many texts memory is measured with.
const million = 1_000_000

// setSpecs are the jobs on the set of a deduplicator.
func setSpecs() []measure.Spec {
	return []measure.Spec{measure.NewSpec("dedup a million", "StreamDeduplicator.IsUnique", bindMillion)}
}

// bindMillion binds the insertion of a million short texts, that differ, one by one.
func bindMillion(*measure.Dataset) (measure.Work, error) {
	var texts []byte
	ends := make([]int, million)
	for i := range ends {
		texts = strconv.AppendInt(append(texts, "text number "...), int64(i), 10)
		ends[i] = len(texts)
	}
	var d *text.StreamDeduplicator
	return measure.Work{
		Items: million,
		Bytes: int64(len(texts)),
		Run: func() (err error) {
			if d, err = text.NewStreamDeduplicator(); err != nil {
				return err
			}
			start := 0
			for _, end := range ends {
				d.IsUnique(texts[start:end])
				start = end
			}
			return nil
		},
		Figures: func() (map[string]float64, error) {
			return map[string]float64{"bytes an entry": float64(d.Bytes()) / float64(d.Position())}, nil
		},
	}, nil
}

// bindFused binds a pass over batches of so many rows. Deduplication starts
// afresh in each run; the scratch memory of a batch is used again.
func bindFused(d *measure.Dataset, j fusedJob, rows int) (measure.Work, error) {
	batches, err := cut(d.Rows, rows)
	if err != nil {
		return measure.Work{}, err
	}
	scratch, out := text.NewBatch(), make([]*stringtensor.Column, len(batches))
	return measure.Work{
		Run: func() error {
			f, err := newPipeline(j)
			if err != nil {
				return err
			}
			for i, c := range batches {
				f.Scan(scratch, c)
				if err := f.Resolve(scratch); err != nil {
					return err
				}
				r, err := f.Emit(scratch)
				if err != nil {
					return err
				}
				out[i] = r.Column
			}
			return nil
		},
		Rows: func() (iter.Seq[[]byte], error) {
			c, err := stringtensor.Concat(out...)
			if err != nil {
				return nil, err
			}
			return columnRows(c), nil
		},
	}, nil
}

// bindPacked is bindFused with the survivors of each batch packed into memory that is
// used again in each run. Its figure is the allocations of a document once there is
// room for all texts in the deduplicator.
func bindPacked(d *measure.Dataset, j fusedJob) (measure.Work, error) {
	batches, err := cut(d.Rows, batchRows)
	if err != nil {
		return measure.Work{}, err
	}
	scratch, out := text.NewBatch(), make([]text.Packed, len(batches))
	pass := func(f *text.FusedPipeline) error {
		for i, c := range batches {
			f.Scan(scratch, c)
			if err := f.Resolve(scratch); err != nil {
				return err
			}
			if err := f.EmitInto(scratch, &out[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return measure.Work{
		Run: func() error {
			f, err := newPipeline(j)
			if err != nil {
				return err
			}
			return pass(f)
		},
		Rows: func() (iter.Seq[[]byte], error) { return packedRows(out), nil },
		Figures: func() (map[string]float64, error) {
			f, err := newPipeline(j, text.WithCapacity(len(d.Rows)))
			if err != nil {
				return nil, err
			}
			if err := pass(f); err != nil {
				return nil, err
			}
			if dedup := f.Deduplicator(); dedup != nil {
				dedup.Rollback()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := pass(f); err != nil {
				return nil, err
			}
			runtime.ReadMemStats(&after)
			return map[string]float64{"allocations": float64(after.Mallocs-before.Mallocs) / float64(len(d.Rows))}, nil
		},
	}, nil
}

// packedRows yields the survivors of all batches.
func packedRows(packed []text.Packed) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, p := range packed {
			for j := range p.Rows {
				if !yield(p.Payload[p.Offsets[j]:p.Offsets[j+1]]) {
					return
				}
			}
		}
	}
}

// cut returns the column of rows as slices of n rows at most.
func cut(rows []string, n int) ([]*stringtensor.Column, error) {
	c, err := stringtensor.FromStrings(rows)
	if err != nil {
		return nil, err
	}
	var out []*stringtensor.Column
	n = min(n, max(c.Len(), 1))
	for lo := 0; lo < c.Len(); lo += n {
		part, err := c.Slice(lo, min(lo+n, c.Len()))
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// newPipeline returns the pipeline of a job, its deduplicator with the options.
func newPipeline(j fusedJob, dedup ...text.DedupOption) (*text.FusedPipeline, error) {
	opts := []text.FusedOption{text.WithStages(j.stages...)}
	if slices.Contains(j.stages, text.StageQuality) {
		q, err := newQuality(text.WordsBySpace)
		if err != nil {
			return nil, err
		}
		opts = append(opts, text.WithQuality(q))
	}
	if slices.Contains(j.stages, text.StageDedup) {
		d, err := text.NewStreamDeduplicator(dedup...)
		if err != nil {
			return nil, err
		}
		opts = append(opts, text.WithDedup(d))
	}
	if j.kinds != nil {
		m, err := text.NewPIIMasker(text.WithKinds(j.kinds...))
		if err != nil {
			return nil, err
		}
		opts = append(opts, text.WithPII(m))
	}
	return text.NewFusedPipeline(opts...)
}
