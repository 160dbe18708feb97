package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func matchViews(i isa) {
	i.function("matchViews", "func(dst *uint64, views *[2]uint64, groups int, key, mask uint64)",
		"sets 8 bits of dst for each group of 8 views.")
	dst, views, n := pointer("dst"), pointer("views"), pointer("groups")
	key, mask := i.vector(), i.vector()
	VPBROADCASTQ(parameter(Param("key")), key)
	VPBROADCASTQ(parameter(Param("mask")), mask)
	m := GP64()
	var first reg.VecVirtual
	if i.wide() {
		first = i.load(table("firstWords", words(0, 2, 4, 6, 8, 10, 12, 14)))
	}
	Label("group")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	ask(128, at(views, 0))
	if i.wide() {
		v, k := i.load(at(views, 0)), K()
		VPERMT2Q(at(views, 64), first, v)
		VPANDQ(mask, v, v)
		VPCMPEQQ(key, v, k)
		KMOVB(k, m.As32())
	} else {
		// Views 4 apart in the halves of a vector, so that the bits come out in order.
		pair := func(disp int) reg.VecVirtual {
			x, y := YMM(), YMM()
			VMOVDQU(at(views, disp), x.AsX())
			VINSERTI128(U8(1), at(views, disp+64), x, x)
			VMOVDQU(at(views, disp+16), y.AsX())
			VINSERTI128(U8(1), at(views, disp+80), y, y)
			VPUNPCKLQDQ(y, x, x)
			VPAND(mask, x, x)
			VPCMPEQQ(key, x, x)
			return x
		}
		x, y := pair(0), pair(32)
		VSHUFPS(U8(0x88), y, x, x)
		VMOVMSKPS(x, m.As32())
	}
	MOVB(m.As8(), at(dst, 0))
	ADDQ(U8(128), views)
	INCQ(dst)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	ret()
}

// words returns the bytes of 64-bit words.
func words(w ...byte) []byte {
	b := make([]byte, 8*len(w))
	for k := range w {
		b[8*k] = w[k]
	}
	return b
}

func diffViews(i isa) {
	i.function("diffViews", "func(a, b *[2]uint64, groups int, shift uint64) int",
		"returns how many groups of 8 views agree before the first that does not.")
	a, b, n := pointer("a"), pointer("b"), pointer("groups")
	g, shift, o := GP64(), pointer("shift"), GP64()
	XORL(g.As32(), g.As32())
	XORL(o.As32(), o.As32())
	place := func(r reg.Register, disp int) Mem { return Mem{Base: r, Index: o, Scale: 1, Disp: disp} }
	vectors := 128 / i.size
	// next goes on to the next group, unless what differs in this one has a bit set.
	next := func(loop string, differ []reg.VecVirtual) {
		for len(differ) > 1 {
			h := len(differ) / 2
			for k := range h {
				i.or(differ[k+h], differ[k], differ[k])
			}
			differ = differ[:h]
		}
		if i.wide() {
			k := K()
			VPTESTMQ(differ[0], differ[0], k)
			KTESTB(k, k)
		} else {
			VPTEST(differ[0], differ[0])
		}
		JNZ(LabelRef("done"))
		SUBQ(I32(-128), o)
		INCQ(g)
		CMPQ(g, n)
		JB(LabelRef(loop))
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	TESTQ(shift, shift)
	JNZ(LabelRef("shifted"))
	differ := make([]reg.VecVirtual, vectors)
	Label("same")
	ask(128, place(a, 0), place(b, 0))
	for k := range differ {
		differ[k] = i.load(place(a, k*i.size))
		i.xor(place(b, k*i.size), differ[k], differ[k])
	}
	next("same", differ)
	JMP(LabelRef("done"))

	Label("shifted")
	long := i.vector() // 13, the shortest length whose string is elsewhere
	VPBROADCASTD(constant(U32(13)), long)
	shifts := i.vector() // 0, shift, 0, shift, ...
	VPBROADCASTQ(parameter(Param("shift")), shifts)
	i.and(i.repeat(table("secondWord", []byte{8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff})), shifts, shifts)
	Label("group")
	ask(128, place(a, 0), place(b, 0))
	for k := range differ {
		x, l := i.load(place(a, k*i.size)), i.vector()
		VPSHUFD(U8(0), x, l)
		if i.wide() {
			m := K()
			VPCMPUD(U8(5), long, l, m)
			s := i.vector()
			VMOVDQU32_Z(shifts, m, s)
			VPADDQ(s, x, x)
		} else {
			s := i.vector()
			VPMAXUD(long, l, s)
			VPCMPEQD(s, l, l)
			i.and(shifts, l, l)
			VPADDQ(l, x, x)
		}
		i.xor(place(b, k*i.size), x, x)
		differ[k] = x
	}
	next("group", differ)
	Label("done")
	Store(g, ReturnIndex(0))
	ret()
}

func sumLengths() {
	i := avx2
	i.function("sumLengths", "func(views *[2]uint64, groups int) uint64",
		"adds the lengths of groups of 8 views.")
	views, n := pointer("views"), pointer("groups")
	length := i.repeat(table("lengthOnly", []byte{0xff, 0xff, 0xff, 0xff, 15: 0}))
	sums := make([]reg.VecVirtual, 128/i.size)
	for k := range sums {
		sums[k] = i.zero()
	}
	v := i.vector()
	Label("group")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	for k := range sums {
		i.and(at(views, k*i.size), length, v)
		VPADDQ(v, sums[k], sums[k])
	}
	SUBQ(I32(-128), views)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	for _, s := range sums[1:] {
		VPADDQ(s, sums[0], sums[0])
	}
	sum := GP64()
	addLanes(sums[0])
	VMOVQ(sums[0].AsX(), sum)
	Store(sum, ReturnIndex(0))
	ret()
}
