package stringtensor

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// bytesOf returns the memory of a list of numbers.
func bytesOf[T any](list ...T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(zero)))
}

// hostileArray wraps data without the checks of the array's own constructor.
type hostileArray struct {
	arrow.Array
	data *array.Data
}

func (h hostileArray) Data() arrow.ArrayData    { return h.data }
func (h hostileArray) DataType() arrow.DataType { return h.data.DataType() }

func hostile(t arrow.DataType, n, nulls, offset int, buffers ...[]byte) hostileArray {
	list := make([]*arrowmem.Buffer, len(buffers))
	for i, b := range buffers {
		if b != nil {
			list[i] = arrowmem.NewBufferBytes(b)
		}
	}
	return hostileArray{data: array.NewData(t, n, list, nil, nulls, offset)}
}

func TestFromArrowHostile(t *testing.T) {
	payload := []byte("0123456789abcdef")
	view := func(n, buffer, offset uint32, prefix string) []byte {
		return bytesOf(n, uint32(prefix[0])|uint32(prefix[1])<<8|uint32(prefix[2])<<16|uint32(prefix[3])<<24, buffer, offset)
	}
	str, large, sv := arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView
	for name, c := range map[string]struct {
		arr  hostileArray
		want string
	}{
		"negative length":       {hostile(str, -1, 0, 0, nil, bytesOf[int32](0), payload), "array of -1 rows"},
		"negative offset":       {hostile(str, 1, 0, -1, nil, bytesOf[int32](0, 0), payload), "offset -1"},
		"overflowing offset":    {hostile(str, 9, 0, math.MaxInt-3, nil, bytesOf[int32](0, 0), payload), "rows at offset"},
		"no buffers":            {hostile(str, 1, 0, 0), "buffer of 0 bytes"},
		"no offsets":            {hostile(str, 1, 0, 0, nil, nil, payload), "offsets: "},
		"short offsets":         {hostile(str, 2, 0, 0, nil, bytesOf[int32](0, 1), payload), "offsets: "},
		"offset falls":          {hostile(str, 2, 0, 0, nil, bytesOf[int32](0, 5, 4), payload), "offset 2 is 4, below"},
		"offset below zero":     {hostile(str, 1, 0, 0, nil, bytesOf[int32](-1, 4), payload), "offset 0 is -1"},
		"offset beyond":         {hostile(str, 1, 0, 0, nil, bytesOf[int32](0, 17), payload), "offset 1 is 17"},
		"all beyond":            {hostile(str, 1, 0, 0, nil, bytesOf[int32](17, 17), payload), "offset 0 is 17"},
		"no payload":            {hostile(str, 1, 0, 0, nil, bytesOf[int32](0, 1), nil), "offset 1 is 1"},
		"wide offset":           {hostile(large, 1, 0, 0, nil, bytesOf[int64](0, 1<<33), payload), "offset 1 is 8589934592"},
		"offset of -2^63":       {hostile(large, 1, 0, 0, nil, bytesOf[int64](math.MinInt64, 1), payload), "offset 0 is -9223372036854775808"},
		"short validity":        {hostile(str, 9, 1, 0, []byte{1}, make([]byte, 40), payload), "validity bitmap of 1 bytes"},
		"no validity":           {hostile(str, 1, 1, 0, nil, bytesOf[int32](0, 0), payload), "1 nulls and no validity"},
		"short views":           {hostile(sv, 2, 0, 0, nil, view(0, 0, 0, "\x00\x00\x00\x00")), "views: "},
		"views beyond":          {hostile(sv, 1, 0, 1, nil, view(0, 0, 0, "\x00\x00\x00\x00")), "views: "},
		"view length":           {hostile(sv, 1, 0, 0, nil, view(1<<31, 0, 0, "0123"), payload), "row 0"},
		"view buffer":           {hostile(sv, 1, 0, 0, nil, view(13, 1, 0, "0123"), payload), "row 0: buffer 1 of 1"},
		"view buffer below 0":   {hostile(sv, 1, 0, 0, nil, view(13, math.MaxUint32, 0, "0123"), payload), "row 0"},
		"view offset":           {hostile(sv, 1, 0, 0, nil, view(13, 0, 4, "4567"), payload), "row 0"},
		"view offset below 0":   {hostile(sv, 1, 0, 0, nil, view(13, 0, math.MaxUint32, "0123"), payload), "row 0"},
		"view prefix":           {hostile(sv, 1, 0, 0, nil, view(13, 0, 0, "0124"), payload), "row 0: prefix"},
		"view padding":          {hostile(sv, 1, 0, 0, nil, view(3, 1, 0, "abc\x00"), payload), "row 0: padding"},
		"view padding in front": {hostile(sv, 1, 0, 0, nil, view(3, 0, 0, "abcd"), payload), "row 0: padding"},
		"view of absent buffer": {hostile(sv, 1, 0, 0, nil, view(13, 0, 0, "0123"), nil), "row 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromArrow(c.arr)
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
	for _, index := range []int8{-1, 2, math.MaxInt8} {
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
		h := hostile(typ, 2, 0, 0, nil, bytesOf[int8](1, index))
		_, err := FromArrow(h)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, "without a dictionary")
		h.data.SetDictionary(hostile(str, 2, 0, 0, nil, bytesOf[int32](0, 1, 2), payload).data)
		_, err = FromArrow(h)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("row 1: entry %d of a dictionary of 2", index))
	}
}

// Arrow does not say what is under a null: here garbage, which must not reach the
// column.
func TestFromArrowGarbageUnderNulls(t *testing.T) {
	garbage := bytes.Repeat([]byte{0xFF}, 4*ViewSize)
	copy(garbage[ViewSize:], bytesOf[uint32](2, 'h'|'i'<<8, 0, 0))
	before := bytes.Clone(garbage)
	for _, nulls := range []int{3, array.UnknownNullCount, 0} {
		c, err := FromArrow(hostile(arrow.BinaryTypes.StringView, 4, nulls, 0, []byte{0b0010}, garbage))
		require.NoError(t, err)
		requireColumn(t, rows(nil, "hi", nil, nil), c)
	}
	require.Equal(t, before, garbage, "the array's own views are left alone")
	c, err := FromArrow(hostile(arrow.BinaryTypes.Binary, 2, 1, 0, []byte{0b10}, bytesOf[int32](0, 14, 16), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffok")))
	require.NoError(t, err)
	requireColumn(t, rows(nil, "ok"), c)
}

// Memory that is not aligned, as in a mapped file, is copied instead of cast.
func TestFromArrowMisaligned(t *testing.T) {
	shift := func(b []byte) []byte { return append(make([]byte, 1, len(b)+1), b...)[1:] }
	payload := []byte("0123456789abcdef")
	views := bytesOf[uint32](3, 'a'|'b'<<8|'c'<<16, 0, 0, 16, '0'|'1'<<8|'2'<<16|'3'<<24, 0, 0)
	c, err := FromArrow(hostile(arrow.BinaryTypes.StringView, 2, 0, 0, nil, shift(views), payload))
	require.NoError(t, err)
	requireColumn(t, rows("abc", string(payload)), c)
	c, err = FromArrow(hostile(arrow.BinaryTypes.LargeString, 2, 0, 0, nil, shift(bytesOf[int64](0, 3, 16)), payload))
	require.NoError(t, err)
	requireColumn(t, rows("012", string(payload[3:])), c)
}
