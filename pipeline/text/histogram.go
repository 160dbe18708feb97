package text

import (
	"encoding/binary"
	"math"
)

// histogram counts the code points of one text.
type histogram struct {
	// ascii has four counters a byte, so that equal neighbours do not wait for
	// each other. Counters of bytes from 80 on are noise that lets whole words
	// be counted without a look at what they hold.
	ascii [4][256]uint32
	// pages has the counters of the other code points; a page is made when its
	// first code point comes up, and kept.
	pages [0x110000 >> 8]*[256]uint32
	seen  []rune // the other code points, by first occurrence
}

// addWords counts the bytes of p, a whole number of 8-byte words.
func (h *histogram) addWords(p []byte) {
	for len(p) >= 8 {
		x := binary.LittleEndian.Uint64(p)
		h.ascii[0][byte(x)]++
		h.ascii[1][byte(x>>8)]++
		h.ascii[2][byte(x>>16)]++
		h.ascii[3][byte(x>>24)]++
		h.ascii[0][byte(x>>32)]++
		h.ascii[1][byte(x>>40)]++
		h.ascii[2][byte(x>>48)]++
		h.ascii[3][byte(x>>56)]++
		p = p[8:]
	}
}

// addBytes counts the bytes of p.
func (h *histogram) addBytes(p []byte) {
	whole := len(p) &^ 7
	h.addWords(p[:whole])
	for _, b := range p[whole:] {
		h.ascii[0][b]++
	}
}

// addRune counts a code point above 7F.
func (h *histogram) addRune(r rune) {
	p := h.pages[uint32(r)>>8]
	if p == nil {
		p = new([256]uint32)
		h.pages[uint32(r)>>8] = p
	}
	if p[r&255] == 0 {
		h.seen = append(h.seen, r)
	}
	p[r&255]++
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
	for c := range 128 {
		if k := h.ascii[0][c] + h.ascii[1][c] + h.ascii[2][c] + h.ascii[3][c]; k != 0 {
			sum += information(k, all)
		}
	}
	for _, r := range h.seen {
		sum += information(h.pages[uint32(r)>>8][r&255], all)
	}
	return sum / float64(n)
}

// information returns the bits that the k code points of one kind carry in a
// text of 2^all code points. The conversion keeps the product from being fused
// into a sum, which would round differently on other processors.
func information(k uint32, all float64) float64 {
	return float64(float64(k) * (all - log2(k)))
}

// reset sets all counters to zero.
func (h *histogram) reset() {
	clear(h.ascii[:])
	for _, r := range h.seen {
		h.pages[uint32(r)>>8][r&255] = 0
	}
	h.seen = h.seen[:0]
}

// log2Table holds the logarithms of the counts that most characters of a
// document have.
var log2Table = func() (t [1024]float64) {
	for n := 1; n < len(t); n++ {
		t[n] = math.Log2(float64(n))
	}
	return t
}()

// log2 returns the binary logarithm of n, which is not 0.
func log2(n uint32) float64 {
	if n < uint32(len(log2Table)) {
		return log2Table[n]
	}
	return math.Log2(float64(n))
}
