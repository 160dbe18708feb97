package text

import "github.com/rosaline-go/rosaline/cpu"

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

// spaceBytes are the White_Space below 80.
var spaceBytes = cpu.NewByteSet('\t', '\n', '\v', '\f', '\r', ' ')

// continuationBytes are those that go on with a code point in UTF-8: 80 to BF.
var continuationBytes = func() *cpu.ByteSet {
	var set []byte
	for c := 0x80; c <= 0xbf; c++ {
		set = append(set, byte(c))
	}
	return cpu.NewByteSet(set...)
}()
