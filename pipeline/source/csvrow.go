package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Row is a row of a CSV file. It shares its header with the other rows of the
// file, and no memory with the reader.
type Row struct {
	Fields []string // the text as it stands in the file, quotes undone, CR LF as LF
	Pos    Position // of its first line; Offset is in the decompressed stream
	Padded bool     // as in [File]

	header *csvHeader
}

// AsPadding implements [pipeline.PadMarker].
func (r Row) AsPadding() Row { r.Padded = true; return r }

// Size implements [pipeline.Sizer].
func (r Row) Size() int64 {
	n := 16 * len(r.Fields)
	for _, f := range r.Fields {
		n += len(f)
	}
	return int64(n)
}

// Header returns the names of the columns, in the order of Fields. They must not be
// changed.
func (r Row) Header() []string {
	if r.header == nil {
		return nil
	}
	return r.header.names
}

// Get returns the text of a column, and whether there is one of that name.
func (r Row) Get(name string) (string, bool) {
	if r.header == nil {
		return "", false
	}
	i, ok := r.header.index[name]
	if !ok || i >= len(r.Fields) {
		return "", false
	}
	return r.Fields[i], true
}

// Int returns the integer in a column: decimal digits, perhaps after a sign, in the
// range of an int64. The error wraps [ErrColumn] or [ErrValue].
func (r Row) Int(name string) (int64, error) {
	return typedValue(r, name, ColumnInt, parseInt)
}

// Float returns the number in a column: a decimal number, perhaps with an exponent,
// in the range of a float64, rounded to the nearest one. The words nan and inf are
// no numbers. The error wraps [ErrColumn] or [ErrValue].
func (r Row) Float(name string) (float64, error) {
	return typedValue(r, name, ColumnFloat, parseFloat)
}

// Bool returns the truth value in a column: true or false in lower, upper or title case,
// 1 or 0. The error wraps [ErrColumn] or [ErrValue].
func (r Row) Bool(name string) (bool, error) {
	return typedValue(r, name, ColumnBool, parseBool)
}

func typedValue[V any](r Row, name string, t ColumnType, parse func(string) (V, error)) (v V, err error) {
	text, ok := r.Get(name)
	if !ok {
		return v, fmt.Errorf("%v: %w: %q%s", r.Pos, ErrColumn, name, insteadOf(name, r.Header()))
	}
	if v, err = parse(text); err != nil {
		return v, valueError(r.Pos, name, text, t, err)
	}
	return v, nil
}

// maxValueShown is how much of a value a message shows, in bytes.
const maxValueShown = 40

func valueError(pos Position, name, text string, t ColumnType, err error) error {
	shown := strconv.Quote(text)
	if len(text) > maxValueShown {
		shown = strconv.Quote(text[:maxValueShown]) + "…"
	}
	return fmt.Errorf("%v: %w: column %q: %s is not %s: %w", pos, ErrValue, name, shown, t.article(), err)
}

// insteadOf says which columns there are, and which is close.
func insteadOf(name string, names []string) string {
	var b strings.Builder
	if near := closestNames(name, names); len(near) > 0 {
		fmt.Fprintf(&b, "; did you mean %q?", near[0])
	} else {
		b.WriteByte(';')
	}
	return b.String() + " columns: " + listNames(names)
}

// ColumnType is what the values of a column are.
type ColumnType uint8

// The types.
const (
	ColumnText  ColumnType = iota // anything
	ColumnInt                     // see [Row.Int]
	ColumnFloat                   // see [Row.Float]
	ColumnBool                    // see [Row.Bool]
	columnTypeCount
)

func (t ColumnType) String() string {
	if t < columnTypeCount {
		return [columnTypeCount]string{"text", "int", "float", "bool"}[t]
	}
	return fmt.Sprintf("columntype(%d)", uint8(t))
}

func (t ColumnType) article() string {
	return [columnTypeCount]string{"text", "an integer", "a number", "a truth value"}[t]
}

// check reports whether text is a value of the type.
func (t ColumnType) check(text string) (err error) {
	switch t {
	case ColumnInt:
		_, err = parseInt(text)
	case ColumnFloat:
		_, err = parseFloat(text)
	case ColumnBool:
		_, err = parseBool(text)
	}
	return err
}

func parseInt(s string) (int64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, cause(err)
}

func parseFloat(s string) (float64, error) {
	// ParseFloat also takes words, hexadecimal and underscores.
	if i := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }); i >= 0 {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, cause(err)
}

func parseBool(s string) (bool, error) {
	switch s {
	case "1", "true", "True", "TRUE":
		return true, nil
	case "0", "false", "False", "FALSE":
		return false, nil
	}
	return false, strconv.ErrSyntax
}

// cause takes off what strconv says around its error: the value is named anyway.
func cause(err error) error {
	if e, ok := err.(*strconv.NumError); ok {
		return e.Err
	}
	return err
}

// csvHeader is what the rows of a file share.
type csvHeader struct {
	names []string
	index map[string]int
	typed []csvField // of the columns that [WithColumn] gives a type
}

// csvField is a column with a type.
type csvField struct {
	csvColumn
	at int
}

// newCSVHeader returns the header of a file. The error wraps [ErrHeader].
func newCSVHeader(names []string, columns []csvColumn) (*csvHeader, error) {
	h := &csvHeader{names: names, index: make(map[string]int, len(names))}
	var twice []string
	for i, n := range names {
		if _, ok := h.index[n]; !ok {
			h.index[n] = i
		} else if len(twice) <= maxNamesShown && !slices.Contains(twice, n) {
			twice = append(twice, n)
		}
	}
	if len(twice) > 0 {
		return nil, fmt.Errorf("%w: columns that stand there twice: %s; rename them", ErrHeader, listNames(twice))
	}
	for _, c := range columns {
		at, ok := h.index[c.name]
		if !ok {
			return nil, fmt.Errorf("%w: no column %q%s", ErrHeader, c.name, insteadOf(c.name, names))
		}
		if c.kind != ColumnText {
			h.typed = append(h.typed, csvField{c, at})
		}
	}
	return h, nil
}

// numberedHeader is the header of a file that has none.
func numberedHeader(fields int, columns []csvColumn) (*csvHeader, error) {
	names := make([]string, fields)
	for i := range names {
		names[i] = "col_" + strconv.Itoa(i)
	}
	return newCSVHeader(names, columns)
}

var _ pipeline.PadMarker[Row] = Row{}
