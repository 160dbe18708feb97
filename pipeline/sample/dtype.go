package sample

import (
	"fmt"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// DType is the type of the elements of a tensor. The zero value, Invalid, is that
// of the zero Tensor only.
type DType uint8

// The types. All numbers are little endian.
const (
	Invalid DType = iota
	F16           // IEEE 754 binary16
	BF16          // the upper half of an F32
	F32
	F64
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	Bool    // one byte, 0 or 1
	Bytes   // one byte of something that is not a number, such as an encoded image
	Strings // one string, or null, of a stringtensor.Column
	dtypeCount
)

var dtypeNames = [dtypeCount]string{
	"invalid", "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "bytes", "strings",
}

var dtypeSizes = [dtypeCount]int{F16: 2, BF16: 2, F32: 4, F64: 8, I8: 1, I16: 2, I32: 4, I64: 8, U8: 1, U16: 2, U32: 4, U64: 8, Bool: 1, Bytes: 1}

// String returns the name, such as "f32", "bool" or "strings".
func (d DType) String() string {
	if d < dtypeCount {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// ParseDType returns the type of that name, which is what [DType.String] returns.
// The error is [ErrDType], also for "invalid".
func ParseDType(name string) (DType, error) {
	for d := Invalid + 1; d < dtypeCount; d++ {
		if dtypeNames[d] == name {
			return d, nil
		}
	}
	return Invalid, fmt.Errorf("%w: %q is not one of %q", ErrDType, name, dtypeNames[1:])
}

// Size returns the bytes of an element; 0 for Strings, which differ in length, and
// for what is no type.
func (d DType) Size() int {
	if d < dtypeCount {
		return dtypeSizes[d]
	}
	return 0
}

// span returns the bytes of memory that an element has in a tensor, at least 1.
func (d DType) span() int {
	if d == Strings {
		return stringtensor.ViewSize
	}
	return max(d.Size(), 1)
}

// Element is the Go type of the elements of a tensor of numbers or bools.
type Element interface {
	Float16 | BFloat16 | float32 | float64 |
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// DTypeOf returns the type of a tensor of E; U8 for uint8.
func DTypeOf[E Element]() DType {
	var zero E
	switch any(zero).(type) {
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case float32:
		return F32
	case float64:
		return F64
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	case bool:
		return Bool
	}
	return Invalid
}
