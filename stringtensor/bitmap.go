package stringtensor

import (
	"encoding/binary"

	"github.com/rosaline-go/rosaline/cpu"
)

// bitmap is a run of bits in Arrow's order: bit i is bit (off+i)%8 of byte
// (off+i)/8. The zero value has no bits and stands for "all set".
type bitmap struct {
	bits []byte
	off  int
}

// newBitmap returns n zero bits.
func newBitmap(n int) bitmap { return bitmap{bits: make([]byte, (n+7)/8)} }

// present reports whether there is a bitmap at all.
func (m bitmap) present() bool { return m.bits != nil }

// get returns bit i.
func (m bitmap) get(i int) bool {
	i += m.off
	return m.bits[i>>3]>>(i&7)&1 != 0
}

// set sets bit i.
func (m bitmap) set(i int) {
	i += m.off
	m.bits[i>>3] |= 1 << (i & 7)
}

// slice returns the bits from lo on.
func (m bitmap) slice(lo int) bitmap {
	if !m.present() {
		return m
	}
	lo += m.off
	return bitmap{m.bits[lo>>3:], lo & 7}
}

// holds reports whether there are at least n bits.
func (m bitmap) holds(n int) bool {
	return m.off >= 0 && n >= 0 && n <= (len(m.bits)-m.off/8)*8-m.off%8
}

// word returns bits i to i+n-1 in the low n bits; n is at most 64.
func (m bitmap) word(i, n int) uint64 {
	i += m.off
	b, s := m.bits[i>>3:], i&7
	var w uint64
	if len(b) >= 9 {
		// A shift by 64 gives 0, so s = 0 needs no case of its own.
		w = binary.LittleEndian.Uint64(b)>>s | uint64(b[8])<<(64-s)
	} else {
		for k := len(b) - 1; k > 0; k-- {
			w |= uint64(b[k]) << (8*k - s)
		}
		if len(b) > 0 {
			w |= uint64(b[0]) >> s
		}
	}
	return w & (1<<n - 1)
}

// ones counts the set bits among the first n.
func (m bitmap) ones(n int) int {
	var marks rowMarks
	c := 0
	for i := 0; i < n; i += blockRows {
		c += cpu.CountOnes(m.load(&marks, i, min(n-i, blockRows)))
	}
	return c
}

// load copies bits i to i+n-1 to marks, of which it returns the words that they take;
// n is at most blockRows.
func (m bitmap) load(marks *rowMarks, i, n int) []uint64 {
	words := marks[:(n+63)/64]
	for k := range words {
		words[k] = m.word(i+64*k, min(n-64*k, 64))
	}
	return words
}

// equal reports whether the first n bits of m and o agree.
func (m bitmap) equal(o bitmap, n int) bool {
	for i := 0; i < n; i += 64 {
		k := min(64, n-i)
		if m.word(i, k) != o.word(i, k) {
			return false
		}
	}
	return true
}

// put sets bits at to at+n-1, which are zero, to the first n bits of o, or to
// one where o has no bits.
func (m bitmap) put(at int, o bitmap, n int) {
	at += m.off
	for i := 0; i < n; i += 64 {
		k := min(64, n-i)
		w := ^uint64(0) >> (64 - k)
		if o.present() {
			w = o.word(i, k)
		}
		p, s := (at+i)>>3, (at+i)&7
		m.bits[p] |= byte(w << s)
		w >>= 8 - s
		for p++; w != 0; p++ {
			m.bits[p] |= byte(w)
			w >>= 8
		}
	}
}
