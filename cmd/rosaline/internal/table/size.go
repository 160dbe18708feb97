package table

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// lengthSize is what a string or list is counted for besides what it holds, in bytes.
const lengthSize = 4

// addSizes adds to sizes how many bytes each row of arr takes: those of its values, 4
// more a string or list, and one for what takes less. It is O(values), and a function
// of each row alone.
func addSizes(sizes []int64, arr arrow.Array) {
	switch a := arr.(type) {
	case array.ExtensionArray:
		addSizes(sizes, a.Storage())
	case array.BinaryLike:
		for i := range sizes {
			sizes[i] += lengthSize
			if a.IsValid(i) {
				sizes[i] += int64(a.ValueLen(i))
			}
		}
	case array.ListLike:
		values := a.ListValues()
		ends := make([]int64, values.Len()+1)
		addSizes(ends[1:], values)
		for i := 1; i < len(ends); i++ {
			ends[i] += ends[i-1]
		}
		for i := range sizes {
			sizes[i] += lengthSize
			if a.IsValid(i) {
				lo, hi := a.ValueOffsets(i)
				sizes[i] += ends[hi] - ends[lo]
			}
		}
	case *array.Struct:
		for f := range a.NumField() {
			addSizes(sizes, a.Field(f))
		}
	default:
		width := int64(1)
		if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
			width = int64(max(t.BitWidth()/8, 1))
		}
		for i := range sizes {
			sizes[i] += width
		}
	}
}
