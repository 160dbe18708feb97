package stringtensor

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestUnzeroedMemory(t *testing.T) {
	testUnzeroed(t, func(i int) byte { return byte(i) })
	testUnzeroed(t, func(i int) uint32 { return uint32(i) })
	testUnzeroed(t, func(i int) StringView16 { return StringView16{uint64(i), ^uint64(i)} })
}

// testUnzeroed checks that memory of many sizes is as long as asked, aligned, the
// caller's alone, and kept alive by its slice.
func testUnzeroed[T byte | uint32 | StringView16](t *testing.T, value func(i int) T) {
	var kept [][]T
	for _, n := range []int{0, 1, 3, 255, 256, 257, 1023, 1024, 4095, 4096, 65537, 300_001} {
		for range 2 {
			m := unzeroed[T](n)
			require.Len(t, m, n)
			require.Equal(t, n, cap(m))
			require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(m)))%unsafe.Alignof(*new(T)))
			for i := range m {
				m[i] = value(len(kept) + i)
			}
			kept = append(kept, m)
		}
		runtime.GC()
	}
	for k, m := range kept {
		for i := range m {
			if m[i] != value(k+i) {
				require.Failf(t, "overwritten", "element %d of %d", i, len(m))
			}
		}
	}
}

// Rows in memory that held something else before: none of it shows.
func TestUnzeroedMemoryIsFilled(t *testing.T) {
	const n = 20_000
	for range 3 {
		for range 50 {
			junk := unzeroed[StringView16](n)
			for i := range junk {
				junk[i] = StringView16{lo: 1, hi: 1}
			}
		}
		runtime.GC()
		m := make(model, n)
		offsets := make([]uint32, n+1)
		valid := newBitmap(n)
		for i := range m {
			offsets[i+1] = offsets[i]
			if i%3 != 0 {
				s := []string{"", "a"}[i%2]
				m[i] = &s
				offsets[i+1] += uint32(len(s))
				valid.set(i)
			}
		}
		payload := make([]byte, offsets[n])
		for i := range payload {
			payload[i] = 'a'
		}
		c, err := FromOffsets(offsets, payload, WithValidity(valid.bits, 0))
		require.NoError(t, err)
		requireRows(t, m, c)
		packed, bytes, err := c.GPUBuffers()
		require.NoError(t, err)
		require.Equal(t, offsets, packed)
		require.Equal(t, payload, bytes)
		requireRows(t, m, c.Compact())
		requireRows(t, append(append(model{}, m...), m...), must(Concat(c, c)))
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
