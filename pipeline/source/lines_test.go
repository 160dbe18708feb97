package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// drain takes all that a cursor gives, as text, with errors in their places. It
// stops after the first one that ends a stream.
func drain[T any](t require.TestingT, c pipeline.Cursor[T], show func(T) string) []string {
	out := []string{}
	for {
		v, err := c.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.Less(t, len(out), 10_000, "the cursor does not come to an end")
		if err != nil {
			out = append(out, "error: "+err.Error())
			if endsStream(err) {
				break
			}
			continue
		}
		out = append(out, show(v))
	}
	return out
}

// endsStream reports whether err is marked by pipeline.Fatal, by the name of its type: what
// it wraps is one of the errors of this package.
func endsStream(err error) bool {
	return fmt.Sprintf("%T", err) == fmt.Sprintf("%T", pipeline.Fatal(io.EOF))
}

func showChunk(c *Chunk) string {
	defer c.Release()
	var b strings.Builder
	for i := range c.Len() {
		l := c.Line(i)
		fmt.Fprintf(&b, "%v@%d %q %t|", l.Pos, l.Pos.Offset, l.Data, l.TooLong)
	}
	return b.String()
}

func positionOf(t require.TestingT, c any) json.RawMessage {
	raw, err := json.Marshal(c.(pipeline.Positioner).Position())
	require.NoError(t, err)
	return raw
}

// requireCursorResumes stops a cursor before every element and goes on in another.
func requireCursorResumes[T any](t require.TestingT, src pipeline.Source[T], show func(T) string) []string {
	open := func(at json.RawMessage) pipeline.Cursor[T] {
		c, err := src.Open(context.Background(), pipeline.Start{Position: at})
		require.NoError(t, err)
		return c
	}
	c := open(nil)
	want := drain(t, c, show)
	require.NoError(t, c.Close())
	for stop := range len(want) {
		c := open(nil)
		for range stop {
			_, _ = c.Next(context.Background())
		}
		at := positionOf(t, c)
		require.NoError(t, c.Close())
		c = open(at)
		require.Equal(t, want[stop:], drain(t, c, show), "after %d at %s", stop, at)
		require.NoError(t, c.Close())
	}
	return want
}

func goodInputs() *memoryFiles {
	m := severalInputs()
	for _, name := range []string{"h.cut.txt.gz", "i.missing.txt", "j.cut.txt.zst", "j.checksum.txt.zst"} {
		i := 0
		for m.names[i] != name {
			i++
		}
		m.names = append(m.names[:i:i], m.names[i+1:]...)
	}
	return m
}

func TestLinesResume(t *testing.T) {
	m := goodInputs()
	for _, size := range chunkSizes {
		got := requireCursorResumes(t, Lines(m.inputs(), WithOpen(m.open), WithMaxLine(100), size), showChunk)
		require.NotContains(t, strings.Join(got, "\n"), "error")
	}
}

func TestAnInputThatFailsEndsTheLines(t *testing.T) {
	m := severalInputs()
	m.names = m.names[7:9] // one that is cut off, one that is missing
	src := Lines(m.inputs(), WithOpen(m.open))
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	got := drain(t, c, showChunk)
	require.Len(t, got, 2)
	require.Contains(t, got[0], `"b"`)
	require.Contains(t, got[1], "cut off")
	_, err = c.Next(context.Background())
	require.ErrorContains(t, err, "i.missing.txt")
	require.True(t, endsStream(err))
	_, err = c.Next(context.Background())
	require.Equal(t, io.EOF, err)
	require.NoError(t, c.Close())
	require.True(t, endsStream(pipeline.Fatal(err)))
	require.False(t, endsStream(err))
}

func TestErrorOfTheContextIsNotMarked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := goodInputs()
	lines, err := Lines(m.inputs(), WithOpen(m.open)).Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	_, err = lines.Next(ctx)
	require.Equal(t, context.Canceled, err)
	require.NoError(t, lines.Close())
}

func TestSourcesRefusePositions(t *testing.T) {
	m := goodInputs()
	lines, records := Lines(m.inputs(), WithOpen(m.open)), JSONL(m.inputs(), WithOpen(m.open))
	for _, raw := range []string{"1", "null", "{", `{"x":1}`, `{"file":99}`, `{"file":"a"}`, `{"chunk":{"file":99}}`, `{"chunk":{"file":0},"taken":-1}`} {
		_, err := lines.Open(context.Background(), pipeline.Start{Position: json.RawMessage(raw)})
		require.ErrorIs(t, err, ErrPosition, raw)
		_, err = records.Open(context.Background(), pipeline.Start{Position: json.RawMessage(raw)})
		require.ErrorIs(t, err, ErrPosition, raw)
	}
	_, err := Lines(nil, WithMaxLine(0)).Open(context.Background(), pipeline.Start{})
	require.ErrorIs(t, err, ErrOption)
	_, err = JSONL(nil, WithMaxLine(0)).Open(context.Background(), pipeline.Start{})
	require.ErrorIs(t, err, ErrOption)
	require.Contains(t, Lines(nil, WithMaxLine(0)).Describe(), "0 files")
}

