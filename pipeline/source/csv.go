package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
)

// csvExtensions are the files that are taken from a folder.
var csvExtensions = []string{"csv", "csv.gz", "csv.zst"}

// CSVSource is a list of CSV files: a [pipeline.Source] of rows that counts and can be
// split by file. Its cursors tell positions, and seek there; what is compressed
// is read up to there.
type CSVSource struct {
	files []File
	cfg   csvConfig
}

// CSV returns the source of the rows of files, by way of encoding/csv (RFC 4180). Paths
// are files, folders (of .csv, .csv.gz and .csv.zst) and patterns, as in [Glob]; the
// files are read in the order of their paths. Gzip and zstd are recognised by
// their first bytes.
//
//	id,text          header            Get("id") is "007", not 7
//	007,"a ""b""     row, lines 2–3
//	c"
//	                 blank, no row
//	8,d              row, line 5
//
// Values keep their text whatever they look like; [WithColumn] says which type they
// must have. Each file has its own header: columns are found by name, so files may
// have them in different orders. A file without any row has no header either. One byte
// order mark is taken off. LF or CR LF ends a line, and every line counts for line
// numbers.
//
// An error about a row names file and line, and reading goes on behind it:
// [ErrCSV], after which the next line is taken for the beginning of a row;
// [ErrFieldCount]; [ErrRowTooLong]; [ErrValue]. What ends the stream: a
// file that cannot be opened or read, [ErrTruncated], [ErrCorrupt], [ErrWindow] and
// [ErrHeader]. Memory is the largest row.
//
// The error wraps [ErrNoInput] or [ErrOption].
func CSV(paths []string, opts ...CSVOption) (*CSVSource, error) {
	cfg, err := newCSVConfig(opts)
	if err != nil {
		return nil, err
	}
	list, err := newListConfig(nil, append([]string{}, csvExtensions...)...)
	if err != nil {
		return nil, err
	}
	files, err := list.list(paths)
	if err != nil {
		return nil, err
	}
	return &CSVSource{files, cfg}, nil
}

// Files returns the files in their order. They must not be changed.
func (s *CSVSource) Files() []File { return s.files }

// ShardFiles implements [pipeline.FileSharder]: rank has the files i with i mod world =
// rank, perhaps none. The error wraps [ErrOption].
func (s *CSVSource) ShardFiles(rank, world int) (pipeline.Source[Row], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return &CSVSource{shardOf(s.files, rank, world), s.cfg}, nil
}

// Describe implements [pipeline.Describer].
func (s *CSVSource) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "csv of %s; header %t, delimiter %s, lazy %t, max row %d",
		describePaths(len(s.files), func(i int) string { return s.files[i].Path }),
		s.cfg.header, describeDelimiter(s.cfg.delimiter), s.cfg.lazy, s.cfg.maxRow)
	for _, c := range s.cfg.columns {
		fmt.Fprintf(&b, ", %q %v", c.name, c.kind)
	}
	return b.String()
}

// Name implements [pipeline.Named].
func (s *CSVSource) Name() string { return "csv" }

// Count implements [pipeline.Counter] by reading all files. Rows that are errors do not
// count.
func (s *CSVSource) Count(ctx context.Context) (n int64, err error) {
	c := &csvCursor{src: s, ctx: ctx}
	defer func() { err = errors.Join(err, c.Close()) }()
	for {
		switch _, fatal, err := c.next(); {
		case err == nil:
			n++
		case err == io.EOF:
			return n, nil
		case fatal:
			return 0, err
		}
	}
}

// csvPosition is where a csvCursor stands.
type csvPosition struct {
	File   int    `json:"file"`             // index
	Path   string `json:"path,omitempty"`   // its path; none after the last file
	Offset int64  `json:"offset,omitempty"` // bytes of the decompressed file before the next row
	Line   int64  `json:"line,omitempty"`   // lines of it before the next row
	Fields int    `json:"fields,omitempty"` // of a row, where there is no header and a row was read
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition] if the files
// are others than when the position was told, and is as those of the rows otherwise.
func (s *CSVSource) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[Row], error) {
	c := &csvCursor{src: s, ctx: ctx}
	if at.Position == nil {
		return c, nil
	}
	var p csvPosition
	if err := decodePosition(at.Position, &p); err != nil {
		return nil, err
	}
	if err := c.seek(p); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// csvCursor goes through the rows of all files.
type csvCursor struct {
	src    *CSVSource
	ctx    context.Context
	file   int        // being read, or next if none is open
	in     *csvInput  // nil if none is open
	header *csvHeader // nil if it is not known yet
	failed error      // ended the stream
}

func (c *csvCursor) seek(p csvPosition) error {
	files := c.src.files
	path := ""
	if p.File >= 0 && p.File < len(files) {
		path = files[p.File].Path
	}
	switch {
	case p.File < 0 || p.File > len(files):
		return fmt.Errorf("%w: file %d of %d", ErrPosition, p.File, len(files))
	case p.Path != path:
		return fmt.Errorf("%w: file %d is %q, it was %q", ErrPosition, p.File, path, p.Path)
	case p.Offset < 0 || p.Line < 0 || p.Line > p.Offset || p.Fields < 0 || int64(p.Fields) > p.Offset+1:
		return fmt.Errorf("%w: byte %d, line %d, %d fields", ErrPosition, p.Offset, p.Line, p.Fields)
	case path == "" && (p.Offset > 0 || p.Fields > 0):
		return fmt.Errorf("%w: byte %d after the last file", ErrPosition, p.Offset)
	case c.src.cfg.header && p.Fields > 0:
		return fmt.Errorf("%w: %d fields, but there is a header", ErrPosition, p.Fields)
	}
	c.file = p.File
	if p.Offset == 0 {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	if err := c.in.seek(p.Offset, p.Line); err != nil || p.Fields == 0 {
		return err
	}
	// A file of so many bytes can have so many fields, but not more.
	var err error
	if c.header, err = numberedHeader(p.Fields, c.src.cfg.columns); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPosition, path, err)
	}
	return nil
}

