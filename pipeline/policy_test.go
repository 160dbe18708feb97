package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// trouble is what happens to the elements that are bad.
type trouble struct {
	bad   map[int]bool
	panic bool
}

func (f trouble) at(v int) error {
	switch {
	case !f.bad[v]:
		return nil
	case f.panic:
		panic(errBad)
	}
	return errBad
}

// failing are the stages that can fail at an element, each as a pipeline that
// leaves the good elements as they are.
var failing = []struct {
	name, stage string
	kind        pipeline.ErrorKind
	panics      bool // it can fail by a panic only
	errors      bool // it can fail by an error only
	build       func(*pipeline.Pipeline[int], trouble) *pipeline.Pipeline[int]
}{
	{name: "map", stage: "map", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.Map(func(v int) (int, error) { return v, f.at(v) })
		}},
	{name: "map to another type", stage: "map", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return pipeline.Map(pipeline.Map(p, func(v int) (int64, error) { return int64(v), f.at(v) }),
				func(v int64) (int, error) { return int(v), nil })
		}},
	{name: "map with random numbers", stage: "maprand", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.MapRand(func(_ *rand.Rand, v int) (int, error) { return v, f.at(v) })
		}},
	{name: "filter", stage: "filter", kind: pipeline.KindTransform, panics: true,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.Filter(func(v int) bool { return f.at(v) == nil })
		}},
	{name: "flatmap", stage: "flatmap", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.FlatMap(func(v int) ([]int, error) { return []int{v}, f.at(v) })
		}},
	{name: "transform", stage: "checking", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] { return p.Transform(checking{f}) }},
	{name: "stateful", stage: "stateful", kind: pipeline.KindTransform,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.Stateful(func() pipeline.StatefulTransform[int, int] { return &watching{trouble: f} })
		}},
	{name: "collate", stage: "collate", kind: pipeline.KindCollate,
		build: func(p *pipeline.Pipeline[int], f trouble) *pipeline.Pipeline[int] {
			return p.Batch(1).Collate(func(b []int) (int, error) { return b[0], f.at(b[0]) })
		}},
}

// checking emits before it fails, which must be dropped.
type checking struct{ trouble }

func (c checking) Apply(_ context.Context, v int, emit func(int)) error {
	emit(v)
	return c.at(v)
}

type watching struct {
	trouble
	finish func(emit func(int)) error
}

func (w *watching) Push(_ context.Context, v int, emit func(int)) error {
	emit(v)
	return w.at(v)
}

func (w *watching) Finish(_ context.Context, emit func(int)) error {
	if w.finish != nil {
		return w.finish(emit)
	}
	return nil
}

// ways goes through all stages and both ways to fail.
func ways(t *testing.T, test func(t *testing.T, kind pipeline.ErrorKind, stage string, build func(*pipeline.Pipeline[int], ...int) *pipeline.Pipeline[int])) {
	for _, f := range failing {
		for _, panics := range []bool{false, true} {
			if f.panics && !panics || f.errors && panics {
				continue
			}
			kind, way := f.kind, "error"
			if panics {
				kind, way = pipeline.KindPanic, "panic"
			}
			t.Run(f.name+" "+way, func(t *testing.T) {
				test(t, kind, f.stage, func(p *pipeline.Pipeline[int], bad ...int) *pipeline.Pipeline[int] {
					set := map[int]bool{}
					for _, v := range bad {
						set[v] = true
					}
					return f.build(p, trouble{set, panics})
				})
			})
		}
	}
}

// requireStageError checks an error about one element.
func requireStageError(t *testing.T, err error, stage string, kind pipeline.ErrorKind, epoch int64, index uint64) {
	t.Helper()
	var fault *pipeline.StageError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, stage, fault.Stage)
	require.Equal(t, kind, fault.Kind)
	require.Equal(t, epoch, fault.Epoch)
	require.Equal(t, index, fault.Index)
	if kind == pipeline.KindPanic {
		require.ErrorIs(t, err, pipeline.ErrPanic)
		var p *pipeline.PanicError
		require.ErrorAs(t, err, &p)
		require.Contains(t, string(p.Stack), "_test.go", "the stack must show the function that panicked")
	}
}

