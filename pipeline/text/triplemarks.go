package text

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Numbers of marks of tripleMarks: for each triple, least and most.
const (
	marksPerTriple = 8
	minMarks       = 1 << 8
	maxMarks       = 1 << markPlaceBits
)

// markPlaceBits is the number of bits that choose a mark, of which few marks need a part.
const markPlaceBits = 20

// tripleMarks bounds the number of distinct triples from below: each triple makes
// one mark, and equal triples make the same one, so there are at least as many
// distinct triples as marks. A mark takes one store and no search, and of a word the
// first eight bytes are enough, so it takes less than a [tripleSet], which is asked only
// when the bound does not decide. The zero value is ready after reset.
type tripleMarks struct {
	marks  []uint8   // 0 or 1
	count  int       // of ones
	before [2]uint64 // half of the last word, a quarter of the one before
	words  [markBatch]uint64
}

// markBatch is the number of words that are marked at once.
const markBatch = 128

// markKey is an odd number, drawn once a process: whether the marks of a text crowd
// together is left to chance.
var markKey = rand.Uint64() | 1

// firstBytes has the masks of the bytes of a word among eight, by its length modulo 64:
// all eight of a longer one, or none.
var firstBytes = func() (t [64]uint64) {
	for n := range t {
		t[n] = 1<<(8*n) - 1
	}
	return t
}()

// reset clears the marks for n triples, and reports whether they have room for so
// many.
func (t *tripleMarks) reset(n int) bool {
	if n > maxMarks/2 {
		return false
	}
	size := min(max(1<<bits.Len(uint(n*marksPerTriple-1)), minMarks), maxMarks)
	if cap(t.marks) < size {
		t.marks = make([]uint8, size)
	} else {
		t.marks = t.marks[:size]
		clear(t.marks)
	}
	t.before = [2]uint64{}
	t.count = -2 // the first two words make triples with what is before the text
	return true
}

// addWords marks the triples that end with words of s, of which places holds the
// beginnings and ends.
func (t *tripleMarks) addWords(s []byte, places []uint32) {
	for len(places) >= 2 {
		n := min(len(places)/2, markBatch)
		t.load(s, places[:2*n])
		t.mark(t.words[:n])
		places = places[2*n:]
	}
}

// load puts words, of each a key times no more than its first eight bytes, into t.words.
func (t *tripleMarks) load(s []byte, places []uint32) {
	n := len(places) / 2
	for ; n > 0 && int(places[2*n-2]) > len(s)-8; n-- {
		var p [8]byte
		copy(p[:], s[places[2*n-2]:places[2*n-1]])
		t.words[n-1] = binary.LittleEndian.Uint64(p[:]) * markKey
	}
	words, key := t.words[:n], markKey
	for i := range words {
		p := (*[2]uint32)(places[2*i:])
		start, end := uint(p[0]), uint(p[1])
		words[i] = binary.LittleEndian.Uint64(s[start:start+8]) & firstBytes[(end-start)%64] * key
	}
}

// mark marks the triples that end with words.
func (t *tripleMarks) mark(words []uint64) {
	marks, marked := t.marks, 0
	half, quarter := t.before[0], t.before[1]
	for _, w := range words {
		place := (w + half + quarter) >> (64 - markPlaceBits)
		half, quarter = w>>1, half>>1
		m := &marks[place&uint64(len(marks)-1)]
		marked += int(*m)
		*m = 1
	}
	t.before = [2]uint64{half, quarter}
	t.count += len(words) - marked
}
