package text

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
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
	for _, b := range o.buffers {
		o.data = append(o.data, b.Bytes())
	}
	nulls := col.NullCount() > 0
	for i := range col.Len() {
		switch v := col.View(i); {
		case nulls && col.IsNull(i):
			o.keep(i)
		case c.repairs != 0 || v.IsInline():
			o.clean(i, col.Bytes(i))
		default:
			o.cleanPooled(i, v)
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
	data    [][]byte // what the buffers of col hold
	returns returnSearch
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
	v := o.col.View(i)
	// What was cut off the front is missing from the capacity.
	o.cut(i, v, t, v.Offset()+cap(s)-cap(t))
}

// cleanPooled is clean of a row that lies in a buffer, without repairs.
func (o *columnCleaning) cleanPooled(i int, v stringtensor.StringView16) {
	data, lo := o.data[v.Buffer()], v.Offset()
	hi := lo + v.Len()
	if o.cleaner.trim && (spaceFirst[data[lo]] || spaceLast[data[hi-1]]) {
		s := data[lo:hi]
		t := trimSpace(s)
		lo += cap(s) - cap(t)
		hi = lo + len(t)
	}
	if o.cleaner.newlines {
		if cr := o.returns.first(v.Buffer(), data, lo, hi); cr < hi {
			o.rewrite(i, data[lo:hi], cr-lo)
			return
		}
	}
	o.cut(i, v, data[lo:hi], lo)
}

// cut keeps row i as t, a part of it that lies at an offset of its buffer, if it is
// within the bounds.
func (o *columnCleaning) cut(i int, v stringtensor.StringView16, t []byte, offset int) {
	t, verdict := o.cleaner.bounded(t)
	switch {
	case !verdict.Kept():
		o.drops = append(o.drops, Drop{i, StageClean, verdict})
	case len(t) == v.Len():
		o.keep(i)
	default:
		o.change(i, viewOf(t, v.Buffer(), offset))
	}
}

// returnSearch finds the CRs of texts in buffers. Texts that lie end to end are searched
// as one.
type returnSearch struct {
	buffer   int
	from, to int  // there is no CR between them
	found    bool // there is one at to
	credit   int  // bytes that may be searched beyond a text
}

const (
	// maxAhead is how far a search goes beyond a text at most: not so far that the
	// texts there would have left the nearest cache when it is their turn.
	maxAhead = 16 << 10
	// maxGap is how far texts may lie from each other to count as end to end, white
	// space that was trimmed between them.
	maxGap = 64
)

// first returns the place of the first CR in data[lo:hi], or one from hi on if there is
// none. data is the buffer of that number. No more bytes are searched than twice those of
// the texts, and of texts that do not lie end to end none but theirs.
func (x *returnSearch) first(buffer int, data []byte, lo, hi int) int {
	if lo > x.to || lo < x.from || buffer != x.buffer {
		if lo > x.to+maxGap || lo < x.from || buffer != x.buffer {
			x.credit = 0
		}
		x.buffer, x.from, x.to, x.found = buffer, lo, lo, false
	}
	if !x.found && x.to < hi {
		start, end := x.to, min(hi+min(x.credit, maxAhead), len(data))
		n := bytes.IndexByte(data[start:end], '\r')
		x.found = n >= 0
		if x.found {
			end = start + n
		}
		x.to = end
		x.credit -= end - start
	}
	x.credit += 2 * (hi - lo)
	return x.to
}

// minCleanSlab is the size of the first buffer of rows rewritten: few rows are.
const minCleanSlab = 16 << 10

// rewrite keeps row i as t with its line ends changed, the first at t[cr].
func (o *columnCleaning) rewrite(i int, t []byte, cr int) {
	if cap(o.text)-len(o.text) < len(t) {
		o.closeText()
		o.slab = min(max(2*o.slab, minCleanSlab), maxArenaSlab)
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
	if len(s) <= stringtensor.MaxInline {
		v, _ := stringtensor.InlineView(s)
		return v
	}
	// The memory of a view is two words. As 16 bytes they would be loaded in another
	// way than they were stored, which takes the processor longer than all the rest.
	v := cpu.View{
		uint64(len(s)) | uint64(binary.LittleEndian.Uint32(s))<<32,
		uint64(uint32(buffer)) | uint64(uint32(offset))<<32,
	}
	return *(*stringtensor.StringView16)(unsafe.Pointer(&v))
}
