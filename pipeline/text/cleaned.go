package text

import (
	"bytes"

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
// something does. The error is [stringtensor.ErrStringTooLong], for a text that repairs made
// longer than a row may be.
func (c *TextCleaner) CleanColumn(col *stringtensor.Column) (*Cleaned, error) {
	o := columnCleaning{
		cleaner: c,
		col:     col,
		nulls:   col.NullCount() > 0,
		edit:    stringtensor.NewEditor(col),
		rows:    make(stringtensor.Selection, 0, col.Len()),
	}
	for _, b := range col.Buffers() {
		o.data = append(o.data, b.Bytes())
	}
	for i := 0; i < col.Len(); {
		next := i + 1
		var err error
		if v := col.View(i); c.repairs != 0 || v.IsInline() {
			err = o.clean(i)
		} else {
			next, err = o.cleanStretch(i)
		}
		if err != nil {
			return nil, err
		}
		i = next
	}
	return &Cleaned{o.edit.Finish(), o.rows, o.drops}, nil
}

// columnCleaning is a column on its way through a cleaner.
type columnCleaning struct {
	cleaner *TextCleaner
	col     *stringtensor.Column
	nulls   bool
	edit    *stringtensor.Editor
	data    [][]byte // what the buffers of col hold
	returns returnMarks
	rows    stringtensor.Selection
	drops   []Drop

	cutting bool // of the last stretch something was cut off, so of the next it may be, too

	// Scratch.
	parts    [stretchRows]stringtensor.Part
	repaired []byte
}

// clean cleans row i.
func (o *columnCleaning) clean(i int) error {
	if o.nulls && o.col.IsNull(i) {
		o.keep(i, i+1)
		return nil
	}
	s := o.col.Bytes(i)
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

// cleanStretch is clean of the rows from i on whose texts lie end to end in a buffer, but
// for those in their views, without repairs; it returns the row after them.
func (o *columnCleaning) cleanStretch(i int) (next int, err error) {
	x := o.stretch(i)
	data := o.data[x.buffer]
	marked := o.cleaner.newlines && o.returns.mark(data[x.lo:x.hi], x.next-i)
	trim, unbounded := o.cleaner.trim, o.cleaner.unbounded()
	if !marked && unbounded && !x.loose {
		o.keep(i, x.next)
		return x.next, nil
	}
	o.cutting = false
	parts, cut := o.parts[:0], false // of the rows before i that have not been kept yet
	for ; i < x.next; i++ {
		v := o.col.View(i)
		if v.IsInline() {
			o.cutRows(i, parts, cut)
			parts, cut = parts[:0], false
			if err := o.clean(i); err != nil {
				return 0, err
			}
			continue
		}
		at, n := v.Offset(), v.Len()
		s := data[at : at+n]
		from, to := 0, n
		if trim {
			from, to = textEnds(s)
		}
		if marked && o.returns.within(at-x.lo+from, at-x.lo+to) {
			if cr := bytes.IndexByte(s[from:to], '\r'); cr >= 0 {
				o.cutRows(i, parts, cut)
				parts, cut = parts[:0], false
				if err := o.rewrite(i, s[from:to], cr); err != nil {
					return 0, err
				}
				continue
			}
		}
		if !unbounded {
			o.cut(i, s[from:to], from)
			continue
		}
		parts = append(parts, stringtensor.Part{From: int32(from), To: int32(to)})
		cut = cut || to-from < n
		o.cutting = o.cutting || cut
	}
	o.cutRows(i, parts, cut)
	return i, nil
}

// cutRows keeps parts of the rows before row i, which are the whole rows if nothing is
// cut off.
func (o *columnCleaning) cutRows(i int, parts []stringtensor.Part, cut bool) {
	if cut {
		o.edit.CutRows(i-len(parts), parts)
		o.append(i-len(parts), i)
	} else {
		o.keep(i-len(parts), i)
	}
}

// stretch is rows that are looked through at once: those whose texts lie end to end in a
// buffer, and those between them whose texts lie in their views.
type stretch struct {
	next           int  // the row after them
	buffer, lo, hi int  // where their texts lie
	loose          bool // some may have to be trimmed
}

// stretch returns the one from row i on, whose text lies in a buffer. It has more than
// returnBytes if that row has.
func (o *columnCleaning) stretch(i int) stretch {
	v := o.col.View(i)
	x := stretch{buffer: v.Buffer(), lo: v.Offset()}
	data, hi, rows := o.data[x.buffer], x.lo+v.Len(), min(o.col.Len(), i+stretchRows)
	loose, look := uint8(0), !o.cutting
	if look {
		loose = spaceFirst[byte(v.Prefix())] | spaceLast[data[hi-1]]
	}
	for i++; i < rows; i++ {
		v := o.col.View(i)
		if v.IsInline() {
			loose = 1
			continue
		}
		at := v.Offset()
		end := at + v.Len()
		if v.Buffer() != x.buffer || at < hi || at > hi+maxGap || end > x.lo+returnBytes {
			break
		}
		hi = end
		if look {
			// The last byte comes from far, so no branch waits for it.
			loose |= spaceFirst[byte(v.Prefix())] | spaceLast[data[end-1]]
		}
	}
	x.next, x.hi, x.loose = i, hi, !look || loose != 0
	return x
}

const (
	// returnBytes is how much text is looked through at a time: not so much that its
	// beginning has left the nearest cache when the ends of the rows are looked at.
	returnBytes = 4 * cpu.MaxMaskByte
	stretchRows = 512
	// maxGap is how far texts may lie from each other to count as end to end, white
	// space that was trimmed between them. A text has more bytes, so that no more than
	// twice the bytes of the texts are looked through.
	maxGap = stringtensor.MaxInline
)

// returnMarks says where in the texts of a stretch CRs are.
type returnMarks struct {
	words   [returnBytes / 64]uint64      // bit i: byte i is one
	used    [returnBytes/64/64 + 1]uint64 // bit k: words[k] is not 0
	unknown bool
}

// mark marks s, the texts of so many rows, and reports whether there may be any CR. Of a
// single row it is not worth it: what is behind it need not come next.
func (m *returnMarks) mark(s []byte, rows int) bool {
	if m.unknown = rows == 1 || len(s) > returnBytes; m.unknown {
		return true
	}
	any := uint64(0)
	for k := range returnBytes / cpu.MaxMaskByte {
		piece := s[min(k*cpu.MaxMaskByte, len(s)):min((k+1)*cpu.MaxMaskByte, len(s))]
		m.used[k] = cpu.MaskByte(m.words[k*64:], piece, '\r')
		any |= m.used[k]
	}
	return any != 0
}

// within reports whether there may be a CR from byte lo to hi, hi not included. It has
// few branches: where a text ends, and whether in CR LF, cannot be foretold.
func (m *returnMarks) within(lo, hi int) bool {
	if m.unknown || lo >= hi {
		return m.unknown
	}
	a, b := uint(lo), uint(hi-1)
	i, j := a/64, b/64
	first, last := ^uint64(0)<<(a%64), ^uint64(0)>>(63-b%64)
	if i == j {
		return m.words[i]&first&last != 0
	}
	i++ // the words from here to j, by their bits in used
	between := m.used[i/64]>>(i%64) | m.used[i/64+1]<<1<<(63-i%64)
	if between &= 1<<(j-i) - 1; j-i > 64 {
		for _, u := range m.used[1:] {
			between |= u
		}
	}
	return m.words[i-1]&first|m.words[j]&last|between != 0
}

// keep keeps rows lo to hi, hi not included, as they are.
func (o *columnCleaning) keep(lo, hi int) {
	o.edit.KeepRows(lo, hi)
	o.append(lo, hi)
}

// append appends the numbers of rows lo to hi.
func (o *columnCleaning) append(lo, hi int) {
	n := len(o.rows)
	o.rows = o.rows[:n+hi-lo] // there is room for all rows
	added := o.rows[n:]
	for k := range added {
		added[k] = uint32(lo + k)
	}
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
