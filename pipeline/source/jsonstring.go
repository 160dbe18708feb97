package source

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

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

// escapeByte maps the letter of a short escape to what it stands for.
var escapeByte = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// appendUnescaped appends what the inside of a valid JSON string stands for. It
// is never longer than raw. Each half of a surrogate pair that stands alone
// becomes U+FFFD; lone is their number. Bytes that are not UTF-8 are kept.
func appendUnescaped(dst, raw []byte) (out []byte, lone int) {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...), lone
		}
		dst = append(dst, raw[:i]...)
		if raw[i+1] != 'u' {
			dst = append(dst, escapeByte[raw[i+1]])
			raw = raw[i+2:]
			continue
		}
		r := hexRune(raw[i+2:])
		raw = raw[i+6:]
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
				pair = utf16.DecodeRune(r, hexRune(raw[2:]))
			}
			if r = pair; r == utf8.RuneError {
				lone++
			} else {
				raw = raw[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// hexRune reads four hexadecimal digits.
func hexRune(s []byte) rune {
	return rune(hexDigit[s[0]])<<12 | rune(hexDigit[s[1]])<<8 | rune(hexDigit[s[2]])<<4 | rune(hexDigit[s[3]])
}

// invalidBytes counts the bytes of s that belong to no UTF-8 sequence, and
// returns where the first is, −1 if there is none.
func invalidBytes(s []byte) (n, first int) {
	first = -1
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			if n++; first < 0 {
				first = i
			}
		}
		i += size
	}
	return n, first
}

// appendValid appends s with U+FFFD in place of each byte that belongs to no
// UTF-8 sequence.
func appendValid(dst, s []byte) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[size:]
	}
	return dst
}

// appendQuoted appends s as a JSON string. Quotes, backslashes and control
// characters are escaped, nothing else is.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			const digits = "0123456789abcdef"
			dst = append(dst, `\u00`...)
			dst = append(dst, digits[c>>4], digits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
