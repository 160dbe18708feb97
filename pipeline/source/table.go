package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// Table is an input whose records are rows of columns. It belongs to one goroutine; the
// blocks it gives do not:
//
//	input ──▸ Table ──▸ Block ──▸ Read ──▸ Rows ──▸ Records
//	          one goroutine       any worker
//	          where rows lie      cells, decompression, checks
type Table interface {
	// Next returns the next rows, io.EOF after the last. It looks at ctx before it
	// begins, and loses nothing when it returns its error. Any other error ends
	// the input; all rows before it have been given out.
	Next(ctx context.Context) (Block, error)
	// Schema returns the columns, nil where none are known. Those that are not
	// wanted may be left out.
	Schema() *arrow.Schema
	// Position tells where the next block begins.
	Position() TablePosition
	// Close frees what the table holds. Blocks that were given out stay good.
	Close() error
}

// TablePosition is a place between two rows of a table. The zero value is the
// beginning.
type TablePosition struct {
	Row    int64 `json:"row,omitempty"`    // rows before the place, bad ones too
	Offset int64 `json:"offset,omitempty"` // what the format counts: bytes of the stream, batches, row groups
	Skip   int64 `json:"skip,omitempty"`   // rows between Offset and the place
}

// Block is some rows of a [Table] that follow one another.
type Block interface {
	// Len returns the number of rows, bad ones too.
	Len() int
	// Size estimates the bytes that the rows take in memory when they are read, values
	// that rows share counted for each of them.
	Size() int64
	// Read returns the rows. It is called at most once, by any goroutine. Columns that
	// p does not want may be left out. The error ends the input.
	Read(p *Projection) (*Rows, error)
	// Release lets go of the block, read or not.
	Release()
}

// Rows are the rows of a [Block].
type Rows struct {
	Batch    arrow.RecordBatch // of the rows that are not bad; the receiver releases it
	Columns  []string          // names of all columns, wanted or not; nil if Batch has them all
	Bad      []BadRow          // by their number
	Offsets  []int64           // of the rows of Batch in the stream; nil where rows have none
	Bytes    int64             // of the decompressed stream; 0 to count those of texts and ids
	Replaced int64             // U+FFFD put in place of bytes that are not UTF-8, in columns that are neither text nor id
	Skipped  int64             // records of a kind that has no text
}

// BadRow is a row that is not a record.
type BadRow struct {
	Row          int   // number in the block, from 0
	Offset       int64 // in the stream; −1 where there is none
	Reason       BadReason
	Detail       string
	Value, Bound float64 // as in [BadRecord]
}

// TableInput is what a [Table] is opened with.
type TableInput struct {
	Input
	// File is what is read. It may have the methods of [io.ReaderAt], [io.Seeker] and
	// Stat of [io/fs.File]: regular files have. The caller closes it after the table, see
	// Hold.
	File       io.Reader
	At         TablePosition // where the first block begins
	MaxRow     int           // see [WithMaxLine]
	MaxWindow  int           // see [WithMaxWindow]
	MaxBlock   int64         // see [WithMaxBlock]
	BlockRows  int           // a block gets no more rows than that
	BlockBytes int           // a block gets no more rows from that size on
	Header     bool          // see [WithCSVHeader]
	Columns    *Projection   // columns that are wanted; nil for all

	read *atomicBytes // counts what is read
	hold func() func()
}

// Hold keeps File open until the function that it returns is called, which may be after
// the table is closed, and by any goroutine.
func (in *TableInput) Hold() (release func()) {
	if in.hold == nil {
		return func() {}
	}
	return in.hold()
}

// RandomAccess returns the input and its size; ok is false if it is not a file of which
// any part can be read, like a pipe, or is compressed as a whole.
func (in *TableInput) RandomAccess() (file io.ReaderAt, size int64, ok bool) {
	at, ok := in.File.(io.ReaderAt)
	whole := extentOf(in.File)
	if !ok || whole.file == nil || in.Compression == CompressionGzip || in.Compression == CompressionZstd {
		return nil, 0, false
	}
	return &countingFile{at, in.read}, whole.size, true
}

// countingFile counts what is read.
type countingFile struct {
	io.ReaderAt
	read *atomicBytes
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, off)
	f.read.Add(int64(n))
	return n, err
}

// OpenTable opens an input of a format. The error names what is wrong, not the
// file.
type OpenTable func(ctx context.Context, in TableInput) (Table, error)

var tableFormats struct {
	sync.RWMutex
	open map[Format]OpenTable
}

// RegisterTable says what reads inputs of a format. A package that reads a format calls it
// from its init; the last call counts.
func RegisterTable(f Format, open OpenTable) {
	tableFormats.Lock()
	defer tableFormats.Unlock()
	if tableFormats.open == nil {
		tableFormats.open = make(map[Format]OpenTable)
	}
	tableFormats.open[f] = open
}

// tableFormat returns what reads inputs of a format. The error wraps [ErrFormat].
func tableFormat(f Format) (OpenTable, error) {
	switch f {
	case FormatCSV, FormatTSV:
		return openCSVTable, nil
	case FormatArrow:
		return openArrowTable, nil
	case FormatWARC:
		return openWARCTable, nil
	}
	tableFormats.RLock()
	defer tableFormats.RUnlock()
	if open := tableFormats.open[f]; open != nil {
		return open, nil
	}
	return nil, fmt.Errorf("%w: nothing that reads %v is linked into this program; import the package pipeline/source/%v", ErrFormat, f, f)
}

// Projection says which columns of tables are wanted.
type Projection struct {
	paths []jsonPath // of text and id
	meta  metadataNames
}

// Wants reports whether a column of that name is.
func (p *Projection) Wants(name string) bool {
	for _, path := range p.paths {
		if len(path.segments) == 0 || path.text == name || path.segments[0].name == name {
			return true
		}
	}
	return p.meta.wants(name)
}

// isText reports whether a column of that name may be the text or the id, which are checked
// for UTF-8 when they are read.
func (p *Projection) isText(name string) bool {
	for _, path := range p.paths {
		if path.text == name {
			return true
		}
	}
	return false
}

// recoveredPanic makes an error of a panic that hostile columns cause in the Arrow library.
// It is deferred.
func recoveredPanic(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = corrupt(p)
	default:
		*err = corrupt(fmt.Errorf("%v", p))
	}
}

// corrupt makes an error of what the Arrow library says of columns that it cannot decode. Its
// words tell little to those who have the file, so they come last.
func corrupt(err error) error {
	if errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: it cannot be decoded; get the file again, or write it anew [%w]", ErrCorrupt, err)
}