func TestFailDeliversWhatCameBefore(t *testing.T) {
	for _, index := range []int{0, 1, 41, 99} {
		ways(t, func(t *testing.T, kind pipeline.ErrorKind, stage string, build func(*pipeline.Pipeline[int], ...int) *pipeline.Pipeline[int]) {
			p := build(pipeline.From(&series{n: 100}).Epochs(3).ChunkSize(7).Workers(3), 1000+index, 1000+index+1)
			it := begin(t, p)
			got, err := gather(t, it)
			require.Equal(t, slices.Concat(upTo(0, 100), upTo(1000, 1000+index)), got)
			require.ErrorIs(t, err, errBad)
			requireStageError(t, err, stage, kind, 1, uint64(index))
			for range 3 {
				_, again := it.Next(t.Context())
				require.Same(t, err, again, "the error must stay")
			}
			require.True(t, it.Done())
			require.NoError(t, it.Close())
			_, again := it.Next(t.Context())
			require.Same(t, err, again, "also after Close")
		})
	}
}

func TestFailDeliversBatchAndShuffleBuffer(t *testing.T) {
	ways(t, func(t *testing.T, kind pipeline.ErrorKind, stage string, build func(*pipeline.Pipeline[int], ...int) *pipeline.Pipeline[int]) {
		p := build(pipeline.From(&series{n: 100}).ChunkSize(7).Workers(3), 41, 60)
		got, _, err := play(t, pipeline.BatchRaw(p.Shuffle(16), 4))
		requireStageError(t, err, stage, kind, 0, 41)
		var flat []int
		for i, b := range got {
			if i < len(got)-1 {
				require.Len(t, b, 4)
			}
			flat = append(flat, b...)
		}
		require.ElementsMatch(t, upTo(0, 41), flat)
		require.Len(t, got, 11)
		require.Len(t, got[10], 1, "the partial batch")
	})
}

func TestSkipLeavesOutBadElementsAlone(t *testing.T) {
	ways(t, func(t *testing.T, kind pipeline.ErrorKind, stage string, build func(*pipeline.Pipeline[int], ...int) *pipeline.Pipeline[int]) {
		bad := []int{0, 41, 42, 63, 99, 1007, 1099}
		var c complaints
		p := build(pipeline.From(&series{n: 100}).Epochs(2).ChunkSize(7).Workers(3), bad...).OnError(pipeline.Skip).ErrorSink(c.sink)
		got, stats, err := play(t, p)
		require.Equal(t, io.EOF, err)
		want := slices.DeleteFunc(slices.Concat(upTo(0, 100), upTo(1000, 1100)), func(v int) bool { return slices.Contains(bad, v) })
		require.Equal(t, want, got)
		var told []int
		for _, e := range c.told {
			requireStageError(t, e, stage, kind, e.Epoch, e.Index)
			told = append(told, int(1000*e.Epoch)+int(e.Index))
		}
		require.ElementsMatch(t, bad, told, "each is told once")
		require.Equal(t, map[pipeline.ErrorKind]int64{kind: int64(len(bad))}, statsOf(t, stats, stage).Errors)
		require.EqualValues(t, len(bad), stats.ErrorCount())
	})
}

func TestSourceErrorUnderFail(t *testing.T) {
	src := &series{n: 100, next: func(_ context.Context, v int) error {
		if v == 1041 {
			return errBad
		}
		return nil
	}}
	it := begin(t, pipeline.BatchRaw(pipeline.From(src).Epochs(3).ChunkSize(7), 8))
	got, err := gather(t, it)
	require.Equal(t, slices.Concat(upTo(0, 100), upTo(1000, 1041)), slices.Concat(got...))
	require.ErrorIs(t, err, errBad)
	requireStageError(t, err, "series", pipeline.KindSource, 1, 41)
	_, again := it.Next(t.Context())
	require.Same(t, err, again)
	require.NoError(t, it.Close())
	require.Equal(t, src.opened.Load(), src.closed.Load(), "each cursor is closed once")
	require.EqualValues(t, 1, it.Stats().ErrorCount())
}

