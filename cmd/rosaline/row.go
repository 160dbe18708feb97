package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// rowOf returns a row of metadata made plain by [table.Plain]. It shares no memory with the
// batch, so that it does not keep that.
func rowOf(meta arrow.RecordBatch, row int) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, meta.NumCols())
	defer release(&columns)
	for i, c := range meta.Columns() {
		slice := array.NewSlice(c, int64(row), int64(row)+1)
		own, err := array.Concatenate([]arrow.Array{slice}, memory.DefaultAllocator)
		slice.Release()
		if err != nil {
			return nil, fmt.Errorf("metadata column %q: %w", meta.ColumnName(i), err)
		}
		columns = append(columns, own)
	}
	return array.NewRecordBatch(meta.Schema(), columns, 1), nil
}

// joinRows returns rows of one schema as a batch, and releases them.
func joinRows(rows []arrow.RecordBatch) (arrow.RecordBatch, error) {
	defer func() {
		for _, r := range rows {
			r.Release()
		}
	}()
	schema := rows[0].Schema()
	columns := make([]arrow.Array, 0, schema.NumFields())
	defer release(&columns)
	cells := make([]arrow.Array, len(rows))
	for i := range schema.NumFields() {
		for j, r := range rows {
			cells[j] = r.Column(i)
		}
		c, err := array.Concatenate(cells, memory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("metadata column %q: %w", schema.Field(i).Name, err)
		}
		columns = append(columns, c)
	}
	return array.NewRecordBatch(schema, columns, int64(len(rows))), nil
}

func release(arrays *[]arrow.Array) {
	for _, a := range *arrays {
		a.Release()
	}
}

// sameColumns reports whether the metadata of two records can be in one batch.
func sameColumns(a, b arrow.RecordBatch) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Schema() == b.Schema() || a.Schema().Equal(b.Schema())
}
