package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rec is an element of the tests: the numbers of the records of the source that it
// came from, changed by the stages on the way.
type rec struct {
	V    []int  `json:"v"`
	Rand uint64 `json:"-"` // what MapRand drew
	Pad  bool   `json:"pad,omitempty"`
}

// AsPadding implements [PadMarker].
func (r rec) AsPadding() rec {
	r.Pad = true
	return r
}

var errBad = errors.New("a bad record")

// numbers is a source whose records are numbers, in files. It counts what is read
// of it.
type numbers struct {
	files  [][2]int         // from, to
	bad    func(i int) bool // the records that cannot be read
	seek   bool             // its cursors tell positions
	sleeps bool
	reads  *atomic.Int64 // calls of Next that returned a record
	name   string
}

// upTo is a source of the numbers 0 to n−1 in one file.
func upTo(n int) numbers { return numbers{files: [][2]int{{0, n}}, seek: true} }

func (s numbers) Name() string { return "numbers" }

func (s numbers) Describe() string { return "numbers" + s.name }

func (s numbers) ShardFiles(rank, world int) (Source[rec], error) {
	part := s
	part.files = nil
	for i := rank; i < len(s.files); i += world {
		part.files = append(part.files, s.files[i])
	}
	return part, nil
}

// records lists the numbers in their order.
func (s numbers) records() []int {
	var out []int
	for _, f := range s.files {
		for i := f[0]; i < f[1]; i++ {
			out = append(out, i)
		}
	}
	return out
}

func (s numbers) isBad(i int) bool { return s.bad != nil && s.bad(i) }

func (s numbers) Count(context.Context) (int64, error) {
	var n int64
	for _, i := range s.records() {
		if !s.isBad(i) {
			n++
		}
	}
	return n, nil
}

func (s numbers) Open(_ context.Context, at Start) (Cursor[rec], error) {
	c := &numbersCursor{src: s}
	if at.Position != nil {
		var to int
		if err := json.Unmarshal(at.Position, &to); err != nil {
			return nil, err
		}
		for c.file < len(s.files) && to >= s.files[c.file][1]-s.files[c.file][0] {
			to -= s.files[c.file][1] - s.files[c.file][0]
			c.before += s.files[c.file][1] - s.files[c.file][0]
			c.file++
		}
		if to < 0 || to > 0 && c.file == len(s.files) {
			return nil, fmt.Errorf("position %s is not of this source", at.Position)
		}
		c.at = to
	}
	if s.seek {
		return &numbersSeeker{c}, nil
	}
	return c, nil
}

type numbersCursor struct {
	src              numbers
	file, at, before int // file, record in it, records before it
}

func (c *numbersCursor) Next(ctx context.Context) (rec, error) {
	for c.file < len(c.src.files) && c.at == c.src.files[c.file][1]-c.src.files[c.file][0] {
		c.before += c.at
		c.file, c.at = c.file+1, 0
	}
	if c.file == len(c.src.files) {
		return rec{}, io.EOF
	}
	if c.src.sleeps {
		doze()
	}
	i := c.src.files[c.file][0] + c.at
	c.at++
	if c.src.isBad(i) {
		return rec{}, fmt.Errorf("%w: %d", errBad, i)
	}
	if c.src.reads != nil {
		c.src.reads.Add(1)
	}
	return rec{V: []int{i}}, nil
}

func (c *numbersCursor) Close() error { return nil }

type numbersSeeker struct{ *numbersCursor }

func (c numbersSeeker) Position() any { return c.before + c.at }

// pushed is numbers as a source that pushes.
type pushed struct{ numbers }

func (s pushed) Run(ctx context.Context, _ Start, sink Sink[rec]) error {
	for _, i := range s.records() {
		if s.sleeps {
			doze()
		}
		var err error
		if s.isBad(i) {
			err = sink.Fail(ctx, fmt.Errorf("%w: %d", errBad, i))
		} else {
			err = sink.Push(ctx, rec{V: []int{i}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// doze sleeps now and then, for a while that nothing depends on.
func doze() {
	if rand.IntN(40) == 0 {
		time.Sleep(time.Duration(rand.IntN(400)) * time.Microsecond)
	}
}

// begin starts a pipeline that is closed with the test.
func begin[T any](t testing.TB, p *Pipeline[T]) *Iterator[T] {
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, it.Close()) })
	return it
}

// goOn resumes a pipeline that is closed with the test.
func goOn[T any](t testing.TB, p *Pipeline[T], state []byte) *Iterator[T] {
	it, err := p.Resume(context.Background(), state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, it.Close()) })
	return it
}

// takeN takes n elements.
func takeN[T any](t testing.TB, it *Iterator[T], n int) []T {
	out := make([]T, 0, n)
	for range n {
		v, err := it.Next(context.Background())
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

// takeAll takes what comes up to the end, which is the error.
func takeAll[T any](it *Iterator[T]) ([]T, error) {
	out := []T{}
	for {
		v, err := it.Next(context.Background())
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

// takeRest takes what comes up to a clean end.
func takeRest[T any](t testing.TB, it *Iterator[T]) []T {
	out, err := takeAll(it)
	require.ErrorIs(t, err, io.EOF)
	return out
}

// allOf is the whole stream of a pipeline.
func allOf[T any](t testing.TB, p *Pipeline[T]) []T {
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	out := takeRest(t, it)
	require.NoError(t, it.Close())
	return out
}

// saved is the state of an iterator.
func saved[T any](t testing.TB, it *Iterator[T]) []byte {
	state, err := it.State()
	require.NoError(t, err)
	return state
}

// firsts are the first numbers of elements.
func firsts(list []rec) []int {
	out := make([]int, len(list))
	for i, r := range list {
		out[i] = r.V[0]
	}
	return out
}

// flat are the numbers of elements, one after the other.
func flat(batches [][]rec) []int {
	out := []int{}
	for _, b := range batches {
		out = append(out, firsts(b)...)
	}
	return out
}

// counted is 0 to n−1.
func counted(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// unmarshal reads JSON; numbers keep their digits.
func unmarshal(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// indented is JSON with other spaces than the engine's.
func indented(t testing.TB, v any) []byte {
	raw, err := json.MarshalIndent(v, " ", "\t")
	require.NoError(t, err)
	return raw
}
