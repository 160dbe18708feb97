package text

import (
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// region is a stretch of a text that one search sees as a text of its own: s[lo:hi],
// between what was found before. Positions are those of s.
type region struct {
	s      []byte
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

// search appends the spans of one kind or form within a region, in order. It may
// move r.lo: what it has found is a wall to the rest of its search.
type search func(dst []Span, r region, c *classes) []Span

// searchGaps runs f on what lies between the spans dst[base:] and puts what it
// finds in its place among them. The time is that of f plus O(spans).
func searchGaps(dst []Span, base int, s []byte, c *classes, f search) []Span {
	old := len(dst)
	lo := 0
	for i := base; i < old; i++ {
		dst = f(dst, region{s, lo, dst[i].Start}, c)
		lo = dst[i].End
	}
	dst = f(dst, region{s, lo, len(s)}, c)
	if old == base || old == len(dst) {
		return dst
	}
	return mergeSpans(dst, base, old)
}

// mergeSpans merges the sorted runs dst[base:mid] and dst[mid:], from the back, with
// a copy of the second behind them as the only scratch.
func mergeSpans(dst []Span, base, mid int) []Span {
	end := len(dst)
	dst = append(dst, dst[mid:]...)
	i, j := mid-1, len(dst)-1
	for w := end - 1; j >= end; w-- {
		if i >= base && dst[i].Start > dst[j].Start {
			dst[w] = dst[i]
			i--
		} else {
			dst[w] = dst[j]
			j--
		}
	}
	return dst[:end]
}

// window returns a mask of the bits of block b that lie in the region.
func (r *region) window(b int) uint64 {
	m := ^uint64(0)
	if first := r.lo - b*cpu.BlockSize; first > 0 {
		m <<= uint(first)
	}
	if last := r.hi - b*cpu.BlockSize; last < cpu.BlockSize {
		m &= 1<<uint(last) - 1
	}
	return m
}

// blocks returns the first block of the region and the one behind its last.
func (r *region) blocks() (first, end int) {
	return r.lo / cpu.BlockSize, (r.hi + cpu.BlockSize - 1) / cpu.BlockSize
}

// shifted returns the mask x moved up by n bits, 0 < n < 64, with what falls out of
// the mask of the block before.
func shifted(x, before uint64, n uint) uint64 { return x<<n | before>>(64-n) }
