package cpu

// View is the memory of a string view of 16 bytes as two little-endian words:
//
//	View[0]  bits 0…31 length, bits 32…63 bytes 0…3 of the string
//	View[1]  up to 12 bytes of length: bytes 4…11 of the string, zero padded
//	         longer: bits 0…31 number of a buffer, bits 32…63 offset in it
type View = [2]uint64

// maxInline is the length of the longest string that lies inside its view.
const maxInline = 12

// MatchViews sets bit i%64 of dst[i/64] for each view i whose first word agrees with
// key in all bits of mask, and clears the others, those past the last view in its
// word included. dst must have a word for each 64 views begun. O(len(views)).
func MatchViews(dst []uint64, views []View, key, mask uint64) {
	matchViews(dst, views, key, mask)
}

func matchViewsGeneric(dst []uint64, views []View, key, mask uint64) {
	key &= mask
	for len(views) > 0 {
		n := min(len(views), 64)
		var m uint64
		for i := range views[:n] {
			if views[i][0]&mask == key {
				m |= 1 << i
			}
		}
		dst[0] = m
		dst, views = dst[1:], views[n:]
	}
}

// DiffViews returns the first i at which a and b differ, len(a) if there is none.
// Views are equal here if their first words are, and the second word of b is that of
// a, plus shift where the string is longer than 12 bytes: with 0 that is the same
// memory, with another shift columns of the same shape whose payload lies elsewhere.
// b must be as long as a at least.
func DiffViews(a, b []View, shift uint64) int { return diffViews(a, b, shift) }

func diffViewsGeneric(a, b []View, shift uint64) int {
	b = b[:len(a)]
	for i := range a {
		second := a[i][1]
		if uint32(a[i][0]) > maxInline {
			second += shift
		}
		if a[i][0] != b[i][0] || second != b[i][1] {
			return i
		}
	}
	return len(a)
}

// SumLengths returns the number of bytes of all strings.
func SumLengths(views []View) uint64 { return sumLengths(views) }

func sumLengthsGeneric(views []View) uint64 {
	var n uint64
	for i := range views {
		n += uint64(uint32(views[i][0]))
	}
	return n
}

// Gather copies the strings of views to dst, end to end, and returns how many bytes
// they are; ends[i] becomes the place in dst at which string i ends, modulo 2³². dst
// must have room for all of them, and ends for len(views).
//
// buffers are what the views of longer strings point into, and must hold them. Up to
// their capacities they may be read beyond their lengths. Anywhere within its
// length dst may be written to, and it is never read: it may be write-combined memory.
func Gather(dst []byte, ends []uint32, views []View, buffers [][]byte) int {
	return gather(dst, ends, views, buffers)
}
