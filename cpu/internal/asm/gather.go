package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	viewBytes   = 16
	maxInline   = 12 // the longest string that lies in its view
	shortString = 64 // the longest string that is copied as that many bytes
)

func gather() {
	i := avx2
	i.function("gather", "func(dst []byte, ends *uint32, views [][2]uint64, buffers [][]byte, start int) (done, end int)",
		"copies strings to dst from start on, until one has not the room that copies of\nfixed size need, and returns how many it copied and where they end.")
	dst, last := base("dst"), length("dst")
	ADDQ(dst, last)
	ends := pointer("ends")
	view, viewEnd := base("views"), length("views")
	SHLQ(U8(4), viewEnd)
	ADDQ(view, viewEnd)
	to := pointer("start")
	ADDQ(dst, to)
	size, buffer, from, t := GP64(), GP64(), GP64(), GP64()
	x := XMM()
	// end notes that a string ends at place.
	end := func(place reg.GPVirtual) {
		MOVQ(place, t)
		SUBQ(dst, t)
		MOVL(t.As32(), at(ends, 0))
		ADDQ(U8(4), ends)
	}
	// find makes buffer the address of its slice, and goes to the end if there is none.
	find := func() {
		CMPQ(buffer, parameter(Param("buffers").Len()))
		JAE(LabelRef("done"))
		LEAQ(Mem{Base: buffer, Index: buffer, Scale: 2}, buffer)
		SHLQ(U8(3), buffer)
		ADDQ(parameter(Param("buffers").Base()), buffer)
	}
	// room goes to the end unless dst has n bytes from to on.
	room := func(n int) {
		LEAQ(at(to, n), t)
		CMPQ(t, last)
		JA(LabelRef("done"))
	}

	Comment("A string by what it is: the way for columns of one kind.")
	Label("string")
	CMPQ(view, viewEnd)
	JAE(LabelRef("done"))
	MOVL(at(view, 0), size.As32())
	CMPL(size.As32(), U8(maxInline))
	JA(LabelRef("long"))
	room(16)
	VMOVDQU(at(view, 0), x)
	VPSRLDQ(U8(4), x, x)
	VMOVDQU(x, at(to, 0))
	ADDQ(size, to)
	end(to)
	ADDQ(U8(viewBytes), view)
	JMP(LabelRef("string"))

	Label("long")
	MOVL(at(view, 8), buffer.As32())
	MOVL(at(view, 12), from.As32())
	find()
	CMPQ(size, U8(shortString))
	JA(LabelRef("piece"))
	room(shortString)
	LEAQ(at(from, shortString), t)
	CMPQ(t, at(buffer, 16))
	JA(LabelRef("done"))
	ADDQ(at(buffer, 0), from)
	i.copy(from, to, shortString)
	ADDQ(size, to)
	end(to)
	ADDQ(U8(viewBytes), view)

	Comment("A short string without asking whether it lies in its view.")
	history, inView := GP64(), GP64()
	MOVQ(U32(1), history) // of the last strings, a bit for each that is not in its view
	Label("short")
	LEAQ(at(view, (4+shortString+viewBytes-1)/viewBytes*viewBytes), t)
	CMPQ(t, viewEnd)
	JA(LabelRef("string"))
	MOVL(at(view, 0), size.As32())
	CMPL(size.As32(), U8(shortString))
	JA(LabelRef("string"))
	room(shortString)
	MOVL(at(view, 8), buffer.As32())
	MOVL(at(view, 12), from.As32())
	none, nowhere := GP64(), GP64()
	XORL(none.As32(), none.As32())
	MOVQ(I32(-shortString), nowhere)
	LEAQ(at(view, 4), inView)
	CMPL(size.As32(), U8(maxInline))
	CMOVLLS(none.As32(), buffer.As32())
	CMOVQLS(nowhere, from)
	find()
	LEAQ(at(from, shortString), t)
	CMPQ(t, at(buffer, 16))
	JA(LabelRef("done"))
	ADDQ(at(buffer, 0), from)
	MOVQ(U32(maxInline), t)
	CMPL(t.As32(), size.As32())
	CMOVQCC(inView, from)
	ADCL(history.As32(), history.As32())
	i.copy(from, to, shortString)
	ADDQ(size, to)
	end(to)
	ADDQ(U8(viewBytes), view)
	TESTB(U8(0xff), history.As8())
	JNZ(LabelRef("short"))
	JMP(LabelRef("string"))

	Comment("A long string, and those that follow it in its buffer.")
	Label("piece")
	follow, n, first, place := GP64(), GP64(), GP64(), GP64()
	XORL(n.As32(), n.As32())
	MOVQ(view, first)
	MOVQ(to, place)
	MOVQ(at(view, 8), follow)
	Label("join")
	ADDQ(size, n)
	ADDQ(size, place)
	end(place)
	ADDQ(U8(viewBytes), view)
	CMPQ(view, viewEnd)
	JAE(LabelRef("joined"))
	SHLQ(U8(32), size)
	ADDQ(size, follow)
	JCS(LabelRef("joined"))
	CMPQ(follow, at(view, 8))
	JNE(LabelRef("joined"))
	MOVL(at(view, 0), size.As32())
	CMPL(size.As32(), U8(maxInline))
	JA(LabelRef("join"))
	Label("joined")
	LEAQ(Mem{Base: from, Index: n, Scale: 1}, t)
	CMPQ(t, at(buffer, 16))
	JA(LabelRef("undo"))
	MOVQ(last, t)
	SUBQ(to, t)
	CMPQ(n, t)
	JA(LabelRef("undo"))
	ADDQ(at(buffer, 0), from)
	rest := GP64()
	MOVQ(n, rest)
	Label("group")
	SUBQ(U32(128), rest)
	JLE(LabelRef("tail"))
	i.copy(from, to, 128)
	SUBQ(I32(-128), from)
	SUBQ(I32(-128), to)
	JMP(LabelRef("group"))
	Label("tail")
	Comment("rest is what is left, less 128.")
	CMPQ(rest, I32(-64))
	JLE(LabelRef("tail64"))
	i.copy(from, to, 64)
	Label("tail64")
	ADDQ(rest, from)
	ADDQ(rest, to)
	i.copyFrom(from, to, 64, 64)
	SUBQ(I32(-128), to)
	JMP(LabelRef("string"))
	Label("undo")
	MOVQ(first, view)
	Label("done")
	SUBQ(base("views"), view)
	SHRQ(U8(4), view)
	Store(view, Return("done"))
	SUBQ(dst, to)
	Store(to, Return("end"))
	ret()
}

// copy copies n bytes.
func (i isa) copy(from, to reg.Register, n int) { i.copyFrom(from, to, 0, n) }

// copyFrom copies n bytes at disp: all are read before any is written.
func (i isa) copyFrom(from, to reg.Register, disp, n int) {
	v := make([]reg.VecVirtual, n/i.size)
	for k := range v {
		v[k] = i.load(at(from, disp+k*i.size))
	}
	for k := range v {
		i.move(v[k], at(to, disp+k*i.size))
	}
}
