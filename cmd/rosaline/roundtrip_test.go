package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline/text"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// python returns a Python with the modules, or skips the test: that of $PYTHON, or of
// .venv in the root of the repository.
func python(t *testing.T, modules string) string {
	t.Helper()
	path := os.Getenv("PYTHON")
	if path == "" {
		path = filepath.Join("..", "..", ".venv", "bin", "python")
	}
	if err := exec.Command(path, "-c", "import "+modules).Run(); err != nil {
		t.Skipf("%s has no %s (%v); set PYTHON to one that has", path, modules, err)
	}
	return path
}

// metadataTypes are types of metadata, each with the JSON of a value for row i.
var metadataTypes = []struct {
	name  string
	typ   arrow.DataType
	value func(i int) any
}{
	{"i8", arrow.PrimitiveTypes.Int8, func(i int) any { return i%256 - 128 }},
	{"i64", arrow.PrimitiveTypes.Int64, func(i int) any { return int64(i) << 40 }},
	{"u64", arrow.PrimitiveTypes.Uint64, func(i int) any { return uint64(1)<<63 + uint64(i) }},
	{"f32", arrow.PrimitiveTypes.Float32, func(i int) any { return float32(i) / 10 }},
	{"f64", arrow.PrimitiveTypes.Float64, func(i int) any { return float64(i) / 7 }},
	{"ok", arrow.FixedWidthTypes.Boolean, func(i int) any { return i%2 == 0 }},
	{"at", arrow.FixedWidthTypes.Timestamp_us, func(i int) any { return fmt.Sprintf("2024-02-29T12:%02d:00.000001Z", i%60) }},
	{"local", &arrow.TimestampType{Unit: arrow.Millisecond}, func(i int) any { return fmt.Sprintf("1969-12-31T23:59:59.%03d", i%1000) }},
	{"day", arrow.FixedWidthTypes.Date32, func(i int) any { return fmt.Sprintf("2024-01-%02d", i%28+1) }},
	{"price", &arrow.Decimal128Type{Precision: 12, Scale: 2}, func(i int) any { return fmt.Sprintf("%d.%02d", i, i%100) }},
	{"large", arrow.BinaryTypes.LargeString, func(i int) any { return strings.Repeat("ü", i%9) }},
	{"view", arrow.BinaryTypes.StringView, func(i int) any { return "0123456789abcdef"[:i%17%14] }},
	{"bin", arrow.BinaryTypes.Binary, func(i int) any { return []byte{0xFF, 0, byte(i)} }},
	{"list", arrow.ListOf(arrow.BinaryTypes.String), func(i int) any { return []any{"a", nil, "thirteen byte"}[:i%4] }},
	{"three", arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), func(i int) any { return []float32{0.5, 1, float32(i)} }},
	{"sub", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}),
		func(i int) any { return map[string]any{"a": i, "b": []any{i % 3, nil}} }},
	{"kind", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, func(i int) any { return []string{"web", "book", "日本"}[i%3] }},
	{"none", arrow.Null, func(int) any { return nil }},
}

// batchOfAll are n records with metadata of all those types.
func batchOfAll(t *testing.T, from, n int) *records {
	fields := make([]arrow.Field, len(metadataTypes))
	for i, m := range metadataTypes {
		fields[i] = arrow.Field{Name: m.name, Type: m.typ, Nullable: true}
	}
	rows := make([]map[string]any, n)
	texts, ids := make([]string, n), make([]string, n)
	for k := range rows {
		i := from + k
		rows[k] = map[string]any{}
		for c, m := range metadataTypes {
			if rows[k][m.name] = m.value(i); (i+c)%5 == 0 {
				rows[k][m.name] = nil
			}
		}
		ids[k] = fmt.Sprint(i)
		texts[k] = []string{"", "twelve bytes", "thirteen byte", "日本語のテキスト", "line\nbreak"}[i%5]
		if i%3 == 0 {
			texts[k] += strings.Repeat(prose(i), 200)
		}
	}
	asJSON, err := json.Marshal(rows)
	require.NoError(t, err)
	meta, _, err := array.RecordFromJSON(arrowmem.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(string(asJSON)))
	require.NoError(t, err)
	text, err := stringtensor.FromStrings(texts)
	require.NoError(t, err)
	id, err := stringtensor.FromStrings(ids)
	require.NoError(t, err)
	return &records{text: text, id: id, meta: meta, file: "all.parquet",
		numberID: func(row int) bool { return row%2 == 0 }, padded: func(row int) bool { return row%7 == 0 }}
}

// writeOutput writes batches as a run does.
func writeOutput(t *testing.T, f *output.File, format output.Format, tokens bool, sizes ...int) {
	stages, err := text.NewFusedPipeline(text.WithStages())
	require.NoError(t, err)
	columns := table.Columns{Tokens: tokens, Padded: true}
	e := &emitting{pipeline: stages, format: format, columns: columns, pause: func() {}}
	s := newFileSink(f, format, columns, 2)
	pool, from := new(batchPool), 0
	for _, n := range sizes {
		b := pool.get()
		b.records = batchOfAll(t, from, n)
		from += n
		stages.Scan(b.fused, b.records.text)
		require.NoError(t, stages.Resolve(b.fused))
		require.NoError(t, e.Apply(context.Background(), b, func(b *batch) { require.NoError(t, s.write(b)) }))
		pool.put(b)
	}
	require.NoError(t, s.Commit())
}

// TestRoundTrip has other programs read the tables.
func TestRoundTrip(t *testing.T) {
	interpreter := python(t, "pyarrow, polars")
	for name, sizes := range map[string][]int{"empty": {0}, "some": {1, 0, 7, 20}, "groups": {500, 900, 600}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{filepath.Join("testdata", "roundtrip.py")}
			for _, format := range []output.Format{output.JSONL, output.Arrow, output.Parquet} {
				path := filepath.Join(dir, "out"+format.Extension())
				f, err := output.Create(path, nil)
				require.NoError(t, err)
				writeOutput(t, f, format, name != "groups", sizes...)
				args = append(args, path)
				if format != output.Arrow {
					continue
				}
				stream, err := os.Create(filepath.Join(dir, "stream"))
				require.NoError(t, err)
				f, err = output.Create(output.Stdout, io.Writer(stream))
				require.NoError(t, err)
				writeOutput(t, f, format, name != "groups", sizes...)
				require.NoError(t, stream.Close())
				args = append(args, stream.Name())
			}
			out, err := exec.Command(interpreter, args...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}
