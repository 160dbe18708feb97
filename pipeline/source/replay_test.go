package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// endless is how many elements are read of a source that does not end.
const endless = 40

// replay reads a source from a position until it ends or limit is reached. Elements become
// text, and so do errors; before each element the position is taken, if the cursor
// tells any.
func replay[T any](t testing.TB, src pipeline.Source[T], at pipeline.Start, limit int) (got []string, positions []json.RawMessage) {
	t.Helper()
	ctx := context.Background()
	c, err := src.Open(ctx, at)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	got = []string{}
	for len(got) < limit {
		if p, ok := c.(pipeline.Positioner); ok {
			raw, err := json.Marshal(p.Position())
			require.NoError(t, err)
			positions = append(positions, raw)
		}
		v, err := c.Next(ctx)
		if err == io.EOF {
			_, again := c.Next(ctx)
			require.Equal(t, io.EOF, again, "an end does not last")
			break
		}
		got = append(got, outcome(v, err))
	}
	return got, positions
}

// outcome is an element or error as text.
func outcome(v any, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	switch v := v.(type) {
	case Row:
		return fmt.Sprintf("%v %q", v.Pos.Line, v.Fields)
	case File:
		return filepath.Base(v.Path)
	case Image:
		return fmt.Sprintf("%s/%s %d", v.Class, filepath.Base(v.Path), v.Label)
	case padded:
		return fmt.Sprintf("%d %t", v.value, v.padded)
	}
	return fmt.Sprint(v)
}

// padded is an element that can be marked.
type padded struct {
	value  int64
	padded bool
}

func (p padded) AsPadding() padded { p.padded = true; return p }

// unseekable hides the positions of a source, and counts how its elements are read.
type unseekable[T any] struct {
	pipeline.Source[T]
	reads *int
}

type unseekableCursor[T any] struct {
	in    pipeline.Cursor[T]
	reads *int
}

func (u unseekable[T]) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	at.Position = nil
	c, err := u.Source.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &unseekableCursor[T]{c, u.reads}, nil
}

func (u *unseekableCursor[T]) Next(ctx context.Context) (T, error) {
	if u.reads != nil {
		*u.reads++
	}
	return u.in.Next(ctx)
}
func (u *unseekableCursor[T]) Close() error { return u.in.Close() }

// numbers returns the source of from to to−1; those in bad are errors.
func numbers(from, to int64, bad ...int64) pipeline.Source[int64] {
	return Generate(to-from, func(i int64) (int64, error) {
		for _, b := range bad {
			if b == from+i {
				return 0, fmt.Errorf("bad %d", b)
			}
		}
		return from + i, nil
	})
}

// replayCase is a source with what it must give.
type replayCase struct {
	name string
	run  func(t *testing.T)
}

// replayed makes a case of a source. want is what an epoch gives; none if that is
// tested elsewhere.
func replayed[T any](name string, src pipeline.Source[T], want ...string) replayCase {
	return replayCase{name, func(t *testing.T) {
		start := pipeline.Start{Epoch: 3, Seed: 7}
		got, positions := replay(t, src, start, endless)
		if want != nil {
			require.Equal(t, want, got)
		}
		require.NotEmpty(t, positions)
		for k, p := range positions {
			start.Position = p
			rest, further := replay(t, src, start, endless-k)
			require.Equal(t, got[k:], rest, "from position %s before element %d", p, k)
			if len(further) > 0 {
				require.JSONEq(t, string(p), string(further[0]), "a position that is taken at once is another one")
			}
		}
	}}
}

