package parquet

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/stringtensor"
)

func init() { source.RegisterTable(source.FormatParquet, open) }

// A row group within these bounds is one block.
const (
	groupBytes = 16 << 20 // of the columns that are wanted
	groupRows  = 1 << 20
)

// streamBuffer is how much of a column is read from the file at a time, in bytes.
const streamBuffer = 256 << 10

// table is a [source.Table] of a Parquet file.
type table struct {
	in     source.TableInput
	at     io.ReaderAt
	size   int64
	meta   *metadata.FileMetaData
	leaves []int         // columns of the file that are wanted
	names  []string      // of all columns
	schema *arrow.Schema // of all columns; nil if the library does not know one of them

	annotated map[string]bool // columns whose bytes are text

	group int          // the next
	large *groupReader // reads it where it is no block; nil between groups
	left  int64        // rows of it still to come
	place source.TablePosition
}

// open implements [source.OpenTable].
func open(_ context.Context, in source.TableInput) (source.Table, error) {
	at, size, ok := in.RandomAccess()
	if !ok {
		return nil, fmt.Errorf("%w: Parquet begins at its end, so it cannot be read from a pipe or a compressed file; save it, decompressed, as a file and name that", source.ErrFormat)
	}
	t := &table{in: in, at: at, size: size}
	r, err := t.reader(memory.DefaultAllocator)
	if err != nil {
		return nil, fmt.Errorf("%w: the footer: %w; get the file again", source.ErrCorrupt, err)
	}
	t.meta = r.MetaData()
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := t.checkArrowSchema(); err != nil {
		return nil, fmt.Errorf("%w: the Arrow schema in the footer: %w; get the file again", source.ErrCorrupt, err)
	}
	if err := t.columns(); err != nil {
		return nil, err
	}
	return t, t.seek()
}

// reader returns a reader of the file.
func (t *table) reader(mem memory.Allocator) (*file.Reader, error) {
	props := parquet.NewReaderProperties(mem)
	props.BufferedStreamEnabled, props.BufferSize = true, streamBuffer
	props.MaxCompressedPageSize, props.MaxUncompressedPageSize = t.in.MaxBlock, t.in.MaxBlock
	opts := []file.ReadOption{file.WithReadProps(props)}
	if t.meta != nil {
		opts = append(opts, file.WithMetadata(t.meta))
	}
	return file.NewParquetReader(io.NewSectionReader(t.at, 0, t.size), opts...)
}

// check looks at the numbers of rows that the footer claims.
func (t *table) check() error {
	total := int64(0)
	for i := range t.meta.RowGroups {
		n := t.meta.RowGroup(i).NumRows()
		if n < 0 || n > 1<<40 || total > 1<<48 {
			return fmt.Errorf("%w: row group %d claims %d rows", source.ErrCorrupt, i, n)
		}
		total += n
	}
	if t.meta.NumRows != total {
		return fmt.Errorf("%w: the footer says %d rows, the row groups have %d", source.ErrCorrupt, t.meta.NumRows, total)
	}
	return nil
}

// checkArrowSchema looks at the Arrow schema that writers of Arrow leave in the footer. The
// library takes its lengths on trust; the reader of this module does not.
func (t *table) checkArrowSchema() error {
	v := t.meta.KeyValueMetadata().FindValue(ArrowSchemaKey)
	if v == nil {
		return nil
	}
	_, err := DecodeArrowSchema(*v)
	return err
}

// ArrowSchemaKey is the key under which programs of Arrow keep the schema of a Parquet
// file in its footer.
const ArrowSchemaKey = "ARROW:schema"

// DecodeArrowSchema decodes the value of [ArrowSchemaKey]: base64 of the first message of
// an Arrow stream. It allocates no more than a value of its length can hold. The error is
// that of the decoder of base64 or of [stringtensor.NewIPCStreamReader].
func DecodeArrowSchema(value string) (*arrow.Schema, error) {
	message, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil, err
	}
	r, err := stringtensor.NewIPCStreamReader(bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	return r.Schema(), r.Close()
}

// seek goes to the place at which the table is opened.
func (t *table) seek() error {
	to := t.in.At
	if to.Offset > int64(len(t.meta.RowGroups)) {
		return fmt.Errorf("%w: the place is in row group %d, there are %d; give the file as it was, or start anew", source.ErrPosition, to.Offset, len(t.meta.RowGroups))
	}
	t.group = int(to.Offset)
	t.place = source.TablePosition{Row: to.Row - to.Skip, Offset: to.Offset}
	for t.place.Skip < to.Skip {
		if t.group == len(t.meta.RowGroups) || t.isSmall(t.group) {
			return fmt.Errorf("%w: row group %d is not as it was; give the file as it was, or start anew", source.ErrPosition, to.Offset)
		}
		b, err := t.rows(to.Skip - t.place.Skip)
		if err != nil {
			return err
		}
		b.Release()
	}
	return nil
}

// groupSize returns the rows of a group, and the bytes of the columns that are wanted.
func (t *table) groupSize(i int) (rows, size int64) {
	g := t.meta.RowGroup(i)
	for _, leaf := range t.leaves {
		if c, err := g.ColumnChunk(leaf); err == nil {
			size += max(c.TotalUncompressedSize(), c.TotalCompressedSize(), 0)
		}
	}
	return g.NumRows(), size
}

func (t *table) isSmall(i int) bool {
	rows, size := t.groupSize(i)
	return rows <= groupRows && size <= groupBytes
}

