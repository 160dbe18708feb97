package source

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is how records lie in an input.
type Format uint8

// The formats.
const (
	FormatAuto    Format = iota // by the extension; JSONL for standard input
	FormatJSONL                 // one JSON value a line
	FormatText                  // one record a line
	FormatCSV                   // RFC 4180, with a header
	FormatTSV                   // CSV with tabs between fields
	FormatArrow                 // Arrow IPC file or stream
	FormatParquet               // read by the package pipeline/source/parquet
	FormatWARC                  // WARC and WET: records of type conversion, and resource of text/plain
	formatCount
)

var formatWords = [formatCount]string{"auto", "jsonl", "text", "csv", "tsv", "arrow", "parquet", "warc"}

// IsTable reports whether records of the format are rows of columns, which may be carried
// along as metadata.
func (f Format) IsTable() bool { return f >= FormatCSV && f < formatCount }

// compresses reports whether inputs of the format may be compressed as a whole.
func (f Format) compresses() bool { return f != FormatParquet }

// String returns the name used on the command line.
func (f Format) String() string {
	if f < formatCount {
		return formatWords[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat reads the name of a format: auto, jsonl (or ndjson, json), text (or
// txt), csv, tsv, arrow (or feather, ipc), parquet, warc (or wet). The error wraps
// [ErrFormat].
func ParseFormat(name string) (Format, error) {
	if name == "auto" {
		return FormatAuto, nil
	}
	f, known := formatNames[name]
	if !known {
		return 0, fmt.Errorf("%w: %q is not one of %s", ErrFormat, name, strings.Join(formatWords[:], ", "))
	}
	return f, nil
}

// formatNames maps extensions, without the dot, and names of formats.
var formatNames = map[string]Format{
	"jsonl": FormatJSONL, "ndjson": FormatJSONL, "json": FormatJSONL,
	"txt": FormatText, "text": FormatText,
	"csv": FormatCSV, "tsv": FormatTSV,
	"arrow": FormatArrow, "arrows": FormatArrow, "feather": FormatArrow, "ipc": FormatArrow,
	"parquet": FormatParquet,
	"warc":    FormatWARC, "wet": FormatWARC,
}

// knownExtensions is for messages.
const knownExtensions = ".jsonl, .ndjson, .json, .txt, .csv, .tsv, .arrow, .feather, .ipc, .warc, .wet, each also with .gz or .zst, and .parquet"

// Compression is how an input is compressed.
type Compression uint8

// The compressions.
const (
	// CompressionAuto finds gzip and zstd by the first bytes of the data.
	CompressionAuto Compression = iota
	// CompressionNone takes the data as they are.
	CompressionNone
	// CompressionGzip and CompressionZstd are what a name promises. Data that
	// are compressed the other way are read all the same; data that are not
	// compressed at all are an error, since what claims to be compressed and is
	// not is damaged more often than misnamed.
	CompressionGzip
	CompressionZstd
)

// String returns the name of the compression.
func (c Compression) String() string {
	switch c {
	case CompressionAuto:
		return "auto"
	case CompressionNone:
		return "none"
	case CompressionGzip:
		return "gzip"
	case CompressionZstd:
		return "zstd"
	}
	return fmt.Sprintf("compression(%d)", uint8(c))
}

// splitName tells what a file name says of its content. known is false when it
// says nothing about the format.
func splitName(path string) (f Format, c Compression, known bool) {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.HasSuffix(name, ".gz"):
		c, name = CompressionGzip, strings.TrimSuffix(name, ".gz")
	case strings.HasSuffix(name, ".zst"):
		c, name = CompressionZstd, strings.TrimSuffix(name, ".zst")
	}
	ext := filepath.Ext(name)
	if ext == "" {
		return 0, c, false
	}
	f, known = formatNames[ext[1:]]
	return f, c, known
}
