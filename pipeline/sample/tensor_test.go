package sample

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// texts returns a tensor of strings.
func texts(s []string, shape ...int) Tensor {
	return must(NewStrings(must(stringtensor.FromStrings(s)), shape...))
}

func TestTensorShapeMustFit(t *testing.T) {
	six := []int32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		values []int32
		shape  []int
		ok     bool
	}{
		{six, []int{6}, true},
		{six, []int{2, 3}, true},
		{six, []int{1, 1, 1, 1, 6, 1}, true},
		{six[:1], nil, true},
		{six[:1], []int{}, true},
		{nil, []int{0}, true},
		{nil, []int{3, 0, 2}, true},
		{six, nil, false},
		{six, []int{5}, false},
		{six, []int{7}, false},
		{six, []int{2, 2}, false},
		{six, []int{-6}, false},
		{six, []int{-2, -3}, false},
		{nil, []int{0, -1}, false},
		{nil, nil, false},
		{six, []int{0, 6}, false},
		// Products that wrap around to what would fit.
		{six, []int{math.MaxInt/2 + 1, 4, 6}, false},
		{nil, []int{math.MaxInt/2 + 1, 4}, false},
		{nil, []int{math.MaxInt, math.MaxInt}, false},
		{nil, []int{0, math.MaxInt}, false},
		{nil, []int{math.MaxInt, 0, math.MaxInt}, false},
		{nil, []int{math.MaxInt / 3, 0}, false}, // times 4 bytes
		{nil, []int{math.MaxInt / 4, 0}, true},
		{six, slices.Repeat([]int{1}, 33), false},
		{six[:1], slices.Repeat([]int{1}, 32), true},
	} {
		x, err := NewTensor(c.values, c.shape...)
		if !c.ok {
			require.ErrorIs(t, err, ErrShape, "%v", c.shape)
			require.Equal(t, Tensor{}, x)
			continue
		}
		require.NoError(t, err, "%v", c.shape)
		require.Equal(t, I32, x.DType())
		require.Equal(t, len(c.shape), x.Rank())
		require.Equal(t, append([]int(nil), c.shape...), x.Shape())
		require.Equal(t, len(c.values), x.NumElements())
		require.EqualValues(t, 4*len(c.values), x.Size())
	}
}

func TestTensorShapeErrors(t *testing.T) {
	for text, shape := range map[string][]int{
		"dimension 1 of [2 -3] is negative":           {2, -3},
		"33 dimensions, at most 32":                   make([]int, 33),
		"are more bytes than an int can count":        {math.MaxInt, 2},
		"i32[3 4] has 12 elements of 4 bytes, not wh": {3, 4},
	} {
		_, err := NewTensor(make([]int32, 6), shape...)
		require.ErrorContains(t, err, text)
	}
}

func TestTensorBytesAreLittleEndian(t *testing.T) {
	x := Vector([]uint32{0x04030201, 0x08070605})
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8}, x.Bytes())
	y := must(FromBytes(U32, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 2))
	require.True(t, x.Equal(y))
	require.Equal(t, 2, y.Dim(0))
}

func TestTensorFromBytesChecks(t *testing.T) {
	for _, c := range []struct {
		dtype DType
		raw   []byte
		shape []int
		err   error
	}{
		{F32, make([]byte, 8), []int{2}, nil},
		{F32, make([]byte, 7), []int{2}, ErrShape},
		{F32, make([]byte, 9), []int{2}, ErrShape},
		{F32, make([]byte, 4), nil, nil},
		{F64, make([]byte, 8), []int{math.MaxInt/8 + 2}, ErrShape}, // times 8 is 8 + 2⁶⁴
		{Bool, []byte{0, 1, 1}, []int{3}, nil},
		{Bool, []byte{0, 1, 2}, []int{3}, ErrDType},
		{Bytes, []byte{7, 0, 255}, []int{3}, nil},
		{Strings, nil, []int{0}, ErrDType},
		{Invalid, nil, []int{0}, ErrDType},
		{DType(99), nil, []int{0}, ErrDType},
	} {
		x, err := FromBytes(c.dtype, c.raw, c.shape...)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, "%v %v", c.dtype, c.shape)
			continue
		}
		require.NoError(t, err, "%v %v", c.dtype, c.shape)
		require.Equal(t, c.raw, x.Bytes())
	}
	_, err := FromBytes(Bool, []byte{0, 1, 7}, 3)
	require.ErrorContains(t, err, "byte 2 of a bool tensor is 7")
}

