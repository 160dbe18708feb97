package text

import (
	"math"
	"math/bits"
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

// wordList holds the words of one text by their hashes. It is scratch.
type wordList struct {
	hashes []uint64 // see wordKeys
	ends   []uint32 // code points of all words up to and with this one, modulo 2³²

	plain, plainChars int // words that are not punctuation, and their code points
	alpha             int // words with a letter
	unspaced          int // words of scripts that write no spaces

	stop stopWords

	bounds wordBounds

	text []byte // whose words these are
	rule Words
}

// reset empties the list.
func (l *wordList) reset() {
	l.hashes, l.ends = l.hashes[:0], l.ends[:0]
	l.plain, l.plainChars, l.alpha, l.unspaced = 0, 0, 0, 0
}

// keepWords is the number of words whose scratch is kept.
const keepWords = 1 << 19

// release lets go of the text, and of scratch that only an unusually long one needs.
func (l *wordList) release() {
	l.text = nil
	if cap(l.hashes) > keepWords {
		l.hashes, l.ends = nil, nil
	}
	l.bounds.release()
}

// chars returns the number of code points of n words from word i on.
func (l *wordList) chars(i, n int) int {
	var before uint32
	if i > 0 {
		before = l.ends[i-1]
	}
	return int(l.ends[i+n-1] - before)
}

// add appends the word s[from:to] of so many code points; k is the or of their kinds.
func (l *wordList) add(s []byte, from, to, chars int, k kind) {
	h := wordKeys.any(s[from:to])
	end := uint32(chars)
	if n := len(l.ends); n > 0 {
		end += l.ends[n-1]
	}
	l.hashes, l.ends = append(l.hashes, h), append(l.ends, end)
	// Without branches: what comes next in a text cannot be foreseen.
	plain := int(k / kindPlain & 1)
	l.plain += plain
	l.plainChars += plain * chars
	l.alpha += int(k / kindAlpha & 1)
	if k&kindUnspaced != 0 {
		l.unspaced++
	}
}

// fill makes the list that of the words of s, and looks for stop words among them.
// O(len(s)), and nothing if it is what the list has already: several rule sets may ask.
func (l *wordList) fill(s []byte, rule Words, stop []string) {
	if l.text != nil && unsafe.SliceData(l.text) == unsafe.SliceData(s) && len(l.text) == len(s) && l.rule == rule && (len(stop) == 0 || l.stop.on) {
		return
	}
	l.text, l.rule = s, rule
	l.reset()
	l.stop.prepare(stop)
	if t := kinds(); rule == WordsBySpace {
		l.fillBySpace(s, t)
	} else {
		l.fillByScript(s, t)
	}
	l.stop.look(l.hashes)
}

func (l *wordList) fillBySpace(s []byte, t *kindTable) {
	from, chars := 0, 0
	var all kind
	for i := 0; i < len(s); {
		k, size := t.decode(s[i:])
		if k&kindSpace != 0 && !isZeroWidth(s[i:], size) {
			if chars > 0 {
				l.add(s, from, i, chars, all&^kindUnspaced)
			}
			chars, all = 0, 0
			i += size
			from = i
			continue
		}
		all |= k
		chars++
		i += size
	}
	if chars > 0 {
		l.add(s, from, len(s), chars, all&^kindUnspaced)
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
	if 4*cpu.CountOnes(b.wide) > len(s) || uint64(len(s)) >= math.MaxUint32 {
		for i := 0; i < len(s); {
			i = l.addNext(s, i, t)
		}
		return
	}
	b.find(s)
	at, next := 0, 0 // in s, in the bounds
	for _, knot := range b.knots {
		for at <= int(knot) {
			next = l.addFree(s, next, knot, t)
			at = l.addNext(s, int(b.starts[next]), t)
			for next < len(b.starts) && int(b.starts[next]) < at {
				next++
			}
		}
	}
	l.addFree(s, next, math.MaxUint32, t)
}

// addNext adds the word that begins at s[i:], or passes over white space. It returns
// where that ends.
func (l *wordList) addNext(s []byte, i int, t *kindTable) int {
	if l.bounds.words.at(i) {
		return l.addSpaced(s, i, i, t)
	}
	return l.addOther(s, i, t)
}

// addFree adds the words by their bounds, from a given one on, that end before a knot.
// It returns the one after them.
func (l *wordList) addFree(s []byte, first int, knot uint32, t *kindTable) int {
	keys, hashes, chars := wordKeys, l.hashes, l.ends
	plain, plainChars, alpha := 0, 0, 0
	var total uint32
	if n := len(chars); n > 0 {
		total = chars[n-1]
	}
	starts := l.bounds.starts[first:]
	ends := l.bounds.ends[first:][:len(starts)]
	n := 0
	for n < len(starts) && ends[n] < knot {
		i, end := int(starts[n]), int(ends[n])
		size := uint(end - i)
		var h uint64
		if p := s[i:]; size <= shortWord && len(p) >= shortWord {
			h = keys.short(p, size)
		} else {
			h = keys.any(s[i:end])
		}
		// Without branches: what comes next in a text cannot be foreseen.
		k := t.ofRun(s[i:end])
		isPlain := int(k / kindPlain & 1)
		plain += isPlain
		plainChars += isPlain * int(size)
		alpha += int(k / kindAlpha & 1)
		total += uint32(size)
		hashes, chars = append(hashes, h), append(chars, total)
		n++
	}
	l.hashes, l.ends = hashes, chars
	l.plain += plain
	l.plainChars += plainChars
	l.alpha += alpha
	return first + n
}

// addOther adds the word that begins at s[i:] with anything else than a byte of
// wordBytes, or passes over white space. It returns where that ends.
func (l *wordList) addOther(s []byte, i int, t *kindTable) int {
	k, size := t.decode(s[i:])
	switch {
	case k&kindSpace != 0:
		return i + size
	case k&kindUnspaced != 0:
		to, chars, all := t.unspacedWord(s, i)
		l.add(s, i, to, chars, all)
		return to
	case k&kindWord != 0:
		return l.addSpaced(s, i, i, t)
	}
	to := i + size
	if s[i] == '.' || s[i] == '-' {
		for to < len(s) && s[to] == s[i] {
			to++
		}
	}
	if (s[i] == '-' || s[i] == '/') && t.isSpacedWord(s[to:]) && !t.endsInWord(s[:i]) {
		return l.addSpaced(s, i, to, t)
	}
	l.add(s, i, to, max(to-i-size, 0)+1, k)
	return to
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

// ofRun returns the or of the kinds of a run, but for what letters have beside each
// other.
func (t *kindTable) ofRun(run []byte) kind {
	all := t[run[0]]
	if all&kindAlpha == 0 {
		for _, c := range run[1:] {
			all |= t[c]
		}
	}
	return all
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

// addSpaced adds the word at s[i:], of which what is before at is known to belong to
// it, and those that apostrophes begin behind it. It returns where they end.
func (l *wordList) addSpaced(s []byte, i, at int, t *kindTable) int {
	from, chars, letters := i, at-i, 0 // letters since the word or a dot in it
	i = at
	var all, last kind
	for {
		if l.bounds.words.at(i) {
			end := l.bounds.words.end(i)
			last = t[s[end-1]]
			all |= t.ofRun(s[i:end])
			chars, letters = chars+end-i, letters+end-i
			i = end
		}
		if i == len(s) || s[i] == ' ' {
			break
		}
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

// unspacedWord returns where the word at s[i:] ends, whose script writes no spaces, its
// code points and the or of their kinds.
func (t *kindTable) unspacedWord(s []byte, i int) (end, chars int, all kind) {
	letters := 0
	var first, last kind
	for i < len(s) {
		k, size := t.decode(s[i:])
		switch {
		case k&kindMark != 0 && chars > 0:
		case k&kindUnspaced == 0, chars > 0 && k.script() != first.script():
			return i, chars, all
		case last&kindStack != 0:
		case letters == lettersPerWord[k.script()] && last&kindLead == 0:
			return i, chars, all
		case last&kindLead == 0 || letters < lettersPerWord[k.script()]:
			letters++
		}
		if chars == 0 {
			first = k
		}
		last = k
		all |= k
		chars++
		i += size
	}
	return i, chars, all
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
			for ; i < len(s) && s[i] < utf8.RuneSelf && t[s[i]]&kindSpace == 0; i++ {
				chars++
			}
			if i == len(s) {
				break
			}
			if k, size = t.decode(s[i:]); k&kindSpace != 0 && !isZeroWidth(s[i:], size) {
				break
			}
			if rule == WordsByScript && k&kindUnspaced != 0 {
				end, n, _ := t.unspacedWord(s, i)
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

// stopWords finds out how many words of a list a text has.
type stopWords struct {
	list  []string  // the words it was made for
	table gramTable // their places in it, by their hashes
	seen  []bool
	found int
	on    bool

	filter     [64]uint64 // the upper twelve bits that hashes of the list have
	candidates [hashBatch]uint64
}

// prepare readies the set for a list, none if it is empty.
func (w *stopWords) prepare(list []string) {
	w.found = 0
	if w.on = len(list) > 0; !w.on {
		return
	}
	if len(list) != len(w.list) || &list[0] != &w.list[0] {
		w.list, w.seen = list, make([]bool, len(list))
		w.table.reset(len(list))
		clear(w.filter[:])
		for i, s := range list {
			h := wordKeys.any([]byte(s))
			w.table.first(h, uint32(i))
			w.filter[h>>58] |= 1 << (h >> 52 & 63)
		}
	}
	clear(w.seen)
}

// look counts the words of a text by their hashes.
func (w *stopWords) look(hashes []uint64) {
	if !w.on {
		return
	}
	for len(hashes) > 0 {
		batch := hashes[:min(len(hashes), hashBatch)]
		hashes = hashes[len(batch):]
		n := 0
		for _, h := range batch {
			// Written in any case and kept if it may be one: that cannot be foreseen.
			w.candidates[n&(hashBatch-1)] = h
			n += int(w.filter[h>>58] >> (h >> 52 & 63) & 1)
		}
		for _, h := range w.candidates[:n] {
			if i, ok := w.table.find(h); ok && !w.seen[i] {
				w.seen[i] = true
				w.found++
			}
		}
	}
}
