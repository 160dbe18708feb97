package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// ArrowSource is a source of the record batches of Arrow IPC files and streams:
// one column of strings a batch. The receiver releases it.
type ArrowSource struct {
	paths  []string
	column string
	opts   []stringtensor.IPCOption
}

var (
	_ pipeline.Source[*stringtensor.Column]      = (*ArrowSource)(nil)
	_ pipeline.FileSharder[*stringtensor.Column] = (*ArrowSource)(nil)
	_ pipeline.Describer                         = (*ArrowSource)(nil)
	_ pipeline.Counter                           = (*ArrowSource)(nil)
	_ pipeline.Positioner                        = (*arrowCursor)(nil)
)

// ArrowColumns returns the source of the batches of files, in their order, each a
// file or a stream as its first bytes say. column names the column; opts are those
// of the reader, [stringtensor.WithIPCColumns] apart.
func ArrowColumns(paths []string, column string, opts ...stringtensor.IPCOption) *ArrowSource {
	opts = append(opts[:len(opts):len(opts)], stringtensor.WithIPCColumns(column))
	return &ArrowSource{paths, column, opts}
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition]. A place in a
// file is sought by the file's footer; a stream is read from its beginning.
//
// An error of Next ends the stream under every policy. A file that is cut off gives
// the batches that are whole before. An empty batch is a column without rows.
func (s *ArrowSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[*stringtensor.Column], error) {
	var p arrowPosition
	if at.Position != nil {
		if err := decodePosition(at.Position, &p); err != nil {
			return nil, err
		}
		if err := p.validate(s.paths); err != nil {
			return nil, err
		}
	}
	return &arrowCursor{src: s, at: p}, nil
}

// Count implements [pipeline.Counter]: the batches of files are told by their
// footers, streams are read.
func (s *ArrowSource) Count(ctx context.Context) (n int64, err error) {
	for i := range s.paths {
		c := &arrowCursor{src: s, at: arrowPosition{File: i}}
		m, err := c.count(ctx)
		n += m
		if err = errors.Join(err, c.Close()); err != nil {
			return n, err
		}
	}
	return n, nil
}

// ShardFiles implements [pipeline.FileSharder]: rank has the files i with i mod
// world = rank, perhaps none. The error wraps [ErrOption].
func (s *ArrowSource) ShardFiles(rank, world int) (pipeline.Source[*stringtensor.Column], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return &ArrowSource{shardOf(s.paths, rank, world), s.column, s.opts}, nil
}

// Describe implements [pipeline.Describer].
func (s *ArrowSource) Describe() string {
	return fmt.Sprintf("column %q of %s", s.column, describePaths(len(s.paths), func(i int) string { return s.paths[i] }))
}

// Name implements [pipeline.Named].
func (s *ArrowSource) Name() string { return "arrow" }

// arrowPosition is where an arrowCursor stands.
type arrowPosition struct {
	File  int    `json:"file"`
	Path  string `json:"path,omitempty"`
	Batch int    `json:"batch,omitempty"` // batches of the file before the place
}

func (p arrowPosition) validate(paths []string) error {
	path := ""
	if p.File >= 0 && p.File < len(paths) {
		path = paths[p.File]
	}
	if p.File < 0 || p.File > len(paths) || p.Path != path || p.Batch < 0 || p.Batch > 0 && path == "" {
		return fmt.Errorf("%w: batch %d of file %d, %q, where there are %d files and this is %q; give the files it was taken of", ErrPosition, p.Batch, p.File, p.Path, len(paths), path)
	}
	return nil
}

// arrowCursor reads one file after another.
type arrowCursor struct {
	src  *ArrowSource
	at   arrowPosition
	file *os.File // nil between files
	read *stringtensor.IPCReader
	cut  error // why the file is read as a stream
}