// open opens the file and reads its header.
func (c *csvCursor) open() error {
	path := c.src.files[c.file].Path
	in, err := openCSVInput(c.ctx, path, &c.src.cfg)
	if err != nil {
		return err
	}
	c.in, c.header = in, nil
	if !c.src.cfg.header {
		return nil
	}
	names, pos, fatal, err := in.next()
	switch {
	case err == io.EOF:
		return nil
	case fatal:
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	if c.header, err = newCSVHeader(names, c.src.cfg.columns); err != nil {
		return fmt.Errorf("%v: %w", pos, err)
	}
	return nil
}

// next returns the next row. fatal is false if the error is about one row.
func (c *csvCursor) next() (row Row, fatal bool, err error) {
	if c.failed != nil {
		return Row{}, true, c.failed
	}
	for {
		if c.in == nil {
			if c.file == len(c.src.files) {
				return Row{}, false, io.EOF
			}
			if c.failed = c.open(); c.failed != nil {
				return Row{}, true, c.failed
			}
		}
		fields, pos, fatal, err := c.in.next()
		switch {
		case err == io.EOF:
			if c.failed = c.closeFile(); c.failed != nil {
				return Row{}, true, c.failed
			}
			c.file++
			continue
		case fatal:
			c.failed = err
			return Row{}, true, err
		case err != nil:
			return Row{}, false, err
		}
		if c.header == nil {
			if c.header, err = numberedHeader(len(fields), c.src.cfg.columns); err != nil {
				c.failed = fmt.Errorf("%v: %w", pos, err)
				return Row{}, true, c.failed
			}
		}
		row = Row{Fields: fields, Pos: pos, header: c.header}
		if err := c.check(row); err != nil {
			return Row{}, false, err
		}
		return row, false, nil
	}
}

// check says what is wrong with a row.
func (c *csvCursor) check(row Row) error {
	h := c.header
	if len(row.Fields) != len(h.names) {
		against := "the header"
		if !c.src.cfg.header {
			against = "the first row"
		}
		return fmt.Errorf("%v: %w: %d, %s has %d", row.Pos, ErrFieldCount, len(row.Fields), against, len(h.names))
	}
	for _, f := range h.typed {
		if err := f.kind.check(row.Fields[f.at]); err != nil {
			return valueError(row.Pos, f.name, row.Fields[f.at], f.kind, err)
		}
	}
	return nil
}

// Next implements [pipeline.Cursor].
func (c *csvCursor) Next(ctx context.Context) (Row, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, err
	}
	if c.ctx = ctx; c.in != nil {
		c.in.guard.ctx = ctx
	}
	row, fatal, err := c.next()
	switch {
	case err == nil || err == io.EOF:
		return row, err
	case fatal:
		return Row{}, pipeline.Fatal(err)
	}
	return Row{}, err
}

// Position implements [pipeline.Positioner].
func (c *csvCursor) Position() any {
	p := csvPosition{File: c.file}
	if c.file < len(c.src.files) {
		p.Path = c.src.files[c.file].Path
	}
	if c.in != nil {
		p.Offset, p.Line = c.in.offset, c.in.line
		if !c.src.cfg.header && c.header != nil {
			p.Fields = len(c.header.names)
		}
	}
	return p
}

func (c *csvCursor) closeFile() error {
	if c.in == nil {
		return nil
	}
	in := c.in
	c.in, c.header = nil, nil
	if err := in.close(); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	return nil
}

// Close implements [pipeline.Cursor].
func (c *csvCursor) Close() error { return c.closeFile() }
