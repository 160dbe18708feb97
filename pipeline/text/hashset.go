package text

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/rosaline-go/rosaline/cpu"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// Hash128 is the XXH3-128 of a text, seed 0.
type Hash128 struct{ Hi, Lo uint64 }

// HashOf returns the hash that deduplication knows s by.
func HashOf(s []byte) Hash128 {
	h := xxh3.Hash128(s)
	return Hash128{h.Hi, h.Lo}
}

// hashSet is a set of hashes that remembers the order they came in. Hashes lie
// in chunks, by position; a table of 8-byte slots finds them.
//
//	slots  ┌ tag 24 ┬ position+1, 40 bits ┐ …   0 is free, at most 4 of 5 are taken
//	chunks [0] 1024 hashes  [1] 1024 hashes …
//
// A hash costs 16 bytes in its chunk and 10 to 20 in the table. The tag, the
// high bits of the hash, spares the look into the chunk where another hash is in
// the way. The place in the table comes from multipliers drawn at random, one for
// each half since a half alone is easily made equal, so that nobody can choose
// hashes that crowd together.
//
// Whoever knows the fixed seed of XXH3 can also write any number of texts with one
// hash. Where texts are kept these are different entries, so the place of an
// entry whose text is known comes from a hash of the text under a random seed.
type hashSet struct {
	slots  []uint64
	shift  uint
	mult   [2]uint64 // odd; for Lo and Hi
	seed   maphash.Seed
	chunks []*[chunkLen]Hash128
	texts  []*[chunkLen]knownText // with byte check
	n      int
	bare   int // entries whose text is unknown although texts are kept

	null      int // position of null + 1; null is in the order, not in the table
	textBytes int64
}

// knownText is a text that is kept, and its keyed hash. The text is nil for a hash
// whose text is unknown.
type knownText struct {
	text []byte
	key  uint64
}

// nullHash stands for null in the order of the hashes. Null has no place in the
// table, so a text that happens to have this hash is still not null.
var nullHash = Hash128{stringtensor.NullHash, stringtensor.NullHash}

const (
	chunkLen     = 1024
	minSlots     = 256
	positionBits = 40
	positionMask = 1<<positionBits - 1
)

// newHashSet returns a set with room for n hashes.
func newHashSet(n int, byteCheck bool) hashSet {
	t := hashSet{mult: [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}, seed: maphash.MakeSeed()}
	if byteCheck {
		t.texts = []*[chunkLen]knownText{}
	}
	size := minSlots
	for size/5*4 < n {
		size *= 2
	}
	t.resize(size)
	return t
}

// resize makes an empty table of size slots, a power of two.
func (t *hashSet) resize(size int) {
	t.slots = make([]uint64, size)
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
}

// at returns the hash at a position.
func (t *hashSet) at(position int) *Hash128 { return &t.chunks[position/chunkLen][position%chunkLen] }

// known returns the text at a position; the set must keep texts.
func (t *hashSet) known(position int) *knownText {
	return &t.texts[position/chunkLen][position%chunkLen]
}

// start returns the slot where the search for a hash begins.
func (t *hashSet) start(h Hash128) int {
	return int((h.Lo*t.mult[0]+h.Hi*t.mult[1])>>t.shift) & (len(t.slots) - 1)
}

// startOfKey returns the slot where the search for a text begins.
func (t *hashSet) startOfKey(key uint64) int { return int(key>>t.shift) & (len(t.slots) - 1) }

// startAt returns the slot where the search for the entry at a position begins.
func (t *hashSet) startAt(position int) int {
	if t.texts != nil {
		if k := t.known(position); k.text != nil {
			return t.startOfKey(k.key)
		}
	}
	return t.start(*t.at(position))
}

func (t *hashSet) tag(h Hash128) uint64 { return h.Hi &^ positionMask }

// lookAhead is how many searches are known ahead of the one at hand: enough to hide
// the time that memory takes, few enough that what comes near stays near.
const lookAhead = 32

// nearby are the slots where the searches to come begin.
type nearby struct {
	places [lookAhead]unsafe.Pointer
	n      int
}

// expect notes that the search for h comes soon.
func (t *hashSet) expect(b *nearby, h Hash128) {
	b.places[b.n] = unsafe.Pointer(&t.slots[t.start(h)])
	b.n++
}

// fetch asks for the memory that was noted, and forgets it.
func (b *nearby) fetch() {
	cpu.Prefetch(b.places[:b.n])
	b.n = 0
}

// find returns the slot of h, or the free one where it belongs. If texts are
// kept and s is not nil, a hash whose text is known and is not s does not count.
func (t *hashSet) find(h Hash128, s []byte) (slot int, found bool) {
	if t.texts == nil || s == nil {
		return t.probe(t.start(h), h, nil)
	}
	if t.bare > 0 {
		if slot, found = t.probe(t.start(h), h, nil); found {
			return slot, true
		}
	}
	return t.probe(t.startOfKey(maphash.Bytes(t.seed, s)), h, s)
}

// probe searches from slot i on. If texts are kept it looks for the text s, or,
// where s is nil, for a hash whose text is unknown.
func (t *hashSet) probe(i int, h Hash128, s []byte) (slot int, found bool) {
	for mask := len(t.slots) - 1; ; i = (i + 1) & mask {
		x := t.slots[i]
		if x == 0 {
			return i, false
		}
		if x&^positionMask != t.tag(h) {
			continue
		}
		p := int(x&positionMask - 1)
		if *t.at(p) != h {
			continue
		}
		if t.texts != nil {
			if k := t.known(p); (k.text == nil) != (s == nil) || !bytes.Equal(k.text, s) {
				continue
			}
		}
		return i, true
	}
}

