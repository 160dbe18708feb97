package parquet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// rows reads files and returns id and text of each record, and the positions before each
// chunk with the number of records before.
func rows(t testing.TB, paths []string, at json.RawMessage, key string, opts ...source.ReaderOption) (got []string, places map[int]json.RawMessage, err error) {
	inputs, err := source.Expand(paths, source.FormatAuto)
	require.NoError(t, err)
	d, err := source.NewDecoder(source.WithTextKey(key), source.WithMetadata(source.AllMetadata))
	require.NoError(t, err)
	src, err := source.Chunks(inputs, append(opts, source.WithColumnsOf(d))...)
	require.NoError(t, err)
	ctx := context.Background()
	c, err := src.Open(ctx, pipeline.Start{Position: at})
	require.NoError(t, err)
	defer c.Close()
	places = map[int]json.RawMessage{}
	for {
		b, err := json.Marshal(c.(pipeline.Positioner).Position())
		require.NoError(t, err)
		places[len(got)] = b
		chunk, err := c.Next(ctx)
		if err == io.EOF {
			return got, places, nil
		}
		if err != nil {
			return got, places, err
		}
		r, err := d.Decode(chunk)
		chunk.Release()
		if err != nil {
			return got, places, err
		}
		for i := range r.Len() {
			text := r.Text.At(i)
			if r.Text.IsNull(i) {
				text = "<null>"
			}
			got = append(got, r.ID.At(i)+" "+text)
		}
		if r.Meta != nil {
			require.Equal(t, int64(r.Len()), r.Meta.NumRows())
			r.Meta.Release()
		}
	}
}

var foreignRows = []string{"r0 plain", "r1 ", "r2 <null>", "r3 thirteen byte", "r4 日本語のテキスト", "r5 quo\"ted, with\nlines", "r6 fourteen bytes"}

func foreign(name string) string { return filepath.Join("..", "testdata", "tables", name) }

// TestForeignFiles reads what pyarrow and polars have written.
func TestForeignFiles(t *testing.T) {
	for _, name := range []string{"pyarrow-none", "pyarrow-snappy", "pyarrow-zstd", "pyarrow-gzip", "polars"} {
		got, _, err := rows(t, []string{foreign(name + ".parquet")}, nil, "text")
		require.NoError(t, err, name)
		require.Equal(t, foreignRows, got, name)
	}
	got, _, err := rows(t, []string{foreign("pyarrow-empty.parquet")}, nil, "text")
	require.NoError(t, err)
	require.Empty(t, got)
	got, _, err = rows(t, []string{foreign("polars.parquet")}, nil, "meta.lang")
	require.NoError(t, err)
	require.Equal(t, []string{"r0 l0", "r1 l1", "r2 l2", "r3 <null>", "r4 l4", "r5 l5", "r6 l6"}, got)
	_, _, err = rows(t, []string{foreign("polars.parquet")}, nil, "txet")
	require.ErrorIs(t, err, source.ErrColumn)
	require.ErrorContains(t, err, `did you mean "text"?`)
	require.ErrorContains(t, err, "polars.parquet")
}

// write writes a file of n rows in groups of size rows.
func write(t testing.TB, path string, n, size, width int) []string {
	var want []string
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		text := fmt.Sprintf("row %d %s", i, strings.Repeat("x", width))
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(text)
		want = append(want, fmt.Sprintf("%d %s", i, text))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{rec})
	defer table.Release()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(int64(size)))
	require.NoError(t, pqarrow.WriteTable(table, &out, int64(size), props, pqarrow.DefaultWriterProps()))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return want
}

// TestRowGroups reads small groups, which workers decode, and large ones, which are cut, from
// every place.
func TestRowGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	for _, c := range []struct{ n, size, width int }{{10, 3, 1}, {36, 18, 1 << 20}} {
		want := write(t, path, c.n, c.size, c.width)
		opts := []source.ReaderOption{source.WithChunkLines(10), source.WithChunkBytes(8 << 20)}
		got, places, err := rows(t, []string{path}, nil, "text", opts...)
		require.NoError(t, err)
		require.True(t, slices.Equal(want, got))
		require.Greater(t, len(places), 4)
		for n, at := range places {
			rest, _, err := rows(t, []string{path}, at, "text", opts...)
			require.NoError(t, err, "%s", at)
			require.True(t, slices.Equal(want[n:], rest), "%s", at)
		}
		for rank := range 3 {
			got, _, err := rows(t, []string{path}, nil, "text", append(opts, source.WithShard(rank, 3, pipeline.Uneven))...)
			require.NoError(t, err)
			for i, r := range got {
				require.True(t, r == want[rank+3*i])
			}
		}
	}
}

