package source

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]Format{
		"auto": FormatAuto, "jsonl": FormatJSONL, "ndjson": FormatJSONL, "json": FormatJSONL, "text": FormatText, "txt": FormatText,
	} {
		got, err := ParseFormat(name)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{"csv", "arrow", "parquet"} {
		_, err := ParseFormat(name)
		require.ErrorIs(t, err, ErrNotYet, name)
		require.Contains(t, err.Error(), name)
	}
	for _, name := range []string{"", "JSONL", "xml", ".txt"} {
		_, err := ParseFormat(name)
		require.ErrorIs(t, err, ErrFormat, name)
	}
	for _, f := range []Format{FormatAuto, FormatJSONL, FormatText} {
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
		{"a.parquet", formatLater, CompressionAuto, true},
		{"a.csv.zst", formatLater, CompressionZstd, true},
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
