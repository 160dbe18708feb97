package table

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema is what columns a table has. The first rows decide which metadata columns
// these are: rows that lack one have null there, and rows with another one, or with
// another type, are an error. [Rows] of which there are none decide only where no
// others come, and fit always. The metadata of the inputs' schemas, which describe their
// columns and not these, are left out.
type Schema struct {
	columns Columns
	arrow   *arrow.Schema  // nil before the first rows
	empty   *arrow.Schema  // of the first Rows without rows; nil before them
	index   map[string]int // of a metadata column by its name
	from    string         // the file of the first rows
}

// NewSchema returns the schema of a table that has no rows yet.
func NewSchema(c Columns) *Schema { return &Schema{columns: c} }

// Arrow returns the schema; before the first [Rows] it has no metadata columns.
func (s *Schema) Arrow() *arrow.Schema {
	switch {
	case s.arrow != nil:
		return s.arrow
	case s.empty != nil:
		return s.empty
	}
	return arrow.NewSchema(s.columns.fields(), nil)
}

// begin takes the metadata columns of the first rows.
func (s *Schema) begin(r *Rows) error {
	fields := s.columns.fields()
	taken := map[string]bool{}
	for _, f := range fields {
		taken[f.Name] = true
	}
	index := map[string]int{}
	for i, f := range r.names {
		if taken[f.Name] {
			return fmt.Errorf("%w: %sthere would be two columns %q; leave it out by naming the others with --metadata", ErrColumn, place(r), f.Name)
		}
		taken[f.Name] = true
		index[f.Name] = i
	}
	s.arrow = arrow.NewSchema(append(fields, r.names...), nil)
	s.index, s.from = index, r.File
	return nil
}

// beginEmpty takes the metadata columns of r, which has no rows, until some come.
func (s *Schema) beginEmpty(r *Rows) error {
	if s.arrow != nil || s.empty != nil {
		return nil
	}
	alone := NewSchema(s.columns)
	err := alone.begin(r)
	s.empty = alone.arrow
	return err
}

// Encode returns the schema, and which rows decided it, as bytes; nil before any rows.
func (s *Schema) Encode() ([]byte, error) {
	if s.arrow == nil {
		return nil, nil
	}
	var b bytes.Buffer
	from := arrow.NewMetadata([]string{schemaFrom}, []string{s.from})
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(s.arrow.Fields(), &from)))
	err := w.Close()
	return b.Bytes(), err
}

// Decode takes the schema of a table that goes on.
func (s *Schema) Decode(encoded []byte) error {
	r, err := ipc.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return fmt.Errorf("%w: the schema of the table: %w", ErrColumn, err)
	}
	defer r.Release()
	s.arrow = arrow.NewSchema(r.Schema().Fields(), nil)
	s.from, _ = r.Schema().Metadata().GetValue(schemaFrom)
	s.index = map[string]int{}
	for i, f := range r.Schema().Fields()[len(s.columns.fields()):] {
		s.index[f.Name] = i
	}
	return nil
}

// schemaFrom is the key under which an encoded schema has the file that decided it.
const schemaFrom = "from"

// place begins an error about rows.
func place(r *Rows) string {
	if r.File == "" {
		return ""
	}
	return r.File + ": "
}

// Align returns the columns of r, none if it has no rows, as the table has them, of which the caller has no
// claim of its own: they live as long as r, or for null columns as long as anyone. It
// takes O(columns), and O(rows) for a column that is missing. The error wraps
// [ErrColumn] and names the file and column.
func (s *Schema) Align(r *Rows) ([]arrow.Array, error) {
	if r.Len() == 0 {
		return nil, s.beginEmpty(r)
	}
	if s.arrow == nil {
		if err := s.begin(r); err != nil {
			return nil, err
		}
	}
	out := make([]arrow.Array, s.arrow.NumFields())
	copy(out, r.fixed)
	at := len(r.fixed)
	for i, f := range r.names {
		column, ok := s.index[f.Name]
		if !ok {
			return nil, fmt.Errorf("%w: %scolumn %q is not in %s; leave it out by naming the others with --metadata, or run the inputs apart",
				ErrColumn, place(r), f.Name, s.first())
		}
		want := s.arrow.Field(at + column)
		switch {
		case arrow.TypeEqual(f.Type, want.Type):
			out[at+column] = r.meta[i]
		case f.Type.ID() != arrow.NULL:
			return nil, fmt.Errorf("%w: %scolumn %q has the type %v, and %v in %s; leave it out by naming the others with --metadata, or run the inputs apart",
				ErrColumn, place(r), f.Name, f.Type, want.Type, s.first())
		}
	}
	for i := range out {
		if out[i] == nil {
			out[i] = array.MakeArrayOfNull(arrowmem.DefaultAllocator, s.arrow.Field(i).Type, r.Len())
		}
	}
	return out, nil
}

// first names the rows that decided.
func (s *Schema) first() string {
	if s.from == "" {
		return "the first rows"
	}
	return s.from + ", which came first"
}
