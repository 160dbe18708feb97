package stringtensor

import (
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// viewText tells whether rows are UTF-8. A buffer that is UTF-8 as a whole leaves only the
// borders of its rows to be looked at. Views that someone else made may all show the same
// bytes, so that the rows are far longer than the memory; then each byte is still read
// once only.
type viewText struct {
	data   [][]byte
	states []textState // of each of data
	apart  bool        // rows are checked one by one where the whole is no UTF-8
}

// textState is what is known of a buffer.
type textState struct {
	whole bool   // the bytes before end are UTF-8
	end   uint64 // how far they were read; math.MaxUint64 if not whole
	index *utf8Index
}

// textPiece is how many bytes are looked at before the rows in them, so that they are near
// when these are.
const textPiece = 64 << 10

func newViewText(views []StringView16, data [][]byte) viewText {
	memory := uint64(len(views)) * ViewSize
	for _, p := range data {
		memory += uint64(len(p))
	}
	payload := cpu.SumLengths(wordsOf(views))
	t := viewText{data, make([]textState, len(data)), payload <= memory}
	for i := range t.states {
		if payload >= memory/4 { // else most of it may be of no row
			t.states[i].whole = true
		} else {
			t.states[i].end = math.MaxUint64
		}
	}
	return t
}

// read looks at the buffer of a row, as far as the row. Whatever v holds, it may be asked.
func (t *viewText) read(v *StringView16) {
	if b := uint64(uint32(v.hi)); !v.IsInline() && b < uint64(len(t.states)) {
		if end := v.hi>>32 + uint64(uint32(v.lo)); end > t.states[b].end {
			t.states[b].read(t.data[b], end)
		}
	}
}

func (x *textState) read(p []byte, end uint64) {
	for end = min(end, uint64(len(p))); x.end < end; {
		to := min(x.end+textPiece, uint64(len(p)))
		for back := 1; back < utf8.UTFMax && to < uint64(len(p)) && !utf8.RuneStart(p[to]); back++ {
			to--
		}
		if x.whole = cpu.ValidUTF8(p[x.end:to]); !x.whole {
			to = math.MaxUint64
		}
		x.end = to
	}
}

// valid reports whether a row is UTF-8, whose view is sound and has been read.
func (t *viewText) valid(v *StringView16) bool {
	if v.IsInline() {
		return (v.lo>>32|v.hi)&0x8080808080808080 == 0 || utf8.Valid(v.inline())
	}
	x := &t.states[uint32(v.hi)]
	if !x.whole {
		return t.validApart(v)
	}
	p, end := t.data[uint32(v.hi)], v.Offset()+v.Len()
	return utf8.RuneStart(byte(v.Prefix())) && (end == len(p) || utf8.RuneStart(p[end]))
}

// validApart is valid of a row in a buffer that is no UTF-8 as a whole.
func (t *viewText) validApart(v *StringView16) bool {
	if t.apart {
		return cpu.ValidUTF8(t.row(v))
	}
	x := &t.states[v.Buffer()]
	if x.index == nil {
		x.index = newUTF8Index(t.data[v.Buffer()])
	}
	return x.index.valid(v.Offset(), v.Offset()+v.Len())
}

// row returns the bytes of a row.
func (t *viewText) row(v *StringView16) []byte {
	if v.IsInline() {
		return v.inline()
	}
	return t.data[v.Buffer()][v.Offset() : v.Offset()+v.Len()]
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
