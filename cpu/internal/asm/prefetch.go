package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func prefetch() {
	TEXT("prefetchT0", attr.NOSPLIT, "func(addresses *uint64, n int)")
	Pragma("noescape")
	Doc("prefetchT0 asks for the lines of n addresses in all levels of the cache.")
	p, n, a := pointer("addresses"), pointer("n"), GP64()
	Label("address")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	MOVQ(at(p, 0), a)
	PREFETCHT0(at(a, 0))
	ADDQ(U8(8), p)
	DECQ(n)
	JMP(LabelRef("address"))
	Label("done")
	RET()
}
