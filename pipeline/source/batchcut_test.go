package source

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// textTypes are types of columns of texts, with what a value takes besides its bytes, if it
// is long.
var textTypes = []struct {
	typ  arrow.DataType
	over int64
}{
	{arrow.BinaryTypes.String, 4}, {arrow.BinaryTypes.Binary, 4}, {arrow.BinaryTypes.LargeString, 8}, {arrow.BinaryTypes.LargeBinary, 8},
	{arrow.BinaryTypes.StringView, 16}, {arrow.BinaryTypes.BinaryView, 16},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, 8},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}, 8},
}

// textsOf makes a column of texts.
func textsOf(t require.TestingT, typ arrow.DataType, texts []string) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for _, s := range texts {
		switch typ.ID() {
		case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
			s = base64.StdEncoding.EncodeToString([]byte(s))
		}
		require.NoError(t, b.AppendValueFromString(s))
	}
	return b.NewArray()
}

// TestBatchCut: blocks have all rows, none is larger than it may be, and sizes are those of
// the values, however they are shared.
func TestBatchCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(textTypes).Draw(t, "type")
		var texts []string
		for range rapid.IntRange(1, 40).Draw(t, "rows") {
			texts = append(texts, strings.Repeat("x", 13+rapid.SampledFrom([]int{0, 1, 5, 500}).Draw(t, "length")))
		}
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "text", Type: typ.typ}}, nil), []arrow.Array{textsOf(t, typ.typ, texts)}, int64(len(texts)))
		in := TableInput{BlockRows: rapid.IntRange(1, 50).Draw(t, "most"), BlockBytes: rapid.SampledFrom([]int{1, 100, 700, 5000}).Draw(t, "bytes")}
		cut := NewBatchCut(batch, nil, &in)
		for at := 0; at < len(texts); {
			b := cut.Next()
			n := b.Len()
			require.True(t, n > 0 && n <= in.BlockRows)
			want := int64(0)
			for _, s := range texts[at : at+n] {
				want += int64(len(s)) + typ.over
			}
			require.LessOrEqual(t, want-4*int64(n), b.Size())
			require.GreaterOrEqual(t, want, b.Size())
			require.True(t, n == 1 || b.Size() <= int64(in.BlockBytes))
			at += n
			require.EqualValues(t, len(texts)-at, cut.Left())
			b.Release()
		}
		cut.Release()
	})
}

// TestBytesOfNested: nested columns have at least the bytes of their values.
func TestBytesOfNested(t *testing.T) {
	long := strings.Repeat("y", 100)
	text := arrow.Field{Name: "s", Type: arrow.BinaryTypes.StringView, Nullable: true}
	for _, c := range []struct {
		typ  arrow.DataType
		json string
	}{
		{arrow.ListOf(text.Type), `["L","L"]`}, {arrow.LargeListOf(text.Type), `["L","L"]`}, {arrow.FixedSizeListOf(2, text.Type), `["L","L"]`},
		{arrow.ListViewOf(arrow.BinaryTypes.String), `["L","L"]`}, {arrow.StructOf(text, arrow.Field{Name: "t", Type: text.Type}), `{"s":"L","t":"L"}`},
		{arrow.ListOf(arrow.StructOf(text)), `[{"s":"L"},{"s":"L"}]`}, {arrow.MapOf(arrow.BinaryTypes.String, text.Type), `[{"key":"L","value":"L"}]`},
	} {
		row := strings.ReplaceAll(c.json, "L", long)
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.typ, strings.NewReader("["+row+","+row+","+row+"]"))
		require.NoError(t, err)
		require.InDelta(t, 400, bytesOfRows(a, 1, 3), 120, c.typ)
		require.Zero(t, bytesOfRows(a, 3, 3), c.typ)
	}
	ends := array.NewInt32Builder(memory.DefaultAllocator)
	ends.AppendValues([]int32{2, 5}, nil)
	runs := array.NewRunEndEncodedArray(ends.NewArray(), textsOf(t, arrow.BinaryTypes.String, []string{"a", long}), 5, 0)
	require.InDelta(t, 1+3*100, bytesOfRows(runs, 1, 5), 16)
	numbers := array.NewInt64Builder(memory.DefaultAllocator)
	numbers.AppendValues([]int64{1, 2, 3}, nil)
	require.EqualValues(t, 16, bytesOfRows(numbers.NewArray(), 0, 2))
}

// TestChunkSizes: chunks of every format tell their size, and one text in a dictionary counts
// in each row.
func TestChunkSizes(t *testing.T) {
	long := strings.Repeat("z", 10_000)
	var stream bytes.Buffer
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	column := textsOf(t, typ, strings.Split(strings.Repeat(long+" ", 40), " ")[:40])
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: typ}}, nil)
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema), ipc.WithZstd())
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{column}, 40)))
	require.NoError(t, w.Close())
	dir := writeFiles(t, map[string]string{
		"a.arrow": stream.String(), "a.csv": "text\n" + strings.Repeat(long+"\n", 40), "a.jsonl": strings.Repeat(`{"text":"`+long+"\"}\n", 40),
		"a.wet": strings.Repeat(warcOf("conversion", "an id", long), 40),
	})
	for _, name := range []string{"a.arrow", "a.csv", "a.jsonl", "a.wet"} {
		src, err := Chunks([]Input{{Path: filepath.Join(dir, name)}}, WithChunkBytes(50_000))
		require.NoError(t, err)
		c, err := src.Open(context.Background(), pipeline.Start{})
		require.NoError(t, err)
		rows := 0
		for {
			chunk, err := c.Next(context.Background())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			n := int64(chunk.Len())
			require.InDelta(t, n*10_000, chunk.Size(), float64(200*n), name)
			if name == "a.arrow" {
				require.LessOrEqual(t, chunk.Size(), int64(50_000))
			}
			rows += int(n)
			chunk.Release()
		}
		require.Equal(t, 40, rows, name)
		require.NoError(t, c.Close())
	}
}

// TestBatchCutDependsOnItsPlace: whoever passes over to where a block begins gets the same blocks
// from there on.
func TestBatchCutDependsOnItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 10, 100, 1000}), 1, 200).Draw(t, "sizes")
		builder := array.NewStringBuilder(memory.DefaultAllocator)
		for _, n := range sizes {
			builder.Append(strings.Repeat("x", n))
		}
		column := builder.NewArray()
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{column}, int64(len(sizes)))
		in := &TableInput{BlockRows: rapid.IntRange(1, 64).Draw(t, "rows"), BlockBytes: rapid.IntRange(1, 5000).Draw(t, "bytes")}
		cut := NewBatchCut(batch, nil, in)
		var lengths []int
		for cut.Left() > 0 {
			lengths = append(lengths, cut.Next().Len())
		}
		at := 0
		for i, n := range lengths {
			again := NewBatchCut(batch, nil, in)
			require.EqualValues(t, at, again.Pass(int64(at)))
			for _, want := range lengths[i:] {
				require.Equal(t, want, again.Next().Len())
			}
			at += n
		}
	})
}
