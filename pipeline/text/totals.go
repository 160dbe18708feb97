package text

// Totals count what happened to records. They are values: add those of batches
// to get those of a run.
type Totals struct {
	RowsIn, RowsOut   int64
	BytesIn, BytesOut int64 // of text, nulls having none

	// Stages has the counts of each stage, by [Stage]. Those that do not run
	// are zero; [StageSource] counts nulls.
	Stages [stageCount]StageCounts

	// Masked counts the spans that were replaced, by [Kind], those of rules among
	// them, also in records that a later stage dropped.
	Masked [maskedKinds]int64
}

// StageCounts say what one stage did.
type StageCounts struct {
	In, Kept int64
	Dropped  [reasonCount]int64 // by Reason
}

// Add adds the totals of other records.
func (t *Totals) Add(o Totals) {
	t.RowsIn += o.RowsIn
	t.RowsOut += o.RowsOut
	t.BytesIn += o.BytesIn
	t.BytesOut += o.BytesOut
	for i := range t.Stages {
		s, x := &t.Stages[i], &o.Stages[i]
		s.In += x.In
		s.Kept += x.Kept
		for r := range s.Dropped {
			s.Dropped[r] += x.Dropped[r]
		}
	}
	for k := range t.Masked {
		t.Masked[k] += o.Masked[k]
	}
}
