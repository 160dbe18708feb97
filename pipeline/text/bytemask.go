package text

import (
	"math"
	"math/bits"
	"slices"

	"github.com/rosaline-go/rosaline/cpu"
)

// byteMask says which bytes of a text are in a set: bit i%64 of word i/64 is byte i.
// There is a zero behind the last.
type byteMask []uint64

// find makes m that of s and a set.
func (m *byteMask) find(s []byte, set *cpu.ByteSet) {
	m.resize(len(s))
	cpu.MaskAny(*m, s, set)
}

// resize makes m that of so many bytes, of unspecified content but for the zero.
func (m *byteMask) resize(bytes int) {
	n := (bytes+63)/64 + 1
	*m = slices.Grow((*m)[:0], n)[:n]
	(*m)[n-1] = 0
}

// at reports whether byte i, or the end, is in the set.
func (m byteMask) at(i int) bool { return m[i/64]>>(i%64)&1 != 0 }

// set sets the bits of the bytes from one place to another.
func (m byteMask) set(from, to int) {
	for from < to {
		n := min(64-from%64, to-from)
		m[from/64] |= math.MaxUint64 >> (64 - n) << (from % 64)
		from += n
	}
}

// clear clears the bits of the bytes from one place to another.
func (m byteMask) clear(from, to int) {
	for from < to {
		n := min(64-from%64, to-from)
		m[from/64] &^= math.MaxUint64 >> (64 - n) << (from % 64)
		from += n
	}
}

// next returns the first byte of the set from byte i on, and whether there is one.
func (m byteMask) next(i int) (int, bool) {
	w := i / 64
	for rest := m[w] >> (i % 64) << (i % 64); ; rest = m[w] {
		if rest != 0 {
			return w*64 + bits.TrailingZeros64(rest), true
		}
		if w++; w == len(m) {
			return 0, false
		}
	}
}

// last returns the last byte of the set before byte i; there must be one.
func (m byteMask) last(i int) int {
	w := i / 64
	rest := m[w] & (1<<(i%64) - 1)
	for rest == 0 {
		w--
		rest = m[w]
	}
	return w*64 + 63 - bits.LeadingZeros64(rest)
}

// places returns the places of the bytes of the set, modulo 2³², in the memory of dst if
// there is room.
func (m byteMask) places(dst []uint32) []uint32 {
	dst = slices.Grow(dst[:0], cpu.CountOnes(m))
	return dst[:cpu.SelectOnes(dst[:cap(dst)], m, 0)]
}
