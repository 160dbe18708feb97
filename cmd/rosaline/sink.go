package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
)

// partLimit says when a part of a folder ends: behind the record with which it has as
// many records, or bytes. 0 is no limit.
type partLimit struct {
	rows  int
	bytes int64
}

// target is a file or stream that a sink writes.
type target interface {
	io.Writer
	destination
	Straight() bool
	Err() error
	Path() string
	Written() int64
}

// sink is where the records of a run go: one file or stream, or numbered parts.
type sink struct {
	format   output.Format
	folder   *output.Folder         // nil for one file
	next     func() (target, error) // begins the next part of it
	limit    partLimit
	whole    bool // parts end with a batch
	schema   *table.Schema
	encoders int // of a table

	file   target        // nil between parts
	buffer *bufio.Writer // of file, for a table
	table  *table.Writer // of file, for a table; nil before its first rows
	rows   int           // of the part
	bytes  int64
	done   int64 // bytes of the parts that are complete

	completed output.Checkpoint // of the file that was completed last
}

// sinkBuffer is how many bytes of a table are written at once.
const sinkBuffer = 256 << 10

// newFileSink writes all records to f, which it completes.
func newFileSink(f target, format output.Format, columns table.Columns, encoders int) *sink {
	return &sink{file: f, format: format, schema: table.NewSchema(columns), encoders: encoders}
}

// newFolderSink writes the records to parts of f.
func newFolderSink(f *output.Folder, limit partLimit, format output.Format, columns table.Columns, encoders int) *sink {
	next := func() (target, error) { return f.Next() }
	return &sink{folder: f, next: next, limit: limit, format: format, schema: table.NewSchema(columns), encoders: encoders}
}

// write writes the records of a batch.
func (s *sink) write(b *batch) error {
	var columns []arrow.Array
	if b.rows != nil {
		var err error
		if columns, err = s.schema.Align(b.rows); err != nil {
			return err
		}
	}
	lines := b.lines
	for lo := 0; lo < len(b.sizes); {
		if err := s.begin(); err != nil {
			return err
		}
		hi, n := s.take(b.sizes, lo)
		var err error
		if b.rows != nil {
			err = s.table.Write(columns, b.sizes, lo, hi)
		} else {
			_, err = s.file.Write(lines[:n])
			lines = lines[n:]
		}
		if err != nil {
			return s.failed(err)
		}
		if s.full() {
			if err := s.end(); err != nil {
				return err
			}
		}
		lo = hi
	}
	return nil
}

// take counts the records from lo on that go into the part, and returns where they end
// and how many bytes they are.
func (s *sink) take(sizes []int64, lo int) (hi int, n int64) {
	for hi = lo; hi < len(sizes) && (s.whole || !s.full()); hi++ {
		s.rows++
		s.bytes += sizes[hi]
		n += sizes[hi]
	}
	return hi, n
}

// full reports whether the part takes no more records.
func (s *sink) full() bool {
	return s.limit.rows > 0 && s.rows >= s.limit.rows || s.limit.bytes > 0 && s.bytes >= s.limit.bytes
}

// begin sees to it that there is a part to write to.
func (s *sink) begin() (err error) {
	if s.file == nil {
		if s.file, err = s.next(); err != nil {
			return err
		}
		s.rows, s.bytes = 0, 0
	}
	if s.format == output.JSONL || s.table != nil {
		return nil
	}
	s.buffer = bufio.NewWriterSize(s.file, sinkBuffer)
	s.table, err = table.NewWriter(s.buffer, s.tableFormat(), s.schema.Arrow(), s.encoders)
	return err
}

// tableFormat is how the file holds a table. Who reads a stream of Arrow must not wait
// for its end.
func (s *sink) tableFormat() table.Format {
	switch {
	case s.format == output.Parquet:
		return table.Parquet
	case s.file.Straight():
		return table.ArrowStream
	}
	return table.ArrowFile
}

