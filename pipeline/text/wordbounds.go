package text

import (
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// What the bounds of words depend on among the bytes of ASCII.
var (
	wordBytes   = cpu.NewByteSet([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")...)
	letterBytes = cpu.NewByteSet([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")...)
	jointBytes  = cpu.NewByteSet('.', ',', ':', '\'', '_')
	hyphenBytes = cpu.NewByteSet('-', '/')
)

// wordBounds holds where the words of a text begin and end, by masks of its bytes. It is
// scratch.
type wordBounds struct {
	starts, ends byteMask // a word has the bytes from a start to the next end

	// What find makes the bounds from: bytes of words, of letters, and ASCII white
	// space, in the first two those of code points above 7F too once they are known.
	words, letters, spaces byteMask
	wide, joints, hyphens  byteMask
	behind                 byteMask // what comes behind an apostrophe that begins a word
	knots                  byteMask

	dots    bool // two may touch, as those of an ellipsis do
	bullets bool // a line may begin with one
}

// clear forgets all words, for a text of so many bytes.
func (b *wordBounds) clear(bytes int) {
	b.starts.resize(bytes)
	b.ends.resize(bytes)
	clear(b.starts)
	clear(b.ends)
}

// begin finds the bytes of ASCII that matter, and those above 7F.
func (b *wordBounds) begin(s []byte) {
	b.clear(len(s))
	b.words.find(s, wordBytes)
	b.letters.find(s, letterBytes)
	b.spaces.find(s, spaceBytes)
	b.joints.find(s, jointBytes)
	b.hyphens.find(s, hyphenBytes)
	b.wide.find(s, wideBytes)
	b.behind.resize(len(s))
	b.knots.resize(len(s))
	clear(b.behind)
	b.dots, b.bullets = false, false
}

// find adds the words of s as [WordsByScript] has them, if they begin with ASCII or
// belong to the bytes of words: runs of these, and each other byte that is no white
// space. An apostrophe between a byte of words and a letter begins a word. Where
// punctuation may belong to a word otherwise, or to its neighbour, there is a knot; what
// touches one must be looked at. In prose that is little.
func (b *wordBounds) find(s []byte) {
	n := len(b.words)
	words, letters, spaces, wides := b.words, b.letters[:n], b.spaces[:n], b.wide[:n]
	joints, hyphens, behind := b.joints[:n], b.hyphens[:n], b.behind[:n]
	startMask, endMask, knotMask := b.starts[:n], b.ends[:n], b.knots[:n]
	var word, other, joint, hyphen, wide uint64 // of the block before
	for i, w := range words {
		inside := ^uint64(0)
		if rest := max(len(s)-64*i, 0); rest < 64 {
			inside = 1<<rest - 1
		}
		j, h := joints[i], hyphens[i]
		var wordNext, letterNext, jointNext, hyphenNext uint64
		if i+1 < n {
			wordNext, letterNext, jointNext, hyphenNext = words[i+1], letters[i+1], joints[i+1], hyphens[i+1]
		}
		o := inside &^ (w | spaces[i] | wides[i])
		behindWord, beforeWord := w<<1|word>>63, w>>1|wordNext<<63
		beforeLetter := letters[i]>>1 | letterNext<<63
		byHyphen := h<<1 | hyphen>>63 | h>>1 | hyphenNext<<63
		// A hyphen is a word of its own before a letter of the next one, and alone.
		knots := h &^ (behindWord & beforeLetter) & (behindWord | beforeWord | byHyphen)
		b.bullets = b.bullets || h&^((w|o)<<1|(word|other)>>63) != 0

		behindOne := behindWord &^ (w<<2 | word>>62) // behind a byte alone
		behindWide := wides[i]<<1 | wide>>63
		byJoint := j<<1 | joint>>63 | j>>1 | jointNext<<63
		var apostrophes uint64
		for c := j & (w&^behindWord | beforeWord | behindOne | behindWide | byJoint); c != 0; c &= c - 1 {
			bit, at := c&-c, i*64+bits.TrailingZeros64(c)
			switch s[at] {
			case '\'':
				if bit&behindWord&beforeLetter != 0 {
					apostrophes |= bit
					behind[(at+1)/64] |= bits.RotateLeft64(bit, 1)
				}
			case '.':
				if twin := at > 0 && s[at-1] == '.' || at+1 < len(s) && s[at+1] == '.'; twin {
					b.dots = true
					knots |= bit
				}
				knots |= bit & (beforeWord | behindOne)
				if bit&behindWide&behindWord != 0 {
					if _, size := utf8.DecodeLastRune(s[:at]); at == size || !words.at(at-size-1) {
						knots |= bit
					}
				}
			case '_':
				if bit&behindWord == 0 && (at+1 == len(s) || s[at+1] == '_' || bit&beforeWord == 0) {
					knots |= bit
				}
			default:
				knots |= bit & behindWord & beforeWord &^ beforeLetter
			}
		}
		lone := o &^ apostrophes
		startMask[i] |= w&^(behindWord|behind[i]) | o
		endMask[i] |= behindWord&^w | lone<<1 | other>>63
		knotMask[i] = knots
		word, other, joint, hyphen, wide = w, lone, j, h, wides[i]
	}
}

// put adds the word of the bytes from one place to another.
func (b *wordBounds) put(from, to int) {
	b.starts[from/64] |= 1 << (from % 64)
	b.ends[to/64] |= 1 << (to % 64)
}

// cut makes the bytes from one place to another a word and no part of others.
func (b *wordBounds) cut(from, to int) {
	b.words.clear(from, to)
	b.letters.clear(from, to)
	b.behind.clear(from, to)
	b.starts.clear(from, to)
	b.ends.clear(from+1, to)
	b.put(from, to)
}

// runs returns how many runs of bytes of words there are, how many of them have a letter,
// and how many begin behind an apostrophe.
func (b *wordBounds) runs() (n, letters, behind int) {
	var word, carry uint64
	bare := 0
	for i, w := range b.words {
		starts := w &^ (w<<1 | word>>63)
		others := w &^ b.letters[i]
		// Adding a bit where a run begins moves it behind the bytes that are no
		// letters; a run that it passes over has none.
		sum, c := bits.Add64(others, starts&others, carry)
		n += bits.OnesCount64(starts)
		bare += bits.OnesCount64(sum &^ (others | w))
		behind += bits.OnesCount64(w & b.behind[i])
		word, carry = w, c
	}
	return n, n - bare, behind
}

// release gives up scratch that only an unusually long text needs.
func (b *wordBounds) release() {
	if cap(b.starts) > keepBlocks {
		*b = wordBounds{}
	}
}

// addWide adds what the code points above 7F are to the bounds, and those of their words
// that are not runs of bytes of words. It comes between begin and find.
func (l *wordList) addWide(s []byte, t *kindTable) {
	next := 0
	for i, wide := range l.bounds.wide {
		base := i * 64
		for {
			if next >= base+64 {
				break
			}
			if next > base {
				wide &= math.MaxUint64 << (next - base)
			}
			if wide == 0 {
				break
			}
			next = l.addWideRun(s, base+bits.TrailingZeros64(wide), t)
		}
	}
}

// addWideRun adds the code point above 7F at s[i:], and those that follow it if that is
// one step. It returns where they end.
func (l *wordList) addWideRun(s []byte, i int, t *kindTable) int {
	b := &l.bounds
	k, size := t.decodeRune(s[i:])
	switch {
	case k&kindUnspaced != 0:
		return l.addUnspaced(s, i, t)
	case k&kindWord != 0:
		from, letter := i, k&kindAlpha
		for k&kindWord != 0 && k&kindUnspaced == 0 && k&kindAlpha == letter {
			i += size
			l.chars++
			l.inner += size - 1
			if i == len(s) || s[i] < utf8.RuneSelf {
				break
			}
			k, size = t.decodeRune(s[i:])
		}
		b.words.set(from, i)
		if letter != 0 {
			b.letters.set(from, i)
		}
		return i
	}
	l.chars++
	to := i + size
	switch {
	case k&kindSpace != 0:
		return to
	case isApostrophe(s[i:], size) && i > 0 && b.words.at(i-1) && beginsWithLetter(s[to:], t):
		b.starts.set(i, i+1)
		b.behind.set(to, to+1)
		return to
	case size == 3 && s[i] == 0xe2 && s[i+1] == 0x80:
		switch s[i+2] {
		case 0xa6:
			l.ellipses++
		case 0xa2:
			b.bullets = true
		}
	}
	b.put(i, to)
	l.count(1, k)
	return to
}

// addUnspaced adds the words from s[i:] on whose scripts write no spaces. It returns where
// they end.
func (l *wordList) addUnspaced(s []byte, i int, t *kindTable) int {
	from := i
	var w unspacedCut
	for {
		k, size := kindSpace, 0
		if i < len(s) {
			k, size = t.decode(s[i:])
		}
		if w.takes(k) {
			i += size
			continue
		}
		l.bounds.put(from, i)
		l.count(w.chars, w.all)
		l.chars += w.chars
		if k&kindUnspaced == 0 {
			return i
		}
		from, w = i, unspacedCut{}
	}
}
