package text

import "github.com/rosaline-go/rosaline/cpu"

// ideographs finds where most of the code points from 4000 to 9FFF begin in a text: those
// of Chinese, and alphanumeric all of them but for the hexagrams from 4DC0 to 4DFF, so
// that they need not be looked at one by one. In UTF-8 they begin with E4 to E9, and
// the hexagrams with E4 B7.
type ideographs struct {
	known  bool     // of the text at hand
	first  []uint64 // bytes E4 to E9, by block
	second []uint64 // bytes B7
}

var (
	ideographFirst = cpu.NewByteSet(0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9)
	hexagramSecond = cpu.NewByteSet(0xb7)
)

// find looks for ideographs in valid UTF-8 of so many blocks, unless there are no
// vectors that make it faster than looking at all code points. It reports whether it
// did.
func (x *ideographs) find(s []byte, blocks int) bool {
	if cpu.Active() == cpu.Generic {
		return false
	}
	if cap(x.first) <= blocks {
		n := blocks + blocks/2 + 1
		x.first, x.second = make([]uint64, n), make([]uint64, n)
	}
	x.first, x.second = x.first[:blocks], x.second[:blocks+1]
	cpu.MaskAny(x.first, s, ideographFirst)
	cpu.MaskAny(x.second, s, hexagramSecond)
	x.second[blocks] = 0
	return true
}

// begin returns where ideographs begin in a block, without those of a second byte B7.
func (x *ideographs) begin(block int) uint64 {
	return x.first[block] &^ (x.second[block]>>1 | x.second[block+1]<<(cpu.BlockSize-1))
}

// release gives up scratch that only an unusually long text needs.
func (x *ideographs) release() {
	if cap(x.first) > keepBlocks {
		x.first, x.second = nil, nil
	}
}
