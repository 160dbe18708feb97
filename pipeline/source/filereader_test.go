package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// applied returns what a transform makes of an element.
func applied[T, U any](ctx context.Context, f pipeline.Transform[T, U], v T) (out []U, err error) {
	err = f.Apply(ctx, v, func(u U) { out = append(out, u) })
	return out, err
}

func TestReadFile(t *testing.T) {
	large := strings.Repeat("0123456789", 1<<20)
	dir := writeFiles(t, map[string]string{"empty": "", "a": "abc", "large": large})
	read := must(ReadFile())
	for name, want := range map[string]string{"empty": "", "a": "abc", "large": large} {
		path := filepath.Join(dir, name)
		got, err := applied(context.Background(), read, File{Path: path, Size: 999, Padded: name == "a"})
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, path, got[0].Path)
		require.True(t, string(got[0].Data) == want)
		require.Equal(t, name == "a", got[0].Padded)
		require.Equal(t, int64(len(want)+len(path)), got[0].Size())
	}
	image, err := applied(context.Background(), must(ReadImage()), Image{Path: filepath.Join(dir, "a"), Label: 3, Class: "c"})
	require.NoError(t, err)
	require.Equal(t, []ImageData{{Image{Path: filepath.Join(dir, "a"), Label: 3, Class: "c"}, []byte("abc")}}, image)
}

func TestReadFileErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{"three": "123", "four": "1234"})
	read := must(ReadFile(WithMaxFile(3)))
	for _, c := range []struct {
		name string
		is   error
	}{{"gone", fs.ErrNotExist}, {"four", ErrFileTooLarge}, {".", nil}} {
		path := filepath.Join(dir, c.name)
		got, err := applied(context.Background(), read, File{Path: path})
		require.Error(t, err)
		require.ErrorContains(t, err, path)
		require.Empty(t, got)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
	}
	got, err := applied(context.Background(), read, File{Path: filepath.Join(dir, "three")})
	require.NoError(t, err)
	require.Equal(t, "123", string(got[0].Data))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = applied(ctx, read, File{Path: filepath.Join(dir, "three")})
	require.ErrorIs(t, err, context.Canceled)

	for _, n := range []int64{0, -1, maxFileCap + 1} {
		_, err := ReadFile(WithMaxFile(n))
		require.ErrorIs(t, err, ErrOption)
		_, err = ReadImage(WithMaxFile(n))
		require.ErrorIs(t, err, ErrOption)
	}
}

// A sparse file of more than memory shows that the size is looked at before reading.
func TestReadFileLooksAtTheSizeFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	require.NoError(t, err)
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip("the file system has no large sparse files:", err)
	}
	require.NoError(t, f.Close())
	_, err = applied(context.Background(), must(ReadFile()), File{Path: path})
	require.ErrorIs(t, err, ErrFileTooLarge)
	require.ErrorContains(t, err, fmt.Sprint(int64(1<<40)))
}

// A file may grow or shrink while it is read.
func TestReadFileThatChanges(t *testing.T) {
	c := must(newFileConfig([]FileOption{WithMaxFile(100)}))
	for _, expected := range []int64{0, 1, 50, 99, 100} {
		for _, length := range []int{0, 1, 49, 50, 51, 99, 100, 101, 200} {
			data := bytes.Repeat([]byte("x"), length)
			got, err := c.readAll(context.Background(), "name", iotest.HalfReader(bytes.NewReader(data)), extent{size: expected})
			if length > 100 {
				require.ErrorIs(t, err, ErrFileTooLarge)
				require.ErrorContains(t, err, "name")
				continue
			}
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
		}
	}
	endless := readerFunc(func(p []byte) (int, error) { return len(p), nil })
	_, err := c.readAll(context.Background(), "name", endless, extent{size: 10})
	require.ErrorIs(t, err, ErrFileTooLarge)
	_, err = c.readAll(context.Background(), "name", iotest.ErrReader(io.ErrClosedPipe), extent{size: 10})
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// Reading 2000 files leaves none open.
func TestReadManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 2000 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", i)), fmt.Append(nil, i), 0o644))
	}
	handles := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("open files cannot be counted on", runtime.GOOS)
		}
		return len(entries)
	}
	before := handles()
	src, read := must(Glob([]string{dir})), must(ReadFile())
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	for i := range 2000 {
		f, err := c.Next(context.Background())
		require.NoError(t, err)
		got, err := applied(context.Background(), read, f)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(got[0].Data))
		if i%100 == 0 {
			require.LessOrEqual(t, handles(), before+10)
		}
	}
	_, err = c.Next(context.Background())
	require.Equal(t, io.EOF, err)
	require.NoError(t, c.Close())
}
