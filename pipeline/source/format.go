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
	FormatAuto  Format = iota // by the extension; JSONL for standard input
	FormatJSONL               // one JSON value a line
	FormatText                // one record a line
)

// String returns the name used on the command line.
func (f Format) String() string {
	switch f {
	case FormatAuto:
		return "auto"
	case FormatJSONL:
		return "jsonl"
	case FormatText:
		return "text"
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat reads the name of a format: auto, jsonl (or ndjson, json), text
// (or txt). The error wraps [ErrNotYet] for csv, arrow and parquet, [ErrFormat]
// for anything else.
func ParseFormat(name string) (Format, error) {
	if name == "auto" {
		return FormatAuto, nil
	}
	f, known := formatNames[name]
	switch {
	case !known:
		return 0, fmt.Errorf("%w: %q is not one of auto, jsonl, text", ErrFormat, name)
	case f == formatLater:
		return 0, fmt.Errorf("%w: format %s; convert it to jsonl", ErrNotYet, name)
	}
	return f, nil
}

// formatLater marks a format that is known by name but not read yet.
const formatLater Format = 255

// formatNames maps extensions, without the dot, and names of formats.
var formatNames = map[string]Format{
	"jsonl": FormatJSONL, "ndjson": FormatJSONL, "json": FormatJSONL,
	"txt": FormatText, "text": FormatText,
	"csv": formatLater, "arrow": formatLater, "parquet": formatLater,
}

// knownExtensions is for messages.
const knownExtensions = ".jsonl, .ndjson, .json, .txt, each also with .gz or .zst"

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