// TestWorkersReadGroups: row groups are read at once, after the cursor is closed.
func TestWorkersReadGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	want := write(t, path, 40, 5, 10)
	d, err := source.NewDecoder()
	require.NoError(t, err)
	src, err := source.Chunks([]source.Input{{Path: path}})
	require.NoError(t, err)
	ctx := context.Background()
	c, err := src.Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	var chunks []*source.Chunk
	for {
		chunk, err := c.Next(ctx)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		chunks = append(chunks, chunk)
	}
	require.NoError(t, c.Close())
	require.Len(t, chunks, 8)
	got := make([]string, 40)
	var all sync.WaitGroup
	for i, chunk := range chunks {
		all.Go(func() {
			defer chunk.Release()
			r, err := d.Decode(chunk)
			if err != nil {
				return
			}
			for k := range r.Len() {
				got[5*i+k] = r.ID.At(k) + " " + r.Text.At(k)
			}
		})
	}
	all.Wait()
	require.Equal(t, want, got)
}

// TestCuts: of a file cut at every length, or with a byte changed, comes an error, or what
// it holds, and no panic. What Arrow writes of its schema is a part of the larger one.
func TestCuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	write(t, path, 4, 2, 1)
	small, err := os.ReadFile(path)
	require.NoError(t, err)
	large, err := os.ReadFile(foreign("pyarrow-zstd.parquet"))
	require.NoError(t, err)
	for _, c := range []struct {
		data []byte
		step int
	}{{small, 5}, {large, 191}} {
		for n := 0; n < len(c.data); n += c.step {
			require.NoError(t, os.WriteFile(path, c.data[:n], 0o600))
			got, _, err := rows(t, []string{path}, nil, "text")
			require.ErrorIs(t, err, source.ErrCorrupt, "cut at %d", n)
			require.ErrorContains(t, err, "a.parquet")
			requireWords(t, err)
			require.Empty(t, got)
			bad := bytes.Clone(c.data)
			bad[n] ^= 0xff
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			if _, _, err = rows(t, []string{path}, nil, "text", source.WithMaxBlock(1<<24)); err != nil {
				require.ErrorContains(t, err, "a.parquet", "byte %d", n)
				requireWords(t, err)
			}
		}
	}
}

// requireWords requires that an error says what to do, and that what the library says, which
// may be the words of a panic, comes last.
func requireWords(t *testing.T, err error) {
	if _, raw, found := strings.Cut(err.Error(), " ["); found {
		require.Regexp(t, `\]$`, raw)
	}
	said, _, _ := strings.Cut(err.Error(), " [")
	for _, crash := range []string{"runtime error", "out of range [", "panic", "arrow/"} {
		require.NotContains(t, said, crash, err)
	}
	if !errors.Is(err, source.ErrColumn) {
		require.Regexp(t, "get the |raise |the footer says|convert|claims", said)
	}
}

// TestArrowSchemaLies: the schema that writers of Arrow leave in the footer claims more fields
// than memory holds.
func TestArrowSchemaLies(t *testing.T) {
	data, err := os.ReadFile(foreign("pyarrow-zstd.parquet"))
	require.NoError(t, err)
	at := bytes.Index(data, []byte(ArrowSchemaKey)) + len(ArrowSchemaKey)
	require.Positive(t, at)
	path := filepath.Join(t.TempDir(), "a.parquet")
	for n := at + 3; n < at+200; n += 7 {
		bad := bytes.Clone(data)
		bad[n] = '/' // six bits that are set
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		if _, _, err := rows(t, []string{path}, nil, "text", source.WithMaxBlock(1<<24)); err != nil {
			require.ErrorContains(t, err, "a.parquet")
		}
	}
}

// TestGoodGroupsComeFirst: a group that cannot be read is an error behind those before.
func TestGoodGroupsComeFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	want := write(t, path, 30, 10, 100)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	last := bytes.LastIndex(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) // the last page
	for i := range 12 {
		data[last+4+i] ^= 0xff
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	got, _, err := rows(t, []string{path}, nil, "text")
	require.ErrorIs(t, err, source.ErrCorrupt)
	require.ErrorContains(t, err, `row group 2, column "text": it cannot be decoded; get the file again, or write it anew [`)
	require.Equal(t, want[:20], got)
}

func TestMaxBlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	write(t, path, 20, 20, 1<<15)
	_, _, err := rows(t, []string{path}, nil, "text", source.WithMaxBlock(1<<17))
	require.ErrorIs(t, err, source.ErrBlock)
	require.ErrorContains(t, err, `row group 0, column "text"`)
	_, _, err = rows(t, []string{path}, nil, "text", source.WithMaxBlock(1<<22))
	require.NoError(t, err)
}

func TestPipeIsRefused(t *testing.T) {
	src, err := source.Chunks([]source.Input{{Path: source.Stdin, Format: source.FormatParquet}}, source.WithStdin(strings.NewReader("PAR1")))
	require.NoError(t, err)
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Next(context.Background())
	require.ErrorIs(t, err, source.ErrFormat)
	require.ErrorContains(t, err, "pipe")
}

// TestCoreHasNoParquet: whoever reads other formats alone does not carry the library.
func TestCoreHasNoParquet(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not there")
	}
	out, err := exec.Command(tool, "list", "-deps", "../../../cpu", "../../../stringtensor", "../..", "..", "../../text").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "github.com/rosaline-go/rosaline/pipeline/source\n")
	for _, p := range strings.Fields(string(out)) {
		require.NotContains(t, p, "parquet")
		require.NotContains(t, p, "thrift")
	}
}
