package jsonstring

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// escape is what a byte is written as: the first size bytes of text, lowest first.
type escape struct {
	text uint64
	size uint8
}

// escapeSize is the length of the longest escape, \u00xx.
const escapeSize = 6

// quoteWindow is how many bytes are marked at a time.
const quoteWindow = 1024

// escapes are those of the special bytes, as short as JSON allows.
var escapes = func() (t [256]escape) {
	set := func(c byte, text string) {
		var b [8]byte
		copy(b[:], text)
		t[c] = escape{binary.LittleEndian.Uint64(b[:]), uint8(len(text))}
	}
	const digits = "0123456789abcdef"
	for c := range byte(' ') {
		set(c, `\u00`+digits[c>>4:][:1]+digits[c&15:][:1])
	}
	for c, letter := range map[byte]string{'"': `"`, '\\': `\`, '\b': `b`, '\f': `f`, '\n': `n`, '\r': `r`, '\t': `t`} {
		set(c, `\`+letter)
	}
	return t
}()

// AppendQuoted appends s as a JSON string. Quotes, backslashes and control characters
// are escaped, as short as JSON allows; everything else stays, bytes that are not
// UTF-8 too. O(len(s)); it allocates nothing if dst has room for six times s.
func AppendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// AppendQuotedUTF8 is [AppendQuoted] with U+FFFD in place of each byte that is part of
// no UTF-8 sequence, so that the result is UTF-8 whatever s is.
func AppendQuotedUTF8(dst, s []byte) []byte {
	if cpu.ValidUTF8(s) {
		return AppendQuoted(dst, s)
	}
	dst = append(dst, '"')
	for len(s) > 0 {
		n := validPrefix(s)
		dst = appendEscaped(dst, s[:n])
		if s = s[n:]; len(s) > 0 {
			dst = utf8.AppendRune(dst, utf8.RuneError)
			s = s[1:]
		}
	}
	return append(dst, '"')
}

// validPrefix returns the length of the longest prefix of s that is UTF-8 and that a
// byte follows which is not, or the end.
func validPrefix(s []byte) int {
	i := 0
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return i
}

// appendEscaped appends the inside of the JSON string that s is.
func appendEscaped(dst, s []byte) []byte {
	var buffer [quoteWindow / 64]uint64
	for len(s) > 0 {
		piece := s[:min(len(s), quoteWindow)]
		s = s[len(piece):]
		marks := buffer[:(len(piece)+63)/64]
		used := cpu.MaskJSON(marks, piece)
		dst = slices.Grow(dst, len(piece)+(escapeSize-1)*cpu.CountOnes(marks)+block)
		dst = dst[:len(dst)+escapeMarked(dst[len(dst):cap(dst)], piece, marks, used)]
	}
	return dst
}

// escapeMarked writes s to dst with the marked bytes escaped, and returns how much that
// is. Marks are in the words that used has. dst has a block of room more.
func escapeMarked(dst, s []byte, marks []uint64, used uint64) int {
	at, from := 0, 0
	for ; used != 0; used &= used - 1 {
		w := bits.TrailingZeros64(used)
		for m := marks[w]; m != 0; m &= m - 1 {
			i := w*64 + bits.TrailingZeros64(m)
			copyPiece(dst, at, s, from, i)
			at += i - from
			e := escapes[s[i]]
			binary.LittleEndian.PutUint64(dst[at:], e.text)
			at += int(e.size)
			from = i + 1
		}
	}
	copyPiece(dst, at, s, from, len(s))
	return at + len(s) - from
}
