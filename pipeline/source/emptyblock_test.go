package source

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// metaNames are the columns of metadata that a rank is told of.
func metaNames(t *testing.T, in []Input, d *Decoder, opts ...ReaderOption) (names []string, err error) {
	src, err := Chunks(in, append(opts, WithColumnsOf(d))...)
	require.NoError(t, err)
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	defer c.Close()
	for {
		chunk, err := c.Next(context.Background())
		if err == io.EOF {
			return names, nil
		}
		require.NoError(t, err)
		r, err := d.Decode(chunk)
		chunk.Release()
		if err != nil {
			return names, err
		}
		require.Zero(t, r.Len())
		if r.Meta != nil {
			names = fieldNames(r.Meta.Schema().Fields())
			r.Meta.Release()
		}
	}
}

// emptyTables are files that have columns and no rows.
func emptyTables(t *testing.T) []Input {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "lang", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	}, nil)
	var stream, file bytes.Buffer
	require.NoError(t, ipc.NewWriter(&stream, ipc.WithSchema(schema)).Close())
	w, err := ipc.NewFileWriter(&file, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	dir := writeFiles(t, map[string]string{
		"header.csv": "text,lang\n", "header.tsv": "text\tlang", "blank.csv": "\n\ntext,lang\n\n",
		"none.arrows": stream.String(), "none.arrow": file.String(),
	})
	var in []Input
	for _, name := range []string{"header.csv", "header.tsv", "blank.csv", "none.arrow", "none.arrows"} {
		in = append(in, Input{Path: filepath.Join(dir, name)})
	}
	return in
}

// TestTablesWithoutRows: their columns are known, and one that is missing is told.
func TestTablesWithoutRows(t *testing.T) {
	for _, in := range emptyTables(t) {
		for rank := range 2 {
			shard := WithShard(rank, 2, pipeline.Uneven)
			names, err := metaNames(t, []Input{in}, newDecoder(t, WithMetadata(AllMetadata)), shard)
			require.NoError(t, err, in.Path)
			require.Equal(t, []string{"lang"}, names, in.Path)
			_, err = metaNames(t, []Input{in}, newDecoder(t, WithTextKey("txet")), shard)
			require.ErrorIs(t, err, ErrColumn, in.Path)
			require.ErrorContains(t, err, in.Path)
			require.ErrorContains(t, err, `"txet" in the table; did you mean "text"? columns: "text", "lang"`)
		}
	}
	// Nothing at all has no columns. Line ends of CR alone make one row, the header.
	dir := writeFiles(t, map[string]string{"empty.csv": "", "old.csv": "id,text\r1,a\r"})
	names, err := metaNames(t, []Input{{Path: filepath.Join(dir, "empty.csv")}}, newDecoder(t))
	require.NoError(t, err)
	require.Empty(t, names)
	_, err = metaNames(t, []Input{{Path: filepath.Join(dir, "old.csv")}}, newDecoder(t))
	require.ErrorIs(t, err, ErrColumn)
	require.ErrorContains(t, err, `"text" in the table; columns: "id", "text\r1", "a"`)
}

// TestRanksWithoutRows: a rank that has none of the rows of a table knows its columns.
func TestRanksWithoutRows(t *testing.T) {
	arrows, err := os.ReadFile(filepath.Join("testdata", "tables", "pyarrow.arrow"))
	require.NoError(t, err)
	dir := writeFiles(t, map[string]string{"a.csv": "text,lang\nx,en\n", "b.arrow": string(arrows)})
	for _, name := range []string{"a.csv", "b.arrow"} {
		for _, mode := range []pipeline.ShardMode{pipeline.Uneven, pipeline.Drop} {
			in := []Input{{Path: filepath.Join(dir, name)}}
			names, err := metaNames(t, in, newDecoder(t, WithMetadata(AllMetadata)), WithShard(50, 64, mode))
			require.NoError(t, err)
			require.NotEmpty(t, names, "%s %v", name, mode)
		}
	}
}
