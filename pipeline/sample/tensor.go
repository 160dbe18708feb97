package sample

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// MaxRank is the largest number of dimensions of a tensor.
const MaxRank = 32

// inlineRank is the largest number of dimensions that take no memory besides the
// Tensor, which is then one cache line.
const inlineRank = 4

// Tensor is an immutable array of elements of one type, row by row (the last
// dimension changes fastest). It is a small value that shares its data with its
// copies, and may be read by any number of goroutines at once. The zero value is no
// tensor: it has the type Invalid and no elements.
type Tensor struct {
	data  unsafe.Pointer // the first byte, a *stringtensor.Column under Strings, nil for no bytes
	n     int            // elements
	dtype DType
	rank  uint8
	dims  [inlineRank]int // the shape, zero behind it and where deep has it
	deep  *[MaxRank]int   // the shape of more than inlineRank dimensions, zero behind it
}

// NewTensor returns the tensor of values, which are not copied and must not change
// any more. No dimensions at all make a scalar, of one value. It allocates
// nothing up to 4 dimensions. The error is [ErrShape].
func NewTensor[E Element](values []E, shape ...int) (Tensor, error) {
	t := Tensor{dtype: DTypeOf[E]()}
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if t.n != len(values) {
		return Tensor{}, lengthError(t, len(values), "values")
	}
	t.setData(unsafe.Pointer(unsafe.SliceData(values)))
	return t, nil
}

// Vector returns the tensor of one dimension of values, which are not copied and
// must not change any more.
func Vector[E Element](values []E) Tensor {
	t := Tensor{dtype: DTypeOf[E](), n: len(values), rank: 1}
	t.dims[0] = len(values)
	t.setData(unsafe.Pointer(unsafe.SliceData(values)))
	return t
}

// Scalar returns the tensor of no dimensions and one element.
func Scalar[E Element](v E) Tensor {
	return Tensor{dtype: DTypeOf[E](), n: 1, data: unsafe.Pointer(&v)}
}

// FromBytes returns the tensor of little-endian elements in raw, which is not copied
// and must not change any more. The errors are [ErrShape], and [ErrDType] for
// Strings and for a Bool that is neither 0 nor 1, which is looked for.
func FromBytes(dtype DType, raw []byte, shape ...int) (Tensor, error) {
	if dtype.Size() == 0 {
		return Tensor{}, fmt.Errorf("%w: there are no bytes of %s; give its column to NewStrings", ErrDType, dtype)
	}
	t := Tensor{dtype: dtype}
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if t.n*dtype.Size() != len(raw) {
		return Tensor{}, lengthError(t, len(raw), "bytes")
	}
	if dtype == Bool {
		for i, b := range raw {
			if b > 1 {
				return Tensor{}, fmt.Errorf("%w: byte %d of a bool tensor is %d, not 0 or 1", ErrDType, i, b)
			}
		}
	}
	t.setData(unsafe.Pointer(unsafe.SliceData(raw)))
	return t, nil
}

// NewBytes returns the tensor of type Bytes and one dimension that holds raw, which
// is not copied and must not change any more.
func NewBytes(raw []byte) Tensor {
	t := Vector(raw)
	t.dtype = Bytes
	return t
}

// NewStrings returns the tensor of the rows of a column, which is shared: where it
// borrows memory it must not be released as long as the tensor, or any made of it,
// is in use. The errors are [ErrShape] and, for a nil column, [ErrDType].
func NewStrings(column *stringtensor.Column, shape ...int) (Tensor, error) {
	if column == nil {
		return Tensor{}, fmt.Errorf("%w: no column", ErrDType)
	}
	t := Tensor{dtype: Strings, data: unsafe.Pointer(column)}
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if t.n != column.Len() {
		return Tensor{}, lengthError(t, column.Len(), "rows")
	}
	return t, nil
}

// setData sets the address of the data, unless there are none: the address of no
// bytes may be that of what lies behind them.
func (t *Tensor) setData(p unsafe.Pointer) {
	if t.n > 0 {
		t.data = p
	}
}

// setShape sets shape, rank and the number of elements. Like NumPy it demands that
// the dimensions other than 0 alone could be stored, so that no stride overflows.
func (t *Tensor) setShape(shape []int) error {
	if len(shape) > MaxRank {
		return fmt.Errorf("%w: %d dimensions, at most %d", ErrShape, len(shape), MaxRank)
	}
	n, span := 1, uint(t.dtype.span())
	for i, d := range shape {
		if d < 0 {
			return fmt.Errorf("%w: dimension %d of %s is negative", ErrShape, i, shapeText(shape))
		}
		n *= d
		if d == 0 {
			continue
		}
		hi, lo := bits.Mul(span, uint(d))
		if hi != 0 || lo > math.MaxInt {
			return fmt.Errorf("%w: %s of %s are more bytes than an int can count", ErrShape, shapeText(shape), t.dtype)
		}
		span = lo
	}
	t.n, t.rank, t.dims, t.deep = n, uint8(len(shape)), [inlineRank]int{}, nil
	if len(shape) <= inlineRank {
		copy(t.dims[:], shape)
		return nil
	}
	t.deep = new([MaxRank]int)
	copy(t.deep[:], shape)
	return nil
}

func lengthError(t Tensor, n int, what string) error {
	return fmt.Errorf("%w: %s has %d elements of %d bytes, not what fits %d %s", ErrShape, t, t.n, t.dtype.Size(), n, what)
}

