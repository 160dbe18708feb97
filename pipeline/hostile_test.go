package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// hostile is a source that does what a user's should not.
type hostile struct {
	open     func(pipeline.Start) (pipeline.Cursor[int], error)
	describe func() string
}

func (h hostile) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[int], error) {
	return h.open(at)
}

func (h hostile) Describe() string {
	if h.describe == nil {
		return "hostile"
	}
	return h.describe()
}

// hostileCursor counts to n, or fails where fail says so.
type hostileCursor struct {
	n, at    int
	fail     func(i int) error
	position any
}

func (c *hostileCursor) Next(context.Context) (int, error) {
	if c.at == c.n {
		return 0, io.EOF
	}
	c.at++
	if c.fail != nil {
		if err := c.fail(c.at - 1); err != nil {
			return 0, err
		}
	}
	return c.at - 1, nil
}

func (c *hostileCursor) Close() error  { return nil }
func (c *hostileCursor) Position() any { return c.position }

func hostileCount(n int, fail func(int) error) hostile {
	return hostile{open: func(pipeline.Start) (pipeline.Cursor[int], error) {
		return &hostileCursor{n: n, fail: fail}, nil
	}}
}

// end runs a pipeline and returns how it ended; it must end.
func end[T any](t *testing.T, p *pipeline.Pipeline[T]) ([]T, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	it, err := p.Start(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, it.Close()) }()
	var out []T
	for {
		v, err := it.Next(ctx)
		if err != nil {
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			return out, err
		}
		out = append(out, v)
	}
}

// A source that fails for ever ends the stream of every rank, in every mode.
func TestEndlessErrorsOfAShardedSource(t *testing.T) {
	for _, mode := range []pipeline.ShardMode{pipeline.Uneven, pipeline.Pad, pipeline.Drop} {
		for rank := range 3 {
			p := pipeline.From(hostileCount(-1, func(int) error { return errors.New("bad") })).
				OnError(pipeline.Skip).Shard(rank, 3).ShardMode(mode)
			_, err := end(t, p)
			require.ErrorIs(t, err, pipeline.ErrTooManyErrors, "%v rank %d", mode, rank)
		}
	}
}

// failingAsync pushes n elements, then fails for ever.
type failingAsync struct{ n int }

func (a failingAsync) Run(ctx context.Context, _ pipeline.Start, sink pipeline.Sink[int]) error {
	for i := range a.n {
		if err := sink.Push(ctx, i); err != nil {
			return err
		}
	}
	for {
		if err := sink.Fail(ctx, errors.New("bad")); err != nil {
			return err
		}
	}
}

func TestEndlessErrorsOfAResumedAsyncSource(t *testing.T) {
	ctx := context.Background()
	it, err := pipeline.FromAsync(failingAsync{10}).OnError(pipeline.Skip).Start(ctx)
	require.NoError(t, err)
	for range 5 {
		_, err := it.Next(ctx)
		require.NoError(t, err)
	}
	state, err := it.State()
	require.NoError(t, err)
	require.NoError(t, it.Close())

	it, err = pipeline.FromAsync(failingAsync{2}).OnError(pipeline.Skip).Resume(ctx, state)
	require.NoError(t, err)
	_, err = it.Next(ctx)
	require.ErrorIs(t, err, pipeline.ErrTooManyErrors)
	require.NoError(t, it.Close())
}

