package cpu

import (
	"encoding/binary"
	"math/bits"
)

// LowBits is the number of lowest bits that CountLowBits tells code points apart by.
const LowBits = 3

// CountLowBits counts the code points of s, which is UTF-8, by their lowest three bits,
// which are those of the last byte. Of text in one script the eight counts are much the
// same. O(len(s)).
func CountLowBits(s []byte) [1 << LowBits]int {
	// Of each set of bits, how many code points have all of them.
	var n [1 << LowBits]int
	// The byte after a block tells whether the block ends a code point.
	blocks := max(len(s)-1, 0) / BlockSize
	countLowBits(&n, s, blocks)
	var tail [BlockSize + 1]byte
	rest := copy(tail[:], s[blocks*BlockSize:])
	countLowBits(&n, tail[:], 1)
	for bit := 1; bit < len(n); bit *= 2 {
		for set := range n {
			if set&bit == 0 {
				n[set] -= n[set|bit]
			}
		}
	}
	n[0] -= BlockSize - rest // NUL after the end
	return n
}

// countLowBitsGeneric adds the code points that end in the given number of blocks of s,
// behind which there is one byte more, to n: for each set of bits those that have all of
// them.
func countLowBitsGeneric(n *[1 << LowBits]int, s []byte, blocks int) {
	for i := range blocks {
		p := (*[BlockSize + 1]byte)(s[i*BlockSize:])
		// Bits of eight bytes each, in an order that is the same for all masks.
		const lowest = 0x0101010101010101
		var last, bit0, bit1, bit2 uint64
		for k := 0; k < BlockSize; k += 8 {
			x, next := binary.LittleEndian.Uint64(p[k:k+8]), binary.LittleEndian.Uint64(p[k+1:k+9])
			last = last<<1 | (^next>>7|next>>6)&lowest // 80 to BF go on
			bit0 = bit0<<1 | x&lowest
			bit1 = bit1<<1 | x>>1&lowest
			bit2 = bit2<<1 | x>>2&lowest
		}
		bit0, bit1, bit2 = bit0&last, bit1&last, bit2&last
		n[0] += bits.OnesCount64(last)
		n[1] += bits.OnesCount64(bit0)
		n[2] += bits.OnesCount64(bit1)
		n[3] += bits.OnesCount64(bit0 & bit1)
		n[4] += bits.OnesCount64(bit2)
		n[5] += bits.OnesCount64(bit0 & bit2)
		n[6] += bits.OnesCount64(bit1 & bit2)
		n[7] += bits.OnesCount64(bit0 & bit1 & bit2)
	}
}
