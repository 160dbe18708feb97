package sample

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func viewIsShared[E Element](t *testing.T, values ...E) {
	t.Helper()
	x := must(NewTensor(values, len(values)))
	got, err := View[E](x)
	require.NoError(t, err)
	require.Equal(t, values, got)
	require.Same(t, &values[0], &got[0], "%s was copied", x)
	require.Equal(t, len(got), cap(got), "an append must not write behind it")
}

func TestViewSharesData(t *testing.T) {
	viewIsShared(t, Float16(0x3c00), Float16(0xffff))
	viewIsShared(t, BFloat16(0x3f80), BFloat16(1))
	viewIsShared(t, float32(1.5), -2)
	viewIsShared(t, 1.5, -2)
	viewIsShared(t, int8(-1), 2)
	viewIsShared(t, int16(-1), 2)
	viewIsShared(t, int32(-1), 2)
	viewIsShared(t, int64(-1), 2)
	viewIsShared(t, uint8(1), 255)
	viewIsShared(t, uint16(1), 65535)
	viewIsShared(t, uint32(1), 1<<31)
	viewIsShared(t, uint64(1), 1<<63)
	viewIsShared(t, true, false)
}

func TestViewOfAnotherType(t *testing.T) {
	_, err := View[float32](Vector([]int32{1}))
	require.ErrorIs(t, err, ErrDType)
	require.ErrorContains(t, err, "a view of i32[1] as f32")
	_, err = View[Float16](Vector([]BFloat16{1}))
	require.ErrorIs(t, err, ErrDType)
	_, err = View[bool](Vector([]uint8{1}))
	require.ErrorIs(t, err, ErrDType)
	_, err = View[uint8](texts([]string{"a"}, 1))
	require.ErrorIs(t, err, ErrDType)
	_, err = View[int8](NewBytes([]byte{1}))
	require.ErrorIs(t, err, ErrDType)
	require.Equal(t, []byte{1, 2}, must(View[uint8](NewBytes([]byte{1, 2}))))
}

// Data at every address are read right, and copied only where they must be.
func TestViewMisaligned(t *testing.T) {
	memory := make([]uint64, 4)
	all := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), 32)
	for i := range all {
		all[i] = byte(i)
	}
	for at := range 8 {
		raw := all[at : at+16]
		got := must(View[uint32](must(FromBytes(U32, raw, 4))))
		for i, v := range got {
			b := uint32(at + 4*i)
			require.Equal(t, b|(b+1)<<8|(b+2)<<16|(b+3)<<24, v, "at %d", at)
		}
		shared := unsafe.Pointer(&got[0]) == unsafe.Pointer(&raw[0])
		require.Equal(t, at%int(unsafe.Alignof(uint32(0))) == 0, shared, "at %d", at)
	}
}

func TestViewOfNothing(t *testing.T) {
	for _, x := range []Tensor{
		Vector([]int64(nil)),
		Vector([]int64{}),
		Vector(make([]int64, 3)[3:]),
		must(FromBytes(I64, make([]byte, 9)[1:1], 0)),
		must(FromBytes(I64, nil, 5, 0, 5)),
	} {
		got, err := View[int64](x)
		require.NoError(t, err)
		require.Empty(t, got)
	}
}
