package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Record is a line of JSONL.
type Record struct {
	// Data is one JSON value after RFC 8259, all of it checked, without the white
	// space around it. It is the receiver's to keep, not to change or append to: it shares up
	// to 8 KiB of memory with its neighbours.
	Data   []byte
	Pos    Position // of the line
	Padded bool     // see [pipeline.Pad] and [WithShard]
}

// ID returns "file:line".
func (r Record) ID() string { return r.Pos.String() }

// Size implements [pipeline.Sizer].
func (r Record) Size() int64 { return int64(len(r.Data)) + recordOverhead }

// recordOverhead is the memory of a record besides its data, in bytes.
const recordOverhead = 64

// AsPadding implements [pipeline.PadMarker].
func (r Record) AsPadding() Record {
	r.Padded = true
	return r
}

// RecordsSource is a source of the lines of JSONL inputs, one by one. [Lines] moves
// more a second, and leaves the checking to the workers.
type RecordsSource struct{ lines *LinesSource }

var (
	_ pipeline.Source[Record]      = (*RecordsSource)(nil)
	_ pipeline.FileSharder[Record] = (*RecordsSource)(nil)
	_ pipeline.Describer           = (*RecordsSource)(nil)
	_ pipeline.Counter             = (*RecordsSource)(nil)
	_ pipeline.Positioner          = (*recordsCursor)(nil)
	_ pipeline.PadMarker[Record]   = Record{}
	_ pipeline.Sizer               = Record{}
)

// JSONL returns the source of the records of inputs, each of which is read as JSONL
// whatever its Format says. What is wrong with the options is told by Open.
func JSONL(inputs []Input, opts ...ReaderOption) *RecordsSource {
	as := make([]Input, len(inputs))
	for i, in := range inputs {
		as[i] = in
		as[i].Format = FormatJSONL
		if _, c, _ := splitName(in.Path); in.Compression == CompressionAuto && in.Path != Stdin {
			as[i].Compression = c
		}
	}
	return &RecordsSource{Lines(as, opts...)}
}

// Open implements [pipeline.Source]. The error wraps [ErrOption] or [ErrPosition].
//
// Blank lines are skipped. A line that is no record is an error of Next about one
// element: [ErrJSON], [ErrDepth] at more than 1000 levels, or [ErrLineTooLong], with its
// place. An error about an input ends the stream, as it does for [Lines].
func (s *RecordsSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[Record], error) {
	return s.open(at)
}

func (s *RecordsSource) open(at pipeline.Start) (*recordsCursor, error) {
	var p recordsPosition
	if at.Position != nil {
		if err := decodePosition(at.Position, &p); err != nil {
			return nil, err
		}
		if p.Taken < 0 {
			return nil, fmt.Errorf("%w: %d lines taken of a chunk", ErrPosition, p.Taken)
		}
	}
	r, err := s.lines.open(WithPosition(p.Chunk))
	if err != nil {
		return nil, err
	}
	s.lines.reader.Store(r)
	c := &recordsCursor{r: r, pass: p.Taken, at: p}
	c.scan.maxDepth = defaultDecoderConfig().maxDepth
	return c, nil
}

// Progress is [LinesSource.Progress].
func (s *RecordsSource) Progress() (bytesRead, bytesTotal int64) { return s.lines.Progress() }

// Count implements [pipeline.Counter]: it reads the inputs and checks every line.
func (s *RecordsSource) Count(ctx context.Context) (int64, error) {
	c, err := s.open(pipeline.Start{})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for n := int64(0); ; {
		_, err := c.next(ctx)
		switch {
		case err == nil:
			n++
		case err == io.EOF:
			return n, nil
		case !isLineError(err):
			return n, err
		}
	}
}

func isLineError(err error) bool {
	return errors.Is(err, ErrJSON) || errors.Is(err, ErrDepth) || errors.Is(err, ErrLineTooLong)
}

