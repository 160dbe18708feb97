package source

import "unicode/utf8"

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
