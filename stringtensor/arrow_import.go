package stringtensor

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// FromArrow returns the column of an Arrow array of type string, large_string,
// string_view, binary, large_binary, binary_view, null, or dictionary of these
// with any integer index; an extension type is taken by its storage.
//
// Payload is never copied. Views are made for string and binary arrays, shared
// with view arrays, and taken from the dictionary's for dictionary arrays. The
// column retains the memory it uses until [Column.Release]; the array may be
// released before. Payload above 2³¹−1 bytes becomes several buffers, cut
// between rows.
//
// Every offset and view is checked, in O(rows), those of a dictionary included,
// and one payload access for a long view, so that no array can make a later read
// of the column fail. The check for UTF-8 is linear in the memory, also where rows
// share bytes. Rows of view and dictionary arrays may do so, which makes
// [Column.PayloadBytes] far more than the memory: of arrays that nobody vouches
// for, look at it before the rows are copied anywhere.
//
// Errors name the first bad row: [ErrInvalid], [ErrInvalidUTF8] (see
// [WithRawBinary] and [WithUTF8Check]), [ErrStringTooLong], [ErrTooManyRows],
// [ErrUnsupportedType].
func FromArrow(arr arrow.Array, opts ...ArrowOption) (c *Column, err error) {
	var dicts dictionaries
	defer dicts.release()
	return fromArrow(arr, newArrowConfig(opts), &dicts)
}

// fromArrow is FromArrow with dictionaries that outlast it.
func fromArrow(arr arrow.Array, cfg arrowConfig, dicts *dictionaries) (c *Column, err error) {
	im := arrowImport{cfg: cfg, dicts: dicts}
	defer im.release()
	defer recovered(&err)
	return im.column(arr.Data(), arr.DataType())
}

