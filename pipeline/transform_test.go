package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// splitting makes the words of a text, none of an empty one.
type splitting struct{}

func (splitting) Name() string { return "Split" }

func (splitting) Apply(_ context.Context, s string, emit func(string)) error {
	for _, w := range strings.Fields(s) {
		emit(w)
	}
	return nil
}

// texts makes the text of n words "n.0 n.1 …" of each number n.
func texts(n int) *pipeline.Pipeline[string] {
	return pipeline.Map(pipeline.From(&series{n: n}).ChunkSize(3).Workers(3), func(v int) (string, error) {
		var words []string
		for i := range v % 4 {
			words = append(words, fmt.Sprintf("%d.%d", v, i))
		}
		return strings.Join(words, " "), nil
	})
}

func words(n int) (out []string) {
	for v := range n {
		for i := range v % 4 {
			out = append(out, fmt.Sprintf("%d.%d", v, i))
		}
	}
	return out
}

func TestApply(t *testing.T) {
	got, stats, err := play(t, pipeline.Apply(texts(20), splitting{}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, words(20), got)
	st := statsOf(t, stats, "split") // the name it gives itself
	require.EqualValues(t, 20, st.In)
	require.EqualValues(t, len(got), st.Out)
}

func TestTransformFunc(t *testing.T) {
	f := pipeline.TransformFunc[string, int](func(_ context.Context, s string, emit func(int)) error {
		if s == "" {
			return errBad
		}
		emit(len(s))
		return nil
	})
	got, stats, err := play(t, pipeline.Apply(texts(4).OnError(pipeline.Skip), f))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{3, 7, 11}, got)
	require.EqualValues(t, 1, statsOf(t, stats, "transformfunc").Errors[pipeline.KindTransform], "the name of its type")
}

// Stages of a name are told apart; a name that is given wins.
func TestNamesOfStages(t *testing.T) {
	p := texts(4).Transform(splitting{}).Transform(splitting{}).Transform(splitting{}).Named("words").Filter(func(string) bool { return true })
	_, stats, _ := play(t, p)
	var names []string
	for _, st := range stats.Stages {
		names = append(names, st.Name)
	}
	require.Equal(t, []string{"series", "map", "split", "split#2", "words", "filter"}, names)
}

// The context of transforms lives as long as the stream, and ends on Close: they
// return without being waited for.
func TestContextOfTransforms(t *testing.T) {
	noLeak(t)
	type key struct{}
	for _, how := range []string{"close", "cancel"} {
		for name, build := range map[string]func(wait func(ctx context.Context) error) *pipeline.Pipeline[int]{
			"transform": func(wait func(ctx context.Context) error) *pipeline.Pipeline[int] {
				return pipeline.From(&series{n: -1}).ChunkSize(1).Transform(pipeline.TransformFunc[int, int](func(ctx context.Context, v int, emit func(int)) error {
					emit(v)
					if v == 0 {
						return nil
					}
					return wait(ctx)
				}))
			},
			"stateful": func(wait func(ctx context.Context) error) *pipeline.Pipeline[int] {
				return pipeline.From(&series{n: -1}).ChunkSize(1).Stateful(func() pipeline.StatefulTransform[int, int] { return waiting(wait) })
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				start, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "value"))
				defer cancel()
				entered := make(chan string, 1000)
				it, err := build(func(ctx context.Context) error {
					entered <- ctx.Value(key{}).(string)
					return quiet(ctx)
				}).CloseTimeout(time.Minute).Start(start)
				require.NoError(t, err)
				_, err = it.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, "value", <-entered, "it has the values of the context of Start")
				if how == "cancel" {
					cancel()
					_, err := it.Next(t.Context())
					require.ErrorIs(t, err, context.Canceled)
				}
				require.NoError(t, it.Close())
			})
		}
	}
}

type waiting func(ctx context.Context) error

func (w waiting) Push(ctx context.Context, v int, emit func(int)) error {
	emit(v)
	if v == 0 {
		return nil
	}
	return w(ctx)
}
func (waiting) Finish(context.Context, func(int)) error { return nil }

