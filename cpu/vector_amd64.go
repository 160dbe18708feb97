//go:build !noasm

package cpu

import "unsafe"

// The bodies of the loops at the active level: what the assembly leaves over, at most
// some of the elements, goes to the plain ones.

func matchViews(dst []uint64, views []View, key, mask uint64) {
	groups := len(views) / viewGroup
	if active == Generic || groups == 0 {
		matchViewsGeneric(dst, views, key, mask)
		return
	}
	key &= mask
	dst = dst[:(len(views)+63)/64]
	dst[len(dst)-1] = 0 // the groups may set a part of it only
	if active == AVX512 {
		matchViewsAVX512(&dst[0], &views[0], groups, key, mask)
	} else {
		matchViewsAVX2(&dst[0], &views[0], groups, key, mask)
	}
	for i := groups * viewGroup; i < len(views); i++ {
		if views[i][0]&mask == key {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}

// viewGroup is the number of views that the assembly takes at a time.
const viewGroup = 8

func diffViews(a, b []View, shift uint64) int {
	b = b[:len(a)]
	groups := len(a) / viewGroup
	if active == Generic || groups == 0 {
		return diffViewsGeneric(a, b, shift)
	}
	var same int
	if active == AVX512 {
		same = diffViewsAVX512(&a[0], &b[0], groups, shift)
	} else {
		same = diffViewsAVX2(&a[0], &b[0], groups, shift)
	}
	same *= viewGroup
	return same + diffViewsGeneric(a[same:], b[same:], shift)
}

func sumLengths(views []View) uint64 {
	groups := len(views) / viewGroup
	if active == Generic || groups == 0 {
		return sumLengthsGeneric(views)
	}
	return sumLengthsAVX2(&views[0], groups) + sumLengthsGeneric(views[groups*viewGroup:])
}

func equal(a, b []byte) bool {
	groups := len(a) / equalGroup
	if active == Generic || groups == 0 {
		return equalGeneric(a, b)
	}
	rest := groups * equalGroup
	return equalAVX2(&a[0], &b[0], groups) && equalGeneric(a[rest:], b[rest:])
}

// equalGroup is the number of bytes that equal takes at a time.
const equalGroup = 128

func gather(dst []byte, ends []uint32, views []View, buffers [][]byte) int {
	ends = ends[:len(views)]
	if active == Generic {
		return gatherGeneric(dst, 0, ends, views, buffers)
	}
	known := buffers
	if len(known) == 0 {
		known = noBuffers[:] // strings in their views look at the first one, too
	}
	at := 0
	for len(views) > 0 {
		// A call of assembly holds up the garbage collector; it must not be long.
		n := min(len(views), gatherViews)
		done, end := gatherAVX2(dst, &ends[0], views[:n], known, at)
		at = end
		if done < n {
			// A string near the end of its buffer, or strings near the end of dst.
			if len(dst)-at < gatherRoom {
				n = len(views)
			} else {
				n = done + 1
			}
			at = gatherGeneric(dst, at, ends[done:n], views[done:n], buffers)
		}
		views, ends = views[n:], ends[n:]
	}
	return at
}

// noBuffers has no room for any string.
var noBuffers [1][]byte

const (
	gatherViews = 1024 // views for one call of assembly
	gatherRoom  = 64   // bytes of dst that a short string needs there
)

func selectOnes(dst []uint32, words []uint64, base uint32) int {
	groups := len(words) / onesGroup
	if active == Generic || groups == 0 || len(dst) == 0 {
		return selectOnesGeneric(dst, words, base)
	}
	n, done := selectOnesAVX2(dst, &words[0], groups, base)
	done *= onesGroup
	return n + selectOnesGeneric(dst[n:], words[done:], base+uint32(64*done))
}

// onesGroup is the number of words that selectOnes takes at a time.
const onesGroup = 4

func countOnes(words []uint64) int {
	groups := len(words) / countGroup
	if active == Generic || groups == 0 {
		return countOnesGeneric(words)
	}
	return countOnesAVX2(&words[0], groups) + countOnesGeneric(words[groups*countGroup:])
}

// countGroup is the number of words that countOnes takes at a time.
const countGroup = 16

func validUTF8(s []byte) bool {
	n := len(s)
	if active == Generic || n < 64 {
		return validUTF8Generic(s)
	}
	if !validUTF8AVX2(s) {
		return false
	}
	// A lead byte of two, three or four whose code point the end cuts off.
	return s[n-1] < 0xc0 && s[n-2] < 0xe0 && s[n-3] < 0xf0
}

func classify(dst []Block, s []byte) (u Block) {
	if len(s) == 0 {
		return u
	}
	dst = dst[:(len(s)+BlockSize-1)/BlockSize]
	union := masksOf(&u)
	switch active {
	case AVX512:
		classifyAVX512(masksOf(&dst[0]), union, &s[0], len(s))
	case AVX2:
		blocks := len(s) / BlockSize
		classifyAVX2(masksOf(&dst[0]), union, &s[0], blocks)
		if rest := s[blocks*BlockSize:]; len(rest) > 0 {
			var tail [BlockSize]byte // byte 0 has no class
			copy(tail[:], rest)
			classifyAVX2(masksOf(&dst[blocks]), union, &tail[0], 1)
		}
	default:
		return classifyGeneric(dst, s)
	}
	return u
}

func masksOf(b *Block) *[8]uint64 { return (*[8]uint64)(unsafe.Pointer(b)) }

func countClasses(s []byte) ClassCounts {
	if active == Generic || len(s) == 0 {
		return countClassesGeneric(s)
	}
	var counts [5]uint64
	n := len(s)
	for len(s) >= 32 {
		k := min(len(s)/32, 255) // more would overflow counters of a byte
		countClassesAVX2(&counts, &s[0], k)
		s = s[32*k:]
	}
	rest := countClassesGeneric(s)
	c := ClassCounts{
		Letters:  rest.Letters + int(counts[0]),
		Digits:   rest.Digits + int(counts[1]),
		Spaces:   rest.Spaces + int(counts[2]),
		NonASCII: rest.NonASCII + int(counts[3]),
		Lines:    rest.Lines + int(counts[4]),
	}
	c.Symbols = n - c.Letters - c.Digits - c.Spaces - c.NonASCII
	return c
}

func countLowBits(n *[1 << LowBits]int, s []byte, blocks int) {
	if active == Generic || blocks == 0 {
		countLowBitsGeneric(n, s, blocks)
		return
	}
	countLowBitsAVX2(n, &s[0], blocks)
}

func indexAny(s []byte, set *ByteSet) int {
	if active == Generic || len(s) < 32 {
		return indexAnyGeneric(s, set)
	}
	return indexAnyAVX2(s, &set.halves)
}

func maskAny(dst []uint64, s []byte, set *ByteSet) {
	words := len(s) / 64
	if active == Generic || words == 0 {
		maskAnyGeneric(dst, s, set)
		return
	}
	dst = dst[:(len(s)+63)/64]
	maskAnyAVX2(&dst[0], &s[0], words, &set.halves)
	if rest := len(s) % 64; rest > 0 {
		// The last 64 bytes once more, of which some are new.
		maskAnyAVX2(&dst[words], &s[len(s)-64], 1, &set.halves)
		dst[words] >>= 64 - rest
	}
}

func maskJSON(dst []uint64, s []byte) uint64 {
	if active == Generic || len(s) == 0 {
		return maskJSONGeneric(dst, s)
	}
	dst = dst[:(len(s)+63)/64]
	if n := len(s); n < 64 {
		var short [64]byte
		copy(short[:], s)
		maskJSONAVX2(&dst[0], &short[0], 64)
		if dst[0] &= 1<<n - 1; dst[0] == 0 {
			return 0
		}
		return 1
	}
	return maskJSONAVX2(&dst[0], &s[0], len(s))
}

func maskByte(dst []uint64, s []byte, b byte) uint64 {
	if active == Generic || len(s) == 0 {
		return maskByteGeneric(dst, s, b)
	}
	dst = dst[:(len(s)+63)/64]
	if n := len(s); n < 64 {
		var short [64]byte
		copy(short[:], s)
		maskByteAVX2(&dst[0], &short[0], 64, b)
		if dst[0] &= 1<<n - 1; dst[0] == 0 {
			return 0
		}
		return 1
	}
	return maskByteAVX2(&dst[0], &s[0], len(s), b)
}

func prefetch(addresses []unsafe.Pointer) {
	if active == Generic || len(addresses) == 0 {
		return
	}
	prefetchT0((*uint64)(unsafe.Pointer(&addresses[0])), len(addresses))
}
