package source

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// TestArrowTableCuts: of a file or stream cut at every length, or with a byte changed, comes what
// is whole before, then an error that names it; no panic.
func TestArrowTableCuts(t *testing.T) {
	d := newDecoder(t, WithMetadata(AllMetadata))
	for _, name := range []string{"pyarrow.arrow", "polars.arrow", "pyarrow-lz4.arrows"} {
		data, err := os.ReadFile(filepath.Join("testdata", "tables", name))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		in := []Input{{Path: path}}
		for n := 0; n < len(data); n += 61 {
			require.NoError(t, os.WriteFile(path, data[:n], 0o600))
			got := takeChunks(t, in, nil, d)
			require.Error(t, got.err, "%s cut at %d", name, n)
			require.ErrorContains(t, got.err, name)
			requireWords(t, got.err)
			require.Equal(t, foreignTexts[:len(got.texts)], append([]string{}, got.texts...))
			bad := bytes.Clone(data)
			bad[n] ^= 0xff
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			if got := takeChunks(t, in, nil, d, WithMaxBlock(1<<24)); got.err != nil {
				require.ErrorContains(t, got.err, name, "byte %d", n)
				requireWords(t, got.err)
			}
		}
	}
}

// requireWords requires that what the library says of a damaged file, which may be the words of
// a panic, comes last.
func requireWords(t *testing.T, err error) {
	said, raw, found := strings.Cut(err.Error(), " [")
	if found {
		require.Regexp(t, `\]$`, raw)
	}
	for _, crash := range []string{"runtime error", "slice bounds", "panic", "arrow/"} {
		require.NotContains(t, said, crash, err)
	}
}

// TestArrowTableStreams: a file can come from a pipe, and both can be compressed as a whole.
func TestArrowTableStreams(t *testing.T) {
	for _, name := range []string{"pyarrow.arrow", "polars.arrows"} {
		data, err := os.ReadFile(filepath.Join("testdata", "tables", name))
		require.NoError(t, err)
		in := []Input{{Path: Stdin, Format: FormatArrow}}
		got := takeChunks(t, in, nil, newDecoder(t), WithStdin(bytes.NewReader(data)))
		require.NoError(t, got.err)
		require.Equal(t, foreignTexts, got.texts)
		dir := writeFiles(t, map[string]string{name + ".gz": zip(t, string(data))})
		in = []Input{{Path: filepath.Join(dir, name+".gz")}}
		got = takeChunks(t, in, nil, newDecoder(t), WithChunkLines(2))
		require.NoError(t, got.err)
		require.Equal(t, foreignTexts, got.texts)
		for i, at := range got.positions {
			rest := takeChunks(t, in, at, newDecoder(t), WithChunkLines(2))
			require.NoError(t, rest.err, "%s", at)
			require.Equal(t, got.rows[got.after[i]:], append([]string{}, rest.rows...))
		}
	}
}

func TestArrowTableErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{"feather1.feather": "FEA1xxxxxxxx", "empty.arrow": "", "text.arrow": strings.Repeat("no table ", 20)})
	for name, is := range map[string]error{"feather1.feather": ErrFormat, "empty.arrow": ErrTruncated, "text.arrow": nil} {
		got := takeChunks(t, []Input{{Path: filepath.Join(dir, name)}}, nil, newDecoder(t))
		require.Error(t, got.err)
		require.ErrorContains(t, got.err, name)
		if is != nil {
			require.ErrorIs(t, got.err, is)
		}
	}
	got := takeChunks(t, foreign("polars.arrows"), nil, newDecoder(t), WithMaxBlock(1<<10))
	require.ErrorIs(t, got.err, ErrBlock)
}

// TestArrowTablePositionThatDoesNotFit: a file that has changed is told.
func TestArrowTablePositionThatDoesNotFit(t *testing.T) {
	in := foreign("pyarrow.arrow")
	src, err := Chunks(in)
	require.NoError(t, err)
	c, err := src.Open(context.Background(), pipeline.Start{Position: []byte(`{"input":0,"path":"` + in[0].Path + `","table":{"row":99,"offset":33}}`)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Next(context.Background())
	require.ErrorIs(t, err, ErrPosition)
}
