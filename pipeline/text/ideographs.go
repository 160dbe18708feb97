package text

import "github.com/rosaline-go/rosaline/cpu"

// ideographs finds where most of the code points from 4000 to 9FFF begin in a text: those
// of Chinese, and alphanumeric all of them but for the hexagrams from 4DC0 to 4DFF, so
// that they need not be looked at one by one. In UTF-8 they begin with E4 to E9, and
// the hexagrams with E4 B7.
type ideographs struct {
	known  bool     // of the text at hand
	first  byteMask // bytes E4 to E9
	second byteMask // bytes B7
}

var (
	ideographFirst = cpu.NewByteSet(0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9)
	hexagramSecond = cpu.NewByteSet(0xb7)
)

// find looks for ideographs in valid UTF-8, unless there are no vectors that make it
// faster than looking at all code points. It reports whether it did.
func (x *ideographs) find(s []byte) bool {
	if cpu.Active() == cpu.Generic {
		return false
	}
	x.first.find(s, ideographFirst)
	x.second.find(s, hexagramSecond)
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
