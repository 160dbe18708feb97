package text

import "math/bits"

// Sizes of tripleMarks in bits: for each triple, least and most.
const (
	markBitsPerTriple = 16
	minMarkBits       = 1 << 10
	maxMarkBits       = 1 << 22
)

// tripleMarks bounds the number of distinct triples from below: each key marks
// one bit, and equal keys mark the same one, so there are at least as many
// distinct keys as marks. A mark takes one store and no search, and the bits are
// a sixteenth of the slots of a [tripleSet], which is asked only when the bound
// does not decide. The zero value is ready after reset.
type tripleMarks struct {
	words []uint64
	shift uint
	count int // bits that are set
}

// reset clears the marks for n triples, and reports whether they have room for so
// many.
func (t *tripleMarks) reset(n int) bool {
	if n > maxMarkBits/(markBitsPerTriple/2) {
		return false
	}
	size := min(max(1<<bits.Len(uint(n*markBitsPerTriple-1)), minMarkBits), maxMarkBits)
	if cap(t.words) < size/64 {
		t.words = make([]uint64, size/64)
	} else {
		t.words = t.words[:size/64]
		clear(t.words)
	}
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
	t.count = 0
	return true
}

// addTriples marks the triples of neighbours in words.
func (t *tripleMarks) addTriples(words []uint64) {
	if len(words) < 3 {
		return
	}
	marks, shift, count := t.words, t.shift&63, 0
	a, b := words[0], words[1]
	for _, c := range words[2:] {
		place := tripleKey(a, b, c) >> shift
		w := &marks[place/64&uint64(len(marks)-1)]
		count += int(^*w >> (place & 63) & 1)
		*w |= 1 << (place & 63)
		a, b = b, c
	}
	t.count += count
}
