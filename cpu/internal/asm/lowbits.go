package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func countLowBits() {
	i := avx2
	i.function("countLowBits", "func(counts *[8]int, s *byte, blocks int)",
		"adds the last bytes of code points in whole blocks, for each set of the lowest\nthree bits those that have all of them; it reads one byte behind the blocks.")
	s, n := pointer("s"), pointer("blocks")
	first := i.splat(0xc0) // above all bytes that go on with a code point
	var counts [8]reg.GPVirtual
	for k := range counts {
		counts[k] = GP64()
		XORL(counts[k].As32(), counts[k].As32())
	}
	upper, x := GP64(), i.vector()
	// mask sets m to the upper bits of what f computes of each half.
	mask := func(m reg.GPVirtual, f func(h int)) {
		f(1)
		VPMOVMSKB(x, upper.As32())
		f(0)
		VPMOVMSKB(x, m.As32())
		SHLQ(U8(32), upper)
		ORQ(upper, m)
	}
	last := GP64()
	// In place: on many processors POPCNT waits for what was in its result.
	add := func(set int, m reg.GPVirtual) {
		POPCNTQ(m, m)
		ADDQ(m, counts[set])
	}
	Label("block")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	mask(last, func(h int) {
		VMOVDQU(at(s, 32*h+1), x)
		VPCMPGTB(x, first, x)
	})
	NOTQ(last)
	v := [2]reg.VecVirtual{i.load(at(s, 0)), i.load(at(s, 32))}
	var bit [3]reg.GPVirtual
	for b := range bit {
		bit[b] = GP64()
		mask(bit[b], func(h int) { VPSLLW(U8(7-b), v[h], x) })
		ANDQ(last, bit[b])
	}
	add(0, last)
	all := GP64()
	for _, set := range [][]int{{0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
		MOVQ(bit[set[0]], all)
		n := 1 << set[0]
		for _, b := range set[1:] {
			ANDQ(bit[b], all)
			n |= 1 << b
		}
		add(n, all)
	}
	for b := range bit {
		add(1<<b, bit[b])
	}
	ADDQ(U8(64), s)
	DECQ(n)
	JMP(LabelRef("block"))
	Label("done")
	c := pointer("counts")
	for k := range counts {
		ADDQ(counts[k], at(c, 8*k))
	}
	ret()
}
