package resume

import "fmt"

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
