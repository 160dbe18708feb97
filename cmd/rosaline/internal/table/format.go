package table

import "github.com/apache/arrow-go/v18/arrow"

// Format is what a [Writer] writes.
type Format uint8

// The formats. None needs to seek.
const (
	ArrowFile   Format = iota // Arrow IPC with a footer: batches can be found in any order
	ArrowStream               // Arrow IPC that is read as it comes
	Parquet                   // compressed by zstd
)

// groupLimit is how many rows, and how many bytes of rows by [Rows.Sizes], a group
// takes. A row that is larger is a group of its own.
type groupLimit struct {
	rows  int
	bytes int64
}

// groupLimits are small where a reader may wait for the group, larger where small
// groups cost compression. Memory holds one Parquet group per encoder and two more.
var groupLimits = map[Format]groupLimit{
	ArrowFile:   {8192, 4 << 20},
	ArrowStream: {8192, 4 << 20},
	Parquet:     {128 << 10, 8 << 20},
}

// encoder writes groups of rows.
type encoder interface {
	// group writes a group; chunks are the pieces of each column, which it releases.
	group(chunks [][]arrow.Array, rows int) error
	// close writes what is under way and the end of the table. Nothing runs any more
	// then, whatever it returns.
	close() error
}
