package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ahead is how many bytes before they are needed loops over much memory ask for them. The
// processor does so itself, but not beyond the page that it is in.
const ahead = 2048

// ask asks for the lines of n bytes that come up, at each of from.
func ask(n int, from ...Mem) {
	for _, m := range from {
		for o := 0; o < n; o += 64 {
			PREFETCHT0(m.Offset(ahead + o))
		}
	}
}

func equal() {
	i := avx2
	i.function("equal", "func(a, b *byte, groups int) bool",
		"reports whether groups of 128 bytes are the same.")
	a, b, n := pointer("a"), pointer("b"), pointer("groups")
	ok := GP64()
	Label("group")
	TESTQ(n, n)
	JZ(LabelRef("same"))
	ask(128, at(a, 0), at(b, 0))
	differ := make([]reg.VecVirtual, 128/i.size)
	for k := range differ {
		differ[k] = i.load(at(a, k*i.size))
		i.xor(at(b, k*i.size), differ[k], differ[k])
	}
	for _, d := range differ[1:] {
		i.or(d, differ[0], differ[0])
	}
	SUBQ(I32(-128), a)
	SUBQ(I32(-128), b)
	DECQ(n)
	VPTEST(differ[0], differ[0])
	JZ(LabelRef("group"))
	XORL(ok.As32(), ok.As32())
	JMP(LabelRef("done"))
	Label("same")
	MOVL(U32(1), ok.As32())
	Label("done")
	Store(ok.As8(), ReturnIndex(0))
	ret()
}
