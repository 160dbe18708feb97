package sample

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestDTypes(t *testing.T) {
	for _, c := range []struct {
		dtype DType
		name  string
		size  int
	}{
		{F16, "f16", 2}, {BF16, "bf16", 2}, {F32, "f32", 4}, {F64, "f64", 8},
		{I8, "i8", 1}, {I16, "i16", 2}, {I32, "i32", 4}, {I64, "i64", 8},
		{U8, "u8", 1}, {U16, "u16", 2}, {U32, "u32", 4}, {U64, "u64", 8},
		{Bool, "bool", 1}, {Bytes, "bytes", 1}, {Strings, "strings", 0},
	} {
		require.Equal(t, c.name, c.dtype.String())
		require.Equal(t, c.size, c.dtype.Size(), c.name)
		back, err := ParseDType(c.name)
		require.NoError(t, err)
		require.Equal(t, c.dtype, back)
	}
	require.Equal(t, 16, int(dtypeCount), "a type that is not in the table above")
}

func TestDTypeUnknown(t *testing.T) {
	for _, name := range []string{"", "invalid", "F32", "f32 ", "float32", "f33"} {
		_, err := ParseDType(name)
		require.ErrorIs(t, err, ErrDType, name)
	}
	require.Equal(t, "dtype(16)", DType(16).String())
	require.Equal(t, "dtype(255)", DType(255).String())
	require.Zero(t, DType(255).Size())
	require.Equal(t, "invalid", Invalid.String())
	require.Zero(t, Invalid.Size())
}

func dtypeIs[E Element](t *testing.T, want DType) {
	t.Helper()
	var e E
	require.Equal(t, want, DTypeOf[E]())
	require.Equal(t, int(unsafe.Sizeof(e)), want.Size())
}

func TestDTypeOf(t *testing.T) {
	dtypeIs[Float16](t, F16)
	dtypeIs[BFloat16](t, BF16)
	dtypeIs[float32](t, F32)
	dtypeIs[float64](t, F64)
	dtypeIs[int8](t, I8)
	dtypeIs[int16](t, I16)
	dtypeIs[int32](t, I32)
	dtypeIs[int64](t, I64)
	dtypeIs[uint8](t, U8)
	dtypeIs[uint16](t, U16)
	dtypeIs[uint32](t, U32)
	dtypeIs[uint64](t, U64)
	dtypeIs[bool](t, Bool)
}
