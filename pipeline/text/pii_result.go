package text

import "fmt"

// PII returns the masker, nil if masking is not a stage.
func (f *FusedPipeline) PII() *PIIMasker { return f.pii }

// checkSpans refuses stages that may change a text behind one that reports spans of it.
func (f *FusedPipeline) checkSpans() error {
	if f.pii == nil || !f.pii.spansOnly {
		return nil
	}
	if place := f.place[StagePII]; f.place[StageClean] > place || f.place[StageQuality] > place {
		return fmt.Errorf("%w: spans are of the text as it comes out; put stage pii behind clean and quality", ErrOption)
	}
	return nil
}

// survivingSpans returns the spans of each survivor of a resolved batch, nil unless the
// masker only reports them.
func (f *FusedPipeline) survivingSpans(b *Batch) [][]Span {
	if f.pii == nil || !f.pii.spansOnly {
		return nil
	}
	all := append([]Span{}, b.spans...) // nil nowhere, whatever the batch held before
	out := make([][]Span, 0, len(b.records))
	for i := range b.records {
		if r := &b.records[i]; r.verdict.Kept() {
			out = append(out, all[r.spanLo:r.spanHi:r.spanHi])
		}
	}
	return out
}
