package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a set of instructions: what it calls the same operation on its vectors.
type isa struct {
	suffix string // of function names
	size   int    // of a vector, in bytes
}

var (
	avx2   = isa{"AVX2", 32}
	avx512 = isa{"AVX512", 64}
)

func (i isa) wide() bool { return i == avx512 }

// function begins a function; its arguments do not escape.
func (i isa) function(name, signature, doc string) {
	TEXT(name+i.suffix, attr.NOSPLIT, signature)
	Pragma("noescape")
	Doc(strings.Split(name+i.suffix+" "+doc, "\n")...)
}

func (i isa) vector() reg.VecVirtual {
	if i.wide() {
		return ZMM()
	}
	return YMM()
}

// load loads a vector from anywhere.
func (i isa) load(from Mem) reg.VecVirtual {
	v := i.vector()
	i.move(from, v)
	return v
}

// move moves a vector between a register and memory.
func (i isa) move(from, to Op) {
	if i.wide() {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// and sets z = y & x; x may be in memory.
func (i isa) and(x, y, z Op) {
	if i.wide() {
		VPANDQ(x, y, z)
	} else {
		VPAND(x, y, z)
	}
}

// or sets z = y | x; x may be in memory.
func (i isa) or(x, y, z Op) {
	if i.wide() {
		VPORQ(x, y, z)
	} else {
		VPOR(x, y, z)
	}
}

// xor sets z = y ^ x; x may be in memory.
func (i isa) xor(x, y, z Op) {
	if i.wide() {
		VPXORQ(x, y, z)
	} else {
		VPXOR(x, y, z)
	}
}

// zero returns a vector of zeros.
func (i isa) zero() reg.VecVirtual {
	v := i.vector()
	i.xor(v, v, v)
	return v
}

// repeat returns a vector of the 16 bytes at from, again and again.
func (i isa) repeat(from Mem) reg.VecVirtual {
	v := i.vector()
	if i.wide() {
		VBROADCASTI32X4(from, v)
	} else {
		VBROADCASTI128(from, v)
	}
	return v
}

// splat returns a vector of the byte b.
func (i isa) splat(b byte) reg.VecVirtual {
	v := i.vector()
	VPBROADCASTB(constant(U8(b)), v)
	return v
}

// upper returns the upper halves of the bytes of v, as numbers; nibble is 0F everywhere.
func (i isa) upper(v, nibble reg.VecVirtual) reg.VecVirtual {
	h := i.vector()
	VPSRLW(U8(4), v, h)
	i.and(nibble, h, h)
	return h
}

// ret ends a function that used vectors.
func ret() {
	VZEROUPPER()
	RET()
}

// constants are the read-only words that functions have asked for.
var constants = map[string]Mem{}

// constant returns the place of a number in read-only memory.
func constant(c Constant) Mem {
	name := fmt.Sprintf("const%d_%x", 8*c.Bytes(), c)
	if m, ok := constants[name]; ok {
		return m
	}
	m := ConstData(name, c)
	constants[name] = m
	return m
}

// table returns the place of bytes in read-only memory; there are a multiple of 8.
func table(name string, b []byte) Mem {
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for o := 0; o < len(b); o += 8 {
		DATA(o, U64(binary.LittleEndian.Uint64(b[o:])))
	}
	constants[name] = m
	return m
}

// parameter returns the place of an argument, or of a part of one.
func parameter(p gotypes.Component) Mem {
	c, err := p.Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// pointer loads the argument of the name.
func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// base and length load the parts of a slice.
func base(name string) reg.GPVirtual   { return Load(Param(name).Base(), GP64()).(reg.GPVirtual) }
func length(name string) reg.GPVirtual { return Load(Param(name).Len(), GP64()).(reg.GPVirtual) }

// at returns the memory disp bytes after r.
func at(r reg.Register, disp int) Mem { return Mem{Base: r, Disp: disp} }
