//go:build !amd64 || noasm

package cpu

import "unsafe"

// There are no other bodies here.

func matchViews(dst []uint64, views []View, key, mask uint64) {
	matchViewsGeneric(dst, views, key, mask)
}

func diffViews(a, b []View, shift uint64) int { return diffViewsGeneric(a, b, shift) }

func sumLengths(views []View) uint64 { return sumLengthsGeneric(views) }

func equal(a, b []byte) bool { return equalGeneric(a, b) }

func gather(dst []byte, ends []uint32, views []View, buffers [][]byte) int {
	return gatherGeneric(dst, 0, ends[:len(views)], views, buffers)
}

func selectOnes(dst []uint32, words []uint64, base uint32) int {
	return selectOnesGeneric(dst, words, base)
}

func countOnes(words []uint64) int { return countOnesGeneric(words) }

func validUTF8(s []byte) bool { return validUTF8Generic(s) }

func classify(dst []Block, s []byte) Block { return classifyGeneric(dst, s) }

func countClasses(s []byte) ClassCounts { return countClassesGeneric(s) }

func countLowBits(n *[1 << LowBits]int, s []byte, blocks int) { countLowBitsGeneric(n, s, blocks) }

func indexAny(s []byte, set *ByteSet) int { return indexAnyGeneric(s, set) }

func maskAny(dst []uint64, s []byte, set *ByteSet) { maskAnyGeneric(dst, s, set) }

func maskJSON(dst []uint64, s []byte) uint64 { return maskJSONGeneric(dst, s) }

func maskByte(dst []uint64, s []byte, b byte) uint64 { return maskByteGeneric(dst, s, b) }

func prefetch([]unsafe.Pointer) {}
