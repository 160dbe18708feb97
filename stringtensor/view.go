package stringtensor

import (
	"encoding/binary"
	"unsafe"
)

// ViewSize is the size of a view in bytes.
const ViewSize = 16

// MaxInline is the length in bytes of the longest string that is kept inside
// its view.
const MaxInline = 12

// MaxStringLen is the length in bytes of the longest string a view can hold,
// and of the longest buffer: Arrow's view offsets are int32.
const MaxStringLen = 1<<31 - 1

// StringView16 is one string of a column: its length and either all of its
// bytes or the first four and a place in one of the column's buffers.
//
//	lo  bits  0…31  length in bytes
//	    bits 32…63  bytes 0…3 of the string (zero padded)
//	hi  inline      bytes 4…11 of the string (zero padded)
//	    else        bits 0…31 buffer index, bits 32…63 offset in that buffer
//
// The two words are little endian in memory, so the 16 bytes are those of an
// Arrow Utf8View. The type is two words rather than a byte array so that it is
// aligned for word loads wherever Go puts it. The zero value is the empty
// string.
type StringView16 struct {
	lo, hi uint64
}

// InlineView returns the view of s, which must be at most [MaxInline] bytes
// long; ok is false when it is longer.
func InlineView(s []byte) (v StringView16, ok bool) {
	if len(s) > MaxInline {
		return StringView16{}, false
	}
	// Two loads that overlap take what no single one can without reading beyond s.
	switch n := uint(len(s)); {
	case n >= 8:
		head := binary.LittleEndian.Uint64(s)
		tail := uint64(binary.LittleEndian.Uint32(s[n-4:])) >> (8 * (12 - n) & 63)
		return StringView16{lo: uint64(n) | head<<32, hi: head>>32 | tail<<32}, true
	case n >= 4:
		tail := uint64(binary.LittleEndian.Uint32(s[n-4:])) >> (8 * (8 - n) & 63)
		return StringView16{lo: uint64(n) | uint64(binary.LittleEndian.Uint32(s))<<32, hi: tail}, true
	case n > 0:
		b := uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)&63) | uint64(s[n-1])<<(8*(n-1)&63)
		return StringView16{lo: uint64(n) | b<<32}, true
	}
	return StringView16{}, true
}

// pooledView returns the view of s, longer than MaxInline, that lies at offset
// in buffer.
func pooledView(s []byte, buffer, offset int) StringView16 {
	return StringView16{
		lo: uint64(uint32(len(s))) | uint64(binary.LittleEndian.Uint32(s))<<32,
		hi: uint64(uint32(buffer)) | uint64(uint32(offset))<<32,
	}
}

// ViewFromBytes decodes the 16 bytes of a view. It does not check them.
func ViewFromBytes(b [ViewSize]byte) StringView16 {
	return StringView16{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// Bytes returns the 16 bytes of the view as they lie in memory.
func (v StringView16) Bytes() [ViewSize]byte {
	var b [ViewSize]byte
	binary.LittleEndian.PutUint64(b[:8], v.lo)
	binary.LittleEndian.PutUint64(b[8:], v.hi)
	return b
}

// Len returns the length of the string in bytes. Of a view that no column could
// hold (2³¹ bytes and more) it is negative where int has 32 bits.
func (v StringView16) Len() int { return int(uint32(v.lo)) }

// IsInline reports whether the whole string is inside the view.
func (v StringView16) IsInline() bool { return uint32(v.lo) <= MaxInline }

// Prefix returns the first four bytes of the string, zero padded, the first in
// the lowest byte.
func (v StringView16) Prefix() uint32 { return uint32(v.lo >> 32) }

// Buffer returns the index of the buffer that holds the string. It has no
// meaning for an inline view.
func (v StringView16) Buffer() int { return int(int32(uint32(v.hi))) }

// Offset returns where in its buffer the string begins. It has no meaning for
// an inline view.
func (v StringView16) Offset() int { return int(int32(uint32(v.hi >> 32))) }

// inline returns the bytes of an inline view without copying them: they are
// the view's own memory.
func (v *StringView16) inline() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(v), 4)), v.Len())
}
