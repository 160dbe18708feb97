package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// readLines reads to the end and tells all that can be seen of it, with the places
// between chunks.
func readLines(t require.TestingT, inputs []Input, opts ...ReaderOption) (lines []string, places []ReaderPosition) {
	r, err := NewReader(inputs, opts...)
	require.NoError(t, err)
	for {
		places = append(places, r.Position())
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			lines = append(lines, "error: "+err.Error())
			continue
		}
		for i := range c.Len() {
			l := c.Line(i)
			lines = append(lines, fmt.Sprintf("%v %d %d %v %v %q", l.Pos, l.Pos.Offset, l.Length, l.TooLong, l.Padded, l.Data))
		}
		lines = append(lines, fmt.Sprintf("counts: %+v", c.chunkCounts))
		c.Release()
	}
	lines = append(lines, fmt.Sprint(r.Progress()))
	require.NoError(t, r.Close())
	return lines, places
}

func writeFile(t testing.TB, dir, name string, data []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// largeText is lines of all kinds, longer than several ranges.
func largeText(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := bytes.NewBufferString("\ufeff")
	for b.Len() < 5*rangeBytes {
		switch rng.IntN(8) {
		case 0:
			b.WriteString(strings.Repeat("\n", rng.IntN(5)))
		case 1:
			b.WriteString("\r\n  \r\n")
		case 2:
			b.WriteString(strings.Repeat("long ", rng.IntN(rangeBytes/3)) + "\n")
		default:
			b.WriteString(strings.Repeat("word é ", rng.IntN(3000)) + "\r\n")
		}
	}
	b.WriteString("the last line has no end")
	return b.Bytes()
}

func TestRangesGiveWhatOneReaderGives(t *testing.T) {
	dir := t.TempDir()
	large := writeFile(t, dir, "large.txt", largeText(1))
	small := writeFile(t, dir, "small.txt", []byte("a\n\nb"))
	gone := filepath.Join(dir, "gone.txt")
	inputs := []Input{{Path: large}, {Path: gone}, {Path: small}, {Path: large}}
	for _, opts := range [][]ReaderOption{
		nil,
		{WithMaxLine(1000), WithChunkLines(7)},
		{WithMaxLine(2 * rangeBytes), WithChunkBytes(1000)},
		{WithShard(1, 3, pipeline.Uneven), WithChunkLines(5)},
		{WithShard(2, 3, pipeline.Pad)},
		{WithShard(0, 7, pipeline.Drop)},
	} {
		want, places := readLines(t, inputs, opts...)
		for _, n := range []int{2, 5} {
			with := append(opts[:len(opts):len(opts)], WithReaders(n))
			got, at := readLines(t, inputs, with...)
			require.True(t, fmt.Sprint(want) == fmt.Sprint(got), "%d readers", n)
			require.Equal(t, places, at)
		}
		for i := 0; i < len(places); i += 1 + len(places)/6 {
			rest, _ := readLines(t, inputs, append(opts[:len(opts):len(opts)], WithPosition(places[i]))...)
			got, _ := readLines(t, inputs, append(opts[:len(opts):len(opts)], WithPosition(places[i]), WithReaders(3))...)
			require.True(t, fmt.Sprint(rest) == fmt.Sprint(got), "from %+v", places[i])
		}
	}
}

// changing is a file that changes its length while it is read.
type changing struct {
	*os.File
	change func(read int, short bool) // after each read
	reads  int
}

func (c *changing) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.reads++
	c.change(c.reads, n < len(p))
	return n, err
}

// One range at a time is read here, so that a test can tell when.
func TestRangesOfAFileThatChanges(t *testing.T) {
	data := largeText(2)
	read := func(change func(path string, read int, short bool)) ([]byte, error) {
		path := writeFile(t, t.TempDir(), "a.txt", data)
		f, err := os.Open(path)
		require.NoError(t, err)
		r := &rangeReader{file: &changing{f, func(read int, short bool) { change(path, read, short) }, 0}, atOnce: 1}
		raw := newRawReader()
		raw.reset(r, 0, &new(Reader).read)
		got, err := io.ReadAll(raw)
		require.NoError(t, r.Close())
		return got, err
	}
	got, err := read(func(path string, read int, _ bool) {
		if read == 2 {
			require.NoError(t, os.Truncate(path, rangeBytes+1))
		}
	})
	require.ErrorIs(t, err, ErrTruncated)
	require.True(t, bytes.HasPrefix(data, got))
	require.GreaterOrEqual(t, len(got), rangeBytes+1)

	more := bytes.Repeat([]byte("more\n"), rangeBytes/2)
	grown := false
	got, err = read(func(path string, _ int, short bool) {
		if !short || grown {
			return
		}
		grown = true
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.Write(more)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	})
	require.NoError(t, err)
	require.Equal(t, len(data)+len(more), len(got))
	require.True(t, bytes.Equal(append(bytes.Clone(data), more...), got))
}

func TestRangesReadByPiecesOfAnySize(t *testing.T) {
	data := largeText(3)
	path := writeFile(t, t.TempDir(), "a.txt", data)
	rapid.Check(t, func(t *rapid.T) {
		f, err := os.Open(path)
		require.NoError(t, err)
		r := newRangeReader(f, rapid.IntRange(2, 9).Draw(t, "at once"))
		require.NotNil(t, r)
		at := rapid.IntRange(0, len(data)).Draw(t, "from")
		_, err = r.Seek(int64(at), io.SeekStart)
		require.NoError(t, err)
		p := make([]byte, rapid.IntRange(1, 2*rangeBytes).Draw(t, "piece"))
		for range 20 {
			n, err := r.Read(p)
			require.True(t, bytes.Equal(data[at:at+n], p[:n]))
			if at += n; err == io.EOF {
				require.Equal(t, len(data), at)
				break
			}
			require.NoError(t, err)
		}
		_, err = r.Seek(0, io.SeekStart)
		require.Error(t, err)
		require.NoError(t, r.Close())
	})
}
