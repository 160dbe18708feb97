package parquet

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
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
func annotated(t *testing.T, rows int, value string) string {
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
	w := file.NewParquetWriter(f, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithDictionaryDefault(false))))
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	for range kinds {
		c, err := group.NextColumn()
		require.NoError(t, err)
		values := make([]parquet.ByteArray, rows)
		for i := range values {
			values[i] = parquet.ByteArray(value)
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
	for _, rows := range []int{0, 3, 300} {
		value := `{"é":1` + strings.Repeat(" ", rows*80) + "}"
		path := annotated(t, rows, value)
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
				require.Equal(t, value, r.Meta.Column(0).(*array.String).Value(r.Len()-1))
			}
			n += r.Len()
			r.Meta.Release()
		}
		require.Equal(t, rows, n)
		require.NoError(t, c.Close())
	}
}

// TestDurations: the library does not read them, which is no fault of the file, and
// matters only where they are wanted.
func TestDurations(t *testing.T) {
	took := arrow.Field{Name: "took", Type: arrow.ListOf(arrow.FixedWidthTypes.Duration_s)}
	text := arrow.Field{Name: "text", Type: arrow.BinaryTypes.String}
	var stream bytes.Buffer
	require.NoError(t, ipc.NewWriter(&stream, ipc.WithSchema(arrow.NewSchema([]arrow.Field{text, took}, nil))).Close())
	took.Type = arrow.ListOf(arrow.PrimitiveTypes.Int64) // as others write them
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{text, took}, nil),
		strings.NewReader(`[{"text":"a","took":[1]}]`))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "durations.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(batch.Schema(), f, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.AppendKeyValueMetadata(ArrowSchemaKey, base64.StdEncoding.EncodeToString(stream.Bytes())))
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())

	_, _, err = rows(t, []string{path}, nil, "text")
	require.ErrorIs(t, err, source.ErrColumn)
	require.ErrorContains(t, err, `column "took": its values are list<element: duration[s]`)
	d, err := source.NewDecoder()
	require.NoError(t, err)
	src, err := source.Chunks([]source.Input{{Path: path}}, source.WithColumnsOf(d))
	require.NoError(t, err)
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	defer c.Close()
	chunk, err := c.Next(context.Background())
	require.NoError(t, err)
	r, err := d.Decode(chunk)
	require.NoError(t, err)
	require.Equal(t, "a", r.Text.At(0))
	chunk.Release()
}
