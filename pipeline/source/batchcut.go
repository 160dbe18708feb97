package source

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// BatchCut cuts a record batch into blocks of neither more rows nor more bytes than a
// [TableInput] asks for. Bytes are those of the columns that are wanted, each value counted
// in full as often as it stands there, though a dictionary or views share it: whoever writes
// the rows needs as many. A row that is larger is a block of its own.
//
// The blocks share the memory of the batch. The zero value has no rows.
type BatchCut struct {
	batch  arrow.RecordBatch
	names  []string
	wanted []arrow.Array
	in     *TableInput
	at     int64 // rows before the next block
}

// NewBatchCut returns the cut of a batch, which it takes over. names are those of all
// columns of the table, nil if the batch has them all.
func NewBatchCut(batch arrow.RecordBatch, names []string, in *TableInput) *BatchCut {
	c := &BatchCut{batch: batch, names: names, in: in}
	for i, column := range batch.Columns() {
		if in.Columns == nil || in.Columns.Wants(batch.ColumnName(i)) {
			c.wanted = append(c.wanted, column)
		}
	}
	return c
}

// Left returns the number of rows that are in no block yet.
func (c *BatchCut) Left() int64 {
	if c == nil || c.batch == nil {
		return 0
	}
	return c.batch.NumRows() - c.at
}

// Pass passes over up to n rows and returns over how many.
func (c *BatchCut) Pass(n int64) int64 {
	n = min(n, c.Left())
	c.at += n
	return n
}

// Next returns the next block. There must be rows left.
func (c *BatchCut) Next() Block {
	// It depends on where the block begins alone: whoever goes on there gets the same ones.
	n := min(int64(c.in.BlockRows), c.Left())
	size := c.size(n)
	for n > 1 && size > int64(c.in.BlockBytes) {
		n /= 2
		size = c.size(n)
	}
	b := &batchBlock{
		batch: c.batch.NewSlice(c.at, c.at+n), names: c.names, size: size, part: n < c.batch.NumRows(),
	}
	c.at += n
	return b
}

// size returns the bytes of the next n rows.
func (c *BatchCut) size(n int64) (size int64) {
	for _, column := range c.wanted {
		size += bytesOfRows(column, c.at, c.at+n)
	}
	return size
}

// Release lets go of the batch. Blocks stay good.
func (c *BatchCut) Release() {
	if c != nil && c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
}

// bytesOfRows estimates the bytes of rows from to to of a, values that are shared
// counted as often as they stand there. What a has is not trusted; where it is not sound
// the number is of no use, and checking tells. It takes time linear in the rows, or none
// that depends on them.
func bytesOfRows(a arrow.Array, from, to int64) int64 {
	from, to = max(from, 0), min(to, int64(a.Len()))
	if from >= to {
		return 0
	}
	rows := to - from
	switch a := a.(type) {
	case *array.String:
		return rows*4 + between(a.ValueOffsets(), from, to)
	case *array.Binary:
		return rows*4 + between(a.ValueOffsets(), from, to)
	case *array.LargeString:
		return rows*8 + between(a.ValueOffsets(), from, to)
	case *array.LargeBinary:
		return rows*8 + between(a.ValueOffsets(), from, to)
	case array.ViewLike:
		size := rows * int64(arrow.ViewHeaderSizeBytes)
		for i := from; i < to; i++ {
			if h := a.ValueHeader(int(i)); a.IsValid(int(i)) && !h.IsInline() {
				size += max(int64(h.Len()), 0)
			}
		}
		return size
	case *array.Dictionary:
		entries, size := a.Dictionary(), rows*4
		if _, nested := entries.DataType().(arrow.NestedType); nested {
			// An entry may have any number of elements to look at.
			return size + averageBytes(entries, rows)
		}
		for i := from; i < to; i++ {
			if a.IsValid(int(i)) {
				n := int64(a.GetValueIndex(int(i)))
				size += bytesOfRows(entries, n, n+1)
			}
		}
		return size
	case *array.RunEndEncoded:
		size := int64(0)
		for i := from; i < to; i++ {
			n := int64(a.GetPhysicalIndex(int(i)))
			size += bytesOfRows(a.Values(), n, n+1)
		}
		return size
	case *array.Struct:
		size := rows / 8
		for i := range a.NumField() {
			size += bytesOfRows(a.Field(i), from, to)
		}
		return size
	case array.ExtensionArray:
		return bytesOfRows(a.Storage(), from, to)
	case *array.ListView, *array.LargeListView:
		// Rows may share their elements, so they are counted as if all were alike.
		lists := a.(array.ListLike)
		n, elements := int64(0), lists.ListValues()
		for i := from; i < to; i++ {
			begin, end := lists.ValueOffsets(int(i))
			n += max(end-begin, 0)
		}
		return rows*8 + averageBytes(elements, n)
	case array.ListLike:
		begin, _ := a.ValueOffsets(int(from))
		_, end := a.ValueOffsets(int(to - 1))
		return rows*4 + bytesOfRows(a.ListValues(), begin, end)
	}
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return rows * int64(t.BitWidth()) / 8
	}
	return averageBytes(a, rows)
}

// averageBytes returns the bytes of so many values of a if all were alike.
func averageBytes(a arrow.Array, n int64) int64 {
	return int64(float64(a.Data().SizeInBytes()) / float64(max(a.Len(), 1)) * float64(n))
}

// between returns the bytes between two offsets.
func between[T int32 | int64](offsets []T, from, to int64) int64 {
	return max(int64(offsets[to])-int64(offsets[from]), 0)
}
