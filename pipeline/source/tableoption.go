package source

import "fmt"

// tableConfig is how a [ChunksSource] reads tables.
type tableConfig struct {
	header   bool
	maxBlock int64
	columns  *Projection // nil for all
}

func defaultTableConfig() tableConfig { return tableConfig{header: true, maxBlock: 1 << 30} }

// WithCSVHeader says whether the first row of CSV and TSV inputs has the names of the
// columns; default true. Without it they are called col_0, col_1, …. It is for
// [Chunks] and has no meaning for lines.
func WithCSVHeader(on bool) ReaderOption {
	return func(c *readerConfig) { c.tables.header = on }
}

// WithMaxBlock sets the memory in bytes up to which rows that lie together are read: a
// record batch of an Arrow input, a page of a Parquet file; default 1 GiB, range 1 KiB
// to 1 TiB. It bounds what a damaged or hostile file can claim. It is for [Chunks] and
// has no meaning for lines.
func WithMaxBlock(n int64) ReaderOption {
	return func(c *readerConfig) { c.tables.maxBlock = n }
}

// WithColumnsOf reads no columns of tables but those that d wants, where the format allows
// to leave columns out; by default all are read. It is for [Chunks] and has no
// meaning for lines.
func WithColumnsOf(d *Decoder) ReaderOption {
	return func(c *readerConfig) { c.tables.columns = &d.projection }
}

func (c tableConfig) validate() error {
	if c.maxBlock < 1<<10 || c.maxBlock > 1<<40 {
		return fmt.Errorf("%w: WithMaxBlock(%d) is not from %d to %d", ErrOption, c.maxBlock, 1<<10, int64(1<<40))
	}
	return nil
}
