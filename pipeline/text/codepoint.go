package text

import (
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// kind says what a code point is to the rules that look at words and lines.
type kind uint16

const (
	kindSpace    kind = 1 << iota // White_Space, or ZERO WIDTH SPACE, which divides words where nothing is to be seen
	kindWord                      // letter, number, mark, joiner or _: what words are made of
	kindAlpha                     // letter (category L)
	kindUpper                     // upper case
	kindLower                     // lower case
	kindDigit                     // decimal digit
	kindPlain                     // not punctuation: neither category P or Cc, nor a symbol below 80
	kindPunct                     // category P
	kindTerminal                  // Sentence_Terminal, and its like in Khmer
	kindMark                      // mark, joiner, vowel behind or prolonged sound: belongs to what is before it
	kindLead                      // vowel that is written before its consonant
	kindStack                     // the letter after it is written below
	// The next three bits are the script, if it writes no spaces between words.
	kindUnspaced kind = 7 << scriptShift
	scriptShift       = 12
)

// script numbers the scripts that write no spaces between words.
type script uint8

const (
	spaced script = iota // all others
	han
	hiragana
	katakana
	thai
	lao
	khmer
	myanmar
)

// script returns the script of a code point of that kind.
func (k kind) script() script { return script(k >> scriptShift) }

var unspacedScripts = [...]*unicode.RangeTable{
	han: unicode.Han, hiragana: unicode.Hiragana, katakana: unicode.Katakana,
	thai: unicode.Thai, lao: unicode.Lao, khmer: unicode.Khmer, myanmar: unicode.Myanmar,
}

// kindTable holds the kinds of all code points: a page of them is made when one of it is
// first asked for, as most texts need few. It is safe for concurrent use.
type kindTable struct {
	ascii [utf8.RuneSelf]kind
	pages [(unicode.MaxRune + 1) / kindPageSize]atomic.Pointer[kindPage]
}

const kindPageSize = 256

type kindPage [kindPageSize]kind

// kinds returns the table, which is made when it is first asked for.
var kinds = sync.OnceValue(func() *kindTable {
	t := new(kindTable)
	for r := range t.ascii {
		t.ascii[r] = kindOf(rune(r))
	}
	return t
})

// of returns the kind of a code point, which must be at most U+10FFFF and not negative, as
// what package utf8 decodes always is.
func (t *kindTable) of(r rune) kind {
	if p := t.pages[uint32(r)/kindPageSize].Load(); p != nil {
		return p[uint32(r)%kindPageSize]
	}
	return t.page(r)[uint32(r)%kindPageSize]
}

// page makes the page of a code point. Two goroutines may do so at once.
func (t *kindTable) page(r rune) *kindPage {
	p := new(kindPage)
	for i := range p {
		p[i] = kindOf(r&^(kindPageSize-1) + rune(i))
	}
	t.pages[uint32(r)/kindPageSize].Store(p)
	return p
}

// decode returns the kind of the code point that s, which is not empty, begins
// with, and its length.
func (t *kindTable) decode(s []byte) (kind, int) {
	if s[0] < utf8.RuneSelf {
		return t.ascii[s[0]], 1
	}
	return t.decodeRune(s) // apart, so that this can be inlined
}

func (t *kindTable) decodeRune(s []byte) (kind, int) {
	// What package utf8 would find, at once for most.
	if len(s) >= 3 && s[1]&0xc0 == 0x80 {
		r2 := rune(s[0]&0x1f)<<6 | rune(s[1]&0x3f)
		if s[0] >= 0xc2 && s[0] < 0xe0 {
			return t.of(r2), 2
		}
		if s[0] > 0xe0 && s[0] < 0xed && s[2]&0xc0 == 0x80 {
			return t.of(r2&0x3ff<<6 | rune(s[2]&0x3f)), 3
		}
	}
	r, size := utf8.DecodeRune(s)
	return t.of(r), size
}

// decodeLast is decode of the code point that s ends with.
func (t *kindTable) decodeLast(s []byte) (kind, int) {
	r, size := utf8.DecodeLastRune(s)
	return t.of(r), size
}

const zeroWidthSpace = '\u200b'

// kindOf works out the kind of one code point.
func kindOf(r rune) kind {
	if isSpace(r) || r == zeroWidthSpace {
		return kindSpace
	}
	var k kind
	switch {
	case unicode.IsLetter(r):
		k = kindWord | kindAlpha
	case unicode.IsNumber(r):
		k = kindWord
	case unicode.IsMark(r), unicode.Is(unicode.Cf, r):
		k = kindWord | kindMark
	case r == '_':
		k = kindWord
	}
	if unicode.IsUpper(r) {
		k |= kindUpper
	}
	if unicode.IsLower(r) {
		k |= kindLower
	}
	if unicode.IsDigit(r) {
		k |= kindDigit
	}
	if unicode.IsPunct(r) {
		k |= kindPunct
	}
	if unicode.Is(unicode.Sentence_Terminal, r) || isKhmerEnd(r) {
		k |= kindTerminal
	}
	if !unicode.IsPunct(r) && !unicode.IsControl(r) && !(r < utf8.RuneSelf && unicode.IsSymbol(r)) {
		k |= kindPlain
	}
	if k&kindWord != 0 {
		k |= unspacedKind(r, k)
	}
	return k
}

// isKhmerEnd reports whether r ends a sentence of Khmer. Unicode says so since version
// 15.1; the tables of package unicode are older.
func isKhmerEnd(r rune) bool { return r >= 0x17d4 && r <= 0x17d6 || r == 0x17d9 || r == 0x17da }

// unspacedKind returns what a code point of words is besides if its script writes no
// spaces.
func unspacedKind(r rune, k kind) kind {
	switch r {
	case 0x30fc, 0xff70, 0xff9e, 0xff9f: // prolonged sound and voice of Kana, letters to Unicode
		return kindMark
	}
	for s := han; int(s) < len(unspacedScripts); s++ {
		if !unicode.Is(unspacedScripts[s], r) || k&kindDigit != 0 {
			continue
		}
		k = kind(s) << scriptShift
		switch {
		case r >= 0x0e40 && r <= 0x0e44, r >= 0x0ec0 && r <= 0x0ec4:
			k |= kindLead
		case r == 0x0e30, r == 0x0e32, r == 0x0e33, r == 0x0e45, r == 0x0eb0, r == 0x0eb2, r == 0x0eb3:
			k |= kindMark // vowels written behind, letters to Unicode
		case r == 0x17d2, r == 0x1039:
			k |= kindStack
		}
		return k
	}
	return 0
}
