package text

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// grams finds the n-grams of a list of words that occur more than once, for n = 2, 3,
// 4 … in turn. An n-gram can only do so if both (n−1)-grams in it do, so each step
// looks at what the last one left, and prose is soon done with. All steps together
// take O(n · words) whatever the words are. Pairs are told apart by 64-bit hashes, and
// then no n-gram is taken for another. It is scratch.
type grams struct {
	n      int
	words  int
	list   []gram   // the n-grams that occur more than once, in their order
	counts []uint32 // by the id of an n-gram of list
	table  gramTable
	marks  []pairMarks
}

// pairMarks are 64 bits of each of two bitmaps: of the hashes that occurred, and of
// those that occurred again.
type pairMarks struct{ once, again uint64 }

// gram is one occurrence of an n-gram.
type gram struct {
	at uint32 // its first word
	id uint32 // where the same n-gram occurs first
}

// counted marks n-grams that duplicates has passed.
const counted = math.MaxUint32

// start finds the pairs of words that occur more than once.
func (g *grams) start(hashes []uint64) {
	g.n, g.words = 2, len(hashes)
	if cap(g.counts) < len(hashes) {
		g.counts = make([]uint32, len(hashes)+len(hashes)/2)
		g.list = make([]gram, 0, cap(g.counts))
	}
	g.counts, g.list = g.counts[:len(hashes)], g.list[:0]
	if len(hashes) < 2 {
		return
	}
	g.list = g.list[:len(hashes)]
	kept := g.markPairs(hashes)
	g.table.reset(kept)
	g.list = g.list[:kept]
	for i, x := range g.list {
		g.list[i] = g.occur(pairKey(hashes[x.at], hashes[x.at+1]), x.at)
	}
	g.repeated()
}

// Sizes of the marks of pairs in bits: for each pair, least and most.
const (
	markBitsPerPair = 16
	minMarkBits     = 1 << 10
	maxMarkBits     = 1 << 22
)

// markPairs lists the pairs that may occur more than once, those that share a mark, and
// returns how many they are. Of other pairs a few are among them, and most pairs of
// prose need no look-up in the table.
func (g *grams) markPairs(hashes []uint64) (kept int) {
	n := min(len(hashes), maxMarkBits/markBitsPerPair)
	size := max(1<<bits.Len(uint(n*markBitsPerPair-1)), minMarkBits)
	if cap(g.marks) < size/64 {
		g.marks = make([]pairMarks, size/64)
	} else {
		g.marks = g.marks[:size/64]
		clear(g.marks)
	}
	marks, shift := g.marks, uint(64-bits.TrailingZeros(uint(size)))
	a := hashes[0]
	for _, b := range hashes[1:] {
		place := pairKey(a, b) >> (shift & 63)
		m := &marks[place/64&uint64(len(marks)-1)]
		bit := uint64(1) << (place & 63)
		m.again |= m.once & bit
		m.once |= bit
		a = b
	}
	list := g.list
	a = hashes[0]
	for i, b := range hashes[1:] {
		place := pairKey(a, b) >> (shift & 63)
		// Written in any case and kept by its mark: whether it is cannot be foreseen.
		list[kept].at = uint32(i)
		kept += int(marks[place/64&uint64(len(marks)-1)].again >> (place & 63) & 1)
		a = b
	}
	return kept
}

// pairKey folds the hashes of two words, in their order.
func pairKey(a, b uint64) uint64 { return fold(a, b^0x9e3779b97f4a7c15) }

// longer goes on to the n-grams of one word more.
func (g *grams) longer() {
	g.n++
	if len(g.list) == 0 {
		return
	}
	g.table.reset(len(g.list))
	kept := 0
	for i, b := range g.list[1:] {
		a := g.list[i]
		if b.at == a.at+1 {
			g.list[kept] = g.occur(uint64(a.id)<<32|uint64(b.id), a.at)
			kept++
		}
	}
	g.list = g.list[:kept]
	g.repeated()
}

// occur counts the occurrence of what has that key.
func (g *grams) occur(key uint64, at uint32) gram {
	id := g.table.first(key, at)
	if id == at {
		g.counts[id] = 0
	}
	g.counts[id]++
	return gram{at, id}
}

// repeated drops from the list what occurs once.
func (g *grams) repeated() {
	kept := 0
	for _, x := range g.list {
		// Written in any case and kept by its count: whether it is cannot be foreseen.
		g.list[kept] = x
		if g.counts[x.id] > 1 {
			kept++
		}
	}
	g.list = g.list[:kept]
}

