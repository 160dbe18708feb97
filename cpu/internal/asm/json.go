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
	maskWords(dst, s, n, func(from Mem) reg.VecVirtual {
		v, low, least := i.load(from), i.vector(), i.vector()
		i.xor(turn, v, low)
		VPMINUB(bound, low, least)
		VPCMPEQB(least, low, low)
		VPCMPEQB(backslash, v, v)
		i.or(v, low, low)
		return low
	})
}

func maskByte() {
	i := avx2
	i.function("maskByte", "func(dst *uint64, s *byte, n int, b byte) (used uint64)",
		"sets the bits of the bytes b among the n bytes of s, 64 at least, and those in used\nof the words with any.")
	dst, s, n := pointer("dst"), pointer("s"), Load(Param("n"), GP64()).(reg.GPVirtual)
	b := i.vector()
	VPBROADCASTB(parameter(Param("b")), b)
	maskWords(dst, s, n, func(from Mem) reg.VecVirtual {
		v := i.vector()
		VPCMPEQB(from, b, v)
		return v
	})
}

// maskWords sets a word of dst for each 64 of the n bytes of s, of which there are 64 at
// least, to the bits of the bytes that find finds in a vector, and returns from the
// function with the bits of the words that have any. What is behind s is asked for: lines
// and texts are looked through one after the other, and most lie end to end.
func maskWords(dst, s, n reg.GPVirtual, find func(Mem) reg.VecVirtual) {
	m, m2, any, used, bit := GP64(), GP64(), GP64(), GP64(), GP64()
	word := func() {
		VPMOVMSKB(find(at(s, 0)), m.As32())
		VPMOVMSKB(find(at(s, 32)), m2.As32())
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
	ask(64, at(s, 0))
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
