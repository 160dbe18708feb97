package main

import (
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// tally counts what came out of a run. It is added to as batches are written, in
// order, so that after a failure it holds exactly what precedes it.
type tally struct {
	text  text.Totals
	bad   map[source.BadReason]int64
	stats source.Stats
	pii   *text.PIIMasker // that counted spans are of; nil without one
}

// add counts a batch that was written. bad are the records that were skipped.
func (t *tally) add(bad []source.BadRecord, stats source.Stats, r *text.Result) {
	t.text.Add(r.Totals)
	t.stats.Add(stats)
	if len(bad) > 0 && t.bad == nil {
		t.bad = map[source.BadReason]int64{}
	}
	for i := range bad {
		t.bad[bad[i].Reason]++
	}
}

// totals returns the counts in the words of the report, for the stages that ran.
func (t *tally) totals(stages []text.Stage) totals {
	bad := int64(0)
	for _, n := range t.bad {
		bad += n
	}
	x := &t.text
	out := totals{
		Records: recordTotals{In: x.RowsIn + bad, Out: x.RowsOut, Dropped: x.RowsIn + bad - x.RowsOut, Padded: t.stats.Padded},
		Bytes:   byteTotals{TextIn: x.BytesIn, TextOut: x.BytesOut},
		Source: sourceTotals{
			Lines: t.stats.Lines, Blank: t.stats.Blank, BOMs: t.stats.BOMs, Replaced: t.stats.Replaced,
			LeftOut: t.stats.Dropped, Skipped: t.stats.Skipped,
		},
	}
	for _, s := range append([]text.Stage{text.StageSource}, stages...) {
		counts := &x.Stages[s]
		st := stageTotals{Name: s.String(), In: counts.In, Out: counts.Kept, Dropped: map[string]int64{}}
		for r, n := range counts.Dropped {
			if n > 0 {
				st.Dropped[text.Reason(r).String()] = n
			}
		}
		switch s {
		case text.StageSource:
			st.In += bad
			for r, n := range t.bad {
				st.Dropped[r.String()] = n
			}
		case text.StagePII:
			st.Masked = map[string]int64{}
			for k, n := range x.Masked {
				if n > 0 {
					st.Masked[t.pii.Name(text.Kind(k))] = n
				}
			}
		}
		out.Stages = append(out.Stages, st)
	}
	return out
}
