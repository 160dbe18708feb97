package table

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// rowsWith are two rows with these columns of metadata.
func rowsWith(t *testing.T, file string, fields ...arrow.Field) *Rows {
	var meta arrow.RecordBatch
	if fields != nil {
		rows := `[{"a":1,"b":"x"},{"a":null,"b":null}]`
		if fields[0].Type.ID() == arrow.NULL {
			rows = `[{"a":null},{"a":null}]`
		}
		meta = fromJSON(t, arrow.NewSchema(fields, nil), rows)
	}
	r, err := Columns{}.NewRows(column(t, []string{"1", "2"}), column(t, []string{"x", "y"}), nil, meta, []uint32{0, 1})
	require.NoError(t, err)
	r.File = file
	return r
}

func TestAlign(t *testing.T) {
	a := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}
	b := arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}
	view := arrow.Field{Name: "b", Type: arrow.BinaryTypes.StringView, Nullable: true}
	wide := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}
	null := arrow.Field{Name: "a", Type: arrow.Null}
	for _, c := range []struct {
		name          string
		first, second []arrow.Field
		fault         string // must be in the error
		nulls         []int  // of the columns of the second
	}{
		{"same", []arrow.Field{a, b}, []arrow.Field{a, b}, "", []int{0, 0, 1, 1}},
		{"other order", []arrow.Field{a, b}, []arrow.Field{b, a}, "", []int{0, 0, 1, 1}},
		{"view for string", []arrow.Field{a, b}, []arrow.Field{a, view}, "", []int{0, 0, 1, 1}},
		{"missing", []arrow.Field{a, b}, []arrow.Field{b}, "", []int{0, 0, 2, 1}},
		{"none", []arrow.Field{a, b}, nil, "", []int{0, 0, 2, 2}},
		{"all null", []arrow.Field{a}, []arrow.Field{null}, "", []int{0, 0, 2}},
		{"new", []arrow.Field{a}, []arrow.Field{a, b}, `two.parquet: column "b" is not in one.parquet, which came first`, nil},
		{"new after none", nil, []arrow.Field{b}, `two.parquet: column "b" is not in one.parquet`, nil},
		{"other type", []arrow.Field{a}, []arrow.Field{wide}, `two.parquet: column "a" has the type int64, and int32 in one.parquet`, nil},
		{"type after null", []arrow.Field{null}, []arrow.Field{a}, `column "a" has the type int32, and null`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSchema(Columns{})
			_, err := s.Align(rowsWith(t, "one.parquet", c.first...))
			require.NoError(t, err)
			want := s.Arrow()
			got, err := s.Align(rowsWith(t, "two.parquet", c.second...))
			if c.fault != "" {
				require.ErrorIs(t, err, ErrColumn)
				require.ErrorContains(t, err, c.fault)
				require.ErrorContains(t, err, "--metadata")
				return
			}
			require.NoError(t, err)
			require.Len(t, got, len(c.nulls))
			for i, n := range c.nulls {
				require.Equal(t, n, got[i].NullN())
				require.True(t, arrow.TypeEqual(want.Field(i).Type, got[i].DataType()))
				require.True(t, want.Field(i).Nullable)
			}
			require.Same(t, want, s.Arrow())
		})
	}
}

// TestTakenNames: a table has each name once.
func TestTakenNames(t *testing.T) {
	text := arrow.Field{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}
	_, err := NewSchema(Columns{}).Align(rowsWith(t, "one.parquet", text))
	require.ErrorIs(t, err, ErrColumn)
	require.ErrorContains(t, err, `one.parquet: there would be two columns "text"`)
	tokens := arrow.Field{Name: "tokens", Type: arrow.BinaryTypes.String, Nullable: true}
	_, err = NewSchema(Columns{}).Align(rowsWith(t, "one.parquet", tokens))
	require.NoError(t, err)
}

// TestEmptyRows: rows decide about the columns before what has none of them, wherever it
// stands.
func TestEmptyRows(t *testing.T) {
	a := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	b := arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}
	empty := func(fields ...arrow.Field) *Rows {
		meta := fromJSON(t, arrow.NewSchema(fields, nil), `[]`)
		r, err := Columns{}.NewRows(column(t, nil), column(t, nil), nil, meta, nil)
		require.NoError(t, err)
		return r
	}
	s := NewSchema(Columns{})
	for range 2 {
		_, err := s.Align(empty(a))
		require.NoError(t, err)
		_, err = s.Align(empty(b))
		require.NoError(t, err)
		require.Equal(t, []string{"id", "text", "a"}, names(s.Arrow()))
	}
	_, err := s.Align(rowsWith(t, "one.parquet", b))
	require.NoError(t, err)
	_, err = s.Align(empty(a))
	require.NoError(t, err)
	require.Equal(t, []string{"id", "text", "b"}, names(s.Arrow()))
}

func names(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, f.Name)
	}
	return out
}

// TestFieldID: that the reader of Parquet found no number of a field is no property of the
// field; a number is.
func TestFieldID(t *testing.T) {
	numbered := func(name, id string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"PARQUET:field_id": id})}
	}
	child := numbered("x", "-1", arrow.BinaryTypes.String)
	got := plainField(numbered("a", "-1", arrow.StructOf(child)))
	require.Zero(t, got.Metadata.Len())
	require.Zero(t, got.Type.(*arrow.StructType).Field(0).Metadata.Len())
	require.Equal(t, "7", plainField(numbered("a", "7", arrow.BinaryTypes.String)).Metadata.ToMap()["PARQUET:field_id"])
}

func TestSchemaWithoutRows(t *testing.T) {
	s := NewSchema(Columns{Tokens: true, Padded: true}).Arrow()
	require.Equal(t, Columns{Tokens: true, Padded: true}.Names(), []string{"id", "text", "tokens", "padded"})
	require.Equal(t, 4, s.NumFields())
}
