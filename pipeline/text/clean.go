package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// TextCleaner trims a text, makes its line ends uniform and holds its length to
// bounds. It changes nothing else unless [WithRepairs] says so: inner spaces, control
// characters, byte order marks, combining marks and bytes that are not UTF-8 stay as
// they are.
//
// The steps are, in this order: repairs, line ends, trim, least length, greatest
// length (drop, or cut and hold against the least length again). A cleaner is
// immutable and safe for concurrent use.
type TextCleaner struct {
	repairs                  Repairs
	trim, newlines, truncate bool
	minBytes, maxBytes       int // maxBytes 0 is no bound
}

// CleanOption changes what a [TextCleaner] does.
type CleanOption func(*TextCleaner)

// WithTrim sets whether White_Space is removed from both ends: the 25 code
// points of that Unicode property, so neither U+200B nor U+FEFF. Default true.
func WithTrim(on bool) CleanOption { return func(c *TextCleaner) { c.trim = on } }

// WithNewlines sets whether CR LF and a lone CR become LF. Default true.
func WithNewlines(on bool) CleanOption { return func(c *TextCleaner) { c.newlines = on } }

// WithMinBytes drops texts of fewer than n bytes. Default 0, range n ≥ 0; 1
// drops the empty text, and one above [WithMaxBytes] drops every text.
func WithMinBytes(n int) CleanOption { return func(c *TextCleaner) { c.minBytes = n } }

// WithMaxBytes drops texts of more than n bytes, or cuts them, see
// [WithTruncate]. Default 0, which is no bound; range n ≥ 0.
func WithMaxBytes(n int) CleanOption { return func(c *TextCleaner) { c.maxBytes = n } }

// WithTruncate sets whether a text over [WithMaxBytes] is cut instead of
// dropped, at the last border of a code point that fits. What is left is not
// trimmed again. Default false.
func WithTruncate(on bool) CleanOption { return func(c *TextCleaner) { c.truncate = on } }

// WithRepairs sets which repairs of Unicode are made. Default none.
func WithRepairs(set Repairs) CleanOption { return func(c *TextCleaner) { c.repairs = set } }

// NewTextCleaner returns a cleaner. The error is [ErrOption].
func NewTextCleaner(opts ...CleanOption) (*TextCleaner, error) {
	c := &TextCleaner{trim: true, newlines: true}
	for _, o := range opts {
		o(c)
	}
	switch {
	case c.repairs >= repairEnd:
		return nil, fmt.Errorf("%w: unknown repairs %#x", ErrOption, uint8(c.repairs&^(repairEnd-1)))
	case c.minBytes < 0:
		return nil, fmt.Errorf("%w: the least length is %d bytes, want 0 or more", ErrOption, c.minBytes)
	case c.maxBytes < 0:
		return nil, fmt.Errorf("%w: the greatest length is %d bytes, want 0 (no bound) or more", ErrOption, c.maxBytes)
	case c.truncate && c.maxBytes == 0:
		return nil, fmt.Errorf("%w: truncation needs a greatest length in bytes", ErrOption)
	}
	return c, nil
}

// Clean returns the cleaned text and whether it is kept. The text is a part of
// s where nothing inside it had to change; else it is in *scratch, which is
// grown as needed and overwritten by the next call. Time is O(len(s)).
//
// Cleaning twice gives what cleaning once gives, but for one case: a cut that
// falls behind white space leaves it, and a second cleaning would trim it.
func (c *TextCleaner) Clean(scratch *[]byte, s []byte) ([]byte, Verdict) {
	if c.needsRepair(s) {
		*scratch = c.repairs.Append((*scratch)[:0], s)
		t, cr := c.trimmed(*scratch)
		return c.bounded(appendLF(t[:0], t, cr)) // what is written is never ahead of what is read
	}
	s, cr := c.trimmed(s)
	if cr >= 0 {
		*scratch = appendLF((*scratch)[:0], s, cr)
		s = *scratch
	}
	return c.bounded(s)
}

// needsRepair reports whether s must go through the repairs.
func (c *TextCleaner) needsRepair(s []byte) bool { return c.repairs != 0 && c.repairs.Needed(s) }

// CleanString is [TextCleaner.Clean] of a string.
func (c *TextCleaner) CleanString(s string) (string, Verdict) {
	var scratch []byte
	b, v := c.Clean(&scratch, unsafe.Slice(unsafe.StringData(s), len(s)))
	return unsafe.String(unsafe.SliceData(b), len(b)), v
}

// trimmed does the steps that only take bytes away from the ends, and returns
// the place of the first CR that must change, or -1. CR and LF are both white
// space, so trimming first gives the same result and copies less.
func (c *TextCleaner) trimmed(s []byte) ([]byte, int) {
	if c.trim {
		s = trimSpace(s)
	}
	if c.newlines {
		return s, bytes.IndexByte(s, '\r')
	}
	return s, -1
}

// bounded holds a text to the bounds of its length.
func (c *TextCleaner) bounded(s []byte) ([]byte, Verdict) {
	if c.unbounded() {
		return s, Verdict{}
	}
	return c.within(s)
}

// unbounded reports whether a text may have any length.
func (c *TextCleaner) unbounded() bool { return c.minBytes|c.maxBytes == 0 }