func TestSourceErrorUnderSkip(t *testing.T) {
	bad := []int{0, 41, 42, 99}
	src := &series{n: 100, next: func(_ context.Context, v int) error {
		if slices.Contains(bad, v) {
			return errBad
		}
		return nil
	}}
	var c complaints
	got, stats, err := play(t, pipeline.From(src).ChunkSize(7).OnError(pipeline.Skip).ErrorSink(c.sink))
	require.Equal(t, io.EOF, err)
	require.Equal(t, slices.DeleteFunc(upTo(0, 100), func(v int) bool { return slices.Contains(bad, v) }), got)
	var told []uint64
	for _, e := range c.told {
		requireStageError(t, e, "series", pipeline.KindSource, 0, e.Index)
		told = append(told, e.Index)
	}
	// Elements that cannot be read have no index of their own.
	require.Equal(t, []uint64{0, 40, 40, 96}, told)
	require.Equal(t, map[pipeline.ErrorKind]int64{pipeline.KindSource: 4}, statsOf(t, stats, "series").Errors)
}

// What is not about one element ends the stream under both policies, after what came
// before it, and is no clean end.
func TestFatalErrors(t *testing.T) {
	type outcome struct {
		values []int
		kind   pipeline.ErrorKind
		index  uint64
		epoch  int64
	}
	at41 := func(err error) func(context.Context, int) error {
		return func(_ context.Context, v int) error {
			if v != 41 {
				return nil
			}
			if err == nil {
				panic(errBad)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		src  pipeline.Source[int]
		want outcome
	}{
		"error of Open": {
			&series{n: 9, open: func(context.Context, pipeline.Start) error { return errBad }},
			outcome{nil, pipeline.KindSource, 0, 0},
		},
		"error of Open in the second epoch": {
			&series{n: 9, open: func(_ context.Context, at pipeline.Start) error {
				if at.Epoch == 1 {
					return errBad
				}
				return nil
			}},
			outcome{upTo(0, 9), pipeline.KindSource, 0, 1},
		},
		"panic in Open": {
			&series{n: 9, open: func(context.Context, pipeline.Start) error { panic(errBad) }},
			outcome{nil, pipeline.KindPanic, 0, 0},
		},
		"error of Next marked as fatal":         {&series{n: 100, next: at41(pipeline.Fatal(errBad))}, outcome{upTo(0, 41), pipeline.KindSource, 41, 0}},
		"error of Next marked as fatal, behind": {&series{n: 100, next: at41(fmt.Errorf("disk: %w", pipeline.Fatal(errBad)))}, outcome{upTo(0, 41), pipeline.KindSource, 41, 0}},
		"panic in Next":                         {&series{n: 100, next: at41(nil)}, outcome{upTo(0, 41), pipeline.KindPanic, 41, 0}},
		"error of Close":                        {&series{n: 9, close: func() error { return errBad }}, outcome{upTo(0, 9), pipeline.KindSource, 9, 0}},
		"panic in Close":                        {&series{n: 9, close: func() error { panic(errBad) }}, outcome{upTo(0, 9), pipeline.KindPanic, 9, 0}},
		"panic in Position, at once":            {&positioning{series: &series{n: 100}, after: 0}, outcome{nil, pipeline.KindPanic, 0, 0}},
		"panic in Position":                     {&positioning{series: &series{n: 100}, after: 40}, outcome{upTo(0, 40), pipeline.KindPanic, 40, 0}},
		"no cursor":                             {noCursor{}, outcome{nil, pipeline.KindPanic, 0, 0}},
	} {
		for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
			t.Run(fmt.Sprint(name, " ", policy), func(t *testing.T) {
				got, stats, err := play(t, pipeline.From(c.src).Epochs(2).ChunkSize(20).OnError(policy))
				require.Equal(t, c.want.values, got)
				if name != "no cursor" {
					require.ErrorIs(t, err, errBad)
				}
				var fault *pipeline.StageError
				require.ErrorAs(t, err, &fault)
				require.Equal(t, c.want.kind, fault.Kind)
				require.Equal(t, c.want.index, fault.Index)
				require.Equal(t, c.want.epoch, fault.Epoch)
				require.EqualValues(t, 1, stats.ErrorCount())
			})
		}
	}
}

// positioning is a series whose Position panics after some elements.
type positioning struct {
	*series
	after int
}

func (s *positioning) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[int], error) {
	c, err := s.series.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &positioningCursor{c.(*seriesCursor), s.after}, nil
}

