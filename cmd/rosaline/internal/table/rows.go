package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// ErrColumn is returned when a metadata column cannot be written, or does not fit the
// columns of the table.
var ErrColumn = errors.New("table: column does not fit")

// Columns say which columns a table has before those of the metadata.
type Columns struct {
	Tokens bool // the bytes of each text as list<uint8>
	Padded bool // whether a row is padding
}

// The names of these columns.
const (
	idName     = "id"
	textName   = "text"
	tokensName = "tokens"
	paddedName = "padded"
)

// fields returns the fields of the columns, in order. They never hold null, and are
// nullable all the same: tools that put tables together compare that too.
func (c Columns) fields() []arrow.Field {
	fields := []arrow.Field{
		{Name: idName, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: textName, Type: arrow.BinaryTypes.String, Nullable: true},
	}
	if c.Tokens {
		fields = append(fields, arrow.Field{Name: tokensName, Type: arrow.ListOf(arrow.PrimitiveTypes.Uint8), Nullable: true})
	}
	if c.Padded {
		fields = append(fields, arrow.Field{Name: paddedName, Type: arrow.FixedWidthTypes.Boolean, Nullable: true})
	}
	return fields
}

// Names returns the names of the columns, in order.
func (c Columns) Names() []string {
	var names []string
	for _, f := range c.fields() {
		names = append(names, f.Name)
	}
	return names
}

// Rows are some rows on their way into a table.
type Rows struct {
	File  string  // that they came from, for errors; "" if it is not one
	Sizes []int64 // bytes of each row, a function of the row alone
	fixed []arrow.Array
	meta  []arrow.Array
	names []arrow.Field // of meta
}

// NewRows returns the rows that have these ids and texts, without null. meta, which may
// be nil, has the metadata of other rows besides, of which those numbered by selected,
// ascending, belong to these; so does padded tell of those. All memory is that of the
// rows, or held until they are released, so that the arguments may be reused.
//
// It is O(bytes), and more for metadata columns whose type a table does not have. The
// error wraps [ErrColumn] or one of [stringtensor.Column.ToArrow].
func (c Columns) NewRows(ids, texts *stringtensor.Column, padded func(row int) bool, meta arrow.RecordBatch, selected []uint32) (r *Rows, err error) {
	r = &Rows{Sizes: make([]int64, texts.Len())}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrColumn, p)
		}
		if err != nil {
			r.Release()
			r = nil
		}
	}()
	mem := arrowmem.DefaultAllocator
	for _, column := range []*stringtensor.Column{ids, texts} {
		arr, err := column.ToArrow(mem, stringtensor.ArrowString)
		if err != nil {
			return r, err
		}
		r.fixed = append(r.fixed, arr)
		addSizes(r.Sizes, arr)
	}
	if c.Tokens {
		arr := bytesOf(r.fixed[1])
		r.fixed = append(r.fixed, arr)
		addSizes(r.Sizes, arr)
	}
	if c.Padded {
		b := array.NewBooleanBuilder(mem)
		defer b.Release()
		for _, row := range selected {
			b.Append(padded(int(row)))
		}
		arr := b.NewArray()
		r.fixed = append(r.fixed, arr)
		addSizes(r.Sizes, arr)
	}
	if meta != nil {
		return r, r.addMetadata(meta, selected)
	}
	return r, nil
}

// bytesOf returns the bytes of each text as a list. It shares the memory.
func bytesOf(texts arrow.Array) arrow.Array {
	data := texts.Data()
	buffers := data.Buffers()
	n := 0
	if buffers[2] != nil {
		n = buffers[2].Len()
	}
	items := array.NewData(arrow.PrimitiveTypes.Uint8, n, []*arrowmem.Buffer{nil, buffers[2]}, nil, 0, 0)
	defer items.Release()
	list := array.NewData(arrow.ListOf(arrow.PrimitiveTypes.Uint8), data.Len(), []*arrowmem.Buffer{nil, buffers[1]},
		[]arrow.ArrayData{items}, 0, data.Offset())
	defer list.Release()
	return array.MakeFromData(list)
}

// addMetadata adds the selected rows of the columns of meta.
func (r *Rows) addMetadata(meta arrow.RecordBatch, selected []uint32) error {
	for i, arr := range meta.Columns() {
		f := meta.Schema().Field(i)
		arr, err := selectRows(arr, selected)
		if err == nil {
			var p arrow.Array
			p, err = plain(arr)
			arr.Release()
			arr = p
		}
		if err != nil {
			return unwritable(f, err)
		}
		r.meta = append(r.meta, arr)
		r.names = append(r.names, plainField(f))
		addSizes(r.Sizes, arr)
	}
	return nil
}

// unwritable says that a column cannot be written, and what to do.
func unwritable(f arrow.Field, err error) error {
	return fmt.Errorf("%w: %q of type %v cannot be written: %v; leave it out by naming the others with --metadata", ErrColumn, f.Name, f.Type, err)
}

// selectRows returns those rows of arr, which are ascending.
func selectRows(arr arrow.Array, rows []uint32) (arrow.Array, error) {
	if len(rows) == arr.Len() {
		arr.Retain()
		return arr, nil
	}
	var runs []arrow.Array
	defer func() { release(runs) }()
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+uint32(n) {
			n++
		}
		runs = append(runs, array.NewSlice(arr, int64(rows[i]), int64(rows[i])+int64(n)))
		i += n
	}
	if len(runs) == 0 {
		runs = append(runs, array.NewSlice(arr, 0, 0))
	}
	return array.Concatenate(runs, arrowmem.DefaultAllocator)
}

func release(arrays []arrow.Array) {
	for _, a := range arrays {
		a.Release()
	}
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Sizes) }

// Release lets go of the memory.
func (r *Rows) Release() {
	release(r.fixed)
	release(r.meta)
	r.fixed, r.meta = nil, nil
}
