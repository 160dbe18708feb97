package jsonl

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// AppendValue appends row i of arr to dst as a JSON value: null, true and false,
// numbers, strings, lists and structs as JSON has them, and a map as a list of objects
// with key and value. Dates, times, decimals and whatever else JSON has no values for
// become strings, such as "2024-01-31T12:00:00Z" and "12.5", binary data in base64.
func AppendValue(dst []byte, arr arrow.Array, i int) []byte {
	if arr.IsNull(i) {
		return append(dst, "null"...)
	}
	switch a := arr.(type) {
	case *array.Null:
		return append(dst, "null"...)
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i))
	case *array.Int8:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int16:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int32:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int64:
		return strconv.AppendInt(dst, a.Value(i), 10)
	case *array.Uint8:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10)
	case *array.Uint16:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10)
	case *array.Uint32:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10)
	case *array.Uint64:
		return strconv.AppendUint(dst, a.Value(i), 10)
	case *array.Float16:
		return appendFloat(dst, float64(a.Value(i).Float32()), 32)
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(i)), 32)
	case *array.Float64:
		return AppendFloat(dst, a.Value(i))
	case *array.String:
		return AppendString(dst, a.Value(i))
	case *array.LargeString:
		return AppendString(dst, a.Value(i))
	case *array.StringView:
		return AppendString(dst, a.Value(i))
	case *array.Dictionary:
		return AppendValue(dst, a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return AppendValue(dst, a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return AppendValue(dst, a.Storage(), i)
	case array.ListLike:
		return appendList(dst, a, i)
	case *array.Struct:
		return appendStruct(dst, a, i)
	}
	return AppendString(dst, arr.ValueStr(i))
}

func appendList(dst []byte, a array.ListLike, i int) []byte {
	dst = append(dst, '[')
	lo, hi := a.ValueOffsets(i)
	for at := lo; at < hi; at++ {
		if at > lo {
			dst = append(dst, ',')
		}
		dst = AppendValue(dst, a.ListValues(), int(at))
	}
	return append(dst, ']')
}

func appendStruct(dst []byte, a *array.Struct, i int) []byte {
	dst = append(dst, '{')
	for f, field := range a.DataType().(*arrow.StructType).Fields() {
		if f > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, field.Name), ':')
		dst = AppendValue(dst, a.Field(f), i)
	}
	return append(dst, '}')
}
