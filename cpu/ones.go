package cpu

import "math/bits"

// SelectOnes writes base plus the place of each set bit of words to dst, in ascending
// order, and returns how many there are: bit i%64 of words[i/64] is at place i. dst
// must have room for them; anywhere within its length it may be written to.
func SelectOnes(dst []uint32, words []uint64, base uint32) int {
	return selectOnes(dst, words, base)
}

func selectOnesGeneric(dst []uint32, words []uint64, base uint32) int {
	n := 0
	for _, w := range words {
		for ; w != 0; w &= w - 1 {
			dst[n] = base + uint32(bits.TrailingZeros64(w))
			n++
		}
		base += 64
	}
	return n
}

// CountOnes returns the number of set bits.
func CountOnes(words []uint64) int { return countOnes(words) }

func countOnesGeneric(words []uint64) int {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}
