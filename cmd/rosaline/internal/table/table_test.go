package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var formats = map[string]Format{"arrow file": ArrowFile, "arrow stream": ArrowStream, "parquet": Parquet}

// metadataSchema is metadata of types that tables have.
var metadataSchema = arrow.NewSchema([]arrow.Field{
	{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "sub", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), Nullable: true},
	{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
}, nil)

// fromJSON makes a batch of a list of objects.
func fromJSON(t require.TestingT, schema *arrow.Schema, rows string) arrow.RecordBatch {
	b, _, err := array.RecordFromJSON(arrowmem.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(t, err)
	return b
}

// drawn are random rows with their metadata.
type drawn struct {
	ids, texts []string
	padded     []bool
	metadata   []string // an object each
}

func draw(t *rapid.T) drawn {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "twelve bytes", "thirteen byte", "日本語のテキスト"}), rapid.StringN(0, 40, 100))
	var d drawn
	for i := range rapid.IntRange(0, 25).Draw(t, "rows") {
		d.ids = append(d.ids, fmt.Sprint(i))
		d.texts = append(d.texts, text.Draw(t, "text"))
		d.padded = append(d.padded, rapid.Bool().Draw(t, "padded"))
		m := map[string]any{"n": i, "url": text.Draw(t, "url"), "tags": []any{"a", nil, ""}[:i%4%3], "sub": map[string]any{"x": 0.5}, "ok": i%2 == 0}
		if name := rapid.SampledFrom([]string{"", "n", "url", "tags", "sub", "ok"}).Draw(t, "null"); name != "" {
			m[name] = nil
		}
		b, err := json.Marshal(m)
		require.NoError(t, err)
		d.metadata = append(d.metadata, string(b))
	}
	return d
}

// write writes the rows in batches of size, of which every third row was dropped when
// drop is set.
func (d drawn) write(t require.TestingT, format Format, limit groupLimit, size, encoders int, drop bool) []byte {
	columns := Columns{Tokens: true, Padded: true}
	schema := NewSchema(columns)
	var out bytes.Buffer
	var w *Writer
	for lo := 0; lo < len(d.ids) || w == nil; lo += size {
		hi := min(lo+size, len(d.ids))
		meta := fromJSON(t, metadataSchema, "["+strings.Join(d.metadata[lo:hi], ",")+"]")
		var selected []uint32
		var ids, texts []string
		for i := lo; i < hi; i++ {
			if drop && (i-lo)%3 == 2 {
				continue
			}
			selected = append(selected, uint32(i-lo))
			ids, texts = append(ids, d.ids[i]), append(texts, d.texts[i])
		}
		r, err := columns.NewRows(column(t, ids), column(t, texts), func(row int) bool { return d.padded[lo+row] }, meta, selected)
		require.NoError(t, err)
		aligned, err := schema.Align(r)
		require.NoError(t, err)
		if w == nil {
			w, err = NewWriter(&out, format, schema.Arrow(), encoders)
			require.NoError(t, err)
			w.limit = limit
		}
		require.NoError(t, w.Write(aligned, r.Sizes, 0, r.Len()))
		r.Release()
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func column(t require.TestingT, s []string) *stringtensor.Column {
	c, err := stringtensor.FromStrings(s)
	require.NoError(t, err)
	return c
}

// expected returns the rows as JSON that [drawn.write] writes.
func (d drawn) expected(t require.TestingT, drop bool, size int) (rows []string) {
	for i, m := range d.metadata {
		if drop && i%size%3 == 2 {
			continue
		}
		r := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(m), &r))
		tokens := []int{}
		for _, b := range []byte(d.texts[i]) {
			tokens = append(tokens, int(b))
		}
		r["id"], r["text"], r["tokens"], r["padded"] = d.ids[i], d.texts[i], tokens, d.padded[i]
		b, err := json.Marshal(r)
		require.NoError(t, err)
		rows = append(rows, string(b))
	}
	return rows
}

// readBack returns the rows of a table as JSON, and how many each group has.
func readBack(t require.TestingT, format Format, data []byte) (rows []string, groups []int64) {
	add := func(b arrow.RecordBatch) {
		j, err := b.MarshalJSON()
		require.NoError(t, err)
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal(j, &list))
		for _, one := range list {
			rows = append(rows, string(one))
		}
	}
	switch format {
	case ArrowFile:
		r, err := ipc.NewFileReader(bytes.NewReader(data))
		require.NoError(t, err)
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			require.NoError(t, err)
			add(b)
			groups = append(groups, b.NumRows())
		}
	case ArrowStream:
		r, err := ipc.NewReader(bytes.NewReader(data))
		require.NoError(t, err)
		for r.Next() {
			add(r.RecordBatch())
			groups = append(groups, r.RecordBatch().NumRows())
		}
		require.NoError(t, r.Err())
	case Parquet:
		f, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(t, err)
		r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, arrowmem.DefaultAllocator)
		require.NoError(t, err)
		for i := range f.NumRowGroups() {
			table, err := r.ReadRowGroups(context.Background(), []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, []int{i})
			require.NoError(t, err)
			groups = append(groups, table.NumRows())
			batches := array.NewTableReader(table, 0)
			for batches.Next() {
				add(batches.RecordBatch())
			}
			require.NoError(t, batches.Err())
		}
		require.EqualValues(t, len(rows), f.NumRows())
	}
	return rows, groups
}

