package text

import (
	"encoding/binary"
	"unicode/utf8"
)

// decode returns the first code point of s, which is above 7F, and its length. Text
// that is known to be valid UTF-8 is taken apart by masks.
func decode(s []byte, valid bool) (r rune, size int) {
	if !valid || len(s) < utf8.UTFMax {
		return utf8.DecodeRune(s)
	}
	x := binary.BigEndian.Uint32(s)
	switch {
	case x < 0xe0<<24:
		return rune(x>>18&0x7c0 | x>>16&0x3f), 2
	case x < 0xf0<<24:
		return rune(x>>12&0xf000 | x>>10&0xfc0 | x>>8&0x3f), 3
	default:
		return rune(x>>6&0x1c0000 | x>>4&0x3f000 | x>>2&0xfc0 | x&0x3f), 4
	}
}

// decodeThree is decode of valid UTF-8 of three bytes, what most ideographs have.
func decodeThree(s []byte) (r rune, ok bool) {
	if len(s) < 3 || s[0]&0xf0 != 0xe0 {
		return 0, false
	}
	return rune(s[0]&0x0f)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}
