package text

import (
	"encoding/binary"

	"github.com/rosaline-go/rosaline/cpu"
)

// classes holds the masks of one text, the single pass over its bytes that
// quality and masking share. It is scratch: classify overwrites it.
type classes struct {
	blocks []cpu.Block
	union  cpu.Block // or of all blocks: which classes occur at all

	anchors []anchorBlock // scratch of masking
}

// classify computes the masks of s, O(len(s)), growing the scratch if needed.
func (c *classes) classify(s []byte) {
	n := (len(s) + cpu.BlockSize - 1) / cpu.BlockSize
	if cap(c.blocks) < n {
		c.blocks = make([]cpu.Block, n+n/2)
	}
	c.blocks = c.blocks[:n]
	c.union = cpu.Classify(c.blocks, s)
}

// asciiSpace has the White_Space below 80.
var asciiSpace = [256]bool{'\t': true, '\n': true, '\v': true, '\f': true, '\r': true, ' ': true}

// continuations returns the bytes of a block, 64 at most, that are 80 to BF: in
// UTF-8 those that go on with a code point.
func continuations(p []byte) (mask uint64) {
	if len(p) < cpu.BlockSize {
		var b [cpu.BlockSize]byte
		copy(b[:], p)
		p = b[:]
	}
	const (
		ones   = 0x0101010101010101
		gather = 0x0102040810204080 // moves the lowest bits of eight bytes to the top byte
	)
	for i := 0; i < cpu.BlockSize; i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		mask |= (x >> 7 &^ (x >> 6) & ones) * gather >> 56 << i
	}
	return mask
}
