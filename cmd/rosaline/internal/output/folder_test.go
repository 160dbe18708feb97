package output

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// writePart writes the next part of a folder.
func writePart(t *testing.T, f *Folder, content string) *File {
	t.Helper()
	p, err := f.Next()
	require.NoError(t, err)
	_, err = p.Write([]byte(content))
	require.NoError(t, err)
	return p
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	f, err := OpenFolder(dir, ".jsonl", 0, 0, false)
	require.NoError(t, err)
	require.Zero(t, f.Parts())
	require.NoError(t, writePart(t, f, "a\n").Commit())
	second := writePart(t, f, "b\n")
	require.Equal(t, []string{".part.lock", "part-00000.jsonl", "part-00001.jsonl.partial"}, names(t, dir))
	require.NoError(t, second.Commit())
	require.Equal(t, 2, f.Parts())
	require.NoError(t, f.Close())
	require.Equal(t, []string{"part-00000.jsonl", "part-00001.jsonl"}, names(t, dir))
	requireOld(t, filepath.Join(dir, "part-00001.jsonl"), "b\n")
}

// TestFolderOfEarlierRun: parts are never mixed with those of another run, in whatever
// format and state they are.
func TestFolderOfEarlierRun(t *testing.T) {
	for _, c := range []struct {
		old         string
		rank, world int
		clash       bool
	}{
		{"part-00000.jsonl", 0, 0, true},
		{"part-00007.arrow", 0, 0, true},
		{"part-00000.parquet.partial", 0, 0, true},
		{"part-00003-00000.jsonl", 0, 0, true},
		{"part-123456.jsonl", 0, 0, true},
		{"part-00003-00000.jsonl", 3, 4, true},
		{"part-00000.jsonl", 3, 4, true},
		{"part-00004-00000.jsonl", 3, 4, true}, // of a run with more ranks
		{"part-00002-00000.jsonl", 3, 4, false},
		{"part-1.jsonl", 0, 0, false},
		{"README", 0, 0, false},
		{"my-part-00000.jsonl", 0, 0, false},
	} {
		t.Run(c.old, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, c.old)
			require.NoError(t, os.WriteFile(old, []byte("old"), 0o644))
			f, err := OpenFolder(dir, ".jsonl", c.rank, c.world, false)
			if !c.clash {
				require.NoError(t, err)
				require.NoError(t, f.Close())
				requireOld(t, old, "old")
				return
			}
			require.ErrorIs(t, err, ErrEarlier)
			require.ErrorContains(t, err, old)
			require.ErrorContains(t, err, "--overwrite")
			require.Equal(t, []string{c.old}, names(t, dir), "nothing is changed")

			require.NoError(t, os.WriteFile(filepath.Join(dir, "kept"), nil, 0o644))
			f, err = OpenFolder(dir, ".jsonl", c.rank, c.world, true)
			require.NoError(t, err)
			require.NoFileExists(t, old)
			require.NoError(t, f.Close())
			require.Equal(t, []string{"kept"}, names(t, dir))
		})
	}
}

func TestFolderRanks(t *testing.T) {
	dir := t.TempDir()
	var folders []*Folder
	for rank := range 2 {
		f, err := OpenFolder(dir, ".arrow", rank, 2, false)
		require.NoError(t, err)
		folders = append(folders, f)
	}
	for _, f := range folders {
		require.NoError(t, writePart(t, f, "x").Commit())
		require.NoError(t, f.Close())
	}
	require.Equal(t, []string{"part-00000-00000.arrow", "part-00001-00000.arrow"}, names(t, dir))
}

func TestFolderIsBusy(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenFolder(dir, ".jsonl", 0, 0, false)
	require.NoError(t, err)
	_, err = OpenFolder(dir, ".jsonl", 0, 0, true)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, f.Close())
	f, err = OpenFolder(dir, ".jsonl", 0, 0, true)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestFolderCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := OpenFolder(filepath.Join(file, "sub"), ".jsonl", 0, 0, false)
	require.ErrorContains(t, err, filepath.Join(file, "sub")+": cannot write")
}

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		path  string
		asked Format
		want  Format // "" for an error
	}{
		{"-", "", JSONL}, {"-", Arrow, Arrow}, {"x", "", JSONL}, {"x", Parquet, Parquet}, {"x.txt", "", JSONL},
		{"x.jsonl", "", JSONL}, {"x.jsonl.gz", "", JSONL}, {"x.ndjson.zst", JSONL, JSONL}, {"x.gz", "", JSONL},
		{"x.arrow", "", Arrow}, {"x.ARROW", Arrow, Arrow}, {"a.parquet/x.feather", "", Arrow}, {"x.parquet", "", Parquet},
		{"x.arrow", JSONL, ""}, {"x.parquet", Arrow, ""}, {"x.jsonl.zst", Parquet, ""}, {"x.parquet.gz", "", ""}, {"x.gz", Arrow, ""},
		{"x.csv", "", ""}, {"x.tsv.gz", "", ""}, {"x.arrows", Arrow, ""}, {"x.warc", JSONL, ""}, {"x.wet.zst", "", ""}, {"a.csv/x", "", JSONL},
	} {
		got, err := FormatOf(c.path, c.asked)
		if c.want == "" {
			require.ErrorIs(t, err, ErrFormat, "%v", c)
			require.ErrorContains(t, err, c.path)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, c.want, got, "%v", c)
	}
}
