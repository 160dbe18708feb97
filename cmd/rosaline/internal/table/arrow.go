package table

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowEncoder writes a group as a record batch of Arrow IPC, uncompressed, so that
// readers may map it.
type arrowEncoder struct {
	schema *arrow.Schema
	w      interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

func newArrowEncoder(w io.Writer, schema *arrow.Schema, file bool) (e *arrowEncoder, err error) {
	defer caught(&err)
	e = &arrowEncoder{schema: schema}
	if !file {
		e.w = ipc.NewWriter(w, ipc.WithSchema(schema))
		return e, nil
	}
	if e.w, err = ipc.NewFileWriter(w, ipc.WithSchema(schema)); err != nil {
		return nil, fmt.Errorf("table: Arrow: %w", err)
	}
	return e, nil
}

func (e *arrowEncoder) group(chunks [][]arrow.Array, rows int) (err error) {
	defer caught(&err)
	batch, err := joined(e.schema, chunks, rows, nil)
	if err != nil {
		return err
	}
	defer batch.Release()
	return e.w.Write(batch)
}

func (e *arrowEncoder) close() (err error) {
	defer caught(&err)
	return e.w.Close()
}

// joined returns the batch of the pieces of each column, and releases those. convert
// makes of each column what schema has, and releases its argument; it may be nil.
func joined(schema *arrow.Schema, chunks [][]arrow.Array, rows int, convert func(arrow.Array) (arrow.Array, error)) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(chunks))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	var first error
	for i, pieces := range chunks {
		c, err := array.Concatenate(pieces, arrowmem.DefaultAllocator)
		release(pieces)
		if err == nil && convert != nil {
			c, err = convert(c)
		}
		if err == nil {
			c = withoutValidity(c)
		}
		if err != nil && first == nil {
			first = unwritable(schema.Field(i), err)
		}
		columns[i] = c
	}
	if first != nil {
		return nil, first
	}
	return array.NewRecordBatch(schema, columns, int64(rows)), nil
}

// withoutValidity returns arr without validity bitmaps where there is no null, in its
// children too, and releases arr. Whether there is one depends on where the pieces come
// from, and encoders look at it.
func withoutValidity(arr arrow.Array) arrow.Array {
	data := arr.Data()
	buffers := slices.Clone(data.Buffers())
	if len(buffers) > 0 && arr.NullN() == 0 && data.DataType().Layout().Buffers[0].Kind == arrow.KindBitmap {
		buffers[0] = nil
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, d := range data.Children() {
		child := withoutValidity(array.MakeFromData(d))
		defer child.Release()
		children[i] = child.Data()
	}
	out := array.NewData(data.DataType(), data.Len(), buffers, children, arr.NullN(), data.Offset())
	defer out.Release()
	defer arr.Release()
	return array.MakeFromData(out)
}
