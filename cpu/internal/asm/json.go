package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func maskJSON() {
	i := avx2
	i.function("maskJSON", "func(dst *uint64, s *byte, n int) (used uint64)",
		"sets the bits of what is special in a JSON string among the n bytes of s, 64 at least,\nand those in used of the words with any.")
	dst, s, n := pointer("dst"), pointer("s"), Load(Param("n"), GP64()).(reg.GPVirtual)
	// With bit 1 turned over the quote is 20 and the control characters are below it.
	turn, bound, backslash := i.splat(2), i.splat(0x20), i.splat('\\')
	half := func(o int, m reg.GPVirtual) {
		v, low, least := i.load(at(s, o)), i.vector(), i.vector()
		i.xor(turn, v, low)
		VPMINUB(bound, low, least)
		VPCMPEQB(least, low, low)
		VPCMPEQB(backslash, v, v)
		i.or(v, low, low)
		VPMOVMSKB(low, m.As32())
	}
	m, m2, any, used, bit := GP64(), GP64(), GP64(), GP64(), GP64()
	word := func() {
		half(0, m)
		half(32, m2)
		SHLQ(U8(32), m2)
		ORQ(m2, m)
	}
	store := func() {
		MOVQ(m, at(dst, 0))
		XORL(any.As32(), any.As32())
		TESTQ(m, m)
		SETNE(any.As8())
		SHLXQ(bit, any, any)
		ORQ(any, used)
	}
	XORL(used.As32(), used.As32())
	XORL(bit.As32(), bit.As32())
	SUBQ(U8(64), n)
	Label("word")
	word()
	store()
	INCL(bit.As32())
	ADDQ(U8(64), s)
	ADDQ(U8(8), dst)
	SUBQ(U8(64), n)
	JAE(LabelRef("word"))
	Comment("n is what is left less 64: the last 64 bytes once more, of which some are new.")
	CMPQ(n, I32(-64))
	JE(LabelRef("done"))
	ADDQ(n, s)
	word()
	NEGQ(n)
	SHRXQ(n, m, m)
	store()
	Label("done")
	Store(used, ReturnIndex(0))
	ret()
}
