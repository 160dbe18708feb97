package text

import (
	"math/bits"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/rosaline-go/rosaline/cpu"
)

// Metrics are the five numbers that quality is judged by. None is ever NaN or
// infinite; the metrics of the empty text are all zero.
type Metrics struct {
	// Chars is the number of code points. A byte that is not part of valid
	// UTF-8 counts as one U+FFFD, as it does when Go ranges over a string.
	Chars int `json:"chars"`
	// Words is the number of runs of code points that are not White_Space.
	Words int `json:"words"`
	// Entropy is the Shannon entropy of the code points in bits each, from 0
	// for a text of one kind to log₂ Chars where all differ.
	Entropy float64 `json:"entropy"`
	// Repetition is the share of word triples that occurred before:
	// 1 − distinct/total, 0 for fewer than four words. Case counts.
	Repetition float64 `json:"repetition"`
	// SymbolRatio is the share of code points that are neither Alphabetic nor
	// a number among those that are not White_Space, 0 where there are none.
	SymbolRatio float64 `json:"symbol_ratio"`
}

// Measurer measures texts. It holds scratch memory: use one per goroutine, and
// keep it, since in steady state it allocates nothing. The zero value is ready.
//
// Memory is at most about 4.4 MiB for counters of code points, plus, for the
// text at hand, a little over its length and 16 to 64 bytes for each distinct
// word triple. What only an unusually long text needs is given up after it.
type Measurer struct {
	classes classes
	hist    histogram
	spaces  []uint64 // white space of each block, code points above 7F included
	triples tripleSet
}

// NewMeasurer returns a measurer.
func NewMeasurer() *Measurer { return new(Measurer) }

// Measure returns the metrics of s in O(len(s)) expected time, whatever s holds.
// Texts of 4 GiB or more may overflow the counters of the entropy.
//
// Word triples are told apart by 64-bit hashes (XXH3 of each word, folded by
// multiplication). Two triples that differ are taken for equal with probability
// 2⁻⁶⁴, which can only make Repetition higher.
func (m *Measurer) Measure(s []byte) Metrics {
	defer m.release()
	m.classes.classify(s)
	return m.measure(s, &m.classes)
}

// keepBlocks is the number of blocks whose scratch is kept: texts of 2 MiB.
const keepBlocks = 1 << 15

// release gives up scratch that only an unusually long text needs.
func (m *Measurer) release() {
	if cap(m.classes.blocks) > keepBlocks {
		m.classes.blocks = nil
	}
	if cap(m.spaces) > keepBlocks {
		m.spaces = nil
	}
	m.triples.release()
}

// measure is Measure of a text that is classified already.
func (m *Measurer) measure(s []byte, c *classes) Metrics {
	n := m.count(s, c)
	out := n.metrics()
	out.Entropy = m.hist.entropy(n.chars)
	m.hist.reset()
	out.Repetition = m.repetition(s, n.words)
	return out
}

// counts is what the one pass over a text finds besides the histogram.
type counts struct {
	chars, words     int
	visible, symbols int // code points that are not white space; of these, not alphanumeric

	runeEnd int    // end of the last code point above 7F
	spill   uint64 // its bytes in the next block, if it is white space
}

// metrics returns the metrics that need no more than counts.
func (n *counts) metrics() Metrics {
	out := Metrics{Chars: n.chars, Words: n.words}
	if n.visible > 0 {
		out.SymbolRatio = float64(n.symbols) / float64(n.visible)
	}
	return out
}

// count fills the histogram and the white space of each block. The histogram
// must be reset afterwards.
func (m *Measurer) count(s []byte, c *classes) counts {
	if cap(m.spaces) < len(c.blocks) {
		m.spaces = make([]uint64, len(c.blocks)+len(c.blocks)/2)
	}
	m.spaces = m.spaces[:len(c.blocks)]
	n := counts{chars: len(s)}
	before := uint64(1) // the byte before the block is white space
	for i := range c.blocks {
		b := &c.blocks[i]
		at := i * cpu.BlockSize
		p, live := s[at:], ^uint64(0)
		if len(p) < cpu.BlockSize {
			live = 1<<len(p) - 1
			m.hist.addBytes(p)
		} else if b.NonASCII != live {
			m.hist.addWords(p[:cpu.BlockSize])
		}
		space, ascii := b.Space, live&^b.NonASCII
		n.visible += bits.OnesCount64(ascii &^ space)
		n.symbols += bits.OnesCount64(ascii &^ (space | b.Alnum))
		if b.NonASCII != 0 {
			space |= m.countRunes(&n, s, at, b.NonASCII)
		}
		n.words += bits.OnesCount64((space<<1 | before) &^ space & live)
		before = space >> (cpu.BlockSize - 1)
		m.spaces[i] = space
	}
	return n
}

// countRunes counts the code points above 7F that begin in the block at the
// given place of s. Its result is the bytes of the block that belong to white
// space above 7F.
func (m *Measurer) countRunes(n *counts, s []byte, at int, nonASCII uint64) (space uint64) {
	space, n.spill = n.spill, 0
	if n.runeEnd > at {
		nonASCII &^= 1<<(n.runeEnd-at) - 1
	}
	for nonASCII != 0 {
		i := bits.TrailingZeros64(nonASCII)
		r, size := utf8.DecodeRune(s[at+i:])
		n.runeEnd = at + i + size
		n.chars -= size - 1
		m.hist.addRune(r)
		bytes := uint64(1)<<size - 1
		nonASCII &^= bytes << i
		switch p := pageOf(r); {
		case p.isSpace(r):
			space |= bytes << i
			n.spill = bytes >> (cpu.BlockSize - i)
		case p.isAlnum(r):
			n.visible++
		default:
			n.visible++
			n.symbols++
		}
	}
	return space
}

// repetition returns the share of repeated word triples of s, the text counted
// last, which has that many words.
func (m *Measurer) repetition(s []byte, words int) float64 {
	if words < 4 {
		return 0
	}
	total := words - 2
	m.triples.reset(total)
	var h1, h2 uint64 // hashes of the two words before
	seen, start := 0, -1
	before := uint64(1)
	for i, space := range m.spaces {
		edges := space ^ (space<<1 | before)
		before = space >> (cpu.BlockSize - 1)
		if rest := len(s) - i*cpu.BlockSize; rest < cpu.BlockSize {
			edges &= 1<<rest - 1
		}
		for ; edges != 0; edges &= edges - 1 {
			at := i*cpu.BlockSize + bits.TrailingZeros64(edges)
			if start < 0 {
				start = at
				continue
			}
			h3 := xxh3.Hash(s[start:at])
			start = -1
			if seen++; seen > 2 {
				m.triples.add(tripleKey(h1, h2, h3))
			}
			h1, h2 = h2, h3
		}
	}
	if start >= 0 {
		m.triples.add(tripleKey(h1, h2, xxh3.Hash(s[start:])))
	}
	return 1 - float64(m.triples.count)/float64(total)
}

// tripleKey folds the hashes of three words. It is not linear in them: a sum,
// even of rotated hashes, lets sets of words be found whose triples collide.
func tripleKey(a, b, c uint64) uint64 { return fold(fold(a, b^0x9e3779b97f4a7c15), c) }

// fold multiplies to 128 bits and adds the halves without carry.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
