package source

import "errors"

// Errors about inputs. They end the reading of one input.
var (
	// ErrNoInput is returned when an argument names nothing that can be read.
	ErrNoInput = errors.New("source: no input")

	// ErrFormat is returned when the format of an input is not known: its name
	// has no known extension and none was declared.
	ErrFormat = errors.New("source: unknown format")

	// ErrMisnamed is returned when an input begins like one of another format than that of
	// its name, or that which was declared.
	ErrMisnamed = errors.New("source: input of another format")

	// ErrOption is returned when an option is out of its range; the error names it.
	ErrOption = errors.New("source: invalid option")

	// ErrTruncated is returned when a compressed input ends in the middle, and
	// when a file became shorter while it was read. All lines that were whole
	// before the cut have been delivered by then.
	ErrTruncated = errors.New("source: input is cut off")

	// ErrCorrupt is returned when compressed data are damaged, or when what
	// follows them is not compressed data. All lines that could be read before
	// the damage have been delivered by then; where a checksum at the end of a
	// gzip member or zstd frame is what failed, any of that member's lines may
	// be wrong.
	ErrCorrupt = errors.New("source: input is corrupt")

	// ErrWindow is returned when a zstd frame asks for a larger window than
	// [WithMaxWindow] allows.
	ErrWindow = errors.New("source: zstd window over the cap")

	// ErrPosition is returned when a position does not fit what is to be read: it
	// is damaged, beyond the end, or the data have changed since it was taken.
	ErrPosition = errors.New("source: position does not fit")
)

// Errors about lines that are not records, found in [BadRecord.Err]. Where an
// option of the reader or the decoder would make a record of the line, it is named
// here.
var (
	// ErrJSON is returned when a line is not one JSON value (RFC 8259).
	ErrJSON = errors.New("source: invalid JSON")

	// ErrDepth is returned when arrays and objects are nested deeper than
	// [WithMaxDepth] allows.
	ErrDepth = errors.New("source: JSON nested too deeply")

	// ErrMissingKey is returned when a record has nothing at the text key.
	ErrMissingKey = errors.New("source: missing key")

	// ErrNumber is returned when the text of a record is, or holds, a number
	// that is out of the range of a float64.
	ErrNumber = errors.New("source: number out of range")

	// ErrSurrogate is returned when a text or id has half of a surrogate pair,
	// unless [WithSurrogates] says to replace it.
	ErrSurrogate = errors.New("source: lone surrogate")

	// ErrInvalidUTF8 is returned when a text or id is not UTF-8, unless
	// [WithInvalidUTF8] says to replace what is not.
	ErrInvalidUTF8 = errors.New("source: invalid UTF-8")

	// ErrLineTooLong is returned when a line is longer than [WithMaxLine] allows.
	ErrLineTooLong = errors.New("source: line too long")
)

// Errors of files that are read whole, and of CSV.
var (
	// ErrFileTooLarge is returned when a file is larger than [WithMaxFile] allows.
	ErrFileTooLarge = errors.New("source: file too large")

	// ErrHeader is returned when the header of a CSV file cannot be read, names a
	// column twice, or lacks one that [WithColumn] asks for.
	ErrHeader = errors.New("source: invalid header")

	// ErrCSV is returned when a row is not CSV (RFC 4180), unless
	// [WithLazyQuotes] lets it pass. It wraps the error of encoding/csv.
	ErrCSV = errors.New("source: invalid CSV")

	// ErrFieldCount is returned when a row has not as many fields as the header,
	// or as the first row where there is no header.
	ErrFieldCount = errors.New("source: wrong number of fields")

	// ErrRowTooLong is returned when a row is longer than [WithMaxRow] allows.
	ErrRowTooLong = errors.New("source: row too long")

	// ErrValue is returned when a value is not of the type asked for.
	ErrValue = errors.New("source: value of another type")

	// ErrBlock is returned when rows that lie together, a batch of an Arrow input or a
	// page of a Parquet file, claim more memory than [WithMaxBlock] allows.
	ErrBlock = errors.New("source: rows over the cap on memory")

	// ErrWARC is returned when an input is not WARC, or the length of a record lies.
	// All records before that place have been delivered by then.
	ErrWARC = errors.New("source: invalid WARC")

	// ErrColumn is returned when a row or table is asked for a column that it does not
	// have, or whose values are no text.
	ErrColumn = errors.New("source: no such column")
)

// ErrIndex is returned when an element is asked for by an index that it cannot have.
var ErrIndex = errors.New("source: index out of range")

// ErrNoCount is returned by Count when a source cannot tell how many elements it
// has: it is endless, or made of sources that do not count.
var ErrNoCount = errors.New("source: cannot be counted")
