package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// gathered is all that a reader gave.
type gathered struct {
	lines  []Line
	boms   int64
	bytes  int64
	errs   []error
	chunks int
}

// texts returns the lines as strings, "<length>" for those over the cap.
func (g gathered) texts() []string {
	out := []string{}
	for _, l := range g.lines {
		if l.TooLong {
			out = append(out, "<too long>")
			continue
		}
		out = append(out, string(l.Data))
	}
	return out
}

// gather reads everything, and goes on after errors.
func gather(t testing.TB, r *Reader) gathered {
	t.Helper()
	var g gathered
	for {
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			require.Nil(t, c)
			g.errs = append(g.errs, err)
			require.Less(t, len(g.errs), 100, "the reader does not come to an end")
			continue
		}
		g.chunks++
		for i := range c.Len() {
			l := c.Line(i)
			if !l.TooLong {
				l.Data = append([]byte{}, l.Data...)
			}
			g.lines = append(g.lines, l)
		}
		g.boms += c.boms
		g.bytes += c.Bytes()
		c.Release()
	}
	require.NoError(t, r.Close())
	return g
}

// newReader is NewReader with options that are in range.
func newReader(inputs []Input, opts ...ReaderOption) *Reader {
	r, err := NewReader(inputs, opts...)
	if err != nil {
		panic(err)
	}
	return r
}

func stdin(in io.Reader, opts ...ReaderOption) *Reader {
	return newReader([]Input{{Path: Stdin}}, append(opts, WithStdin(in))...)
}

// writeFiles makes files in a fresh folder and returns the folder.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	}
	return dir
}

func TestLinesOfAStream(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	for _, c := range []struct {
		name, in string
		want     []string
		boms     int64
	}{
		{"empty", "", []string{}, 0},
		{"only a newline", "\n", []string{""}, 0},
		{"only CRLF", "\r\n", []string{""}, 0},
		{"no final newline", "a\nb", []string{"a", "b"}, 0},
		{"final newline", "a\nb\n", []string{"a", "b"}, 0},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}, 0},
		{"one CR belongs to the end", "a\r\r\nb\r", []string{"a\r", "b"}, 0},
		{"CR inside", "a\rb\n", []string{"a\rb"}, 0},
		{"blank lines", "a\n\n\nb\n\n", []string{"a", "", "", "b", ""}, 0},
		{"mark", bom + "a\nb\n", []string{"a", "b"}, 1},
		{"one mark only", bom + bom + "a\n", []string{bom + "a"}, 1},
		{"mark on the second line stays", "a\n" + bom + "b\n", []string{"a", bom + "b"}, 0},
		{"mark alone", bom, []string{}, 1},
		{"mark and newline", bom + "\n", []string{""}, 1},
		{"half a mark", "\xef\xbb", []string{"\xef\xbb"}, 0},
		{"NUL", "a\x00b\n\x00\n", []string{"a\x00b", "\x00"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, wrap := range splitReaders {
				g := gather(t, stdin(wrap(strings.NewReader(c.in))))
				require.Equal(t, c.want, g.texts(), name)
				require.Equal(t, c.boms, g.boms, name)
				require.Equal(t, int64(len(c.in)), g.bytes, name)
				require.Empty(t, g.errs, name)
			}
		})
	}
}

// splitReaders are ways a stream may arrive.
var splitReaders = map[string]func(io.Reader) io.Reader{
	"whole":            func(r io.Reader) io.Reader { return r },
	"a byte at a time": iotest.OneByteReader,
	"halves":           iotest.HalfReader,
	"end with data":    iotest.DataErrReader,
}

func TestLinesHavePlaces(t *testing.T) {
	dir := writeFiles(t, map[string]string{"b.txt": "x\r\n\nyy", "a.txt": "\xef\xbb\xbfp\nq\n"})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	for _, lines := range []int{1, 2, 100} {
		g := gather(t, newReader(inputs, WithChunkLines(lines)))
		a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
		var got []Position
		for _, l := range g.lines {
			got = append(got, l.Pos)
		}
		require.Equal(t, []Position{{a, 1, 0}, {a, 2, 5}, {b, 1, 0}, {b, 2, 3}, {b, 3, 4}}, got)
	}
	require.Equal(t, "f:7", Position{"f", 7, 9}.String())
}

