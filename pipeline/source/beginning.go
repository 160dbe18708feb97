package source

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"
)

// beginningBytes is how much of a file is looked at to tell its format from another.
const beginningBytes = 64

// beginnings are the first bytes of formats that have some of their own. No text has a
// control character there.
var beginnings = []struct {
	begins []byte
	name   string
	format Format // FormatAuto where none is read
}{
	{[]byte("PAR1\x15"), "Parquet", FormatParquet},
	{[]byte("PARE"), "Parquet with an encrypted footer", FormatAuto},
	{[]byte("ARROW1\x00\x00"), "Arrow", FormatArrow},
	{[]byte("\xff\xff\xff\xff"), "an Arrow stream", FormatArrow},
	{[]byte("WARC/1."), "WARC", FormatWARC},
	{[]byte("\x89HDF"), "HDF5", FormatAuto},
	{[]byte("Obj\x01"), "Avro", FormatAuto},
	{[]byte("ORC\x0a"), "ORC", FormatAuto},
	{[]byte("SQLite format 3\x00"), "a database of SQLite", FormatAuto},
	{[]byte("PK\x03\x04"), "a zip archive", FormatAuto},
	{[]byte("BZh"), "bzip2", FormatAuto},
	{[]byte("\xfd7zXZ\x00"), "xz", FormatAuto},
}

// checkBeginning returns an error if an input, as it lies there, begins like one of another
// format than that by which it is read, wrapping [ErrMisnamed].
func checkBeginning(in Input, begin []byte) error {
	name, other := beginningOf(in.Format, begin)
	if name == "" {
		return nil
	}
	as := fmt.Sprintf("it is read as %v", in.Format)
	if f, _, known := splitName(in.Path); known && f == in.Format {
		as = "it is named " + filepath.Ext(in.Path)
	}
	do := "convert it to one of the formats that are read"
	switch {
	case name == "gzip", name == "zstd", name == "bzip2", name == "xz", name == "a zip archive":
		do = "decompress it"
	case other != FormatAuto:
		do = fmt.Sprintf("give --format %v, or rename it", other)
	case in.Format.IsTable():
		do = "give --format csv, jsonl or text, or rename it"
	}
	return fmt.Errorf("%w: %s, but begins like %s; %s", ErrMisnamed, as, name, do)
}

// beginningOf returns what begins like that, and the format to read it by, unless it is f or
// might be; "" then.
func beginningOf(f Format, begin []byte) (name string, other Format) {
	for _, b := range beginnings {
		if !bytes.HasPrefix(begin, b.begins) || b.format == f && f != FormatAuto {
			continue
		}
		if isASCII(b.begins) && (f == FormatText || f == FormatCSV || f == FormatTSV) {
			continue // a line may begin so
		}
		return b.name, b.format
	}
	switch f {
	case FormatParquet, FormatArrow, FormatWARC:
	default:
		return "", 0
	}
	// What is looked at may end inside a character.
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(begin); r == utf8.RuneError && n == 1 {
			begin = begin[:len(begin)-1]
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(begin, byteOrderMark), " \t\r\n")
	switch {
	case f == FormatParquet && bytes.HasPrefix(begin, gzipMagic):
		return "gzip", 0
	case f == FormatParquet && bytes.HasPrefix(begin, []byte(zstdMagic)):
		return "zstd", 0
	case len(text) > 1 && text[0] == '{' && bytes.ContainsAny(text[1:2], "\"} \t"):
		return "JSON", FormatJSONL
	case len(text) > 0 && f != FormatWARC && !bytes.HasPrefix(begin, []byte("PAR1")) && !bytes.HasPrefix(begin, []byte("FEA1")) &&
		!bytes.ContainsFunc(begin, isControl):
		return "text", FormatAuto
	}
	return "", 0
}

// isASCII reports whether b could begin a line of text.
func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return isControl(r) || r > 0x7e })
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f || r == 0xfffd
}

// checkFileBeginning is checkBeginning for a file of which any part can be read.
func checkFileBeginning(in Input, file io.Reader) error {
	whole := extentOf(file)
	at, ok := file.(io.ReaderAt)
	if !ok || whole.file == nil {
		return nil
	}
	begin := make([]byte, beginningBytes)
	n, err := at.ReadAt(begin, 0)
	if err != nil && err != io.EOF {
		return nil // reading tells
	}
	return checkBeginning(in, begin[:n])
}
