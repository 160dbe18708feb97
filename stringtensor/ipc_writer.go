package stringtensor

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// IPCWriter writes batches of columns as an Arrow IPC file or stream. It belongs
// to one goroutine.
type IPCWriter struct {
	cfg    ipcConfig
	schema *arrow.Schema
	out    recordWriter
	err    error
}

// recordWriter is what the writers of files and of streams have in common.
type recordWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// NewIPCFileWriter returns a writer of an Arrow IPC file with string columns of
// the given names, which must differ. The errors are [ErrUnsupportedType] and
// [ErrInvalid].
func NewIPCFileWriter(w io.Writer, names []string, opts ...IPCOption) (*IPCWriter, error) {
	return newIPCWriter(names, opts, func(o []ipc.Option) (recordWriter, error) {
		return ipc.NewFileWriter(w, o...)
	})
}

// NewIPCStreamWriter is [NewIPCFileWriter] of an Arrow IPC stream.
func NewIPCStreamWriter(w io.Writer, names []string, opts ...IPCOption) (*IPCWriter, error) {
	return newIPCWriter(names, opts, func(o []ipc.Option) (recordWriter, error) {
		return ipc.NewWriter(w, o...), nil
	})
}

func newIPCWriter(names []string, opts []IPCOption, open func([]ipc.Option) (recordWriter, error)) (w *IPCWriter, err error) {
	defer recovered(&err)
	w = &IPCWriter{cfg: newIPCConfig(opts)}
	t, ok := map[ArrowType]arrow.DataType{
		ArrowStringView:  arrow.BinaryTypes.StringView,
		ArrowString:      arrow.BinaryTypes.String,
		ArrowLargeString: arrow.BinaryTypes.LargeString,
		ArrowBinaryView:  arrow.BinaryTypes.BinaryView,
		ArrowBinary:      arrow.BinaryTypes.Binary,
		ArrowLargeBinary: arrow.BinaryTypes.LargeBinary,
	}[w.cfg.typ]
	if !ok {
		return nil, fmt.Errorf("%w: %v is not one type that a schema can name", ErrUnsupportedType, w.cfg.typ)
	}
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		if j := slices.Index(names[:i], name); j >= 0 {
			return nil, fmt.Errorf("%w: columns %d and %d are both named %q", ErrInvalid, j, i, name)
		}
		fields[i] = arrow.Field{Name: name, Type: t, Nullable: true}
	}
	meta := arrow.MetadataFrom(w.cfg.metadata)
	w.schema = arrow.NewSchema(fields, &meta)
	o := []ipc.Option{ipc.WithSchema(w.schema), ipc.WithAllocator(w.cfg.mem)}
	switch w.cfg.compression {
	case IPCUncompressed:
	case IPCLZ4:
		o = append(o, ipc.WithLZ4())
	case IPCZstd:
		o = append(o, ipc.WithZstd())
	default:
		return nil, fmt.Errorf("%w: compression %d", ErrUnsupportedType, w.cfg.compression)
	}
	w.out, err = open(o)
	return w, err
}

// Write appends rows: one column for each name, all of one length. It becomes
// one record batch, or several when it has more payload than the int32 offsets
// of the type can address. Columns that use less than half of their buffers are
// compacted on the way, so that slices of one column do not each write all of
// it.
//
// The errors are [ErrLengthMismatch], which leaves the writer usable, and those
// of the io.Writer, after which the output is incomplete and every call returns
// the same error.
func (w *IPCWriter) Write(columns ...*Column) (err error) {
	if w.err != nil {
		return w.err
	}
	if len(columns) != w.schema.NumFields() {
		return fmt.Errorf("%w: %d columns for %d names", ErrLengthMismatch, len(columns), w.schema.NumFields())
	}
	rows := 0
	for i, c := range columns {
		if i == 0 {
			rows = c.Len()
		} else if c.Len() != rows {
			return fmt.Errorf("%w: column %q has %d rows, column %q %d", ErrLengthMismatch,
				w.schema.Field(i).Name, c.Len(), w.schema.Field(0).Name, rows)
		}
	}
	defer func() { w.err = err }()
	defer recovered(&err)
	for lo := 0; ; {
		hi := w.cut(columns, lo, rows)
		if err := w.writeRows(columns, lo, hi); err != nil {
			return fmt.Errorf("write Arrow rows %d to %d: %w", lo, hi, err)
		}
		if lo = hi; lo == rows {
			return nil
		}
	}
}

// cut returns the end of the longest run of rows from lo on whose payload fits
// the offsets of the type in every column.
func (w *IPCWriter) cut(columns []*Column, lo, rows int) int {
	if w.cfg.typ != ArrowString && w.cfg.typ != ArrowBinary {
		return rows
	}
	limit, end := int64(newArrowConfig(w.cfg.arrow).limit), rows
	for _, c := range columns {
		size := int64(0)
		for i := lo; i < end; i++ {
			if size += int64(c.views[i].Len()); size > limit {
				// A single row that is too long is left to ToArrow to refuse.
				end = max(i, lo+1)
			}
		}
	}
	return end
}

func (w *IPCWriter) writeRows(columns []*Column, lo, hi int) error {
	arrays := make([]arrow.Array, 0, len(columns))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	for i, c := range columns {
		a, err := w.arrayOf(c, lo, hi)
		if err != nil {
			return fmt.Errorf("column %q: %w", w.schema.Field(i).Name, err)
		}
		arrays = append(arrays, a)
	}
	rec := array.NewRecordBatch(w.schema, arrays, int64(hi-lo))
	defer rec.Release()
	return w.out.Write(rec)
}

func (w *IPCWriter) arrayOf(c *Column, lo, hi int) (arrow.Array, error) {
	part, err := c.Slice(lo, hi)
	if err != nil {
		return nil, err
	}
	defer part.Release()
	if w.cfg.typ == ArrowStringView || w.cfg.typ == ArrowBinaryView {
		whole := part
		part = whole.Compact(WithUseBelow(0.5))
		defer part.Release()
	}
	return part.ToArrow(w.cfg.mem, w.cfg.typ, w.cfg.arrow...)
}

// Close writes the end of the file or stream; it does not close the io.Writer.
// After a failed Write it writes nothing, so that the output is not taken for
// complete, and returns the error.
func (w *IPCWriter) Close() (err error) {
	if w.err != nil {
		if w.err == ErrClosed {
			return nil
		}
		return w.err
	}
	w.err = ErrClosed
	defer func() {
		if err != nil {
			w.err = err
		}
	}()
	defer recovered(&err)
	return w.out.Close()
}

// WriteIPCFile writes the columns as an Arrow IPC file of one call of
// [IPCWriter.Write].
func WriteIPCFile(w io.Writer, names []string, columns []*Column, opts ...IPCOption) error {
	f, err := NewIPCFileWriter(w, names, opts...)
	if err != nil {
		return err
	}
	return writeAndClose(f, columns)
}

// WriteIPCStream is [WriteIPCFile] of an Arrow IPC stream.
func WriteIPCStream(w io.Writer, names []string, columns []*Column, opts ...IPCOption) error {
	s, err := NewIPCStreamWriter(w, names, opts...)
	if err != nil {
		return err
	}
	return writeAndClose(s, columns)
}

func writeAndClose(w *IPCWriter, columns []*Column) error {
	if err := w.Write(columns...); err != nil {
		return err
	}
	return w.Close()
}