// TestReplay opens every source where it stood before each of its elements.
func TestReplay(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"files/a": "1", "files/b": "22", "files/sub/c": "",
		"images/cat/1.png": "", "images/cat/2.JPG": "", "images/dog/1.png": "",
		"csv/a.csv": "x,y\n1,2\n\n\"3\n4\",5\n6\n7,8", "csv/b.csv": "", "csv/c.csv": "\xef\xbb\xbfx,y\r\n9,0\r\n",
	})
	csv := must(CSV([]string{filepath.Join(dir, "csv")}))
	at := func(name string) string { return filepath.Join(dir, "csv", name) }
	short := "error: " + at("a.csv") + ":6: source: wrong number of fields: 1, the header has 2"

	small := func() []pipeline.Source[int64] {
		return []pipeline.Source[int64]{numbers(0, 7, 3), unseekable[int64]{numbers(100, 105, 101), nil}, numbers(200, 200)}
	}
	weights := []float64{2, 1, 0.5}
	mix := func(e Exhaustion) pipeline.Source[int64] {
		return must(Mix(small(), weights, WithExhaustion(e)))
	}
	ring := func(n int, opts ...RingOption) pipeline.Source[int64] {
		return must(RingOf(numbers(0, 4, 1), n, opts...))
	}
	sampler := func(n int64, rank, world int, opts ...SamplerOption) pipeline.Source[int64] {
		return must(DistributedSampler[int64](Generate(n, func(i int64) (int64, error) { return i, nil }), rank, world, opts...))
	}
	for _, c := range []replayCase{
		replayed[string]("memory", Memory([]string{"a", "b", "c"}), "a", "b", "c"),
		replayed[string]("memory of none", Memory[string](nil), []string{}...),
		replayed("generate", numbers(0, 4, 2), "0", "1", "error: source: element 2: bad 2", "3"),
		replayed[File]("glob", must(Glob([]string{filepath.Join(dir, "files")})), "a", "b", "c"),
		replayed[Image]("image folder", must(ImageFolder(filepath.Join(dir, "images"))), "cat/1.png 0", "cat/2.JPG 0", "dog/1.png 1"),
		replayed[Row]("csv", csv, `2 ["1" "2"]`, `4 ["3\n4" "5"]`, short, `7 ["7" "8"]`, `2 ["9" "0"]`),
		replayed[Row]("csv without header", must(CSV([]string{at("a.csv")}, WithHeader(false))),
			`1 ["x" "y"]`, `2 ["1" "2"]`, `4 ["3\n4" "5"]`, strings.Replace(short, "header", "first row", 1), `7 ["7" "8"]`),
		replayed[string]("ring", must(Ring([]string{"a", "b"}, WithLaps(2))), "a", "b", "a", "b"),
		replayed[string]("ring of none", must(Ring[string](nil)), []string{}...),
		replayed[string]("endless ring", must(Ring([]string{"a", "b"}))),
		replayed("ring of a source", ring(9, WithLaps(2)), "0", "error: source: element 1: bad 1", "2", "3", "0", "2", "3"),
		replayed("ring of a part", ring(2, WithLaps(3)), "0", "error: source: element 1: bad 1", "2", "0", "2", "0", "2"),
		replayed("one lap", ring(2, WithLaps(1)), "0", "error: source: element 1: bad 1", "2"),
		replayed("endless ring of a source", ring(2)),
		replayed("sampler", sampler(10, 1, 4, WithShuffle(false)), "1", "5", "9"),
		replayed("shuffled sampler", sampler(100, 1, 4)),
		replayed("interleave", must(Interleave(2, numbers(1, 2), unseekable[int64]{numbers(2, 5), nil}, numbers(9, 9), numbers(5, 7))),
			"1", "2", "5", "3", "6", "4"),
		replayed("interleave with errors", must(Interleave(3, numbers(0, 3, 1), numbers(10, 12, 10))),
			"0", "error: source: element 0: bad 10", "error: source: element 1: bad 1", "11", "2"),
		replayed("interleave of none", must(Interleave[int64](3)), []string{}...),
		replayed("mix, stop all", mix(StopAll)),
		replayed("mix, stop first", mix(StopFirst)),
		replayed("mix, repeat", mix(RepeatUntilAll)),
		replayed[int64]("nested", must(Interleave(2, mix(StopAll), pipeline.Source[int64](must(Interleave(2, small()...)))))),
	} {
		t.Run(c.name, c.run)
	}
}

