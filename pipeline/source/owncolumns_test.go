package source

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// dictionaryFile writes one batch of n rows, whose text and metadata are entries of
// dictionaries of n, in reverse; the first row is null.
func dictionaryFile(t testing.TB, n int, index arrow.DataType) []Input {
	typ := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	entries := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range n {
		entries.Append(fmt.Sprintf("entry %d of the dictionary", i))
	}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, typ).(*array.BinaryDictionaryBuilder)
	require.NoError(t, b.InsertStringDictValues(entries.NewStringArray()))
	b.AppendNull()
	for i := n - 1; i > 0; i-- {
		require.NoError(t, b.AppendString(fmt.Sprintf("entry %d of the dictionary", i)))
	}
	column := b.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: typ, Nullable: true}, {Name: "more", Type: typ, Nullable: true}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{column, column}, int64(n))))
	require.NoError(t, w.Close())
	return []Input{{Path: filepath.Join(writeFiles(t, map[string]string{"a.arrow": out.String()}), "a.arrow")}}
}

// TestWideDictionary cuts a batch into blocks that are far smaller than its dictionary.
func TestWideDictionary(t *testing.T) {
	for _, index := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		inputs := dictionaryFile(t, 100, index)
		for _, rows := range []int{1, 7, 24, 25, 26, 1000} {
			src, err := Chunks(inputs, WithChunkLines(rows))
			require.NoError(t, err)
			records := decodedChunks(t, src, newDecoder(t, WithMetadata(AllMetadata)))
			row := 0
			for _, r := range records {
				more := r.Meta.Column(0).(*array.Dictionary)
				require.True(t, arrow.TypeEqual(index, more.Indices().DataType()))
				values := more.Dictionary().(*array.String)
				for i := range r.Len() {
					require.Equal(t, row == 0, r.Text.IsNull(i))
					require.Equal(t, row == 0, more.IsNull(i))
					if row > 0 {
						want := fmt.Sprintf("entry %d of the dictionary", 100-row)
						require.Equal(t, want, r.Text.At(i))
						require.Equal(t, want, values.Value(more.GetValueIndex(i)))
					}
					row++
				}
				r.Meta.Release()
			}
			require.Equal(t, 100, row)
		}
	}
}

// listFile writes one batch of n rows with lists of strings.
func listFile(t testing.TB, n int) []Input {
	text := array.NewStringBuilder(memory.DefaultAllocator)
	list := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.StringView)
	for i := range n {
		text.Append("a text")
		if i%7 == 3 {
			list.AppendNull()
			continue
		}
		list.Append(true)
		for j := range i % 5 {
			list.ValueBuilder().(*array.StringViewBuilder).Append(fmt.Sprintf("element %d of row %d", j, i))
		}
	}
	lists := list.NewArray()
	fields := arrow.StructOf(arrow.Field{Name: "list", Type: lists.DataType(), Nullable: true})
	more := array.NewStructData(array.NewData(fields, n, []*memory.Buffer{nil}, []arrow.ArrayData{lists.Data()}, 0, 0))
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "more", Type: fields, Nullable: true}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{text.NewArray(), more}, int64(n))))
	require.NoError(t, w.Close())
	return []Input{{Path: filepath.Join(writeFiles(t, map[string]string{"a.arrow": out.String()}), "a.arrow")}}
}

// TestListsOfParts: what a block has of a batch are its own rows.
func TestListsOfParts(t *testing.T) {
	inputs := listFile(t, 100)
	for _, rows := range []int{1, 7, 99, 100} {
		src, err := Chunks(inputs, WithChunkLines(rows))
		require.NoError(t, err)
		row := 0
		for _, r := range decodedChunks(t, src, newDecoder(t, WithMetadata(AllMetadata))) {
			list := r.Meta.Column(0).(*array.Struct).Field(0).(*array.List)
			for i := range r.Len() {
				require.Equal(t, row%7 == 3, list.IsNull(i))
				if list.IsValid(i) {
					lo, hi := list.ValueOffsets(i)
					require.EqualValues(t, row%5, hi-lo)
					for j := lo; j < hi; j++ {
						require.Equal(t, fmt.Sprintf("element %d of row %d", j-lo, row), list.ListValues().(*array.StringView).Value(int(j)))
					}
				}
				row++
			}
			r.Meta.Release()
		}
		require.Equal(t, 100, row)
	}
}

// TestPartsAreLinear: a batch of eight times the rows takes no more than some eight
// times as long, however small the blocks.
func TestPartsAreLinear(t *testing.T) {
	took := func(inputs []Input) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			require.NoError(t, takeChunks(t, inputs, nil, newDecoder(t, WithMetadata(AllMetadata)), WithChunkLines(16)).err)
			best = min(best, time.Since(began))
		}
		return best
	}
	for name, file := range map[string]func(n int) []Input{
		"dictionary": func(n int) []Input { return dictionaryFile(t, 2*n, arrow.PrimitiveTypes.Int32) },
		"list":       func(n int) []Input { return listFile(t, n) },
	} {
		eighth := took(file(2000))
		if whole := took(file(16_000)); whole > 30*eighth+50*time.Millisecond {
			t.Errorf("%s: %v for an eighth, %v for the whole", name, eighth, whole)
		}
	}
}

// decodedChunks returns the records of all chunks.
func decodedChunks(t testing.TB, src *ChunksSource, d *Decoder) (all []*Records) {
	c, err := src.Open(t.Context(), pipeline.Start{})
	require.NoError(t, err)
	for {
		chunk, err := c.Next(t.Context())
		if err == io.EOF {
			require.NoError(t, c.Close())
			return all
		}
		require.NoError(t, err)
		r, err := d.Decode(chunk)
		require.NoError(t, err)
		chunk.Release()
		all = append(all, r)
	}
}
