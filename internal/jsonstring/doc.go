// Package jsonstring reads and writes the strings of JSON (RFC 8259, section 7) by
// scan and copy: the bytes that need a look are marked a window at a time, and what
// lies between them is copied in blocks.
//
//	{"text": "two lines\n of \"text\""}
//	 ┬    ┬  ┬         ┬     ┬     ┬ ┬    marked by cpu.MaskJSON, and gone through
//	                                      bit by bit
//
// Going from mark to mark is the first stage of G. Langdale and D. Lemire, Parsing
// gigabytes of JSON per second, The VLDB Journal 28 (2019), here for single lines.
package jsonstring

// block is how many bytes a piece is copied as if it is not longer: a fixed number is a
// few moves, a varying one a call and a jump that cannot be foretold. What is too
// much is overwritten by what comes next.
const block = 96

// copyPiece copies src[from:to] to dst[at:], which has a block of room behind that.
func copyPiece(dst []byte, at int, src []byte, from, to int) {
	if to-from <= block && from+block <= len(src) {
		d, s := (*[block]byte)(dst[at:]), (*[block]byte)(src[from:])
		*(*[block / 2]byte)(d[:]) = *(*[block / 2]byte)(s[:])
		*(*[block / 2]byte)(d[block/2:]) = *(*[block / 2]byte)(s[block/2:])
		return
	}
	copy(dst[at:], src[from:to])
}
