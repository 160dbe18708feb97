package text

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

// spreadOf maps a byte to its classes with bit 0 of byte k for class k, so that
// eight bytes or-ed with shifts give eight bits of each mask.
var spreadOf = func() (t [256]uint64) {
	for c, classes := range classOf {
		for k := range 8 {
			t[c] |= uint64(classes>>k&1) << (8 * k)
		}
	}
	return t
}()

// spread returns the masks of eight bytes, one byte each.
func spread(p []byte) uint64 {
	_ = p[7]
	return spreadOf[p[0]] | spreadOf[p[1]]<<1 | spreadOf[p[2]]<<2 | spreadOf[p[3]]<<3 |
		spreadOf[p[4]]<<4 | spreadOf[p[5]]<<5 | spreadOf[p[6]]<<6 | spreadOf[p[7]]<<7
}

// classifyBlock computes the masks of a block: eight rows of one byte per mask,
// turned over as an 8×8 matrix of bytes by exchanging squares of 1, 2 and 4
// (H. S. Warren, Hacker's Delight, 2nd ed., section 7-3).
func classifyBlock(b *block, p *[blockSize]byte) {
	r0, r1, r2, r3 := spread(p[0:]), spread(p[8:]), spread(p[16:]), spread(p[24:])
	r4, r5, r6, r7 := spread(p[32:]), spread(p[40:]), spread(p[48:]), spread(p[56:])
	const by1, by2, by4 = 0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff
	r0, r1 = exchange(r0, r1, 8, by1)
	r2, r3 = exchange(r2, r3, 8, by1)
	r4, r5 = exchange(r4, r5, 8, by1)
	r6, r7 = exchange(r6, r7, 8, by1)
	r0, r2 = exchange(r0, r2, 16, by2)
	r1, r3 = exchange(r1, r3, 16, by2)
	r4, r6 = exchange(r4, r6, 16, by2)
	r5, r7 = exchange(r5, r7, 16, by2)
	r0, r4 = exchange(r0, r4, 32, by4)
	r1, r5 = exchange(r1, r5, 32, by4)
	r2, r6 = exchange(r2, r6, 32, by4)
	r3, r7 = exchange(r3, r7, 32, by4)
	*b = block{r0, r1, r2, r3, r4, r5, r6, r7}
}

// exchange swaps the upper squares of a with the lower ones of b.
func exchange(a, b uint64, shift uint, lower uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & lower
	return a ^ t<<shift, b ^ t
}
