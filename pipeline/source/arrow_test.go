package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// arrowData is batches of two columns, "text" and "other", as a file or stream.
func arrowData(t testing.TB, file bool, batches ...[]string) []byte {
	var out bytes.Buffer
	names := []string{"other", "text"}
	w, err := stringtensor.NewIPCStreamWriter(&out, names)
	if file {
		w, err = stringtensor.NewIPCFileWriter(&out, names)
	}
	require.NoError(t, err)
	for _, rows := range batches {
		text, err := stringtensor.FromStrings(rows)
		require.NoError(t, err)
		other, err := stringtensor.FromStrings(make([]string, len(rows)))
		require.NoError(t, err)
		require.NoError(t, w.Write(other, text))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func showColumn(c *stringtensor.Column) string {
	defer c.Release()
	var rows []string
	for _, s := range c.All() {
		rows = append(rows, strings.Clone(s))
	}
	return strings.Join(rows, ",")
}

func writeArrow(t testing.TB) (paths []string, want []string) {
	dir := t.TempDir()
	long := strings.Repeat("long ", 100)
	for i, c := range []struct {
		file    bool
		batches [][]string
	}{
		{true, [][]string{{"a", "b"}, {"c"}, {}, {long, "d"}}},
		{false, [][]string{{"e"}, {"f", "g"}, {long}}},
		{true, nil},
		{false, nil},
		{true, [][]string{{"h"}}},
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d.arrow", i))
		require.NoError(t, os.WriteFile(path, arrowData(t, c.file, c.batches...), 0o644))
		paths = append(paths, path)
		for _, b := range c.batches {
			want = append(want, strings.Join(b, ","))
		}
	}
	return paths, want
}

func TestArrowColumnsResume(t *testing.T) {
	paths, want := writeArrow(t)
	src := ArrowColumns(paths, "text")
	require.Equal(t, want, requireCursorResumes(t, src, showColumn))
	n, err := src.Count(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(len(want)), n)
	require.Empty(t, requireCursorResumes(t, ArrowColumns(nil, "text"), showColumn))
	require.Contains(t, src.Describe(), `"text"`)
	require.NotEqual(t, src.Describe(), ArrowColumns(paths, "other").Describe())
	require.NotEqual(t, src.Describe(), ArrowColumns(paths[1:], "text").Describe())
}

func TestArrowColumnsByFile(t *testing.T) {
	paths, want := writeArrow(t)
	var got []string
	for rank := range 3 {
		part, err := ArrowColumns(paths, "text").ShardFiles(rank, 3)
		require.NoError(t, err)
		c, err := part.Open(context.Background(), pipeline.Start{})
		require.NoError(t, err)
		got = append(got, drain(t, c, showColumn)...)
		require.NoError(t, c.Close())
	}
	require.ElementsMatch(t, want, got)
	_, err := ArrowColumns(paths, "text").ShardFiles(0, 0)
	require.ErrorIs(t, err, ErrOption)
}

// What is whole before a cut is given out, then the error.
func TestArrowFilesThatAreCutOff(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []bool{true, false} {
		data := arrowData(t, file, []string{"a"}, []string{"b"}, []string{"c"})
		most := 0
		for n := 0; n < len(data); n++ {
			if n < len(data)-30 {
				n += n % 17 // not all of them, for the sake of time
			}
			path := filepath.Join(dir, "cut.arrow")
			require.NoError(t, os.WriteFile(path, data[:n], 0o644))
			src := ArrowColumns([]string{path, filepath.Join(dir, "none.arrow")}, "text")
			c, err := src.Open(context.Background(), pipeline.Start{})
			require.NoError(t, err)
			got := drain(t, c, showColumn)
			last := len(got) - 1
			require.Equal(t, []string{"a", "b", "c"}[:last], got[:last])
			require.Contains(t, got[last], "cut.arrow", "cut at %d", n)
			most = max(most, last)
			_, err = c.Next(context.Background())
			require.ErrorIs(t, err, os.ErrNotExist)
			_, err = c.Next(context.Background())
			require.Equal(t, io.EOF, err)
			require.NoError(t, c.Close())
			_, err = src.Count(context.Background())
			require.Error(t, err)
		}
		require.Equal(t, 3, most)
	}
}

func TestArrowErrors(t *testing.T) {
	paths, _ := writeArrow(t)
	ctx := context.Background()
	c, err := ArrowColumns(paths, "none").Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, stringtensor.ErrNoColumn)
	require.True(t, endsStream(err))
	require.NoError(t, c.Close())

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	c, err = ArrowColumns(paths, "text").Open(cancelled, pipeline.Start{})
	require.NoError(t, err)
	_, err = c.Next(cancelled)
	require.Equal(t, context.Canceled, err)
	require.NoError(t, c.Close())

	for _, raw := range []string{"1", `{"file":9}`, `{"file":-1}`, `{"file":0,"path":"x"}`, `{"file":1}`, fmt.Sprintf(`{"file":0,"path":%q,"batch":-1}`, paths[0]), `{"file":5,"batch":1}`} {
		_, err = ArrowColumns(paths, "text").Open(ctx, pipeline.Start{Position: []byte(raw)})
		require.ErrorIs(t, err, ErrPosition, raw)
	}
	for i, batch := range []int{5, 4} {
		raw := fmt.Sprintf(`{"file":%d,"path":%q,"batch":%d}`, i, paths[i], batch)
		c, err := ArrowColumns(paths, "text").Open(ctx, pipeline.Start{Position: []byte(raw)})
		require.NoError(t, err)
		_, err = c.Next(ctx)
		require.ErrorIs(t, err, ErrPosition, raw)
		require.NoError(t, c.Close())
	}
}