func TestTensorScalar(t *testing.T) {
	x := Scalar(int64(-7))
	require.Equal(t, "i64[]", x.String())
	require.Equal(t, 1, x.NumElements())
	require.Equal(t, []int64{-7}, must(View[int64](x)))
	require.True(t, x.Equal(must(NewTensor([]int64{-7}))))
	_, err := x.Row(0)
	require.ErrorIs(t, err, ErrShape)
	_, err = x.Slice(0, 0)
	require.ErrorIs(t, err, ErrShape)
}

func TestTensorZeroValue(t *testing.T) {
	var x Tensor
	require.Equal(t, Invalid, x.DType())
	require.Zero(t, x.NumElements())
	require.Zero(t, x.Size())
	require.Empty(t, x.Bytes())
	require.Empty(t, x.Shape())
	require.Equal(t, "invalid[]", x.String())
	require.True(t, x.Equal(Tensor{}))
	_, err := View[uint8](x)
	require.ErrorIs(t, err, ErrDType)
	_, err = x.Strings()
	require.ErrorIs(t, err, ErrDType)
	_, err = x.Reshape()
	require.ErrorIs(t, err, ErrShape)
}

func TestTensorStrings(t *testing.T) {
	long := strings.Repeat("long", 10)
	x := texts([]string{"a", long, "", "d"}, 2, 2)
	require.Equal(t, "strings[2 2]", x.String())
	require.EqualValues(t, 4*16+1+40+0+1, x.Size())
	require.Nil(t, x.Bytes())
	require.Equal(t, []string{"a", long, "", "d"}, must(x.Strings()).Strings())
	require.Equal(t, []string{"", "d"}, must(must(x.Row(1)).Strings()).Strings())
	require.Equal(t, []string{"a", long}, must(must(x.Slice(0, 1)).Strings()).Strings())
	require.True(t, x.Equal(texts([]string{"a", long, "", "d"}, 2, 2)))
	require.False(t, x.Equal(texts([]string{"a", long, "", "e"}, 2, 2)))
	require.False(t, x.Equal(must(x.Reshape(4))))

	var b stringtensor.Builder
	b.AppendNull()
	null := must(NewStrings(b.Finish(), 1))
	require.False(t, null.Equal(texts([]string{""}, 1)), "null is not the empty string")

	_, err := NewStrings(nil, 0)
	require.ErrorIs(t, err, ErrDType)
	_, err = NewStrings(must(stringtensor.FromStrings([]string{"a"})), 2)
	require.ErrorIs(t, err, ErrShape)
	_, err = NewStrings(new(stringtensor.Column), math.MaxInt/15, 0)
	require.ErrorIs(t, err, ErrShape, "the views of such a shape could not be stored")
}

// borrowed returns the column of rows of 20 bytes over memory that can be released.
func borrowed(rows int) *stringtensor.Column {
	b := stringtensor.NewBuffer([]byte(strings.Repeat("20 bytes of payload ", rows)), func() {})
	views := make([]stringtensor.StringView16, rows)
	full := must(stringtensor.FromStrings(slices.Repeat([]string{"20 bytes of payload "}, rows)))
	for i := range views {
		views[i] = full.View(i)
	}
	c := must(stringtensor.FromViews(views, []*stringtensor.Buffer{b}))
	b.Release()
	return c
}

// Whoever releases a column too early gets errors, not a crash.
func TestTensorReleasedColumn(t *testing.T) {
	c := borrowed(4)
	x := must(NewStrings(c, 2, 2))
	require.True(t, x.Equal(x))
	c.Release()
	_, err := x.Row(1)
	require.ErrorIs(t, err, ErrShape)
	require.ErrorContains(t, err, "release")
	require.EqualValues(t, 4*16, x.Size())
	for name, collate := range allCollates(t) {
		_, err = collate([]Sample{New(Field{"t", x}), New(Field{"t", x})})
		require.ErrorIs(t, err, ErrCollate, name)
		require.ErrorContains(t, err, "release", name)
	}
}

func allCollates(t *testing.T) map[string]CollateFunc {
	padded, err := PaddedCollate()
	require.NoError(t, err)
	ragged, err := RaggedCollate()
	require.NoError(t, err)
	return map[string]CollateFunc{"default": DefaultCollate, "padded": padded, "ragged": ragged}
}

