package text

import (
	"encoding/binary"
	"slices"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// Cleaned is a column after cleaning.
type Cleaned struct {
	// Column has the texts that were kept. Those that were only trimmed or cut, or
	// not even that, share the memory of the input; those that changed inside lie in
	// buffers of their own. It has its own claims on borrowed memory.
	Column *stringtensor.Column
	Rows   stringtensor.Selection // the input row of each, ascending
	Drops  []Drop                 // the other rows, ascending
}

// CleanColumn cleans all rows of a column; nulls are kept. It takes O(rows) beside
// one look through the text for what may change, and copies only texts in which
// something does. The errors are those of [stringtensor.FromViews], for a column that is
// not sound.
func (c *TextCleaner) CleanColumn(col *stringtensor.Column) (*Cleaned, error) {
	o := columnCleaning{
		cleaner: c,
		col:     col,
		buffers: col.Buffers(),
		rows:    make(stringtensor.Selection, 0, col.Len()),
	}
	nulls := col.NullCount() > 0
	for i := range col.Len() {
		if nulls && col.IsNull(i) {
			o.keep(i)
		} else {
			o.clean(i, col.Bytes(i))
		}
	}
	kept, err := o.finish(nulls)
	if err != nil {
		return nil, err
	}
	return &Cleaned{kept, o.rows, o.drops}, nil
}

// columnCleaning is a column on its way through a cleaner.
type columnCleaning struct {
	cleaner *TextCleaner
	col     *stringtensor.Column
	buffers []*stringtensor.Buffer
	views   []stringtensor.StringView16 // of the rows kept; empty until one changes
	rows    stringtensor.Selection
	drops   []Drop
	text    []byte // of the rows rewritten, the buffer after buffers
	slab    int    // size of the last text

	repaired []byte // scratch
}

// clean cleans row i, which is s.
func (o *columnCleaning) clean(i int, s []byte) {
	repair := o.cleaner.needsRepair(s)
	if repair {
		o.repaired = o.cleaner.repairs.Append(o.repaired[:0], s)
		s = o.repaired
	}
	t, cr := o.cleaner.trimmed(s)
	if cr >= 0 || repair {
		o.rewrite(i, t, cr)
		return
	}
	t, verdict := o.cleaner.bounded(t)
	switch {
	case !verdict.Kept():
		o.drops = append(o.drops, Drop{i, StageClean, verdict})
	case len(t) == len(s):
		o.keep(i)
	default:
		v := o.col.View(i)
		// What was cut off the front is missing from the capacity.
		o.change(i, viewOf(t, v.Buffer(), v.Offset()+cap(s)-cap(t)))
	}
}

// rewrite keeps row i as t with its line ends changed, the first at t[cr].
func (o *columnCleaning) rewrite(i int, t []byte, cr int) {
	if cap(o.text)-len(o.text) < len(t) {
		o.closeText()
		o.slab = min(max(2*o.slab, minArenaSlab), maxArenaSlab)
		o.text = make([]byte, 0, max(len(t), o.slab))
	}
	start := len(o.text)
	o.text = appendLF(o.text, t, cr)
	t, verdict := o.cleaner.bounded(o.text[start:])
	if !verdict.Kept() {
		o.text = o.text[:start]
		o.drops = append(o.drops, Drop{i, StageClean, verdict})
		return
	}
	o.text = o.text[:start+len(t)]
	o.change(i, viewOf(t, len(o.buffers), start))
}

// closeText makes a buffer of the rows rewritten since the last.
func (o *columnCleaning) closeText() {
	if len(o.text) > 0 {
		o.buffers = append(slices.Clip(o.buffers), stringtensor.NewBuffer(o.text, nil))
		o.text = nil
	}
}

// keep keeps row i as it is.
func (o *columnCleaning) keep(i int) {
	if len(o.views) > 0 {
		o.views = append(o.views, o.col.View(i))
	}
	o.rows = append(o.rows, uint32(i))
}

// change keeps row i with another view.
func (o *columnCleaning) change(i int, v stringtensor.StringView16) {
	if len(o.views) == 0 {
		o.views = make([]stringtensor.StringView16, 0, o.col.Len())
		for _, row := range o.rows {
			o.views = append(o.views, o.col.View(int(row)))
		}
	}
	o.views = append(o.views, v)
	o.rows = append(o.rows, uint32(i))
}

// finish returns the column of the rows kept.
func (o *columnCleaning) finish(nulls bool) (*stringtensor.Column, error) {
	if len(o.views) == 0 {
		if len(o.drops) == 0 {
			return o.col.Slice(0, o.col.Len())
		}
		return o.col.Filter(o.rows)
	}
	o.closeText()
	opts := []stringtensor.OffsetsOption{stringtensor.WithRawBytes()}
	if nulls {
		valid := make([]byte, (len(o.rows)+7)/8)
		for i, row := range o.rows {
			if !o.col.IsNull(int(row)) {
				valid[i/8] |= 1 << (i % 8)
			}
		}
		opts = append(opts, stringtensor.WithValidity(valid, 0))
	}
	return stringtensor.FromViews(o.views, o.buffers, opts...)
}

// viewOf returns the view of s, which lies at an offset of a buffer or is short
// enough to be inline.
func viewOf(s []byte, buffer, offset int) stringtensor.StringView16 {
	if v, ok := stringtensor.InlineView(s); ok {
		return v
	}
	// By whole words, which are loaded again as they were stored.
	var b [stringtensor.ViewSize]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(len(s))|uint64(binary.LittleEndian.Uint32(s))<<32)
	binary.LittleEndian.PutUint64(b[8:], uint64(uint32(buffer))|uint64(uint32(offset))<<32)
	return stringtensor.ViewFromBytes(b)
}
