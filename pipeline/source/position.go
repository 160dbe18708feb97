package source

import "strconv"

// Position is the place of a line in its input, or of a row in a table.
type Position struct {
	File   string // path as given, "-" for standard input
	Line   int64  // from 1; every line counts, blank and overlong ones too; in a table, rows
	Offset int64  // bytes before the line in the decompressed stream, byte order marks included; −1 where rows have none
}

// String returns "file:line".
func (p Position) String() string {
	return p.File + ":" + strconv.FormatInt(p.Line, 10)
}

// appendTo appends what String returns.
func (p Position) appendTo(dst []byte) []byte {
	dst = append(dst, p.File...)
	dst = append(dst, ':')
	return strconv.AppendInt(dst, p.Line, 10)
}
