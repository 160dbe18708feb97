package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// oneWords is the number of words that selectOnes looks at together.
const oneWords = 4

// fewOnes is the number of set bits up to which a word is taken bit by bit, as many of
// them as that or fewestOnes without a branch on how many there are.
const (
	fewestOnes = 2
	fewOnes    = 8
)

func selectOnes() {
	i := avx2
	i.function("selectOnes", "func(dst []uint32, words *uint64, groups int, base uint32) (n, done int)",
		"takes groups of 4 words as long as dst has room for their ones and 8 more,\nand returns how many ones and groups there were.")
	dst, size := base("dst"), length("dst")
	w, groups := pointer("words"), pointer("groups")
	first := Load(Param("base"), GP32()).(reg.GPVirtual)
	n, done := GP64(), GP64()
	XORL(n.As32(), n.As32())
	XORL(done.As32(), done.As32())
	ones := Mem{Base: dst, Index: n, Scale: 4}
	Label("group")
	CMPQ(done, groups)
	JE(LabelRef("end"))
	v := YMM()
	VMOVDQU(at(w, 0), v)
	VPTEST(v, v)
	JZ(LabelRef("next"))
	count, room := GP64(), GP64()
	LEAQ(at(n, fewOnes), room)
	for k := range oneWords {
		POPCNTQ(at(w, 8*k), count)
		ADDQ(count, room)
	}
	CMPQ(room, size)
	JA(LabelRef("end"))
	for k := range oneWords {
		few, many, wordDone := label("few", k), label("many", k), label("word", k)
		word, place := GP64(), GP64()
		MOVQ(at(w, 8*k), word)
		POPCNTQ(word, count)
		bits := func(from, to int) {
			for j := from; j < to; j++ {
				TZCNTQ(word, place)
				ADDL(first, place.As32())
				MOVL(place.As32(), ones.Offset(4*j))
				BLSRQ(word, word)
			}
		}
		CMPQ(count, U8(fewOnes))
		JA(LabelRef(many))
		bits(0, fewestOnes)
		CMPQ(count, U8(fewestOnes))
		JBE(LabelRef(few))
		bits(fewestOnes, fewOnes)
		Label(few)
		ADDQ(count, n)
		JMP(LabelRef(wordDone))
		Label(many)
		i.selectMany(word, first, n, ones)
		Label(wordDone)
		ADDL(U8(64), first)
	}
	JMP(LabelRef("taken"))
	Label("next")
	ADDL(U32(64*oneWords), first)
	Label("taken")
	ADDQ(U8(8*oneWords), w)
	INCQ(done)
	JMP(LabelRef("group"))
	Label("end")
	Store(n, Return("n"))
	Store(done, Return("done"))
	ret()
}

func label(name string, k int) string { return name + string(rune('0'+k)) }

// selectMany writes the places of the ones of a word, byte by byte.
func (i isa) selectMany(word, first, n reg.GPVirtual, ones Mem) {
	t := GP64()
	LEAQ(onesOfByte(), t)
	places, offset, piece := i.vector(), i.vector(), GP64()
	VMOVD(first, places.AsX())
	VPBROADCASTD(places.AsX(), places)
	VPBROADCASTD(constant(U32(8)), offset)
	for j := range 8 {
		out := i.vector()
		MOVBLZX(word.As8(), piece.As32())
		VPMOVZXBD(Mem{Base: t, Index: piece, Scale: 8}, out)
		VPADDD(places, out, out)
		VMOVDQU(out, ones)
		POPCNTQ(piece, piece)
		ADDQ(piece, n)
		if j < 7 {
			VPADDD(offset, places, places)
			SHRQ(U8(8), word)
		}
	}
}

// onesOfByte holds for each byte the places of its set bits, one byte each.
func onesOfByte() Mem {
	t := make([]byte, 256*8)
	for b := range 256 {
		var places uint64
		n := 0
		for k := range 8 {
			if b>>k&1 != 0 {
				places |= uint64(k) << (8 * n)
				n++
			}
		}
		binary.LittleEndian.PutUint64(t[8*b:], places)
	}
	return table("onesOfByte", t)
}

func countOnes() {
	i := avx2
	i.function("countOnes", "func(words *uint64, groups int) int",
		"counts the ones of groups of four vectors: those of each half of a byte by\nlook-up (W. Muła, N. Kurz and D. Lemire, Faster Population Counts Using AVX2\nInstructions, The Computer Journal 61, 2018).")
	w, n := pointer("words"), pointer("groups")
	ones := i.repeat(table("onesOfHalf", []byte{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}))
	nibble, none, sum := i.splat(0x0f), i.zero(), i.zero()
	Label("group")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	bytes := make([]reg.VecVirtual, 4)
	for k := range bytes {
		v, l := i.load(at(w, k*i.size)), i.vector()
		i.and(nibble, v, l)
		h := i.upper(v, nibble)
		VPSHUFB(l, ones, l)
		VPSHUFB(h, ones, h)
		VPADDB(l, h, h)
		bytes[k] = h
	}
	VPADDB(bytes[1], bytes[0], bytes[0])
	VPADDB(bytes[3], bytes[2], bytes[2])
	VPADDB(bytes[2], bytes[0], bytes[0])
	VPSADBW(none, bytes[0], bytes[0])
	VPADDQ(bytes[0], sum, sum)
	ADDQ(U32(4*i.size), w)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	addLanes(sum)
	total := GP64()
	VMOVQ(sum.AsX(), total)
	Store(total, ReturnIndex(0))
	ret()
}
