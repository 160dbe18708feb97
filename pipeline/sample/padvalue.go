package sample

import (
	"encoding/binary"
	"fmt"
	"math"
)

// padValue returns the bytes of v as an element of a type, of which dtype.Size()
// count. The error is [ErrCollate] where v is no such value.
func padValue(dtype DType, v float64) (raw [8]byte, err error) {
	put := func(bits uint64) { binary.LittleEndian.PutUint64(raw[:], bits) }
	fits := true
	switch dtype {
	case F16:
		h := Float16From(float32(v))
		put(uint64(h))
		fits = sameKind(v, float64(h.Float32()))
	case BF16:
		h := BFloat16From(float32(v))
		put(uint64(h))
		fits = sameKind(v, float64(h.Float32()))
	case F32:
		put(uint64(math.Float32bits(float32(v))))
		fits = sameKind(v, float64(float32(v)))
	case F64:
		put(math.Float64bits(v))
	case U64:
		fits = v == math.Trunc(v) && v >= 0 && v < 1<<64
		if fits {
			put(uint64(v))
		}
	default:
		lo, hi := integerRange(dtype)
		fits = v == math.Trunc(v) && v >= lo && v < hi
		if fits {
			put(uint64(int64(v)))
		}
	}
	if !fits {
		return raw, fmt.Errorf("%w: the pad value %v is no %s; see WithPadValue", ErrCollate, v, dtype)
	}
	return raw, nil
}

// sameKind reports whether the nearest value of a float type is still finite if v is.
func sameKind(v, nearest float64) bool { return math.IsInf(v, 0) == math.IsInf(nearest, 0) }

// integerRange returns the least value of a type and the first one above it.
func integerRange(dtype DType) (lo, hi float64) {
	switch dtype {
	case I8:
		return -1 << 7, 1 << 7
	case I16:
		return -1 << 15, 1 << 15
	case I32:
		return -1 << 31, 1 << 31
	case I64:
		return -1 << 63, 1 << 63
	case U8, Bytes:
		return 0, 1 << 8
	case U16:
		return 0, 1 << 16
	case U32:
		return 0, 1 << 32
	case Bool:
		return 0, 2
	}
	return 0, 0
}