type positioningCursor struct {
	*seriesCursor
	after int
}

func (c *positioningCursor) Position() any {
	if c.at >= c.after {
		panic(errBad)
	}
	return c.at
}

type noCursor struct{}

func (noCursor) Open(context.Context, pipeline.Start) (pipeline.Cursor[int], error) { return nil, nil }

// A transform says by Fatal that its error is not about the element.
func TestFatalErrorOfTransform(t *testing.T) {
	got, _, err := play(t, pipeline.From(&series{n: 100}).OnError(pipeline.Skip).ChunkSize(7).Map(func(v int) (int, error) {
		if v == 41 {
			return 0, pipeline.Fatal(errBad)
		}
		return v, nil
	}))
	require.Equal(t, upTo(0, 41), got)
	requireStageError(t, err, "map", pipeline.KindTransform, 0, 41)
}

func TestPanicInSizeOf(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		size := func(v int) int64 {
			if v == 41 {
				panic(errBad)
			}
			return 8
		}
		got, _, err := play(t, pipeline.From(&series{n: 100}).SizeOf(size).ChunkSize(7).OnError(policy))
		require.Equal(t, upTo(0, 41), got)
		requireStageError(t, err, "series", pipeline.KindPanic, 0, 41)
		require.ErrorIs(t, err, errBad)
	}
}

func TestPanicInFinish(t *testing.T) {
	for _, way := range []string{"error", "panic"} {
		build := func(policy pipeline.Policy, sink func(*pipeline.StageError)) *pipeline.Pipeline[int] {
			return pipeline.From(&series{n: 20}).ChunkSize(7).Epochs(2).OnError(policy).ErrorSink(sink).
				Stateful(func() pipeline.StatefulTransform[int, int] {
					return &watching{finish: func(emit func(int)) error {
						if way == "panic" {
							panic(errBad)
						}
						return errBad
					}}
				})
		}
		kind := pipeline.KindTransform
		if way == "panic" {
			kind = pipeline.KindPanic
		}
		got, _, err := play(t, build(pipeline.Fail, nil))
		require.Equal(t, upTo(0, 20), got)
		requireStageError(t, err, "stateful", kind, 0, 19)

		var c complaints
		got, stats, err := play(t, build(pipeline.Skip, c.sink))
		require.Equal(t, io.EOF, err)
		require.Equal(t, slices.Concat(upTo(0, 20), upTo(1000, 1020)), got)
		require.Len(t, c.told, 2)
		require.EqualValues(t, 2, stats.ErrorCount())
	}
}

func TestPanicInMakingOfStateful(t *testing.T) {
	for name, make := range map[string]func() pipeline.StatefulTransform[int, int]{
		"panic": func() pipeline.StatefulTransform[int, int] { panic(errBad) },
		"nil":   func() pipeline.StatefulTransform[int, int] { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := play(t, pipeline.From(&series{n: 20}).Stateful(make))
			require.Empty(t, got)
			require.Equal(t, name == "panic", errors.Is(err, pipeline.ErrPanic))
			require.ErrorContains(t, err, "stateful: element 0 of epoch 0")
		})
	}
}

// snapping panics when it is asked what it remembers.
type snapping struct{ watching }

func (*snapping) Snapshot() (any, error)            { panic(errBad) }
func (*snapping) Restore(raw json.RawMessage) error { return nil }

func TestPanicInSnapshot(t *testing.T) {
	got, _, err := play(t, pipeline.From(&series{n: 30}).ChunkSize(7).Stateful(func() pipeline.StatefulTransform[int, int] { return &snapping{} }))
	// A memory that cannot be saved is made again from the beginning of the epoch.
	require.Equal(t, upTo(0, 30), got)
	require.Equal(t, io.EOF, err)
}

