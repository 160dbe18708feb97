// Command asm writes the vector bodies of package cpu: go generate in ../.. runs it.
//
// A module of its own keeps avo out of what users of the library download.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!noasm")
	for _, i := range []isa{avx2, avx512} {
		matchViews(i)
		diffViews(i)
	}
	classifyAVX2()
	classifyAVX512()
	sumLengths()
	equal()
	gather()
	selectOnes()
	countOnes()
	validUTF8()
	countClasses()
	indexAny()
	maskAny()
	maskJSON()
	maskByte()
	prefetch()
	countLowBits()
	Generate()
}
