package text

import "github.com/rosaline-go/rosaline/cpu"

// What the bounds of words depend on among the bytes of ASCII, and the others.
var (
	wordBytes   = cpu.NewByteSet([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")...)
	clauseBytes = cpu.NewByteSet(',', ':', '\'')
	dotBytes    = cpu.NewByteSet('.')
	hyphenBytes = cpu.NewByteSet('-', '/')
)

// wordBounds finds the words of a text, as [WordsByScript] has them, by its masks: runs
// of wordBytes, and each other byte that is no white space. Where that may be wrong there
// is a knot: at a byte above 7F, and at punctuation that may belong to a word or to its
// neighbour. What touches a knot must be looked at; in prose that is little. It is
// scratch.
type wordBounds struct {
	starts, ends []uint32 // word i is at starts[i] to ends[i]
	knots        []uint32

	words, spaces, clauses, dots, hyphens, wide byteMask
	startMask, endMask, knotMask                byteMask
}

// begin finds the bytes of words and those above 7F.
func (b *wordBounds) begin(s []byte) {
	b.words.find(s, wordBytes)
	b.wide.find(s, wideBytes)
}

// find finds the words of s, which has less than 2³²−1 bytes. It comes after begin.
func (b *wordBounds) find(s []byte) {
	b.spaces.find(s, spaceBytes)
	b.clauses.find(s, clauseBytes)
	b.dots.find(s, dotBytes)
	b.hyphens.find(s, hyphenBytes)
	b.startMask.resize(len(s))
	b.endMask.resize(len(s))
	b.knotMask.resize(len(s))
	var word, other, dot uint64 // of the block before
	for i := range b.words {
		inside := ^uint64(0)
		if n := max(len(s)-64*i, 0); n < 64 {
			inside = 1<<n - 1
		}
		w, d, wide := b.words[i], b.dots[i], b.wide[i]
		var wordNext, dotNext, wideNext uint64
		if i+1 < len(b.words) {
			wordNext, dotNext, wideNext = b.words[i+1], b.dots[i+1], b.wide[i+1]
		}
		o := inside &^ (w | b.spaces[i])
		behindWord := w<<1 | word>>63
		behindLetter := behindWord &^ (w<<2 | word>>62) // one alone
		beforeWord := (w|wide)>>1 | (wordNext|wideNext)<<63
		byDot := d<<1 | dot>>63 | d>>1 | dotNext<<63
		b.startMask[i] = w&^behindWord | o
		b.endMask[i] = behindWord&^w | o<<1 | other>>63
		b.knotMask[i] = wide | b.hyphens[i] | b.clauses[i]&behindWord&beforeWord | d&(beforeWord|byDot|behindLetter)
		word, other, dot = w, o, d
	}
	b.starts = b.startMask.places(b.starts)
	b.ends = b.endMask.places(b.ends)
	b.knots = b.knotMask.places(b.knots)
}

// hasEllipsis reports whether two dots of s touch, as those of an ellipsis do.
func (b *wordBounds) hasEllipsis(s []byte) bool {
	b.dots.find(s, dotBytes)
	before := uint64(0)
	for _, d := range b.dots {
		if d&(d<<1|before) != 0 {
			return true
		}
		before = d >> 63
	}
	return false
}

// release gives up scratch that only an unusually long text needs.
func (b *wordBounds) release() {
	if cap(b.words) > keepBlocks || cap(b.starts) > keepWords {
		*b = wordBounds{}
	}
}
