package jsonl

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// escaped tells which ASCII bytes cannot stand for themselves in a JSON string.
var escaped = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\'
	}
	return t
}()

// AppendID appends an id to dst: as it is if it is a JSON number, else as a JSON
// string.
func AppendID[S string | []byte](dst []byte, id S, number bool) []byte {
	if number {
		return append(dst, id...)
	}
	return AppendString(dst, id)
}

// AppendString appends s as a JSON string to dst and returns the longer slice.
// Quotes, backslashes and control characters are escaped, as short as JSON
// allows; everything else stays, U+2028 and U+2029 too, and what is special in
// HTML. Each byte that is not UTF-8 becomes U+FFFD, so that the output is always
// valid.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if escaped[c] {
				dst = appendEscape(append(dst, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := decodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

// decodeRune decodes the first code point of s, which is not empty.
func decodeRune[S string | []byte](s S) (rune, int) {
	n := min(len(s), utf8.UTFMax)
	var p [utf8.UTFMax]byte
	return utf8.DecodeRune(p[:copy(p[:], s[:n])])
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendFloat appends f as the shortest JSON number that reads back as f. JSON
// has no infinities and no NaN: they become null.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	// As JavaScript does, and encoding/json: an exponent only where the plain
	// form is long, and no leading zero in it.
	if a := math.Abs(f); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// AppendBytes appends the bytes of s as a JSON array of numbers.
func AppendBytes[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '[')
	for i := range len(s) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(s[i]), 10)
	}
	return append(dst, ']')
}
