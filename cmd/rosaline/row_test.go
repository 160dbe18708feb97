package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// sharedFile writes a file of one batch of n rows, whose metadata rows share dictionaries,
// buffers of views and values of lists. Every seventh row is null in all of them.
func sharedFile(t *testing.T, n int) string {
	mem := memory.DefaultAllocator
	text := array.NewStringBuilder(mem)
	dictionary := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	view := array.NewBinaryViewBuilder(mem)
	list := array.NewListBuilder(mem, arrow.BinaryTypes.StringView)
	ids := extensions.NewUUIDBuilder(mem)
	for i := range n {
		text.Append(fmt.Sprintf("text %d", i))
		if i%7 == 3 {
			dictionary.AppendNull()
			view.AppendNull()
			list.AppendNull()
			ids.AppendNull()
			continue
		}
		require.NoError(t, dictionary.AppendString(fmt.Sprintf("entry %d of the dictionary", i)))
		view.Append(fmt.Appendf(nil, "bytes %d that are not inline", i))
		list.Append(true)
		for j := range i % 4 {
			list.ValueBuilder().(*array.StringViewBuilder).Append(fmt.Sprintf("element %d of row %d", j, i))
		}
		ids.AppendBytes([16]byte{byte(i), 1})
	}
	columns := []arrow.Array{text.NewArray(), dictionary.NewArray(), view.NewArray(), list.NewArray(), ids.NewArray()}
	fields := make([]arrow.Field, len(columns))
	for i, name := range []string{"text", "dictionary", "view", "list", "uuid"} {
		fields[i] = arrow.Field{Name: name, Type: columns[i].DataType(), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	path := filepath.Join(t.TempDir(), "in.arrow")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(schema, columns, int64(n))))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return path
}

// sortedLines returns the lines of an output, in their order as texts.
func sortedLines(out string) []string {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// TestMetadataThroughShuffle: each record has the metadata that it has without a shuffle,
// in lines and in tables.
func TestMetadataThroughShuffle(t *testing.T) {
	in := sharedFile(t, 300)
	args := []string{"run", "--stages", "none", "--metadata", "all", "--batch", "16"}
	plain := inProcess(t, "", append(args, in)...)
	require.Equal(t, exitDone, plain.code, plain.err)
	want := sortedLines(plain.out)
	require.Len(t, want, 300)
	var got string
	for rank := range 3 {
		r := inProcess(t, "", append(args, in, "--shuffle", "50", "--shard", fmt.Sprintf("%d/3", rank))...)
		require.Equal(t, exitDone, r.code, r.err)
		got += r.out
	}
	require.Equal(t, want, sortedLines(got))
	for _, name := range []string{"out.arrow", "out.parquet"} {
		out := filepath.Join(t.TempDir(), name)
		r := inProcess(t, "", append(args, in, "--shuffle", "50", "-o", out)...)
		require.Equal(t, exitDone, r.code, r.err)
		r = inProcess(t, "", append(args, out)...)
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, want, sortedLines(r.out), name)
	}
}

// TestShuffledRowsShareNothing: a shuffle takes no more than some times as long as a
// run without one, though rows of a batch share dictionaries and buffers.
func TestShuffledRowsShareNothing(t *testing.T) {
	in := sharedFile(t, 16_000)
	took := func(args ...string) time.Duration {
		best := time.Hour
		for range 2 {
			began := time.Now()
			r := inProcess(t, "", append([]string{"run", "--stages", "none", "--metadata", "all", "--batch", "1024", in}, args...)...)
			require.Equal(t, exitDone, r.code, r.err)
			best = min(best, time.Since(began))
		}
		return best
	}
	plain := took()
	if shuffled := took("--shuffle", "4000"); shuffled > 50*plain+300*time.Millisecond {

		t.Errorf("%v with a shuffle, %v without", shuffled, plain)
	}
}

// TestMetadataWithWhiteSpace: a CR is white space in JSON, but would end a line for some.
func TestMetadataWithWhiteSpace(t *testing.T) {
	r := inProcess(t, "{\"text\":\"t\",\"a\":[1, 2],\"b\":\"\\r\"}\r\n{\"text\":\"t\",\"a\":[1, \r2],\"b\":\"\\r\"}\n",
		"run", "--stages", "none", "--metadata", "all", "--format", "jsonl", "-")
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, `{"id":"-:1","text":"t","metadata":{"a":[1, 2],"b":"\r"}}`+"\n"+
		`{"id":"-:2","text":"t","metadata":{"a":[1,2],"b":"\r"}}`+"\n", r.out)
}
