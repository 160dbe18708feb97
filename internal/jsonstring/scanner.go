package jsonstring

import (
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// What may be wrong with a string, at the place that [Scanner] returns. A string that
// the text ends in has no fault: its end is that of the text.
const (
	faultControl = "a control character in a string"
	faultEscape  = "no such escape"
	faultHex     = "expected four hexadecimal digits after \\u"
)

// scanWindow is how many bytes a Scanner marks at a time: the marks of a usual record.
const scanWindow = 2048

// Scanner reads the special bytes of a text of JSON one after the other: quotes, and what
// else does not stand for itself in a string. It takes O(1) a special byte and
// one pass of vectors over all bytes. The zero value has an empty text.
type Scanner struct {
	s      []byte
	word   uint64 // bit i: s[place+i] is special, and has not been read
	place  int
	marks  [scanWindow / 64]uint64 // bit i: s[marked+i] is special
	used   uint64                  // bit k: marks[k] is not 0
	behind uint64                  // those of used that have not been read
	marked int
	unseen int // s[marked:unseen] is what marks tell of
}

// Reset makes s what is read next. It must not change meanwhile.
func (c *Scanner) Reset(s []byte) {
	c.s = s
	c.mark(0)
}

// Next reads a special byte and returns its place, the length of the text if there is none
// any more.
func (c *Scanner) Next() int {
	w := c.word
	if w == 0 {
		w = c.find()
	}
	c.word = w & (w - 1)
	return c.place + bits.TrailingZeros64(w)
}

// Open is two calls of Next: the opening quote of a string, and the place of the first
// special byte in it, which is the closing one if all others stand for themselves.
func (c *Scanner) Open() int {
	w := c.word
	if w == 0 {
		w = c.find()
	}
	if w &= w - 1; w == 0 {
		w = c.find()
	}
	c.word = w & (w - 1)
	return c.place + bits.TrailingZeros64(w)
}

// find makes the next word with a mark the current one and returns it. At the end of the
// text there is a mark.
func (c *Scanner) find() uint64 {
	for c.behind == 0 {
		if c.unseen == len(c.s) {
			c.place = len(c.s)
			return 1
		}
		c.mark(c.unseen)
	}
	k := bits.TrailingZeros64(c.behind)
	c.behind &= c.behind - 1
	c.place = c.marked + 64*k
	return c.marks[k%len(c.marks)]
}

// mark marks the window that begins at i.
func (c *Scanner) mark(i int) {
	c.marked, c.unseen = i, min(i+scanWindow, len(c.s))
	c.used = cpu.MaskJSON(c.marks[:], c.s[i:c.unseen])
	c.word, c.behind = 0, c.used
	c.place = i - 64 // no word is the current one
}

// Seek makes i the place from which on special bytes are read, behind all that were read.
func (c *Scanner) Seek(i int) {
	if bit := i - c.place; uint(bit) < 64 && i < c.unseen {
		c.word = c.word >> bit << bit
		return
	}
	c.seekWord(i)
}

func (c *Scanner) seekWord(i int) {
	if i >= c.unseen {
		c.mark(i)
		return
	}
	bit := i - c.marked
	k := bit / 64
	c.place = c.marked + 64*k
	c.word = c.marks[k] >> (bit % 64) << (bit % 64)
	c.behind = c.used >> k >> 1 << 1 << k
}

// Skip reads the rest of a string from its special byte at i on, the last that was read, and
// returns the place of the closing quote, of the end of the text, or of what is wrong.
func (c *Scanner) Skip(i int) (end int, fault string) {
	for {
		if i == len(c.s) || c.s[i] == '"' {
			return i, ""
		}
		if c.s[i] != '\\' {
			return i, faultControl
		}
		if i+1 < len(c.s) && escapeByte[c.s[i+1]] != 0 {
			i += 2
		} else if _, i, fault = c.codePoint(i); fault != "" {
			return i, fault
		}
		c.Seek(i)
		i = c.Next()
	}
}

// Append is Skip, and appends what the string that begins at start, with nothing special
// before i, stands for to dst. That is no longer than the string. Each half of a surrogate
// pair that stands alone becomes U+FFFD; lone is their number. Bytes that are not UTF-8
// are kept.
func (c *Scanner) Append(dst []byte, start, i int) (out []byte, lone, end int, fault string) {
	s, from, at := c.s, start, len(dst)
	room := dst[:cap(dst)]
	for {
		n := i - from
		if need := at + n + utf8.UTFMax + block; need > len(room) {
			room = slices.Grow(room[:at], need-at)
			room = room[:cap(room)]
		}
		copyPiece(room, at, s, from, i)
		at += n
		if i == len(s) || s[i] == '"' {
			return room[:at], lone, i, ""
		}
		if s[i] != '\\' {
			return room[:at], lone, i, faultControl
		}
		if i+1 < len(s) && escapeByte[s[i+1]] != 0 {
			room[at] = escapeByte[s[i+1]]
			at++
			from = i + 2
		} else {
			var r rune
			if r, from, fault = c.codePoint(i); fault != "" {
				return room[:at], lone, from, fault
			}
			if r == half {
				lone++
				r = utf8.RuneError
			}
			at += utf8.EncodeRune(room[at:], r)
		}
		c.Seek(from)
		i = c.Next()
	}
}

// half is what codePoint makes of half of a surrogate pair.
const half = -1

// codePoint reads the escape at i, which is none of the short ones: \uXXXX, or a pair of them. It
// returns where it ends, or the place of the fault.
func (c *Scanner) codePoint(i int) (r rune, end int, fault string) {
	if i+1 == len(c.s) {
		return 0, i + 1, ""
	}
	if c.s[i+1] != 'u' {
		return 0, i + 1, faultEscape
	}
	r, end, fault = c.hexRune(i + 2)
	if fault != "" || !utf16.IsSurrogate(r) {
		return r, end, fault
	}
	if end+1 < len(c.s) && c.s[end] == '\\' && c.s[end+1] == 'u' {
		second, after, fault := c.hexRune(end + 2)
		if pair := utf16.DecodeRune(r, second); fault == "" && pair != utf8.RuneError {
			return pair, after, ""
		}
	}
	return half, end, ""
}

// hexRune reads four hexadecimal digits at i.
func (c *Scanner) hexRune(i int) (r rune, end int, fault string) {
	for end = i; end < i+4; end++ {
		if end == len(c.s) {
			return 0, end, faultHex
		}
		d := hexDigit[c.s[end]]
		if d == notHex {
			return 0, end, faultHex
		}
		r = r<<4 | rune(d)
	}
	return r, end, ""
}

const notHex = 0xff

// hexDigit maps a byte to its value as a hexadecimal digit.
var hexDigit = func() (t [256]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = byte(c - '0')
		case 'a' <= c && c <= 'f':
			t[c] = byte(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			t[c] = byte(c - 'A' + 10)
		default:
			t[c] = notHex
		}
	}
	return t
}()

// escapeByte maps the letter of a short escape to what it stands for; 0 is none.
var escapeByte = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// AppendUnquoted appends what the inside of a valid string stands for, as
// [Scanner.Append] does.
func AppendUnquoted(dst, raw []byte) (out []byte, lone int) {
	var c Scanner
	c.Reset(raw)
	out, lone, _, _ = c.Append(dst, 0, c.Next())
	return out, lone
}
