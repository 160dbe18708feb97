package output

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrFormat is returned when the name of an output promises another format than was
// asked for.
var ErrFormat = errors.New("output: name and format contradict each other")

// Format is what an output holds.
type Format string

// The formats, by the names users give them.
const (
	JSONL   Format = "jsonl"
	Arrow   Format = "arrow"
	Parquet Format = "parquet"
)

// Extension returns the extension of files of the format, with its dot.
func (f Format) Extension() string { return "." + string(f) }

// formatOf are the formats that an extension promises.
var formatOf = map[string]Format{
	".jsonl": JSONL, ".ndjson": JSONL, ".arrow": Arrow, ".feather": Arrow, ".ipc": Arrow, ".parquet": Parquet,
}

// unwritten are the extensions of formats that are inputs only.
var unwritten = []string{".csv", ".tsv", ".arrows", ".warc", ".wet"}

// FormatOf returns the format of an output: asked, unless that is "", else what the
// extension of path says, else JSONL. The error wraps [ErrFormat]; Arrow and Parquet
// in a compressed file are one too, and so is the name of an input that is never written.
func FormatOf(path string, asked Format) (Format, error) {
	name := strings.ToLower(filepath.Base(path))
	ext := filepath.Ext(name)
	packed := slices.Contains([]string{".gz", ".zst"}, ext)
	if packed {
		ext = filepath.Ext(strings.TrimSuffix(name, ext))
	}
	format := formatOf[ext]
	switch {
	case slices.Contains(unwritten, ext):
		return "", fmt.Errorf("%w: %s promises %s, which is not written; name it .jsonl, .arrow or .parquet", ErrFormat, path, ext[1:])
	case asked != "" && format != "" && asked != format:
		return "", fmt.Errorf("%w: %s promises %s, --out-format is %s; change one of them", ErrFormat, path, format, asked)
	case asked != "":
		format = asked
	case format == "":
		format = JSONL
	}
	if packed && format != JSONL {
		return "", fmt.Errorf("%w: %s: %s is not compressed as a whole; leave %s out", ErrFormat, path, format, filepath.Ext(name))
	}
	return format, nil
}