// io.EOF where it means something else is no end of the stream.
func TestEOFOfOpenIsAnError(t *testing.T) {
	_, err := end(t, pipeline.From(hostile{open: func(pipeline.Start) (pipeline.Cursor[int], error) { return nil, io.EOF }}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = end(t, pipeline.FromAsync(asyncFunc(func() error { return io.EOF })))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = end(t, pipeline.From(hostile{open: func(pipeline.Start) (pipeline.Cursor[int], error) { return nil, nil }}))
	require.ErrorIs(t, err, pipeline.ErrPanic, "a source without a cursor")
}

type asyncFunc func() error

func (f asyncFunc) Run(context.Context, pipeline.Start, pipeline.Sink[int]) error { return f() }

// Ranks shuffle by themselves: neighbours in the data set, which are on different
// ranks, do not come at the same time.
func TestRanksShuffleDifferently(t *testing.T) {
	var ranks [2][]int
	for rank := range ranks {
		var err error
		ranks[rank], err = end(t, pipeline.From(hostileCount(2000, nil)).Shard(rank, 2).Shuffle(100))
		require.Equal(t, io.EOF, err)
	}
	together := 0
	for i := range ranks[0] {
		if ranks[0][i]/2 == ranks[1][i]/2 {
			together++
		}
	}
	require.Less(t, together, 100, "of 1000")
}

func TestPanicsOfDescriptions(t *testing.T) {
	h := hostileCount(3, nil)
	h.describe = func() string { panic("no name") }
	_, err := pipeline.From(h).Start(context.Background())
	require.ErrorIs(t, err, pipeline.ErrConfig)
	require.ErrorContains(t, err, "no name")

	it, err := pipeline.From(hostile{open: func(pipeline.Start) (pipeline.Cursor[int], error) {
		return &hostileCursor{n: 3, position: panicking{}}, nil
	}}).Start(context.Background())
	require.NoError(t, err)
	_, err = it.Next(context.Background())
	require.NoError(t, err)
	_, err = it.State()
	require.ErrorIs(t, err, pipeline.ErrPanic)
	require.NoError(t, it.Close())
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestNamesOfStagesAreUnique(t *testing.T) {
	same := func(v int) (int, error) { return v, nil }
	it, err := pipeline.From(hostileCount(3, nil)).Map(same).Filter(func(int) bool { return true }).Named("map").
		Map(same).Named("map#2").Map(same).Start(context.Background())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, s := range it.Stats().Stages {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
	}
	require.NoError(t, it.Close())
}

func TestHugeAutotune(t *testing.T) {
	_, err := pipeline.From(hostileCount(3, nil)).Autotune(1 << 30).Epochs(1 << 40).Repeat(1 << 30).Start(context.Background())
	require.ErrorIs(t, err, pipeline.ErrConfig)
	require.ErrorContains(t, err, "Autotune")
	require.ErrorContains(t, err, "too many epochs")
}

// A partial batch that DropLast keeps back at an error belongs to the rest.
func TestDropLastAtAnErrorThatGoes(t *testing.T) {
	broken := true
	p := pipeline.BatchRaw(pipeline.From(hostileCount(10, func(i int) error {
		if broken && i == 6 {
			return pipeline.Fatal(errors.New("bad"))
		}
		return nil
	})), 4).DropLast()
	ctx := context.Background()
	it, err := p.Start(ctx)
	require.NoError(t, err)
	first, err := it.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3}, first)
	_, err = it.Next(ctx)
	require.ErrorContains(t, err, "bad")
	state, err := it.State()
	require.NoError(t, err)
	require.NoError(t, it.Close())

	broken = false
	it, err = p.Resume(ctx, state)
	require.NoError(t, err)
	second, err := it.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{4, 5, 6, 7}, second)
	require.NoError(t, it.Close())
}

// Half of a large batch does not go with the other half, and nobody says which: that
// takes a moment, not minutes, and ends when the stream is closed.
func TestHalfABatchIsOdd(t *testing.T) {
	calls := 0
	collate := func(batch []int) (string, error) {
		calls++
		for _, v := range batch {
			if v%2 != batch[0]%2 {
				return "", errors.New("odd and even")
			}
		}
		return fmt.Sprint(len(batch)), nil
	}
	got, err := end(t, pipeline.Collate(pipeline.BatchRaw(pipeline.From(hostileCount(512, nil)), 512), collate).OnError(pipeline.Skip))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{"256"}, got)
	require.Less(t, calls, 20*512)
}

// nilError is an error whose methods need what a nil pointer has not.
type nilError struct{ inner error }

func (e *nilError) Error() string { return "x" }
func (e *nilError) Unwrap() error { return e.inner }

