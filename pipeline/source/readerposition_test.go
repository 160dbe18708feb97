package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// memoryFiles are inputs in memory that count what is read of them.
type memoryFiles struct {
	names []string
	data  map[string][]byte
	pipes bool // they cannot be sought
	read  int64
}

func (m *memoryFiles) add(name string, data []byte) {
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	m.names = append(m.names, name)
	m.data[name] = data
}

func (m *memoryFiles) inputs() []Input {
	var out []Input
	for _, n := range m.names {
		out = append(out, Input{Path: n})
	}
	return out
}

func (m *memoryFiles) open(path string) (io.ReadCloser, error) {
	data, ok := m.data[path]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", path, os.ErrNotExist)
	}
	f := &memoryFile{bytes.NewReader(data), m}
	if m.pipes {
		return io.NopCloser(struct{ io.Reader }{f}), nil
	}
	return f, nil
}

type memoryFile struct {
	*bytes.Reader
	of *memoryFiles
}

func (f *memoryFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	f.of.read += int64(n)
	return n, err
}

func (f *memoryFile) WriteTo(io.Writer) (int64, error) { panic("not read by Read") }
func (f *memoryFile) Close() error                     { return nil }

// account is all that came of a reader and a decoder, chunks apart.
type account struct {
	Lines   []string
	Records []string
	Bad     []string
	Errs    []string
	Stats   Stats
}

// add takes one step of r; it returns false at the end.
func (a *account) add(t require.TestingT, r *Reader, d *Decoder) bool {
	return a.addUntil(context.Background(), t, r, d)
}

func (a *account) addUntil(ctx context.Context, t require.TestingT, r *Reader, d *Decoder) bool {
	c, err := r.Next(ctx)
	if err == io.EOF || err == context.Canceled {
		return false
	}
	if err != nil {
		a.Errs = append(a.Errs, err.Error())
		require.Less(t, len(a.Errs), 100, "the reader does not come to an end")
		return true
	}
	for i := range c.Len() {
		l := c.Line(i)
		a.Lines = append(a.Lines, fmt.Sprintf("%v@%d %q %d %t %t", l.Pos, l.Pos.Offset, l.Data, l.Length, l.TooLong, l.Padded))
	}
	records, err := d.Decode(c)
	require.NoError(t, err)
	c.Release()
	for i := range records.Len() {
		a.Records = append(a.Records, fmt.Sprintf("%v@%d %s %q %t", records.Pos(i), records.Pos(i).Offset, records.ID.At(i), records.Text.At(i), records.Padded(i)))
	}
	for _, b := range records.Bad {
		a.Bad = append(a.Bad, fmt.Sprintf("%v@%d %s %v %v", b.Pos, b.Pos.Offset, b.ID, b.Reason, b.Err))
	}
	a.Stats.Add(records.Stats)
	return true
}

// straight reads everything, and counts the steps.
func straight(t require.TestingT, inputs []Input, d *Decoder, opts ...ReaderOption) (a account, steps int) {
	r := newReader(inputs, opts...)
	for a.add(t, r, d) {
		steps++
	}
	require.NoError(t, r.Close())
	return a, steps
}

// saved is a position as it comes back from a file.
func saved(t require.TestingT, p ReaderPosition) ReaderPosition {
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.Less(t, len(raw), 400)
	var back ReaderPosition
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, p, back)
	return back
}

// requireResumable stops a reader after every step, and goes on in another.
func requireResumable(t require.TestingT, name string, inputs []Input, opts ...ReaderOption) {
	d, err := NewDecoder()
	require.NoError(t, err)
	want, steps := straight(t, inputs, d, opts...)
	for stop := 0; stop <= steps; stop++ {
		var got account
		r := newReader(inputs, opts...)
		for range stop {
			require.True(t, got.add(t, r, d))
		}
		p := saved(t, r.Position())
		require.NoError(t, r.Close())
		require.Equal(t, p, r.Position(), "closing does not move it")
		r = newReader(inputs, append(opts[:len(opts):len(opts)], WithPosition(p))...)
		require.Equal(t, p, r.Position(), "%s: where it was opened", name)
		for got.add(t, r, d) {
		}
		require.NoError(t, r.Close())
		require.Equal(t, want, got, "%s: stopped after step %d of %d at %+v", name, stop, steps, p)
	}
}

