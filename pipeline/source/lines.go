package source

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"

	"github.com/rosaline-go/rosaline/pipeline"
)

// LinesSource is a source of chunks of lines. The costly half is left to the workers:
// a stage that decodes each chunk with a [Decoder], or with [Fields] line by line,
// and releases it.
//
//	Lines ──▸ chunks ──▸ FlatMap(Decode, Release) ──▸ records
//
// Elements are chunks, so a pipeline that is sharded by element shares out chunks;
// [WithShard] shares out lines. It can be opened any number of times, at once too, as far
// as its inputs can: standard input only once.
type LinesSource struct {
	inputs []Input
	opts   []ReaderOption
	reader atomic.Pointer[Reader] // opened last
}

var (
	_ pipeline.Source[*Chunk]      = (*LinesSource)(nil)
	_ pipeline.FileSharder[*Chunk] = (*LinesSource)(nil)
	_ pipeline.Describer           = (*LinesSource)(nil)
	_ pipeline.Counter             = (*LinesSource)(nil)
	_ pipeline.Positioner          = (*linesCursor)(nil)
	_ pipeline.PadMarker[*Chunk]   = (*Chunk)(nil)
)

// Lines returns the source of the chunks that a [Reader] with these options gives.
// What is wrong with the options is told by Open.
func Lines(inputs []Input, opts ...ReaderOption) *LinesSource {
	return &LinesSource{inputs: inputs, opts: opts}
}

// Open implements [pipeline.Source]. The error wraps [ErrOption] or [ErrPosition].
//
// An error of Next about an input ends the stream under every policy: what could be
// read before it has been given out then. A read that blocks ends with ctx only if
// what [WithOpen] or [WithStdin] gave does so.
func (s *LinesSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[*Chunk], error) {
	var p ReaderPosition
	if at.Position != nil {
		if err := decodePosition(at.Position, &p); err != nil {
			return nil, err
		}
	}
	r, err := s.open(WithPosition(p))
	if err != nil {
		return nil, err
	}
	s.reader.Store(r)
	return &linesCursor{r}, nil
}

func (s *LinesSource) open(more ...ReaderOption) (*Reader, error) {
	return NewReader(s.inputs, append(s.opts[:len(s.opts):len(s.opts)], more...)...)
}

// Progress tells [Reader.Progress] of the epoch opened last, zeros before the
// first. It may be called from any goroutine.
func (s *LinesSource) Progress() (bytesRead, bytesTotal int64) {
	if r := s.reader.Load(); r != nil {
		return r.Progress()
	}
	return 0, 0
}

// Count implements [pipeline.Counter]: it reads the inputs and counts chunks. See
// CountLines for lines.
func (s *LinesSource) Count(ctx context.Context) (int64, error) {
	r, err := s.open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for n := int64(0); ; n++ {
		c, err := r.Next(ctx)
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
		c.Release()
	}
}

// CountLines reads the inputs and counts the lines that are not blank, whether they are
// records or not: those of this rank under [WithShard]. Nothing is decoded and no
// line is kept. An input that fails ends it, with the number of lines before.
func (s *LinesSource) CountLines(ctx context.Context) (int64, error) {
	r, err := s.open()
	if err != nil {
		return 0, err
	}
	shard := r.shard
	r.shard = lineShard{rank: math.MaxInt64 - 1, world: math.MaxInt64} // no line's
	for err == nil {
		var c *Chunk
		if c, err = r.Next(ctx); err == nil {
			c.Release()
		}
	}
	n := r.Position().Index
	_ = r.Close()
	if err == io.EOF {
		err = nil
	}
	full, rest := n/shard.world, n%shard.world
	switch {
	case rest == 0, shard.mode == pipeline.Drop, shard.mode == pipeline.Uneven && shard.rank >= rest:
		return full, err
	}
	return full + 1, err
}

// ShardFiles implements [pipeline.FileSharder], see [ShardInputs].
func (s *LinesSource) ShardFiles(rank, world int) (pipeline.Source[*Chunk], error) {
	inputs, err := ShardInputs(s.inputs, rank, world)
	if err != nil {
		return nil, err
	}
	return Lines(inputs, s.opts...), nil
}

// Describe implements [pipeline.Describer]: the inputs, and the options that change
// chunks.
func (s *LinesSource) Describe() string { return "lines of " + s.describe() }

func (s *LinesSource) describe() string {
	c := defaultReaderConfig()
	for _, o := range s.opts {
		o(&c)
	}
	var b strings.Builder
	b.WriteString(describePaths(len(s.inputs), func(i int) string {
		in := s.inputs[i]
		if in.Format == FormatAuto && in.Compression == CompressionAuto {
			return in.Path
		}
		return fmt.Sprintf("%s as %v %v", in.Path, in.Format, in.Compression)
	}))
	fmt.Fprintf(&b, ", lines to %d bytes, chunks of %d bytes or %d lines", c.maxLine, c.chunkBytes, c.chunkLines)
	if c.shard.World != 1 {
		fmt.Fprintf(&b, ", rank %d of %d, %v", c.shard.Rank, c.shard.World, c.shard.Mode)
	}
	return b.String()
}

// Name implements [pipeline.Named].
func (s *LinesSource) Name() string { return "lines" }

// linesCursor is a reader as a cursor.
type linesCursor struct{ r *Reader }

func (c *linesCursor) Next(ctx context.Context) (*Chunk, error) { return readChunk(ctx, c.r) }
func (c *linesCursor) Position() any                            { return c.r.Position() }
func (c *linesCursor) Close() error                             { return c.r.Close() }

// readChunk marks the errors of a reader that end a stream: all but the end and
// that of ctx.
func readChunk(ctx context.Context, r *Reader) (*Chunk, error) {
	c, err := r.Next(ctx)
	if err == nil || err == io.EOF || ctx.Err() != nil && err == ctx.Err() {
		return c, err
	}
	return nil, pipeline.Fatal(err)
}
