package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// csvInput is one CSV file. It hands the decompressed stream to encoding/csv one line
// a read, so that it knows where rows begin and how long they are, and csv.Reader
// never holds more than a row:
//
//	file ──▸ guard ──▸ gzip, zstd ──▸ text ──▸ Read, one line ──▸ lines ──▸ csv.Reader
//	         context                  64 KiB   offset, line,      never more
//	                                           cap on a row       than a line
type csvInput struct {
	path   string
	file   *os.File
	guard  guardedReader
	text   *bufio.Reader
	unzip  func() // frees the decompressor; nil where there is none
	packed bool
	cfg    *csvConfig

	rest   []byte // of a line, not yet handed on; memory is that of text
	offset int64  // bytes handed on
	line   int64  // ends of line handed on

	csv *csv.Reader

	// Of the row being read.
	first   int64 // number of its first line; 0 while blank lines are passed over
	begin   int64 // offset of that line
	size    int64 // bytes handed on
	quotes  int
	tooLong bool
	err     error // what text failed with
}

// guardedReader is a file that is not read when the context is done.
type guardedReader struct {
	in    io.Reader
	whole extent // of in
	taken int64
	ctx   context.Context
	err   error // what it failed with, the end apart
}

func (g *guardedReader) Read(p []byte) (int, error) {
	err := g.ctx.Err()
	n := 0
	if err == nil {
		n, err = g.in.Read(p)
		g.taken += int64(n)
		err = g.whole.end(err, g.taken)
	}
	if err != nil && err != io.EOF {
		g.err = err
	}
	return n, err
}

// openCSVInput opens a file at its beginning.
func openCSVInput(ctx context.Context, path string, cfg *csvConfig) (in *csvInput, err error) {
	in = &csvInput{path: path, cfg: cfg}
	if in.file, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	in.guard = guardedReader{in: in.file, whole: extentOf(in.file), ctx: ctx}
	in.text = bufio.NewReaderSize(&in.guard, readBuffer)
	if err := in.decompress(); err != nil {
		return nil, errors.Join(in.failed(err), in.close())
	}
	if b, _ := in.text.Peek(len(byteOrderMark)); bytes.Equal(b, byteOrderMark) {
		_, _ = in.text.Discard(len(b))
		in.offset = int64(len(b))
	}
	lines := bufio.NewReaderSize(readerFunc(in.read), readBuffer)
	in.csv = csv.NewReader(lines) // takes a bufio.Reader as it is
	in.csv.Comma, in.csv.LazyQuotes, in.csv.FieldsPerRecord = cfg.delimiter, cfg.lazy, -1
	return in, nil
}

// decompress finds out by the first bytes, or else the name, how the file is
// compressed.
func (in *csvInput) decompress() error {
	b, err := in.text.Peek(4)
	if len(b) == 0 {
		if err == io.EOF {
			err = nil // an empty file, whatever its name
		}
		return err
	}
	_, named, _ := splitName(in.path)
	isGzip := bytes.HasPrefix(b, gzipMagic[:min(len(b), len(gzipMagic))])
	isZstd := mayBeginFrame(b)
	switch {
	case len(b) >= len(gzipMagic) && isGzip, isGzip && named == CompressionGzip:
		in.packed = true
		gz, err := gzip.NewReader(in.text)
		if err != nil {
			return err
		}
		in.text, in.unzip = bufio.NewReaderSize(gz, readBuffer), func() { _ = gz.Close() }
	case len(b) == 4 && isZstd, isZstd && named == CompressionZstd:
		in.packed = true
		dec, err := newZstdDecoder(csvMaxWindow)
		if err != nil {
			return err
		}
		in.unzip = dec.Close
		if err := dec.Reset(in.text); err != nil {
			return err
		}
		in.text = bufio.NewReaderSize(dec, readBuffer)
	case named == CompressionGzip || named == CompressionZstd:
		in.packed = true
		return fmt.Errorf("it is not %v", named)
	}
	return nil
}

// csvMaxWindow is the largest window that a zstd frame may ask for, in bytes.
const csvMaxWindow = 128 << 20

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (in *csvInput) close() error {
	if in.unzip != nil {
		in.unzip()
	}
	return in.file.Close()
}

// failed says where reading failed.
func (in *csvInput) failed(err error) error {
	switch {
	case in.guard.ctx.Err() != nil && errors.Is(err, in.guard.ctx.Err()):
		return err
	case hasShrunk(in.guard.err):
		return fmt.Errorf("%s: after byte %d: %w", in.path, in.offset, errShrunk)
	case in.guard.err != nil || !in.packed:
		return fmt.Errorf("source: %s: after byte %d: %w", in.path, in.offset, err)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%s: after byte %d, decompressed: %w", in.path, in.offset, ErrTruncated)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: after byte %d, decompressed: %w: the cap is %d; compress it without --long", in.path, in.offset, ErrWindow, csvMaxWindow)
	}
	return fmt.Errorf("%s: after byte %d, decompressed: %w: %w", in.path, in.offset, ErrCorrupt, err)
}

