package source

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// TestValidateArrayOfNulls: arrays of nulls as they come from a file have no buffers, alone
// and wherever they stand within others.
func TestValidateArrayOfNulls(t *testing.T) {
	nulls := func(n int) arrow.ArrayData { return array.NewData(arrow.Null, n, nil, nil, n, 0) }
	offsets := func(n ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(n)) }
	x := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.Null, Nullable: true})
	inStruct := array.NewData(x, 2, []*memory.Buffer{nil}, []arrow.ArrayData{nulls(2)}, 0, 0)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.Null}
	indices := []*memory.Buffer{nil, memory.NewBufferBytes([]byte{0, 0})}
	for name, data := range map[string]arrow.ArrayData{
		"alone":      nulls(2),
		"struct":     inStruct,
		"list":       array.NewData(arrow.ListOf(arrow.Null), 2, []*memory.Buffer{nil, offsets(0, 1, 3)}, []arrow.ArrayData{nulls(3)}, 0, 0),
		"deep":       array.NewData(arrow.ListOf(x), 1, []*memory.Buffer{nil, offsets(0, 2)}, []arrow.ArrayData{inStruct}, 0, 0),
		"dictionary": array.NewDataWithDictionary(dictionary, 2, indices, 0, 0, nulls(1).(*array.Data)),
	} {
		require.NoError(t, ValidateArray(array.MakeFromData(data)), name)
	}
	// What is wrong beside them is found.
	bad := array.NewData(arrow.ListOf(arrow.Null), 2, []*memory.Buffer{nil, offsets(0, 1, 4)}, []arrow.ArrayData{nulls(3)}, 0, 0)
	require.Error(t, ValidateArray(array.MakeFromData(bad)))
	bad = array.NewDataWithDictionary(dictionary, 2, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{0, 1})}, 0, 0, nulls(1).(*array.Data))
	require.Error(t, ValidateArray(array.MakeFromData(bad)))
}
