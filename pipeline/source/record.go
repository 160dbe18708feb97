package source

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// Records is what a chunk holds. Row i of Text and ID, and Pos(i), belong to
// record i; the records are in the order of their lines. It shares no memory
// with the chunk.
type Records struct {
	Text  *stringtensor.Column // null where the record says null
	ID    *stringtensor.Column // never null
	Bad   []BadRecord          // lines that are not records, in the order of their lines
	Stats Stats

	// Meta has the other columns that [WithMetadata] asks for, row by row; nil if there
	// are none. The receiver releases it.
	Meta arrow.RecordBatch

	file   string
	first  int64 // number of the chunk's first line
	padded bool
	places []place
}

// place is where a record lies, relative to its chunk where that saves memory.
type place struct {
	offset   int64
	line     int32
	numberID bool // the id is a JSON number
}

// Len returns the number of records.
func (r *Records) Len() int { return len(r.places) }

// Pos returns the place of record i.
func (r *Records) Pos(i int) Position {
	p := r.places[i]
	return Position{File: r.file, Line: r.first + int64(p.line), Offset: p.offset}
}

// NumberID reports whether the id of record i is a JSON number, as which it may be
// written again: ID has it as it stood in the record.
func (r *Records) NumberID(i int) bool { return r.places[i].numberID }

// Padded reports whether record i is padding, see [WithShard].
func (r *Records) Padded(int) bool { return r.padded }

// BadRecord is a line that is not a record.
type BadRecord struct {
	Index  int // how many records of the same chunk come before it
	Pos    Position
	ID     string // of the record where it could be read, else "file:line"
	Reason BadReason
	Value  float64 // line_too_long: length in bytes; too_deep: depth met
	Bound  float64 // what Value was held against
	Err    error   // wraps the sentinel of the reason; names the place

	NumberID bool // as [Records.NumberID]
}

// BadReason says why a line is not a record.
type BadReason uint8

// The reasons.
const (
	BadNone       BadReason = iota
	BadJSON                 // not one JSON value: [ErrJSON]
	BadDepth                // nested too deeply: [ErrDepth]
	BadMissingKey           // nothing at the text key: [ErrMissingKey]
	BadNumber               // a number out of range: [ErrNumber]
	BadSurrogate            // half of a surrogate pair: [ErrSurrogate]
	BadUTF8                 // not UTF-8: [ErrInvalidUTF8]
	BadLineLength           // over the cap: [ErrLineTooLong]
	BadCSV                  // a row that is not CSV: [ErrCSV]
	BadFieldCount           // a row with too many or too few fields: [ErrFieldCount]
	BadRowLength            // a row over the cap: [ErrRowTooLong]
	badReasonCount
)

var badReasons = [badReasonCount]struct {
	code string
	err  error
}{
	BadNone:       {"none", nil},
	BadJSON:       {"bad_json", ErrJSON},
	BadDepth:      {"too_deep", ErrDepth},
	BadMissingKey: {"missing_key", ErrMissingKey},
	BadNumber:     {"bad_number", ErrNumber},
	BadSurrogate:  {"bad_surrogate", ErrSurrogate},
	BadUTF8:       {"bad_utf8", ErrInvalidUTF8},
	BadLineLength: {"line_too_long", ErrLineTooLong},
	BadCSV:        {"bad_csv", ErrCSV},
	BadFieldCount: {"field_count", ErrFieldCount},
	BadRowLength:  {"row_too_long", ErrRowTooLong},
}

// String returns the code used in reports and rejects.
func (r BadReason) String() string {
	if r < badReasonCount {
		return badReasons[r].code
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// lineError is the error about a line that is not a record.
func lineError(pos Position, reason BadReason, detail string) error {
	if pos.Offset < 0 {
		return fmt.Errorf("%s: %w: %s", pos, badReasons[reason].err, detail)
	}
	return fmt.Errorf("%s: at byte %d: %w: %s", pos, pos.Offset, badReasons[reason].err, detail)
}

// lengthDetail says how long a line over the cap is.
func lengthDetail(length int64, maxLine int) string {
	return fmt.Sprintf("%d bytes, the cap is %d", length, maxLine)
}

// describe says why a line is not a record.
func (e *syntaxError) describe(line []byte) (BadReason, string) {
	detail := fmt.Sprintf("byte %d: %s", e.at+1, e.what)
	switch {
	case e.deep:
		return BadDepth, detail
	case e.at >= len(line):
		detail += "; a record must be on one line"
	}
	return BadJSON, detail
}

// Stats counts what a chunk held. Lines = Records + Blank + Rejected. In a table
// a row is a line.
//
// Over all ranks of a shard ([WithShard]) the fields add up to what they are
// without one, the lines that are left out apart: a rank counts its own lines,
// with the byte order marks before them; rank 0 counts blank lines, and byte order
// marks that no line follows.
type Stats struct {
	Lines    int64 // lines of any kind
	Records  int64 // rows of the columns
	Nulls    int64 // records whose text is null
	Blank    int64 // lines skipped since they hold nothing
	Rejected int64 // lines that are not records
	BOMs     int64 // byte order marks taken off
	Replaced int64 // U+FFFD put in place of half surrogate pairs and of bytes that are not UTF-8
	Bytes    int64 // bytes of the decompressed stream
	Dropped  int64 // lines left out by pipeline.Drop; counted in Bytes besides
	Padded   int64 // lines given again by pipeline.Pad; counted nowhere else
	Skipped  int64 // WARC records of a kind that has no text; counted nowhere else
}

// Add adds o to s.
func (s *Stats) Add(o Stats) {
	s.Lines += o.Lines
	s.Records += o.Records
	s.Nulls += o.Nulls
	s.Blank += o.Blank
	s.Rejected += o.Rejected
	s.BOMs += o.BOMs
	s.Replaced += o.Replaced
	s.Bytes += o.Bytes
	s.Dropped += o.Dropped
	s.Padded += o.Padded
	s.Skipped += o.Skipped
}
