package text

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
)

// Words says what a word is to the rules of a [QualityFilter].
type Words uint8

const (
	// WordsByScript divides words as the script of the text does. Rules that
	// look at the words themselves (gopher, and the newline ratio of fineweb)
	// take these:
	//
	//   - letters, numbers and marks in a row, _ among them; also a dot between
	//     them (3.14, example.org; but end.Next is three words) or behind a
	//     single letter (e.g., J.), a comma, colon or slash between digits, a
	//     hyphen between a letter and a digit, and hyphens or a slash that
	//     touch them on one side only (-v, pre-, /etc);
	//   - an apostrophe before a letter begins a word: it|'s, don|'t;
	//   - any other visible code point, but dots or hyphens in a row are one;
	//   - Han and Hiragana: each two letters of a row; Katakana: each row; Thai
	//     and Lao: each three letters; Khmer and Myanmar: each two. Marks,
	//     vowels written behind and letters written below others belong to
	//     the letter before, a vowel written first to the letter after it.
	//
	// The last rule needs no dictionary. Its words are about as many as those
	// of the language, and equal passages have equal words if they begin after
	// punctuation, but their borders are not those of the language.
	//
	// Rules that count words divided by white space (min_words of
	// [WithMinWords], words of a line of c4) count such a word for as many as the
	// last rule finds in it, where it finds any.
	WordsByScript Words = iota
	// WordsBySpace divides words at White_Space and nowhere else, for all
	// rules and scripts.
	WordsBySpace
)

// lettersPerWord is how many letters of a script make a word: the averages of
// running text, rounded. Katakana is mostly loan words, one a row.
var lettersPerWord = [...]int{han: 2, hiragana: 2, katakana: 1 << 30, thai: 3, lao: 3, khmer: 2, myanmar: 2}

// wordList holds the words of one text: their bounds, what they are like together, and
// their hashes if they are asked for. It is scratch.
type wordList struct {
	words             int
	plain, plainChars int // words that are not punctuation, and their code points
	alpha             int // words with a letter
	unspaced          int // words of scripts that write no spaces

	chars    int // code points of the text
	inner    int // bytes of words that do not begin a code point
	ellipses int // …

	bounds wordBounds

	hashed       bool
	hashes       []uint64 // see wordKeys
	starts, ends []uint32 // word i is at starts[i] to ends[i]

	stop stopWords

	text []byte // whose words these are
	rule Words
}

// keepWords is the number of words whose scratch is kept.
const keepWords = 1 << 19

// release lets go of the text, and of scratch that only an unusually long one needs.
func (l *wordList) release() {
	l.text = nil
	if cap(l.hashes) > keepWords {
		l.hashes, l.starts, l.ends = nil, nil, nil
	}
	l.bounds.release()
}

// gramChars returns the number of code points of n words from word i on, which was hashed.
func (l *wordList) gramChars(i, n int) (chars int) {
	for ; n > 0; n-- {
		chars += countChars(l.text[l.starts[i]:l.ends[i]])
		i++
	}
	return chars
}

// count counts a word of so many code points; k is the or of their kinds.
func (l *wordList) count(chars int, k kind) {
	// Without branches: what comes next in a text cannot be foreseen.
	plain := int(k / kindPlain & 1)
	l.plain += plain
	l.plainChars += plain * chars
	l.alpha += int(k / kindAlpha & 1)
	if k&kindUnspaced != 0 {
		l.unspaced++
	}
}

// has reports whether the list is that of the words of s.
func (l *wordList) has(s []byte, rule Words) bool {
	return l.text != nil && unsafe.SliceData(l.text) == unsafe.SliceData(s) && len(l.text) == len(s) && l.rule == rule
}

// fill makes the list that of the words of s. O(len(s)), and nothing if it is what the
// list has already: several rule sets may ask.
func (l *wordList) fill(s []byte, rule Words) {
	if l.has(s, rule) {
		return
	}
	l.text, l.rule, l.hashed = s, rule, false
	l.plain, l.plainChars, l.alpha, l.unspaced = 0, 0, 0, 0
	l.chars, l.inner, l.ellipses = 0, 0, 0
	if t := kinds(); rule == WordsBySpace {
		l.fillBySpace(s, t)
	} else {
		l.fillByScript(s, t)
	}
	l.words = cpu.CountOnes(l.bounds.starts)
}

// hashedBlocks is how much of a text words are hashed of: their places are numbers of 32
// bits.
const hashedBlocks = 1 << 32 / 64

