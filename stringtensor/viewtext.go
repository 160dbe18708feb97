package stringtensor

import (
	"math/bits"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// checkViewText checks that every row of a valid column is UTF-8. A buffer that is
// UTF-8 as a whole leaves only the borders of its rows to be looked at. Views that
// someone else made may all show the same bytes, so that the rows are far longer than
// the memory; then each byte is still read once only.
func checkViewText(c *Column) error {
	memory := int64(len(c.views)) * ViewSize
	for _, p := range c.data {
		memory += int64(len(p))
	}
	payload := c.PayloadBytes()
	whole := make([]bool, len(c.data))
	if payload >= memory/4 { // else most of it may be of no row
		for i, p := range c.data {
			whole[i] = cpu.ValidUTF8(p)
		}
	}
	indexes := make([]*utf8Index, len(c.data))
	for i := range c.views {
		v := &c.views[i]
		if v.IsInline() {
			if (v.lo>>32|v.hi)&0x8080808080808080 != 0 && !utf8.Valid(v.inline()) {
				return rowUTF8(i, v.inline())
			}
			continue
		}
		b, start := v.Buffer(), v.Offset()
		p, end := c.data[b], start+v.Len()
		ok := false
		switch {
		case whole[b]:
			ok = utf8.RuneStart(p[start]) && (end == len(p) || utf8.RuneStart(p[end]))
		case payload <= memory:
			ok = cpu.ValidUTF8(p[start:end])
		default:
			if indexes[b] == nil {
				indexes[b] = newUTF8Index(p)
			}
			ok = indexes[b].valid(start, end)
		}
		if !ok {
			return rowUTF8(i, p[start:end])
		}
	}
	return nil
}

// utf8Index tells of any range of some bytes, in constant time, whether it is
// UTF-8. It takes 3/16 of their size.
//
// A byte is stray when a decoder that starts at the first byte finds no
// character there. A decoder that meets an error goes on with the next byte, so
// it comes by every byte that can begin a character, and what it finds from there
// does not depend on what was before.
type utf8Index struct {
	data   []byte
	stray  []uint64 // one bit per byte
	before []uint32 // how many are stray before each 64 bytes
}

func newUTF8Index(data []byte) *utf8Index {
	x := &utf8Index{
		data:   data,
		stray:  make([]uint64, len(data)/64+1),
		before: make([]uint32, len(data)/64+1),
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			x.stray[i/64] |= 1 << (i % 64)
		}
		i += n
	}
	for i := 1; i < len(x.before); i++ {
		x.before[i] = x.before[i-1] + uint32(bits.OnesCount64(x.stray[i-1]))
	}
	return x
}

// strayBefore returns how many of the first i bytes are stray.
func (x *utf8Index) strayBefore(i int) uint32 {
	return x.before[i/64] + uint32(bits.OnesCount64(x.stray[i/64]&(1<<(i%64)-1)))
}

// valid reports whether data[lo:hi] is UTF-8.
func (x *utf8Index) valid(lo, hi int) bool {
	if lo == hi {
		return true
	}
	// A character that goes on beyond hi is cut, unless the byte at hi is stray.
	cut := hi < len(x.data) && !utf8.RuneStart(x.data[hi]) && x.stray[hi/64]>>(hi%64)&1 == 0
	return utf8.RuneStart(x.data[lo]) && !cut && x.strayBefore(lo) == x.strayBefore(hi)
}
