package stringtensor

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// ToArrow returns the column as an Arrow array of type typ, which the caller
// releases. Memory that is not shared with the column comes from mem.
//
// For the view types nothing is copied but a validity bitmap that does not begin
// at a byte border; the array keeps the memory that the column borrows alive
// after [Column.Release]. All of the column's buffers are handed on, used or
// not. The other types are packed in O(rows + bytes).
//
// The rows are not checked for UTF-8: a column that was made with
// [WithRawBinary] belongs in a binary type.
//
// Errors: [ErrOffsetOverflow] when the payload of ArrowString or ArrowBinary is
// longer than 2³¹−1 bytes (see [WithArrowLimit]); [ErrUnsupportedType].
func (c *Column) ToArrow(mem arrowmem.Allocator, typ ArrowType, opts ...ArrowOption) (arrow.Array, error) {
	cfg := newArrowConfig(opts)
	size := int64(0)
	switch typ {
	case ArrowStringView, ArrowBinaryView:
		return c.viewArray(mem, typ), nil
	case ArrowString, ArrowStringAuto, ArrowBinary, ArrowBinaryAuto, ArrowLargeString, ArrowLargeBinary:
		size = c.PayloadBytes()
	default:
		return nil, fmt.Errorf("%w: %v", ErrUnsupportedType, typ)
	}
	if size > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes do not fit the memory of this machine", ErrOffsetOverflow, size)
	}
	fits := size <= int64(cfg.limit)
	switch {
	case typ == ArrowLargeString, typ == ArrowStringAuto && !fits:
		return packedArray[int64](c, mem, arrow.BinaryTypes.LargeString, int(size)), nil
	case typ == ArrowLargeBinary, typ == ArrowBinaryAuto && !fits:
		return packedArray[int64](c, mem, arrow.BinaryTypes.LargeBinary, int(size)), nil
	case !fits:
		return nil, fmt.Errorf("%w: %d bytes, %v holds %d; ask for the large or the view type", ErrOffsetOverflow, size, typ, cfg.limit)
	case typ == ArrowString, typ == ArrowStringAuto:
		return packedArray[int32](c, mem, arrow.BinaryTypes.String, int(size)), nil
	}
	return packedArray[int32](c, mem, arrow.BinaryTypes.Binary, int(size)), nil
}

// viewArray hands views and buffers on.
func (c *Column) viewArray(mem arrowmem.Allocator, typ ArrowType) arrow.Array {
	// Which claim covers the views is not recorded, so they hold them all.
	views := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(c.views))), len(c.views)*ViewSize)
	buffers := make([]*arrowmem.Buffer, 0, 2+len(c.buffers))
	buffers = append(buffers, c.validityBuffer(mem), lend(views, c.held))
	for _, b := range c.buffers {
		var claims []*Buffer
		if b.Borrowed() {
			claims = []*Buffer{b}
		}
		buffers = append(buffers, lend(b.data, claims))
	}
	var t arrow.DataType = arrow.BinaryTypes.StringView
	if typ == ArrowBinaryView {
		t = arrow.BinaryTypes.BinaryView
	}
	return c.arrayOf(t, buffers)
}

// packedArray copies the rows end to end. size is the sum of their lengths.
func packedArray[T int32 | int64](c *Column, mem arrowmem.Allocator, t arrow.DataType, size int) arrow.Array {
	width := int(unsafe.Sizeof(T(0)))
	offsets, payload := arrowmem.NewResizableBuffer(mem), arrowmem.NewResizableBuffer(mem)
	offsets.Resize((len(c.views) + 1) * width)
	payload.Resize(size)
	o := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(offsets.Bytes()))), len(c.views)+1)
	p, at := payload.Bytes(), 0
	if width == 4 {
		c.pack(unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(o))), len(o)), p)
		return c.arrayOf(t, []*arrowmem.Buffer{c.validityBuffer(mem), offsets, payload})
	}
	o[0] = 0
	for i := range c.views {
		at += copy(p[at:], c.Bytes(i))
		o[i+1] = T(at)
	}
	return c.arrayOf(t, []*arrowmem.Buffer{c.validityBuffer(mem), offsets, payload})
}

// arrayOf makes the array and gives up the caller's references on buffers.
func (c *Column) arrayOf(t arrow.DataType, buffers []*arrowmem.Buffer) arrow.Array {
	data := array.NewData(t, len(c.views), buffers, nil, c.nulls, 0)
	defer data.Release()
	defer arrowmem.ReleaseBuffers(buffers)
	return array.MakeFromData(data)
}

// validityBuffer returns the validity bitmap with its first bit at bit 0, nil
// when no row is null.
func (c *Column) validityBuffer(mem arrowmem.Allocator) *arrowmem.Buffer {
	if c.nulls == 0 {
		return nil
	}
	n := len(c.views)
	if c.valid.off&7 == 0 {
		lo := c.valid.off >> 3
		return lend(c.valid.bits[lo:lo+(n+7)>>3], c.held)
	}
	b := arrowmem.NewResizableBuffer(mem)
	b.Resize((n + 7) >> 3)
	out := bitmap{bits: b.Bytes()}
	clear(out.bits)
	out.put(0, c.valid, n)
	return b
}
