package text

import (
	"math/bits"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// region is a stretch of a text that one search sees as a text of its own: s[lo:hi],
// between what was found before. Positions are those of s.
type region struct {
	s      []byte
	blocks []cpu.Block // the classes of s; none where only mail addresses are searched
	lo, hi int
}

// at returns the byte at i. What is outside of the region looks like a space.
func (r *region) at(i int) byte {
	if i < r.lo || i >= r.hi {
		return ' '
	}
	return r.s[i]
}

// wordBefore says whether a word character ends at i.
func (r *region) wordBefore(i int) bool {
	b := r.at(i - 1)
	if b < utf8.RuneSelf {
		return isIn(b, charWord)
	}
	c, n := utf8.DecodeLastRune(r.s[r.lo:i])
	return n > 1 && isAlnum(c)
}

// wordAt says whether a word character starts at i.
func (r *region) wordAt(i int) bool {
	b := r.at(i)
	if b < utf8.RuneSelf {
		return isIn(b, charWord)
	}
	c, n := utf8.DecodeRune(r.s[i:r.hi])
	return n > 1 && isAlnum(c)
}

// letterAt says whether a letter starts at i: an ASCII letter or a word character
// above ASCII.
func (r *region) letterAt(i int) bool {
	if b := r.at(i); b < utf8.RuneSelf {
		return isIn(b, charLetter)
	}
	return r.wordAt(i)
}

// runEnd returns the end of the run of set that starts at i, at most limit bytes on.
func (r *region) runEnd(i int, set charSet, limit int) int {
	end := r.hi
	if limit < end-i {
		end = i + limit
	}
	for i < end && isIn(r.s[i], set) {
		i++
	}
	return i
}

// runStart returns the start of the run of set that ends at i, not before lo.
func (r *region) runStart(i int, set charSet, lo int) int {
	for i > lo && isIn(r.s[i-1], set) {
		i--
	}
	return i
}

// digitWindow returns which of the 64 bytes from p on are digits, bit 0 for the one at p.
func (r *region) digitWindow(p int) uint64 {
	b, i := p/cpu.BlockSize, uint(p%cpu.BlockSize)
	w := r.blocks[b].Digit >> i
	if b+1 < len(r.blocks) {
		w |= r.blocks[b+1].Digit << (cpu.BlockSize - i)
	}
	if n := r.hi - p; n < cpu.BlockSize {
		w &= 1<<uint(n) - 1
	}
	return w
}

// alnumRun returns how many of the bytes from p on are ASCII letters and digits in a row,
// as far as 64 bytes.
func (r *region) alnumRun(p int) int {
	b, i := p/cpu.BlockSize, uint(p%cpu.BlockSize)
	w := r.blocks[b].Alnum >> i
	if b+1 < len(r.blocks) {
		w |= r.blocks[b+1].Alnum << (cpu.BlockSize - i)
	}
	return bits.TrailingZeros64(^w)
}

// keyLike is the function of the same name on r.s[p:e], and reads the masks of most keys
// only: they begin with a run that is long enough.
func (r *region) keyLike(p, e int) bool {
	return min(r.alnumRun(p), e-p) >= minKeyRun || keyLike(r.s[p:e])
}

// charSet is a set of ASCII bytes that some rule of docs/pii.md names.
type charSet uint16

const (
	charDigit   charSet = 1 << iota // 0–9
	charLetter                      // A–Z a–z
	charScore                       // _
	charHyphen                      // -
	charHex                         // 0–9 A–F a–f
	charLocal                       // what a local part of a mail address has besides letters, digits, _ and -: . % +
	charBearer                      // what a bearer token has besides letters, digits, _ and -: . ~ + /
	charBase64                      // what a named value has besides letters, digits, _ and -: + /
	charBlock                       // what is between the lines of a private key block, without -
	charAddress                     // what an address of IP version 4 or 6 has: hex digits . :
	charColon                       // :
	charDot                         // .
)

const (
	charAlnum = charDigit | charLetter
	charWord  = charAlnum | charScore
	charToken = charWord | charHyphen
	charLabel = charAlnum | charHyphen
)

var charSets = func() (t [256]charSet) {
	add := func(chars string, set charSet) {
		for i := range len(chars) {
			t[chars[i]] |= set
		}
	}
	const (
		digits  = "0123456789"
		hex     = "ABCDEFabcdef"
		letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	)
	add(digits, charDigit)
	add(letters, charLetter)
	add("_", charScore)
	add("-", charHyphen)
	add(digits+hex, charHex)
	add(".%+", charLocal)
	add(".~+/", charBearer)
	add("+/", charBase64)
	add(digits+letters+"+/=:,\\ \t\r\n\f\v", charBlock)
	add(digits+hex+".:", charAddress)
	add(":", charColon)
	add(".", charDot)
	return t
}()

// isIn says whether b is in one of the sets.
func isIn(b byte, set charSet) bool { return charSets[b]&set != 0 }
