package source

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ValidateArray checks all of an array that came from outside: lengths, offsets, views,
// UTF-8 and indices. It is [array.ValidateFull], which asks arrays of nulls, alone or
// within others, for a buffer that Arrow files do not have.
func ValidateArray(a arrow.Array) error {
	data, changed := withNullBuffers(a.Data())
	if !changed {
		return array.ValidateFull(a)
	}
	defer data.Release()
	a = array.MakeFromData(data)
	defer a.Release()
	return array.ValidateFull(a)
}

// withNullBuffers returns d with the buffers that the Arrow library gives to arrays of
// nulls when it makes them itself. The caller releases what is changed.
func withNullBuffers(d arrow.ArrayData) (out arrow.ArrayData, changed bool) {
	buffers := d.Buffers()
	if layout := d.DataType().Layout().Buffers; len(buffers) == 0 && len(layout) == 1 && layout[0].Kind == arrow.KindAlwaysNull {
		buffers, changed = []*memory.Buffer{nil}, true
	}
	children := slices.Clone(d.Children())
	for i, c := range children {
		if full, is := withNullBuffers(c); is {
			defer full.Release()
			children[i], changed = full, true
		}
	}
	dictionary, _ := d.Dictionary().(*array.Data)
	if dictionary != nil {
		if full, is := withNullBuffers(dictionary); is {
			defer full.Release()
			dictionary, changed = full.(*array.Data), true
		}
	}
	if !changed {
		return d, false
	}
	made := array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	if dictionary != nil {
		made.SetDictionary(dictionary)
	}
	return made, true
}
