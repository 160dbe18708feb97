package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// arrowTable reads an Arrow IPC file or stream, compressed as a whole or not. A batch is
// cut into blocks without a copy.
type arrowTable struct {
	in     TableInput
	stream *tableStream // nil for a file that is read by its footer
	read   *stringtensor.IPCReader
	broken error // why a file is read as a stream

	cut *BatchCut     // of the batch; nil between batches
	at  TablePosition // Offset counts batches
}

// openArrowTable implements [OpenTable].
func openArrowTable(ctx context.Context, in TableInput) (Table, error) {
	t := &arrowTable{in: in}
	err := t.start(ctx)
	if err == nil {
		err = t.seek(ctx)
	}
	if err != nil {
		_ = t.Close()
		return nil, arrowError(err)
	}
	return t, nil
}

// arrowError marks an error of the reader, of which the caller need not know.
func arrowError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: get the whole file [%w]", ErrTruncated, err)
	case errors.Is(err, stringtensor.ErrInvalid):
		return corrupt(err)
	case errors.Is(err, stringtensor.ErrMessageTooLarge):
		return fmt.Errorf("%w: %w; raise it by WithMaxBlock, or write smaller batches", ErrBlock, err)
	}
	return err
}

// start opens the reader at the beginning of the input.
func (t *arrowTable) start(ctx context.Context) error {
	opts := []stringtensor.IPCOption{stringtensor.WithIPCMaxMessage(t.in.MaxBlock)}
	if file, size, ok := t.in.RandomAccess(); ok {
		head := make([]byte, len(arrowMagic))
		if n, _ := file.ReadAt(head, 0); string(head[:n]) == arrowMagic {
			var err error
			if t.read, err = stringtensor.NewIPCFileReader(file, size, opts...); err == nil {
				return nil
			}
			t.broken = err // perhaps only the footer is missing
		}
	}
	var err error
	if t.stream, err = openTableStream(ctx, &t.in); err != nil {
		return err
	}
	head := make([]byte, len(arrowMagic))
	n, err := io.ReadFull(t.stream, head)
	switch {
	case err == io.EOF:
		return fmt.Errorf("%w: it is empty", ErrTruncated)
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	case string(head[:n]) == arrowMagic:
		n = 0
	case bytes.HasPrefix(head[:n], []byte("FEA1")):
		return fmt.Errorf("%w: it is Feather version 1; write it again as version 2, which is Arrow IPC", ErrFormat)
	}
	t.read, err = stringtensor.NewIPCStreamReader(io.MultiReader(bytes.NewReader(head[:n]), t.stream), opts...)
	if err != nil && t.broken != nil {
		return t.broken
	}
	return err
}

// seek goes to the place at which the table is opened.
func (t *arrowTable) seek(ctx context.Context) error {
	to := t.in.At
	if t.stream == nil {
		if err := t.read.SeekBatch(int(to.Offset)); err != nil {
			return fmt.Errorf("%w: batch %d: %w; give the file as it was, or start anew", ErrPosition, to.Offset, err)
		}
		t.at = TablePosition{Row: to.Row - to.Skip, Offset: to.Offset}
	}
	for t.at.Offset < to.Offset {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.load(); err != nil {
			return fmt.Errorf("%w: batch %d: %w; give the file as it was, or start anew", ErrPosition, t.at.Offset, err)
		}
		t.pass(t.cut.Left())
	}
	if to.Skip == 0 {
		return nil
	}
	if err := t.load(); err != nil || t.cut.Left() < to.Skip {
		return fmt.Errorf("%w: batch %d is not as it was; give the file as it was, or start anew", ErrPosition, to.Offset)
	}
	t.pass(to.Skip)
	return nil
}

// load gets the next batch.
func (t *arrowTable) load() error {
	b, err := t.read.NextRecord()
	if err != nil {
		return err
	}
	t.cut = NewBatchCut(b, nil, &t.in)
	return nil
}

// pass passes over n rows of the batch.
func (t *arrowTable) pass(n int64) {
	t.cut.Pass(n)
	t.passed(n)
}

// passed goes on by n rows of the batch, which the cut is behind.
func (t *arrowTable) passed(n int64) {
	t.at.Row += n
	t.at.Skip += n
	if t.cut.Left() == 0 {
		t.cut.Release()
		t.cut = nil
		t.at.Offset, t.at.Skip = t.at.Offset+1, 0
	}
}

// Next implements [Table].
func (t *arrowTable) Next(ctx context.Context) (Block, error) {
	for t.cut == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.stream != nil {
			t.stream.ctx = ctx
		}
		if err := t.load(); err != nil {
			// Of a file without a footer, what follows the batches is not known.
			switch {
			case t.broken != nil:
				return nil, arrowError(t.broken)
			case err == io.EOF:
				return nil, io.EOF
			}
			return nil, fmt.Errorf("record batch %d: %w", t.at.Offset, arrowError(err))
		}
		if t.cut.Left() == 0 {
			t.passed(0)
		}
	}
	b := t.cut.Next()
	t.passed(int64(b.Len()))
	return b, nil
}

// Schema implements [Table].
func (t *arrowTable) Schema() *arrow.Schema { return t.read.Schema() }

// Position implements [Table].
func (t *arrowTable) Position() TablePosition { return t.at }

// Close implements [Table].
func (t *arrowTable) Close() error {
	t.cut.Release()
	t.cut = nil
	if t.read != nil {
		_ = t.read.Close()
	}
	if t.stream != nil {
		t.stream.close()
	}
	return nil
}

// batchBlock is a block that has been read.
type batchBlock struct {
	batch arrow.RecordBatch
	names []string
	size  int64
	part  bool // batch is a slice of another
}

// NewBlock returns the block of a batch, which it takes over. names are those of all
// columns of the table, nil if the batch has them all.
func NewBlock(batch arrow.RecordBatch, names []string) Block {
	b := &batchBlock{batch: batch, names: names}
	for _, c := range batch.Columns() {
		b.size += bytesOfRows(c, 0, batch.NumRows())
	}
	return b
}

// Len implements [Block].
func (b *batchBlock) Len() int { return int(b.batch.NumRows()) }

// Size implements [Block].
func (b *batchBlock) Size() int64 { return b.size }

// Read implements [Block].
func (b *batchBlock) Read(p *Projection) (*Rows, error) {
	batch, err := ownColumns(b.batch, p, b.part)
	if err != nil {
		return nil, err
	}
	return &Rows{Batch: batch, Columns: b.names}, nil
}

// Release implements [Block].
func (b *batchBlock) Release() { b.batch.Release() }
