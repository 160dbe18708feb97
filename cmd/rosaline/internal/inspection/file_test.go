package inspection

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// batch is three rows of common types.
func batch(t testing.TB) arrow.RecordBatch {
	meta := arrow.MetadataFrom(map[string]string{"origin": "test"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "score", Type: arrow.PrimitiveTypes.Float64},
		{Name: "sub", Type: arrow.StructOf(arrow.Field{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}), Nullable: true},
	}, &meta)
	b, _, err := array.RecordFromJSON(arrowmem.DefaultAllocator, schema, strings.NewReader(`[
		{"text": "ünïcödé", "list": [1, 2, 3], "score": 0.5, "sub": {"ok": true}},
		{"text": null, "list": [], "score": -1, "sub": null},
		{"text": "thirteen byte", "list": null, "score": 2, "sub": {"ok": null}}]`))
	require.NoError(t, err)
	return b
}

// files are small files of every kind.
func files(t testing.TB) map[string][]byte {
	b := batch(t)
	out := map[string][]byte{}
	for name, opts := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
		opts = append(opts, ipc.WithSchema(b.Schema()))
		var file, stream bytes.Buffer
		f, err := ipc.NewFileWriter(&file, opts...)
		require.NoError(t, err)
		s := ipc.NewWriter(&stream, opts...)
		for range 2 {
			require.NoError(t, f.Write(b))
			require.NoError(t, s.Write(b))
		}
		require.NoError(t, f.Close())
		require.NoError(t, s.Close())
		out[name+".arrow"], out[name+".arrows"] = file.Bytes(), stream.Bytes()
	}
	for name, codec := range map[string]compress.Compression{"plain": compress.Codecs.Uncompressed, "zstd": compress.Codecs.Zstd} {
		var file bytes.Buffer
		w, err := pqarrow.NewFileWriter(b.Schema(), &file, parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithStats(false)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.Write(b))
		}
		require.NoError(t, w.Close())
		out[name+".parquet"] = file.Bytes()
	}
	return out
}

// inspectBytes inspects a file in memory.
func inspectBytes(data []byte) (*Report, error) {
	r := &Report{Bytes: int64(len(data)), Sound: true}
	return r, r.read(bytes.NewReader(data))
}

func TestSound(t *testing.T) {
	kinds := map[string]string{".arrow": KindArrowFile, ".arrows": KindArrowStream, ".parquet": KindParquet}
	for name, data := range files(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, data, 0o444))
			r, err := File(context.Background(), path)
			require.NoError(t, err)
			require.True(t, r.Sound, "%v", r.Fault)
			ext := filepath.Ext(name)
			require.Equal(t, kinds[ext], r.Kind)
			require.EqualValues(t, 6, r.Rows)
			require.EqualValues(t, len(data), r.Bytes)
			groups := r.Batches
			if ext == ".parquet" {
				groups = r.RowGroups
			}
			require.Len(t, groups, 2)
			require.EqualValues(t, 3, groups[0].Rows)
			require.Equal(t, groups[0].Bytes, groups[1].Bytes)
			require.Equal(t, groups[0].Offset+groups[0].Bytes, groups[1].Offset)
			var columns []string
			for _, c := range r.Columns {
				columns = append(columns, c.Name)
			}
			require.Equal(t, []string{"text", "list", "score", "sub"}, columns)
			require.True(t, r.Columns[0].Nullable)
			require.False(t, r.Columns[2].Nullable)
			require.Equal(t, "test", r.Metadata["origin"])
			switch codec, _, _ := strings.Cut(name, "."); {
			case codec != "plain":
				require.Equal(t, []string{codec}, r.Compression)
			case ext == ".parquet":
				require.Equal(t, []string{"uncompressed"}, r.Compression)
			default:
				require.Empty(t, r.Compression)
			}
			var text strings.Builder
			require.NoError(t, r.WriteText(&text))
			require.Contains(t, text.String(), "6 rows in 2 ")
			require.Contains(t, text.String(), "\nsound\n")
			asJSON, err := json.Marshal(r)
			require.NoError(t, err)
			require.Contains(t, string(asJSON), `"rows":6`)
		})
	}
}

// TestCutOff cuts files at every length: none is sound, and what lies before the cut is
// told of.
func TestCutOff(t *testing.T) {
	for name, data := range files(t) {
		t.Run(name, func(t *testing.T) {
			rows := int64(0)
			for n := range len(data) {
				r, err := inspectBytes(data[:n])
				if err != nil {
					require.ErrorIs(t, err, ErrKind, "cut at %d", n)
					require.Less(t, n, len(arrowMagic)+1)
					continue
				}
				require.False(t, r.Sound, "cut at %d", n)
				require.NotEmpty(t, r.Fault.Error)
				require.LessOrEqual(t, r.Fault.Offset, int64(n))
				require.GreaterOrEqual(t, r.Rows, rows)
				rows = r.Rows
			}
			if filepath.Ext(name) != ".parquet" {
				require.EqualValues(t, 6, rows)
			}
		})
	}
}