// Whatever a function of the user returns as its error, the process lives, and the stream
// does not end as if nothing had been.
func TestErrorsOfAllKinds(t *testing.T) {
	var typedNil *nilError
	var namedNil *pipeline.ItemError
	bad := map[string]error{
		"typed nil": typedNil, "nil ItemError": namedNil, "EOF": io.EOF, "wrapped EOF": fmt.Errorf("cut off: %w", io.EOF),
		"fatal EOF": pipeline.Fatal(io.EOF),
	}
	for name, e := range bad {
		at := func(v int) error {
			if v == 50 {
				return e
			}
			return nil
		}
		for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
			src := pipeline.From(hostileCount(100, nil)).OnError(policy)
			for where, p := range map[string]*pipeline.Pipeline[int]{
				"map": src.Map(func(v int) (int, error) { return v, at(v) }),
				"panic": src.Map(func(v int) (int, error) {
					if err := at(v); err != nil {
						panic(err)
					}
					return v, nil
				}),
				"stateful": src.Stateful(func() pipeline.StatefulTransform[int, int] { return pushThen(at) }),
				"open":     pipeline.From(hostile{open: func(pipeline.Start) (pipeline.Cursor[int], error) { return nil, e }}).OnError(policy),
				"batch":    src.Batch(1).Collate(func(b []int) (int, error) { return b[0], at(b[0]) }),
				"batches":  src.Batch(3).Collate(func(b []int) (int, error) { return b[0], at(b[len(b)-1]) }),
				"finish":   src.Stateful(func() pipeline.StatefulTransform[int, int] { return finishWith{e} }),
			} {
				got, err := end(t, p)
				if err == io.EOF {
					require.Equal(t, pipeline.Skip, policy, "%s in %s was taken for the end", name, where)
					require.NotEqual(t, "fatal EOF", name, where)
					continue
				}
				require.NotErrorIs(t, err, io.EOF, "%s in %s", name, where)
				require.NotEmpty(t, err.Error())
				require.LessOrEqual(t, len(got), 100)
			}
			if name != "EOF" { // that is the end of a cursor
				_, err := end(t, pipeline.From(hostileCount(100, at)).OnError(policy))
				require.True(t, err == io.EOF == (policy == pipeline.Skip && name == "wrapped EOF"), "%s: %v", name, err)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	it, err := pipeline.From(hostileCount(-1, nil)).Start(ctx) // else the end may come first
	require.NoError(t, err)
	cancel(io.EOF)
	for err == nil {
		_, err = it.Next(context.Background())
	}
	require.NotErrorIs(t, err, io.EOF)
	require.NoError(t, it.Close())
}

type pushThen func(int) error

func (f pushThen) Push(_ context.Context, v int, emit func(int)) error {
	emit(v)
	return f(v)
}
func (pushThen) Finish(context.Context, func(int)) error { return nil }

type finishWith struct{ err error }

func (finishWith) Push(_ context.Context, v int, emit func(int)) error { emit(v); return nil }
func (f finishWith) Finish(context.Context, func(int)) error           { return f.err }

// A transform that cannot be made is not about one element.
func TestTransformThatCannotBeMade(t *testing.T) {
	for _, make := range []func() pipeline.StatefulTransform[int, int]{
		func() pipeline.StatefulTransform[int, int] { panic("no memory") },
		func() pipeline.StatefulTransform[int, int] { return nil },
	} {
		_, err := end(t, pipeline.From(hostileCount(100, nil)).OnError(pipeline.Skip).Stateful(make))
		require.NotEqual(t, io.EOF, err)
	}
}

// A collate that changes its batch before it fails does not spoil what is tried again.
func TestCollateThatChangesItsBatch(t *testing.T) {
	got, err := end(t, pipeline.From(hostileCount(8, nil)).OnError(pipeline.Skip).Batch(4).Collate(func(b []int) (int, error) {
		sum := 0
		for i := range b {
			if b[i] == 5 {
				return 0, &pipeline.ItemError{Item: i, Err: errors.New("five")}
			}
			sum += b[i]
			b[i] = -1000
		}
		return sum, nil
	}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{0 + 1 + 2 + 3, 4 + 6 + 7}, got)
}

func TestZeroPipeline(t *testing.T) {
	_, err := new(pipeline.Pipeline[int]).MaxErrorsInRow(1).Named("x").Start(context.Background())
	require.ErrorIs(t, err, pipeline.ErrConfig)
}

// A state of the very end has no epoch left.
func TestEpochsAfterTheEnd(t *testing.T) {
	ctx := context.Background()
	p := pipeline.From(hostileCount(3, nil)).Epochs(2)
	it, err := p.Start(ctx)
	require.NoError(t, err)
	for err == nil {
		_, err = it.Next(ctx)
	}
	require.Equal(t, io.EOF, err)
	state, err := it.State()
	require.NoError(t, err)
	it, err = p.Resume(ctx, state)
	require.NoError(t, err)
	for epoch := range it.Epochs(ctx) {
		t.Errorf("epoch %d", epoch)
	}
}

// A position that says nothing is none: elements are counted.
func TestNullPosition(t *testing.T) {
	ctx := context.Background()
	p := pipeline.From(hostile{open: func(at pipeline.Start) (pipeline.Cursor[int], error) {
		if at.Position != nil {
			return nil, errors.New("opened at nothing")
		}
		return &hostileCursor{n: 300, position: (*int)(nil)}, nil
	}})
	it, err := p.Start(ctx)
	require.NoError(t, err)
	for range 200 {
		_, err := it.Next(ctx)
		require.NoError(t, err)
	}
	state, err := it.State()
	require.NoError(t, err)
	require.NoError(t, it.Close())
	it, err = p.Resume(ctx, state)
	require.NoError(t, err)
	v, err := it.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, 200, v)
	require.NoError(t, it.Close())
}

// Errors of a sharded source have the positions that its elements have.
func TestIndexOfAnErrorOfAShard(t *testing.T) {
	var at []uint64
	_, err := end(t, pipeline.From(hostileCount(100, func(i int) error {
		if i == 50 {
			return errors.New("bad")
		}
		return nil
	})).Shard(0, 2).OnError(pipeline.Skip).ErrorSink(func(e *pipeline.StageError) { at = append(at, e.Index) }))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []uint64{50}, at)
}
