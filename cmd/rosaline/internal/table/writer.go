package table

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Writer writes one table. It belongs to one goroutine.
type Writer struct {
	enc     encoder
	limit   groupLimit
	columns [][]arrow.Array // pieces of the group
	rows    int
	bytes   int64
	err     error // the first; nothing is written after it
}

// NewWriter returns a writer of a table to w. Up to encoders groups of Parquet are
// encoded at a time. The error says which column the format does not have.
func NewWriter(w io.Writer, format Format, schema *arrow.Schema, encoders int) (*Writer, error) {
	var enc encoder
	var err error
	switch format {
	case Parquet:
		enc, err = newParquetEncoder(w, schema, encoders)
	default:
		enc, err = newArrowEncoder(w, schema, format == ArrowFile)
	}
	if err != nil {
		return nil, err
	}
	return &Writer{enc: enc, limit: groupLimits[format], columns: make([][]arrow.Array, schema.NumFields())}, nil
}

// Write writes the rows from lo to hi of some columns, all of one length, whose sizes
// in bytes are given. The columns are the caller's. It is O(bytes), all in all.
func (w *Writer) Write(columns []arrow.Array, sizes []int64, lo, hi int) error {
	for lo < hi && w.err == nil {
		to := lo
		for to < hi && !w.full(sizes[to]) {
			w.rows++
			w.bytes += sizes[to]
			to++
		}
		if to > lo {
			for i, c := range columns {
				w.columns[i] = append(w.columns[i], array.NewSlice(c, int64(lo), int64(to)))
			}
		}
		if to < hi {
			w.flush()
		}
		lo = to
	}
	return w.err
}

// full reports whether the group must end before a row of that size.
func (w *Writer) full(size int64) bool {
	return w.rows > 0 && (w.rows == w.limit.rows || w.bytes+size > w.limit.bytes)
}

// flush ends the group.
func (w *Writer) flush() {
	if w.rows == 0 {
		return
	}
	chunks, rows := w.columns, w.rows
	w.columns = make([][]arrow.Array, len(chunks))
	w.rows, w.bytes = 0, 0
	w.fail(w.enc.group(chunks, rows))
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Close writes what is left and the end of the table, and returns the first error of
// the writer. Without one the table is whole.
func (w *Writer) Close() error {
	if w.err == nil {
		w.flush()
	}
	for _, c := range w.columns {
		release(c)
	}
	w.columns = nil
	w.fail(w.enc.close())
	return w.err
}

// caught turns a panic of the Arrow library into an error. It is deferred.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("table: encode: %v", p)
	}
}
