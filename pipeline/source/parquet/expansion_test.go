package parquet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// repeated writes one row group of n rows whose texts, in a column and in lists, are a few
// long ones. bytes is what they add up to.
func repeated(t testing.TB, path string, n int, opts ...parquet.WriterProperty) (total int64) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	text, list := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.ListBuilder)
	for i := range n {
		value := strings.Repeat(string(rune('a'+i%7)), 30_000*(i%7))
		if i%5 == 3 {
			text.AppendNull()
		} else {
			text.Append(value)
			total += int64(len(value))
		}
		list.Append(true)
		for range i % 3 {
			list.ValueBuilder().(*array.StringBuilder).Append(value)
			total += int64(len(value))
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	opts = append(opts, parquet.WithDictionaryPageSizeLimit(1<<30), parquet.WithDataPageSize(256))
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(opts...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return total
}

// openTable opens a file as a table of all columns.
func openTable(t testing.TB, path string) *table {
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	require.NoError(t, err)
	tab := &table{in: source.TableInput{MaxBlock: 1 << 30}, at: f, size: info.Size()}
	r, err := tab.reader(memory.DefaultAllocator)
	require.NoError(t, err)
	tab.meta = r.MetaData()
	require.NoError(t, tab.columns())
	return tab
}

// TestExpansion: what a dictionary stands for is counted, for both versions of pages and all
// codecs.
func TestExpansion(t *testing.T) {
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for _, codec := range []compress.Compression{
			compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
		} {
			path := filepath.Join(t.TempDir(), "a.parquet")
			total := repeated(t, path, 200, parquet.WithDataPageVersion(version), parquet.WithCompression(codec))
			e := openTable(t, path).expand(0)
			require.GreaterOrEqual(t, e.bytes, total, "%v %v", version, codec)
			require.InEpsilon(t, total, e.bytes, 0.01, "%v %v", version, codec) // padding of the last values of a page
			require.EqualValues(t, 2*180_000, e.widest)
		}
	}
	for _, prop := range []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithDictionaryFor("text", false)} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		total := repeated(t, path, 200, prop)
		require.Less(t, openTable(t, path).expand(0).bytes, total)
	}
}

// TestDamagedExpansion: pages that cannot be decoded are left to the reading to tell.
func TestDamagedExpansion(t *testing.T) {
	for _, codec := range []compress.Compression{
		compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
	} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		repeated(t, path, 20, parquet.WithCompression(codec))
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		tab := openTable(t, path)
		for at := 4; at < 100; at++ {
			damaged := bytes.Clone(sound)
			damaged[at] ^= 0xff
			tab.at = bytes.NewReader(damaged)
			require.NotPanics(t, func() { tab.expand(0) }, "%v, byte %d", codec, at)
		}
	}
}

// TestExpandingGroups: a small row group that stands for much is read in parts, from every
// place, and no chunk is larger than it may be.
func TestExpandingGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	total := repeated(t, path, 300, parquet.WithCompression(compress.Codecs.Zstd))
	require.Greater(t, total, int64(groupBytes))
	got, places, err := rows(t, []string{path}, nil, "text", source.WithChunkBytes(1<<20))
	require.NoError(t, err)
	require.Len(t, got, 300)
	require.Greater(t, len(places), 20)
	for i, r := range got {
		want := strings.Repeat(string(rune('a'+i%7)), 30_000*(i%7))
		if i%5 == 3 {
			want = "<null>"
		}
		require.True(t, r == fmt.Sprintf("%s:%d %s", path, i+1, want), "row %d", i)
	}
	n := 0
	for at, place := range places {
		if n++; n > 5 {
			break
		}
		rest, _, err := rows(t, []string{path}, place, "text", source.WithChunkBytes(1<<20))
		require.NoError(t, err)
		require.Len(t, rest, 300-at)
		require.True(t, at == 300 || rest[0] == got[at])
	}
}

func FuzzPageHeader(f *testing.F) {
	f.Add([]byte{0x15, 0x04, 0x15, 0x10, 0x15, 0x14, 0x4c, 0x15, 0x04, 0x15, 0x00, 0x12, 0x00, 0x00})
	f.Add([]byte{0x15, 0x00, 0x15, 0x10, 0x15, 0x14, 0x2c, 0x15, 0x04, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x18, 0x01, 0x61, 0x00, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, n := parsePageHeader(b); n < 0 || n > len(b) || n > 0 && min(h.size, h.compressed, h.values, h.levels) < 0 {
			t.Fatalf("%+v, %d bytes of %d", h, n, len(b))
		}
	})
}

func FuzzSumOfRuns(f *testing.F) {
	f.Add([]byte{0x0a, 0x01, 0x03, 0x88, 0xc6}, uint8(2), int64(13))
	f.Fuzz(func(t *testing.T, b []byte, width uint8, values int64) {
		values = min(values, 1<<31)
		if sum, ok := sumOfRuns(b, int(width), values, []uint32{1, 20, 300}); ok && (sum < 0 || sum > 300*max(values, 0)) {
			t.Fatalf("%d of %d values", sum, values)
		}
	})
}
