package text

import (
	"math/bits"
	"math/rand/v2"
)

// Sizes of a tripleSet in slots: what one is never smaller than, what it starts
// with at most, and what is kept for the next text.
const (
	minTripleSlots   = 64
	startTripleSlots = 1 << 16
	keepTripleSlots  = 1 << 20
)

// tripleKey folds the hashes of three words. It is not linear in them: a sum,
// even of rotated hashes, lets sets of words be found whose triples collide.
func tripleKey(a, b, c uint64) uint64 { return fold(pairKey(a, b), c) }

// tripleSet counts distinct 64-bit keys by open addressing. The place of a key
// comes from a multiplier drawn at random, so that nobody can write a text whose
// keys crowd into one place; which keys are equal, and so the count, does not
// depend on it. The zero value is ready after reset.
type tripleSet struct {
	slots []uint64 // 0 is free
	spare []uint64 // memory of the size before or after
	shift uint
	count int
	mult  uint64 // odd
}

// reset empties the set for a text of at most n triples. A quarter of the slots
// will be taken at most, if they are not many: then few searches go astray.
func (t *tripleSet) reset(n int) {
	if t.mult == 0 {
		t.mult = rand.Uint64() | 1
	}
	size := minTripleSlots
	for size < 4*n && size < startTripleSlots {
		size *= 2
	}
	t.resize(size)
	t.count = 0
}

// resize makes slots a cleared slice of size, a power of two.
func (t *tripleSet) resize(size int) {
	if cap(t.slots) < size {
		t.slots = make([]uint64, size)
	} else {
		t.slots = t.slots[:size]
		clear(t.slots)
	}
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
}

// release gives up memory that only an unusually long text needs.
func (t *tripleSet) release() {
	if cap(t.slots) > keepTripleSlots {
		t.slots = nil
	}
	if cap(t.spare) > keepTripleSlots {
		t.spare = nil
	}
}

// place returns the slot at which the search for key begins.
func (t *tripleSet) place(key uint64) int { return int(key * t.mult >> (t.shift & 63)) }

// addTriples puts the keys of all triples of neighbours in words into the set.
func (t *tripleSet) addTriples(words []uint64) {
	for i := 2; i < len(words); i++ {
		t.add(tripleKey(words[i-2], words[i-1], words[i]))
	}
}

// add puts a key into the set.
func (t *tripleSet) add(key uint64) {
	key = max(key, 1) // 0 marks a free slot
	slots := t.slots
	i := t.place(key) & (len(slots) - 1)
	for slots[i] != 0 {
		if slots[i] == key {
			return
		}
		i = (i + 1) & (len(slots) - 1)
	}
	slots[i] = key
	t.count++
	if 2*t.count > len(slots) {
		t.grow()
	}
}

// grow makes the set four times as large.
func (t *tripleSet) grow() {
	old := t.slots
	t.slots, t.spare = t.spare, old
	t.resize(4 * len(old))
	for _, key := range old {
		if key == 0 {
			continue
		}
		i := t.place(key)
		for t.slots[i] != 0 {
			i = (i + 1) & (len(t.slots) - 1)
		}
		t.slots[i] = key
	}
}
