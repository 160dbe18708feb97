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
	valid   bitmap
	nulls   int

	// held are the borrowed buffers this column has a claim on: those of
	// buffers, and the memory of views or valid where that is borrowed too.
	// It is empty for columns over Go memory.
	held     []*Buffer
	released atomic.Bool
}

// newColumn makes a column and takes a claim on each borrowed buffer in buffers
// and extra.
func newColumn(views []StringView16, buffers []*Buffer, valid bitmap, nulls int, extra ...*Buffer) *Column {
	c := &Column{views: views, buffers: buffers, valid: valid, nulls: nulls}
	if nulls == 0 {
		c.valid = bitmap{}
	}
	for _, list := range [2][]*Buffer{buffers, extra} {
		for _, b := range list {
			if b.Borrowed() && !slices.Contains(c.held, b) {
				b.Retain()
				c.held = append(c.held, b)
			}
		}
	}
	return c
}

// Release gives up this column's claim on borrowed memory and leaves it without
// rows. Further calls do nothing. Columns over Go memory need no Release.
func (c *Column) Release() {
	if len(c.held) == 0 || c.released.Swap(true) {
		return
	}
	for _, b := range c.held {
		b.Release()
	}
	c.views, c.buffers, c.valid, c.nulls, c.held = nil, nil, bitmap{}, 0, nil
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
	return c.buffers[v.Buffer()].data[o : o+v.Len() : o+v.Len()]
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

// Strings returns the rows as Go strings that share the column's memory.
func (c *Column) Strings() []string {
	out := make([]string, len(c.views))
	for i := range out {
		out[i] = c.At(i)
	}
	return out
}

// Slice returns rows lo to hi, hi not included, in constant time (besides a
// count of nulls): views and buffers are shared.
func (c *Column) Slice(lo, hi int) (*Column, error) {
	if lo < 0 || hi < lo || hi > len(c.views) {
		return nil, fmt.Errorf("%w: slice [%d:%d] of %d rows", ErrOutOfRange, lo, hi, len(c.views))
	}
	valid, nulls := c.valid.slice(lo), 0
	if valid.present() {
		nulls = hi - lo - valid.ones(hi-lo)
	}
	return newColumn(c.views[lo:hi:hi], c.buffers, valid, nulls, c.held...), nil
}
