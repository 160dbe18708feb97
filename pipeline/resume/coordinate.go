package resume

import (
	"encoding/json"
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Coordinate is a place in the input of a run, between two rows. What of it is used depends on
// the input; the rest is 0:
//
//	lines    Shard is the number of the file, Offset the byte of the decompressed stream at
//	         which the next line begins, Row the lines before it
//	tables   Shard is the number of the file, RowGroup and Page those of the next row (a record
//	         batch counts as a row group), Row the rows before it in the file
//
// The zero value is the beginning. What must be known beyond that to go on, such as where a gzip
// member begins or what a shuffle holds, goes into the state of the [Log].
type Coordinate struct {
	Shard    uint32
	Offset   uint64 // bytes
	RowGroup uint32
	Page     uint32
	Row      uint64
}

// String names all fields.
func (c Coordinate) String() string {
	return fmt.Sprintf("shard %d, byte %d, row group %d, page %d, row %d", c.Shard, c.Offset, c.RowGroup, c.Page, c.Row)
}

// CoordinateOf reads the place of a source, as the sources of lines and of chunks tell it:
// number of the file, bytes, lines. Of others it is the number of elements.
func CoordinateOf(at pipeline.SourceMark) Coordinate {
	type lines struct {
		File   uint32
		Offset uint64
		Lines  uint64
	}
	var l lines
	if json.Unmarshal(at.Position, &l) == nil && (l != lines{}) {
		return Coordinate{Shard: l.File, Offset: l.Offset, Row: l.Lines}
	}
	var c struct {
		Input uint32
		Lines lines
		Table struct{ Row, Offset uint64 }
	}
	if json.Unmarshal(at.Position, &c) == nil && (c.Input > 0 || c.Lines != lines{} || c.Table.Row > 0) {
		return Coordinate{Shard: c.Input, Offset: max(c.Lines.Offset, c.Table.Offset), Row: max(c.Lines.Lines, c.Table.Row)}
	}
	return Coordinate{Row: at.Count}
}
