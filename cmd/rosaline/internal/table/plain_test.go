package table

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// TestPlain makes arrays of types that tables do not have from JSON, and of their plain
// types from the same JSON.
func TestPlain(t *testing.T) {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	numbers := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Int64}
	field := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: t, Nullable: true} }
	uuid := extensions.NewUUIDType()
	for _, c := range []struct {
		name       string
		from, to   arrow.DataType
		json       string
		sameMemory bool
	}{
		{"string", arrow.BinaryTypes.String, arrow.BinaryTypes.String, `["a",null]`, true},
		{"large string", arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeString, `["a",null]`, true},
		{"timestamp", arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_us, `["2024-02-29T12:00:00Z",null]`, true},
		{"dictionary", words, arrow.BinaryTypes.String, `["a",null,"b","a","thirteen byte"]`, false},
		{"dictionary of numbers", numbers, arrow.PrimitiveTypes.Int64, `[7,null,7,9]`, false},
		{"views", arrow.BinaryTypes.StringView, arrow.BinaryTypes.String, `["","twelve bytes","thirteen byte",null,"日本語のテキスト"]`, false},
		{"list of views", arrow.ListOf(arrow.BinaryTypes.StringView), arrow.ListOf(arrow.BinaryTypes.String), `[["a","thirteen byte"],null,[],[null]]`, false},
		{"list of dictionary", arrow.LargeListOfField(field(words)), arrow.LargeListOfField(field(arrow.BinaryTypes.String)), `[["a","a"],null,[],["b"]]`, false},
		{"struct", arrow.StructOf(field(words)), arrow.StructOf(field(arrow.BinaryTypes.String)), `[{"item":"a"},null,{"item":null}]`, false},
		{"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.StringView), arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), `[[{"key":"k","value":"thirteen byte"}],null,[]]`, false},
		{"fixed list", arrow.FixedSizeListOf(2, arrow.BinaryTypes.StringView), arrow.FixedSizeListOf(2, arrow.BinaryTypes.String), `[["a","b"],null,["thirteen byte",null]]`, false},
		{"run ends", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), arrow.BinaryTypes.String, `["a","a","a",null,null,"b"]`, false},
		{"extension", uuid, uuid.StorageType(), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, arrow.TypeEqual(c.to, plainType(c.from)), "%v", plainType(c.from))
			if c.json == "" {
				return
			}
			from, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.from, strings.NewReader(c.json))
			require.NoError(t, err)
			want, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.to, strings.NewReader(c.json))
			require.NoError(t, err)
			for lo := range from.Len() {
				got, err := plain(array.NewSlice(from, int64(lo), int64(from.Len())))
				require.NoError(t, err)
				part := array.NewSlice(want, int64(lo), int64(want.Len()))
				require.True(t, array.Equal(part, got), "from row %d: %v", lo, got)
				require.NoError(t, array.ValidateFull(got))
				if c.sameMemory {
					require.Same(t, from.Data().Buffers()[1], got.Data().Buffers()[1])
				}
			}
		})
	}
}

// TestPlainDictionaryOfViews is what Polars writes of a categorical column.
func TestPlainDictionaryOfViews(t *testing.T) {
	of := func(typ arrow.DataType, json string) arrow.Array {
		a, _, err := array.FromJSON(arrowmem.DefaultAllocator, typ, strings.NewReader(json))
		require.NoError(t, err)
		return a
	}
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.StringView}
	arr := array.NewDictionaryArray(typ, of(arrow.PrimitiveTypes.Uint32, `[1,null,0,1]`), of(arrow.BinaryTypes.StringView, `["a","thirteen byte"]`))
	got, err := plain(arr)
	require.NoError(t, err)
	require.True(t, array.Equal(of(arrow.BinaryTypes.String, `["thirteen byte",null,"a","thirteen byte"]`), got))
}

// TestLoose: lists of fixed size become lists, null ones empty.
func TestLoose(t *testing.T) {
	pair := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	for _, c := range []struct {
		from, to arrow.DataType
		json     string
	}{
		{pair, list, `[[1,2],null,null,[3,null],[4,5]]`},
		{pair, list, `[null]`},
		{pair, list, `[]`},
		{arrow.ListOf(pair), arrow.ListOf(list), `[[[1,2],null],null,[],[[3,4]]]`},
		{arrow.FixedSizeListOf(2, pair), arrow.ListOf(list), `[[[1,2],[3,4]],null,[null,[5,6]]]`},
		{arrow.StructOf(arrow.Field{Name: "p", Type: pair, Nullable: true}), arrow.StructOf(arrow.Field{Name: "p", Type: list, Nullable: true}), `[{"p":[1,2]},null,{"p":null}]`},
		{arrow.MapOf(arrow.BinaryTypes.String, pair), arrow.MapOf(arrow.BinaryTypes.String, list), `[[{"key":"k","value":[1,2]}],null]`},
	} {
		t.Run(c.from.String(), func(t *testing.T) {
			from, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.from, strings.NewReader(c.json))
			require.NoError(t, err)
			want, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.to, strings.NewReader(c.json))
			require.NoError(t, err)
			got, err := loose(from)
			require.NoError(t, err)
			require.True(t, arrow.TypeEqual(want.DataType(), got.DataType()), "%v", got.DataType())
			require.True(t, array.Equal(want, got), "%v", got)
			require.NoError(t, array.ValidateFull(got))
		})
	}
}

// TestExtensionName: what the storage stands for is kept as Arrow files keep it.
func TestExtensionName(t *testing.T) {
	f := plainField(arrow.Field{Name: "u", Type: extensions.NewUUIDType()})
	name, _ := f.Metadata.GetValue("ARROW:extension:name")
	require.Equal(t, "arrow.uuid", name)
	require.Equal(t, arrow.FIXED_SIZE_BINARY, f.Type.ID())
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		json string
		want []int64
	}{
		{arrow.PrimitiveTypes.Int64, `[1,null]`, []int64{8, 8}},
		{arrow.FixedWidthTypes.Boolean, `[true,null]`, []int64{1, 1}},
		{arrow.Null, `[null]`, []int64{1}},
		{arrow.BinaryTypes.String, `["abc",null,""]`, []int64{7, 4, 4}},
		{arrow.ListOf(arrow.PrimitiveTypes.Int16), `[[1,2],null,[]]`, []int64{8, 4, 4}},
		{arrow.ListOf(arrow.BinaryTypes.String), `[["ab","c"],null,[null]]`, []int64{4 + 6 + 5, 4, 8}},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), `[[1,2],[3,null]]`, []int64{12, 12}},
		{arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int8, Nullable: true}),
			`[{"s":"ab","n":1},null]`, []int64{7, 5}},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			arr, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.typ, strings.NewReader(c.json))
			require.NoError(t, err)
			for lo := range c.want {
				got := make([]int64, len(c.want)-lo)
				addSizes(got, array.NewSlice(arr, int64(lo), int64(arr.Len())))
				require.Equal(t, c.want[lo:], got)
			}
		})
	}
}