func TestLineOverTheCap(t *testing.T) {
	const limit = 64 << 10
	good := strings.Repeat("g", limit)
	for _, end := range []string{"\n", "\r\n"} {
		for _, long := range []int{limit + 1, limit + 2, limit + 3, 2*limit + 17, 5 << 20} {
			in := "first" + end + strings.Repeat("x", long) + end + good + end + "last"
			for _, chunk := range []int{1, 1000, 256 << 10} {
				g := gather(t, stdin(strings.NewReader(in), WithMaxLine(limit), WithChunkBytes(chunk)))
				require.Equal(t, []string{"first", "<too long>", good, "last"}, g.texts())
				require.Equal(t, int64(long), g.lines[1].Length)
				require.Nil(t, g.lines[1].Data)
				require.Equal(t, Position{"-", 2, int64(5 + len(end))}, g.lines[1].Pos)
				require.Equal(t, int64(len(in)-4), g.lines[3].Pos.Offset)
				require.Equal(t, int64(len(in)), g.bytes)
			}
		}
	}
	t.Run("last, without end", func(t *testing.T) {
		g := gather(t, stdin(strings.NewReader("a\n"+strings.Repeat("x", 100)), WithMaxLine(9)))
		require.Equal(t, []string{"a", "<too long>"}, g.texts())
		require.Equal(t, int64(100), g.lines[1].Length)
	})
	t.Run("byte by byte", func(t *testing.T) {
		for n := range 12 {
			for _, end := range []string{"\n", "\r\n", "\r", ""} {
				in := "ab\n" + strings.Repeat("x", n) + end
				g := gather(t, stdin(iotest.OneByteReader(strings.NewReader(in)), WithMaxLine(4)))
				if n == 0 && end == "" {
					require.Equal(t, []string{"ab"}, g.texts())
					continue
				}
				require.Equal(t, n > 4, g.lines[1].TooLong, "%q", in)
				require.Equal(t, int64(n), g.lines[1].Length, "%q", in)
			}
		}
	})
}

// zeros is an endless line.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	for i := range p[:n] {
		p[i] = '0'
	}
	z.left -= int64(n)
	return n, nil
}

// However long a line is, what is kept of it is bounded.
func TestMemoryOfAnOverlongLine(t *testing.T) {
	const limit, length = 1 << 20, 200 << 20
	r := stdin(&zeros{left: length}, WithMaxLine(limit))
	c, err := r.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(length), c.Line(0).Length)
	require.LessOrEqual(t, cap(c.data), 2*(limit+readBuffer))
	require.NoError(t, r.Close())
}

func TestLongLineIsNotPooled(t *testing.T) {
	r := stdin(strings.NewReader(strings.Repeat("x", 100_000)+"\nb\n"), WithChunkBytes(1000))
	c, err := r.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(100_000), c.Line(0).Length)
	c.Release()
	c, err = r.Next(context.Background())
	require.NoError(t, err)
	require.Less(t, cap(c.data), 10_000)
	require.NoError(t, r.Close())
}

func TestChunksAreBounded(t *testing.T) {
	in := strings.Repeat("0123456789\n", 1000)
	r := stdin(strings.NewReader(in), WithChunkBytes(100))
	n := 0
	for {
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.LessOrEqual(t, c.Len(), 10)
		n += c.Len()
		c.Release()
	}
	require.Equal(t, 1000, n)
}

func TestReadErrorComesAfterTheGoodLines(t *testing.T) {
	broken := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader("a\nb\nunfin"), iotest.ErrReader(broken))
	g := gather(t, stdin(in))
	require.Equal(t, []string{"a", "b"}, g.texts())
	require.Len(t, g.errs, 1)
	require.ErrorIs(t, g.errs[0], broken)
	require.Contains(t, g.errs[0].Error(), "-:3: at byte 9")
	require.Contains(t, g.errs[0].Error(), "an unfinished line was not delivered, its length in bytes: 5")
	require.Equal(t, int64(4), g.bytes)
}

func TestInputsAfterABrokenOneAreRead(t *testing.T) {
	dir := writeFiles(t, map[string]string{"c.txt": "c\n"})
	missing := filepath.Join(dir, "a.txt")
	inputs := []Input{{Path: missing}, {Path: dir, Format: FormatText}, {Path: filepath.Join(dir, "x.bin")}, {Path: filepath.Join(dir, "x.csv")}, {Path: filepath.Join(dir, "c.txt")}}
	g := gather(t, newReader(inputs))
	require.Equal(t, []string{"c"}, g.texts())
	require.Len(t, g.errs, 4)
	require.ErrorIs(t, g.errs[0], os.ErrNotExist)
	require.Contains(t, g.errs[0].Error(), missing)
	require.Contains(t, g.errs[1].Error(), dir)
	require.ErrorIs(t, g.errs[2], ErrFormat)
	require.ErrorIs(t, g.errs[3], ErrFormat)
}

func TestCancelLosesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in := &pieces{list: []string{"a\nb\nc", "d\n", "e\n"}, before: func(i int) {
		if i == 1 {
			cancel()
		}
	}}
	r := stdin(in)
	for range 2 {
		_, err := r.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, 2, in.read, "no read after the cancel")
	g := gather(t, r)
	require.Equal(t, []string{"a", "b", "cd", "e"}, g.texts())
	require.Equal(t, int64(7), g.lines[3].Pos.Offset)
}

// pieces is a stream that arrives piece by piece.
type pieces struct {
	list   []string
	read   int
	before func(i int)
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.read == len(p.list) {
		return 0, io.EOF
	}
	p.before(p.read)
	p.read++
	return copy(b, p.list[p.read-1]), nil
}