// FromChunked is [FromArrow] of all chunks, one after the other. Memory that
// several chunks share becomes one buffer, and a dictionary that they share is
// read once. Errors name the chunk and the row in it.
func FromChunked(arr *arrow.Chunked, opts ...ArrowOption) (c *Column, err error) {
	var dicts dictionaries
	defer dicts.release()
	im := arrowImport{cfg: newArrowConfig(opts), dicts: &dicts}
	defer im.release()
	defer recovered(&err)
	if !isStringLike(arr.DataType()) {
		return nil, fmt.Errorf("%w: %s", ErrUnsupportedType, arr.DataType())
	}
	parts := make([]*Column, 0, len(arr.Chunks()))
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i, chunk := range arr.Chunks() {
		p, err := im.column(chunk.Data(), chunk.DataType())
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 {
		c, parts = parts[0], nil
		return c, nil
	}
	return Concat(parts...)
}

// arrowImport makes columns of Arrow data. It holds a reference on each buffer
// it wraps until release.
type arrowImport struct {
	cfg     arrowConfig
	wrapped map[wrappedKey]*Buffer
	dicts   *dictionaries
}

// wrappedKey is a range of an Arrow buffer.
type wrappedKey struct {
	buf    *arrowmem.Buffer
	lo, hi int
}

func (im *arrowImport) release() {
	for _, b := range im.wrapped {
		b.Release()
	}
}

// wrap returns a buffer over bytes lo to hi of mb that retains mb. The same
// range gives the same buffer.
func (im *arrowImport) wrap(mb *arrowmem.Buffer, lo, hi int) *Buffer {
	key := wrappedKey{mb, lo, hi}
	if b, ok := im.wrapped[key]; ok {
		return b
	}
	mb.Retain()
	data := mb.Bytes()
	b := NewBuffer(data[lo:hi:min(hi+Slack, cap(data))], mb.Release)
	if im.wrapped == nil {
		im.wrapped = make(map[wrappedKey]*Buffer)
	}
	im.wrapped[key] = b
	return b
}

// arrowRows is the part of Arrow data that all types have: where the rows are
// and which of them are null.
type arrowRows struct {
	buffers []*arrowmem.Buffer
	off, n  int
	valid   bitmap
	nulls   int
	claims  []*Buffer // on memory that is used as it is, besides payload
	unused  int64     // bytes of that memory beside the rows
}

// bytes returns buffer i, nil where there is none.
func (r *arrowRows) bytes(i int) []byte {
	if i >= len(r.buffers) || r.buffers[i] == nil {
		return nil
	}
	return r.buffers[i].Bytes()
}

// isNull reports whether row i is null.
func (r *arrowRows) isNull(i int) bool { return r.nulls > 0 && !r.valid.get(i) }

// rows returns the rows of d and the validity of each.
func (im *arrowImport) rows(d arrow.ArrayData) (arrowRows, error) {
	r := arrowRows{buffers: d.Buffers(), off: d.Offset(), n: d.Len()}
	if r.off > math.MaxInt-7-r.n {
		return r, fmt.Errorf("%w: array of %d rows at offset %d", ErrInvalid, r.n, r.off)
	}
	bits := r.bytes(0)
	if len(bits) == 0 {
		if d.NullN() > 0 {
			return r, fmt.Errorf("%w: %d nulls and no validity bitmap", ErrInvalid, d.NullN())
		}
		return r, nil
	}
	lo, hi := r.off>>3, (r.off+r.n+7)>>3
	if hi > len(bits) {
		return r, fmt.Errorf("%w: validity bitmap of %d bytes for %d rows at offset %d", ErrInvalid, len(bits), r.n, r.off)
	}
	r.valid = bitmap{bits[lo:hi:hi], r.off & 7}
	if r.nulls = r.n - r.valid.ones(r.n); r.nulls > 0 {
		r.claim(im, 0, lo, hi)
	}
	return r, nil
}

// claim notes that the column will use bytes lo to hi of buffer i as they are.
func (r *arrowRows) claim(im *arrowImport, i, lo, hi int) {
	r.claims = append(r.claims, im.wrap(r.buffers[i], lo, hi))
	r.unused += int64(r.buffers[i].Len() - (hi - lo))
}

// column makes the column of the rows.
func (r *arrowRows) column(views []StringView16, buffers []*Buffer) *Column {
	c := newColumn(views, buffers, r.valid, r.nulls, r.claims...)
	// The whole of a claimed buffer stays in memory, not only the part in use.
	c.retained += r.unused
	return c
}

// column returns the column of d, read as type t.
func (im *arrowImport) column(d arrow.ArrayData, t arrow.DataType) (*Column, error) {
	if x, ok := t.(arrow.ExtensionType); ok {
		return im.column(d, x.StorageType())
	}
	if !isStringLike(t) {
		return nil, fmt.Errorf("%w: %s", ErrUnsupportedType, t)
	}
	switch n := d.Len(); {
	case n < 0 || d.Offset() < 0:
		return nil, fmt.Errorf("%w: array of %d rows at offset %d", ErrInvalid, n, d.Offset())
	case uint64(n) > maxRows:
		return nil, fmt.Errorf("%w: %d", ErrTooManyRows, n)
	case t.ID() == arrow.NULL:
		return newColumn(make([]StringView16, n), nil, newBitmap(n), n), nil
	}
	r, err := im.rows(d)
	if err != nil {
		return nil, err
	}
	if r.n == 0 {
		return newColumn(nil, nil, bitmap{}, 0), nil
	}
	text := im.cfg.checkUTF8
	switch t.ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		text = !im.cfg.rawBinary
	}
	switch t.ID() {
	case arrow.STRING, arrow.BINARY:
		return columnOfOffsets[int32](im, &r, text)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return columnOfOffsets[int64](im, &r, text)
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return im.columnOfViews(&r, text)
	}
	return im.columnOfDictionary(&r, d, t.(*arrow.DictionaryType))
}

// elements returns n values of type T from the off-th on. They share b's memory
// where it is aligned for T; Arrow promises that, but memory that was mapped or
// received may break the promise.
func elements[T any](b []byte, off, n int) ([]T, bool, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if have := len(b) / size; off > have || n > have-off {
		return nil, false, fmt.Errorf("%w: buffer of %d bytes, %d elements of %d bytes at offset %d are needed", ErrInvalid, len(b), n, size, off)
	}
	if n == 0 {
		return nil, false, nil
	}
	b = b[off*size : (off+n)*size]
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(zero) == 0 {
		return unsafe.Slice((*T)(p), n), true, nil
	}
	out := make([]T, n)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), n*size), b)
	return out, false, nil
}

// columnOfOffsets makes views of offsets and payload. Offsets grow from row to
// row, so buffers can be cut in one pass: a row that ends too far from the start
// of the current buffer starts the next. The buffers cover the payload from its
// first byte, not only the rows in use, because all of it stays in memory.
func columnOfOffsets[T int32 | int64](im *arrowImport, r *arrowRows, text bool) (*Column, error) {
	offsets, _, err := elements[T](r.bytes(1), r.off, r.n+1)
	if err != nil {
		return nil, fmt.Errorf("offsets: %w", err)
	}
	payload := r.bytes(2)
	if err := checkOffsets(offsets, len(payload)); err != nil {
		return nil, err
	}
	if text {
		if err := checkUTF8(offsets, payload, r.valid, r.nulls); err != nil {
			return nil, err
		}
	}
	views := make([]StringView16, r.n)
	var buffers []*Buffer
	base, end := 0, 0 // the current buffer so far
	for i := range views {
		if r.isNull(i) {
			continue
		}
		lo, hi := int(offsets[i]), int(offsets[i+1])
		if hi-lo <= MaxInline {
			views[i] = inlineFrom(payload, lo, hi-lo)
			continue
		}
		if hi-lo > im.cfg.limit {
			return nil, fmt.Errorf("%w: row %d has %d bytes, the limit is %d", ErrStringTooLong, i, hi-lo, im.cfg.limit)
		}
		if hi-base > im.cfg.limit {
			if end > base {
				buffers = append(buffers, im.wrap(r.buffers[2], base, end))
			}
			base = lo
		}
		end = hi
		views[i] = pooledView(payload[lo:hi], len(buffers), lo-base)
	}
	if end > base {
		end = base + min(len(payload)-base, im.cfg.limit)
		buffers = append(buffers, im.wrap(r.buffers[2], base, end))
	}
	return r.column(views, buffers), nil
}

