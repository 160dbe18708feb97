package parquet

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// annotated writes a file with a column of bytes for each annotation, of so many rows.
func annotated(t *testing.T, rows int) string {
	path := filepath.Join(t.TempDir(), "annotated.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	var nodes schema.FieldList
	kinds := []struct {
		name string
		typ  schema.LogicalType
	}{{"text", schema.StringLogicalType{}}, {"json", schema.JSONLogicalType{}}, {"enum", schema.EnumLogicalType{}}, {"bytes", schema.NoLogicalType{}}}
	for _, k := range kinds {
		node, err := schema.NewPrimitiveNodeLogical(k.name, parquet.Repetitions.Required, k.typ, parquet.Types.ByteArray, -1, -1)
		require.NoError(t, err)
		nodes = append(nodes, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	require.NoError(t, err)
	w := file.NewParquetWriter(f, root)
	group := w.AppendRowGroup()
	for range kinds {
		c, err := group.NextColumn()
		require.NoError(t, err)
		values := make([]parquet.ByteArray, rows)
		for i := range values {
			values[i] = parquet.ByteArray(`{"é":1}`)
		}
		_, err = c.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	require.NoError(t, w.Close())
	return path
}

// TestAnnotatedText: JSON and ENUM are text by their annotation, in a block and in a group
// that is too large for one, and in a file without rows.
func TestAnnotatedText(t *testing.T) {
	for _, rows := range []int{0, 3, groupRows + 1} {
		path := annotated(t, rows)
		d, err := source.NewDecoder(source.WithMetadata(source.AllMetadata))
		require.NoError(t, err)
		src, err := source.Chunks([]source.Input{{Path: path}}, source.WithColumnsOf(d), source.WithChunkLines(1<<20))
		require.NoError(t, err)
		c, err := src.Open(context.Background(), pipeline.Start{})
		require.NoError(t, err)
		n := 0
		for {
			chunk, err := c.Next(context.Background())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			r, err := d.Decode(chunk)
			require.NoError(t, err)
			chunk.Release()
			for i, want := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary} {
				require.Equal(t, want, r.Meta.Schema().Field(i).Type)
				require.Equal(t, want, r.Meta.Column(i).DataType())
			}
			if r.Len() > 0 {
				require.Equal(t, `{"é":1}`, r.Meta.Column(0).(*array.String).Value(r.Len()-1))
			}
			n += r.Len()
			r.Meta.Release()
		}
		require.Equal(t, rows, n)
		require.NoError(t, c.Close())
	}
}

// TestExtensionOfJSON: what the Arrow schema in a file says of the column makes no
// difference.
func TestExtensionOfJSON(t *testing.T) {
	typ, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	require.NoError(t, err)
	storage := array.NewStringBuilder(memory.DefaultAllocator)
	storage.Append("[1]")
	column := array.NewExtensionArrayWithStorage(typ, storage.NewArray())
	path := writeColumn(t, arrow.Field{Name: "text", Type: typ}, column)
	got, _, err := rows(t, []string{path}, nil, "text")
	require.NoError(t, err)
	require.Equal(t, []string{path + ":1 [1]"}, got)
}

// writeColumn writes a file of one column.
func writeColumn(t *testing.T, f arrow.Field, column arrow.Array) string {
	path := filepath.Join(t.TempDir(), "column.parquet")
	out, err := os.Create(path)
	require.NoError(t, err)
	s := arrow.NewSchema([]arrow.Field{f}, nil)
	w, err := pqarrow.NewFileWriter(s, out, nil, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(s, []arrow.Array{column}, int64(column.Len()))))
	require.NoError(t, w.Close())
	return path
}
