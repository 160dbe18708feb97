package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte values as rectangles of upper × lower halves. Two look-ups, by the one and by
// the other, and-ed, give the bit of the rectangle that a byte of ASCII lies in, if any.
// The order makes those that are keys, and among them those that are letters and
// digits, the greatest numbers.
const (
	rectSpace      = 1 << iota // 20
	rectControl                // 09–0D
	rectColon                  // 3A
	rectUnderscore             // 5F
	rectDashDot                // 2D 2E
	rectDigit                  // 30–39
	rectPZ                     // 50–5A 70–7A
	rectAO                     // 41–4F 61–6F
)

var rectangles = []struct {
	bit         byte
	upper       []int
	first, last int // lower halves
}{
	{rectSpace, []int{2}, 0x0, 0x0},
	{rectControl, []int{0}, 0x9, 0xd},
	{rectColon, []int{3}, 0xa, 0xa},
	{rectUnderscore, []int{5}, 0xf, 0xf},
	{rectDashDot, []int{2}, 0xd, 0xe},
	{rectDigit, []int{3}, 0x0, 0x9},
	{rectPZ, []int{5, 7}, 0x0, 0xa},
	{rectAO, []int{4, 6}, 0x1, 0xf},
}

// classLookup finds out the rectangles of bytes.
type classLookup struct {
	isa
	lower, upper, nibble reg.VecVirtual
}

func newClassLookup(i isa) classLookup {
	var lower, upper [16]byte
	for _, r := range rectangles {
		for l := r.first; l <= r.last; l++ {
			lower[l] |= r.bit
		}
		for _, u := range r.upper {
			upper[u] |= r.bit
		}
	}
	return classLookup{i, i.repeat(table("classLower", lower[:])), i.repeat(table("classUpper", upper[:])), i.splat(0x0f)}
}

// of returns the rectangle of each byte of v. The look-up by lower halves gives 0 for
// bytes from 80 on, as VPSHUFB does.
func (t classLookup) of(v reg.VecVirtual) reg.VecVirtual {
	r, u := t.vector(), t.isa.upper(v, t.nibble)
	VPSHUFB(v, t.lower, r)
	VPSHUFB(u, t.upper, u)
	t.and(u, r, r)
	return r
}

// spaceByLower holds the white space with each lower half, FF where there is none.
func spaceByLower() Mem {
	return table("spaceByLower", []byte{
		' ', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '\t', '\n', '\v', '\f', '\r', 0xff, 0xff,
	})
}

// Places of the masks in a block.
const (
	maskSpace = 8 * iota
	maskAlnum
	maskDigit
	maskAt
	maskDot
	maskColon
	maskKey
	maskNonASCII
	blockBytes
)

func classifyAVX2() {
	i := avx2
	i.function("classify", "func(dst, union *[8]uint64, s *byte, blocks int)",
		"computes the masks of whole blocks, and ors them to union.")
	lookup := newClassLookup(i)
	spaces := i.repeat(spaceByLower())
	alnum, key := i.splat(0x80-rectDigit), i.splat(0x80-rectUnderscore)
	signs := []struct {
		disp int
		char reg.VecVirtual
	}{{maskAt, i.splat('@')}, {maskDot, i.splat('.')}, {maskColon, i.splat(':')}}
	dst, s, n := pointer("dst"), pointer("s"), pointer("blocks")
	var union [8]reg.GPVirtual
	for k := range union {
		union[k] = GP64()
		XORL(union[k].As32(), union[k].As32())
	}
	Label("block")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	v := [2]reg.VecVirtual{i.load(at(s, 0)), i.load(at(s, 32))}
	r := [2]reg.VecVirtual{lookup.of(v[0]), lookup.of(v[1])}
	// mask stores the upper bits of what f computes of each half.
	mask := func(disp int, f func(h int) reg.VecVirtual) {
		a, b := GP64(), GP64()
		VPMOVMSKB(f(1), b.As32())
		VPMOVMSKB(f(0), a.As32())
		SHLQ(U8(32), b)
		ORQ(a, b)
		MOVQ(b, at(dst, disp))
		ORQ(b, union[disp/8])
	}
	x := i.vector()
	mask(maskNonASCII, func(h int) reg.VecVirtual { return v[h] })
	mask(maskSpace, func(h int) reg.VecVirtual {
		VPSHUFB(v[h], spaces, x)
		VPCMPEQB(x, v[h], x)
		return x
	})
	mask(maskAlnum, func(h int) reg.VecVirtual { VPADDUSB(alnum, r[h], x); return x })
	mask(maskKey, func(h int) reg.VecVirtual { VPADDUSB(key, r[h], x); return x })
	mask(maskDigit, func(h int) reg.VecVirtual { VPSLLW(U8(2), r[h], x); return x })
	for _, sign := range signs {
		mask(sign.disp, func(h int) reg.VecVirtual { VPCMPEQB(sign.char, v[h], x); return x })
	}
	ADDQ(U8(64), s)
	ADDQ(U8(blockBytes), dst)
	DECQ(n)
	JMP(LabelRef("block"))
	Label("done")
	u := pointer("union")
	for k := range union {
		ORQ(union[k], at(u, 8*k))
	}
	ret()
}