func TestPanicInErrorSink(t *testing.T) {
	told := 0
	got, stats, err := play(t, pipeline.From(&series{n: 20}).OnError(pipeline.Skip).
		ErrorSink(func(*pipeline.StageError) { told++; panic("sink") }).
		Map(func(v int) (int, error) {
			if v%2 == 1 {
				return 0, errBad
			}
			return v, nil
		}))
	require.ErrorIs(t, err, pipeline.ErrPanic)
	require.ErrorContains(t, err, "sink")
	require.Less(t, len(got), 11)
	require.NotZero(t, told)
	require.NotZero(t, stats.ErrorCount())
}

// Errors without an end stop the stream: under Skip too it does not run for ever.
func TestErrorsInRow(t *testing.T) {
	always := func(context.Context, int) error { return errBad }
	for name, p := range map[string]*pipeline.Pipeline[int]{
		"source": pipeline.From(&series{n: -1, next: always}),
		"source, after some": pipeline.From(&series{n: -1, next: func(_ context.Context, v int) error {
			if v >= 50 {
				return errBad // as a disk that is gone says
			}
			return nil
		}}),
		"map":      pipeline.From(&series{n: -1}).Map(func(v int) (int, error) { return 0, errBad }),
		"stateful": pipeline.From(&series{n: -1}).Stateful(func() pipeline.StatefulTransform[int, int] { return &failingAlways{} }),
		"collate":  pipeline.From(&series{n: -1}).Batch(4).Collate(func([]int) (int, error) { return 0, errBad }),
	} {
		t.Run(name, func(t *testing.T) {
			var c complaints
			got, stats, err := play(t, p.OnError(pipeline.Skip).MaxErrorsInRow(100).ChunkSize(10).Workers(2).ErrorSink(c.sink))
			require.ErrorIs(t, err, pipeline.ErrTooManyErrors)
			require.ErrorIs(t, err, errBad, "the last one is told")
			if name == "source, after some" {
				require.Equal(t, upTo(0, 50), got)
			} else {
				require.Empty(t, got)
			}
			require.GreaterOrEqual(t, stats.ErrorCount(), int64(100))
			require.EqualValues(t, len(c.told), stats.ErrorCount())
			if strings.HasPrefix(name, "source") || name == "stateful" {
				require.EqualValues(t, 100, stats.ErrorCount(), "it stops at once")
			}
		})
	}
}

// The error that is one too many is counted once, also where it is found inside a batch.
func TestErrorsInRowCountOnce(t *testing.T) {
	var c complaints
	p := pipeline.BatchRaw(pipeline.From(&series{n: 12}).OnError(pipeline.Skip).MaxErrorsInRow(2).Workers(1).ErrorSink(c.sink), 4)
	got, stats, err := play(t, pipeline.Collate(p, func(b []int) (string, error) {
		if i := slices.IndexFunc(b, func(v int) bool { return v >= 5 }); i >= 0 {
			return "", &pipeline.ItemError{Item: i, Err: errBad}
		}
		return fmt.Sprint(b), nil
	}))
	require.Equal(t, []string{"[0 1 2 3]"}, got)
	require.ErrorIs(t, err, pipeline.ErrTooManyErrors)
	require.EqualValues(t, 2, stats.ErrorCount())
	require.Len(t, c.told, 2)
}

type failingAlways struct{}

func (failingAlways) Push(context.Context, int, func(int)) error { return errBad }
func (failingAlways) Finish(context.Context, func(int)) error    { return nil }

// Errors with elements that pass in between are not in a row.
func TestErrorsNotInRow(t *testing.T) {
	got, stats, err := play(t, pipeline.From(&series{n: 1000}).OnError(pipeline.Skip).MaxErrorsInRow(3).Workers(1).
		Map(func(v int) (int, error) {
			if v%3 != 0 {
				return 0, errBad
			}
			return v, nil
		}))
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 334)
	require.EqualValues(t, 666, stats.ErrorCount())
}

