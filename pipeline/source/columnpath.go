package source

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// findField returns the index of the field that the first of segments names: as the whole
// rest of the path, or else alone. rest is what of the path lies in the field; the
// index is −1 if there is no field.
func findField(fields []arrow.Field, segments []pathSegment) (at int, rest []pathSegment) {
	at = -1
	for i, f := range fields {
		switch f.Name {
		case segments[0].rest:
			return i, nil
		case segments[0].name:
			if at < 0 {
				at = i
			}
		}
	}
	return at, segments[1:]
}

// hasColumn reports whether a table has something at the first step of path.
func hasColumn(schema *arrow.Schema, path jsonPath) bool {
	if len(path.segments) == 0 {
		return false
	}
	at, _ := findField(schema.Fields(), path.segments)
	return at >= 0
}

// findColumn returns the column at path, a field of structs if it has more steps. A row
// whose struct is null is null. The caller releases it. The error wraps [ErrColumn].
func findColumn(rows *Rows, path jsonPath) (arrow.Array, error) {
	batch := rows.Batch
	if len(path.segments) == 0 {
		return nil, fmt.Errorf("%w: the path %q is the whole record, which is no text in a table; name a column", ErrColumn, path.text)
	}
	fields, segments := batch.Schema().Fields(), path.segments
	where, names := "the table", rows.Columns
	column := func(i int) (arrow.Array, error) {
		c := batch.Column(i)
		c.Retain()
		return c, nil
	}
	for {
		at, rest := findField(fields, segments)
		if at < 0 {
			if names == nil {
				names = fieldNames(fields)
			}
			return nil, fmt.Errorf("%w: %q in %s%s", ErrColumn, segments[0].name, where, insteadOf(segments[0].name, names))
		}
		for _, f := range fields[at+1:] {
			if f.Name == fields[at].Name {
				return nil, fmt.Errorf("%w: %q stands twice in %s; rename one", ErrColumn, f.Name, where)
			}
		}
		c, err := column(at)
		if err != nil || len(rest) == 0 {
			return c, err
		}
		defer c.Release()
		s, ok := c.(*array.Struct)
		if !ok {
			return nil, fmt.Errorf("%w: %q of %q: the column is %v, not a struct", ErrColumn, rest[0].name, fields[at].Name, c.DataType())
		}
		if err := ValidateArray(s); err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[at].Name, corrupt(err))
		}
		where = fmt.Sprintf("the struct %q", strings.TrimSuffix(path.text, "."+rest[0].rest))
		names = nil
		fields, segments = s.DataType().(*arrow.StructType).Fields(), rest
		column = func(i int) (arrow.Array, error) { return fieldOf(s, i) }
	}
}

// fieldOf returns field i of a struct with the nulls of the struct.
func fieldOf(s *array.Struct, i int) (arrow.Array, error) {
	f := s.Field(i)
	f.Retain()
	if s.NullN() == 0 {
		return f, nil
	}
	defer f.Release()
	if f.DataType().ID() == arrow.NULL {
		f.Retain()
		return f, nil
	}
	d := f.Data()
	off, n := d.Offset(), d.Len()
	bits := make([]byte, (off+n+7)/8)
	for row := range n {
		if s.IsValid(row) && f.IsValid(row) {
			bits[(off+row)/8] |= 1 << ((off + row) % 8)
		}
	}
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(bits)}, d.Buffers()[1:]...)
	masked := array.NewData(d.DataType(), n, buffers, d.Children(), array.UnknownNullCount, off)
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		masked.SetDictionary(dict)
	}
	defer masked.Release()
	return array.MakeFromData(masked), nil
}

func fieldNames(fields []arrow.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
