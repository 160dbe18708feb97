package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A batch is cut into blocks, and what a slice of its columns does not cut they all share:
// dictionaries, and the values of lists. Whoever checks or converts a column looks through
// all of that, so that the time would grow with the square of the batch.

// wideDictionary is how many entries a row a dictionary may have that a block shares.
const wideDictionary = 4

// ownColumns returns the rows of a batch with columns that share no more than they use,
// as far as p wants them; part tells that it is a slice of another one. The caller
// releases it. It takes time linear in what the rows hold.
func ownColumns(batch arrow.RecordBatch, p *Projection, part bool) (arrow.RecordBatch, error) {
	columns, changed := slices.Clone(batch.Columns()), false
	for i, c := range columns {
		if !p.Wants(batch.ColumnName(i)) {
			continue
		}
		own, err := ownColumn(c, part)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", batch.ColumnName(i), corrupt(err))
		}
		defer own.Release()
		columns[i], changed = own, changed || own != c
	}
	if !changed {
		batch.Retain()
		return batch, nil
	}
	return array.NewRecordBatch(batch.Schema(), columns, batch.NumRows()), nil
}

// ownColumn returns c or what takes its place; the caller releases it.
func ownColumn(c arrow.Array, part bool) (own arrow.Array, err error) {
	defer recoveredPanic(&err)
	if d, ok := c.(*array.Dictionary); ok && d.Len() > 0 && d.Dictionary().Len() > wideDictionary*d.Len() {
		return ownDictionary(d)
	}
	if part && hasLists(c.DataType()) {
		return array.Concatenate([]arrow.Array{c}, memory.DefaultAllocator)
	}
	c.Retain()
	return c, nil
}

// hasLists reports whether there are lists in t, whose values a slice shares.
func hasLists(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return hasLists(t.StorageType())
	case *arrow.StructType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return hasLists(f.Type) })
	case arrow.ListLikeType:
		return true
	}
	return false
}

// ownDictionary returns d with a dictionary of an entry a row, in their order. The
// dictionary of d is longer.
func ownDictionary(d *array.Dictionary) (arrow.Array, error) {
	rows, entries := make([]uint32, d.Len()), d.Dictionary()
	valid, nulls := bytes.Repeat([]byte{0xff}, (d.Len()+7)/8), 0
	for row := range rows {
		if d.IsNull(row) {
			valid[row/8] &^= 1 << (row % 8)
			nulls++
			continue
		}
		n := d.GetValueIndex(row)
		if n < 0 || n >= entries.Len() {
			return nil, fmt.Errorf("row %d has entry %d of a dictionary of %d", row, n, entries.Len())
		}
		rows[row] = uint32(n)
	}
	own, err := pickArray(entries, rows)
	if err != nil {
		return nil, err
	}
	defer own.Release()
	typ := d.DataType().(*arrow.DictionaryType)
	width := typ.IndexType.(arrow.FixedWidthDataType).Bytes()
	indices := make([]byte, 0, len(rows)*width)
	for row := range rows {
		var b [8]byte // the index has no sign to lose: the longer dictionary had the same type
		binary.LittleEndian.PutUint64(b[:], uint64(row))
		indices = append(indices, b[:width]...)
	}
	data := array.NewDataWithDictionary(typ, len(rows), []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(indices)}, nulls, 0, own.Data().(*array.Data))
	defer data.Release()
	return array.MakeFromData(data), nil
}
