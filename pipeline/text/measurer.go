package text

import (
	"math"
	"math/bits"

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
// Memory is at most about 4.4 MiB for counters of code points and 1 MiB for marks of
// word triples, plus, for the text at hand, a little over its length and 16 to 64 bytes
// for each distinct triple. What only an unusually long text needs is given up after it.
type Measurer struct {
	classes    classes
	hist       histogram
	edges      []uint64 // where words begin and end, a word for each block and one more
	runes      byteMask // where code points above 7F begin, where a block has any
	valid      bool     // the text is UTF-8, or ASCII
	ideographs ideographs
	rules      ruleMemory
	scratch    []byte // of rules that rewrite a text nobody asked for
	triples    tripleSet
	marks      tripleMarks
	cursor     wordCursor
	places     [1 + placeBlocks*cpu.BlockSize]uint32
	hashes     [2 + hashBatch]uint64 // of words, two of them from the batch before
}

// placeBlocks is the number of blocks whose edges are looked up at once.
const placeBlocks = 32

// hashBatch is the number of words that are hashed at once.
const hashBatch = 256

// NewMeasurer returns a measurer.
func NewMeasurer() *Measurer { return new(Measurer) }

// Measure returns the metrics of s in O(len(s)) expected time, whatever s holds.
// Texts of 4 GiB or more may overflow the counters of the entropy.
//
// Word triples are told apart by 64-bit hashes, keyed at random and folded by
// multiplication. Two triples that differ are taken for equal with probability
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
	m.cursor.s, m.cursor.edges = nil, nil
	if cap(m.classes.blocks) > keepBlocks {
		m.classes.blocks = nil
	}
	if cap(m.edges) > keepBlocks {
		m.edges = nil
	}
	if cap(m.runes) > keepBlocks {
		m.runes = nil
	}
	if cap(m.scratch) > keepBlocks*cpu.BlockSize {
		m.scratch = nil
	}
	m.ideographs.release()
	m.triples.release()
	m.rules.release()
}

// measure is Measure of a text that is classified already.
func (m *Measurer) measure(s []byte, c *classes) Metrics {
	n := m.count(s, c)
	out := n.metrics()
	out.Entropy = m.entropy(s, c, n.chars)
	out.Repetition = m.repetition(s, n.words)
	return out
}

// counts is what the first pass over the classes of a text finds.
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

// count counts code points and words, and notes where they begin.
func (m *Measurer) count(s []byte, c *classes) counts {
	m.begin(s, c)
	n := counts{chars: len(s)}
	blocks, edges := c.blocks, m.edges
	before := uint64(1) // the byte before the block is white space
	bounds := 0
	for i := range blocks {
		b := &blocks[i]
		space := b.Space
		if i == len(blocks)-1 {
			// What is past the end ends a word like white space.
			space |= ^uint64(0) << ((len(s)-1)%cpu.BlockSize + 1)
		}
		n.visible += bits.OnesCount64(^(space | b.NonASCII))
		n.symbols += bits.OnesCount64(^(space | b.NonASCII | b.Alnum))
		if b.NonASCII|n.spill != 0 {
			space |= m.countRunes(&n, s, i, b.NonASCII)
		}
		edge := space ^ (space<<1 | before)
		before = space >> (cpu.BlockSize - 1)
		bounds += bits.OnesCount64(edge)
		edges[i] = edge
	}
	edges[len(blocks)] = before ^ 1 // a word that ends where the last block does
	n.words = (bounds + 1) / 2
	return n
}

// begin readies the scratch for a text.
func (m *Measurer) begin(s []byte, c *classes) {
	n := len(c.blocks) + 1
	if cap(m.edges) < n {
		m.edges = make([]uint64, n+n/2)
	}
	m.edges = m.edges[:n]
	m.valid = true
	if c.union.NonASCII == 0 {
		return
	}
	m.valid = cpu.ValidUTF8(s)
	if m.valid {
		m.runes.find(s, continuationBytes)
	} else {
		m.runes.resize(len(s))
	}
	wide := 0
	for i := range c.blocks {
		wide += bits.OnesCount64(c.blocks[i].NonASCII)
	}
	m.ideographs.known = m.valid && 2*wide > len(s) && m.ideographs.find(s)
}

// countRunes counts the code points above 7F that begin in block i. Its result is
// the bytes of the block that belong to white space above 7F.
func (m *Measurer) countRunes(n *counts, s []byte, i int, nonASCII uint64) (space uint64) {
	at := i * cpu.BlockSize
	space, n.spill = n.spill, 0
	begins := nonASCII &^ m.runes[i] // the others go on with one
	if !m.valid {
		begins = n.decodeRunes(s, at, nonASCII)
	}
	m.runes[i] = begins
	n.chars -= bits.OnesCount64(nonASCII &^ begins)
	n.visible += bits.OnesCount64(begins)
	symbols := 0
	if m.ideographs.known {
		begins &^= m.ideographs.begin(i) // alphanumeric, no white space
	}
	for ; begins != 0; begins &= begins - 1 {
		i := bits.TrailingZeros64(begins)
		p := s[at+i:]
		r, ok := decodeThree(p)
		size := 3
		if !ok || !m.valid {
			r, size = decode(p, m.valid)
		}
		group := groupOf(r)
		symbols += int(^group.alnum >> (r & 63) & 1)
		if group.space>>(r&63)&1 != 0 {
			symbols--
			n.visible--
			bytes := uint64(1)<<size - 1
			space |= bytes << i
			n.spill = bytes >> (cpu.BlockSize - i)
		}
	}
	n.symbols += symbols
	return space
}

