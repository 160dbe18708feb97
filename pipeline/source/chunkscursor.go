package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/rosaline-go/rosaline/pipeline"
)

// chunksPosition is where a chunksCursor stands.
type chunksPosition struct {
	Input  int             `json:"input"`            // number of the input; that of inputs after the last
	Path   string          `json:"path,omitempty"`   // its path
	Index  int64           `json:"index,omitempty"`  // lines and rows before the place, over all inputs
	Lines  *ReaderPosition `json:"lines,omitempty"`  // in an input of lines
	Table  *TablePosition  `json:"table,omitempty"`  // in a table
	Padded bool            `json:"padded,omitempty"` // the row for padding has been given out
}

func (p chunksPosition) validate(inputs []Input) error {
	path := ""
	if p.Input >= 0 && p.Input < len(inputs) {
		path = inputs[p.Input].Path
	}
	table := path != "" && inputs[p.Input].Format.IsTable()
	switch {
	case p.Input < 0 || p.Input > len(inputs) || p.Path != path:
		return fmt.Errorf("%w: input %d of %d is %q, it was %q; give the inputs it was taken of", ErrPosition, p.Input, len(inputs), path, p.Path)
	case p.Index < 0, p.Lines != nil && (table || path == ""), p.Table != nil && !table, p.Padded && path != "":
		return fmt.Errorf("%w: %s contradicts itself", ErrPosition, p)
	case p.Table != nil && (p.Table.Row < 0 || p.Table.Offset < 0 || p.Table.Skip < 0 || p.Table.Skip > p.Table.Row):
		return fmt.Errorf("%w: %s has a number out of range", ErrPosition, p)
	}
	return nil
}

func (p chunksPosition) String() string {
	b, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// chunksCursor goes through the inputs one by one. Rank and world are those of the
// chunk's rows; for a row that is sought by its index world is larger than any index.
type chunksCursor struct {
	src         *ChunksSource
	rank, world int64
	at          chunksPosition // of what comes next; Lines and Table only where nothing is open

	lines *Reader // the input being read, one or the other
	table Table
	row   int64       // rows of the table before its next block
	begun bool        // the table has given a block
	file  *sharedFile // of the table

	// Under Drop a chunk is kept back until another one, or the end, tells whether the
	// row of ranks that it ends in is complete.
	held   *Chunk
	heldAt chunksPosition
	failed error // what comes after it

	passed  atomic.Int64 // bytes of the inputs that are over
	current atomic.Int64 // bytes of the table being read
	reader  atomic.Pointer[Reader]
}

func (c *chunksCursor) progress() int64 {
	n := c.passed.Load() + c.current.Load()
	if r := c.reader.Load(); r != nil {
		read, _ := r.Progress()
		n += read
	}
	return n
}

// Next implements [pipeline.Cursor].
func (c *chunksCursor) Next(ctx context.Context) (*Chunk, error) {
	for {
		at := c.place()
		chunk, err := c.next(ctx)
		switch {
		case err == io.EOF:
			return c.end(ctx)
		case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil, err
		case err != nil && c.held != nil:
			// What is held goes before the error, which the next call returns.
			held := c.held
			c.held, c.failed = nil, err
			return held, nil
		case err != nil:
			return nil, pipeline.Fatal(err)
		case c.src.cfg.shard.Mode != pipeline.Drop || c.src.cfg.shard.World == 1 || chunk.Len() == 0:
			return chunk, nil
		}
		held := c.held
		c.held, c.heldAt = chunk, at
		if held != nil {
			return held, nil
		}
	}
}

// end returns what comes after the last input.
func (c *chunksCursor) end(ctx context.Context) (*Chunk, error) {
	index, turn := c.at.Index, c.at.Index%c.world
	if held := c.held; held != nil {
		c.held = nil
		if c.rank < turn {
			held.dropLast()
		}
		return held, nil
	}
	if c.src.cfg.shard.Mode != pipeline.Pad || turn == 0 || c.rank < turn || c.at.Padded {
		return nil, io.EOF
	}
	chunk, err := c.src.row(ctx, (index-turn+c.rank)%index)
	if err != nil {
		return nil, pipeline.Fatal(err)
	}
	chunk.chunkCounts, chunk.padded = chunkCounts{}, true
	c.at.Padded = true
	return chunk, nil
}

// row returns the chunk of one line or row, by its index over all inputs.
func (s *ChunksSource) row(ctx context.Context, index int64) (*Chunk, error) {
	c := &chunksCursor{src: s, rank: index, world: math.MaxInt64}
	defer c.Close()
	for {
		chunk, err := c.next(ctx)
		switch {
		case err == io.EOF:
			return nil, fmt.Errorf("%w: row %d, for padding, is not there any more; give the inputs as they were", ErrPosition, index)
		case err != nil:
			return nil, err
		case chunk.Len() > 0:
			return chunk, nil
		}
		chunk.Release()
	}
}

// dropLast takes the last line or row out.
func (c *Chunk) dropLast() {
	c.dropped++
	if c.rows != nil {
		c.rows.count--
		return
	}
	n := len(c.spans) - 1
	if c.spans[n].end == overCap {
		c.long = c.long[:len(c.long)-1]
	}
	c.spans = c.spans[:n]
	if len(c.numbers) > n {
		c.numbers = c.numbers[:n]
	}
}

// next returns the next chunk of the rank.
func (c *chunksCursor) next(ctx context.Context) (*Chunk, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.lines == nil && c.table == nil {
			if c.at.Input == len(c.src.inputs) {
				return nil, io.EOF
			}
			if err := c.open(ctx); err != nil {
				return nil, err
			}
		}
		var chunk *Chunk
		var err error
		if c.lines != nil {
			if chunk, err = c.lines.Next(ctx); err == nil {
				return chunk, nil
			}
		} else {
			begun := c.begun
			chunk, err = c.block(ctx)
			// Other ranks may have all of its rows. Of each table one block is given out
			// even so, by which the rank knows the columns, and whether one is missing.
			if err == nil && chunk.Len() == 0 && !chunk.rows.counts && (begun || c.held != nil) {
				chunk.Release()
				continue
			}
			if err == nil {
				return chunk, nil
			}
		}
		if err != io.EOF {
			return nil, err
		}
		if err := c.leave(); err != nil {
			return nil, err
		}
	}
}