// must is the value of a constructor that cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestCount holds what sources count against what they give.
func TestCount(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "x\n1\n2,3\n\n4\n", "b.csv": "x\n5\n"})
	files := []string{dir}
	good := func(from, to int64) pipeline.Source[int64] { return numbers(from, to) }
	for _, c := range []struct {
		name string
		src  any
		want int64 // −1: the error is ErrNoCount
	}{
		{"memory", Memory([]int64{1, 2}), 2},
		{"generate", numbers(0, 5), 5},
		{"glob", must(Glob(files)), 2},
		{"csv", must(CSV(files)), 3},
		{"csv without header", must(CSV(files, WithHeader(false))), 5},
		{"ring", must(Ring([]int64{1, 2}, WithLaps(3))), 6},
		{"ring of a part", must(RingOf(good(0, 9), 4, WithLaps(2))), 8},
		{"ring of few", must(RingOf(good(0, 3), 4, WithLaps(2))), 6},
		{"endless ring", must(Ring([]int64{1, 2})), -1},
		{"endless ring of none", must(Ring([]int64{})), 0},
		{"too many laps", must(Ring([]int64{1, 2, 3}, WithLaps(1<<62))), -1},
		{"mix", must(Mix([]pipeline.Source[int64]{good(0, 3), good(0, 4)}, []float64{1, 2})), 7},
		{"mix, stop first", must(Mix([]pipeline.Source[int64]{good(0, 3)}, []float64{1}, WithExhaustion(StopFirst))), -1},
		{"mix of one that does not count", must(Mix([]pipeline.Source[int64]{unseekable[int64]{good(0, 3), nil}}, []float64{1})), -1},
		{"interleave", must(Interleave(2, good(0, 3), good(0, 4))), 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := c.src.(pipeline.Counter).Count(context.Background())
			if c.want < 0 {
				require.ErrorIs(t, err, ErrNoCount)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, n)
		})
	}
}

