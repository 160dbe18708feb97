package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// extentLines returns lines that do not compress well, in pieces of 100.
func extentLines(n int) (pieces []string) {
	x := uint64(1)
	for range n / 100 {
		var b strings.Builder
		for range 100 {
			fmt.Fprintf(&b, "%016x%016x\n", permute(&x), permute(&x))
		}
		pieces = append(pieces, b.String())
	}
	return pieces
}

func permute(x *uint64) uint64 {
	*x = *x*6364136223846793005 + 1442695040888963407
	return *x
}

// shapes are a file of lines, plain and compressed, and a length at which it can be cut
// without damage to what is before: between lines, members or frames.
func shapes() map[string]struct {
	data []byte
	cut  int64
} {
	pieces := extentLines(20_000)
	half := pieces[:150]
	return map[string]struct {
		data []byte
		cut  int64
	}{
		"in.txt":     {[]byte(strings.Join(pieces, "")), int64(len(strings.Join(half, "")))},
		"in.txt.gz":  {gzipped(pieces...), int64(len(gzipped(half...)))},
		"in.txt.zst": {zstded(pieces...), int64(len(zstded(half...)))},
	}
}

// TestFileThatShrinks: a file that becomes shorter while it is read gives the lines that
// are left of it, and then an error, as one that was cut off before.
func TestFileThatShrinks(t *testing.T) {
	all := strings.Split(strings.Join(extentLines(20_000), ""), "\n")
	all = all[:len(all)-1]
	for name, shape := range shapes() {
		for _, to := range []int64{0, shape.cut, int64(len(shape.data)) - 1} {
			for _, world := range []int{1, 3} {
				t.Run(fmt.Sprint(name, " to ", to, " world ", world), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), name)
					require.NoError(t, os.WriteFile(path, shape.data, 0o600))
					r := newReader([]Input{{Path: path}}, WithChunkLines(1), WithShard(0, world, pipeline.Drop))
					first, err := r.Next(context.Background())
					require.NoError(t, err)
					require.Equal(t, all[0], string(first.Line(0).Data))
					require.NoError(t, os.Truncate(path, to))
					rest := gather(t, r)
					require.Len(t, rest.errs, 1)
					require.ErrorIs(t, rest.errs[0], ErrTruncated)
					require.ErrorContains(t, rest.errs[0], path)
					require.ErrorContains(t, rest.errs[0], "shorter while it was read")
					for i, l := range rest.texts() {
						require.Equal(t, all[(i+1)*world], l)
					}
					if to == shape.cut {
						require.GreaterOrEqual(t, (len(rest.lines)+2)*world, 15_000)
					}
				})
			}
		}
	}
}

// TestFileThatChangesWithoutLoss: growing is no loss, nor is what becomes of a file when
// all of it has been read.
func TestFileThatChangesWithoutLoss(t *testing.T) {
	data := []byte(strings.Join(extentLines(20_000), ""))
	for name, c := range map[string]struct {
		size   int
		change func(path string) error
		want   int
	}{
		"grows": {len(data), func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("one more\n")
				err = errors.Join(err, f.Close())
			}
			return err
		}, 20_001},
		"read before": {3300, func(path string) error { return os.Truncate(path, 0) }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.txt")
			require.NoError(t, os.WriteFile(path, data[:c.size], 0o600))
			r := newReader([]Input{{Path: path}}, WithChunkLines(1))
			_, err := r.Next(context.Background())
			require.NoError(t, err)
			require.NoError(t, c.change(path))
			rest := gather(t, r)
			require.Empty(t, rest.errs)
			require.Len(t, rest.lines, c.want-1)
		})
	}
}

// pretender is a file whose size is not that of its data. It cannot be sought.
type pretender struct {
	io.Reader
	sizes []int64 // that it tells one after the other, the last one again
}

func (p *pretender) Close() error { return nil }
func (p *pretender) Stat() (fs.FileInfo, error) {
	size := p.sizes[0]
	if len(p.sizes) > 1 {
		p.sizes = p.sizes[1:]
	}
	return sized{size: size}, nil
}

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64       { return s.size }
func (s sized) Mode() fs.FileMode { return 0o600 }

// TestSizesThatAreMadeUp: files of a system's own tell 4096, whatever is in them.
func TestSizesThatAreMadeUp(t *testing.T) {
	for _, size := range []int64{0, 4, 4096} {
		open := func(string) (io.ReadCloser, error) {
			return &pretender{strings.NewReader("a\nb\n"), []int64{size}}, nil
		}
		got := gather(t, newReader([]Input{{Path: "in.txt"}}, WithOpen(open)))
		require.Empty(t, got.errs)
		require.Equal(t, []string{"a", "b"}, got.texts())
	}
}

// TestPlaceInAFileThatShrinks: the place is gone before it is reached.
func TestPlaceInAFileThatShrinks(t *testing.T) {
	open := func(string) (io.ReadCloser, error) {
		return &pretender{strings.NewReader("a\nb\n"), []int64{100, 4}}, nil
	}
	place := ReaderPosition{Path: "in.txt", Compression: "none", Lines: 30, Offset: 60, Index: 30}
	got := gather(t, newReader([]Input{{Path: "in.txt"}}, WithOpen(open), WithPosition(place)))
	require.Empty(t, got.lines)
	require.Len(t, got.errs, 1)
	require.ErrorIs(t, got.errs[0], ErrPosition)
	require.ErrorContains(t, got.errs[0], "in.txt: at byte 60, compressed byte 0: it is shorter than it was")
}

// TestCSVThatShrinks does the same to the other reader of files.
func TestCSVThatShrinks(t *testing.T) {
	for name, shape := range shapes() {
		name = strings.Replace(name, "txt", "csv", 1)
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, shape.data, 0o600))
			c, err := must(CSV([]string{path})).Open(context.Background(), pipeline.Start{})
			require.NoError(t, err)
			_, err = c.Next(context.Background())
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, shape.cut))
			n := 1
			for err == nil {
				if _, err = c.Next(context.Background()); err == nil {
					n++
				}
			}
			require.ErrorIs(t, err, ErrTruncated)
			require.ErrorContains(t, err, path)
			require.True(t, isFatal(err))
			require.GreaterOrEqual(t, n+1, 15_000)
			require.Less(t, n, 20_000)
			require.NoError(t, c.Close())
		})
	}
}

// TestReadFileThatShrinks: a file is whole or an error.
func TestReadFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 100), 0o600))
	c := must(newFileConfig(nil))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	whole := extentOf(f)
	require.NoError(t, os.Truncate(path, 60))
	_, err = c.readAll(context.Background(), path, f, whole)
	require.ErrorIs(t, err, ErrTruncated)
	require.ErrorContains(t, err, path)
}