// columnOfViews shares the views. They are copied only when they are not
// aligned, or when the view of a null row, which Arrow leaves undefined, has to
// be cleared.
func (im *arrowImport) columnOfViews(r *arrowRows, text bool) (*Column, error) {
	views, shared, err := elements[StringView16](r.bytes(1), r.off, r.n)
	if err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	buffers := make([]*Buffer, 0, len(r.buffers)-2)
	for i := 2; i < len(r.buffers); i++ {
		b := NewBuffer(nil, nil)
		if data := r.bytes(i); len(data) > 0 {
			b = im.wrap(r.buffers[i], 0, min(len(data), MaxStringLen))
		}
		buffers = append(buffers, b)
	}
	for i := range views {
		if r.isNull(i) && views[i] != (StringView16{}) {
			if shared {
				views, shared = slices.Clone(views), false
			}
			views[i] = StringView16{}
		}
	}
	if shared {
		lo := r.off * ViewSize
		r.claim(im, 1, lo, lo+r.n*ViewSize)
	}
	c := r.column(views, buffers)
	if err := c.validate(MaxStringLen, text); err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// columnOfDictionary gives each row the view of its dictionary entry. A row is
// null when its index or its entry is.
func (im *arrowImport) columnOfDictionary(r *arrowRows, d arrow.ArrayData, t *arrow.DictionaryType) (*Column, error) {
	entries := d.Dictionary()
	if data, ok := entries.(*array.Data); entries == nil || ok && data == nil {
		return nil, fmt.Errorf("%w: dictionary array without a dictionary", ErrInvalid)
	}
	key := dictionaryKey{entries, t.ValueType.Fingerprint()}
	dict, err := im.dicts.of(key, func() (*Column, error) { return im.column(entries, t.ValueType) })
	if err != nil {
		return nil, fmt.Errorf("dictionary: %w", err)
	}
	switch t.IndexType.ID() {
	case arrow.INT8:
		return takeEntries[int8](r, dict)
	case arrow.UINT8:
		return takeEntries[uint8](r, dict)
	case arrow.INT16:
		return takeEntries[int16](r, dict)
	case arrow.UINT16:
		return takeEntries[uint16](r, dict)
	case arrow.INT32:
		return takeEntries[int32](r, dict)
	case arrow.UINT32:
		return takeEntries[uint32](r, dict)
	case arrow.INT64:
		return takeEntries[int64](r, dict)
	case arrow.UINT64:
		return takeEntries[uint64](r, dict)
	}
	return nil, fmt.Errorf("%w: dictionary index %s", ErrUnsupportedType, t.IndexType)
}

func takeEntries[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](r *arrowRows, dict *Column) (*Column, error) {
	index, _, err := elements[T](r.bytes(1), r.off, r.n)
	if err != nil {
		return nil, fmt.Errorf("dictionary index: %w", err)
	}
	valid, nulls, claims := r.valid, r.nulls, r.claims
	if dict.NullCount() > 0 {
		// Nulls come from two places, so they need a bitmap of their own.
		valid, nulls, claims = newBitmap(r.n), 0, nil
	}
	views := make([]StringView16, r.n)
	for i, x := range index {
		if r.isNull(i) {
			if dict.NullCount() > 0 {
				nulls++
			}
			continue
		}
		if x < 0 || uint64(x) >= uint64(dict.Len()) {
			return nil, fmt.Errorf("%w: row %d: entry %d of a dictionary of %d", ErrInvalid, i, x, dict.Len())
		}
		if dict.NullCount() > 0 {
			if dict.IsNull(int(x)) {
				nulls++
				continue
			}
			valid.set(i)
		}
		views[i] = dict.views[x]
	}
	out := *r
	out.valid, out.nulls, out.claims = valid, nulls, claims
	return out.column(views, dict.buffers), nil
}
