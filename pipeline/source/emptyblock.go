package source

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// emptyBlock returns a block for a table without rows, by which the columns are known,
// and whether one is missing. It is io.EOF where the table has no columns either.
func emptyBlock(t Table, wanted *Projection) (Block, error) {
	schema := t.Schema()
	if schema == nil {
		return nil, io.EOF
	}
	var fields []arrow.Field
	for _, f := range schema.Fields() {
		if wanted == nil || wanted.Wants(f.Name) {
			fields = append(fields, f)
		}
	}
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type)
		columns[i] = b.NewArray()
		b.Release()
		defer columns[i].Release()
	}
	return NewBlock(array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 0), fieldNames(schema.Fields())), nil
}