func TestTensorReshape(t *testing.T) {
	x := Vector([]int16{1, 2, 3, 4, 5, 6})
	y := must(x.Reshape(3, 2))
	require.Equal(t, "i16[3 2]", y.String())
	require.Same(t, &x.Bytes()[0], &y.Bytes()[0])
	require.False(t, x.Equal(y))
	for _, shape := range [][]int{{}, {5}, {7}, {-6}, {3, -2}, {0}} {
		_, err := x.Reshape(shape...)
		require.ErrorIs(t, err, ErrShape, "%v", shape)
	}
}

func TestTensorEqualIsBitwise(t *testing.T) {
	nan := Vector([]float64{math.NaN()})
	require.True(t, nan.Equal(nan))
	require.False(t, Vector([]float64{0}).Equal(Vector([]float64{math.Copysign(0, -1)})))
	require.False(t, Vector([]uint8{1}).Equal(Vector([]int8{1})))
	require.False(t, Vector([]uint8{1}).Equal(NewBytes([]byte{1})))
	require.False(t, Vector([]uint8{1}).Equal(Vector([]uint8{1, 2})))
	deep := must(NewTensor([]uint8{1, 2}, 1, 1, 1, 1, 2))
	require.True(t, deep.Equal(must(NewTensor([]uint8{1, 2}, 1, 1, 1, 1, 2))))
	require.False(t, deep.Equal(must(NewTensor([]uint8{1, 2}, 1, 1, 1, 2, 1))))
}

func TestTensorSliceBounds(t *testing.T) {
	x := must(NewTensor([]int8{1, 2, 3, 4, 5, 6}, 3, 2))
	for _, c := range [][2]int{{-1, 2}, {2, 1}, {0, 4}, {4, 4}, {math.MinInt, math.MaxInt}} {
		_, err := x.Slice(c[0], c[1])
		require.ErrorIs(t, err, ErrShape, "%v", c)
	}
	for _, i := range []int{-1, 3, math.MaxInt} {
		_, err := x.Row(i)
		require.ErrorIs(t, err, ErrShape, "%d", i)
	}
	require.Equal(t, "i8[0 2]", must(x.Slice(3, 3)).String())
	empty := must(NewTensor([]int8{}, 0, 2))
	require.Equal(t, "i8[0 2]", must(empty.Slice(0, 0)).String())
	wide := must(NewTensor([]int8{}, 2, 0))
	require.Equal(t, "i8[0]", must(wide.Row(1)).String())
}

// Rows and slices of arrays of any shape are what indexing a flat list by hand gives.
func TestTensorSliceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 6).Draw(t, "shape")
		n := 1
		for _, d := range shape {
			n *= d
		}
		flat := make([]uint16, n)
		words := make([]string, n)
		for i := range flat {
			flat[i] = uint16(i)
			words[i] = strings.Repeat("w", i%20)
		}
		x, s := must(NewTensor(flat, shape...)), texts(words, shape...)
		lo := rapid.IntRange(0, shape[0]).Draw(t, "lo")
		hi := rapid.IntRange(lo, shape[0]).Draw(t, "hi")
		row := 1
		for _, d := range shape[1:] {
			row *= d
		}
		part := must(x.Slice(lo, hi))
		require.Equal(t, append([]int{hi - lo}, shape[1:]...), part.Shape())
		require.Equal(t, flat[lo*row:hi*row], append([]uint16{}, must(View[uint16](part))...))
		require.Equal(t, words[lo*row:hi*row], append([]string{}, must(must(s.Slice(lo, hi)).Strings()).Strings()...))
		if lo < hi {
			one := must(x.Row(lo))
			require.Equal(t, shape[1:], append([]int{}, one.Shape()...))
			require.Equal(t, flat[lo*row:(lo+1)*row], append([]uint16{}, must(View[uint16](one))...))
		}
	})
}

// The layout drawn in the package comment.
func TestTensorIsACacheLine(t *testing.T) {
	if unsafe.Sizeof(0) == 8 {
		require.EqualValues(t, 64, unsafe.Sizeof(Tensor{}))
	}
}

func TestTensorAllocations(t *testing.T) {
	values := make([]float32, 24)
	var x Tensor
	require.Zero(t, testing.AllocsPerRun(100, func() { x, _ = NewTensor(values, 1, 2, 3, 4) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { x, _ = x.Reshape(4, 6) }))
	var y Tensor
	require.Zero(t, testing.AllocsPerRun(100, func() { y, _ = x.Row(3) }))
	require.Equal(t, 6, y.NumElements())
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = View[float32](y) }))
}
