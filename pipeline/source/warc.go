package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxWARCHeader is the most bytes that the header of a WARC record may have.
const maxWARCHeader = 64 << 10

// warcRecord is the header of a WARC record (ISO 28500), as far as it matters here.
type warcRecord struct {
	offset int64 // of the record in the stream
	kind   string
	id     string
	uri    string
	date   string
	mime   string
	length int64 // of the block that follows
}

// hasText reports whether the block of the record is text as it stands: what a WET file
// has, or a resource that is plain text.
func (r *warcRecord) hasText() bool {
	mime, _, _ := strings.Cut(r.mime, ";")
	return r.kind == "conversion" || r.kind == "resource" && strings.EqualFold(strings.TrimSpace(mime), "text/plain")
}

// warcScanner reads the records of a WARC stream:
//
//	WARC/1.0 CR LF
//	Name: value CR LF …
//	CR LF
//	block, Content-Length bytes
//	CR LF CR LF
type warcScanner struct {
	stream *tableStream
	text   *bufio.Reader // of stream
	offset int64         // of what comes next
	record warcRecord
	rest   int64 // bytes of its block not read yet
	begun  bool  // the ends of line behind the block have not been looked at
}

// newWARCScanner begins at the offset up to which stream has been read.
func newWARCScanner(stream *tableStream) *warcScanner {
	return &warcScanner{stream: stream, text: bufio.NewReaderSize(stream, maxWARCHeader), offset: stream.offset}
}

// line returns the next line without its end, CR LF or LF, and how long it was with it. It
// is valid until the next call.
func (s *warcScanner) line() (line []byte, length int, err error) {
	b, err := s.text.ReadSlice('\n')
	s.offset += int64(len(b))
	switch {
	case err == bufio.ErrBufferFull:
		return nil, 0, fmt.Errorf("%w: at byte %d: a header of more than %d bytes", ErrWARC, s.record.offset, maxWARCHeader)
	case err == io.EOF && len(bytes.TrimSpace(b)) > 0:
		return nil, 0, s.cut(io.EOF)
	case err != nil:
		return nil, 0, err
	}
	return trimLineEnd(b, false), len(b), nil
}

// errNoWARC is what another line than that where a record begins is.
var errNoWARC = errors.New("no record begins here: its first line is WARC/1.0 or the like; the length of the record before may be wrong")

// next goes to the next record, behind the block of the last; io.EOF after the last
// record.
func (s *warcScanner) next() error {
	if err := s.skip(); err != nil {
		return err
	}
	s.record = warcRecord{offset: s.offset, length: -1}
	line, size, err := s.line()
	for err == nil && len(line) == 0 { // two ends of line stand between records; more do no harm
		s.record.offset = s.offset
		line, size, err = s.line()
	}
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("WARC/")) || len(line) > 32 {
		return fmt.Errorf("%w: at byte %d: %w", ErrWARC, s.record.offset, errNoWARC)
	}
	for length := size; ; length += size {
		if length > maxWARCHeader {
			return fmt.Errorf("%w: at byte %d: a header of more than %d bytes", ErrWARC, s.record.offset, maxWARCHeader)
		}
		if line, size, err = s.line(); err != nil {
			return s.cut(err)
		}
		if len(line) == 0 {
			break
		}
		if err := s.record.field(line); err != nil {
			return fmt.Errorf("%w: at byte %d: %w", ErrWARC, s.record.offset, err)
		}
	}
	if s.record.length < 0 {
		return fmt.Errorf("%w: at byte %d: a record without Content-Length", ErrWARC, s.record.offset)
	}
	s.rest, s.begun = s.record.length, true
	return nil
}

// cut is the error of a stream that fails or ends inside a record.
func (s *warcScanner) cut(err error) error {
	if err == io.EOF {
		return fmt.Errorf("at byte %d: %w: the stream ends inside the record at byte %d; get the whole file", s.offset, ErrTruncated, s.record.offset)
	}
	return err
}

// field takes a line of the header in. Lines that continue another one are passed
// over: none of the fields that matter is folded.
func (r *warcRecord) field(line []byte) error {
	name, value, found := bytes.Cut(line, []byte{':'})
	if !found || line[0] == ' ' || line[0] == '\t' {
		return nil
	}
	text := string(bytes.TrimSpace(value))
	switch strings.ToLower(string(bytes.TrimSpace(name))) {
	case "warc-type":
		r.kind = strings.ToLower(text)
	case "warc-record-id":
		r.id = strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
	case "warc-target-uri":
		r.uri = strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
	case "warc-date":
		r.date = text
	case "content-type":
		r.mime = text
	case "content-length":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || text[0] == '+' {
			return fmt.Errorf("Content-Length %q is not a length", text)
		}
		r.length = n
	}
	return nil
}

// recordEnd stands between records. Where it is another, blank lines are passed over.
const recordEnd = "\r\n\r\n"

// skip goes behind the block of the current record.
func (s *warcScanner) skip() error {
	for s.rest > 0 {
		n, err := s.text.Discard(int(min(s.rest, seekStep)))
		s.pass(n)
		if err != nil {
			return s.cut(err)
		}
	}
	if !s.begun {
		return nil
	}
	s.begun = false
	b, err := s.text.Peek(len(recordEnd))
	switch {
	case len(b) == 0 && err != io.EOF:
		return err
	case string(b) == recordEnd:
		_, _ = s.text.Discard(len(b))
		s.offset += int64(len(b))
		return nil
	case len(b) == 0, b[0] == '\n', bytes.HasPrefix(b, []byte("\r\n")):
		return nil
	}
	return fmt.Errorf("%w: at byte %d: no end of line behind the %d bytes of the record at byte %d, whose length must be wrong", ErrWARC, s.offset, s.record.length, s.record.offset)
}

func (s *warcScanner) pass(n int) {
	s.offset += int64(n)
	s.rest -= int64(n)
}

// appendBlock appends the block of the current record. Memory is taken as it comes, not
// on the word of the header.
func (s *warcScanner) appendBlock(dst []byte) ([]byte, error) {
	for s.rest > 0 {
		b, err := s.text.Peek(int(min(s.rest, int64(s.text.Size()))))
		dst = append(dst, b...)
		s.pass(len(b))
		_, _ = s.text.Discard(len(b))
		if err != nil {
			return dst, s.cut(err)
		}
	}
	return dst, nil
}
