package stringtensor

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// oneRowSlices returns n arrays of one row that share a dictionary of n entries.
func oneRowSlices(t testing.TB, mem arrowmem.Allocator, n int) []arrow.Array {
	words, indices := make([]string, n), make([]int, n)
	for i := range words {
		words[i], indices[i] = "a word longer than a view", i
	}
	c, err := FromStrings(words)
	require.NoError(t, err)
	dict, err := c.ToArrow(mem, ArrowString)
	require.NoError(t, err)
	defer dict.Release()
	all := buildDictionary(mem, arrow.PrimitiveTypes.Int32, dict, indices)
	defer all.Release()
	slices := make([]arrow.Array, n)
	for i := range slices {
		slices[i] = array.NewSlice(all, int64(i), int64(i+1))
		t.Cleanup(slices[i].Release)
	}
	return slices
}

// TestChunksReadADictionaryOnce compares the memory taken for one chunk of a
// row and for many: nearly all of it is for the dictionary.
func TestChunksReadADictionaryOnce(t *testing.T) {
	mem := checkedAllocator(t)
	chunks := oneRowSlices(t, mem, 4000)
	taken := func(n int) uint64 {
		chunked := arrow.NewChunked(chunks[0].DataType(), chunks[:n])
		defer chunked.Release()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := FromChunked(chunked)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, n, c.Len())
		require.Equal(t, "a word longer than a view", c.At(n-1))
		c.Release()
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, taken(50), 3*taken(1))
}

// TestBatchesReadADictionaryOnce: the batches of a file share its dictionaries,
// and so do those of a stream until a dictionary is replaced.
func TestBatchesReadADictionaryOnce(t *testing.T) {
	mem := checkedAllocator(t)
	rows := oneRowSlices(t, mem, 10)
	schema := arrow.NewSchema([]arrow.Field{{Name: "word", Type: rows[0].DataType()}}, nil)
	var file bytes.Buffer
	w, err := ipc.NewFileWriter(&file, ipc.WithSchema(schema), ipc.WithAllocator(mem))
	require.NoError(t, err)
	for _, row := range rows {
		rec := array.NewRecordBatch(schema, []arrow.Array{row}, 1)
		require.NoError(t, w.Write(rec))
		rec.Release()
	}
	require.NoError(t, w.Close())

	r, err := openIPC("x.arrow", file.Bytes(), WithIPCAllocator(mem))
	require.NoError(t, err)
	var first *Column
	for i := range rows {
		b, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, []string{"a word longer than a view"}, b.Columns[0].Strings())
		b.Release()
		require.Len(t, r.dicts.columns, 1)
		for _, c := range r.dicts.columns {
			if i == 0 {
				first = c
			}
			require.Same(t, first, c)
		}
	}
	require.NoError(t, r.Close())
	require.Zero(t, first.Len(), "released")

	r, err = openIPC("x.arrows", fixture(t, "arrow_dictionary_delta.arrows"), WithIPCAllocator(mem))
	require.NoError(t, err)
	batches := 0
	for ; ; batches++ {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		b.Release()
		require.Len(t, r.dicts.columns, 1)
		require.LessOrEqual(t, len(r.dicts.before), 1)
	}
	require.Greater(t, batches, 1)
	require.NoError(t, r.Close())
}