func classifyAVX512() {
	i := avx512
	i.function("classify", "func(dst, union *[8]uint64, s *byte, n int)",
		"computes the masks of n bytes, and ors them to union.")
	lookup := newClassLookup(i)
	tests := []struct {
		disp int
		bits reg.VecVirtual
	}{
		{maskSpace, i.splat(rectSpace | rectControl)},
		{maskAlnum, i.splat(rectAO | rectPZ | rectDigit)},
		{maskDigit, i.splat(rectDigit)},
		{maskColon, i.splat(rectColon)},
		{maskKey, i.splat(rectAO | rectPZ | rectDigit | rectDashDot | rectUnderscore)},
	}
	signs := []struct {
		disp  int
		char  reg.VecVirtual
		union reg.OpmaskVirtual
	}{{maskAt, i.splat('@'), K()}, {maskDot, i.splat('.'), K()}}
	dst, s, n := pointer("dst"), pointer("s"), pointer("n")
	for _, sign := range signs {
		KXORQ(sign.union, sign.union, sign.union)
	}
	rects, bytes := i.zero(), i.zero()
	v := i.vector()
	k := K()
	Label("block")
	CMPQ(n, U8(64))
	JB(LabelRef("tail"))
	VMOVDQU64(at(s, 0), v)
	Label("masks")
	r := lookup.of(v)
	i.or(r, rects, rects)
	i.or(v, bytes, bytes)
	for _, t := range tests {
		VPTESTMB(t.bits, r, k)
		KMOVQ(k, at(dst, t.disp))
	}
	for _, sign := range signs {
		VPCMPEQB(sign.char, v, k)
		KMOVQ(k, at(dst, sign.disp))
		KORQ(k, sign.union, sign.union)
	}
	VPMOVB2M(v, k)
	KMOVQ(k, at(dst, maskNonASCII))
	ADDQ(U8(64), s)
	ADDQ(U8(blockBytes), dst)
	SUBQ(U8(64), n)
	JA(LabelRef("block"))
	Label("union")
	u, m := pointer("union"), GP64()
	or := func(disp int) {
		KMOVQ(k, m)
		ORQ(m, at(u, disp))
	}
	for _, t := range tests {
		VPTESTMB(t.bits, rects, k)
		or(t.disp)
	}
	for _, sign := range signs {
		KMOVQ(sign.union, m)
		ORQ(m, at(u, sign.disp))
	}
	VPMOVB2M(bytes, k)
	or(maskNonASCII)
	ret()
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("union"))
	MOVQ(I32(-1), m)
	BZHIQ(n, m, m)
	KMOVQ(m, k)
	VMOVDQU8_Z(at(s, 0), k, v)
	JMP(LabelRef("masks"))
}

// The counts of countClasses.
const (
	countLetters = 8 * iota
	countDigits
	countSpaces
	countNonASCII
	countLines
)

func countClasses() {
	i := avx2
	i.function("countClasses", "func(counts *[5]uint64, s *byte, vectors int)",
		"adds the numbers of letters, digits, spaces, non-ASCII and lines of at most 255\nvectors.")
	s, n := pointer("s"), pointer("vectors")
	spaces := i.repeat(spaceByLower())
	lowercase, a, letters := i.splat(0x20), i.splat('a'), i.splat('z'-'a')
	zero, digits, line := i.splat('0'), i.splat('9'-'0'), i.splat('\n')
	x := i.vector()
	var counts [5]reg.VecVirtual // of bytes, for as long as none overflows
	for k := range counts {
		counts[k] = i.zero()
	}
	none := i.zero()
	// Members of a class are FF in x, which is -1.
	count := func(disp int) { VPSUBB(x, counts[disp/8], counts[disp/8]) }
	Label("vector")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	v := i.load(at(s, 0))
	y := i.vector()
	i.or(lowercase, v, y)
	VPSUBB(a, y, y)
	VPMINUB(letters, y, x)
	VPCMPEQB(x, y, x)
	count(countLetters)
	VPSUBB(zero, v, y)
	VPMINUB(digits, y, x)
	VPCMPEQB(x, y, x)
	count(countDigits)
	VPSHUFB(v, spaces, x)
	VPCMPEQB(x, v, x)
	count(countSpaces)
	VPCMPGTB(v, none, x)
	count(countNonASCII)
	VPCMPEQB(line, v, x)
	count(countLines)
	ADDQ(U8(32), s)
	DECQ(n)
	JMP(LabelRef("vector"))
	Label("done")
	c := pointer("counts")
	for k := range counts {
		VPSADBW(none, counts[k], counts[k])
		addLanes(counts[k])
		t := GP64()
		VMOVQ(counts[k].AsX(), t)
		ADDQ(t, at(c, 8*k))
	}
	ret()
}

// addLanes adds the four words of v, a YMM register, to its first.
func addLanes(v reg.VecVirtual) {
	h := XMM()
	VEXTRACTI128(U8(1), v, h)
	VPADDQ(v.AsX(), h, v.AsX())
	VPSHUFD(U8(0xee), v.AsX(), h)
	VPADDQ(v.AsX(), h, v.AsX())
}