// ShardFiles implements [pipeline.FileSharder], see [ShardInputs].
func (s *RecordsSource) ShardFiles(rank, world int) (pipeline.Source[Record], error) {
	inputs, err := ShardInputs(s.lines.inputs, rank, world)
	if err != nil {
		return nil, err
	}
	return &RecordsSource{Lines(inputs, s.lines.opts...)}, nil
}

// Describe implements [pipeline.Describer].
func (s *RecordsSource) Describe() string { return "records of " + s.lines.describe() }

// Name implements [pipeline.Named].
func (s *RecordsSource) Name() string { return "jsonl" }

// recordsPosition is where a recordsCursor stands.
type recordsPosition struct {
	Chunk ReaderPosition `json:"chunk"`           // where the chunk begins
	Taken int            `json:"taken,omitempty"` // lines from there on that have been taken, over chunks
}

// recordsCursor takes lines out of one chunk after another.
type recordsCursor struct {
	r     *Reader
	scan  jsonScanner
	chunk *Chunk // nil before the first, and when all its lines are taken
	line  int
	pass  int // lines still to be passed over after a resume
	at    recordsPosition
	slab  []byte
}

// slabBytes is the memory that neighbours share. A record that is kept keeps no
// more than that besides its own.
const slabBytes = 8 << 10

// Next implements [pipeline.Cursor].
func (c *recordsCursor) Next(ctx context.Context) (Record, error) {
	l, err := c.next(ctx)
	if err != nil {
		return Record{}, err
	}
	data := l.Data
	if len(data) >= slabBytes/8 {
		data = append(make([]byte, 0, len(data)), data...)
		return Record{Data: data, Pos: l.Pos, Padded: l.Padded}, nil
	}
	if len(data) > cap(c.slab)-len(c.slab) {
		c.slab = make([]byte, 0, slabBytes)
	}
	from := len(c.slab)
	c.slab = append(c.slab, data...)
	data = c.slab[from:len(c.slab):len(c.slab)]
	return Record{Data: data, Pos: l.Pos, Padded: l.Padded}, nil
}

// next returns the next line that is a record. Its data are those of the chunk.
func (c *recordsCursor) next(ctx context.Context) (Line, error) {
	for {
		for c.chunk != nil && c.line < c.chunk.Len() {
			l := c.chunk.Line(c.line)
			c.line++
			if c.pass > 0 {
				c.pass--
				continue
			}
			c.at.Taken++
			if l.TooLong {
				return Line{}, lineError(l.Pos, BadLineLength, lengthDetail(l.Length, c.chunk.maxLine))
			}
			if isBlank(l.Data) {
				continue
			}
			if err := c.scan.scan(l.Data, new([maxPaths]jsonRef)); err != nil {
				reason, detail := err.(*syntaxError).describe(l.Data)
				return Line{}, lineError(l.Pos, reason, detail)
			}
			l.Data = trimBlank(l.Data)
			return l, nil
		}
		if c.chunk != nil {
			c.chunk.Release()
			c.chunk, c.line = nil, 0
		}
		if c.pass == 0 {
			c.at = recordsPosition{Chunk: c.r.Position()}
		}
		chunk, err := readChunk(ctx, c.r)
		if err != nil {
			if err == io.EOF && c.pass > 0 {
				err = pipeline.Fatal(fmt.Errorf("%w: the inputs end %d lines before the place; give them as they were, or start anew", ErrPosition, c.pass))
			}
			return Line{}, err
		}
		c.chunk = chunk
	}
}

// trimBlank takes JSON's white space off both ends.
func trimBlank(line []byte) []byte {
	for len(line) > 0 && isBlank(line[:1]) {
		line = line[1:]
	}
	for n := len(line); n > 0 && isBlank(line[n-1:]); n-- {
		line = line[:n-1]
	}
	return line
}

// Position implements [pipeline.Positioner].
func (c *recordsCursor) Position() any {
	return c.at
}

// Close implements [pipeline.Cursor].
func (c *recordsCursor) Close() error { return c.r.Close() }
