package source

import (
	"bytes"
	"unicode/utf8"
)

// csvScan finds where rows of CSV end, in pieces as they come. It takes what
// encoding/csv takes: a quote opens a field only at its beginning, two quotes in a field with quotes
// are one, and behind the closing one the field ends. Of a row that breaks this the rest
// of the line is passed over.
//
// Rows without quotes, which are most, cost two searches for a byte.
type csvScan struct {
	delimiter []byte
	mode      csvMode
	pos       int // bytes of the row that have been looked at
	detail    string
}

type csvMode uint8

const (
	csvPlain  csvMode = iota // not inside quotes
	csvQuoted                // inside quotes
	csvClosed                // behind a quote that may be the closing one
	csvBroken                // the row is not CSV
)

// begin begins a row.
func (s *csvScan) begin() { s.mode, s.pos, s.detail = csvPlain, 0, "" }

// row looks for the end of the row that b begins with, of which more may have come since the last call.
// It returns the length of the row with its end of line, 0 if that is not in b. At the end of the
// input, last, a row needs no end of line.
func (s *csvScan) row(b []byte, last bool) int {
	for s.pos < len(b) {
		switch s.mode {
		case csvPlain:
			piece := b[s.pos:]
			end := bytes.IndexByte(piece, '\n')
			if end >= 0 {
				piece = piece[:end]
			}
			quote := bytes.IndexByte(piece, '"')
			switch {
			case quote >= 0 && s.atField(b[:s.pos+quote]):
				s.mode = csvQuoted
				s.pos += quote + 1
			case quote >= 0:
				s.fail("a quote in a field without quotes", quote+1)
			case end >= 0:
				return s.pos + end + 1
			default:
				s.pos = len(b)
			}
		case csvQuoted:
			quote := bytes.IndexByte(b[s.pos:], '"')
			if quote < 0 {
				s.pos = len(b)
				break
			}
			s.mode = csvClosed
			s.pos += quote + 1
		case csvClosed:
			piece := b[s.pos:]
			switch {
			case piece[0] == '"':
				s.mode = csvQuoted
				s.pos++
			case bytes.HasPrefix(piece, s.delimiter):
				s.mode = csvPlain
				s.pos += len(s.delimiter)
			case piece[0] == '\n':
				return s.pos + 1
			case bytes.HasPrefix(piece, []byte("\r\n")):
				return s.pos + 2
			case len(piece) == 1 && piece[0] == '\r' && last:
				return len(b)
			case len(piece) < max(len(s.delimiter), 2) && !last:
				return 0 // what it is comes next
			default:
				s.fail("a character behind the closing quote of a field", 0)
			}
		case csvBroken:
			end := bytes.IndexByte(b[s.pos:], '\n')
			if end >= 0 {
				return s.pos + end + 1
			}
			s.pos = len(b)
		}
	}
	if !last {
		return 0
	}
	if s.mode == csvQuoted {
		s.fail("a quote that is not closed", 0)
	}
	return len(b)
}

// atField reports whether a field begins behind before.
func (s *csvScan) atField(before []byte) bool {
	return len(before) == 0 || bytes.HasSuffix(before, s.delimiter)
}

func (s *csvScan) fail(detail string, passed int) {
	s.mode, s.detail = csvBroken, detail
	s.pos += passed
}

// forget tells that all of the row but its last bytes, which are returned, will not be looked
// at again.
func (s *csvScan) forget(b []byte) []byte {
	if n := len(b) - utf8.UTFMax; n > 0 && s.pos > utf8.UTFMax {
		n = min(n, s.pos-utf8.UTFMax)
		b = b[n:]
		s.pos -= n
	}
	return b
}

// trimLineEnd takes LF, CR LF, or at the end of the input CR, off a row.
func trimLineEnd(row []byte, last bool) []byte {
	n := len(row)
	if n > 0 && row[n-1] == '\n' {
		n--
		last = true
	}
	if last && n > 0 && row[n-1] == '\r' {
		n--
	}
	return row[:n]
}

// csvFields calls field for each field of a row, which is CSV and has no end of line. quoted fields
// are handed on without the outer quotes.
func csvFields(row, delimiter []byte, field func(content []byte, quoted bool)) {
	for {
		if len(row) > 0 && row[0] == '"' {
			end := 1
			for {
				end += bytes.IndexByte(row[end:], '"')
				if end+1 >= len(row) || row[end+1] != '"' {
					break
				}
				end += 2
			}
			field(row[1:end], true)
			if row = row[end+1:]; len(row) == 0 {
				return
			}
			row = row[len(delimiter):]
			continue
		}
		end := bytes.Index(row, delimiter)
		if end < 0 {
			field(row, false)
			return
		}
		field(row[:end], false)
		row = row[end+len(delimiter):]
	}
}

// appendCSVField appends what a field with quotes stands for: two quotes are one, CR LF
// is LF.
func appendCSVField(dst, content []byte) []byte {
	for {
		i := bytes.IndexAny(content, "\"\r")
		if i < 0 {
			return append(dst, content...)
		}
		switch {
		case content[i] == '"':
			dst = append(dst, content[:i+1]...)
			content = content[min(i+2, len(content)):]
		case i+1 < len(content) && content[i+1] == '\n':
			dst = append(dst, content[:i]...)
			content = content[i+1:]
		default:
			dst = append(dst, content[:i+1]...)
			content = content[i+1:]
		}
	}
}
