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

// end returns where the run of bytes of the set that byte i is in ends.
func (m byteMask) end(i int) int {
	w := i / 64
	rest := ^m[w] >> (i % 64)
	if rest != 0 {
		return i + bits.TrailingZeros64(rest)
	}
	for w++; m[w] == math.MaxUint64; w++ {
	}
	return w*64 + bits.TrailingZeros64(^m[w])
}

// places returns the places of the bytes of the set, modulo 2³², in the memory of dst if
// there is room.
func (m byteMask) places(dst []uint32) []uint32 {
	dst = slices.Grow(dst[:0], cpu.CountOnes(m))
	return dst[:cpu.SelectOnes(dst[:cap(dst)], m, 0)]
}
