package jsonl

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestAppendValue(t *testing.T) {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	list := arrow.ListOf(arrow.PrimitiveTypes.Uint8)
	for _, c := range []struct {
		typ  arrow.DataType
		json string // of all rows
		want string // "" for the same
	}{
		{arrow.Null, `[null,null]`, ""},
		{arrow.FixedWidthTypes.Boolean, `[true,false,null]`, ""},
		{arrow.PrimitiveTypes.Int8, `[-128,127,null]`, ""},
		{arrow.PrimitiveTypes.Int16, `[-32768]`, ""},
		{arrow.PrimitiveTypes.Int32, `[-2147483648]`, ""},
		{arrow.PrimitiveTypes.Int64, `[-9223372036854775808]`, ""},
		{arrow.PrimitiveTypes.Uint8, `[255]`, ""},
		{arrow.PrimitiveTypes.Uint16, `[65535]`, ""},
		{arrow.PrimitiveTypes.Uint32, `[4294967295]`, ""},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, ""},
		{arrow.PrimitiveTypes.Float32, `[0.1,1e+30,null]`, ""},
		{arrow.PrimitiveTypes.Float64, `[0.1,1e+300,null]`, ""},
		{arrow.FixedWidthTypes.Float16, `[0.5]`, ""},
		{arrow.BinaryTypes.String, `["","\"ü\"\n",null]`, ""},
		{arrow.BinaryTypes.LargeString, `["a",null]`, ""},
		{arrow.BinaryTypes.StringView, `["thirteen byte",null]`, ""},
		{arrow.BinaryTypes.Binary, `["/wA=",null]`, ""},
		{words, `["a",null,"a"]`, ""},
		{list, `[[1,null,3],null,[]]`, ""},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1,2],null]`, ""},
		{arrow.StructOf(arrow.Field{Name: "a\"b", Type: list, Nullable: true}, arrow.Field{Name: "c", Type: words, Nullable: true}),
			`[{"a\"b":[1],"c":"x"},null,{"a\"b":null,"c":null}]`, ""},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), `[[{"key":"k","value":1}],null]`, ""},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a","a",null]`, ""},
		{arrow.FixedWidthTypes.Date32, `["2024-02-29"]`, ""},
		{arrow.FixedWidthTypes.Timestamp_ms, `["2024-02-29T12:00:00.5Z",null]`, ""},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, `["12.50",null]`, `["12.5",null]`},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			arr, _, err := array.FromJSON(arrowmem.DefaultAllocator, c.typ, strings.NewReader(c.json))
			require.NoError(t, err)
			got := []byte{'['}
			for i := range arr.Len() {
				if i > 0 {
					got = append(got, ',')
				}
				got = AppendValue(got, arr, i)
			}
			want := c.want
			if want == "" {
				want = c.json
			}
			require.Equal(t, want, string(append(got, ']')))
		})
	}
}