// pairing gives out pairs of neighbours, and in the end the one that is left.
type pairing struct {
	mu    sync.Mutex // free at each call: they come one at a time
	left  []int
	ended bool
}

func (p *pairing) Push(_ context.Context, v int, emit func([]int)) error {
	if !p.mu.TryLock() {
		return fmt.Errorf("two at a time")
	}
	defer p.mu.Unlock()
	if p.ended {
		return fmt.Errorf("pushed after the end")
	}
	if p.left = append(p.left, v); len(p.left) == 2 {
		emit(p.left)
		p.left = nil
	}
	return nil
}

func (p *pairing) Finish(_ context.Context, emit func([]int)) error {
	p.ended = true
	if p.left != nil {
		emit(p.left)
	}
	return nil
}

// A stateful transform sees an epoch in its order, and is made anew for the next.
func TestApplyStateful(t *testing.T) {
	for _, chunk := range []int{1, 2, 64} {
		made := 0
		p := pipeline.ApplyStateful(pipeline.From(&series{n: 5}).Epochs(3).ChunkSize(chunk).Workers(4).
			Map(func(v int) (int, error) { return v, nil }), func() pipeline.StatefulTransform[int, []int] { made++; return &pairing{} })
		got, stats, err := play(t, p.Map(func(b []int) ([]int, error) { return b, nil }))
		require.Equal(t, io.EOF, err)
		require.Equal(t, [][]int{{0, 1}, {2, 3}, {4}, {1000, 1001}, {1002, 1003}, {1004}, {2000, 2001}, {2002, 2003}, {2004}}, got)
		require.Equal(t, 3, made)
		require.EqualValues(t, 15, statsOf(t, stats, "stateful").In)
		require.EqualValues(t, 9, statsOf(t, stats, "stateful").Out)
	}
}

// What it gave out for an element with an error is dropped, what it remembers is its own.
func TestStatefulAfterError(t *testing.T) {
	for name, resumed := range map[string]bool{"straight": false, "resumed": true} {
		t.Run(name, func(t *testing.T) {
			p := pipeline.From(&series{n: 12}).ChunkSize(2).OnError(pipeline.Skip).
				Stateful(func() pipeline.StatefulTransform[int, int] {
					return &watching{trouble: trouble{bad: map[int]bool{3: true, 7: true, 8: true}}}
				})
			want := []int{0, 1, 2, 4, 5, 6, 9, 10, 11}
			if !resumed {
				got, _, err := play(t, p)
				require.Equal(t, io.EOF, err)
				require.Equal(t, want, got)
				return
			}
			for k := range len(want) + 1 {
				it := begin(t, p)
				for range k {
					_, err := it.Next(t.Context())
					require.NoError(t, err)
				}
				state, err := it.State()
				require.NoError(t, err)
				rest, err := p.Resume(context.Background(), state)
				require.NoError(t, err)
				got, err := gather(t, rest)
				require.Equal(t, io.EOF, err)
				require.Equal(t, want[k:], append([]int{}, got...))
				require.NoError(t, rest.Close())
			}
		})
	}
}

// forgetful cannot take back what it said.
type forgetful struct {
	watching
	panics bool
}

func (*forgetful) Snapshot() (any, error) { return "all", nil }
func (f *forgetful) Restore(json.RawMessage) error {
	if f.panics {
		panic(errBad)
	}
	return errBad
}

// A memory that cannot be taken back ends the stream, under Skip too: to go on without
// it would be wrong in silence.
func TestRestoreFails(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		for _, panics := range []bool{false, true} {
			p := pipeline.From(&series{n: 60}).ChunkSize(20).OnError(policy).
				Stateful(func() pipeline.StatefulTransform[int, int] { return &forgetful{panics: panics} })
			it := begin(t, p)
			for range 30 {
				_, err := it.Next(t.Context())
				require.NoError(t, err)
			}
			state, err := it.State()
			require.NoError(t, err)
			rest, err := p.Resume(context.Background(), state)
			require.NoError(t, err)
			got, err := gather(t, rest)
			require.Empty(t, got)
			require.ErrorIs(t, err, pipeline.ErrState)
			require.ErrorIs(t, err, errBad)
			require.NoError(t, rest.Close())
		}
	}
}
