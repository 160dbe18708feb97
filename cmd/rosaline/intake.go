package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
	_ "github.com/rosaline-go/rosaline/pipeline/source/parquet" // registers the format
)

// intake is the source of the chunks of lines and rows that a command reads. It implements
// [pipeline.Source], and stands back from the contexts of the engine: the inputs
// know about the end of the command's, and the reader is not told, so that it still
// hands out the lines it has.
type intake struct {
	lines  *source.ChunksSource
	total  int64 // bytes of all epochs, −1 if that is not known
	strict bool
	pause  func()
	begin  json.RawMessage // position at which the first epoch begins; nil for the beginning

	mu   sync.Mutex
	read int64 // bytes of the epochs that are over
	open bool
}

// open prepares the inputs. Nothing is read yet.
func (c *command) open(ctx context.Context, f *inputFlags, files []source.Input) (*intake, error) {
	decoder, err := f.newDecoder()
	if err != nil {
		return nil, err
	}
	stdin := c.in
	for _, file := range files {
		if file.Path == source.Stdin {
			stdin = newInterruptible(ctx, stdin)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return openInterruptible(ctx, path) }
	if f.strict {
		// Nobody is told of pipes, so that chunks do not depend on when lines come.
		stdin = struct{ io.Reader }{stdin}
		open = func(path string) (io.ReadCloser, error) { return openStrict(ctx, path) }
	}
	opts := []source.ReaderOption{
		source.WithStdin(stdin), source.WithOpen(open), source.WithMaxLine(int(f.maxLine.n)),
		source.WithMaxWindow(int(f.maxWindow.n)), source.WithChunkLines(f.batch.n),
		source.WithShard(f.shard.rank, f.shard.world, f.mode()),
		source.WithCSVHeader(f.csvHeader), source.WithMaxBlock(f.maxBlock.n), source.WithColumnsOf(decoder),
	}
	lines, err := source.Chunks(files, opts...)
	if err != nil {
		return nil, &usageError{err}
	}
	_, total := lines.Progress()
	if f.epochs.n == 0 {
		total = -1
	}
	if total > 0 {
		total *= int64(f.epochs.n)
	}
	return &intake{lines: lines, total: total, strict: f.strict, pause: c.pause}, nil
}

// Open implements [pipeline.Source].
func (in *intake) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[*source.Chunk], error) {
	if at.Epoch == 0 && at.Position == nil {
		at.Position = in.begin
	}
	cursor, err := in.lines.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.open = true
	c := &intakeCursor{cursor, in, context.WithoutCancel(ctx)}
	if in.strict {
		return &strictCursor{intakeCursor: c}, nil
	}
	return c, nil
}

// Name implements [pipeline.Named].
func (in *intake) Name() string { return in.lines.Name() }

// Describe implements [pipeline.Describer].
func (in *intake) Describe() string { return in.lines.Describe() }

// progress tells how many bytes have been read, in all epochs, and how many there
// are; −1 if that is not known. It may be called from any goroutine.
func (in *intake) progress() (bytesRead, bytesTotal int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	bytesRead = in.read
	if in.open {
		n, _ := in.lines.Progress()
		bytesRead += n
	}
	return bytesRead, in.total
}

// intakeCursor goes through the inputs once.
type intakeCursor struct {
	cursor pipeline.Cursor[*source.Chunk]
	in     *intake
	ctx    context.Context // never done
}

// Next implements [pipeline.Cursor].
func (c *intakeCursor) Next(context.Context) (*source.Chunk, error) {
	c.in.pause()
	chunk, err := c.cursor.Next(c.ctx)
	return chunk, capError(err)
}

// capError names the flag of a cap that an input is over.
func capError(err error) error {
	switch {
	case errors.Is(err, source.ErrWindow):
		return fmt.Errorf("%w; the flag is --max-window", err)
	case errors.Is(err, source.ErrBlock):
		return fmt.Errorf("%w; the flag is --max-block", err)
	}
	return err
}

// Position implements [pipeline.Positioner].
func (c *intakeCursor) Position() any { return c.cursor.(pipeline.Positioner).Position() }

// Close implements [pipeline.Cursor].
func (c *intakeCursor) Close() error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	n, _ := c.in.lines.Progress()
	c.in.read += n
	c.in.open = false
	return c.cursor.Close()
}

// strictCursor holds back a chunk until it knows that no error of the input has made it
// shorter than it is when the input is read again.
type strictCursor struct {
	*intakeCursor
	begun bool
	held  *source.Chunk
	at    any   // the position before it
	err   error // what comes behind it
}

// read takes the next chunk from the inputs.
func (c *strictCursor) read() {
	c.at = c.intakeCursor.Position()
	c.held, c.err = c.intakeCursor.Next(c.ctx)
}

// Next implements [pipeline.Cursor].
func (c *strictCursor) Next(context.Context) (*source.Chunk, error) {
	if !c.begun {
		c.begun = true
		c.read()
	}
	out := c.held
	if out == nil {
		return nil, c.err
	}
	c.read()
	if c.err != nil && c.err != io.EOF {
		out.Release()
		return nil, c.err
	}
	return out, nil
}

// Position implements [pipeline.Positioner].
func (c *strictCursor) Position() any {
	if c.held == nil {
		return c.intakeCursor.Position()
	}
	return c.at
}

// Close implements [pipeline.Cursor].
func (c *strictCursor) Close() error {
	if c.held != nil {
		c.held.Release()
		c.held = nil
	}
	return c.intakeCursor.Close()
}
