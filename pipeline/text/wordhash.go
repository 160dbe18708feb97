package text

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/zeebo/xxh3"

	"github.com/rosaline-go/rosaline/cpu"
)

// shortWord is the length of the longest word that is hashed by two loads.
const shortWord = 16

// wordKeys are the secrets of the hash of words, drawn once a process: without
// them nobody can write words whose hashes collide, or triples of words whose
// keys crowd into one place. What is counted does not depend on them, but for
// collisions by chance, one in 2⁶⁴ pairs.
var wordKeys = newWordKeys()

type wordKeySet struct {
	first uint64
	seed  uint64 // of the hash of long words
	// lengths holds for each length of a short word the masks of its first and
	// second eight bytes, and a key: words that differ in length only are as
	// different as any others.
	lengths [shortWord + 1]struct{ low, high, key uint64 }
}

func newWordKeys() *wordKeySet {
	k := &wordKeySet{first: rand.Uint64(), seed: rand.Uint64()}
	for n := range k.lengths {
		l := &k.lengths[n]
		// A shift by 64 gives 0, and 0 − 1 is the mask of all bits.
		l.low = 1<<(8*min(n, 8)) - 1
		l.high = 1<<(8*(max(n, 8)-8)) - 1
		l.key = rand.Uint64()
	}
	return k
}

// short hashes the first n bytes of p, which holds 16, n being at most 16. The
// form is that of wyhash: two keyed words multiplied and folded.
func (k *wordKeySet) short(p []byte, n uint) uint64 {
	l := &k.lengths[n]
	return fold(binary.LittleEndian.Uint64(p)&l.low^k.first, binary.LittleEndian.Uint64(p[8:])&l.high^l.key)
}

// any hashes a word of any length that may end where memory ends.
func (k *wordKeySet) any(w []byte) uint64 {
	if len(w) > shortWord {
		return xxh3.HashSeed(w, k.seed)
	}
	var p [shortWord]byte
	copy(p[:], w)
	return k.short(p[:], uint(len(w)))
}

// fold multiplies to 128 bits and adds the halves without carry.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// cursorBlocks is the number of blocks whose edges a cursor looks up at once.
const cursorBlocks = 32

// wordCursor hashes the words of a text in their order, some at a time.
type wordCursor struct {
	s     []byte
	edges []uint64 // where words begin and, by turns, end, by block
	block int      // of edges that comes next
	base  int      // places are relative to it
	next  int      // of places
	n     int      // places that there are
	start int      // where a word began that has not ended; -1 for none

	places [cursorBlocks * cpu.BlockSize]uint32
}

// begin starts at the beginning of a text with so many edges.
func (c *wordCursor) begin(s []byte, edges []uint64) {
	c.s, c.edges = s, edges
	c.block, c.next, c.n, c.start = 0, 0, 0, -1
}

// hashes fills dst with the hashes of the words that follow and returns how many
// those are, fewer than len(dst) only at the end of the text.
func (c *wordCursor) hashes(dst []uint64) int {
	done := 0
	for done < len(dst) {
		if c.next == c.n && !c.fill() {
			break
		}
		if c.start >= 0 {
			dst[done] = wordKeys.any(c.s[c.start : c.base+int(c.places[c.next])])
			c.start, c.next = -1, c.next+1
			done++
			continue
		}
		done += c.hashWhole(dst[done:])
		if c.next == c.n-1 {
			c.start = c.base + int(c.places[c.next])
			c.next++
		}
	}
	return done
}

// fill looks up the edges of the blocks that follow, and reports whether there
// are any.
func (c *wordCursor) fill() bool {
	c.next, c.n = 0, 0
	for c.n == 0 && c.block < len(c.edges) {
		c.base = c.block * cpu.BlockSize
		end := min(c.block+cursorBlocks, len(c.edges))
		c.n = cpu.SelectOnes(c.places[:], c.edges[c.block:end], 0)
		c.block = end
	}
	return c.n > 0
}

// hashWhole hashes the words that both begin and end among the places.
func (c *wordCursor) hashWhole(dst []uint64) int {
	places := c.places[c.next:c.n]
	n := min(len(places)/2, len(dst))
	dst, places = dst[:n], places[:2*n]
	c.next += 2 * n
	s, keys := c.s[c.base:], wordKeys
	for i := range dst {
		start, end := uint(places[2*i]), uint(places[2*i+1])
		if p, size := s[start:], end-start; size <= shortWord && len(p) >= shortWord {
			dst[i] = keys.short(p, size)
		} else {
			dst[i] = keys.any(s[start:end])
		}
	}
	return n
}