// decodeRunes returns where code points above 7F begin in the block at the given place
// of a text that is not UTF-8.
func (n *counts) decodeRunes(s []byte, at int, nonASCII uint64) uint64 {
	if n.runeEnd > at {
		nonASCII &^= 1<<(n.runeEnd-at) - 1
	}
	var begins uint64
	for nonASCII != 0 {
		i := bits.TrailingZeros64(nonASCII)
		_, size := decode(s[at+i:], false)
		n.runeEnd = at + i + size
		begins |= 1 << i
		nonASCII &^= (1<<size - 1) << i
	}
	return begins
}

// entropy returns the entropy of s, the text counted last, of so many code points.
func (m *Measurer) entropy(s []byte, c *classes, chars int) float64 {
	for i := range c.blocks {
		at := i * cpu.BlockSize
		nonASCII := c.blocks[i].NonASCII
		if nonASCII != math.MaxUint64 {
			m.hist.addBlock(s[at:min(len(s), at+cpu.BlockSize)], nonASCII)
		}
		if nonASCII != 0 {
			m.hist.addRunes(s[at:], m.runes[i], m.valid)
		}
	}
	e := m.hist.entropy(chars)
	m.hist.reset()
	return e
}

// entropyOrBound returns the entropy of s, or bound if it is surely as much.
//
// Telling fewer code points apart only makes entropy less, so where some of their bits
// show that the bound holds, the histogram is not needed.
func (m *Measurer) entropyOrBound(bound float64, s []byte, c *classes, chars int) float64 {
	if bound < cpu.LowBits && m.valid && lowEntropy(cpu.CountLowBits(s), chars) > bound+boundSlack {
		return bound
	}
	return m.entropy(s, c, chars)
}

// boundSlack in bits is far more than what rounding can cost the bound.
const boundSlack = 1e-6

// lowEntropy returns the entropy of n things, of which there are so many of each kind.
func lowEntropy(kinds [1 << cpu.LowBits]int, n int) float64 {
	if n == 0 {
		return 0
	}
	var even, odd float64 // of k·log₂ k, in two sums since additions wait for each other
	for i := 0; i < len(kinds); i += 2 {
		even += product(uint32(kinds[i]))
		odd += product(uint32(kinds[i+1]))
	}
	return log2(uint32(n)) - (even+odd)/float64(n)
}

// repetition returns the share of repeated word triples of s, the text counted
// last, which has that many words.
func (m *Measurer) repetition(s []byte, words int) float64 {
	if words < 4 {
		return 0
	}
	m.triples.reset(words - 2)
	m.cursor.begin(s, m.edges)
	for have := 0; ; have = 2 {
		n := have + m.cursor.hashes(m.hashes[have:])
		m.triples.addTriples(m.hashes[:n])
		if n < len(m.hashes) {
			break
		}
		copy(m.hashes[:2], m.hashes[n-2:])
	}
	return repeated(m.triples.count, words-2)
}

// repeated returns the share of n triples that are repeated if that many are
// distinct. It never grows with distinct.
func repeated(distinct, n int) float64 { return 1 - float64(distinct)/float64(n) }

// repetitionWithin reports whether so few triples repeat that the bound holds for
// certain. If not, it may still hold.
//
// The marks of the triples bound the number of distinct ones from below, and of a
// text that repeats little the first ones are enough.
func (m *Measurer) repetitionWithin(bound float64, s []byte, words int) bool {
	total := words - 2
	if words < 4 || uint64(len(s)) > math.MaxUint32 || !m.marks.reset(total) {
		return words < 4
	}
	need := int(math.Ceil((1 - bound) * float64(total)))
	have := 0 // places of a word that the next blocks go on with
	for block := 0; block < len(m.edges); {
		// As many words as could decide, and some for triples that do repeat.
		want := need - m.marks.count
		want += want/16 + 2
		end := min(len(m.edges), block+min(want*len(m.edges)/words+1, placeBlocks))
		n := have + cpu.SelectOnes(m.places[have:], m.edges[block:end], uint32(block*cpu.BlockSize))
		block, have = end, n%2
		for p := m.places[:n-have]; len(p) > 0; {
			some := min(len(p), 2*want)
			m.marks.addWords(s, p[:some])
			if repeated(m.marks.count, total) <= bound {
				return true
			}
			p = p[some:]
		}
		m.places[0] = m.places[max(n-1, 0)]
	}
	return false
}