const bomText = "\xef\xbb\xbf"

// severalInputs are inputs of each kind, some damaged.
func severalInputs() *memoryFiles {
	long := strings.Repeat("x", 200)
	skip := skippableFrame(3, "skipped")
	m := &memoryFiles{}
	m.add("a.txt", []byte("one\r\ntwo\n\n\nthree\r\n"+long+"\nfour"))
	m.add("b.empty.txt", nil)
	m.add("c.jsonl", []byte(bomText+`{"id":1,"text":"p"}`+"\n  \n{\"id\":2}\n{bad\n"+bomText+`{"text":"q"}`+"\n\t"))
	m.add("d.jsonl.gz", gzipped(`{"id":1,"text":"p"}`+"\n"+`{"id":2,"text":"q"}`+"\n\n"+long+"\n"+`{"id":3,"text":"r"}`))
	m.add("e.txt.gz", append(gzipped(bomText+"1\n2\n", "", bomText, bomText+"3\n4", "5\n", bomText+"6\n", long[:150], long[:20]+"\n7\n", bomText), make([]byte, 30)...))
	m.add("f.txt.zst", append([]byte(skip), append(zstded(bomText+"1\n2\n", "", bomText, bomText+"3\n4", "5\n", bomText+"6\n", long[:150], long[:20]+"\n7\n", bomText), skip...)...))
	m.add("g.none.txt.gz", gzipped(""))
	cut := gzipped("a\nb\nc, which is open ", "and goes on", " in a third\nd\n")
	m.add("h.cut.txt.gz", cut[:len(cut)-14])
	m.add("i.missing.txt", nil)
	delete(m.data, "i.missing.txt")
	cut = zstded("a\nb\n", bomText, bomText+"open")
	m.add("j.cut.txt.zst", cut[:len(cut)-9])
	cut = zstded("a\nb\n", "c\nd\n")
	m.add("j.checksum.txt.zst", cut[:len(cut)-2])
	m.add("k.blank.jsonl", []byte("\n \n\t\r\n"))
	m.add("l.txt", []byte("last\r"))
	return m
}

var chunkSizes = []ReaderOption{WithChunkLines(1), WithChunkLines(2), WithChunkLines(5), WithChunkBytes(1), WithChunkBytes(9), WithChunkBytes(100), WithChunkBytes(1 << 20)}

func TestReadingGoesOnWhereItStopped(t *testing.T) {
	for _, pipes := range []bool{false, true} {
		m := severalInputs()
		m.pipes = pipes
		for i, size := range chunkSizes {
			requireResumable(t, fmt.Sprintf("pipes %t, size %d", pipes, i), m.inputs(), WithOpen(m.open), WithMaxLine(100), size)
		}
	}
}

func TestStandardInputIsReadUpToThePlace(t *testing.T) {
	for name, data := range map[string][]byte{
		"plain": []byte("a\nb\n\nc\n"), "gzip": gzipped("a\nb\n", "c\nd"), "zstd": zstded("a\nb\n", "c\nd"),
	} {
		inputs := []Input{{Path: Stdin, Format: FormatText}}
		var want []string
		for stop := range 4 {
			r := newReader(inputs, WithStdin(bytes.NewReader(data)), WithChunkLines(1))
			var got []string
			for range stop {
				c, err := r.Next(context.Background())
				require.NoError(t, err)
				got = append(got, string(c.Line(0).Data))
			}
			// A stream of which something has been read is no stream from its beginning, whether it
			// can be sought or not.
			again := bytes.NewReader(append([]byte("before"), data...))
			_, _ = again.Seek(6, io.SeekStart)
			r = newReader(inputs, WithStdin(again), WithChunkLines(1), WithPosition(r.Position()))
			got = append(got, gather(t, r).texts()...)
			if stop == 0 {
				want = got
			}
			require.Equal(t, want, got, name)
		}
		require.Len(t, want, 4)
	}
}

