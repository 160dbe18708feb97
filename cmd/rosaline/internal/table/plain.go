package table

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
)

// The names under which Arrow files keep the type of an extension.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
)

// noFieldID is what the reader of Parquet says of a field that has no number there.
var noFieldID = struct{ key, value string }{"PARQUET:field_id", "-1"}

// plainField returns f as a table has it: with a plain type, and nullable, for rows of
// another input may lack it. An extension becomes its storage, named in the metadata as
// it lies in an Arrow file.
func plainField(f arrow.Field) arrow.Field {
	f.Nullable = true
	if v, ok := f.Metadata.GetValue(noFieldID.key); ok && v == noFieldID.value {
		rest := f.Metadata.ToMap()
		delete(rest, noFieldID.key)
		f.Metadata = arrow.MetadataFrom(rest)
	}
	if ext, ok := f.Type.(arrow.ExtensionType); ok {
		f.Metadata = arrow.MetadataFrom(map[string]string{extensionName: ext.ExtensionName(), extensionMetadata: ext.Serialize()})
	}
	f.Type = plainType(f.Type)
	return f
}

// plainType returns the type of what [plain] makes of an array of type t: what other
// tools read without trouble, and of which pieces of many batches can be put together.
// Views become strings with offsets, dictionaries and run ends their values.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return plainType(t.StorageType())
	case *arrow.DictionaryType:
		return plainType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return plainType(t.Encoded())
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.ListType:
		return arrow.ListOfField(plainChild(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(plainChild(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), plainChild(t.ElemField()))
	case *arrow.MapType:
		m := arrow.MapOfFields(plainChild(t.KeyField()), plainChild(t.ItemField()))
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i] = plainChild(fields[i])
		}
		return arrow.StructOf(fields...)
	}
	return t
}

func plainChild(f arrow.Field) arrow.Field {
	nullable := f.Nullable
	f = plainField(f)
	f.Nullable = nullable
	return f
}

// Plain returns a batch with its columns as a table has them: what is shared by rows of
// dictionaries and views belongs to each of them then. The caller releases it. The error
// wraps [ErrColumn].
func Plain(batch arrow.RecordBatch) (out arrow.RecordBatch, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrColumn, p)
		}
	}()
	fields := batch.Schema().Fields()
	columns := make([]arrow.Array, 0, len(fields))
	defer func() { release(columns) }()
	for i, c := range batch.Columns() {
		p, err := plain(c)
		if err != nil {
			return nil, unwritable(fields[i], err)
		}
		columns = append(columns, p)
		fields[i] = plainField(fields[i])
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, batch.NumRows()), nil
}

// plain returns arr with its type made plain by [plainType]; the caller releases it. It
// takes time and memory where something changes only.
func plain(arr arrow.Array) (arrow.Array, error) {
	to := plainType(arr.DataType())
	if arrow.TypeEqual(to, arr.DataType()) {
		arr.Retain()
		return arr, nil
	}
	switch a := arr.(type) {
	case array.ExtensionArray:
		return plain(a.Storage())
	case *array.Dictionary:
		values, err := plain(a.Dictionary())
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return compute.TakeArray(context.Background(), values, a.Indices())
	case *array.RunEndEncoded:
		return plainRuns(a)
	case *array.StringView, *array.BinaryView:
		return compute.CastToType(context.Background(), arr, to)
	}
	return plainNested(arr.Data(), to)
}

// plainRuns returns the values of an array of runs, each as often as it stands for.
func plainRuns(a *array.RunEndEncoded) (arrow.Array, error) {
	values, err := plain(a.Values())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	b := array.NewInt32Builder(compute.GetAllocator(context.Background()))
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		b.Append(int32(a.GetPhysicalIndex(i)))
	}
	rows := b.NewArray()
	defer rows.Release()
	return compute.TakeArray(context.Background(), values, rows)
}

// plainNested makes the children of a list, map or struct plain.
func plainNested(data arrow.ArrayData, to arrow.DataType) (arrow.Array, error) {
	if _, ok := to.(arrow.NestedType); !ok {
		return nil, fmt.Errorf("%w: %v", arrow.ErrNotImplemented, to)
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		child := array.MakeFromData(c)
		p, err := plain(child)
		child.Release()
		if err != nil {
			return nil, err
		}
		defer p.Release()
		children[i] = p.Data()
	}
	out := array.NewData(to, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
	defer out.Release()
	return array.MakeFromData(out), nil
}