func TestStreamWithoutProgress(t *testing.T) {
	for _, c := range []Compression{CompressionNone, CompressionAuto, CompressionGzip, CompressionZstd} {
		in := []Input{{Path: Stdin, Compression: c}}
		g := gather(t, newReader(in, WithStdin(emptyReader{})))
		require.Len(t, g.errs, 1)
		require.ErrorIs(t, g.errs[0], io.ErrNoProgress)
	}
}

// emptyReader gives nothing, for ever.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

// opened is an input that tells when it is closed.
type opened struct {
	io.Reader
	log  *[]string
	path string
}

func (o *opened) Close() error {
	*o.log = append(*o.log, "close "+o.path)
	return nil
}

// TestOpen gives the reader inputs that are not in the file system.
func TestOpen(t *testing.T) {
	failed := errors.New("failed")
	var log []string
	open := func(path string) (io.ReadCloser, error) {
		log = append(log, "open "+path)
		if path == "b.txt" {
			return nil, failed
		}
		return &opened{strings.NewReader("of " + path), &log, path}, nil
	}
	r := newReader([]Input{{Path: "a.txt"}, {Path: "b.txt"}, {Path: "c.txt"}}, WithOpen(open))
	g := gather(t, r)
	require.Equal(t, []string{"of a.txt", "of c.txt"}, g.texts())
	require.Len(t, g.errs, 1)
	require.ErrorIs(t, g.errs[0], failed)
	require.Equal(t, []string{"open a.txt", "close a.txt", "open b.txt", "open c.txt", "close c.txt"}, log)
	require.NoError(t, r.Close())
}

func TestCloseEndsTheStream(t *testing.T) {
	r := stdin(strings.NewReader("a\nb\n"), WithChunkLines(1))
	_, err := r.Next(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = r.Next(context.Background())
	require.Equal(t, io.EOF, err)
}

func TestReaderOptions(t *testing.T) {
	for _, o := range []ReaderOption{
		WithMaxLine(0), WithMaxLine(1<<30 + 1), WithChunkBytes(0), WithChunkBytes(1<<30 + 1),
		WithChunkLines(0), WithChunkLines(1<<24 + 1), WithMaxWindow(1023), WithMaxWindow(1<<30 + 1), WithStdin(nil), WithOpen(nil),
	} {
		_, err := NewReader(nil, o)
		require.ErrorIs(t, err, ErrOption)
	}
	_, err := newReader(nil).Next(context.Background())
	require.Equal(t, io.EOF, err)
}

func TestProgress(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.txt": "12345\n", "b.txt": "123\n"})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	r := newReader(inputs)
	read, total := r.Progress()
	require.Equal(t, [2]int64{0, 10}, [2]int64{read, total})
	gather(t, r)
	read, total = r.Progress()
	require.Equal(t, [2]int64{10, 10}, [2]int64{read, total})
	_, total = stdin(strings.NewReader("")).Progress()
	require.Equal(t, int64(-1), total)
}

// scanLines is the model: the standard library's idea of lines.
func scanLines(t testing.TB, data []byte) []string {
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, len(data)+2)
	out := []string{}
	for s.Scan() {
		out = append(out, s.Text())
	}
	require.NoError(t, s.Err())
	return out
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\xef\xbb\xbfc"), uint16(3), uint16(5))
	f.Add([]byte("\xef\xbb\xbf\r\r\n\n"), uint16(1), uint16(1))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01"), uint16(10), uint16(10))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00abc\n\n\n"), uint16(10), uint16(10))
	f.Add([]byte("\x50\x2a\x4d\x18\x02\x00\x00\x00ab\x28\xb5\x2f\xfd"), uint16(10), uint16(10))
	f.Fuzz(func(t *testing.T, data []byte, chunk, limit uint16) {
		opts := []ReaderOption{WithStdin(bytes.NewReader(data)), WithChunkBytes(int(chunk) + 1), WithMaxLine(int(limit) + 1)}
		plain := newReader([]Input{{Path: Stdin, Compression: CompressionNone}}, opts...)
		got := gather(t, plain)
		require.Empty(t, got.errs)
		want := scanLines(t, bytes.TrimPrefix(data, byteOrderMark))
		for i, w := range want {
			if len(w) > int(limit)+1 {
				require.Equal(t, int64(len(w)), got.lines[i].Length)
				want[i] = "<too long>"
			}
		}
		require.Equal(t, want, got.texts())

		// Whatever the bytes are taken for, reading ends and bytes add up.
		for _, c := range []Compression{CompressionAuto, CompressionGzip, CompressionZstd} {
			opts[0] = WithStdin(bytes.NewReader(data))
			g := gather(t, newReader([]Input{{Path: Stdin, Compression: c}}, append(opts, WithMaxWindow(1<<20))...))
			require.LessOrEqual(t, len(g.errs), 1)
		}
	})
}