// Few bytes are read again: no more than a buffer, and the member or frame in which the
// place lies.
func TestSeekingDoesNotReadAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var parts []string
	for range 40 {
		var part strings.Builder
		for part.Len() < 100_000 {
			fmt.Fprintf(&part, "%x\n", random.Uint64())
		}
		parts = append(parts, part.String())
	}
	for name, data := range map[string][]byte{"a.txt": []byte(strings.Join(parts, "")), "b.txt.gz": gzipped(parts...), "c.txt.zst": zstded(parts...)} {
		m := &memoryFiles{}
		m.add("first.txt", bytes.Repeat([]byte("0123456789\n"), 100_000))
		m.add(name, data)
		r := newReader(m.inputs(), WithOpen(m.open))
		var at ReaderPosition
		for at.File == 0 || at.Offset < 3_900_000 {
			c, err := r.Next(context.Background())
			require.NoError(t, err)
			c.Release()
			at = r.Position()
		}
		require.NoError(t, r.Close())
		require.Greater(t, m.read, int64(len(data))*9/10)
		m.read = 0
		r = newReader(m.inputs(), WithOpen(m.open), WithPosition(at))
		c, err := r.Next(context.Background())
		require.NoError(t, err)
		require.Equal(t, Position{name, at.Lines + 1, at.Offset}, c.Line(0).Pos)
		// What is left, and a member: the whole of one is at most 100,017 bytes.
		left := int64(float64(4_000_000-at.Offset) / 4_000_000 * float64(len(data)))
		require.LessOrEqual(t, m.read, left+100_017+rawBuffer, name)
		require.NoError(t, r.Close())
	}
}

func TestProgressOfAReaderThatWasSought(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.txt": "12345\n", "b.txt": "1\n2\n", "c.txt.gz": string(gzipped("1\n", "2\n", "3\n")), "d.txt": "d",
	})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	r := newReader(inputs, WithChunkLines(1))
	for {
		at := r.Position()
		again := newReader(inputs, WithChunkLines(1), WithPosition(at))
		gather(t, again)
		read, total := again.Progress()
		require.Equal(t, total, read, "%+v", at)
		if _, err := r.Next(context.Background()); err == io.EOF {
			break
		}
	}
	require.NoError(t, r.Close())
}

func TestCancelOnTheWayLosesNothing(t *testing.T) {
	line := strings.Repeat("y", 1<<20) + "\n"
	for name, data := range map[string][]byte{"a.txt": []byte(strings.Repeat(line, 4) + "end\n"), "a.txt.gz": gzipped(strings.Repeat(line, 4) + "end\n")} {
		m := &memoryFiles{pipes: true}
		m.add(name, data)
		r := newReader(m.inputs(), WithOpen(m.open), WithChunkBytes(4<<20))
		_, err := r.Next(context.Background())
		require.NoError(t, err)
		at := r.Position()
		require.NoError(t, r.Close())

		r = newReader(m.inputs(), WithOpen(m.open), WithPosition(at))
		for calls := 1; ; calls++ {
			ctx := &doneAfter{Context: context.Background(), looks: 2}
			c, err := r.Next(ctx)
			if err == nil {
				require.Equal(t, "end", string(c.Line(0).Data))
				require.GreaterOrEqual(t, calls, 4, "a look at the context for each MiB")
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, at, r.Position())
			require.Less(t, calls, 100)
		}
		require.NoError(t, r.Close())
	}
}

// doneAfter is a context that is done after it has been looked at some times.
type doneAfter struct {
	context.Context
	looks int
}