// Next implements [pipeline.Cursor].
func (c *arrowCursor) Next(ctx context.Context) (*stringtensor.Column, error) {
	for c.at.File < len(c.src.paths) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := c.open(ctx)
		if err == nil {
			var b *stringtensor.Batch
			if b, err = c.read.Next(); err == nil {
				c.at.Batch++
				return b.Columns[0], nil
			}
		}
		if ctx.Err() != nil && err == ctx.Err() {
			return nil, err
		}
		path := c.src.paths[c.at.File]
		if err == io.EOF || c.cut != nil {
			err = c.cut
		}
		if err = errors.Join(err, c.leave()); err != nil {
			return nil, pipeline.Fatal(fmt.Errorf("source: %s: %w", path, err))
		}
	}
	return nil, io.EOF
}

// open opens the file at c.at and goes to the place.
func (c *arrowCursor) open(ctx context.Context) error {
	if c.read != nil {
		return nil
	}
	if err := c.start(); err != nil {
		return err
	}
	if c.read.Batches() >= 0 {
		if err := c.read.SeekBatch(c.at.Batch); errors.Is(err, stringtensor.ErrOutOfRange) {
			return fmt.Errorf("%w: the place is at batch %d, there are %d; give the file as it was, or start anew", ErrPosition, c.at.Batch, c.read.Batches())
		} else if err != nil {
			return err
		}
		return nil
	}
	for i := range c.at.Batch {
		err := ctx.Err()
		var b *stringtensor.Batch
		if err == nil {
			b, err = c.read.Next()
		}
		switch {
		case err == nil:
			b.Release()
			continue
		case err == ctx.Err():
			_ = c.close() // and begin anew
			return err
		case err == io.EOF:
			err = errors.New("it is shorter than it was")
		}
		return fmt.Errorf("%w: the place is at batch %d, batch %d cannot be read: %w; give the file as it was, or start anew", ErrPosition, c.at.Batch, i, err)
	}
	return nil
}

// arrowMagic begins a file; 8 bytes on, the messages are those of a stream.
const arrowMagic = "ARROW1\x00\x00"

// start opens the file at its beginning.
func (c *arrowCursor) start() (err error) {
	if c.file, err = os.Open(c.src.paths[c.at.File]); err != nil {
		return err
	}
	head := make([]byte, len(arrowMagic))
	n, err := io.ReadFull(c.file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if string(head[:n]) == arrowMagic {
		size, err := c.file.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if c.read, err = stringtensor.NewIPCFileReader(c.file, size, c.src.opts...); err == nil {
			return nil
		}
		c.cut = err // perhaps only the footer is missing
		n = 0
		if _, err := c.file.Seek(int64(len(arrowMagic)), io.SeekStart); err != nil {
			return c.cut
		}
	}
	// What was looked at cannot be read again from a pipe.
	c.read, err = stringtensor.NewIPCStreamReader(io.MultiReader(bytes.NewReader(head[:n]), c.file), c.src.opts...)
	return err
}

func (c *arrowCursor) count(ctx context.Context) (int64, error) {
	if err := c.start(); err != nil {
		return 0, fmt.Errorf("source: %w", err)
	}
	if n := c.read.Batches(); n >= 0 {
		return int64(n), nil
	}
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		b, err := c.read.Next()
		if err == io.EOF || err != nil && c.cut != nil {
			err = c.cut
			if err == nil {
				return n, nil
			}
		}
		if err != nil {
			return n, fmt.Errorf("source: %s: %w", c.src.paths[c.at.File], err)
		}
		b.Release()
	}
}

// leave closes the file and goes on to the next.
func (c *arrowCursor) leave() error {
	c.at = arrowPosition{File: c.at.File + 1}
	return c.close()
}

func (c *arrowCursor) close() (err error) {
	if c.read != nil {
		err = c.read.Close()
	}
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
	}
	c.file, c.read, c.cut = nil, nil, nil
	return err
}

// Position implements [pipeline.Positioner].
func (c *arrowCursor) Position() any {
	p := c.at
	if p.Path = ""; p.File < len(c.src.paths) {
		p.Path = c.src.paths[p.File]
	}
	return p
}

// Close implements [pipeline.Cursor].
func (c *arrowCursor) Close() error { return c.close() }
