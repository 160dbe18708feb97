package cpu

import "encoding/binary"

// gatherGeneric copies strings to dst from at on, where the next string goes; those
// that lie end to end in one buffer as one piece.
func gatherGeneric(dst []byte, at int, ends []uint32, views []View, buffers [][]byte) int {
	ends = ends[:len(views)]
	var (
		from   []byte // the buffer of the open piece
		buffer = -1   // its number
		start  int    // where the open piece begins in from
		n      int    // its length; it goes to dst[at-n:at]
	)
	for i := range views {
		v := &views[i]
		size := int(uint32(v[0]))
		if size <= maxInline {
			if n > 0 {
				copyPiece(dst, at-n, from, start, n)
				n = 0
			}
			if at+maxInline <= len(dst) {
				// Two stores of fixed size; the strings after this one overwrite
				// what is too much.
				p := dst[at : at+maxInline]
				binary.LittleEndian.PutUint32(p, uint32(v[0]>>32))
				binary.LittleEndian.PutUint64(p[4:], v[1])
			} else {
				var b [16]byte
				binary.LittleEndian.PutUint64(b[:], v[0]>>32|v[1]<<32)
				binary.LittleEndian.PutUint32(b[8:], uint32(v[1]>>32))
				copy(dst[at:at+size], b[:size])
			}
		} else {
			b, o := int(uint32(v[1])), int(v[1]>>32)
			if n == 0 || b != buffer || o != start+n {
				if n > 0 {
					copyPiece(dst, at-n, from, start, n)
				}
				if b != buffer {
					buffer, from = b, buffers[b]
				}
				start, n = o, 0
			}
			n += size
		}
		at += size
		ends[i] = uint32(at)
	}
	if n > 0 {
		copyPiece(dst, at-n, from, start, n)
	}
	return at
}

// copyPiece copies n bytes at s in src to d in dst. A short piece is copied as 64
// bytes where both sides have them: what is too much is overwritten by the strings
// that follow.
func copyPiece(dst []byte, d int, src []byte, s, n int) {
	const block = 64
	if n <= block && d+block <= len(dst) && s+block <= len(src) {
		*(*[block]byte)(dst[d:]) = *(*[block]byte)(src[s:])
		return
	}
	copy(dst[d:d+n], src[s:s+n])
}
