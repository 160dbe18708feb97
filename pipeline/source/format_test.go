package source

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]Format{
		"auto": FormatAuto, "jsonl": FormatJSONL, "ndjson": FormatJSONL, "json": FormatJSONL, "text": FormatText, "txt": FormatText,
		"csv": FormatCSV, "tsv": FormatTSV, "arrow": FormatArrow, "feather": FormatArrow, "ipc": FormatArrow, "parquet": FormatParquet,
		"warc": FormatWARC, "wet": FormatWARC,
	} {
		got, err := ParseFormat(name)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{"", "JSONL", "xml", ".txt"} {
		_, err := ParseFormat(name)
		require.ErrorIs(t, err, ErrFormat, name)
	}
	for f := FormatAuto; f < formatCount; f++ {
		got, err := ParseFormat(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
}

func TestSplitName(t *testing.T) {
	for _, c := range []struct {
		path  string
		f     Format
		c     Compression
		known bool
	}{
		{"a.jsonl", FormatJSONL, CompressionAuto, true},
		{"d.x/a.ndjson.gz", FormatJSONL, CompressionGzip, true},
		{"a.json.zst", FormatJSONL, CompressionZstd, true},
		{"A.TXT.GZ", FormatText, CompressionGzip, true},
		{"a.b.txt", FormatText, CompressionAuto, true},
		{"a.parquet", FormatParquet, CompressionAuto, true},
		{"a.csv.zst", FormatCSV, CompressionZstd, true},
		{"cc/a.warc.wet.gz", FormatWARC, CompressionGzip, true},
		{"a.warc.gz", FormatWARC, CompressionGzip, true},
		{"a.tsv", FormatTSV, CompressionAuto, true},
		{"a.gz", 0, CompressionGzip, false},
		{"a.txt.bz2", 0, CompressionAuto, false},
		{"txt", 0, CompressionAuto, false},
		{"a.", 0, CompressionAuto, false},
	} {
		f, z, known := splitName(c.path)
		require.Equal(t, c.known, known, c.path)
		require.Equal(t, c.c, z, c.path)
		if known {
			require.Equal(t, c.f, f, c.path)
		}
	}
}

func TestCompressionNames(t *testing.T) {
	for c, want := range []string{"auto", "none", "gzip", "zstd", "compression(4)"} {
		require.Equal(t, want, Compression(c).String())
	}
}