// Next implements [source.Table].
func (t *table) Next(ctx context.Context) (source.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for ; t.group < len(t.meta.RowGroups); t.nextGroup() {
		rows, size := t.groupSize(t.group)
		switch {
		case rows == 0:
			continue
		case t.large == nil && rows <= groupRows && size <= groupBytes, len(t.leaves) == 0:
			rows = min(rows, groupRows) // without columns, what follows is an error anyway
			b := &block{table: t, group: t.group, rows: int(rows), release: t.in.Hold()}
			t.place.Row += rows
			t.nextGroup()
			return b, nil
		}
		step := min(int64(t.in.BlockRows), max(1, rows*int64(t.in.BlockBytes)/max(size, 1)))
		batch, err := t.rows(step)
		if err != nil {
			return nil, err
		}
		return source.NewBlock(t.text(batch), t.names), nil
	}
	return nil, io.EOF
}

func (t *table) nextGroup() {
	t.group++
	t.place.Offset, t.place.Skip = int64(t.group), 0
}

// rows reads up to n rows of the current group.
func (t *table) rows(n int64) (batch arrow.RecordBatch, err error) {
	defer func() {
		if err != nil {
			err = groupError(t.group, err)
		}
	}()
	if t.large == nil {
		if t.large, err = t.groupReader(t.group, n); err != nil {
			return nil, err
		}
		t.left, _ = t.groupSize(t.group)
	}
	if batch, err = t.large.next(); err == nil && batch.NumRows() > t.left {
		batch.Release()
		err = errTooManyRows
	}
	if err != nil {
		return nil, err
	}
	t.left -= batch.NumRows()
	t.place.Row += batch.NumRows()
	t.place.Skip += batch.NumRows()
	if t.left == 0 {
		t.large.close()
		t.large = nil
		t.nextGroup()
	}
	return batch, nil
}

// Schema implements [source.Table].
func (t *table) Schema() *arrow.Schema { return t.schema }

// Position implements [source.Table].
func (t *table) Position() source.TablePosition { return t.place }

// Close implements [source.Table].
func (t *table) Close() error {
	if t.large != nil {
		t.large.close()
		t.large = nil
	}
	return nil
}

var (
	errTooManyRows = errors.New("it has more rows than the footer says")
	errTooFewRows  = errors.New("it has fewer rows than the footer says")
)

// groupError says which row group is at fault.
func groupError(group int, err error) error {
	if errors.Is(err, source.ErrBlock) {
		return fmt.Errorf("row group %d: %w", group, err)
	}
	return fmt.Errorf("%w: row group %d: %w; get the file again", source.ErrCorrupt, group, err)
}

// groupReader reads the rows of one row group.
type groupReader struct {
	rows pqarrow.RecordReader
	mem  *budget
}

// groupReader returns a reader of a row group that gives n rows at a time. Nothing of it is
// shared with others.
func (t *table) groupReader(group int, n int64) (r *groupReader, err error) {
	defer recovered(&err)
	mem := newBudget(t.in.MaxBlock)
	f, err := t.reader(mem)
	if err != nil {
		return nil, err
	}
	// For structs the library opens columns in goroutines, where a panic could not be
	// recovered. So they are opened here before.
	for _, leaf := range t.leaves {
		p, err := f.RowGroup(group).GetColumnPageReader(leaf)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", t.meta.Schema.Column(leaf).Path(), err)
		}
		if c, ok := p.(io.Closer); ok {
			_ = c.Close()
		}
	}
	columns, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: n}, mem)
	if err != nil {
		return nil, err
	}
	rows, err := columns.GetRecordReader(context.Background(), t.leaves, []int{group})
	if err != nil {
		return nil, err
	}
	return &groupReader{rows, mem}, nil
}

// next returns the next rows. The error is never io.EOF.
func (r *groupReader) next() (batch arrow.RecordBatch, err error) {
	defer recovered(&err)
	r.mem.begin()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return nil, err
		}
		return nil, errTooFewRows
	}
	batch = r.rows.RecordBatch()
	batch.Retain()
	return batch, nil
}

func (r *groupReader) close() {
	defer func() { _ = recover() }() // a reader that panicked may panic again
	r.rows.Release()
}

// block is a row group that is read by whoever wants its rows.
type block struct {
	table   *table
	group   int
	rows    int
	release func()
}

// Len implements [source.Block].
func (b *block) Len() int { return b.rows }

// Release implements [source.Block].
func (b *block) Release() { b.release() }

// Read implements [source.Block].
func (b *block) Read(*source.Projection) (rows *source.Rows, err error) {
	defer func() {
		if err != nil {
			err = groupError(b.group, err)
		}
	}()
	t := b.table
	if len(t.leaves) == 0 {
		return &source.Rows{Batch: array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(b.rows)), Columns: t.names}, nil
	}
	r, err := t.groupReader(b.group, int64(b.rows))
	if err != nil {
		return nil, err
	}
	defer r.close()
	batch, err := r.next()
	for err == nil && batch.NumRows() < int64(b.rows) {
		var more arrow.RecordBatch
		if more, err = r.next(); err == nil {
			batch, err = joined(batch, more)
		}
	}
	if err == nil && batch.NumRows() > int64(b.rows) {
		err = errTooManyRows
	}
	if err != nil {
		if batch != nil {
			batch.Release()
		}
		return nil, err
	}
	return &source.Rows{Batch: t.text(batch), Columns: t.names}, nil
}

// joined returns the rows of a and b, which it takes over.
func joined(a, b arrow.RecordBatch) (out arrow.RecordBatch, err error) {
	defer recovered(&err)
	defer a.Release()
	defer b.Release()
	columns := make([]arrow.Array, 0, a.NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i := range int(a.NumCols()) {
		c, err := array.Concatenate([]arrow.Array{a.Column(i), b.Column(i)}, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return array.NewRecordBatch(a.Schema(), columns, a.NumRows()+b.NumRows()), nil
}

// recovered makes an error of a panic of the library. It is deferred.
func recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = p
	default:
		*err = fmt.Errorf("%v", p)
	}
}