// TestDamage changes single bytes: the file is sound, or it is not, and it is told
// where.
func TestDamage(t *testing.T) {
	for name, data := range files(t) {
		t.Run(name, func(t *testing.T) {
			step := 1
			if filepath.Ext(name) == ".parquet" {
				step = 7 // slow to refuse
			}
			for at := 0; at < len(data); at += step {
				for _, flip := range []byte{0x01, 0xFF} {
					damaged := bytes.Clone(data)
					damaged[at] ^= flip
					r, err := inspectBytes(damaged)
					if err != nil {
						require.ErrorIs(t, err, ErrKind)
						continue
					}
					require.Equal(t, r.Fault == nil, r.Sound, "byte %d", at)
					if r.Fault != nil {
						require.GreaterOrEqual(t, r.Fault.Offset, int64(0), "byte %d", at)
					}
				}
			}
		})
	}
}

// TestFaults puts known faults into known places.
func TestFaults(t *testing.T) {
	data := files(t)
	for _, c := range []struct {
		name, old, new string
		column         string
		fault          string
	}{
		{"plain.arrow", "ünïcödé", "\xFFnïcödé!", "text", "utf8"},
		{"plain.arrows", "ünïcödé", "\xFFnïcödé!", "text", "utf8"},
		{"plain.parquet", "ünïcödé", "\xFFnïcödé!", "text", "not UTF-8"},
		{"plain.arrow", "\x00\x00\x00\x00\x03\x00\x00\x00\x03", "\x00\x00\x00\x00\x03\x00\x00\x00\x02", "list", "offset"},
	} {
		t.Run(c.name+" "+c.column, func(t *testing.T) {
			require.Len(t, c.new, len(c.old))
			b := data[c.name]
			at := bytes.LastIndex(b, []byte(c.old)) // of the second group
			require.Positive(t, at)
			damaged := bytes.Clone(b)
			copy(damaged[at:], c.new)
			r, err := inspectBytes(damaged)
			require.NoError(t, err)
			require.False(t, r.Sound)
			require.Equal(t, 1, r.Fault.Group)
			require.Equal(t, c.column, r.Fault.Column)
			require.Contains(t, r.Fault.Error, c.fault)
			require.LessOrEqual(t, r.Fault.Offset, int64(at))
			require.EqualValues(t, 3, r.Rows, "the group before is sound")
			var text strings.Builder
			require.NoError(t, r.WriteText(&text))
			require.Contains(t, text.String(), fmt.Sprintf("not sound: byte %d, group 1, column %q", r.Fault.Offset, c.column))
		})
	}
}

// TestLargePages: a page that is not read is no fault of the file.
func TestLargePages(t *testing.T) {
	data := files(t)["plain.parquet"]
	r := &Report{Bytes: int64(len(data)), Sound: true, maxPage: 32}
	require.NoError(t, r.read(bytes.NewReader(data)))
	require.False(t, r.Sound)
	require.True(t, r.Fault.TooLarge)
	require.Equal(t, "text", r.Fault.Column)
	require.Contains(t, r.Fault.Error, "larger than what is read at once")
	var text strings.Builder
	require.NoError(t, r.WriteText(&text))
	require.Contains(t, text.String(), "not checked to its end: byte")
	require.NotContains(t, text.String(), "not sound")
	means, do := r.Fault.Verdict()
	require.Equal(t, "not checked to its end", means)
	require.Contains(t, do, "smaller pages")
}

func TestBehindTheEnd(t *testing.T) {
	data := append(files(t)["plain.arrows"], "more"...)
	r, err := inspectBytes(data)
	require.NoError(t, err)
	require.False(t, r.Sound)
	require.EqualValues(t, len(data)-4, r.Fault.Offset)
}

func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "lines.jsonl": `{"text":"a"}`} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		_, err := File(context.Background(), path)
		require.ErrorIs(t, err, ErrKind)
		require.ErrorContains(t, err, path)
	}
	_, err := File(context.Background(), dir)
	require.ErrorIs(t, err, ErrKind)
	_, err = File(context.Background(), filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, os.WriteFile(path, files(t)["zstd.parquet"], 0o644))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.ErrClosedPipe)
	_, err := File(ctx, path)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func FuzzReport(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := inspectBytes(data)
		if err == nil && r.Sound != (r.Fault == nil) {
			t.Fatalf("sound %v, fault %v", r.Sound, r.Fault)
		}
	})
}
