package text

import "github.com/rosaline-go/rosaline/cpu"

// ideographs finds where the unified ideographs from 4E00 to 9FFF begin in a text:
// most of the code points of Chinese, and alphanumeric all of them, so that they
// need not be looked at one by one. In UTF-8 they begin with E4 B8 to E4 BF, or with
// E5 to E9.
type ideographs struct {
	known         bool     // of the text at hand
	first, second []uint64 // bytes E4; bytes that make E4 one; by block
	rest          []uint64 // bytes E5 to E9
}

var (
	ideographFirst  = cpu.NewByteSet(0xe4)
	ideographSecond = cpu.NewByteSet(0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf)
	ideographRest   = cpu.NewByteSet(0xe5, 0xe6, 0xe7, 0xe8, 0xe9)
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
		x.first, x.second, x.rest = make([]uint64, n), make([]uint64, n), make([]uint64, n)
	}
	x.first, x.second, x.rest = x.first[:blocks], x.second[:blocks+1], x.rest[:blocks]
	cpu.MaskAny(x.first, s, ideographFirst)
	cpu.MaskAny(x.second, s, ideographSecond)
	cpu.MaskAny(x.rest, s, ideographRest)
	x.second[blocks] = 0
	return true
}

// begin returns where ideographs begin in a block.
func (x *ideographs) begin(block int) uint64 {
	return x.rest[block] | x.first[block]&(x.second[block]>>1|x.second[block+1]<<(cpu.BlockSize-1))
}

// release gives up scratch that only an unusually long text needs.
func (x *ideographs) release() {
	if cap(x.first) > keepBlocks {
		x.first, x.second, x.rest = nil, nil, nil
	}
}