// The first error in the order of the stream wins, though a later one comes first.
func TestFirstErrorInOrderWins(t *testing.T) {
	for _, order := range []string{"late first", "early first"} {
		t.Run(order, func(t *testing.T) {
			late := make(chan struct{})
			early := make(chan struct{})
			got, _, err := play(t, pipeline.From(&series{n: 40}).ChunkSize(1).Prefetch(40).Workers(4).Map(func(v int) (int, error) {
				switch v {
				case 10:
					if order == "late first" {
						<-late
						time.Sleep(5 * time.Millisecond)
					}
					close(early)
					return 0, fmt.Errorf("the early one: %w", errBad)
				case 12:
					if order == "early first" {
						<-early
					}
					close(late)
					return 0, errors.New("the late one")
				}
				return v, nil
			}))
			require.Equal(t, upTo(0, 10), got)
			require.ErrorIs(t, err, errBad)
			requireStageError(t, err, "map", pipeline.KindTransform, 0, 10)
		})
	}
}

// An error of the source comes behind those of the elements before it, and an error of a
// later stage at an earlier element wins over both.
func TestFirstErrorOfStagesWins(t *testing.T) {
	src := &series{n: 100, next: func(_ context.Context, v int) error {
		if v == 30 {
			return errBad
		}
		return nil
	}}
	failAt := func(at int, d time.Duration) func(int) (int, error) {
		return func(v int) (int, error) {
			if v == at {
				time.Sleep(d)
				return 0, errBad
			}
			return v, nil
		}
	}
	p := pipeline.From(src).ChunkSize(50).Prefetch(4).Workers(2)
	_, _, err := play(t, p.Map(failAt(-1, 0)))
	requireStageError(t, err, "series", pipeline.KindSource, 0, 30)
	_, _, err = play(t, p.Map(failAt(20, time.Millisecond)))
	requireStageError(t, err, "map", pipeline.KindTransform, 0, 20)
	got, _, err := play(t, p.Map(failAt(20, 0)).Map(failAt(10, time.Millisecond)))
	require.Equal(t, upTo(0, 10), got)
	requireStageError(t, err, "map#2", pipeline.KindTransform, 0, 10)
	_, _, err = play(t, p.Map(failAt(10, 0)).Map(failAt(20, 0)))
	requireStageError(t, err, "map", pipeline.KindTransform, 0, 10)
}

// A function that ends its goroutine is as bad as one that panics.
func TestGoexitIsAnError(t *testing.T) {
	exit := func(v int) {
		if v == 41 {
			runtime.Goexit()
		}
	}
	for name, p := range map[string]*pipeline.Pipeline[int]{
		"source":          pipeline.From(&series{n: 100, next: func(_ context.Context, v int) error { exit(v); return nil }}),
		"map, at the end": pipeline.From(&series{n: 42}).Map(func(v int) (int, error) { exit(v); return v, nil }),
		"map":             pipeline.From(&series{n: 100}).Map(func(v int) (int, error) { exit(v); return v, nil }),
		"flatmap":         pipeline.From(&series{n: 100}).FlatMap(func(v int) ([]int, error) { exit(v); return []int{v}, nil }),
		"stateful":        pipeline.From(&series{n: 100}).Map(func(v int) (int, error) { return v, nil }).Stateful(func() pipeline.StatefulTransform[int, int] { return exiting{exit} }),
	} {
		for _, unordered := range []bool{false, true} {
			t.Run(fmt.Sprint(name, unordered), func(t *testing.T) {
				if unordered {
					p = p.Unordered()
				}
				times := 10
				if unordered && name == "map, at the end" {
					times = 1000 // it must not be taken for the end at any moment
				}
				for range times {
					_, _, err := play(t, p.ChunkSize(7).Workers(2))
					require.ErrorIs(t, err, pipeline.ErrPanic)
				}
			})
		}
	}
}

type exiting struct{ exit func(int) }

func (e exiting) Push(_ context.Context, v int, emit func(int)) error {
	e.exit(v)
	emit(v)
	return nil
}
func (exiting) Finish(context.Context, func(int)) error { return nil }