// read hands on at most one line, or a part of one. Blank lines before a row are
// passed over here, since csv.Reader would go on to the next line in the same call:
// they must not count for the length of the row.
func (in *csvInput) read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		if err := in.fetch(); err != nil {
			return 0, err
		}
		content := int64(len(in.rest) - lineEnd(in.rest))
		if in.first == 0 {
			if content == 0 {
				in.hand(len(in.rest))
				continue
			}
			in.first, in.begin = in.line+1, in.offset
		}
		if in.size+content > int64(in.cfg.maxRow) {
			in.tooLong = true
			return 0, errCutRow
		}
	}
	n := copy(p, in.rest)
	in.quotes += bytes.Count(in.rest[:n], quote)
	in.size += int64(n)
	in.hand(n)
	return n, nil
}

// errCutRow makes csv.Reader give a row up.
var errCutRow = errors.New("source: row over the cap")

var quote = []byte{'"'}

// lineEnd returns the length of the end of line that b ends with, 0 if it does not.
func lineEnd(b []byte) int {
	switch n := len(b); {
	case n == 0 || b[n-1] != '\n':
		return 0
	case n > 1 && b[n-2] == '\r':
		return 2
	}
	return 1
}

// fetch gets the next line into rest, or a part of it if it is longer than the buffer.
func (in *csvInput) fetch() error {
	b, err := in.text.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		// CR LF must come in one piece for its length to be known.
		if b[len(b)-1] == '\r' && in.text.UnreadByte() == nil {
			b = b[:len(b)-1]
		}
	case err == io.EOF && len(b) > 0:
	case err != nil:
		// What came before a failure is not a line.
		if err != io.EOF {
			in.err = err
		}
		return err
	}
	in.rest = b
	return nil
}

// hand counts n bytes of rest as handed on.
func (in *csvInput) hand(n int) {
	if n > 0 && in.rest[n-1] == '\n' {
		in.line++
	}
	in.offset += int64(n)
	in.rest = in.rest[n:]
}

// next returns the fields of the next row, io.EOF after the last. fatal is false if the
// error is about one row, and reading goes on behind it.
func (in *csvInput) next() (fields []string, pos Position, fatal bool, err error) {
	in.first, in.size, in.quotes, in.tooLong = 0, 0, 0, false
	fields, err = in.csv.Read()
	pos = Position{File: in.path, Line: in.first, Offset: in.begin}
	switch {
	case in.tooLong:
		if err = in.passOver(); err != nil {
			return nil, pos, true, in.failed(err)
		}
		return nil, pos, false, fmt.Errorf("%v: %w: %d bytes, the cap is %d; raise it by WithMaxRow, or look for a quote that is not closed", pos, ErrRowTooLong, in.size, in.cfg.maxRow)
	case in.err != nil:
		return nil, pos, true, in.failed(in.err)
	case err == io.EOF:
		return nil, pos, false, io.EOF
	case err != nil:
		return nil, pos, false, in.syntax(pos, err)
	}
	return fields, pos, false, nil
}

// syntax says where a row is not CSV, in lines of the file.
func (in *csvInput) syntax(pos Position, err error) error {
	var at *csv.ParseError
	if !errors.As(err, &at) {
		return fmt.Errorf("%v: %w: %w", pos, ErrCSV, err)
	}
	place := Position{File: in.path, Line: pos.Line + int64(at.Line-at.StartLine)}
	begun := ""
	if at.Line != at.StartLine {
		begun = fmt.Sprintf(" of the row that begins in line %d", pos.Line)
	}
	return fmt.Errorf("%v: %w: column %d%s: %w; double the quotes in a field, or use WithLazyQuotes", place, ErrCSV, at.Column, begun, at.Err)
}

// passOver reads to the end of a row that is too long, and keeps nothing of it. What
// was handed on before is gone: bufio gives out all it holds together with an error.
func (in *csvInput) passOver() error {
	for {
		b := in.rest
		in.quotes += bytes.Count(b, quote)
		in.size += int64(len(b))
		in.hand(len(b))
		if n := lineEnd(b); n > 0 && in.quotes%2 == 0 {
			in.size -= int64(n)
			break
		}
		if err := in.fetch(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	return nil
}

// seek goes to a place behind the header. The error wraps [ErrPosition] if no row can
// begin there.
func (in *csvInput) seek(offset, line int64) error {
	if offset < in.offset || line < in.line {
		return fmt.Errorf("%w: byte %d, line %d of %s is in the header", ErrPosition, offset, line, in.path)
	}
	if offset == in.offset {
		if line != in.line {
			return fmt.Errorf("%w: byte %d of %s is in line %d, not %d", ErrPosition, offset, in.path, in.line+1, line+1)
		}
		return nil
	}
	// The byte before is looked at: it must end a line, or the file.
	before := offset - 1
	var err error
	if in.packed {
		_, err = io.CopyN(io.Discard, in.text, before-in.offset)
	} else if _, err = in.file.Seek(before, io.SeekStart); err == nil {
		in.text.Reset(&in.guard)
	}
	var b byte
	if err == nil {
		b, err = in.text.ReadByte()
	}
	switch {
	case err == io.EOF:
		return fmt.Errorf("%w: %s is shorter than %d bytes; it has changed", ErrPosition, in.path, offset)
	case err != nil:
		return in.failed(err)
	}
	if _, err := in.text.Peek(1); b != '\n' && err != io.EOF {
		return fmt.Errorf("%w: no line of %s begins at byte %d; it has changed", ErrPosition, in.path, offset)
	}
	in.rest = nil
	in.offset, in.line = offset, line
	return nil
}

// describeDelimiter is for one line of a description.
func describeDelimiter(r rune) string { return strings.Trim(fmt.Sprintf("%q", r), "'") }
