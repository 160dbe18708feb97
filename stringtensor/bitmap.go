package stringtensor

import "math/bits"

// bitmap is a run of bits in Arrow's order: bit i is bit (off+i)%8 of byte
// (off+i)/8. The zero value has no bits and stands for "all set".
type bitmap struct {
	bits []byte
	off  int
}

// present reports whether there is a bitmap at all.
func (m bitmap) present() bool { return m.bits != nil }

// get returns bit i.
func (m bitmap) get(i int) bool {
	i += m.off
	return m.bits[i>>3]>>(i&7)&1 != 0
}

// slice returns the bits from lo on.
func (m bitmap) slice(lo int) bitmap {
	if !m.present() {
		return m
	}
	lo += m.off
	return bitmap{m.bits[lo>>3:], lo & 7}
}

// ones counts the set bits among the first n.
func (m bitmap) ones(n int) int {
	c, i := 0, 0
	for ; i < n && (m.off+i)&7 != 0; i++ {
		c += int(m.bits[(m.off+i)>>3] >> ((m.off + i) & 7) & 1)
	}
	for ; i+8 <= n; i += 8 {
		c += bits.OnesCount8(m.bits[(m.off+i)>>3])
	}
	for ; i < n; i++ {
		c += int(m.bits[(m.off+i)>>3] >> ((m.off + i) & 7) & 1)
	}
	return c
}

// newBitmap returns n zero bits.
func newBitmap(n int) bitmap { return bitmap{bits: make([]byte, (n+7)/8)} }

// set sets bit i.
func (m bitmap) set(i int) {
	i += m.off
	m.bits[i>>3] |= 1 << (i & 7)
}