func (d *doneAfter) Err() error {
	if d.looks--; d.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelAnywhereLosesNothing(t *testing.T) {
	m := severalInputs()
	d := newDecoder(t)
	for _, shard := range []ReaderOption{WithShard(0, 1, pipeline.Uneven), WithShard(1, 4, pipeline.Drop), WithShard(2, 4, pipeline.Pad)} {
		opts := []ReaderOption{WithOpen(m.open), WithMaxLine(100), WithChunkLines(3), shard}
		want, _ := straight(t, m.inputs(), d, opts...)
		for looks := range 80 {
			r := newReader(m.inputs(), opts...)
			var got account
			ctx := &doneAfter{Context: context.Background(), looks: looks}
			for got.addUntil(ctx, t, r, d) {
			}
			at := r.Position()
			require.NoError(t, r.Close())
			r = newReader(m.inputs(), append(opts[:4:4], WithPosition(at))...)
			for got.add(t, r, d) {
			}
			require.NoError(t, r.Close())
			require.Equal(t, want, got)
		}
	}
}

func TestPositionsThatDoNotFit(t *testing.T) {
	inputs := []Input{{Path: "a.txt"}, {Path: "b.txt.gz"}}
	for name, p := range map[string]ReaderPosition{
		"another path":        {File: 0, Path: "x.txt"},
		"no path":             {File: 1},
		"too many files":      {File: 3},
		"negative file":       {File: -1, Path: "a.txt"},
		"behind the last":     {File: 2, Path: "c.txt"},
		"offset at the end":   {File: 2, Offset: 1, Compression: "none"},
		"negative offset":     {Path: "a.txt", Offset: -1, Compression: "none"},
		"no compression":      {Path: "a.txt", Offset: 1},
		"unknown compression": {Path: "a.txt", Offset: 1, Compression: "lz4"},
		"auto":                {Path: "a.txt", Offset: 1, Compression: "auto"},
		"skips too much":      {Path: "a.txt", Offset: 1, Skip: 2, Compression: "gzip"},
		"member of plain":     {Path: "a.txt", Offset: 5, Member: 2, Compression: "none"},
		"lines of nothing":    {Path: "a.txt", Lines: 2},
		"negative index":      {Path: "a.txt", Index: -1},
		"padded inside":       {Path: "a.txt", Padded: true},
	} {
		_, err := NewReader(inputs, WithPosition(p))
		require.ErrorIs(t, err, ErrPosition, name)
	}
}

// The rest of the inputs is read after an input that does not fit.
func TestInputsThatDoNotFitThePosition(t *testing.T) {
	member := int64(len(gzipped("a\nb\n")))
	for _, c := range []struct {
		name string
		data []byte
		p    ReaderPosition
		say  string
	}{
		{"a.txt", []byte("a\nb\n"), ReaderPosition{Offset: 5, Compression: "none"}, "4 bytes, the place is at byte 5"},
		{"a.txt", []byte("a\nb\n"), ReaderPosition{Offset: 8, Member: 3, Compression: "gzip"}, "no gzip data begin there"},
		{"a.gz", gzipped("a\nb\n"), ReaderPosition{Offset: 5, Skip: 5, Compression: "gzip"}, "shorter than it was"},
		{"a.gz", gzipped("a\nb\n", "c\n"), ReaderPosition{Offset: 8, Member: member, Skip: 4, Compression: "gzip"}, "shorter than it was"},
		{"a.gz", gzipped("a\nb\n", "c\n"), ReaderPosition{Offset: 8, Member: member + 1, Skip: 4, Compression: "gzip"}, "no gzip data"},
		{"a.gz", gzipped("a\nb\n"), ReaderPosition{Offset: 8, Member: 900, Skip: 4, Compression: "gzip"}, "the place is at byte 900"},
		{"a.gz", gzipped("a\nb\n"), ReaderPosition{Offset: 2, Skip: 2, Compression: "zstd"}, "no zstd data"},
		{"a.zst", zstded("a\nb\n"), ReaderPosition{Offset: 2, Skip: 2, Compression: "gzip"}, "no gzip data"},
		{"a.zst", zstded("a\nb\n"), ReaderPosition{Offset: 7, Skip: 7, Compression: "zstd"}, "shorter than it was"},
		{"a.gz", gzipped("a\nb\n")[:14], ReaderPosition{Offset: 900, Skip: 900, Compression: "gzip"}, "EOF"},
	} {
		for _, pipes := range []bool{false, true} {
			m := &memoryFiles{pipes: pipes}
			m.add("x."+c.name, c.data)
			m.add("z.txt", []byte("last\n"))
			inputs := m.inputs()
			inputs[0].Format = FormatText
			c.p.Path = inputs[0].Path
			g := gather(t, newReader(inputs, WithOpen(m.open), WithPosition(c.p)))
			require.Equal(t, []string{"last"}, g.texts())
			require.Len(t, g.errs, 1)
			require.ErrorIs(t, g.errs[0], ErrPosition)
			require.Contains(t, g.errs[0].Error(), c.p.Path)
			if !pipes {
				require.Contains(t, g.errs[0].Error(), c.say)
			}
		}
	}
}

func TestReadErrorOnTheWay(t *testing.T) {
	open := func(string) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("a\n"), brokenReader{})), nil
	}
	g := gather(t, newReader([]Input{{Path: "a.txt"}}, WithOpen(open), WithPosition(ReaderPosition{Path: "a.txt", Offset: 6, Compression: "none"})))
	require.Empty(t, g.lines)
	require.Len(t, g.errs, 1)
	require.ErrorIs(t, g.errs[0], io.ErrClosedPipe)
}

