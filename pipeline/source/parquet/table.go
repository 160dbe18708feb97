package parquet

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

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

// partBytes is what the longest values of rows that are read at a time may add up to.
const partBytes = 4 * groupBytes

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

	group int              // the next
	plan  *groupPlan       // of it; nil if it was not looked at
	large *groupReader     // reads it where it is no block; nil between groups
	left  int64            // rows of it that large has not given
	cut   *source.BatchCut // of what large gave last
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
		return nil, fmt.Errorf("%w: its footer cannot be read; get the whole file again, or write it anew [%w]", source.ErrCorrupt, err)
	}
	t.meta = r.MetaData()
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := t.checkArrowSchema(); err != nil {
		return nil, fmt.Errorf("%w: the Arrow schema in its footer cannot be decoded; get the file again, or write it anew [%w]", source.ErrCorrupt, err)
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
		if t.group == len(t.meta.RowGroups) || t.planned().step == 0 {
			return fmt.Errorf("%w: row group %d is not as it was; give the file as it was, or start anew", source.ErrPosition, to.Offset)
		}
		if err := t.load(); err != nil {
			return err
		}
		t.passed(t.cut.Pass(to.Skip - t.place.Skip))
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

// groupPlan is how a row group is read.
type groupPlan struct {
	rows int64
	size int64 // bytes of its values
	step int64 // rows that are read at a time; 0 if it is one block
}

// planned returns the plan of the current group.
func (t *table) planned() *groupPlan {
	if t.plan != nil {
		return t.plan
	}
	rows, size := t.groupSize(t.group)
	t.plan = &groupPlan{rows: rows, size: size}
	if len(t.leaves) == 0 || rows == 0 {
		return t.plan
	}
	e := t.expand(t.group)
	t.plan.size = size + e.bytes
	if rows <= groupRows && size <= groupBytes && e.bytes <= groupBytes {
		return t.plan
	}
	// As many rows as a block has, but neither so many that, with the longest values, they
	// are too large, nor so few that dictionaries are copied again and again.
	step := min(float64(t.in.BlockRows), float64(rows)/float64(t.plan.size)*float64(t.in.BlockBytes))
	step = max(step, float64(rows)/float64(max(size, 1))*float64(e.dictionary))
	if e.widest > 0 {
		step = min(step, float64(partBytes)/float64(e.widest))
	}
	t.plan.step = int64(min(max(step, 1), groupRows))
	return t.plan
}

// Next implements [source.Table].
func (t *table) Next(ctx context.Context) (source.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for ; t.group < len(t.meta.RowGroups); t.nextGroup() {
		plan := t.planned()
		switch {
		case plan.rows == 0:
			continue
		case plan.step == 0:
			rows := min(plan.rows, groupRows) // without columns, what follows is an error anyway
			b := &block{table: t, group: t.group, rows: int(rows), size: plan.size, release: t.in.Hold()}
			t.place.Row += rows
			t.nextGroup()
			return b, nil
		}
		if err := t.load(); err != nil {
			return nil, err
		}
		b := t.cut.Next()
		t.passed(int64(b.Len()))
		return b, nil
	}
	return nil, io.EOF
}

func (t *table) nextGroup() {
	t.group++
	t.plan = nil
	t.place.Offset, t.place.Skip = int64(t.group), 0
}

// passed goes on by n rows, which the cut is behind.
func (t *table) passed(n int64) {
	t.place.Row += n
	t.place.Skip += n
	if t.left == 0 && t.cut.Left() == 0 {
		t.closeGroup()
		t.nextGroup()
	}
}

func (t *table) closeGroup() {
	t.cut.Release()
	t.cut = nil
	if t.large != nil {
		t.large.close()
		t.large = nil
	}
}

// load reads rows of the current group, unless there are some.
func (t *table) load() (err error) {
	defer func() {
		if err != nil {
			err = t.groupError(t.group, err)
		}
	}()
	if t.large == nil {
		if t.large, err = t.groupReader(t.group, t.planned().step, t.leaves...); err != nil {
			return err
		}
		t.left = t.planned().rows
	}
	for t.cut.Left() == 0 {
		t.cut.Release()
		t.cut = nil
		batch, err := t.large.next()
		if err != nil {
			return err
		}
		if batch.NumRows() > t.left {
			batch.Release()
			return errTooManyRows
		}
		t.left -= batch.NumRows()
		t.cut = source.NewBatchCut(t.text(batch), t.names, &t.in)
	}
	return nil
}

// Schema implements [source.Table].
func (t *table) Schema() *arrow.Schema { return t.schema }

// Position implements [source.Table].
func (t *table) Position() source.TablePosition { return t.place }

// Close implements [source.Table].
func (t *table) Close() error {
	t.closeGroup()
	return nil
}

var (
	errTooManyRows = errors.New("it has more rows than the footer says")
	errTooFewRows  = errors.New("it has fewer rows than the footer says")
)

// groupError says which row group and column are at fault, and what to do. What the library
// says tells little to those who have the file, so that comes last.
func (t *table) groupError(group int, err error) error {
	at := fmt.Sprintf("row group %d", group)
	if errors.Is(err, errTooManyRows) || errors.Is(err, errTooFewRows) {
		return fmt.Errorf("%w: %s: %w; get the file again, or write it anew", source.ErrCorrupt, at, err)
	}
	if name, found := t.faultyColumn(group, err); found != nil {
		at, err = fmt.Sprintf("%s, column %q", at, name), found
	}
	switch {
	case errors.Is(err, source.ErrBlock):
		return fmt.Errorf("%s: %w", at, err)
	case IsPageTooLarge(err):
		return fmt.Errorf("%s: %w: a page is larger than %d bytes; raise the cap by WithMaxBlock, or write the file anew with smaller pages [%w]",
			at, source.ErrBlock, t.in.MaxBlock, err)
	}
	return fmt.Errorf("%w: %s: it cannot be decoded; get the file again, or write it anew [%w]", source.ErrCorrupt, at, err)
}

// IsPageTooLarge reports whether an error of the reader of Apache Arrow for Go says that a page
// is larger than its properties allow, for which it has no error of its own.
func IsPageTooLarge(err error) bool { return strings.Contains(err.Error(), "exceeds configured limit") }

// faultyColumn returns the first column of a group that cannot be read alone, and why. The
// library reads columns side by side and does not say which of them failed.
func (t *table) faultyColumn(group int, cause error) (name string, err error) {
	rows, _ := t.groupSize(group)
	for _, leaf := range t.leaves {
		name = t.meta.Schema.Column(leaf).Path()
		if len(t.leaves) == 1 {
			return name, cause
		}
		r, err := t.groupReader(group, probeRows, leaf)
		if err != nil {
			return name, err
		}
		for left := rows; left > 0 && err == nil; {
			var batch arrow.RecordBatch
			if batch, err = r.next(); err == nil {
				left -= batch.NumRows()
				batch.Release()
			}
		}
		r.close()
		if err != nil && !errors.Is(err, errTooFewRows) {
			return name, err
		}
	}
	return "", nil
}

// probeRows is how many rows are read at a time to find a column at fault.
const probeRows = 64

// groupReader reads the rows of one row group.
type groupReader struct {
	rows pqarrow.RecordReader
	mem  *budget
}

// groupReader returns a reader of columns of a row group that gives n rows at a time. Nothing
// of it is shared with others.
func (t *table) groupReader(group int, n int64, leaves ...int) (r *groupReader, err error) {
	defer recovered(&err)
	mem := newBudget(t.in.MaxBlock)
	f, err := t.reader(mem)
	if err != nil {
		return nil, err
	}
	// For structs the library opens columns in goroutines, where a panic could not be
	// recovered. So they are opened here before.
	for _, leaf := range leaves {
		p, err := f.RowGroup(group).GetColumnPageReader(leaf)
		if err != nil {
			return nil, err
		}
		if c, ok := p.(io.Closer); ok {
			_ = c.Close()
		}
	}
	columns, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: n}, mem)
	if err != nil {
		return nil, err
	}
	rows, err := columns.GetRecordReader(context.Background(), leaves, []int{group})
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
	size    int64
	release func()
}

// Len implements [source.Block].
func (b *block) Len() int { return b.rows }

// Size implements [source.Block].
func (b *block) Size() int64 { return b.size }

// Release implements [source.Block].
func (b *block) Release() { b.release() }

// Read implements [source.Block].
func (b *block) Read(*source.Projection) (rows *source.Rows, err error) {
	defer func() {
		if err != nil {
			err = b.table.groupError(b.group, err)
		}
	}()
	t := b.table
	if len(t.leaves) == 0 {
		return &source.Rows{Batch: array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(b.rows)), Columns: t.names}, nil
	}
	r, err := t.groupReader(b.group, int64(b.rows), t.leaves...)
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
