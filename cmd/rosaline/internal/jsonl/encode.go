package jsonl

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/rosaline-go/rosaline/internal/jsonstring"
)

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
	return jsonstring.AppendQuotedUTF8(dst, bytesOf(s))
}

// bytesOf returns the bytes of s, which must not be changed.
func bytesOf[S string | []byte](s S) []byte {
	switch s := any(s).(type) {
	case []byte:
		return s
	case string:
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	return nil
}

// AppendFloat appends f as the shortest JSON number that reads back as f. JSON
// has no infinities and no NaN: they become null.
func AppendFloat(dst []byte, f float64) []byte { return appendFloat(dst, f, 64) }

// appendFloat is AppendFloat of a float of so many bits.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	// As JavaScript does, and encoding/json: an exponent only where the plain
	// form is long, and no leading zero in it.
	if a := math.Abs(f); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
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