// A disk that fails is not a file that is corrupt.
func TestReadErrorInsideAFrameOnTheWay(t *testing.T) {
	data := zstded(strings.Repeat("0123456789\n", 100_000))
	open := func(string) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(data[:len(data)-20]), brokenReader{})), nil
	}
	g := gather(t, newReader([]Input{{Path: "a.txt"}}, WithOpen(open), WithPosition(ReaderPosition{Path: "a.txt", Offset: 1_100_000, Skip: 1_100_000, Compression: "zstd"})))
	require.Len(t, g.errs, 1)
	require.ErrorIs(t, g.errs[0], io.ErrClosedPipe)
	require.NotErrorIs(t, g.errs[0], ErrCorrupt)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Inputs, chunk sizes, shards and stops at random.
func TestResumedReadingEqualsStraightReading(t *testing.T) {
	piece := rapid.SampledFrom([]string{"", "a", "\n", "\r\n", "\r", " ", "b\nc\n", bomText, bomText + "d\n", strings.Repeat("z", 30), `{"text":"e"}` + "\n", "\n\n\n", "\t\n"})
	part := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		m := &memoryFiles{pipes: rapid.Bool().Draw(t, "pipes")}
		for i := range rapid.IntRange(0, 4).Draw(t, "files") {
			parts := rapid.SliceOfN(part, 1, 4).Draw(t, "parts")
			format := rapid.SampledFrom([]string{"txt", "jsonl"}).Draw(t, "format")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				m.add(fmt.Sprintf("%d.%s", i, format), []byte(strings.Join(parts, "")))
			case 1:
				m.add(fmt.Sprintf("%d.%s.gz", i, format), gzipped(parts...))
			default:
				m.add(fmt.Sprintf("%d.%s.zst", i, format), zstded(parts...))
			}
			if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
				name := m.names[i]
				m.data[name] = m.data[name][:rapid.IntRange(0, len(m.data[name])).Draw(t, "length")]
			}
		}
		world := rapid.IntRange(1, 4).Draw(t, "world")
		requireResumable(t, "", m.inputs(), WithOpen(m.open),
			WithMaxLine(rapid.IntRange(1, 40).Draw(t, "cap")), WithChunkBytes(rapid.IntRange(1, 60).Draw(t, "bytes")), WithChunkLines(rapid.IntRange(1, 5).Draw(t, "lines")),
			WithShard(rapid.IntRange(0, world-1).Draw(t, "rank"), world, pipeline.ShardMode(rapid.IntRange(0, 2).Draw(t, "mode"))))
	})
}

// No position makes a reader panic, or read for ever.
func FuzzPosition(f *testing.F) {
	m := goodInputs()
	r := newReader(m.inputs(), WithOpen(m.open), WithChunkLines(3), WithShard(1, 3, pipeline.Drop))
	for {
		raw, err := json.Marshal(r.Position())
		require.NoError(f, err)
		f.Add(raw, uint8(1), uint8(2))
		if _, err := r.Next(context.Background()); err == io.EOF {
			break
		}
	}
	require.NoError(f, r.Close())
	f.Add([]byte(`{"file":10,"index":9223372036854775807}`), uint8(2), uint8(1))
	f.Add([]byte(`{"file":0,"path":"a.txt","compression":"none","offset":9223372036854775807,"lines":9223372036854775807}`), uint8(2), uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, rank, mode uint8) {
		var p ReaderPosition
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		r, err := NewReader(m.inputs(), WithOpen(m.open), WithPosition(p), WithShard(int(rank%4), 4, pipeline.ShardMode(mode%3)))
		if err != nil {
			require.ErrorIs(t, err, ErrPosition)
			return
		}
		gather(t, r)
	})
}
