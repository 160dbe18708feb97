package main

import (
	"iter"

	"github.com/rosaline-go/rosaline/pipeline/text"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// batchRows is the size of a batch in the forms that cut the column.
const batchRows = 1024

// textSpecs are the jobs on texts: single stages, and several fused in one pass.
func textSpecs() []spec {
	specs := []spec{
		{"quality", "QualityFilter.Check", bindQuality},
		{"dedup", "StreamDeduplicator.Filter", bindDedup},
	}
	for _, f := range []struct {
		job    string
		stages []text.Stage
		kinds  []text.Kind
	}{
		{"clean", []text.Stage{text.StageClean}, nil},
		{"pii", []text.Stage{text.StagePII}, text.DefaultKinds()},
		{"pii email", []text.Stage{text.StagePII}, []text.Kind{text.KindEmail}},
		{"fused", []text.Stage{text.StageClean, text.StageQuality, text.StageDedup}, nil},
		{"fused + pii", text.DefaultStages(), text.DefaultKinds()},
	} {
		specs = append(specs,
			spec{f.job, "one batch", func(d *dataset) (work, error) { return bindFused(d, f.stages, f.kinds, len(d.rows)) }},
			spec{f.job, "batches of 1024", func(d *dataset) (work, error) { return bindFused(d, f.stages, f.kinds, batchRows) }})
	}
	return specs
}

func bindQuality(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	q, err := text.NewQualityFilter(text.WithPreset(text.PresetPretraining))
	if err != nil {
		return work{}, err
	}
	m, kept := text.NewMeasurer(), make([]bool, c.Len())
	return work{
		run: func() error {
			for i := range kept {
				kept[i] = q.Check(m, c.Bytes(i)).Kept()
			}
			return nil
		},
		rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) {
				for _, k := range kept {
					if !yield(verdict(k)) {
						return
					}
				}
			}, nil
		},
	}, nil
}

func bindDedup(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	return ofColumn(func() (*stringtensor.Column, error) {
		dedup, err := text.NewStreamDeduplicator()
		if err != nil {
			return nil, err
		}
		return c.Filter(dedup.Filter(c))
	}), nil
}

// bindFused binds a pass over batches of so many rows. Deduplication starts
// afresh in each run; the scratch memory of a batch is used again.
func bindFused(d *dataset, stages []text.Stage, kinds []text.Kind, rows int) (work, error) {
	batches, err := cut(d.rows, rows)
	if err != nil {
		return work{}, err
	}
	scratch, out := text.NewBatch(), make([]*stringtensor.Column, len(batches))
	return work{
		run: func() error {
			f, err := newPipeline(stages, kinds)
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
		rows: func() (iter.Seq[[]byte], error) {
			c, err := stringtensor.Concat(out...)
			if err != nil {
				return nil, err
			}
			return columnRows(c), nil
		},
	}, nil
}

// cut returns the column of rows as slices of n rows.
func cut(rows []string, n int) ([]*stringtensor.Column, error) {
	c, err := stringtensor.FromStrings(rows)
	if err != nil {
		return nil, err
	}
	var out []*stringtensor.Column
	for lo := 0; lo < c.Len(); lo += n {
		part, err := c.Slice(lo, min(lo+n, c.Len()))
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// newPipeline returns a pipeline of stages, its masker looking for kinds.
func newPipeline(stages []text.Stage, kinds []text.Kind) (*text.FusedPipeline, error) {
	opts := []text.FusedOption{text.WithStages(stages...)}
	if kinds != nil {
		m, err := text.NewPIIMasker(text.WithKinds(kinds...))
		if err != nil {
			return nil, err
		}
		opts = append(opts, text.WithPII(m))
	}
	return text.NewFusedPipeline(opts...)
}