// open opens the input at the place.
func (c *chunksCursor) open(ctx context.Context) error {
	in, cfg := c.src.inputs[c.at.Input], &c.src.cfg
	if !in.Format.IsTable() {
		return c.openLines(in)
	}
	open, err := tableFormat(in.Format)
	if err != nil {
		return err
	}
	var file io.Reader = cfg.stdin
	if in.Path != Stdin {
		f, err := cfg.open(in.Path)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		file, c.file = f, shareFile(f)
	}
	input := TableInput{
		Input: in, File: file, MaxRow: cfg.maxLine, MaxWindow: cfg.maxWindow, MaxBlock: cfg.tables.maxBlock,
		BlockRows: cfg.chunkLines, BlockBytes: cfg.chunkBytes, Header: cfg.tables.header, Columns: cfg.tables.columns, read: &c.current,
	}
	if c.file != nil {
		input.hold = c.file.hold
	}
	if c.at.Table != nil {
		input.At = *c.at.Table
	}
	c.row, c.begun = input.At.Row, false
	if c.file != nil {
		err = checkFileBeginning(in, file)
	}
	if err == nil {
		c.table, err = openTable(ctx, open, input)
	}
	if err != nil {
		c.table = nil
		err = fmt.Errorf("source: %s: %w", in.Path, err)
		if c.file != nil {
			err = errors.Join(err, c.file.release())
			c.file = nil
		}
	}
	return err
}

func openTable(ctx context.Context, open OpenTable, in TableInput) (t Table, err error) {
	defer recoveredPanic(&err)
	return open(ctx, in)
}

// openLines opens an input of lines, of which the reader counts from the index on.
func (c *chunksCursor) openLines(in Input) error {
	at := ReaderPosition{Path: in.Path, Index: c.at.Index}
	if c.at.Lines != nil {
		at = *c.at.Lines
	}
	opts := append(c.src.opts[:len(c.src.opts):len(c.src.opts)], WithPosition(at), WithShard(0, 1, pipeline.Uneven))
	r, err := NewReader([]Input{in}, opts...)
	if err != nil {
		return err
	}
	r.shard.rank, r.shard.world, r.shard.turn = c.rank, c.world, at.Index%c.world
	c.lines = r
	c.reader.Store(r)
	return nil
}

// block returns the chunk of the next block of the table.
func (c *chunksCursor) block(ctx context.Context) (chunk *Chunk, err error) {
	in := c.src.inputs[c.at.Input]
	defer func() {
		if err != nil && err != io.EOF && !(ctx.Err() != nil && err == ctx.Err()) {
			err = fmt.Errorf("source: %s: after row %d: %w", in.Path, c.row, err)
		}
	}()
	defer recoveredPanic(&err)
	b, err := c.table.Next(ctx)
	if err == io.EOF && !c.begun {
		b, err = emptyBlock(c.table, c.src.cfg.tables.columns)
	}
	if err != nil {
		return nil, err
	}
	chunk = &Chunk{File: in.Path, Format: in.Format, first: c.row + 1}
	chunk.rows = newBlockRows(b, c.at.Index, c.rank, c.world)
	c.begun = true
	c.row += int64(b.Len())
	c.at.Index += int64(b.Len())
	return chunk, nil
}

// leave closes the input and goes on to the next.
func (c *chunksCursor) leave() error {
	if c.lines != nil {
		c.at.Index = c.lines.Position().Index
	}
	size := sizeOfInput(c.src.inputs[c.at.Input])
	err := c.close()
	c.passed.Add(size)
	c.at = chunksPosition{Input: c.at.Input + 1, Index: c.at.Index}
	return err
}

func (c *chunksCursor) close() (err error) {
	if c.lines != nil {
		err = c.lines.Close()
	}
	if c.table != nil {
		err = c.table.Close()
	}
	if c.file != nil {
		if failed := c.file.release(); failed != nil {
			err = errors.Join(err, fmt.Errorf("source: %w", failed))
		}
	}
	c.lines, c.table, c.file = nil, nil, nil
	c.current.Store(0)
	c.reader.Store(nil)
	return err
}

// place is where the cursor stands, what is held apart.
func (c *chunksCursor) place() chunksPosition {
	p := c.at
	if p.Input < len(c.src.inputs) {
		p.Path = c.src.inputs[p.Input].Path
	}
	switch {
	case c.lines != nil:
		at := c.lines.Position()
		p.Index = at.Index
		// After the last line the reader is at an input that is none of the cursor's.
		if p.Lines = &at; at.File > 0 {
			p = chunksPosition{Input: p.Input + 1, Index: at.Index}
			if p.Input < len(c.src.inputs) {
				p.Path = c.src.inputs[p.Input].Path
			}
		}
	case c.table != nil:
		at := c.table.Position()
		p.Table = &at
	}
	return p
}

// Position implements [pipeline.Positioner].
func (c *chunksCursor) Position() any {
	if c.held != nil {
		return c.heldAt
	}
	return c.place()
}

// Close implements [pipeline.Cursor].
func (c *chunksCursor) Close() error {
	if c.held != nil {
		c.held.Release()
		c.held = nil
	}
	return c.close()
}
