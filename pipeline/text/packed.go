package text

import (
	"fmt"
	"math"
	"slices"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// Packed is what became of one batch, in memory that is used again for the next:
// the layout of a device, see package stringtensor. The zero value is ready. What it
// holds is good until the next [FusedPipeline.EmitInto].
type Packed struct {
	Offsets []uint32 // survivor i is Payload[Offsets[i]:Offsets[i+1]]
	Payload []byte
	Nulls   stringtensor.Selection // the survivors that are null, ascending; their strings are empty

	Rows  stringtensor.Selection // the input row of each survivor, ascending
	Drops []Drop                 // the other rows, ascending
	Totals

	Spans    [][]Span // as in [Result]
	Position int      // as in [Result]
}

// EmitInto is [FusedPipeline.Emit] that writes the survivors to out, each once,
// and in steady state allocates nothing. The errors are [ErrPhase], and
// [stringtensor.ErrOffsetOverflow] when the survivors have more than 2³²−1 bytes, or
// as many as int can count; out is empty then.
func (f *FusedPipeline) EmitInto(b *Batch, out *Packed) error {
	out.clear()
	if b.phase != phaseResolved || b.pipeline != f {
		return fmt.Errorf("%w: EmitInto needs a batch that this pipeline resolved", ErrPhase)
	}
	defer b.forget()
	f.count(b, &out.Totals)
	if n := out.BytesOut; n > min(math.MaxUint32, math.MaxInt) {
		out.clear()
		return fmt.Errorf("%w: the survivors of a batch have %d bytes; use smaller batches", stringtensor.ErrOffsetOverflow, n)
	}
	out.Position = b.position
	out.Payload = slices.Grow(out.Payload, int(out.BytesOut))
	out.Offsets = slices.Grow(out.Offsets, int(out.RowsOut)+1)
	out.Rows = slices.Grow(out.Rows, int(out.RowsOut))
	out.Drops = slices.Grow(out.Drops, int(out.RowsIn-out.RowsOut))
	out.Offsets = append(out.Offsets, 0)
	for i := range b.records {
		r := &b.records[i]
		if !r.verdict.Kept() {
			out.Drops = append(out.Drops, Drop{i, r.stage, r.verdict})
			continue
		}
		switch {
		case r.null:
			out.Nulls = append(out.Nulls, uint32(len(out.Rows)))
		case r.masking:
			out.Payload = f.pii.appendMasked(out.Payload, r.text, b.spans[r.spanLo:r.spanHi])
		default:
			out.Payload = append(out.Payload, r.text...)
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Payload)))
		out.Rows = append(out.Rows, uint32(i))
	}
	out.Spans = f.survivingSpans(b)
	return nil
}

// clear empties p and keeps its memory.
func (p *Packed) clear() {
	*p = Packed{Offsets: p.Offsets[:0], Payload: p.Payload[:0], Nulls: p.Nulls[:0], Rows: p.Rows[:0], Drops: p.Drops[:0]}
}
