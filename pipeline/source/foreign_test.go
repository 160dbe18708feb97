package source

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What testdata/tables/write.py has written.
var (
	foreignTexts = []string{"plain", "", "<null>", "thirteen byte", "日本語のテキスト", "quo\"ted, with\nlines", "fourteen bytes"}
	foreignIDs   = []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}
)

func foreign(name string) []Input { return []Input{{Path: filepath.Join("testdata", "tables", name)}} }

// TestForeignTables reads what pyarrow and polars have written.
func TestForeignTables(t *testing.T) {
	for _, name := range []string{
		"pyarrow.arrow", "pyarrow-zstd.arrow", "pyarrow-lz4.arrows", "polars.arrow", "polars.arrows", "pyarrow.csv", "polars.csv.gz", "polars.tsv",
	} {
		want := append([]string{}, foreignTexts...)
		if in := foreign(name)[0]; filepath.Ext(in.Path) != ".arrow" && filepath.Ext(in.Path) != ".arrows" {
			want[2] = "" // CSV has no nulls
		}
		for _, rows := range []int{1, 2, 100} {
			got := takeChunks(t, foreign(name), nil, newDecoder(t), WithChunkLines(rows))
			require.NoError(t, got.err, name)
			require.Equal(t, want, got.texts, name)
			require.Equal(t, foreignIDs, got.ids, name)
			require.Empty(t, got.bad)
		}
	}
}

// TestForeignColumns reads columns of other types as the text.
func TestForeignColumns(t *testing.T) {
	in := foreign("pyarrow.arrow")
	withNull := append([]string{}, foreignTexts...)
	withNull[3] = "<null>" // of the struct
	for _, c := range []struct {
		key  string
		want []string
	}{
		{"view", foreignTexts}, {"large", foreignTexts}, {"raw", foreignTexts}, {"meta.text", withNull},
		{"n", []string{"0", "-1", "<null>", "3", "4", "5", "9007199254740993"}},
		{"score", []string{"0.5", "1e300", "<null>", "3.0", "-0.0", "0.1", "1e-7"}},
		{"ok", []string{"true", "false", "<null>", "true", "true", "false", "true"}},
		{"price", []string{"1.50", "1.50", "1.50", "1.50", "1.50", "1.50", "1.50"}},
		{"kind", []string{"x", "y", "<null>", "x", "y", "x", "y"}},
	} {
		got := takeChunks(t, in, nil, newDecoder(t, WithTextKey(c.key)))
		require.NoError(t, got.err, c.key)
		require.Equal(t, c.want, got.texts, c.key)
	}
	for key, say := range map[string]string{
		"tags": "list<", "when": "timestamp", "meta": "struct", "nope": `columns: "id", "text"`, "meta.lnag": `did you mean "lang"?`, "text.x": "not a struct", ".": "name a column",
	} {
		got := takeChunks(t, in, nil, newDecoder(t, WithTextKey(key)))
		require.ErrorIs(t, got.err, ErrColumn, key)
		require.ErrorContains(t, got.err, say, key)
		require.ErrorContains(t, got.err, "pyarrow.arrow", key)
	}
}

func TestForeignIDs(t *testing.T) {
	in := foreign("pyarrow.arrow")
	got := takeChunks(t, in, nil, newDecoder(t, WithIDKey("n")))
	require.Equal(t, []string{"0", "-1", in[0].Path + ":3", "3", "4", "5", "9007199254740993"}, got.ids)
	got = takeChunks(t, in, nil, newDecoder(t, WithIDKey("nothing")))
	require.Equal(t, in[0].Path+":7", got.ids[6])
	got = takeChunks(t, in, nil, newDecoder(t, WithIDKey("tags")))
	require.ErrorIs(t, got.err, ErrColumn)
}
