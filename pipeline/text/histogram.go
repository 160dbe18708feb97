package text

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
)

// histogram counts the code points of one text.
type histogram struct {
	// lanes are four tables of 256 counters of 16 bits, so that equal neighbours
	// do not wait for each other, four counters a word, so that the tables are
	// added up by words. Counters of bytes from 80 on are noise that lets whole
	// words be counted without a look at what they hold; nobody reads them.
	lanes   [4][64]uint64
	counted int                         // bytes in the lanes, at most maxLaneBytes
	ascii   [128]uint32                 // what was in the lanes when they were full
	carried bool                        // ascii is not all zero
	seen    []rune                      // the other code points, by first occurrence
	pages   [0x110000 >> 8]*[256]uint32 // their counters; a page is made when needed, and kept
}

// maxLaneBytes is how many bytes the lanes may count: the sum of the four counters
// of a byte must fit 16 bits.
const maxLaneBytes = math.MaxUint16 &^ (cpu.BlockSize - 1)

// sparseASCII is the number of bytes below 80 in a block up to which they are
// counted one by one.
const sparseASCII = 12

// counters returns the lanes by byte. Machines are little endian: see package
// stringtensor.
func (h *histogram) counters() *[4][256]uint16 {
	return (*[4][256]uint16)(unsafe.Pointer(&h.lanes))
}

// addBlock counts the bytes below 80 of a block, which nonASCII says where not
// to find.
func (h *histogram) addBlock(p []byte, nonASCII uint64) {
	if h.counted+len(p) > maxLaneBytes {
		h.carry()
	}
	h.counted += len(p)
	if len(p) == cpu.BlockSize && (nonASCII == 0 || bits.OnesCount64(nonASCII) < cpu.BlockSize-sparseASCII) {
		addWhole(h.counters(), (*[cpu.BlockSize]byte)(p))
		return
	}
	lanes := h.counters()
	for ascii := ^nonASCII; ascii != 0; ascii &= ascii - 1 {
		i := bits.TrailingZeros64(ascii)
		if i >= len(p) {
			break
		}
		lanes[i&3][p[i]]++
	}
}

// addWhole counts the bytes of a block in the lanes.
func addWhole(lanes *[4][256]uint16, p *[cpu.BlockSize]byte) {
	l0, l1, l2, l3 := &lanes[0], &lanes[1], &lanes[2], &lanes[3]
	for i := 0; i < cpu.BlockSize; i += 8 {
		x := binary.LittleEndian.Uint64(p[i : i+8])
		l0[byte(x)]++
		l1[byte(x>>8)]++
		l2[byte(x>>16)]++
		l3[byte(x>>24)]++
		l0[byte(x>>32)]++
		l1[byte(x>>40)]++
		l2[byte(x>>48)]++
		l3[byte(x>>56)]++
	}
}

// carry empties the lanes into ascii.
func (h *histogram) carry() {
	for w := range 32 {
		for i, x := 4*w, h.packed(w); x != 0; i, x = i+1, x>>16 {
			h.ascii[i] += uint32(x & math.MaxUint16)
		}
	}
	h.clearLanes()
	h.carried = true
}

// packed returns the counters of bytes 4w to 4w+3, the first in the lowest bits.
func (h *histogram) packed(w int) uint64 {
	return h.lanes[0][w] + h.lanes[1][w] + h.lanes[2][w] + h.lanes[3][w]
}

func (h *histogram) clearLanes() {
	for i := range h.lanes {
		clear(h.lanes[i][:32])
	}
	h.counted = 0
}

// addRunes counts the code points above 7F that begin at the given places of a
// block; s is the text from the block on.
func (h *histogram) addRunes(s []byte, begins uint64, valid bool) {
	n := len(h.seen)
	if cap(h.seen)-n < cpu.BlockSize {
		h.seen = append(make([]rune, 0, 2*cap(h.seen)+cpu.BlockSize), h.seen...)
	}
	seen := h.seen[:n+cpu.BlockSize]
	for ; begins != 0; begins &= begins - 1 {
		c := s[bits.TrailingZeros64(begins):]
		r, ok := decodeThree(c)
		if !ok || !valid {
			r, _ = decode(c, valid)
		}
		p := h.pages[uint32(r)>>8]
		if p == nil {
			p = new([256]uint32)
			h.pages[uint32(r)>>8] = p
		}
		// Written in any case and kept only if new: whether it is cannot be foreseen.
		seen[n] = r
		k := p[r&255]
		if k == 0 {
			n++
		}
		p[r&255] = k + 1
	}
	h.seen = seen[:n]
}

// entropy returns the Shannon entropy of the n code points counted, in bits a
// code point. Every term is positive or zero, so nothing cancels, and they are
// summed in one order, ASCII first and the others as they first occurred, so
// that a text has one entropy to the last bit.
func (h *histogram) entropy(n int) float64 {
	if n == 0 {
		return 0
	}
	all := log2(uint32(n))
	var sum float64
	for w := range 32 {
		x := h.packed(w)
		if x == 0 && !h.carried {
			continue
		}
		c := h.ascii[4*w : 4*w+4]
		sum += information(c[0]+uint32(x&math.MaxUint16), all)
		sum += information(c[1]+uint32(x>>16&math.MaxUint16), all)
		sum += information(c[2]+uint32(x>>32&math.MaxUint16), all)
		sum += information(c[3]+uint32(x>>48), all)
	}
	for _, r := range h.seen {
		sum += information(h.pages[uint32(r)>>8][r&255], all)
	}
	return sum / float64(n)
}

// information returns the bits that the k code points of one kind carry in a
// text of 2^all code points, 0 for none. The conversion keeps the product from
// being fused into a sum, which would round differently on other processors.
func information(k uint32, all float64) float64 {
	return float64(float64(k) * (all - log2(k)))
}

// reset sets all counters to zero.
func (h *histogram) reset() {
	h.clearLanes()
	if h.carried {
		clear(h.ascii[:])
		h.carried = false
	}
	for _, r := range h.seen {
		h.pages[uint32(r)>>8][r&255] = 0
	}
	h.seen = h.seen[:0]
}

// log2Table holds the logarithms of the counts that most characters of a
// document have, and 0 for 0.
var log2Table = func() (t [1024]float64) {
	for n := 1; n < len(t); n++ {
		t[n] = math.Log2(float64(n))
	}
	return t
}()

// log2 returns the binary logarithm of n, 0 for 0.
func log2(n uint32) float64 {
	if n < uint32(len(log2Table)) {
		return log2Table[n]
	}
	return math.Log2(float64(n))
}

// productTable holds n·log₂ n.
var productTable = func() (t [len(log2Table)]float64) {
	for n := range t {
		t[n] = float64(n) * log2Table[n]
	}
	return t
}()

// product returns n·log₂ n, 0 for 0.
func product(n uint32) float64 {
	if n < uint32(len(productTable)) {
		return productTable[n]
	}
	return float64(n) * math.Log2(float64(n))
}
