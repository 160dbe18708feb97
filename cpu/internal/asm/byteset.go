package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byteSet looks up which bytes are in a set: the lower half of a byte chooses which
// upper halves are members with it, the upper half which of these bits counts.
type byteSet struct {
	isa
	low, high reg.VecVirtual // by lower half: upper halves 0–7, 8–15
	bit       reg.VecVirtual // by upper half: its bit in low or high
	nibble    reg.VecVirtual
	sign      reg.VecVirtual
}

func newByteSet(i isa, tables string) byteSet {
	t := pointer(tables)
	return byteSet{
		i, i.repeat(at(t, 0)), i.repeat(at(t, 16)),
		i.repeat(table("upperBit", []byte{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128})),
		i.splat(0x0f), i.splat(0x80),
	}
}

// mask sets the lower half of m to which bytes of v are members.
func (t byteSet) mask(v reg.VecVirtual, m reg.GPVirtual) {
	l, h, own := t.vector(), t.vector(), t.upper(v, t.nibble)
	VPSHUFB(v, t.low, l) // 0 for bytes from 80 on
	t.xor(t.sign, v, h)
	VPSHUFB(h, t.high, h) // 0 for bytes below 80
	t.or(l, h, h)
	VPSHUFB(own, t.bit, own)
	t.and(own, h, h)
	VPCMPEQB(own, h, h)
	VPMOVMSKB(h, m.As32())
}

func indexAny() {
	i := avx2
	i.function("indexAny", "func(s []byte, tables *[32]byte) int",
		"returns the place of the first byte of s that is in the set; s has 32 bytes at least.")
	s, n := base("s"), length("s")
	set := newByteSet(i, "tables")
	m, m2, o, next := GP64(), GP64(), GP64(), GP64()
	// The first vector apart: strings often end there.
	set.mask(i.load(at(s, 0)), m)
	XORL(o.As32(), o.As32())
	TESTL(m.As32(), m.As32())
	JNZ(LabelRef("found"))
	MOVQ(U32(32), o)
	Label("pair")
	LEAQ(at(o, 64), next)
	CMPQ(next, n)
	JA(LabelRef("last"))
	set.mask(i.load(Mem{Base: s, Index: o, Scale: 1}), m)
	set.mask(i.load(Mem{Base: s, Index: o, Scale: 1, Disp: 32}), m2)
	SHLQ(U8(32), m2)
	ORQ(m2, m)
	JNZ(LabelRef("found"))
	MOVQ(next, o)
	JMP(LabelRef("pair"))
	Label("last")
	Comment("Less than 64 bytes: one vector, and the last of s.")
	LEAQ(at(o, 32), next)
	CMPQ(next, n)
	JA(LabelRef("end"))
	set.mask(i.load(Mem{Base: s, Index: o, Scale: 1}), m)
	TESTL(m.As32(), m.As32())
	JNZ(LabelRef("found"))
	Label("end")
	LEAQ(at(n, -32), o)
	set.mask(i.load(Mem{Base: s, Index: o, Scale: 1}), m)
	TESTL(m.As32(), m.As32())
	JNZ(LabelRef("found"))
	Store(n, ReturnIndex(0))
	ret()
	Label("found")
	TZCNTQ(m, m)
	ADDQ(m, o)
	Store(o, ReturnIndex(0))
	ret()
}

func maskAny() {
	i := avx2
	i.function("maskAny", "func(dst *uint64, s *byte, words int, tables *[32]byte)",
		"sets the bits of the members among 64 bytes a word.")
	dst, s, n := pointer("dst"), pointer("s"), pointer("words")
	set := newByteSet(i, "tables")
	m, m2 := GP64(), GP64()
	Label("word")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	set.mask(i.load(at(s, 0)), m)
	set.mask(i.load(at(s, 32)), m2)
	SHLQ(U8(32), m2)
	ORQ(m2, m)
	MOVQ(m, at(dst, 0))
	ADDQ(U8(64), s)
	ADDQ(U8(8), dst)
	DECQ(n)
	JMP(LabelRef("word"))
	Label("done")
	ret()
}
