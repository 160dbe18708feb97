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

// ahead is how many words of no marks lie behind those of a window.
const ahead = 2

// scanWindow is how many bytes a Scanner marks at a time: the marks of a usual record.
const scanWindow = 2048

// Scanner reads the strings of a text of JSON, each from the byte after its opening
// quote, in the order in which they stand. It takes O(1) a string and 64 bytes besides
// what is copied, and a look at each byte that does not stand for itself. The zero value has an
// empty text.
type Scanner struct {
	s      []byte
	marks  [scanWindow/64 + ahead]uint64 // bit i: s[marked+i] is special
	marked int
	unseen int // s[marked:unseen] is what marks tell of
}

// Reset makes s what is read next. It must not change meanwhile.
func (c *Scanner) Reset(s []byte) { c.s, c.marked, c.unseen = s, 0, 0 }

// mark marks the window that begins at i.
func (c *Scanner) mark(i int) {
	c.marked, c.unseen = i, min(i+scanWindow, len(c.s))
	cpu.MaskAny(c.marks[:], c.s[i:c.unseen], special)
	words := (c.unseen - i + 63) / 64
	c.marks[words], c.marks[words+1] = 0, 0
}

// Next returns the place of the first byte from i on that does not stand for itself, the
// length of the text if there is none.
func (c *Scanner) Next(i int) int {
	for {
		if i >= c.unseen {
			if i >= len(c.s) {
				return len(c.s)
			}
			c.mark(i)
		}
		// The marks of 128 bytes from i on. How far the next one is cannot be foretold, so
		// nothing branches on it that often.
		k := uint(i - c.marked)
		m := (*[1 + ahead]uint64)(c.marks[k/64:])
		k %= 64
		near := m[0]>>k | m[1]<<1<<(63-k)
		far := m[1]>>k | m[2]<<1<<(63-k)
		n := bits.TrailingZeros64(near)
		n += bits.TrailingZeros64(far) & -(n >> 6)
		if n < 128 {
			return i + n
		}
		i = min(i+n, c.unseen)
	}
}

// Skip goes on from i, in a string, to its closing quote, and returns the place of that,
// of the end of the text, or of what is wrong.
func (c *Scanner) Skip(i int) (end int, fault string) {
	for {
		i = c.Next(i)
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
	}
}

// Append is Skip from the first special byte i of a string that begins at start, and appends
// what the string stands for to dst. That is no longer than the string. Each half of a surrogate
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
		i = c.Next(from)
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
	out, lone, _, _ = c.Append(dst, 0, c.Next(0))
	return out, lone
}
