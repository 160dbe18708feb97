package source

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// expanded returns the paths below dir that args, also below dir, stand for.
func expanded(t *testing.T, dir string, format Format, args ...string) []string {
	t.Helper()
	for i, a := range args {
		if a != Stdin {
			args[i] = filepath.Join(dir, filepath.FromSlash(a))
		}
	}
	inputs, err := Expand(args, format)
	require.NoError(t, err)
	var out []string
	for _, in := range inputs {
		out = append(out, strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(in.Path, dir)), "/"))
	}
	return out
}

func TestExpand(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"b.txt": "", "a.jsonl": "", "B.jsonl.gz": "", "sub/a.jsonl": "", "sub/deep/z.ndjson.zst": "", "sub-x/a.json": "",
		".hidden.txt": "", ".dir/a.txt": "", "readme.md": "", "noextension": "", "brackets[1].txt": "",
	})
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"a file", []string{"b.txt"}, []string{"b.txt"}},
		{"a folder", []string{"."}, []string{"B.jsonl.gz", "a.jsonl", "b.txt", "brackets[1].txt", "sub-x/a.json", "sub/a.jsonl", "sub/deep/z.ndjson.zst"}},
		{"equal names in two folders", []string{"sub", "a.jsonl"}, []string{"a.jsonl", "sub/a.jsonl", "sub/deep/z.ndjson.zst"}},
		{"a pattern", []string{"*.jsonl"}, []string{"a.jsonl"}},
		{"a pattern over folders", []string{"*/a.json*"}, []string{"sub-x/a.json", "sub/a.jsonl"}},
		{"a pattern that matches folders", []string{"su*"}, []string{"sub-x/a.json", "sub/a.jsonl", "sub/deep/z.ndjson.zst"}},
		{"hidden ones by a dot", []string{".h*.txt"}, []string{".hidden.txt"}},
		{"a hidden one by name", []string{".hidden.txt"}, []string{".hidden.txt"}},
		{"not hidden ones otherwise", []string{"*.txt"}, []string{"b.txt", "brackets[1].txt"}},
		{"a name that looks like a pattern", []string{"brackets[1].txt"}, []string{"brackets[1].txt"}},
		{"order of arguments", []string{"sub", "b.txt", "a.jsonl"}, []string{"a.jsonl", "b.txt", "sub/a.jsonl", "sub/deep/z.ndjson.zst"}},
		{"standard input", []string{"-"}, []string{"-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, expanded(t, dir, FormatAuto, c.args...))
		})
	}
	t.Run("format over extension", func(t *testing.T) {
		inputs, err := Expand([]string{filepath.Join(dir, "readme.md"), filepath.Join(dir, "a.jsonl"), "-"}, FormatText)
		require.NoError(t, err)
		require.Len(t, inputs, 3)
		for _, in := range inputs {
			require.Equal(t, FormatText, in.Format)
		}
	})
	t.Run("what the names say", func(t *testing.T) {
		inputs, err := Expand([]string{filepath.Join(dir, "B.jsonl.gz"), filepath.Join(dir, "b.txt"), "-"}, FormatAuto)
		require.NoError(t, err)
		require.Equal(t, []Input{
			{Path: "-", Format: FormatJSONL},
			{Path: filepath.Join(dir, "B.jsonl.gz"), Format: FormatJSONL, Compression: CompressionGzip},
			{Path: filepath.Join(dir, "b.txt"), Format: FormatText},
		}, inputs)
	})
}

func TestExpandReadsAFileOnce(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.txt": "a\n", "sub/a.txt": "b\n"})
	a := filepath.Join(dir, "a.txt")
	inputs, err := Expand([]string{a, dir, filepath.Join(dir, "sub", "..", "a.txt"), "-", "-"}, FormatAuto)
	require.NoError(t, err)
	require.Len(t, inputs, 3)
	require.Equal(t, []string{"-"}, inputs[0].Also)
	require.Equal(t, a, inputs[1].Path)
	require.Equal(t, []string{a, a}, inputs[1].Also)
	require.Empty(t, inputs[2].Also)

	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	require.NoError(t, os.Symlink(a, filepath.Join(dir, "link.txt")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "loop")))
	inputs, err = Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	require.Len(t, inputs, 2)
	require.Equal(t, []string{filepath.Join(dir, "link.txt")}, inputs[0].Also)

	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "broken.txt")))
	_, err = Expand([]string{dir}, FormatAuto)
	require.ErrorIs(t, err, ErrNoInput)
	require.ErrorContains(t, err, "broken.txt")
}

func TestExpandErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{"readme.md": "", "docs/readme.md": "", "data/a.parquet.gz": "", "data/a.txt": "", "x.gz": ""})
	for _, c := range []struct {
		arg string
		is  error
		say string
	}{
		{"gone.txt", ErrNoInput, "does not exist"},
		{"*.txt", ErrNoInput, "nothing matches"},
		{"[", ErrNoInput, "["},
		{"docs", ErrNoInput, "no file with a known extension"},
		{"readme.md", ErrFormat, "--format"},
		{"x.gz", ErrFormat, "--format"},
		{"*.md", ErrFormat, "readme.md"},
		{"data", ErrFormat, "a.parquet.gz"},
		{"data/a.parquet.gz", ErrFormat, "decompress the file first"},
	} {
		_, err := Expand([]string{filepath.Join(dir, c.arg)}, FormatAuto)
		require.ErrorIs(t, err, c.is, c.arg)
		require.ErrorContains(t, err, c.say, c.arg)
	}
	_, err := Expand(nil, FormatAuto)
	require.ErrorIs(t, err, ErrNoInput)
	_, err = Expand([]string{""}, FormatAuto)
	require.ErrorIs(t, err, ErrNoInput)
	require.ErrorContains(t, err, "an argument is empty")
}

func TestAFileCalledDash(t *testing.T) {
	t.Chdir(writeFiles(t, map[string]string{"-": "a\n"}))
	inputs, err := Expand([]string{"./-"}, FormatText)
	require.NoError(t, err)
	g := gather(t, newReader(inputs, WithStdin(strings.NewReader("not this\n"))))
	require.Equal(t, []string{"a"}, g.texts())
}