// hash returns the hashes of the words, in their order. The words of a text of more than
// 4 GiB behind its first 4 GiB are left out.
func (l *wordList) hash() []uint64 {
	if l.hashed {
		return l.hashes
	}
	l.hashed = true
	b, s := &l.bounds, l.text
	blocks := int(min(int64(len(b.starts)), hashedBlocks))
	l.starts = b.starts[:blocks].places(l.starts)
	l.ends = b.ends[:blocks].places(l.ends)
	l.starts = l.starts[:len(l.ends)]
	keys, starts := wordKeys, l.starts
	hashes := slices.Grow(l.hashes[:0], len(starts))[:len(starts)]
	for n, end := range l.ends {
		i, size := uint(starts[n]), uint(end-starts[n])
		if p := s[i:]; size <= shortWord && len(p) >= shortWord {
			hashes[n] = keys.short(p, size)
		} else {
			hashes[n] = keys.any(p[:size])
		}
	}
	l.hashes = hashes
	return hashes
}

func (l *wordList) fillBySpace(s []byte, t *kindTable) {
	l.bounds.clear(len(s))
	l.bounds.dots, l.bounds.bullets = true, true
	l.ellipses = bytes.Count(s, []byte("…"))
	from, chars := 0, 0
	var all kind
	for i := 0; ; {
		k, size := kindSpace, 0
		if i < len(s) {
			k, size = t.decode(s[i:])
			l.chars++
		}
		if k&kindSpace == 0 || isZeroWidth(s[i:], size) {
			all |= k
			chars++
			i += size
			continue
		}
		if chars > 0 {
			l.bounds.put(from, i)
			l.count(chars, all&^kindUnspaced)
		}
		if i == len(s) {
			return
		}
		chars, all = 0, 0
		i += size
		from = i
	}
}

// isZeroWidth reports whether s, which begins with a space of so many bytes, begins
// with ZERO WIDTH SPACE, which is not White_Space.
func isZeroWidth(s []byte, size int) bool {
	return size == 3 && s[0] == 0xe2 && s[1] == 0x80 && s[2] == 0x8b
}

func (l *wordList) fillByScript(s []byte, t *kindTable) {
	b := &l.bounds
	b.begin(s)
	narrow := len(s) - cpu.CountOnes(b.wide)
	if narrow < len(s) {
		l.addWide(s, t)
	}
	l.chars += narrow
	b.find(s)
	l.untie(s, t)
	runs, letters, behind := b.runs()
	l.plain += runs
	l.plainChars += cpu.CountOnes(b.words) - l.inner + behind
	l.alpha += letters
}

// untie looks at the words that touch a knot.
func (l *wordList) untie(s []byte, t *kindTable) {
	b := &l.bounds
	at := 0 // where the last one looked at ends
	for i, knots := range b.knots {
		for ; knots != 0; knots &= knots - 1 {
			knot := i*64 + bits.TrailingZeros64(knots)
			if knot > at && b.words.at(knot-1) {
				at = l.addSpaced(s, b.starts.last(knot), t)
			}
			if knot >= at {
				at = l.addOther(s, knot, t)
			}
		}
	}
}

// add makes s[from:to], of so many code points, a word; k is the or of their kinds.
func (l *wordList) add(s []byte, from, to, chars int, k kind) {
	for i := from; i < to && l.inner > 0; i++ {
		if !utf8.RuneStart(s[i]) && l.bounds.words.at(i) {
			l.inner--
		}
	}
	l.bounds.cut(from, to)
	l.count(chars, k)
}

// addOther adds the word that begins with the punctuation at s[i:], or with _. It returns
// where that ends.
func (l *wordList) addOther(s []byte, i int, t *kindTable) int {
	if s[i] == '_' {
		return l.addSpaced(s, i, t)
	}
	to := i + 1
	if s[i] == '.' || s[i] == '-' {
		for to < len(s) && s[to] == s[i] {
			to++
		}
	}
	if (s[i] == '-' || s[i] == '/') && t.isSpacedWord(s[to:]) && !t.endsInWord(s[:i]) {
		return l.addWord(s, i, to, to-i, t)
	}
	l.add(s, i, to, to-i, t.ascii[s[i]])
	return to
}

// addSpaced adds the word at s[i:], and those that apostrophes begin behind it. It returns
// where they end.
func (l *wordList) addSpaced(s []byte, i int, t *kindTable) int {
	_, size := t.decode(s[i:])
	if isApostrophe(s[i:], size) {
		return l.addWord(s, i, i+size, 1, t)
	}
	return l.addWord(s, i, i, 0, t)
}

// atLeast returns a number that the words of s are not less than, whatever the rule: of
// those that begin behind ASCII white space and with a byte of wordBytes. It takes a
// fraction of the time of fill.
func (l *wordList) atLeast(s []byte) int {
	words, spaces := &l.bounds.words, &l.bounds.spaces
	words.find(s, wordBytes)
	spaces.find(s, spaceBytes)
	n := 0
	before := uint64(1)
	for i, w := range *words {
		space := (*spaces)[i]
		n += bits.OnesCount64(w & (space<<1 | before))
		before = space >> 63
	}
	return n
}

// isSpacedWord reports whether a word of a script with spaces begins where s does.
func (t *kindTable) isSpacedWord(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	k, _ := t.decode(s)
	return k&kindWord != 0 && k&kindUnspaced == 0
}

