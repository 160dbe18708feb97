package stringtensor

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// exportTypes are the types to export as, with the type of the array.
var exportTypes = map[ArrowType]arrow.DataType{
	ArrowStringView:  arrow.BinaryTypes.StringView,
	ArrowString:      arrow.BinaryTypes.String,
	ArrowLargeString: arrow.BinaryTypes.LargeString,
	ArrowStringAuto:  arrow.BinaryTypes.String,
	ArrowBinaryView:  arrow.BinaryTypes.BinaryView,
	ArrowBinary:      arrow.BinaryTypes.Binary,
	ArrowLargeBinary: arrow.BinaryTypes.LargeBinary,
	ArrowBinaryAuto:  arrow.BinaryTypes.Binary,
}

// columnOf builds a column of the rows over Go memory.
func columnOf(t require.TestingT, rows []*string) *Column {
	var b Builder
	for _, s := range rows {
		if s == nil {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendString(*s))
		}
	}
	return b.Finish()
}

// requireArray checks type, rows and layout of an array by Arrow's own means.
func requireArray(t require.TestingT, want []*string, typ arrow.DataType, arr arrow.Array) {
	require.True(t, arrow.TypeEqual(typ, arr.DataType()), "%s", arr.DataType())
	require.NoError(t, arr.(interface{ ValidateFull() error }).ValidateFull())
	require.Equal(t, len(want), arr.Len())
	nulls := 0
	for i, s := range arrowRowsOf(arr) {
		require.Equal(t, want[i], s, "row %d", i)
		if s == nil {
			nulls++
		}
	}
	require.Equal(t, nulls, arr.NullN())
}

func TestToArrowAgreesWithArrow(t *testing.T) {
	for typ, want := range exportTypes {
		for name, list := range rowLists() {
			t.Run(fmt.Sprint(typ, "/", name), func(t *testing.T) {
				mem := checkedAllocator(t)
				c := columnOf(t, list)
				// Slices begin at every bit of the validity's first bytes.
				for lo := 0; lo <= min(len(list), 17); lo++ {
					part, err := c.Slice(lo, len(list))
					require.NoError(t, err)
					arr, err := part.ToArrow(mem, typ)
					require.NoError(t, err)
					requireArray(t, list[lo:], want, arr)
					arr.Release()
				}
			})
		}
	}
}

func TestToArrowTypeNames(t *testing.T) {
	for typ, want := range exportTypes {
		name, _, _ := strings.Cut(typ.String(), " or ")
		name = strings.NewReplacer("utf8_view", "string_view").Replace(name)
		require.Equal(t, want.Name(), name)
	}
	_, err := columnOf(t, nil).ToArrow(arrowmem.DefaultAllocator, 99)
	require.ErrorIs(t, err, ErrUnsupportedType)
	require.ErrorContains(t, err, "ArrowType(99)")
}

func TestToArrowOverflow(t *testing.T) {
	mem := checkedAllocator(t)
	list := rows("eight by", nil, "tes and ", "sixteen in bytes")
	c := columnOf(t, list)
	for typ, want := range exportTypes {
		arr, err := c.ToArrow(mem, typ, WithArrowLimit(32))
		require.NoError(t, err)
		requireArray(t, list, want, arr)
		arr.Release()

		arr, err = c.ToArrow(mem, typ, WithArrowLimit(31))
		switch typ {
		case ArrowString, ArrowBinary:
			require.ErrorIs(t, err, ErrOffsetOverflow)
			require.ErrorContains(t, err, "32 bytes")
			continue
		case ArrowStringAuto:
			want = arrow.BinaryTypes.LargeString
		case ArrowBinaryAuto:
			want = arrow.BinaryTypes.LargeBinary
		}
		require.NoError(t, err)
		requireArray(t, list, want, arr)
		arr.Release()
	}
}

// A view array has exactly the views and buffers of the column, in place.
func TestToArrowViewsAreTheColumns(t *testing.T) {
	list := rowLists()["null first"]
	c := columnOf(t, list)
	for _, typ := range []ArrowType{ArrowStringView, ArrowBinaryView} {
		arr, err := c.ToArrow(checkedAllocator(t), typ)
		require.NoError(t, err)
		buffers := arr.Data().Buffers()
		require.Len(t, buffers, 2+len(c.Buffers()))
		require.Len(t, buffers[0].Bytes(), 1)
		require.Len(t, buffers[1].Bytes(), len(list)*ViewSize)
		require.Same(t, (*byte)(unsafe.Pointer(unsafe.SliceData(c.views))), unsafe.SliceData(buffers[1].Bytes()))
		require.Same(t, unsafe.SliceData(c.valid.bits), unsafe.SliceData(buffers[0].Bytes()))
		for i, b := range c.Buffers() {
			require.Len(t, buffers[2+i].Bytes(), b.Len())
			require.Same(t, unsafe.SliceData(b.Bytes()), unsafe.SliceData(buffers[2+i].Bytes()))
		}
		arr.Release()
	}
}

// The array keeps the column's claims, also when only a slice of the array or
// one of its buffers is left.
func TestToArrowKeepsClaims(t *testing.T) {
	list := rowLists()["many"]
	for _, from := range arrowTypes {
		for typ, want := range exportTypes {
			mem := checkedAllocator(t)
			in := buildArray(t, mem, from, list)
			c, err := FromArrow(in)
			require.NoError(t, err)
			in.Release()
			part, err := c.Slice(8, 101) // the validity begins at a byte border
			require.NoError(t, err)
			c.Release()
			arr, err := part.ToArrow(mem, typ)
			require.NoError(t, err)
			part.Release()
			requireArray(t, list[8:101], want, arr)
			s := array.NewSlice(arr, 1, 90)
			arr.Release()
			requireArray(t, list[9:98], want, s)
			payload := s.Data().Buffers()[2]
			payload.Retain()
			s.Release()
			require.NotZero(t, mem.CurrentAlloc())
			require.NotEmpty(t, payload.Bytes())
			payload.Release()
			require.Zero(t, mem.CurrentAlloc())
		}
	}
}

func TestToArrowOfReleasedColumn(t *testing.T) {
	mem := checkedAllocator(t)
	in := buildArray(t, mem, arrow.BinaryTypes.StringView, rowLists()["many"])
	c, err := FromArrow(in)
	require.NoError(t, err)
	in.Release()
	c.Release()
	for typ, want := range exportTypes {
		arr, err := c.ToArrow(mem, typ)
		require.NoError(t, err)
		requireArray(t, rows(), want, arr)
		arr.Release()
	}
}

func TestArrowRoundTripAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
		list := drawRows(t)
		c := columnOf(t, list)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			typ := ArrowType(rapid.IntRange(0, int(ArrowBinaryAuto)).Draw(t, "type"))
			arr, err := c.ToArrow(mem, typ)
			require.NoError(t, err)
			c.Release()
			c, err = FromArrow(arr)
			require.NoError(t, err)
			arr.Release()
			requireColumn(t, list, c)
			lo := rapid.IntRange(0, len(list)).Draw(t, "lo")
			part, err := c.Slice(lo, len(list))
			require.NoError(t, err)
			c.Release()
			c, list = part, list[lo:]
		}
		c.Release()
		require.Zero(t, mem.CurrentAlloc())
	})
}
