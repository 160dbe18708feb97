package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMisnamed: a file of another format than that of its name is told for what it is.
func TestMisnamed(t *testing.T) {
	content := map[string]string{"gzip": zip(t, "{}\n"), "json": ` {"text":"a"}` + "\n", "csv": "id,text\n1,a\n", "warc": warcOf("conversion", "a", "b"), "avro": "Obj\x01\x04"}
	for name, file := range map[string]string{"parquet": "pyarrow-none.parquet", "arrow": "pyarrow.arrow", "stream": "polars.arrows"} {
		data, err := os.ReadFile(filepath.Join("testdata", "tables", file))
		require.NoError(t, err)
		content[name] = string(data)
	}
	RegisterTable(FormatParquet, openCSVTable) // which is never called
	t.Cleanup(func() { RegisterTable(FormatParquet, nil) })
	for _, c := range []struct{ name, is, say string }{
		{"a.jsonl", "parquet", "it is named .jsonl, but begins like Parquet; give --format parquet, or rename it"},
		{"a.txt", "parquet", "give --format parquet"}, {"a.csv", "parquet", "give --format parquet"}, {"a.arrow", "parquet", "give --format parquet"},
		{"a.jsonl", "arrow", "like Arrow; give --format arrow"}, {"a.parquet", "arrow", "give --format arrow"}, {"a.warc", "arrow", "give --format arrow"},
		{"a.ndjson", "stream", "named .ndjson, but begins like an Arrow stream; give --format arrow"}, {"a.parquet", "stream", "give --format arrow"}, {"a.csv", "stream", "give --format arrow"},
		{"a.jsonl", "warc", "give --format warc"}, {"a.parquet", "warc", "give --format warc"}, {"a.arrow", "warc", "give --format warc"},
		{"a.parquet", "json", "like JSON; give --format jsonl"}, {"a.arrow", "json", "give --format jsonl"}, {"a.wet", "json", "give --format jsonl"},
		{"a.parquet", "csv", "like text; give --format csv, jsonl or text"}, {"a.feather", "csv", "named .feather, but begins like text"},
		{"a.parquet", "gzip", "like gzip; decompress it"}, {"a.jsonl", "avro", "like Avro; convert it"},
	} {
		path := filepath.Join(writeFiles(t, map[string]string{c.name: content[c.is]}), c.name)
		got := takeChunks(t, []Input{{Path: path}}, nil, newDecoder(t))
		require.ErrorIs(t, got.err, ErrMisnamed, "%s in %s", c.is, c.name)
		require.ErrorContains(t, got.err, path)
		require.ErrorContains(t, got.err, c.say)
	}
	path := filepath.Join(writeFiles(t, map[string]string{"a": content["parquet"]}), "a")
	got := takeChunks(t, []Input{{Path: path, Format: FormatArrow}}, nil, newDecoder(t))
	require.ErrorContains(t, got.err, "it is read as arrow, but begins like Parquet")
	// These are what they are named, or might be.
	for name, data := range map[string]string{
		"a.jsonl": content["gzip"], "b.txt": "PAR1\nARROW1\n", "c.txt": content["warc"], "d.csv": "WARC/1.0\n", "e.txt": "BZh, he said\n", "f.jsonl": "\"PAR1\"\n", "g.jsonl": "\n",
	} {
		path := filepath.Join(writeFiles(t, map[string]string{name: data}), name)
		err := takeChunks(t, []Input{{Path: path}}, nil, newDecoder(t)).err
		require.True(t, err == nil || !strings.Contains(err.Error(), ErrMisnamed.Error()), "%s: %v", name, err)
	}
}
