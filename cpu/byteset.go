package cpu

import "bytes"

// ByteSet is a set of bytes. The zero value is empty.
type ByteSet struct {
	// bit h of halves[l] says whether h<<4|l is in the set, for h from 0 to 7, and
	// bit h-8 of halves[16+l] for h from 8 to 15: two look-ups by the lower half of
	// a byte and one by the upper find out for a whole vector.
	halves  [32]byte
	members [256]bool
}

// NewByteSet returns the set of the bytes of chars.
func NewByteSet(chars ...byte) *ByteSet {
	t := new(ByteSet)
	for _, c := range chars {
		t.members[c] = true
		t.halves[c>>7<<4|c&15] |= 1 << (c >> 4 & 7)
	}
	return t
}

// Contains reports whether c is in the set.
func (t *ByteSet) Contains(c byte) bool { return t.members[c] }

// IndexAny returns the place of the first byte of s that is in the set, len(s) if none
// is. O(len(s)). Where members come close to each other [MaskAny] is faster.
func IndexAny(s []byte, set *ByteSet) int { return indexAny(s, set) }

func indexAnyGeneric(s []byte, set *ByteSet) int {
	for i, c := range s {
		if set.members[c] {
			return i
		}
	}
	return len(s)
}

// MaskAny sets bit i%64 of dst[i/64] for each byte i of s that is in the set and clears
// the others, those past the end in its word included. dst must have a word for
// each 64 bytes begun.
func MaskAny(dst []uint64, s []byte, set *ByteSet) { maskAny(dst, s, set) }

func maskAnyGeneric(dst []uint64, s []byte, set *ByteSet) {
	for len(s) > 0 {
		n := min(len(s), 64)
		var m uint64
		for i, c := range s[:n] {
			if set.members[c] {
				m |= 1 << i
			}
		}
		dst[0] = m
		dst, s = dst[1:], s[n:]
	}
}

// MaxMaskByte is how many bytes [MaskByte] takes at most.
const MaxMaskByte = 64 * 64

// MaskByte sets bit i%64 of dst[i/64] for each byte i of s that is b and clears the others,
// those past the end in its word included. Bit k of used is whether dst[k] is not 0. dst must
// have a word for each 64 bytes begun, of which there are 64 at most. Memory behind s is
// asked for, as if it came next.
func MaskByte(dst []uint64, s []byte, b byte) (used uint64) { return maskByte(dst, s, b) }

func maskByteGeneric(dst []uint64, s []byte, b byte) (used uint64) {
	clear(dst[:(len(s)+63)/64])
	for i := 0; i < len(s); i++ {
		n := bytes.IndexByte(s[i:], b)
		if n < 0 {
			break
		}
		i += n
		dst[i/64] |= 1 << (i % 64)
		used |= 1 << (i / 64)
	}
	return used
}