func TestRoundTrip(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := draw(t)
				size := rapid.IntRange(1, 12).Draw(t, "batch")
				drop := rapid.Bool().Draw(t, "drop")
				limit := groupLimit{rapid.IntRange(1, 12).Draw(t, "limit"), 1 << 40}
				rows, groups := readBack(t, format, d.write(t, format, limit, size, 2, drop))
				want := d.expected(t, drop, size)
				require.Len(t, rows, len(want))
				for i := range want {
					require.JSONEq(t, want[i], rows[i])
				}
				for i, n := range groups {
					require.EqualValues(t, min(limit.rows, len(want)-i*limit.rows), n)
				}
			})
		})
	}
}

// TestCutsDoNotDependOnBatches: nor do bytes depend on how many groups are encoded at a
// time.
func TestCutsDoNotDependOnBatches(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := draw(t)
				limit := groupLimit{rapid.IntRange(1, 12).Draw(t, "rows"), rapid.Int64Range(1, 3000).Draw(t, "bytes")}
				want := d.write(t, format, limit, 1000, 1, false)
				got := d.write(t, format, limit, rapid.IntRange(1, 12).Draw(t, "batch"), rapid.IntRange(1, 4).Draw(t, "encoders"), false)
				require.True(t, bytes.Equal(want, got))
			})
		})
	}
}

// TestGroupBytes: a group ends before the row with which it would be too large.
func TestGroupBytes(t *testing.T) {
	columns := Columns{}
	r, err := columns.NewRows(column(t, []string{"", "", "", "", ""}), column(t, []string{"12", "1234567890123456789012", "", "1", "12"}), nil, nil, []uint32{0, 1, 2, 3, 4})
	require.NoError(t, err)
	require.Equal(t, []int64{10, 30, 8, 9, 10}, r.Sizes)
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			schema := NewSchema(columns)
			aligned, err := schema.Align(r)
			require.NoError(t, err)
			var out bytes.Buffer
			w, err := NewWriter(&out, format, schema.Arrow(), 1)
			require.NoError(t, err)
			w.limit = groupLimit{100, 18}
			require.NoError(t, w.Write(aligned, r.Sizes, 0, 5))
			require.NoError(t, w.Close())
			if format != Parquet {
				_, groups := readBack(t, format, out.Bytes())
				require.Equal(t, []int64{1, 1, 2, 1}, groups)
				return
			}
			f, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
			require.NoError(t, err)
			require.Equal(t, 4, f.NumRowGroups())
		})
	}
}

// failing is a file on a disk with room for so many bytes.
type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, io.ErrShortWrite
	}
	w.left -= len(p)
	return len(p), nil
}

// TestFullDisk: the first error is what everything returns, and nothing is left running.
func TestFullDisk(t *testing.T) {
	columns := Columns{}
	texts := make([]string, 1000)
	selected := make([]uint32, len(texts))
	for i := range texts {
		texts[i], selected[i] = fmt.Sprint("text ", i), uint32(i)
	}
	r, err := columns.NewRows(column(t, texts), column(t, texts), nil, nil, selected)
	require.NoError(t, err)
	for name, format := range formats {
		for _, room := range []int{0, 3, 100, 2000, 20000} {
			t.Run(fmt.Sprint(name, " ", room), func(t *testing.T) {
				schema := NewSchema(columns)
				aligned, err := schema.Align(r)
				require.NoError(t, err)
				w, err := NewWriter(&failing{room}, format, schema.Arrow(), 3)
				if err != nil {
					require.ErrorIs(t, err, io.ErrShortWrite)
					return
				}
				w.limit = groupLimit{50, 1 << 40}
				failed := error(nil)
				for range 10 {
					if err := w.Write(aligned, r.Sizes, 0, r.Len()); err != nil {
						failed = err
					}
				}
				require.ErrorIs(t, failed, io.ErrShortWrite)
				require.Equal(t, failed, w.Close())
			})
		}
	}
}

// TestUnwritable: a type that the format does not have is an error that names the
// column.
func TestUnwritable(t *testing.T) {
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}, []arrow.UnionTypeCode{0})
	b := array.NewBuilder(arrowmem.DefaultAllocator, union)
	b.AppendNull()
	b.AppendNull()
	meta := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "either", Type: union}}, nil), []arrow.Array{b.NewArray()}, 2)
	columns := Columns{}
	r, err := columns.NewRows(column(t, []string{"1", "2"}), column(t, []string{"a", "b"}), nil, meta, []uint32{0, 1})
	require.NoError(t, err)
	schema := NewSchema(columns)
	aligned, err := schema.Align(r)
	require.NoError(t, err)
	w, err := NewWriter(io.Discard, Parquet, schema.Arrow(), 1)
	if err == nil {
		err = errors.Join(w.Write(aligned, r.Sizes, 0, 2), w.Close())
	}
	require.ErrorIs(t, err, ErrColumn)
	require.ErrorContains(t, err, "--metadata")
}
