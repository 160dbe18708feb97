package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A pair of bytes that follow each other is wrong in one of eight ways, each of which
// three halves of bytes tell: the upper and the lower one of the first byte, and the
// upper one of the second. Three look-ups, and-ed, leave the bits of what is wrong.
// Bit 7 alone is not wrong by itself: two continuations, as the third and the fourth
// byte of a code point must be.
var utf8Faults = [8]struct {
	upper, lower, second []span
}{
	{only(0xc, 0xf), only(0x0, 0xf), []span{{0x0, 0x7}, {0xc, 0xf}}}, // too short: no continuation after a lead
	{only(0x0, 0x7), only(0x0, 0xf), only(0x8, 0xb)},                 // too long: continuation after ASCII
	{only(0xe, 0xe), only(0x0, 0x0), only(0x8, 0x9)},                 // overlong, 3 bytes: E0 80–9F
	{only(0xf, 0xf), only(0x4, 0xf), only(0x9, 0xb)},                 // above 10FFFF: F4 90–BF, F5–FF
	{only(0xe, 0xe), only(0xd, 0xd), only(0xa, 0xb)},                 // surrogate: ED A0–BF
	{only(0xc, 0xc), only(0x0, 0x1), only(0x8, 0xb)},                 // overlong, 2 bytes: C0, C1
	{only(0xf, 0xf), []span{{0x0, 0x0}, {0x5, 0xf}}, only(0x8, 0x8)}, // overlong, 4 bytes: F0 80–8F; F5–FF 80–8F
	{only(0x8, 0xb), only(0x0, 0xf), only(0x8, 0xb)},                 // two continuations
}

// span is a range of halves of bytes, both ends in it.
type span struct{ first, last int }

func only(first, last int) []span { return []span{{first, last}} }

// utf8Check finds out what is wrong in vectors of bytes.
type utf8Check struct {
	isa
	upper, lower, second reg.VecVirtual // by halves of bytes: the faults that may be
	nibble, sign         reg.VecVirtual
	third, fourth        reg.VecVirtual // what makes bit 7 of leads of 3 and 4 bytes, subtracted
	faults               reg.VecVirtual // all so far
}

func newUTF8Check(i isa) utf8Check {
	var upper, lower, second [16]byte
	set := func(t *[16]byte, bit int, spans []span) {
		for _, s := range spans {
			for h := s.first; h <= s.last; h++ {
				t[h] |= 1 << bit
			}
		}
	}
	for bit, f := range utf8Faults {
		set(&upper, bit, f.upper)
		set(&lower, bit, f.lower)
		set(&second, bit, f.second)
	}
	return utf8Check{
		i,
		i.repeat(table("utf8Upper", upper[:])), i.repeat(table("utf8Lower", lower[:])), i.repeat(table("utf8Second", second[:])),
		i.splat(0x0f), i.splat(0x80),
		i.splat(0xe0 - 0x80), i.splat(0xf0 - 0x80),
		i.zero(),
	}
}

// check adds the faults of v, given the bytes one, two and three places before its own.
func (c utf8Check) check(v, before1, before2, before3 reg.VecVirtual) {
	f, l, u := c.vector(), c.vector(), c.isa.upper(before1, c.nibble)
	VPSHUFB(u, c.upper, f)
	c.and(c.nibble, before1, l)
	VPSHUFB(l, c.lower, l)
	c.and(l, f, f)
	u = c.isa.upper(v, c.nibble)
	VPSHUFB(u, c.second, u)
	c.and(u, f, f)
	// Where a third or fourth byte must be, and only there, two continuations follow
	// each other.
	VPSUBUSB(c.third, before2, before2)
	VPSUBUSB(c.fourth, before3, before3)
	c.or(before2, before3, before3)
	c.and(c.sign, before3, before3)
	c.xor(before3, f, f)
	c.or(f, c.faults, c.faults)
}

// checkAt checks the vector at disp from p, with three bytes before it to read.
func (c utf8Check) checkAt(p reg.Register, disp int) reg.VecVirtual {
	v := c.load(at(p, disp))
	c.check(v, c.load(at(p, disp-1)), c.load(at(p, disp-2)), c.load(at(p, disp-3)))
	return v
}

// checkFirst checks the vector at p with zeros before it.
func (c utf8Check) checkFirst(p reg.Register) {
	v, shifted := c.load(at(p, 0)), c.vector()
	VPERM2I128(U8(0x08), v, v, shifted)
	var before [3]reg.VecVirtual
	for k := range before {
		before[k] = c.vector()
		VPALIGNR(U8(15-k), shifted, v, before[k])
	}
	c.check(v, before[0], before[1], before[2])
}

func validUTF8() {
	i := avx2
	i.function("validUTF8", "func(s []byte) bool",
		"reports whether s has no fault but for a code point that its end cuts off;\ns has two vectors at least.")
	p, end := base("s"), length("s")
	c := newUTF8Check(i)
	start := GP64()
	MOVQ(p, start)
	ADDQ(p, end)
	next := GP64()
	acc := i.vector()
	// jumpIfASCII jumps if no byte of v is above 7F.
	jumpIfASCII := func(v reg.VecVirtual, to string) {
		VPTEST(v, c.sign)
		JZ(LabelRef(to))
	}
	const group = 4
	size := i.size
	JMP(LabelRef("ascii"))

	Comment("All before p is ASCII.")
	Label("ascii4")
	ADDQ(U32(uint32(group*size)), p)
	Label("ascii")
	LEAQ(at(p, group*size), next)
	CMPQ(next, end)
	JA(LabelRef("ascii1"))
	i.move(at(p, 0), acc)
	for k := 1; k < group; k++ {
		i.or(at(p, k*size), acc, acc)
	}
	jumpIfASCII(acc, "ascii4")
	JMP(LabelRef("mixed"))
	Label("asciiNext")
	ADDQ(U32(uint32(size)), p)
	Label("ascii1")
	LEAQ(at(p, size), next)
	CMPQ(next, end)
	JA(LabelRef("asciiLast"))
	i.move(at(p, 0), acc)
	jumpIfASCII(acc, "asciiNext")
	JMP(LabelRef("mixed"))
	Label("asciiLast")
	LEAQ(at(end, -size), p)
	i.move(at(p, 0), acc)
	jumpIfASCII(acc, "done")
	c.checkAt(p, 0)
	JMP(LabelRef("done"))

	Comment("Not ASCII from p on; the first vector has nothing before it.")
	Label("mixed")
	CMPQ(p, start)
	JNE(LabelRef("pair"))
	c.checkFirst(p)
	ADDQ(U32(uint32(size)), p)

	Comment("A pair that is ASCII is checked all the same: the code point before it may be cut off.")
	Label("pair")
	LEAQ(at(p, 2*size), next)
	CMPQ(next, end)
	JA(LabelRef("last"))
	v, w := c.checkAt(p, 0), c.checkAt(p, size)
	MOVQ(next, p)
	i.or(v, w, w)
	jumpIfASCII(w, "ascii")
	JMP(LabelRef("pair"))
	Label("last")
	LEAQ(at(p, size), next)
	CMPQ(next, end)
	JA(LabelRef("overlap"))
	c.checkAt(p, 0)
	Label("overlap")
	LEAQ(at(end, -size), p)
	c.checkAt(p, 0)
	Label("done")
	ok := GP64()
	VPTEST(c.faults, c.faults)
	SETEQ(ok.As8())
	Store(ok.As8(), ReturnIndex(0))
	ret()
}
