package cpu

import (
	"iter"
	"testing"
	"unsafe"
)

// span returns n elements of mem from byte offset on; nothing beyond them is in its capacity.
func span[E any](mem []byte, offset, n int) []E {
	size := int(unsafe.Sizeof(*new(E)))
	part := mem[offset : offset+n*size]
	if n == 0 {
		return []E{}
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&part[0])), n)
}

// places yields n elements of mem at every place that matters: at its end, at its
// start, where a fault tells of any access outside, and at each misalignment that the
// element may have.
func places[E any](mem []byte, n int) iter.Seq[[]E] {
	size, align := int(unsafe.Sizeof(*new(E))), int(unsafe.Alignof(*new(E)))
	return func(yield func([]E) bool) {
		if !yield(span[E](mem, len(mem)-n*size, n)) || !yield(span[E](mem, 0, n)) {
			return
		}
		for o := align; o < 64; o += align {
			if !yield(span[E](mem, 64+o, n)) {
				return
			}
		}
	}
}

// atEnd returns n elements at the end of a new arena.
func atEnd[E any](t testing.TB, n int) []E {
	size := n * int(unsafe.Sizeof(*new(E)))
	mem := newArena(t, size+1)
	return span[E](mem, len(mem)-size, n)
}
