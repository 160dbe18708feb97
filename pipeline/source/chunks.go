package source

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/rosaline-go/rosaline/pipeline"
)

// ChunksSource is a source of the chunks of inputs of any format, for a [Decoder]: of lines
// and of the rows of tables, in the order of the inputs.
//
// Elements are chunks, so a pipeline that is sharded by element shares out chunks;
// [WithShard] shares out lines and rows, counted over all inputs whatever their
// formats. Cursors tell positions and are opened there: see [ReaderPosition] for
// lines. Of tables, files of Arrow and Parquet are sought; CSV and WARC are if they
// are not compressed, and read up to the place otherwise.
//
// It can be opened any number of times, as far as its inputs can: standard input only
// once. [ChunksSource.Progress] tells of the cursor opened last.
type ChunksSource struct {
	inputs []Input
	opts   []ReaderOption
	cfg    readerConfig
	lines  *LinesSource // nil if there is a table
	cursor atomic.Pointer[chunksCursor]
	total  int64
}

var (
	_ pipeline.Source[*Chunk]      = (*ChunksSource)(nil)
	_ pipeline.FileSharder[*Chunk] = (*ChunksSource)(nil)
	_ pipeline.Describer           = (*ChunksSource)(nil)
	_ pipeline.Positioner          = (*chunksCursor)(nil)
)

// Chunks returns the source of the chunks of inputs. If none of them is a table it is
// [Lines]. Nothing is opened. The error is [ErrOption] or [ErrFormat].
func Chunks(inputs []Input, opts ...ReaderOption) (*ChunksSource, error) {
	s := &ChunksSource{inputs: make([]Input, len(inputs)), opts: opts, cfg: defaultReaderConfig()}
	for _, o := range opts {
		o(&s.cfg)
	}
	tables := false
	for i, in := range inputs {
		if in.Format == FormatAuto && in.Path != Stdin {
			f, c, known := splitName(in.Path)
			if !known {
				return nil, fmt.Errorf("%w: %s: declare its format", ErrFormat, in.Path)
			}
			in.Format = f
			if in.Compression == CompressionAuto {
				in.Compression = c
			}
		}
		if in.Format.IsTable() {
			tables = true
			if _, err := tableFormat(in.Format); err != nil {
				return nil, fmt.Errorf("%s: %w", in.Path, err)
			}
		}
		s.inputs[i] = in
	}
	// A reader that is not used tells what is wrong, and how much there is to read.
	look, err := NewReader(s.inputs, opts...)
	if err != nil {
		return nil, err
	}
	_, s.total = look.Progress()
	if !tables {
		s.lines = Lines(inputs, opts...)
	}
	return s, look.Close()
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition].
//
// An error of Next about an input ends the stream under every policy: what could be read
// before it has been given out then.
func (s *ChunksSource) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[*Chunk], error) {
	if s.lines != nil {
		return s.lines.Open(ctx, at)
	}
	c := &chunksCursor{src: s, rank: int64(s.cfg.shard.Rank), world: int64(s.cfg.shard.World)}
	if at.Position != nil {
		if err := decodePosition(at.Position, &c.at); err != nil {
			return nil, err
		}
		if err := c.at.validate(s.inputs); err != nil {
			return nil, err
		}
	}
	for _, in := range s.inputs[:c.at.Input] {
		c.passed.Add(sizeOfInput(in))
	}
	s.cursor.Store(c)
	return c, nil
}

// sizeOfInput is the size of a file, 0 of anything else.
func sizeOfInput(in Input) int64 {
	if in.Path == Stdin {
		return 0
	}
	info, err := os.Stat(in.Path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Progress tells how many bytes have been read from the inputs, as they lie there, in the
// epoch opened last, and how many there are; −1 if that is not known. It may be called
// from any goroutine.
func (s *ChunksSource) Progress() (bytesRead, bytesTotal int64) {
	if s.lines != nil {
		if read, total := s.lines.Progress(); total != 0 {
			return read, total
		}
		return 0, s.total
	}
	if c := s.cursor.Load(); c != nil {
		bytesRead = c.progress()
		if s.total >= 0 {
			bytesRead = min(bytesRead, s.total)
		}
	}
	return bytesRead, s.total
}

// ShardFiles implements [pipeline.FileSharder], see [ShardInputs].
func (s *ChunksSource) ShardFiles(rank, world int) (pipeline.Source[*Chunk], error) {
	inputs, err := ShardInputs(s.inputs, rank, world)
	if err != nil {
		return nil, err
	}
	return Chunks(inputs, s.opts...)
}

// Describe implements [pipeline.Describer]: the inputs, and the options that change
// chunks.
func (s *ChunksSource) Describe() string {
	if s.lines != nil {
		return s.lines.Describe()
	}
	var b strings.Builder
	b.WriteString("rows and " + Lines(s.inputs, s.opts...).Describe())
	if !s.cfg.tables.header {
		b.WriteString(", csv without header")
	}
	return b.String()
}

// Name implements [pipeline.Named].
func (s *ChunksSource) Name() string {
	if s.lines != nil {
		return s.lines.Name()
	}
	return "chunks"
}
