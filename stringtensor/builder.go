package stringtensor

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Sizes of the slabs a builder allocates for long strings: the first of a
// column, and the largest it grows to by doubling.
const (
	minSlab = 4 << 10
	maxSlab = 8 << 20
)

// maxSlabLen is the longest slab: a slab and its slack must be one Go slice,
// and int may have 32 bits.
const maxSlabLen = min(MaxStringLen, math.MaxInt-Slack)

// Builder makes a column row by row. Strings of more than [MaxInline] bytes are
// copied into slabs that become the column's buffers; [Slack] bytes after each
// may be read. The zero value is ready to use.
type Builder struct {
	views   []StringView16
	buffers []*Buffer
	valid   bitmap
	nulls   int
	slab    []byte // being filled; cap includes Slack
	next    int    // size of the next slab
	limit   int    // longest buffer; 0 stands for MaxStringLen
}

// NewBuilder returns an empty builder.
func NewBuilder(opts ...BuilderOption) *Builder {
	b := &Builder{}
	for _, o := range opts {
		o.builder(b)
	}
	return b
}

// Len returns the number of rows so far.
func (b *Builder) Len() int { return len(b.views) }

// Reserve makes room for rows more rows and, in one slab, size bytes of long
// strings, so that appending them allocates nothing. Of a size above the longest
// buffer only that much is reserved.
func (b *Builder) Reserve(rows, size int) {
	if b.views == nil {
		b.views = unzeroed[StringView16](max(rows, 0))[:0]
	} else if rows > 0 {
		b.views = slices.Grow(b.views, rows)
	}
	if size = min(size, b.maxBuffer()); size <= b.room() {
		return
	}
	if b.slab == nil && len(b.buffers) == 0 {
		b.newSlab(size) // all of the column, if the caller knows its size
		return
	}
	b.grow(size)
}

func (b *Builder) maxBuffer() int {
	if b.limit == 0 {
		return maxSlabLen
	}
	return min(b.limit, maxSlabLen)
}

// room returns how many payload bytes still fit the current slab.
func (b *Builder) room() int {
	if b.slab == nil {
		return 0
	}
	return cap(b.slab) - Slack - len(b.slab)
}

// grow closes the current slab and starts one of at least n bytes.
func (b *Builder) grow(n int) {
	b.next = min(max(b.next*2, minSlab), maxSlab)
	b.newSlab(min(max(n, b.next), b.maxBuffer()))
}

// newSlab closes the current slab and starts one of n bytes.
func (b *Builder) newSlab(n int) {
	b.closeSlab()
	b.slab = unzeroed[byte](n + Slack)[:0]
}

func (b *Builder) closeSlab() {
	if len(b.slab) > 0 {
		b.buffers = append(b.buffers, NewBuffer(b.slab, nil))
	}
	b.slab = nil
}

// Room returns n bytes that the caller may fill before [Builder.AppendRoom]
// makes a row of them; nothing is appended until then, and until they are filled they
// hold anything. It serves those who compose a string in place. The error is [ErrStringTooLong]. It panics when n
// is negative, as making a slice does.
func (b *Builder) Room(n int) ([]byte, error) {
	if n > b.maxBuffer() {
		return nil, fmt.Errorf("%w: row %d has %d bytes, the limit is %d", ErrStringTooLong, len(b.views), n, b.maxBuffer())
	}
	if n > b.room() {
		b.grow(n)
	}
	return b.slab[len(b.slab) : len(b.slab)+n : len(b.slab)+n], nil
}

// AppendRoom appends a row of the first n bytes of the last [Builder.Room],
// which had at least that many and was the last call on the builder.
func (b *Builder) AppendRoom(n int) {
	start := len(b.slab)
	s := b.slab[start : start+n]
	v, inline := InlineView(s)
	if !inline {
		v = pooledView(s, len(b.buffers), start)
		b.slab = b.slab[:start+n]
	}
	b.appendView(v)
}

func (b *Builder) appendView(v StringView16) {
	if b.valid.present() {
		b.growValid()
		b.valid.set(len(b.views))
	}
	b.views = append(b.views, v)
}

// growValid makes room for the bit of one more row.
func (b *Builder) growValid() {
	if need := len(b.views)/8 + 1; need > len(b.valid.bits) {
		b.valid.bits = append(b.valid.bits, 0)
	}
}

// Append appends a copy of s. The error is [ErrStringTooLong]; the builder is
// unchanged then.
func (b *Builder) Append(s []byte) error {
	if v, ok := InlineView(s); ok {
		b.appendView(v)
		return nil
	}
	room, err := b.Room(len(s))
	if err != nil {
		return err
	}
	copy(room, s)
	b.AppendRoom(len(s))
	return nil
}

// AppendString is [Builder.Append] of a string.
func (b *Builder) AppendString(s string) error {
	return b.Append(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// AppendNull appends a null row.
func (b *Builder) AppendNull() {
	if !b.valid.present() {
		b.valid = newBitmap(len(b.views) + 1)
		for i := range b.views {
			b.valid.set(i)
		}
	}
	b.growValid()
	b.views = append(b.views, StringView16{})
	b.nulls++
}

// Finish returns the column of the rows so far and leaves the builder empty.
func (b *Builder) Finish() *Column {
	b.closeSlab()
	c := newColumn(b.views, b.buffers, b.valid, b.nulls)
	*b = Builder{limit: b.limit}
	return c
}

// FromStrings returns the column of s. The error is [ErrStringTooLong].
func FromStrings(s []string) (*Column, error) { return fromRows(s) }

// FromBytes returns the column of s; a nil slice is the empty string, not null.
// The error is [ErrStringTooLong].
func FromBytes(s [][]byte) (*Column, error) { return fromRows(s) }

func fromRows[S string | []byte](rows []S) (*Column, error) {
	size := longBytes(rows)
	var b Builder
	b.Reserve(len(rows), size)
	if size > b.room() {
		for i := range rows {
			if err := b.Append(rowBytes(&rows[i])); err != nil {
				return nil, err
			}
		}
		return b.Finish(), nil
	}
	// All fits one slab, so there is nothing to watch on the way.
	views, slab := b.views[:len(rows)], b.slab
	for i := range rows {
		s := rowBytes(&rows[i])
		v, inline := InlineView(s)
		if !inline {
			v = pooledView(s, 0, len(slab))
			slab = append(slab, s...)
		}
		views[i] = v
	}
	b.views, b.slab = views, slab
	return b.Finish(), nil
}

// rowBytes returns the bytes of a row without copying them: a slice begins with the
// two words of a string.
func rowBytes[S string | []byte](row *S) []byte {
	s := *(*string)(unsafe.Pointer(row))
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// longBytes sums the lengths of the strings that do not fit a view.
func longBytes[S string | []byte](s []S) int {
	n := 0
	for _, x := range s {
		if len(x) > MaxInline {
			n += len(x)
		}
	}
	return n
}
