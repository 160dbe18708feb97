package table

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// Parquet has no lists of fixed size, and the Arrow library writes them only where none is
// null. So there they become lists.

// hasFixedLists reports whether there is a list of fixed size in t.
func hasFixedLists(t arrow.DataType) bool {
	if t.ID() == arrow.FIXED_SIZE_LIST {
		return true
	}
	n, ok := t.(arrow.NestedType)
	return ok && slices.ContainsFunc(n.Fields(), func(f arrow.Field) bool { return hasFixedLists(f.Type) })
}

// looseField returns f with lists for lists of fixed size.
func looseField(f arrow.Field) arrow.Field {
	if !hasFixedLists(f.Type) {
		return f
	}
	switch t := f.Type.(type) {
	case *arrow.FixedSizeListType:
		f.Type = arrow.ListOfField(looseField(t.ElemField()))
	case *arrow.ListType:
		f.Type = arrow.ListOfField(looseField(t.ElemField()))
	case *arrow.LargeListType:
		f.Type = arrow.LargeListOfField(looseField(t.ElemField()))
	case *arrow.MapType:
		f.Type = arrow.MapOfFields(looseField(t.KeyField()), looseField(t.ItemField()))
	case *arrow.StructType:
		fields := slices.Clone(t.Fields())
		for i := range fields {
			fields[i] = looseField(fields[i])
		}
		f.Type = arrow.StructOf(fields...)
	}
	return f
}

// loose returns arr, which begins at offset 0 and which it releases, with the type of
// [looseField].
func loose(arr arrow.Array) (arrow.Array, error) {
	if !hasFixedLists(arr.DataType()) {
		return arr, nil
	}
	defer arr.Release()
	data := arr.Data()
	buffers := data.Buffers()
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, d := range data.Children() {
		child := array.MakeFromData(d)
		if list, ok := arr.(*array.FixedSizeList); ok {
			values, offsets, err := listValues(list, child)
			child.Release()
			if err != nil {
				return nil, err
			}
			child = values
			buffers = []*arrowmem.Buffer{buffers[0], offsets}
		}
		child, err := loose(child)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children[i] = child.Data()
	}
	to := looseField(arrow.Field{Type: arr.DataType()}).Type
	out := array.NewData(to, data.Len(), buffers, children, arr.NullN(), 0)
	defer out.Release()
	return array.MakeFromData(out), nil
}

// listValues returns the values of the lists that are not null, and the offsets of all.
func listValues(list *array.FixedSizeList, values arrow.Array) (arrow.Array, *arrowmem.Buffer, error) {
	n := int64(list.DataType().(*arrow.FixedSizeListType).Len())
	runs := []arrow.Array{array.NewSlice(values, 0, 0)}
	defer func() { release(runs) }()
	offsets := make([]int32, 1, list.Len()+1)
	for row := 0; row < list.Len(); {
		from := row
		for ; row < list.Len() && list.IsValid(row); row++ {
			offsets = append(offsets, offsets[row]+int32(n))
		}
		if row > from {
			runs = append(runs, array.NewSlice(values, int64(from)*n, int64(row)*n))
		}
		for ; row < list.Len() && list.IsNull(row); row++ {
			offsets = append(offsets, offsets[row])
		}
	}
	kept, err := array.Concatenate(runs, arrowmem.DefaultAllocator)
	return kept, arrowmem.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), err
}