// TestHostilePositions opens every source at positions that no cursor told.
func TestHostilePositions(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "x,y\n1,2\n3,4\n", "c/1.png": "", "z.csv.gz": ""})
	path := filepath.Join(dir, "a.csv")
	quoted := string(must(json.Marshal(path)))
	open := func(src any, position string) error {
		at := pipeline.Start{Position: json.RawMessage(position)}
		ctx := context.Background()
		var c io.Closer
		var err error
		switch src := src.(type) {
		case pipeline.Source[int64]:
			c, err = src.Open(ctx, at)
		case pipeline.Source[Row]:
			c, err = src.Open(ctx, at)
		case pipeline.Source[File]:
			c, err = src.Open(ctx, at)
		case pipeline.Source[Image]:
			c, err = src.Open(ctx, at)
		}
		if err == nil {
			require.NoError(t, c.Close())
		}
		return err
	}
	index := []string{`{"index":-1}`, `{"index":4}`, `{"index":9223372036854775807}`}
	two := []pipeline.Source[int64]{numbers(0, 3), unseekable[int64]{numbers(0, 3), nil}}
	for _, c := range []struct {
		name      string
		src       any
		positions []string
	}{
		{"memory", Memory([]int64{1, 2, 3}), index},
		{"generate", numbers(0, 3), index},
		{"glob", must(Glob([]string{path})), index},
		{"image folder", must(ImageFolder(dir)), index},
		{"sampler", must(DistributedSampler[int64](Memory([]int64{1, 2, 3}), 0, 1)), index},
		{"ring", must(Ring([]int64{1, 2, 3}, WithLaps(2))), []string{
			`{"lap":-1}`, `{"lap":3}`, `{"index":-1}`, `{"index":4}`, `{"lap":2,"index":1}`, `{"items":1}`, `{"items":-1}`, `{"lap":9223372036854775807}`,
		}},
		{"ring of a source", must(RingOf(numbers(0, 3, 1), 5, WithLaps(2))), []string{
			`{"read":4,"items":3,"index":3}`, `{"read":-1}`, `{"read":2,"items":2,"index":2}`, `{"read":2,"items":1,"index":0}`, `{"lap":1}`,
			`{"lap":1,"read":3,"items":2,"index":3}`, `{"lap":3,"read":3,"items":2}`, `{"lap":-1,"read":3,"items":2,"index":2}`,
		}},
		{"csv", must(CSV([]string{path})), []string{
			`{"file":-1}`, `{"file":2}`, `{"file":0,"path":"other"}`, `{"file":0}`, `{"file":1,"path":` + quoted + `}`, `{"file":1,"offset":4}`,
			`{"file":0,"path":` + quoted + `,"offset":-1}`, `{"file":0,"path":` + quoted + `,"offset":99,"line":3}`,
			`{"file":0,"path":` + quoted + `,"offset":9223372036854775807,"line":3}`,
			`{"file":0,"path":` + quoted + `,"offset":5,"line":1}`, `{"file":0,"path":` + quoted + `,"offset":2,"line":1}`,
			`{"file":0,"path":` + quoted + `,"offset":4,"line":0}`, `{"file":0,"path":` + quoted + `,"offset":8,"line":99}`,
			`{"file":0,"path":` + quoted + `,"offset":4,"line":3}`, `{"file":0,"path":` + quoted + `,"offset":8,"line":2,"fields":2}`,
		}},
		{"csv without header", must(CSV([]string{path}, WithHeader(false))), []string{
			`{"file":0,"path":` + quoted + `,"offset":8,"line":2,"fields":-1}`, `{"file":0,"path":` + quoted + `,"offset":8,"line":2,"fields":10}`,
			`{"file":0,"path":` + quoted + `,"offset":9223372036854775807,"line":2,"fields":9223372036854775807}`,
		}},
		{"mix", must(Mix(two, []float64{1, 1})), []string{
			`{"draws":1,"children":[{"at":{}}]}`, `{"draws":-1,"children":[{"at":{}},{"at":{}}]}`,
			`{"draws":1,"children":[{"at":{"at":{"index":9}}},{"at":{}}]}`, `{"draws":1,"children":[{"at":{}},{"at":{"read":4}}]}`,
			`{"draws":1,"children":[{"at":{}},{"at":{"read":-1}}]}`, `{"draws":1,"children":[{"at":{}},{"at":{"at":{"index":1}}}]}`,
			`{"draws":1,"children":[{"at":{"at":{"index":1},"read":1}},{"at":{}}]}`, `{"draws":1,"children":[{"at":{},"gone":true},{"at":{}}]}`,
		}},
		{"interleave", must(Interleave(2, two...)), []string{
			`{"turn":-1,"begun":0}`, `{"turn":1,"begun":0}`, `{"turn":0,"begun":-1}`, `{"turn":0,"begun":3}`,
			`{"turn":0,"begun":1,"slots":[{"source":0,"at":{}}]}`, `{"turn":1,"begun":1,"slots":[{"source":1,"at":{}}]}`,
			`{"turn":1,"begun":2,"slots":[{"source":0,"at":{}},{"source":0,"at":{}}]}`, `{"turn":1,"begun":1,"slots":[{"source":-1,"at":{}}]}`,
			`{"turn":2,"begun":1,"slots":[{"source":0,"at":{}},{"source":0,"at":{}}]}`, `{"turn":1,"begun":1,"slots":[{"source":0,"at":{"read":9}}]}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			common := []string{``, ` `, `null`, `7`, `"x"`, `[]`, `{`, `{"index":`, `{"other":1}`, `{} {}`, `{"index":1.5}`, `{"index":"1"}`, `{"file":1e99}`, "\x00"}
			for _, p := range append(common, c.positions...) {
				require.ErrorIs(t, open(c.src, p), ErrPosition, p)
			}
		})
	}
	t.Run("a file that has vanished", func(t *testing.T) {
		src := must(CSV([]string{path}))
		require.NoError(t, open(src, `{"file":0,"path":`+quoted+`,"offset":8,"line":2}`))
		require.NoError(t, os.Remove(path))
		require.ErrorIs(t, open(src, `{"file":0,"path":`+quoted+`,"offset":8,"line":2}`), os.ErrNotExist)
	})
}
