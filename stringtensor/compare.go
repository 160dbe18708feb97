package stringtensor

import (
	"bytes"
	"cmp"
	"math/bits"
	"unsafe"
)

// FastEq reports whether row i of c and row j of d are the same string, or both
// null; null is not the empty string. Length and prefix are compared first, as
// one word, so that payload is read only where these agree. It panics when i or j
// is out of range.
func (c *Column) FastEq(i int, d *Column, j int) bool {
	v, w := &c.views[i], &d.views[j]
	if v.lo != w.lo {
		return false
	}
	if v.IsInline() {
		if v.hi != w.hi {
			return false
		}
		// Only the view of "" may belong to a null row.
		return v.lo != 0 || c.IsNull(i) == d.IsNull(j)
	}
	return bytes.Equal(c.Bytes(i)[4:], d.Bytes(j)[4:])
}

// Equal reports whether c and d have the same rows, wherever their payload lies;
// null equals null only. It takes O(N + payload) time; rows that lie end to end
// in both columns are compared as one piece, and payload that both share is not
// read.
func (c *Column) Equal(d *Column) bool {
	if len(c.views) != len(d.views) || c.nulls != d.nulls {
		return false
	}
	if c.nulls > 0 && !c.valid.equal(d.valid, len(c.views)) {
		return false
	}
	if c.sameBuffers(d) {
		a, b := viewBytes(c.views), viewBytes(d.views)
		if unsafe.SliceData(a) == unsafe.SliceData(b) || bytes.Equal(a, b) {
			return true
		}
	}
	// The open piece: n bytes at a in buffer ca of c and at b in buffer db of d.
	var ca, db uint32
	var a, b, n uint64
	for i := range c.views {
		v, w := c.views[i], d.views[i]
		if v.lo != w.lo {
			return false
		}
		if v.IsInline() {
			if v.hi != w.hi {
				return false
			}
			continue
		}
		size := uint64(uint32(v.lo))
		if v.hi>>32 == a+n && w.hi>>32 == b+n && uint32(v.hi) == ca && uint32(w.hi) == db && n > 0 {
			n += size
			continue
		}
		if n > 0 && !equalPiece(c.buffers[ca].data[a:a+n], d.buffers[db].data[b:b+n]) {
			return false
		}
		ca, db, a, b, n = uint32(v.hi), uint32(w.hi), v.hi>>32, w.hi>>32, size
	}
	return n == 0 || equalPiece(c.buffers[ca].data[a:a+n], d.buffers[db].data[b:b+n])
}

// sameBuffers reports whether c and d have the same buffers in the same order. It
// may say no where finding out costs more than it saves.
func (c *Column) sameBuffers(d *Column) bool {
	if len(c.buffers) != len(d.buffers) {
		return false
	}
	if unsafe.SliceData(c.buffers) == unsafe.SliceData(d.buffers) {
		return true
	}
	if len(c.buffers) > len(c.views) {
		return false
	}
	for i, b := range c.buffers {
		if b.region() != d.buffers[i].region() {
			return false
		}
	}
	return true
}

// equalPiece is bytes.Equal that reads nothing when both are the same memory.
func equalPiece(a, b []byte) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) || bytes.Equal(a, b)
}

// viewBytes returns the memory of views.
func viewBytes(views []StringView16) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(views))), len(views)*ViewSize)
}

// Compare orders row i of c and row j of d by their bytes: -1, 0 or 1 as the
// first is less, equal or greater. A null row is less than every string and equal
// to null. Prefixes are compared first, so that payload is read only where these
// agree. It panics when i or j is out of range.
func (c *Column) Compare(i int, d *Column, j int) int {
	v, w := &c.views[i], &d.views[j]
	// Byte order is the order of big-endian words, and zero padding sorts a
	// string before those that it begins.
	if p, q := bits.ReverseBytes32(v.Prefix()), bits.ReverseBytes32(w.Prefix()); p != q {
		return cmp.Compare(p, q)
	}
	if !v.IsInline() || !w.IsInline() {
		return bytes.Compare(c.Bytes(i), d.Bytes(j))
	}
	if p, q := bits.ReverseBytes64(v.hi), bits.ReverseBytes64(w.hi); p != q {
		return cmp.Compare(p, q)
	}
	// The same bytes up to padding: "a" and "a\x00" differ in length only.
	if v.Len() != w.Len() {
		return cmp.Compare(v.Len(), w.Len())
	}
	if v.lo != 0 {
		return 0
	}
	switch p, q := c.IsNull(i), d.IsNull(j); {
	case p == q:
		return 0
	case p:
		return -1
	}
	return 1
}