// top returns the n-gram that occurs most often, the first of them if they are
// several, and how often it does: 0 if there is none.
func (g *grams) top() (at, count int) {
	if g.words < g.n {
		return 0, 0
	}
	count = 1
	for _, x := range g.list {
		if x.at == x.id && int64(g.counts[x.id]) > int64(count) {
			at, count = int(x.at), int(g.counts[x.id])
		}
	}
	return at, count
}

// done reports whether no n-gram of more than four words occurs more than once.
func (g *grams) done() bool { return g.n >= 4 && len(g.list) == 0 }

// duplicates returns the code points of the words in n-grams that occurred before.
// Those that overlap count once: the search goes on behind a duplicate, and an
// n-gram it does not pass is not remembered. It can be called once for each n, after
// top.
func (g *grams) duplicates(l *wordList) int {
	chars, next := 0, uint32(0)
	for _, x := range g.list {
		switch {
		case x.at < next:
		case g.counts[x.id] == counted:
			chars += l.gramChars(int(x.at), g.n)
			next = x.at + uint32(g.n)
		default:
			g.counts[x.id] = counted
		}
	}
	return chars
}

// release gives up scratch that only an unusually long text needs.
func (g *grams) release() {
	if cap(g.counts) > keepWords {
		g.counts, g.list, g.marks = nil, nil, nil
	}
	g.table.release()
}

// Sizes of a gramTable in slots: what one is never smaller than, what it starts with
// at most, and what is kept for the next text.
const (
	minGramSlots   = 64
	startGramSlots = 1 << 15
	keepGramSlots  = 1 << 20
)

// gramTable finds where a key came first, by open addressing. The place of a key
// depends on numbers drawn at random, so that nobody can write a text whose keys
// crowd into one place. The zero value is ready after reset.
type gramTable struct {
	slots []gramSlot
	spare []gramSlot // memory of the size before or after
	shift uint
	count int
	key   [2]uint64
}

// gramSlot holds one key. Its place among the words is off by one, so that 0 is free.
type gramSlot struct {
	key   uint64
	place uint32
}

// reset empties the table for at most n keys.
func (t *gramTable) reset(n int) {
	if t.key[0] == 0 {
		t.key = [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}
	}
	size := minGramSlots
	for size < 2*n && size < startGramSlots {
		size *= 2
	}
	t.resize(size)
	t.count = 0
}

// resize makes slots a cleared slice of size, a power of two.
func (t *gramTable) resize(size int) {
	if cap(t.slots) < size {
		t.slots = make([]gramSlot, size)
	} else {
		t.slots = t.slots[:size]
		clear(t.slots)
	}
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
}

// first returns the place at which the key came first, which is this one if it is new.
func (t *gramTable) first(key uint64, place uint32) uint32 {
	slots := t.slots
	i := int(fold(key^t.key[0], t.key[1])>>t.shift) & (len(slots) - 1)
	for slots[i].place != 0 {
		if slots[i].key == key {
			return slots[i].place - 1
		}
		i = (i + 1) & (len(slots) - 1)
	}
	slots[i] = gramSlot{key, place + 1}
	if t.count++; 2*t.count > len(slots) {
		t.grow()
	}
	return place
}

// find returns the place of a key, and whether it has one.
func (t *gramTable) find(key uint64) (place uint32, ok bool) {
	i := int(fold(key^t.key[0], t.key[1])>>t.shift) & (len(t.slots) - 1)
	for t.slots[i].place != 0 {
		if t.slots[i].key == key {
			return t.slots[i].place - 1, true
		}
		i = (i + 1) & (len(t.slots) - 1)
	}
	return 0, false
}

// grow makes the table four times as large.
func (t *gramTable) grow() {
	old := t.slots
	t.slots, t.spare = t.spare, old
	t.resize(4 * len(old))
	for _, x := range old {
		if x.place == 0 {
			continue
		}
		i := int(fold(x.key^t.key[0], t.key[1]) >> t.shift)
		for t.slots[i].place != 0 {
			i = (i + 1) & (len(t.slots) - 1)
		}
		t.slots[i] = x
	}
}

// release gives up memory that only an unusually long text needs.
func (t *gramTable) release() {
	if cap(t.slots) > keepGramSlots {
		t.slots = nil
	}
	if cap(t.spare) > keepGramSlots {
		t.spare = nil
	}
}
