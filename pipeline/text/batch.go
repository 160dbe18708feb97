package text

import (
	"errors"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// ErrPhase is returned when the phases of a batch are not called in the order
// Scan, Resolve, Emit, or not all on the pipeline that scanned it.
var ErrPhase = errors.New("text: phase out of order")

// phase is how far a batch has come.
type phase uint8

const (
	phaseIdle phase = iota
	phaseScanned
	phaseResolved
)

// Batch is the scratch memory of one batch on its way through a
// [FusedPipeline]. It belongs to one goroutine at a time, may be used again for
// any pipeline after Emit, and keeps what memory an ordinary batch needs. The zero
// value is ready.
type Batch struct {
	phase    phase
	pipeline *FusedPipeline // that scanned it
	column   *stringtensor.Column
	records  []record
	spans    []Span // of all records, one after the other
	arena    arena
	repaired []byte // scratch of the cleaner
	measurer Measurer
	position int // of the deduplicator after Resolve
}

// NewBatch returns a batch.
func NewBatch() *Batch { return new(Batch) }

// record is one row on its way.
type record struct {
	text    []byte // as it is after Scan; spans of it are still to be replaced
	key     []byte // as deduplication saw it
	hash    Hash128
	outLen  int // length of text with its spans replaced
	spanLo  int // spans[spanLo:spanHi] were found in it
	spanHi  int
	verdict Verdict
	stage   Stage // where it was dropped
	null    bool
	deduped bool // it came as far as deduplication
	masking bool // its spans are to be replaced by Emit
}

// begin readies the batch for a column in f.
func (b *Batch) begin(f *FusedPipeline, col *stringtensor.Column) {
	b.forget()
	if n := col.Len(); cap(b.records) < n {
		b.records = make([]record, n, n+n/2)
	} else {
		b.records = b.records[:n]
	}
	b.pipeline, b.column = f, col
}

// keepRecords is the number of records, and of spans, whose scratch is kept: some
// 20 MiB at most.
const keepRecords = 1 << 17

// keepBytes is how much memory of one repaired text is kept.
const keepBytes = 2 << 20

// forget drops all references to the caller's memory, and scratch that only
// unusually long texts or batches need.
func (b *Batch) forget() {
	b.phase, b.pipeline, b.column, b.position = phaseIdle, nil, nil, 0
	clear(b.records)
	b.records, b.spans = b.records[:0], b.spans[:0]
	if cap(b.records) > keepRecords {
		b.records = nil
	}
	if cap(b.spans) > keepRecords {
		b.spans = nil
	}
	if cap(b.repaired) > keepBytes {
		b.repaired = nil
	}
	b.arena.reset()
	b.measurer.release()
}

// drop ends the way of a record.
func (r *record) drop(s Stage, v Verdict) { r.stage, r.verdict = s, v }

// clean runs the cleaner on s with rewritten text in the arena.
func (b *Batch) clean(c *TextCleaner, s []byte) ([]byte, Verdict) {
	repair := c.needsRepair(s)
	if repair {
		b.repaired = c.repairs.Append(b.repaired[:0], s)
		s = b.repaired
	}
	s, cr := c.trimmed(s)
	if cr >= 0 || repair {
		room := b.arena.alloc(len(s))
		out := appendLF(room[:0], s, cr)
		b.arena.giveBack(len(room) - len(out))
		s = out
	}
	return c.bounded(s)
}

// find appends the spans of s to those of the batch. c holds its classes, or is nil if
// they are not needed.
func (b *Batch) find(m *PIIMasker, r *record, s []byte, c *classes) []Span {
	r.spanLo = len(b.spans)
	b.spans = m.find(b.spans, s, c)
	r.spanHi = len(b.spans)
	return b.spans[r.spanLo:]
}
