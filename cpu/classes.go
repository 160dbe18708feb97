package cpu

// BlockSize is the number of bytes whose classes share a [Block].
const BlockSize = 64

// Block holds the classes of up to 64 bytes: bit i of each mask is byte i. Bits past
// the end of the bytes are zero in every mask.
type Block struct {
	Space    uint64 // White_Space in ASCII: 09–0D, 20
	Alnum    uint64 // letters and digits
	Digit    uint64 // 0–9
	At       uint64 // @
	Dot      uint64 // .
	Colon    uint64 // :
	Key      uint64 // letters, digits, _ - . : what keys, hosts and mailboxes are made of
	NonASCII uint64 // 80–FF: part of a longer code point, or not UTF-8
}

// The bits of classOf, in the order of the masks.
const (
	classSpace = 1 << iota
	classAlnum
	classDigit
	classAt
	classDot
	classColon
	classKey
	classNonASCII
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

// Classify computes the masks of s, a block for each 64 bytes begun, and returns the
// masks of all of them or-ed: which classes occur at all. dst must have room. s need
// not be readable beyond its length. O(len(s)).
func Classify(dst []Block, s []byte) (union Block) { return classify(dst, s) }

func classifyGeneric(dst []Block, s []byte) (u Block) {
	var tail [BlockSize]byte
	for ; len(s) > 0; dst = dst[1:] {
		p := s
		if len(p) < BlockSize {
			copy(tail[:], p) // byte 0 has no class
			p = tail[:]
		}
		b := &dst[0]
		classifyBlock(b, (*[BlockSize]byte)(p))
		u.Space |= b.Space
		u.Alnum |= b.Alnum
		u.Digit |= b.Digit
		u.At |= b.At
		u.Dot |= b.Dot
		u.Colon |= b.Colon
		u.Key |= b.Key
		u.NonASCII |= b.NonASCII
		s = s[min(len(s), BlockSize):]
	}
	return u
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
func classifyBlock(b *Block, p *[BlockSize]byte) {
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
	*b = Block{r0, r1, r2, r3, r4, r5, r6, r7}
}

// exchange swaps the upper squares of a with the lower ones of b.
func exchange(a, b uint64, shift uint, lower uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & lower
	return a ^ t<<shift, b ^ t
}

// ClassCounts are numbers of bytes. Letters + Digits + Spaces + Symbols + NonASCII is
// the number of all of them.
type ClassCounts struct {
	Letters  int // A–Z a–z
	Digits   int // 0–9
	Spaces   int // 09–0D, 20
	Symbols  int // the rest of 00–7F
	NonASCII int // 80–FF
	Lines    int // 0A, which are among Spaces
}

// CountClasses counts the bytes of s by class. O(len(s)).
func CountClasses(s []byte) ClassCounts { return countClasses(s) }

func countClassesGeneric(s []byte) (n ClassCounts) {
	for _, b := range s {
		switch c := classOf[b]; {
		case c&classSpace != 0:
			n.Spaces++
			if b == '\n' {
				n.Lines++
			}
		case c&classDigit != 0:
			n.Digits++
		case c&classAlnum != 0:
			n.Letters++
		case c&classNonASCII != 0:
			n.NonASCII++
		default:
			n.Symbols++
		}
	}
	return n
}