// endsInWord reports whether s ends with a code point of words.
func (t *kindTable) endsInWord(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	k, _ := t.decodeLast(s)
	return k&kindWord != 0
}

// addWord adds the word at s[from:], of which the code points before i are known to belong
// to it, so many, and those that apostrophes begin behind it. It returns where they end.
func (l *wordList) addWord(s []byte, from, i, chars int, t *kindTable) int {
	letters := 0 // since i or a dot in the word
	var all, last kind
	for i < len(s) && s[i] != ' ' {
		k, size := t.decode(s[i:])
		switch {
		case k&kindWord != 0 && k&kindUnspaced == 0:
			last = k
			letters++
		case size == 1 && t.joins(s[i:], last, letters):
			letters = 0
		case isApostrophe(s[i:], size) && beginsWithLetter(s[i+size:], t):
			l.add(s, from, i, chars, all)
			from, chars, letters, all, k = i, 0, 0, 0, 0
		default:
			l.add(s, from, i, chars, all)
			return i
		}
		all |= k
		chars++
		i += size
	}
	l.add(s, from, i, chars, all)
	return i
}

// joins reports whether the byte that s begins with belongs to the word before it, which
// ends with a code point of kind last; letters is how many there are since its
// beginning or the last byte that joined.
func (t *kindTable) joins(s []byte, last kind, letters int) bool {
	switch s[0] {
	case '.', ',', ':', '/', '-':
	default:
		return false
	}
	next := kindSpace
	if len(s) > 1 {
		next, _ = t.decode(s[1:])
	}
	word := next&kindWord != 0 && next&kindUnspaced == 0
	switch {
	case letters == 0:
		return false
	case s[0] == '.' && !word:
		return letters == 1 && last&kindAlpha != 0 && s[min(1, len(s)-1)] != s[0]
	case s[0] == '.':
		return last&kindLower == 0 || next&kindUpper == 0
	case s[0] == '-' && word:
		return last&kindAlpha != 0 && next&kindDigit != 0
	case word || s[0] == ',' || s[0] == ':':
		return last&next&kindDigit != 0
	default: // - and / at the end
		return len(s) == 1 || s[1] != s[0]
	}
}

// isApostrophe reports whether s begins with ' or ’, which is of so many bytes.
func isApostrophe(s []byte, size int) bool {
	return s[0] == '\'' || size == 3 && s[0] == 0xe2 && s[1] == 0x80 && s[2] == 0x99
}

func beginsWithLetter(s []byte, t *kindTable) bool {
	if len(s) == 0 {
		return false
	}
	k, _ := t.decode(s)
	return k&kindAlpha != 0 && k&kindUnspaced == 0
}

// unspacedCut is what is known of a word whose script writes no spaces, from its beginning
// on.
type unspacedCut struct {
	letters, chars   int
	first, last, all kind // of its code points
}

// takes reports whether the code point that follows belongs to the word, and adds it then.
func (w *unspacedCut) takes(k kind) bool {
	switch {
	case k&kindMark != 0 && w.chars > 0:
	case k&kindUnspaced == 0, w.chars > 0 && k.script() != w.first.script():
		return false
	case w.last&kindStack != 0:
	case w.letters == lettersPerWord[k.script()] && w.last&kindLead == 0:
		return false
	case w.last&kindLead == 0 || w.letters < lettersPerWord[k.script()]:
		w.letters++
	}
	if w.chars == 0 {
		w.first = k
	}
	w.last = k
	w.all |= k
	w.chars++
	return true
}

// unspacedWord returns where the word at s[i:] ends, whose script writes no spaces, and its
// code points.
func (t *kindTable) unspacedWord(s []byte, i int) (end, chars int) {
	var w unspacedCut
	for i < len(s) {
		k, size := t.decode(s[i:])
		if !w.takes(k) {
			break
		}
		i += size
	}
	return i, w.chars
}

// spacedWords counts the words of s that are divided by white space until there are
// limit of them, and returns the code points of the longest that it saw.
func (t *kindTable) spacedWords(s []byte, rule Words, limit int) (words, longest int) {
	for i := 0; i < len(s) && words < limit; {
		k, size := t.decode(s[i:])
		if k&kindSpace != 0 && !isZeroWidth(s[i:], size) {
			i += size
			continue
		}
		parts, chars := 0, 0
		for i < len(s) {
			for ; i < len(s) && s[i] < utf8.RuneSelf && t.ascii[s[i]]&kindSpace == 0; i++ {
				chars++
			}
			if i == len(s) {
				break
			}
			if k, size = t.decode(s[i:]); k&kindSpace != 0 && !isZeroWidth(s[i:], size) {
				break
			}
			if rule == WordsByScript && k&kindUnspaced != 0 {
				end, n := t.unspacedWord(s, i)
				longest = max(longest, chars, n)
				parts++
				i, chars = end, 0
				continue
			}
			chars++
			i += size
		}
		longest = max(longest, chars)
		words += max(parts, 1)
	}
	return words, longest
}
