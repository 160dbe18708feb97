package stringtensor

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// IPCReader reads the string columns of an Arrow IPC file or stream, batch by
// batch, compressed or not. It belongs to one goroutine; its batches do not.
//
// Any input is safe to read: whatever is cut off, corrupt or hostile becomes an
// error. A message takes no more memory than [WithIPCMaxMessage], besides its
// metadata, of at most 64 MiB, and the window of the decompressor, of at most
// 512 MiB.
type IPCReader struct {
	cfg    ipcConfig
	msgs   *ipcMessages
	file   *fileSource // nil for a stream
	rd     *ipc.Reader
	fields []int
	names  []string
	arrow  arrowConfig
	dicts  dictionaries // of the batch before
	batch  int          // number of the next
	err    error
}

// NewIPCStreamReader returns a reader of an Arrow IPC stream. It reads the
// schema, and later no byte after the stream's end marker.
//
// The errors here and of Next name the message and its byte: [ErrInvalid], with
// io.ErrUnexpectedEOF where the input is cut off; [ErrMessageTooLarge];
// [ErrNoColumn] and [ErrUnsupportedType] for a column that was asked for; and
// those of r.
func NewIPCStreamReader(r io.Reader, opts ...IPCOption) (*IPCReader, error) {
	cfg := newIPCConfig(opts)
	return newIPCReader(cfg, &streamSource{r: r, endless: cfg.endless}, nil)
}

// NewIPCFileReader returns a reader of an Arrow IPC file of size bytes. The
// errors are those of [NewIPCStreamReader]. A cut-off file has no footer and
// cannot be opened; what is left of it can be read as a stream from byte 8 on.
func NewIPCFileReader(r io.ReaderAt, size int64, opts ...IPCOption) (*IPCReader, error) {
	f, err := openFile(r, size)
	if err != nil {
		return nil, fmt.Errorf("read Arrow file: %w", err)
	}
	return newIPCReader(newIPCConfig(opts), f, f)
}

func newIPCReader(cfg ipcConfig, src messageSource, file *fileSource) (*IPCReader, error) {
	r := &IPCReader{cfg: cfg, file: file, arrow: newArrowConfig(cfg.arrow)}
	r.msgs = &ipcMessages{src: src, meta: ipcMetadata{file: file != nil}, alloc: &ipcAllocator{mem: cfg.mem, limit: cfg.maxMessage}}
	err := r.open()
	if err == nil {
		r.fields, err = cfg.pickColumns(r.rd.Schema())
	}
	if err != nil {
		r.fail(err)
		return nil, fmt.Errorf("read Arrow %s: %w", r.kind(), r.err)
	}
	for _, i := range r.fields {
		r.names = append(r.names, r.rd.Schema().Field(i).Name)
	}
	return r, nil
}

func (r *IPCReader) kind() string {
	if r.file != nil {
		return "file"
	}
	return "stream"
}

// open makes the Arrow reader, which reads the schema.
func (r *IPCReader) open() (err error) {
	defer recovered(&err)
	r.msgs.alloc.begin()
	r.rd, err = ipc.NewReaderFromMessageReader(r.msgs, ipc.WithAllocator(r.msgs.alloc))
	return r.cause(err)
}

// cause returns what lies behind an error of the Arrow library: the message that
// could not be read where there is one, else that its bytes are invalid.
func (r *IPCReader) cause(err error) error {
	switch {
	case r.msgs.err != nil:
		return r.msgs.err
	case err == nil:
		return nil
	}
	return fmt.Errorf("%w: message %d: %w", ErrInvalid, r.msgs.count-1, err)
}

// fail ends the reader with err and frees what it holds.
func (r *IPCReader) fail(err error) {
	r.err = err
	r.drop()
	r.msgs.alloc.abort()
}

// drop releases the Arrow reader and the current message.
func (r *IPCReader) drop() {
	r.dicts.release()
	defer func() { _ = recover() }() // a reader that panicked may panic again
	if r.rd != nil {
		r.rd.Release()
		r.rd = nil
	}
	r.msgs.close()
}

// Names returns the names of the columns that are read, in the order of a
// batch's columns.
func (r *IPCReader) Names() []string { return r.names }

// Schema returns the schema with all columns and their metadata; nil after Close
// or an error.
func (r *IPCReader) Schema() *arrow.Schema {
	if r.rd == nil {
		return nil
	}
	return r.rd.Schema()
}

// Batches returns the number of batches in a file, −1 for a stream.
func (r *IPCReader) Batches() int {
	if r.file == nil {
		return -1
	}
	return len(r.file.records)
}

// Next returns the next batch, which the caller releases; it stays valid after
// Close. It returns io.EOF after the last. An error names the batch and, where
// rows are at fault, column and row; every later call returns the same error.
func (r *IPCReader) Next() (b *Batch, err error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err = r.read()
	if err == io.EOF {
		r.err = io.EOF
		return nil, io.EOF
	}
	if err != nil {
		if b != nil {
			b.Release()
		}
		r.fail(fmt.Errorf("read Arrow %s: batch %d: %w", r.kind(), r.batch, err))
		return nil, r.err
	}
	r.batch++
	return b, nil
}

// read returns the next batch, or what there is of it and an error.
func (r *IPCReader) read() (b *Batch, err error) {
	defer recovered(&err)
	r.msgs.alloc.begin()
	if !r.rd.Next() {
		if err := r.cause(r.rd.Err()); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	rec := r.rd.RecordBatch()
	b = &Batch{Names: r.names, Rows: int(rec.NumRows())}
	r.dicts.turn()
	for i, field := range r.fields {
		arr := rec.Column(field)
		if arr.DataType().ID() == arrow.NULL && rec.NumRows() > r.cfg.maxMessage/ViewSize {
			// The rows of a null column take no bytes in the message.
			return b, fmt.Errorf("column %q: %w: %d null rows", r.names[i], ErrMessageTooLarge, rec.NumRows())
		}
		c, err := fromArrow(arr, r.arrow, &r.dicts)
		if err != nil {
			return b, fmt.Errorf("column %q: %w", r.names[i], err)
		}
		b.Columns = append(b.Columns, c)
	}
	return b, nil
}

// SeekBatch makes batch i of a file the one that Next returns; i may be the
// number of batches, which is the end. Only the schema and the dictionaries are
// read again. The errors are [ErrOutOfRange], also for a stream, and those of
// Next, which end the reader.
func (r *IPCReader) SeekBatch(i int) error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	if r.file == nil || i < 0 || i > len(r.file.records) {
		return fmt.Errorf("%w: batch %d of %d", ErrOutOfRange, i, r.Batches())
	}
	r.drop()
	r.file.rewind(i)
	r.msgs.count, r.batch, r.err = 0, i, nil
	if err := r.open(); err != nil {
		r.fail(fmt.Errorf("read Arrow file: %w", err))
		return r.err
	}
	return nil
}

// Close frees what the reader holds; it does not close its input. Later calls of
// Next return [ErrClosed].
func (r *IPCReader) Close() error {
	if r.err == nil || r.err == io.EOF {
		r.drop()
		r.err = ErrClosed
	}
	return nil
}
