package stringtensor

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Column is an immutable list of strings and nulls. The zero value has no rows.
// See the package comment for the layout and for who owns the memory.
type Column struct {
	views   []StringView16
	buffers []*Buffer
	data    [][]byte // the memory of buffers, as rows are looked up in it
	valid   bitmap
	nulls   int

	// held are the borrowed buffers this column has a claim on: the first own
	// of them are among buffers, the rest is the memory of views or valid where
	// that is borrowed too. It is empty for columns over Go memory.
	held     []*Buffer
	own      int
	released atomic.Bool

	// retained is the memory in bytes that views and valid keep alive. A slice
	// keeps all of what it was cut from.
	retained int64
}

// newColumn makes a column and takes a claim on each borrowed buffer in buffers
// and extra.
func newColumn(views []StringView16, buffers []*Buffer, valid bitmap, nulls int, extra ...*Buffer) *Column {
	c := &Column{views: views, buffers: buffers, data: dataOf(buffers), valid: valid, nulls: nulls}
	if nulls == 0 {
		c.valid = bitmap{}
	}
	c.retained = int64(cap(views))*ViewSize + int64(cap(c.valid.bits))
	c.held = appendClaims(nil, buffers)
	c.own = len(c.held)
	c.held = appendClaims(c.held, extra)
	for _, b := range c.held {
		b.Retain()
	}
	return c
}

// appendClaims appends the borrowed buffers of list that are not in held yet.
func appendClaims(held, list []*Buffer) []*Buffer {
	// A scan is fastest for the usual one or two; a map keeps many linear.
	const few = 8
	var seen map[*Buffer]bool
	for _, b := range list {
		if !b.Borrowed() {
			continue
		}
		if len(held) < few {
			if !slices.Contains(held, b) {
				held = append(held, b)
			}
			continue
		}
		if seen == nil {
			seen = make(map[*Buffer]bool, len(held)+len(list))
			for _, h := range held {
				seen[h] = true
			}
		}
		if !seen[b] {
			seen[b] = true
			held = append(held, b)
		}
	}
	return held
}

// derive makes a column of other views on the buffers of c, with the claims of
// c. The views and valid may be part of c's own memory.
func (c *Column) derive(views []StringView16, valid bitmap, nulls int) *Column {
	d := &Column{views: views, buffers: c.buffers, data: c.data, valid: valid, nulls: nulls, held: c.held, own: c.own, retained: c.retained}
	if nulls == 0 {
		d.valid = bitmap{}
	}
	for _, b := range d.held {
		b.Retain()
	}
	return d
}

// deriveFresh is derive for views and valid in memory of their own, which needs
// claims on the buffers only.
func (c *Column) deriveFresh(views []StringView16, valid bitmap, nulls int) *Column {
	shared := Column{buffers: c.buffers, data: c.data, held: c.held[:c.own:c.own], own: c.own}
	d := shared.derive(views, valid, nulls)
	d.retained = int64(cap(views))*ViewSize + int64(cap(d.valid.bits))
	return d
}

// Release gives up this column's claim on borrowed memory and leaves it without
// rows. Further calls do nothing. Columns over Go memory need no Release.
func (c *Column) Release() {
	if c.released.Swap(true) || len(c.held) == 0 {
		return
	}
	for _, b := range c.held {
		b.Release()
	}
	c.views, c.buffers, c.data, c.valid, c.nulls, c.held, c.own, c.retained = nil, nil, nil, bitmap{}, 0, nil, 0, 0
}

// Len returns the number of rows.
func (c *Column) Len() int { return len(c.views) }

// NullCount returns the number of null rows.
func (c *Column) NullCount() int { return c.nulls }

// IsNull reports whether row i is null. It panics when i is out of range, as
// indexing a slice does.
func (c *Column) IsNull(i int) bool {
	_ = c.views[i]
	return c.valid.present() && !c.valid.get(i)
}

// At returns row i without copying it; a null row gives "". The string shares
// the column's memory: for a column that borrows memory it must not outlive
// [Column.Release]. It panics when i is out of range, as indexing a slice does.
func (c *Column) At(i int) string {
	b := c.Bytes(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Bytes is [Column.At] as bytes, which must not be changed.
func (c *Column) Bytes(i int) []byte {
	v := &c.views[i]
	if v.IsInline() {
		return v.inline()
	}
	o := v.Offset()
	return c.data[v.Buffer()][o : o+v.Len() : o+v.Len()]
}

// View returns the view of row i.
func (c *Column) View(i int) StringView16 { return c.views[i] }

// Buffers returns the buffers that views of this column may point into. The
// slice must not be changed.
func (c *Column) Buffers() []*Buffer { return c.buffers }

// All yields each row with its number; null rows yield "".
func (c *Column) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range c.views {
			if !yield(i, c.At(i)) {
				return
			}
		}
	}
}

// Validity returns the validity bitmap, one bit per row, least significant bit
// first, 1 = valid; nil when no row is null. It is a fresh copy.
func (c *Column) Validity() []byte {
	if c.nulls == 0 {
		return nil
	}
	m := newBitmap(len(c.views))
	m.put(0, c.valid, len(c.views))
	return m.bits
}

// Strings returns the rows as Go strings that share the column's memory.
func (c *Column) Strings() []string {
	out := make([]string, len(c.views))
	for i := range out {
		out[i] = c.At(i)
	}
	return out
}

// Slice returns rows lo to hi, hi not included, in constant time (besides a
// count of nulls and of borrowed buffers): views and buffers are shared. The
// error is [ErrOutOfRange].
func (c *Column) Slice(lo, hi int) (*Column, error) {
	if lo < 0 || hi < lo || hi > len(c.views) {
		return nil, fmt.Errorf("%w: slice [%d:%d] of %d rows", ErrOutOfRange, lo, hi, len(c.views))
	}
	valid, nulls := c.valid.slice(lo), 0
	if valid.present() {
		nulls = hi - lo - valid.ones(hi-lo)
	}
	return c.derive(c.views[lo:hi:hi], valid, nulls), nil
}
