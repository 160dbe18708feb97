package source

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// metaOfInputs returns the metadata of each chunk as JSON.
func metaOfInputs(t *testing.T, inputs []Input, d *Decoder, opts ...ReaderOption) (out []string) {
	src, err := Chunks(inputs, opts...)
	require.NoError(t, err)
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	defer c.Close()
	for {
		chunk, err := c.Next(context.Background())
		if err != nil {
			return out
		}
		r, err := d.Decode(chunk)
		require.NoError(t, err)
		chunk.Release()
		if r.Meta == nil {
			out = append(out, "none")
			continue
		}
		require.Equal(t, int64(r.Len()), r.Meta.NumRows())
		b, err := r.Meta.MarshalJSON()
		require.NoError(t, err)
		out = append(out, string(b))
		r.Meta.Release()
	}
}

func TestMetadataOfLines(t *testing.T) {
	lines := strings.Join([]string{
		`{"text":"a","id":1,"n":1.50,"s":"x\"yé","deep":{"a":[1, 2],"s":"in"},"b":null}`, `{broken`, ``,
		`{ "s" : "\u00e9" , "text" : "b" }`, `{"s":"` + "\xff" + `","text":"c","text":"d"}`,
	}, "\n")
	dir := writeFiles(t, map[string]string{"a.jsonl": lines, "b.txt": "x\n"})
	inputs := []Input{{Path: dir + "/a.jsonl"}, {Path: dir + "/b.txt"}}
	got := metaOfInputs(t, inputs, newDecoder(t, WithMetadata("n", "s", "deep.a", "deep.s", "b")))
	require.Len(t, got, 2)
	require.JSONEq(t, `[{"n":"1.50","s":"x\"yé","deep.a":"[1, 2]","deep.s":"in","b":null},{"n":null,"s":"é","deep.a":null,"deep.s":null,"b":null},{"n":null,"s":"�","deep.a":null,"deep.s":null,"b":null}]`, got[0])
	require.Equal(t, "none", got[1])

	got = metaOfInputs(t, inputs, newDecoder(t, WithMetadata(AllMetadata)))
	var all []map[string]string
	require.NoError(t, json.Unmarshal([]byte(got[0]), &all))
	require.Equal(t, `{"n":1.50,"s":"x\"yé","deep":{"a":[1, 2],"s":"in"},"b":null}`, all[0]["metadata"])
	require.Equal(t, `{"s":"\u00e9"}`, all[1]["metadata"])
	require.Equal(t, `{"s":"�"}`, all[2]["metadata"])
	require.Equal(t, []string{"none", "none"}, metaOfInputs(t, inputs, newDecoder(t)))
}

// TestMetadataOfTables: columns keep their types, and rows stay beside theirs when some are
// left out.
func TestMetadataOfTables(t *testing.T) {
	got := metaOfInputs(t, foreign("pyarrow.arrow"), newDecoder(t, WithMetadata("n", "price", "tags", "kind", "meta")), WithShard(1, 3, pipeline.Uneven))
	require.Equal(t, []string{
		`[{"kind":"y","meta":{"lang":"l1","text":""},"n":-1,"price":"1.5","tags":[]}` + "\n]",
		`[{"kind":"y","meta":{"lang":"l4","text":"日本語のテキスト"},"n":4,"price":"1.5","tags":[null]}` + "\n]",
	}, got)
	_, err := NewDecoder(WithMetadata("a", "a"))
	require.ErrorIs(t, err, ErrOption)
	none := takeChunks(t, foreign("pyarrow.arrow"), nil, newDecoder(t, WithMetadata("nn")))
	require.ErrorIs(t, none.err, ErrColumn)
	require.ErrorContains(t, none.err, `did you mean "n"?`)
}

// TestTableMemory: what a decoder hands out, released, leaves no memory behind; nor do errors, of
// a column that is not there, and of metadata that are not UTF-8.
func TestTableMemory(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "id", Type: arrow.BinaryTypes.LargeString},
	}, nil))
	for i, s := range []string{"a text that is not short", "\xff", "another that is not short", ""} {
		b.Field(0).(*array.StringBuilder).Append(s)
		b.Field(1).(*array.Int64Builder).Append(int64(i))
		b.Field(2).(*array.LargeStringBuilder).Append("id")
	}
	batch := b.NewRecordBatch()
	b.Release()
	for _, opts := range [][]DecoderOption{
		{WithMetadata(AllMetadata)}, {WithMetadata("n"), WithInvalidUTF8(Replace)}, {WithTextKey("n"), WithMetadata("text")}, {WithTextKey("none")}, {WithMetadata("none")},
	} {
		batch.Retain()
		c := &Chunk{File: "x", Format: FormatArrow, first: 1, rows: newBlockRows(NewBlock(batch, nil), 0, 0, 1)}
		r, err := newDecoder(t, opts...).Decode(c)
		c.Release()
		if err != nil {
			require.True(t, errors.Is(err, ErrColumn) || errors.Is(err, ErrCorrupt), err)
			continue
		}
		if r.Meta != nil {
			r.Meta.Release()
		}
		r.Text.Release()
		r.ID.Release()
	}
	batch.Release()
}
