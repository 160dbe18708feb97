package stringtensor

import (
	"strings"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
)

// unzeroed returns n elements that hold anything, to be written before they are
// read, every one of them. Go zeroes the memory that make returns, which for a
// payload of megabytes costs as much as filling it does. A [strings.Builder] is the
// one way to memory of a size known at run time that is not zeroed: it is given room,
// and its string, which no one else has, shows where that is. The memory has no
// pointers in it, so the garbage collector does not mind what it holds.
func unzeroed[T byte | uint32 | StringView16](n int) []T {
	const least = 4 << 10 // below this zeroing costs less than it takes to avoid it
	width := int(unsafe.Sizeof(*new(T)))
	if n < least/width {
		return make([]T, n)
	}
	var b strings.Builder
	b.Grow(n * width)
	b.WriteByte(0) // the string of a builder that holds nothing need not show a place
	p := unsafe.Pointer(unsafe.StringData(b.String()))
	if uintptr(p)%unsafe.Alignof(*new(T)) != 0 {
		return make([]T, n) // bytes may lie anywhere, though those of the allocator do not
	}
	return unsafe.Slice((*T)(p), n)
}

// wordsOf returns the memory of views as package cpu takes it.
func wordsOf(views []StringView16) []cpu.View {
	return unsafe.Slice((*cpu.View)(unsafe.Pointer(unsafe.SliceData(views))), len(views))
}

// dataOf returns the memory of each buffer.
func dataOf(buffers []*Buffer) [][]byte {
	if len(buffers) == 0 {
		return nil
	}
	data := make([][]byte, len(buffers))
	for i, b := range buffers {
		data[i] = b.data
	}
	return data
}
