package cpu

// MaxMaskJSON is how many bytes [MaskJSON] takes at most.
const MaxMaskJSON = 64 * 64

// MaskJSON sets bit i%64 of dst[i/64] for each byte i of s that does not stand for itself
// in a JSON string, which quotes, backslashes and control characters do not, and clears
// the others, those past the end in its word included. Bit k of used is whether dst[k] is
// not 0. dst must have a word for each 64 bytes begun, of which there are 64 at most. Memory
// behind s is asked for, as if it came next.
func MaskJSON(dst []uint64, s []byte) (used uint64) { return maskJSON(dst, s) }

func maskJSONGeneric(dst []uint64, s []byte) (used uint64) {
	for k := uint(0); len(s) > 0; k++ {
		n := min(len(s), 64)
		var m uint64
		for i, c := range s[:n] {
			if specialJSON[c] {
				m |= 1 << i
			}
		}
		dst[k] = m
		if m != 0 {
			used |= 1 << k
		}
		s = s[n:]
	}
	return used
}

// specialJSON says which bytes do not stand for themselves.
var specialJSON = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()