// within is bounded where there are bounds.
func (c *TextCleaner) within(s []byte) ([]byte, Verdict) {
	v := c.checkMin(s)
	if v.Kept() && c.maxBytes > 0 && len(s) > c.maxBytes {
		if !c.truncate {
			return s, Verdict{ReasonMaxBytes, float64(len(s)), float64(c.maxBytes)}
		}
		s = s[:cutPoint(s, c.maxBytes)]
		v = c.checkMin(s)
	}
	return s, v
}

func (c *TextCleaner) checkMin(s []byte) Verdict {
	if len(s) < c.minBytes {
		return Verdict{ReasonMinBytes, float64(len(s)), float64(c.minBytes)}
	}
	return Verdict{}
}

// trimSpace removes White_Space from both ends of s.
func trimSpace(s []byte) []byte {
	for mayBeginInSpace(s) {
		n := 1
		if s[0] >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRune(s); !isSpace(r) {
				break
			}
		}
		s = s[n:]
	}
	for mayEndInSpace(s) {
		n := 1
		if s[len(s)-1] >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeLastRune(s); !isSpace(r) {
				break
			}
		}
		s = s[:len(s)-n]
	}
	return s
}

// mayBeginInSpace reports whether s may begin in White_Space. Few of the code points
// that share a byte with White_Space, such as 。, have to be decoded to know.
func mayBeginInSpace(s []byte) bool {
	if len(s) == 0 || spaceFirst[s[0]] == 0 {
		return false
	}
	return s[0] < utf8.RuneSelf || len(s) < 3 || spaceTails[s[0]]>>(s[2]&0x3f)&1 != 0
}

// mayEndInSpace reports whether s may end in White_Space.
func mayEndInSpace(s []byte) bool {
	n := len(s)
	if n == 0 || spaceLast[s[n-1]] == 0 {
		return false
	}
	return s[n-1] < utf8.RuneSelf || n < 3 || (spaceTails[s[n-3]]|spaceTails[s[n-2]])>>(s[n-1]&0x3f)&1 != 0
}

// textEnds returns where what trimSpace leaves of s, which has more than ten bytes, lies
// in it. The usual few bytes of ASCII at the end are found without branches: texts of a
// source begin alike, but whether they end in a line end cannot be foretold.
func textEnds(s []byte) (from, to int) {
	for from < 8 && s[from] < utf8.RuneSelf && spaceFirst[s[from]] != 0 {
		from++
	}
	last := binary.LittleEndian.Uint64(s[len(s)-8:])
	back := bits.LeadingZeros64(^spacesOf(last)&(0x80*eachByte)|1) / 8
	to = len(s) - back
	// What else may be White_Space, as in mayBeginInSpace and mayEndInSpace.
	more := spaceTails[s[from]] >> (s[from+2] & 0x3f)
	more |= (spaceTails[s[to-3]] | spaceTails[s[to-2]]) >> (s[to-1] & 0x3f)
	if more&1|uint64(from)>>3|uint64(back)/7 == 0 {
		return from, to
	}
	t := trimSpace(s)
	from = cap(s) - cap(t) // what was cut off the front is missing from the capacity
	return from, from + len(t)
}

const eachByte = 0x0101010101010101

// spacesOf returns the highest bit of each byte of w that is White_Space of ASCII.
func spacesOf(w uint64) uint64 {
	low := w & (0x7f * eachByte) // no sum reaches the next byte
	controls := (low + (0x80-'\t')*eachByte) &^ (low + (0x80-'\r'-1)*eachByte)
	blanks := ^((low ^ ' '*eachByte) + 0x7f*eachByte)
	return (controls | blanks) &^ w & (0x80 * eachByte)
}

// spaceFirst and spaceLast have a 1 for the bytes that White_Space begins and ends with, and
// spaceTails by the first of three bytes the values of the last; all of them by
// the first of two.
var spaceFirst, spaceLast, spaceTails = func() (first, last [256]uint8, tails [256]uint64) {
	for r := range rune('\u3000' + 1) { // the last of them
		if !isSpace(r) {
			continue
		}
		p := utf8.AppendRune(nil, r)
		first[p[0]], last[p[len(p)-1]] = 1, 1
		switch len(p) {
		case 2:
			tails[p[0]] = ^uint64(0)
		case 3:
			tails[p[0]] |= 1 << (p[2] & 0x3f)
		}
	}
	return first, last, tails
}()

// appendLF appends s to dst with each CR LF and each CR as LF. The first CR is
// at s[cr]; where there is none, cr is negative. At most len(s) bytes are appended.
func appendLF(dst, s []byte, cr int) []byte {
	for cr >= 0 {
		dst = append(dst, s[:cr]...)
		dst = append(dst, '\n')
		s = s[cr+1:]
		if len(s) > 0 && s[0] == '\n' {
			s = s[1:]
		}
		cr = bytes.IndexByte(s, '\r')
	}
	return append(dst, s...)
}

// cutPoint returns the greatest border of a code point in s that is at most n,
// which is less than len(s). Each byte that is not UTF-8 stands for itself.
func cutPoint(s []byte, n int) int {
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		i := n - back
		if utf8.RuneStart(s[i]) {
			if _, size := utf8.DecodeRune(s[i:]); size > back {
				return i
			}
			break
		}
	}
	return n
}