// failed says where an error of writing happened; that of the file knows it.
func (s *sink) failed(err error) error {
	if errors.Is(err, table.ErrColumn) || s.format == output.JSONL {
		return err
	}
	if s.file != nil && s.file.Err() != nil {
		return s.file.Err()
	}
	return fmt.Errorf("%s: cannot write: %w", s.file.Path(), err)
}

// endTable writes the end of the table of the part.
func (s *sink) endTable() error {
	if s.table == nil {
		return nil
	}
	err := s.table.Close()
	if err == nil {
		err = s.buffer.Flush()
	}
	s.table, s.buffer = nil, nil
	if err != nil {
		err = s.failed(err)
	}
	return err
}

// end completes the part.
func (s *sink) end() error {
	if err := s.endTable(); err != nil {
		return err
	}
	if err := s.file.Commit(); err != nil {
		return err
	}
	s.done += s.file.Written()
	if f, ok := s.file.(*output.Appended); ok {
		s.completed = f.Completed()
	} else {
		s.completed.Size = s.done
	}
	s.file = nil
	return nil
}

// Commit completes the output. There is a part even if there are no records.
func (s *sink) Commit() error {
	var err error
	if s.file != nil || s.folder == nil || s.folder.Parts() == 0 {
		if err = s.begin(); err == nil {
			err = s.end()
		}
	}
	if err != nil {
		return both(err, s.Abort())
	}
	return s.close()
}

// Abort leaves what was written under its partial name, with its end, if it can be
// written, so that it can be read.
func (s *sink) Abort() error {
	var err error
	if s.file != nil {
		if s.rows > 0 {
			err = s.endTable()
		}
		err = both(err, s.file.Abort())
	}
	return both(err, s.close())
}

// close lets go of the folder.
func (s *sink) close() error {
	if s.folder == nil {
		return nil
	}
	return s.folder.Close()
}

// Partial is the name of what was written and is not complete; "" if there is none.
func (s *sink) Partial() string {
	if s.file == nil {
		return ""
	}
	return s.file.Partial()
}

// Written returns how many bytes reached the files, after compression.
func (s *sink) Written() int64 {
	if s.file == nil {
		return s.done
	}
	return s.done + s.file.Written()
}

// sinkMark is where a sink stands, for a run that goes on.
type sinkMark struct {
	Parts             int    `json:"parts"` // of a folder, that are complete
	Done              int64  `json:"done"`  // bytes of those
	output.Checkpoint        // of the file, or of the part that is not complete
	Rows              int    `json:"rows"`  // of that part
	Bytes             int64  `json:"bytes"` // of these, before compression
	Schema            []byte `json:"schema,omitempty"`
}

// mark makes what was written last, and tells where the sink stands.
func (s *sink) mark() (m sinkMark, err error) {
	m.Done = s.done
	if s.folder != nil {
		m.Parts = s.folder.Parts()
	} else {
		m.Done, m.Checkpoint = 0, s.completed
		if s.file != nil && s.file.Straight() {
			m.Size = s.done + s.file.Written()
		}
	}
	if s.format != output.JSONL {
		if m.Schema, err = s.schema.Encode(); err != nil {
			return m, err
		}
	}
	if f, ok := s.file.(*output.Appended); ok {
		if m.Checkpoint, err = f.Checkpoint(); err != nil {
			return m, err
		}
		if s.folder != nil {
			m.Parts--
			m.Rows, m.Bytes = s.rows, s.bytes
		}
	}
	return m, nil
}

// goOn begins where a sink of parts stood.
func (s *sink) goOn(at sinkMark) (err error) {
	s.done = at.Done
	if len(at.Schema) > 0 {
		if err := s.schema.Decode(at.Schema); err != nil {
			return err
		}
	}
	if at.Size == 0 {
		return s.folder.DropNext()
	}
	if s.file, err = s.folder.NextAppended(at.Checkpoint); err != nil {
		s.file = nil
		return err
	}
	s.rows, s.bytes = at.Rows, at.Bytes
	return nil
}
