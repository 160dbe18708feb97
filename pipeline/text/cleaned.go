package text

import (
	"bytes"

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
// something does. The error is [stringtensor.ErrStringTooLong], for a text that repairs made
// longer than a row may be.
func (c *TextCleaner) CleanColumn(col *stringtensor.Column) (*Cleaned, error) {
	o := columnCleaning{
		cleaner: c,
		col:     col,
		edit:    stringtensor.NewEditor(col),
		rows:    make(stringtensor.Selection, 0, col.Len()),
	}
	for _, b := range col.Buffers() {
		o.data = append(o.data, b.Bytes())
	}
	nulls := col.NullCount() > 0
	for i := range col.Len() {
		var err error
		switch v := col.View(i); {
		case nulls && col.IsNull(i):
			o.keep(i)
		case c.repairs != 0 || v.IsInline():
			err = o.clean(i, col.Bytes(i))
		default:
			err = o.cleanPooled(i, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Cleaned{o.edit.Finish(), o.rows, o.drops}, nil
}

// columnCleaning is a column on its way through a cleaner.
type columnCleaning struct {
	cleaner *TextCleaner
	col     *stringtensor.Column
	edit    *stringtensor.Editor
	data    [][]byte // what the buffers of col hold
	returns returnSearch
	rows    stringtensor.Selection
	drops   []Drop

	repaired []byte // scratch
}

// clean cleans row i, which is s.
func (o *columnCleaning) clean(i int, s []byte) error {
	repair := o.cleaner.needsRepair(s)
	if repair {
		o.repaired = o.cleaner.repairs.Append(o.repaired[:0], s)
		s = o.repaired
	}
	t, cr := o.cleaner.trimmed(s)
	if cr >= 0 || repair {
		return o.rewrite(i, t, cr)
	}
	// What was cut off the front is missing from the capacity.
	o.cut(i, t, cap(s)-cap(t))
	return nil
}

// cleanPooled is clean of a row that lies in a buffer, without repairs.
func (o *columnCleaning) cleanPooled(i int, v stringtensor.StringView16) error {
	data, lo := o.data[v.Buffer()], v.Offset()
	s := data[lo : lo+v.Len()]
	// The search comes first: it goes through memory in order, and what it has passed is
	// near when the ends are looked at.
	cr := len(s)
	if o.cleaner.newlines {
		cr = o.returns.first(v.Buffer(), data, lo, lo+len(s)) - lo
	}
	t, from := s, 0
	if o.cleaner.trim && (spaceFirst[s[0]] || spaceLast[s[len(s)-1]]) {
		t = trimSpace(s)
		from = cap(s) - cap(t)
	}
	cr -= from
	if cr < 0 { // it is cut off, and there may be more
		if cr = bytes.IndexByte(t, '\r'); cr < 0 {
			cr = len(t)
		}
	}
	if cr < len(t) {
		return o.rewrite(i, t, cr)
	}
	if len(t) == len(s) && o.cleaner.unbounded() {
		o.keep(i)
	} else {
		o.cut(i, t, from)
	}
	return nil
}

// keep keeps row i as it is.
func (o *columnCleaning) keep(i int) {
	o.edit.Keep(i)
	o.rows = append(o.rows, uint32(i))
}

// cut keeps row i as t, a part of it that begins at its byte from, if it is within the
// bounds.
func (o *columnCleaning) cut(i int, t []byte, from int) {
	t, verdict := o.cleaner.bounded(t)
	if !verdict.Kept() {
		o.drops = append(o.drops, Drop{i, StageClean, verdict})
		return
	}
	o.edit.Cut(i, from, from+len(t))
	o.rows = append(o.rows, uint32(i))
}

// rewrite keeps row i as t with its line ends changed, the first at t[cr].
func (o *columnCleaning) rewrite(i int, t []byte, cr int) error {
	room, err := o.edit.Room(len(t))
	if err != nil {
		return err
	}
	t, verdict := o.cleaner.bounded(appendLF(room[:0], t, cr))
	if !verdict.Kept() {
		o.drops = append(o.drops, Drop{i, StageClean, verdict})
		return nil
	}
	o.edit.AppendRoom(len(t))
	o.rows = append(o.rows, uint32(i))
	return nil
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