// add puts h at the end of the set, at the free slot that find returned. s is
// kept if texts are; it may be nil.
func (t *hashSet) add(slot int, h Hash128, s []byte) {
	t.slots[slot] = t.tag(h) | uint64(t.n+1)
	t.push(h, s)
	if t.n > len(t.slots)/5*4 {
		t.grow()
	}
}

// addAll adds the hashes that are not there, that of null included, in their order. Their texts
// are unknown.
func (t *hashSet) addAll(hashes []Hash128) {
	var near nearby
	for len(hashes) > 0 {
		group := hashes[:min(lookAhead, len(hashes))]
		hashes = hashes[len(group):]
		for _, h := range group {
			t.expect(&near, h)
		}
		near.fetch()
		for _, h := range group {
			if h == nullHash {
				if t.null == 0 {
					t.addNull()
				}
			} else if slot, found := t.find(h, nil); !found {
				t.add(slot, h, nil)
			}
		}
	}
}

// grow makes the table twice as large.
func (t *hashSet) grow() {
	t.resize(2 * len(t.slots))
	var (
		near   nearby
		starts [lookAhead]int
	)
	for lo := 0; lo < t.n; lo += lookAhead {
		n := min(lookAhead, t.n-lo)
		// A chunk has room for a whole number of such groups.
		hashes := t.chunks[lo/chunkLen][lo%chunkLen:][:n]
		for i, h := range hashes {
			starts[i] = t.start(h)
			if t.texts != nil {
				starts[i] = t.startAt(lo + i)
			}
			near.places[i] = unsafe.Pointer(&t.slots[starts[i]])
		}
		near.n = n
		near.fetch()
		for i, h := range hashes {
			if lo+i+1 != t.null {
				t.place(starts[i], t.tag(h)|uint64(lo+i+1))
			}
		}
	}
}

// addNull puts null at the end of the set.
func (t *hashSet) addNull() {
	t.push(nullHash, nil)
	t.null = t.n
}

// push puts h at the end of the order without a slot in the table.
func (t *hashSet) push(h Hash128, s []byte) {
	if t.n == len(t.chunks)*chunkLen {
		t.chunks = append(t.chunks, new([chunkLen]Hash128))
		if t.texts != nil {
			t.texts = append(t.texts, new([chunkLen]knownText))
		}
	}
	*t.at(t.n) = h
	switch {
	case t.texts == nil:
	case s == nil:
		t.bare++
	default:
		text := append(make([]byte, 0, len(s)), s...) // not nil, even if empty
		*t.known(t.n) = knownText{text, maphash.Bytes(t.seed, s)}
		t.textBytes += int64(len(s))
	}
	t.n++
}

// place puts x into the first free slot from i on.
func (t *hashSet) place(i int, x uint64) {
	for mask := len(t.slots) - 1; t.slots[i] != 0; {
		i = (i + 1) & mask
	}
	t.slots[i] = x
}

// pop takes the last hash away. The table is always what adding the hashes in
// their order makes it, growing included, so freeing its slot is enough: no hash
// that is still there was pushed on by it.
func (t *hashSet) pop() {
	t.n--
	if t.n+1 != t.null {
		mask := len(t.slots) - 1
		want := t.tag(*t.at(t.n)) | uint64(t.n+1)
		i := t.startAt(t.n)
		for t.slots[i] != want {
			i = (i + 1) & mask
		}
		t.slots[i] = 0
	} else {
		t.null = 0
	}
	switch {
	case t.texts == nil:
	case t.known(t.n).text == nil:
		t.bare--
	default:
		t.textBytes -= int64(len(t.known(t.n).text))
		*t.known(t.n) = knownText{}
	}
}

// hashes64 is a list of the XXH3-64 of texts. An index of the high bits of a hash says
// where to search for it: the hashes of texts are spread evenly, so that is among some
// 16 to 32 of them.
//
//	starts ┌ 0 ┬ 27 ┬ 50 ┬ 81 ┐ …   sorted[50:81] are the hashes whose high bits are 2
type hashes64 struct {
	sorted []uint64
	starts []int
	shift  uint
}

// newHashes64 makes the index of a list. The error is [ErrOption], for one that is not in order.
func newHashes64(sorted []uint64) (hashes64, error) {
	if len(sorted) == 0 {
		return hashes64{}, nil
	}
	high := max(0, bits.Len(uint(len(sorted)))-5)
	t := hashes64{sorted: sorted, starts: make([]int, 1<<high+1), shift: uint(64 - high)}
	last, next := uint64(0), 0
	for i, h := range sorted {
		if h < last {
			return hashes64{}, fmt.Errorf("%w: known hash %d is %#x, before it comes %#x, want ascending order", ErrOption, i, h, last)
		}
		last = h
		for ; uint64(next) <= h>>t.shift; next++ {
			t.starts[next] = i
		}
	}
	for ; next < len(t.starts); next++ {
		t.starts[next] = len(sorted)
	}
	return t, nil
}

// has reports whether h is in the list, which is not empty.
func (t *hashes64) has(h uint64) bool {
	i := h >> t.shift
	_, found := slices.BinarySearch(t.sorted[t.starts[i]:t.starts[i+1]], h)
	return found
}

// sum64 returns the XXH3-64 of s, of which h is the XXH3-128. For more than 240 bytes
// XXH3 makes it as it makes the low half of the 128 bits: doc/xxhash_spec.md of xxHash.
func sum64(h Hash128, s []byte) uint64 {
	if len(s) > 240 {
		return h.Lo
	}
	return xxh3.Hash(s)
}

// bytes returns the memory in use, in bytes.
func (t *hashSet) bytes() int64 {
	return int64(len(t.slots))*8 + int64(len(t.chunks))*(chunkLen*16+8) +
		int64(len(t.texts))*(chunkLen*32+8) + t.textBytes
}
