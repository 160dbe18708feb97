package text

import "encoding/binary"

// Classes of an ASCII byte, one bit each. The masks of a block are in the order
// of these bits.
const (
	classSpace    = 1 << iota // White_Space: 09–0D, 20
	classAlnum                // letters and digits
	classDigit                // 0–9
	classAt                   // @
	classDot                  // .
	classColon                // :
	classKey                  // letters, digits, _ - . : what keys, hosts and mailboxes are made of
	classNonASCII             // 80–FF: part of a longer code point, or not UTF-8
)

// classOf maps a byte to its classes.
var classOf = func() (t [256]byte) {
	for c := range t {
		switch b := byte(c); {
		case b >= 0x80:
			t[c] = classNonASCII
		case b == ' ' || b-'\t' < 5:
			t[c] = classSpace
		case b-'0' < 10:
			t[c] = classAlnum | classDigit | classKey
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			t[c] = classAlnum | classKey
		case b == '_' || b == '-':
			t[c] = classKey
		case b == '.':
			t[c] = classDot | classKey
		case b == '@':
			t[c] = classAt
		case b == ':':
			t[c] = classColon
		}
	}
	return t
}()

// blockSize is the number of bytes whose classes share a word.
const blockSize = 64

// block holds the classes of up to 64 bytes: bit i of each mask is byte i of
// the block. Bits past the end of the text are zero in every mask.
type block struct {
	space, alnum, digit, at, dot, colon, key, nonASCII uint64
}

// classes holds the masks of one text, the single pass over its bytes that
// quality and masking share. It is scratch: classify overwrites it.
type classes struct {
	blocks []block
	union  block // or of all blocks: which classes occur at all
}

// classify computes the masks of s, O(len(s)), growing the scratch if needed.
func (c *classes) classify(s []byte) {
	n := (len(s) + blockSize - 1) / blockSize
	if cap(c.blocks) < n {
		c.blocks = make([]block, n+n/2)
	}
	c.blocks = c.blocks[:n]
	c.union = block{}
	var tail [blockSize]byte
	for i := range c.blocks {
		b := &c.blocks[i]
		p := s[i*blockSize:]
		if len(p) < blockSize {
			clear(tail[:])
			copy(tail[:], p) // byte 0 has no class
			p = tail[:]
		}
		classifyBlock(b, (*[blockSize]byte)(p))
		u := &c.union
		u.space |= b.space
		u.alnum |= b.alnum
		u.digit |= b.digit
		u.at |= b.at
		u.dot |= b.dot
		u.colon |= b.colon
		u.key |= b.key
		u.nonASCII |= b.nonASCII
	}
}

// classifyBlock looks up eight bytes at a time and turns the 8×8 bits of their
// classes over, which gives one byte of each mask.
func classifyBlock(b *block, p *[blockSize]byte) {
	var m [8]uint64
	for i := 0; i < blockSize; i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		t := uint64(classOf[byte(x)]) | uint64(classOf[byte(x>>8)])<<8 |
			uint64(classOf[byte(x>>16)])<<16 | uint64(classOf[byte(x>>24)])<<24 |
			uint64(classOf[byte(x>>32)])<<32 | uint64(classOf[byte(x>>40)])<<40 |
			uint64(classOf[byte(x>>48)])<<48 | uint64(classOf[byte(x>>56)])<<56
		t = transpose8(t)
		for k := range m {
			m[k] |= (t >> (8 * k) & 0xff) << i
		}
	}
	*b = block{m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]}
}

// transpose8 turns an 8×8 matrix of bits over its diagonal, row r being byte r
// (H. S. Warren, Hacker's Delight, 2nd ed., section 7-3).
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
