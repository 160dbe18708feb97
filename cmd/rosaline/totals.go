package main

import "maps"

// totals are the counts of a run as the report and the table have them.
type totals struct {
	Records recordTotals  `json:"records"`
	Bytes   byteTotals    `json:"bytes"`
	Stages  []stageTotals `json:"stages"` // source first, then the stages that ran, in order
	Source  sourceTotals  `json:"source"`
}

// recordTotals count records.
type recordTotals struct {
	In      int64 `json:"in"` // lines that are not blank
	Out     int64 `json:"out"`
	Dropped int64 `json:"dropped"`
	Padded  int64 `json:"padded,omitempty"` // of those that came in: given again by --shard-mode pad
}

// byteTotals count bytes.
type byteTotals struct {
	Read    int64 `json:"read"`     // of the inputs, as they lie, compressed or not
	TextIn  int64 `json:"text_in"`  // of the texts of records
	TextOut int64 `json:"text_out"` // of the texts of records in the output
	Written int64 `json:"written"`  // of the output, as it lies
}

// stageTotals count what one stage did.
type stageTotals struct {
	Name    string           `json:"name"`
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Dropped map[string]int64 `json:"dropped"`          // by reason
	Masked  map[string]int64 `json:"masked,omitempty"` // spans by kind
}

// sourceTotals count what the readers met.
type sourceTotals struct {
	Files    int   `json:"files"`
	Lines    int64 `json:"lines"` // blank ones too
	Blank    int64 `json:"blank"`
	BOMs     int64 `json:"boms"`               // byte order marks taken away
	Replaced int64 `json:"replaced"`           // bytes and escapes that became U+FFFD
	LeftOut  int64 `json:"left_out,omitempty"` // lines, by --shard-mode drop
	Skipped  int64 `json:"skipped,omitempty"`  // WARC records of a kind that has no text
}

// dropped returns how many records the stage dropped.
func (s *stageTotals) dropped() int64 {
	n := int64(0)
	for c := range maps.Values(s.Dropped) {
		n += c
	}
	return n
}

// rate returns n a second, 0 for no time at all.
func rate(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// add adds what was counted before. What belongs to the inputs and outputs as a whole stays.
func (t *totals) add(before *totals) {
	t.Records.In += before.Records.In
	t.Records.Out += before.Records.Out
	t.Records.Dropped += before.Records.Dropped
	t.Records.Padded += before.Records.Padded
	t.Bytes.TextIn += before.Bytes.TextIn
	t.Bytes.TextOut += before.Bytes.TextOut
	t.Source.Lines += before.Source.Lines
	t.Source.Blank += before.Source.Blank
	t.Source.BOMs += before.Source.BOMs
	t.Source.Replaced += before.Source.Replaced
	t.Source.LeftOut += before.Source.LeftOut
	t.Source.Skipped += before.Source.Skipped
	for _, b := range before.Stages {
		for i := range t.Stages {
			if t.Stages[i].Name == b.Name {
				t.Stages[i].add(b)
			}
		}
	}
}

func (s *stageTotals) add(before stageTotals) {
	s.In += before.In
	s.Out += before.Out
	for _, m := range []struct{ to, from map[string]int64 }{{s.Dropped, before.Dropped}, {s.Masked, before.Masked}} {
		for name, n := range m.from {
			m.to[name] += n
		}
	}
}
