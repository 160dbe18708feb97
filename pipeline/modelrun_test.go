package pipeline

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelRun is the engine beside the model.
type modelRun struct {
	plan   *modelPlan
	want   []modelValue
	epochs []int64
	fails  *StageError
	drawn  map[int]uint64 // what MapRand drew for each element of the stream

	cancel context.CancelCauseFunc
	it     *Iterator[rec]
	at     int // elements that have come
	ended  error
}

// start starts or resumes the engine, with other workers, chunks and prefetch.
func (r *modelRun) start(t *rapid.T, state []byte) {
	p := r.plan.pipeline().
		Workers(rapid.IntRange(1, 5).Draw(t, "workers")).
		ChunkSize(rapid.IntRange(1, 9).Draw(t, "chunk")).
		Prefetch(rapid.IntRange(1, 5).Draw(t, "prefetch"))
	if rapid.IntRange(0, 3).Draw(t, "flush") == 0 {
		p = p.FlushAfter(0)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	var it *Iterator[rec]
	var err error
	if state == nil {
		it, err = p.Start(ctx)
	} else {
		it, err = p.Resume(ctx, state)
	}
	require.NoError(t, err, "%s", state)
	r.it, r.cancel, r.ended = it, cancel, nil
}

// again resumes from where the consumer stands; what was ends.
func (r *modelRun) again(t *rapid.T) {
	state, err := r.it.State()
	require.NoError(t, err)
	require.NoError(t, r.it.Close())
	after, err := r.it.State()
	require.NoError(t, err)
	require.Equal(t, string(state), string(after), "the state after Close")
	r.cancel(nil)
	r.start(t, state)
	same, err := r.it.State()
	require.NoError(t, err)
	require.JSONEq(t, string(state), string(same), "the state right after it was resumed")
}

// beyond reports whether the consumer of an endless stream is where the model ends.
func (r *modelRun) beyond() bool {
	return r.plan.epochs == 0 && r.at >= len(r.want) && r.fails == nil
}

// next takes an element and compares it.
func (r *modelRun) next(t *rapid.T) {
	if r.beyond() {
		return
	}
	v, err := r.it.Next(context.Background())
	if err != nil {
		require.Equal(t, len(r.want), r.at, "elements before the end, which is %v", err)
		r.end(t, err)
		return
	}
	require.NoError(t, r.ended)
	require.Less(t, r.at, len(r.want), "more elements than the model has: %v", v)
	want := r.want[r.at]
	require.Equal(t, want.V, v.V, "element %d", r.at)
	require.Equal(t, want.Pad, v.Pad, "padding of element %d", r.at)
	require.Equal(t, r.epochs[r.at], r.it.Epoch(), "epoch of element %d", r.at)
	if drawn, ok := r.drawn[r.at]; ok {
		require.Equal(t, drawn, v.Rand, "what MapRand drew for element %d", r.at)
	}
	r.drawn[r.at] = v.Rand
	r.at++
	require.EqualValues(t, r.at, r.it.Stats().Delivered)
}

// end compares the end of the stream.
func (r *modelRun) end(t *rapid.T, err error) {
	if r.ended != nil {
		require.Equal(t, r.ended, err, "another end than the first time")
		return
	}
	r.ended = err
	if r.fails == nil {
		require.Equal(t, io.EOF, err)
		return
	}
	var got *StageError
	require.ErrorAs(t, err, &got, "%v", err)
	require.Equal(t, r.fails.Stage, got.Stage)
	require.Equal(t, r.fails.Kind, got.Kind)
	require.Equal(t, r.fails.Epoch, got.Epoch)
	if r.plan.sharding == nil && int64(r.fails.Index) >= 0 {
		require.Equal(t, r.fails.Index, got.Index)
	}
	require.True(t, errors.Is(err, errBad) || errors.Is(err, ErrPanic), "%v", err)
}

func TestEngineIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := drawPlan(t)
		r := &modelRun{plan: plan, drawn: map[int]uint64{}}
		r.want, r.epochs, r.fails = plan.expect()
		empty := plan.nothing || len(r.want) == 0 || len(plan.source(0).values) == 0
		if plan.epochs == 0 && empty && r.fails == nil {
			plan.epochs = 1
			r.want, r.epochs, r.fails = plan.expect()
		}
		r.start(t, nil)
		defer func() {
			require.NoError(t, r.it.Close())
			r.cancel(nil)
		}()
		t.Repeat(map[string]func(*rapid.T){
			"next": func(t *rapid.T) {
				for range rapid.IntRange(1, 9).Draw(t, "n") {
					r.next(t)
				}
			},
			"resume": r.again,
			"stop": func(t *rapid.T) {
				r.it.Stop()
				for {
					v, err := r.it.Next(context.Background())
					if err != nil {
						if r.at == len(r.want) && r.fails != nil && err != io.EOF {
							r.end(t, err)
						} else {
							require.Equal(t, io.EOF, err)
						}
						break
					}
					if r.at < len(r.want) { // else it is beyond the horizon
						require.Equal(t, r.want[r.at].V, v.V, "element %d", r.at)
						r.at++
						continue
					}
					require.Zero(t, plan.epochs)
					r.at++
				}
				r.again(t)
			},
			"cancel": func(t *rapid.T) {
				reason := errors.New("enough")
				r.cancel(reason)
				deadline := time.Now().Add(10 * time.Second)
				for {
					_, err := r.it.Next(context.Background())
					if err == nil {
						require.True(t, time.Now().Before(deadline), "the stream goes on though its context has ended")
						r.at++
						continue
					}
					if !errors.Is(err, reason) { // it had ended before
						require.True(t, r.at == len(r.want) || plan.epochs == 0, "the end, %v, after %d of %d elements", err, r.at, len(r.want))
						r.end(t, err)
					}
					break
				}
				r.again(t)
			},
			"": func(t *rapid.T) {
				first, err := r.it.State()
				require.NoError(t, err)
				second, err := r.it.State()
				require.NoError(t, err)
				require.Equal(t, string(first), string(second))
			},
		})
		for r.ended == nil && !r.beyond() {
			r.next(t)
		}
	})
}
