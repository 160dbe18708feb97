package parquet

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// columns finds the columns of the file. The error wraps [source.ErrColumn].
func (t *table) columns() error {
	t.annotated = make(map[string]bool)
	for i := range t.meta.Schema.NumColumns() {
		root := t.meta.Schema.ColumnRoot(i)
		name := root.Name()
		if len(t.names) == 0 || t.names[len(t.names)-1] != name {
			t.names = append(t.names, name)
		}
		if t.wants(name) {
			t.leaves = append(t.leaves, i)
		}
		switch root.LogicalType().(type) {
		case schema.JSONLogicalType, schema.EnumLogicalType:
			t.annotated[name] = true
		}
	}
	all, err := pqarrow.FromParquet(t.meta.Schema, nil, t.meta.KeyValueMetadata())
	if err != nil {
		return nil // reading tells
	}
	for _, f := range all.Fields() {
		if hasDuration(f.Type) && t.wants(f.Name) {
			return fmt.Errorf("%w: column %q: its values are %v, which are not read from Parquet; leave it out by naming the others as metadata", source.ErrColumn, f.Name, f.Type)
		}
	}
	t.schema = t.textSchema(all)
	return nil
}

func (t *table) wants(name string) bool { return t.in.Columns == nil || t.in.Columns.Wants(name) }

// hasDuration reports whether a type is, or has in it, a duration, which the library does
// not read.
func hasDuration(typ arrow.DataType) bool {
	if nested, ok := typ.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			if hasDuration(f.Type) {
				return true
			}
		}
	}
	return typ.ID() == arrow.DURATION
}

// isText reports whether a column of bytes is annotated as JSON or ENUM, which are text.
func (t *table) isText(f arrow.Field) bool {
	return t.annotated[f.Name] && f.Type.ID() == arrow.BINARY
}

// textSchema returns a schema in which columns that are text are strings.
func (t *table) textSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if t.isText(f) {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	return arrow.NewSchema(fields, nil)
}

// text returns a batch, which it takes over, in which columns that are text are strings.
// The library gives them as bytes. Memory is not copied.
func (t *table) text(batch arrow.RecordBatch) arrow.RecordBatch {
	if len(t.annotated) == 0 {
		return batch
	}
	defer batch.Release()
	columns := make([]arrow.Array, batch.NumCols())
	for i, c := range batch.Columns() {
		if columns[i] = c; t.isText(batch.Schema().Field(i)) {
			d := c.Data()
			data := array.NewData(arrow.BinaryTypes.String, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
			columns[i] = array.MakeFromData(data)
			data.Release()
			defer columns[i].Release()
		}
	}
	return array.NewRecordBatch(t.textSchema(batch.Schema()), columns, batch.NumRows())
}
