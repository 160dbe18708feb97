package stringtensor

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
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
// null equals null only. It takes O(N + payload) time. Where all rows of d lie as far
// from those of c as the first, as in columns made alike, their buffers are compared
// rather than the rows; else rows that lie end to end in both columns are compared as
// one piece. Payload that both share is not read.
func (c *Column) Equal(d *Column) bool {
	if len(c.views) != len(d.views) || c.nulls != d.nulls {
		return false
	}
	if c.nulls > 0 && !c.valid.equal(d.valid, len(c.views)) {
		return false
	}
	a, b := wordsOf(c.views), wordsOf(d.views)
	var shift, payload uint64
	for at := 0; at < len(a); {
		end := min(at+blockRows, len(a))
		i := at + cpu.DiffViews(a[at:end], b[at:], shift)
		payload += cpu.SumLengths(a[at:i]) // while they are near
		at = i
		if i == end {
			continue
		}
		if a[i][0] != b[i][0] || !isLong(a[i]) {
			return false
		}
		// The first long row says how far those of d are from those of c.
		if shift != 0 || slices.ContainsFunc(a[:i], isLong) {
			return c.equalRows(d)
		}
		shift = b[i][1] - a[i][1]
	}
	return c.equalBuffers(d, shift, payload) || c.equalRows(d)
}

func isLong(v cpu.View) bool { return uint32(v[0]) > MaxInline }

// equalBuffers reports whether the buffers of c are those of d where they lie over
// each other when d is moved back by shift, which is how far all of its rows are from
// those of c. Rows lie within both, so then they are equal. It says no, which does not
// mean that they differ, where more would be compared than the payload and an eighth.
func (c *Column) equalBuffers(d *Column, shift, payload uint64) bool {
	if len(c.data) > len(c.views) {
		return false
	}
	var size uint64
	for i := range c.data {
		if p, q := c.overlap(i, d, shift); unsafe.SliceData(p) != unsafe.SliceData(q) {
			size += uint64(len(p))
		}
	}
	if size > payload+payload/8 {
		return false
	}
	for i := range c.data {
		if !equalPiece(c.overlap(i, d, shift)) {
			return false
		}
	}
	return true
}

// overlap returns what of buffer i of c and the buffer of d that shift leads to lies
// over each other.
func (c *Column) overlap(i int, d *Column, shift uint64) (p, q []byte) {
	// Where the sum of two buffer numbers goes beyond 32 bits it carries into the
	// offset, as it does in each view.
	place := uint64(i) + shift
	buffer, offset := uint32(place), int(int32(place>>32))
	if uint64(buffer) >= uint64(len(d.data)) {
		return nil, nil // no row of d is in a buffer that is not there
	}
	p, q = c.data[i], d.data[buffer]
	if offset >= 0 {
		q = q[min(offset, len(q)):]
	} else {
		p = p[min(-offset, len(p)):]
	}
	n := min(len(p), len(q))
	return p[:n], q[:n]
}

// equalRows is Equal of columns that have as many rows and the same nulls.
func (c *Column) equalRows(d *Column) bool {
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
		if n > 0 && !equalPiece(c.data[ca][a:a+n], d.data[db][b:b+n]) {
			return false
		}
		ca, db, a, b, n = uint32(v.hi), uint32(w.hi), v.hi>>32, w.hi>>32, size
	}
	return n == 0 || equalPiece(c.data[ca][a:a+n], d.data[db][b:b+n])
}

// equalPiece is [cpu.Equal] that reads nothing when both are the same memory.
func equalPiece(a, b []byte) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) || cpu.Equal(a, b)
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
