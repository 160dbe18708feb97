package sample

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func padOf[E Element](t *testing.T, v float64, want ...E) {
	t.Helper()
	b, err := padded(t, WithPadValue(v))([]Sample{New(Field{"x", Vector([]E{})}), New(Field{"x", Vector(make([]E, 1))})})
	if len(want) == 0 {
		require.ErrorIs(t, err, ErrCollate, "%v of %s", v, DTypeOf[E]())
		require.ErrorContains(t, err, `field "x"`)
		return
	}
	require.NoError(t, err)
	x, _ := b.Get("x")
	require.Equal(t, want[0], must(View[E](x))[0])
}

func TestPadValue(t *testing.T) {
	inf := math.Inf(1)
	padOf(t, 1, Float16(0x3c00))
	padOf(t, -inf, Float16(0xfc00))
	padOf[Float16](t, 1e6)
	padOf(t, 1.0/3, BFloat16(0x3eab))
	padOf(t, 0.1, float32(0.1))
	padOf(t, inf, float32(inf))
	padOf[float32](t, -1e300)
	padOf(t, -1e300, -1e300)
	padOf(t, -128, int8(-128))
	padOf[int8](t, 128)
	padOf[int8](t, -129)
	padOf[int8](t, 0.5)
	padOf(t, -100, int16(-100))
	padOf[int16](t, 1<<15)
	padOf(t, -1<<31, int32(math.MinInt32))
	padOf[int32](t, 1<<31)
	padOf(t, -1<<63, int64(math.MinInt64))
	padOf(t, 1<<62, int64(1<<62))
	padOf[int64](t, 1<<63)
	padOf[int64](t, math.NaN())
	padOf(t, 255, uint8(255))
	padOf[uint8](t, 256)
	padOf[uint8](t, -1)
	padOf(t, 65535, uint16(65535))
	padOf[uint16](t, 65536)
	padOf(t, 1<<32-1, uint32(math.MaxUint32))
	padOf[uint32](t, 1<<32)
	padOf(t, 1<<63, uint64(1<<63))
	padOf[uint64](t, 1<<64)
	padOf[uint64](t, -1)
	padOf[uint64](t, inf)
	padOf(t, 1, true)
	padOf[bool](t, 2)
}

func TestPadValueNaN(t *testing.T) {
	nan := math.NaN()
	for _, s := range []Sample{
		New(Field{"x", Vector([]Float16{})}), New(Field{"x", Vector([]BFloat16{})}),
		New(Field{"x", Vector([]float32{})}), New(Field{"x", Vector([]float64{})}),
	} {
		b, err := padded(t, WithPadValue(nan), WithPadTo(1))([]Sample{s})
		require.NoError(t, err)
		x, _ := b.Get("x")
		var v float64
		switch x.DType() {
		case F16:
			v = float64(must(View[Float16](x))[0].Float32())
		case BF16:
			v = float64(must(View[BFloat16](x))[0].Float32())
		case F32:
			v = float64(must(View[float32](x))[0])
		case F64:
			v = must(View[float64](x))[0]
		}
		require.True(t, math.IsNaN(v), "%v", x)
	}
}

func TestPadValueBytes(t *testing.T) {
	b, err := padded(t, WithPadValue(32))([]Sample{New(Field{"x", NewBytes([]byte("ab"))}), New(Field{"x", NewBytes([]byte("c"))})})
	require.NoError(t, err)
	x, _ := b.Get("x")
	require.Equal(t, "bytes[2 2]", x.String())
	require.Equal(t, "abc ", string(x.Bytes()))
}