// shapeText formats a shape without letting it escape to the heap.
func shapeText(shape []int) string {
	b := []byte{'['}
	for i, d := range shape {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	return string(append(b, ']'))
}

// DType returns the type of the elements.
func (t Tensor) DType() DType { return t.dtype }

// Rank returns the number of dimensions; 0 for a scalar.
func (t Tensor) Rank() int { return int(t.rank) }

// Dim returns the length of dimension i, from 0. It panics when there is none such,
// as indexing a slice does.
func (t Tensor) Dim(i int) int { return t.shape()[i] }

// Shape returns the lengths of all dimensions as a fresh slice; see [Tensor.Dim].
func (t Tensor) Shape() []int { return t.AppendShape(nil) }

// AppendShape appends the lengths of all dimensions to dst.
func (t Tensor) AppendShape(dst []int) []int { return append(dst, t.shape()...) }

// shape returns the shape in place.
func (t *Tensor) shape() []int {
	if t.deep != nil {
		return t.deep[:t.rank]
	}
	return t.dims[:t.rank]
}

// NumElements returns the number of elements: the product of the shape.
func (t Tensor) NumElements() int { return t.n }

// Size returns the bytes of the data. A string counts with its length and the 16
// bytes of its view; what columns share is counted for each. It takes O(1) time, for
// Strings O(N).
func (t Tensor) Size() int64 {
	if t.dtype == Strings {
		return int64(t.n)*stringtensor.ViewSize + t.column().PayloadBytes()
	}
	return int64(t.n) * int64(t.dtype.Size())
}

// Bytes returns the elements as they lie in memory; they must not be changed. It is nil
// for Strings: see [Tensor.Strings].
func (t Tensor) Bytes() []byte { return t.raw() }

func (t *Tensor) raw() []byte {
	if t.dtype == Strings {
		return nil
	}
	return unsafe.Slice((*byte)(t.data), t.n*t.dtype.Size())
}

// column returns the column of a tensor of Strings.
func (t *Tensor) column() *stringtensor.Column { return (*stringtensor.Column)(t.data) }

// Reshape returns the same elements in another shape, sharing the data. The error
// is [ErrShape] where the number of elements is another.
func (t Tensor) Reshape(shape ...int) (Tensor, error) {
	out := Tensor{dtype: t.dtype, data: t.data}
	if err := out.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if out.n != t.n {
		return Tensor{}, fmt.Errorf("%w: %s has %d elements, %s has %d", ErrShape, t, t.n, shapeText(shape), out.n)
	}
	return out, nil
}

// Slice returns rows lo to hi of the first dimension, hi not included, sharing the
// data. The error is [ErrShape], also for a scalar.
func (t Tensor) Slice(lo, hi int) (Tensor, error) {
	if t.rank == 0 {
		return Tensor{}, fmt.Errorf("%w: %s has no dimension to slice", ErrShape, t)
	}
	shape := t.AppendShape(make([]int, 0, MaxRank))
	if lo < 0 || hi < lo || hi > shape[0] {
		return Tensor{}, fmt.Errorf("%w: slice [%d:%d] of %s", ErrShape, lo, hi, t)
	}
	shape[0] = hi - lo
	return t.part(lo, shape)
}

// Row returns the tensor at index i of the first dimension, which has one dimension
// less, sharing the data. The error is [ErrShape], also for a scalar.
func (t Tensor) Row(i int) (Tensor, error) {
	if t.rank == 0 {
		return Tensor{}, fmt.Errorf("%w: %s has no rows", ErrShape, t)
	}
	shape := t.AppendShape(make([]int, 0, MaxRank))
	if i < 0 || i >= shape[0] {
		return Tensor{}, fmt.Errorf("%w: row %d of %s", ErrShape, i, t)
	}
	return t.part(i, shape[1:])
}

// part returns the tensor of a shape that begins at row lo.
func (t *Tensor) part(lo int, shape []int) (Tensor, error) {
	out := Tensor{dtype: t.dtype}
	if err := out.setShape(shape); err != nil {
		return Tensor{}, err
	}
	row := 0
	if n := t.shape()[0]; n > 0 {
		row = t.n / n
	}
	if t.dtype == Strings {
		column, err := t.column().Slice(lo*row, lo*row+out.n)
		if err != nil {
			return Tensor{}, fmt.Errorf("%w: %w; release a column only when no tensor over it is used any more", ErrShape, err)
		}
		out.data = unsafe.Pointer(column)
		return out, nil
	}
	if out.n > 0 {
		out.data = unsafe.Add(t.data, lo*row*t.dtype.Size())
	}
	return out, nil
}

// Equal reports whether t and u have the same type, shape and bits: NaN equals the same
// NaN, and 0 is not −0. A null string equals null only. It takes O(N) time.
func (t Tensor) Equal(u Tensor) bool {
	if !t.alike(&u, 0) || t.n != u.n {
		return false
	}
	if t.dtype == Strings {
		return t.column().Equal(u.column())
	}
	return bytes.Equal(t.raw(), u.raw())
}

// String returns type and shape, such as "f32[32 16]".
func (t Tensor) String() string { return t.dtype.String() + shapeText(t.shape()) }

// alike reports whether t and u have the same type and shape, but for the dimensions
// whose bit is set in free.
func (t *Tensor) alike(u *Tensor, free uint32) bool {
	if t.dtype != u.dtype || t.rank != u.rank {
		return false
	}
	if t.deep == nil && t.dims == u.dims {
		return true
	}
	v := u.shape()
	for i, d := range t.shape() {
		if d != v[i] && free>>i&1 == 0 {
			return false
		}
	}
	return true
}

// allocate returns zeroed memory for the elements of t, aligned for all types, and
// makes it the data of t, whose shape is set.
func (t *Tensor) allocate() []byte {
	words := make([]uint64, (t.n*t.dtype.Size()+7)/8)
	t.setData(unsafe.Pointer(unsafe.SliceData(words)))
	return t.raw()
}
