package sample

import (
	"fmt"
	"unsafe"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// View returns the elements of t, row by row. They are the data of t, not a copy, and
// must not be changed; only data that [FromBytes] was given at an address which is
// not aligned for E are copied. uint8 also views Bytes. The error is [ErrDType].
func View[E Element](t Tensor) ([]E, error) {
	if d := DTypeOf[E](); d != t.dtype && (d != U8 || t.dtype != Bytes) {
		return nil, fmt.Errorf("%w: a view of %s as %s", ErrDType, t, d)
	}
	var zero E
	if uintptr(t.data)%unsafe.Alignof(zero) != 0 {
		out := make([]E, t.n)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), t.n*t.dtype.Size()), t.raw())
		return out, nil
	}
	return unsafe.Slice((*E)(t.data), t.n), nil
}

// Strings returns the column of a tensor of Strings, element by element. It is the
// tensor's: who needs it longer takes a slice of it. The error is [ErrDType].
func (t Tensor) Strings() (*stringtensor.Column, error) {
	if t.dtype != Strings {
		return nil, fmt.Errorf("%w: strings of %s", ErrDType, t)
	}
	return t.column(), nil
}
