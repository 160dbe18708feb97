package sample

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzFromBytes gives FromBytes any type, data and shape. dims are the dimensions, 8
// bytes each. What is right is decided with numbers that do not overflow.
func FuzzFromBytes(f *testing.F) {
	dims := func(d ...uint64) []byte {
		var b []byte
		for _, v := range d {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	f.Add(uint8(F32), make([]byte, 8), dims(2))
	f.Add(uint8(F64), make([]byte, 16), dims(1<<61+2))
	f.Add(uint8(Bool), []byte{1, 2}, dims(2))
	f.Add(uint8(U8), []byte{}, dims(0, 1<<63))
	f.Add(uint8(I16), make([]byte, 12), dims(1, 1, 3, 1, 2))
	f.Add(uint8(Strings), []byte{}, dims(0))
	f.Fuzz(func(t *testing.T, dtype uint8, raw, dims []byte) {
		var shape []int
		size := big.NewInt(int64(DType(dtype).Size()))
		stored := new(big.Int).Set(size)
		ok := size.Sign() > 0
		for ; len(dims) >= 8; dims = dims[8:] {
			d := int(binary.LittleEndian.Uint64(dims))
			shape = append(shape, d)
			ok = ok && d >= 0
			size.Mul(size, big.NewInt(int64(d)))
			if d != 0 {
				stored.Mul(stored, big.NewInt(int64(d)))
			}
		}
		ok = ok && len(shape) <= 32 && size.Cmp(big.NewInt(int64(len(raw)))) == 0 && stored.Cmp(big.NewInt(math.MaxInt)) <= 0
		if DType(dtype) == Bool {
			for _, b := range raw {
				ok = ok && b < 2
			}
		}
		x, err := FromBytes(DType(dtype), raw, shape...)
		require.Equal(t, ok, err == nil, "%v %v of %d bytes: %v", DType(dtype), shape, len(raw), err)
		if err != nil {
			return
		}
		require.Equal(t, len(shape), x.Rank())
		require.EqualValues(t, len(raw), x.Size())
		require.Equal(t, string(raw), string(x.Bytes()))
		require.True(t, must(x.Reshape(shape...)).Equal(x))
		if x.Rank() == 0 || shape[0] == 0 {
			return
		}
		last, err := x.Row(shape[0] - 1)
		require.NoError(t, err)
		require.Equal(t, string(raw[len(raw)-len(last.Bytes()):]), string(last.Bytes()))
		if x.Rank() == MaxRank || len(raw) > 1<<20 {
			return
		}
		both, err := DefaultCollate([]Sample{New(Field{"x", x}), New(Field{"x", x})})
		if stored.Cmp(big.NewInt(math.MaxInt/2)) > 0 { // two of them
			require.ErrorIs(t, err, ErrCollate)
			return
		}
		require.NoError(t, err)
		second := must(both.Item(1))
		require.True(t, second.Field(0).Tensor.Equal(x))
	})
}