func TestCounts(t *testing.T) {
	ctx := context.Background()
	m := goodInputs()
	d := newDecoder(t)
	whole, steps := straight(t, m.inputs(), d, WithOpen(m.open), WithMaxLine(100), WithChunkLines(2))
	n, err := Lines(m.inputs(), WithOpen(m.open), WithMaxLine(100), WithChunkLines(2)).Count(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(steps), n)
	n, err = Lines(m.inputs(), WithOpen(m.open), WithMaxLine(100)).CountLines(ctx)
	require.NoError(t, err)
	require.Equal(t, whole.Stats.Records+whole.Stats.Rejected, n)
	for _, world := range []int{1, 2, 7, 29} {
		for rank := 0; rank < world; rank += 1 + world/6 {
			for _, mode := range shardModes {
				opts := []ReaderOption{WithOpen(m.open), WithMaxLine(100), WithShard(rank, world, mode)}
				a, _ := straight(t, m.inputs(), d, opts...)
				got, err := Lines(m.inputs(), opts...).CountLines(ctx)
				require.NoError(t, err)
				require.Equal(t, int64(len(a.Records)+len(a.Bad)), got, "rank %d of %d, %v", rank, world, mode)
			}
		}
	}

	m = severalInputs()
	m.names = m.names[6:9]
	n, err = Lines(m.inputs(), WithOpen(m.open)).CountLines(ctx)
	require.ErrorIs(t, err, ErrTruncated)
	require.Equal(t, int64(3), n)
	_, err = Lines(m.inputs(), WithOpen(m.open)).Count(ctx)
	require.ErrorIs(t, err, ErrTruncated)
}

func TestLinesByFile(t *testing.T) {
	m := goodInputs()
	src := Lines(m.inputs(), WithOpen(m.open), WithMaxLine(100))
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	want := drain(t, c, showChunk)
	require.NoError(t, c.Close())
	var got []string
	for rank := range 3 {
		part, err := src.ShardFiles(rank, 3)
		require.NoError(t, err)
		c, err := part.Open(context.Background(), pipeline.Start{})
		require.NoError(t, err)
		got = append(got, drain(t, c, showChunk)...)
		require.NoError(t, c.Close())
	}
	require.ElementsMatch(t, want, got)
	_, err = src.ShardFiles(3, 3)
	require.ErrorIs(t, err, ErrOption)
	_, err = JSONL(nil).ShardFiles(3, 3)
	require.ErrorIs(t, err, ErrOption)
}

// What changes the elements changes the description; what does not, does not.
func TestDescriptions(t *testing.T) {
	a := []Input{{Path: "a.txt"}, {Path: "b.txt"}}
	base := Lines(a)
	require.Equal(t, base.Describe(), Lines(a, WithOpen(openFile), WithStdin(strings.NewReader("")), WithMaxWindow(1<<20)).Describe())
	require.Contains(t, base.Describe(), `"a.txt" "b.txt"`)
	require.NotContains(t, Lines([]Input{{Path: "a\nb"}}).Describe(), "\n")
	seen := map[string]bool{base.Describe(): true}
	for i, other := range []pipeline.Describer{
		Lines(a[:1]), Lines([]Input{a[1], a[0]}), Lines([]Input{{Path: "a.txt", Format: FormatJSONL}, a[1]}),
		Lines(a, WithMaxLine(5)), Lines(a, WithChunkBytes(5)), Lines(a, WithChunkLines(5)),
		Lines(a, WithShard(0, 2, pipeline.Uneven)), Lines(a, WithShard(1, 2, pipeline.Uneven)), Lines(a, WithShard(1, 2, pipeline.Drop)),
		JSONL(a), JSONL(a[:1]),
	} {
		require.False(t, seen[other.Describe()], "%d: %s", i, other.Describe())
		seen[other.Describe()] = true
	}
}

func TestSourcesTellTheirProgress(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.jsonl": "1\n22\n"})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	lines, records := Lines(inputs), JSONL(inputs)
	for _, s := range []interface{ Progress() (int64, int64) }{lines, records} {
		read, total := s.Progress()
		require.Equal(t, [2]int64{}, [2]int64{read, total})
	}
	c, err := lines.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	drain(t, c, showChunk)
	require.NoError(t, c.Close())
	r, err := records.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	drain(t, r, func(Record) string { return "" })
	require.NoError(t, r.Close())
	for _, s := range []interface{ Progress() (int64, int64) }{lines, records} {
		read, total := s.Progress()
		require.Equal(t, [2]int64{5, 5}, [2]int64{read, total})
	}
}
