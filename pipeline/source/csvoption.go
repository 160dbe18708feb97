package source

import (
	"fmt"
	"unicode/utf8"
)

// CSVOption changes how a [CSV] source reads.
type CSVOption func(*csvConfig)

type csvConfig struct {
	header    bool
	delimiter rune
	lazy      bool
	maxRow    int
	columns   []csvColumn
}

// csvColumn is a column that has to be there, with values of a type.
type csvColumn struct {
	name string
	kind ColumnType
}

// WithHeader says whether the first row of each file has the names of the columns;
// default true. Without it they are called col_0, col_1, ….
func WithHeader(on bool) CSVOption { return func(c *csvConfig) { c.header = on } }

// WithDelimiter sets what stands between fields; default ','. Any character but
// a quote, an end of line and U+FFFD.
func WithDelimiter(r rune) CSVOption { return func(c *csvConfig) { c.delimiter = r } }

// WithLazyQuotes says whether a quote may stand in a field without quotes, and a single one in a
// field with quotes; default false.
func WithLazyQuotes(on bool) CSVOption { return func(c *csvConfig) { c.lazy = on } }

// WithMaxRow sets the length in bytes, quotes and delimiters included and the last
// end of line not, up to which a row is kept; default 16 MiB, range 1 to 1 GiB. A longer
// one is passed over, whatever its length, and is an error about that row. It
// ends at the first end of line that has an even number of quotes before it.
func WithMaxRow(n int) CSVOption { return func(c *csvConfig) { c.maxRow = n } }

// WithColumn says that files have a column of that name with values of type t. A file
// without it ends the stream with an [ErrHeader]; a value of another type is an
// [ErrValue] about its row. The values of a row stay text: see [Row.Int], [Row.Float]
// and [Row.Bool].
func WithColumn(name string, t ColumnType) CSVOption {
	return func(c *csvConfig) { c.columns = append(c.columns, csvColumn{name, t}) }
}

func newCSVConfig(opts []CSVOption) (csvConfig, error) {
	c := csvConfig{header: true, delimiter: ',', maxRow: 16 << 20}
	for _, o := range opts {
		o(&c)
	}
	switch r := c.delimiter; {
	case r <= 0, r == '"', r == '\r', r == '\n', r == utf8.RuneError, !utf8.ValidRune(r):
		return c, fmt.Errorf("%w: WithDelimiter(%q) cannot stand between fields", ErrOption, r)
	}
	if c.maxRow < 1 || c.maxRow > 1<<30 {
		return c, fmt.Errorf("%w: WithMaxRow(%d) is not from 1 to %d", ErrOption, c.maxRow, 1<<30)
	}
	for i, column := range c.columns {
		if column.kind >= columnTypeCount {
			return c, fmt.Errorf("%w: WithColumn(%q, %v) is not ColumnText, ColumnInt, ColumnFloat or ColumnBool", ErrOption, column.name, column.kind)
		}
		for _, other := range c.columns[:i] {
			if other.name == column.name {
				return c, fmt.Errorf("%w: WithColumn(%q) stands twice", ErrOption, column.name)
			}
		}
	}
	return c, nil
}
