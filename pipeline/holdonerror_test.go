package pipeline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// holdingPlans are plans with stages that hold elements back, one of them or more.
func holdingPlans() map[string]func(*Pipeline[rec]) *Pipeline[[]rec] {
	alone := func(r rec) ([]rec, error) { return []rec{r}, nil }
	split := func(b []rec) ([]rec, error) { return b, nil }
	length := func(r rec) int { return r.V[0] % 20 }
	return map[string]func(*Pipeline[rec]) *Pipeline[[]rec]{
		"none":    func(p *Pipeline[rec]) *Pipeline[[]rec] { return Map(p, alone) },
		"shuffle": func(p *Pipeline[rec]) *Pipeline[[]rec] { return Map(p.Shuffle(9), alone) },
		"batch":   func(p *Pipeline[rec]) *Pipeline[[]rec] { return BatchRaw(p, 4) },
		"bucket":  func(p *Pipeline[rec]) *Pipeline[[]rec] { return Bucket(p, length, []int{5, 12}, 3, 4, 2) },
		"tokens":  func(p *Pipeline[rec]) *Pipeline[[]rec] { return BucketTokens(p, length, []int{5, 12}, 40) },
		"shuffles": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return Map(p.Shuffle(9).Shuffle(5), alone)
		},
		"shuffle, batch": func(p *Pipeline[rec]) *Pipeline[[]rec] { return BatchRaw(p.Shuffle(7), 4) },
		"batch, batch": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(FlatMap(BatchRaw(p, 5), split), 3)
		},
		"bucket, shuffle": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return Bucket(p.Shuffle(3), length, []int{5, 12}, 3).Shuffle(4)
		},
		"across": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(p.Shuffle(3), 7).AcrossEpochs()
		},
		"drop last": func(p *Pipeline[rec]) *Pipeline[[]rec] { return BatchRaw(p.Shuffle(3), 7).DropLast() },
		"held back": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(p.Stateful(func() StatefulTransform[rec, rec] { return new(delay) }).Shuffle(5), 4)
		},
		"held and saved": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(p.Shuffle(5).Stateful(func() StatefulTransform[rec, rec] { return new(savedDelay) }), 4)
		},
		"skip and take": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(p.Shuffle(5).Skip(2).Shuffle(4).Take(200), 4)
		},
		"filter and cache": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			return BatchRaw(p.Filter(func(r rec) bool { return r.V[0]%7 > 0 }).Shuffle(5).Cache().Shuffle(4), 4)
		},
		"pack": func(p *Pipeline[rec]) *Pipeline[[]rec] {
			rows := Pack(Map(p, func(r rec) ([]int, error) { return make([]int, r.V[0]%9), nil }), 13, PackBestFit(3))
			return Map(rows, func(r Packed[int]) ([]rec, error) {
				v := []int{}
				for _, s := range r.Segments {
					v = append(v, int(s))
				}
				return []rec{{V: v}}, nil
			})
		},
	}
}

// An error ends the stream. What came before it is the begin of the stream without the error,
// and what a state resumes when it has gone is the rest of that.
func TestHoldOnError(t *testing.T) {
	const n, epochs = 40, 2
	for name, plan := range holdingPlans() {
		t.Run(name, func(t *testing.T) {
			// A shuffle depends on its place in the pipeline, so that a stage is where the other is.
			want := allOf(t, plan(From[rec](upTo(n)).Filter(func(rec) bool { return true })).Epochs(epochs))
			for _, at := range []int{0, 3, 30, 39} {
				for _, epoch := range []int64{1, epochs} {
					for _, chunk := range []int{1, 4, 64} {
						testHoldOnError(t, plan, want, n, at, epoch, chunk)
					}
				}
			}
		})
	}
}

func testHoldOnError(t *testing.T, plan func(*Pipeline[rec]) *Pipeline[[]rec], want [][]rec, n, at int, epoch int64, chunk int) {
	what := fmt.Sprintf("error at %d of epoch %d, chunk %d", at, epoch, chunk)
	var healed atomic.Bool
	var begun atomic.Int64
	// It is in a stage of one worker, so that the epoch can be counted.
	fails := func(r rec) (rec, error) {
		if r.V[0] == 0 && !healed.Load() {
			begun.Add(1)
		}
		if r.V[0] == at && begun.Load() == epoch && !healed.Load() {
			return r, errBad
		}
		return r, nil
	}
	p := plan(From[rec](upTo(n)).Transform(TransformFunc[rec, rec](func(_ context.Context, r rec, emit func(rec)) error {
		r, err := fails(r)
		if err == nil {
			emit(r)
		}
		return err
	})).Epochs(2)).ChunkSize(chunk).Workers(1).HoldOnError()

	it, err := p.Start(t.Context())
	require.NoError(t, err)
	var states [][]byte
	got := [][]rec{}
	for {
		states = append(states, saved(t, it))
		v, err := it.Next(t.Context())
		if err == io.EOF && epoch == 2 {
			require.NoError(t, it.Close())
			require.Equal(t, want, got, "a cache, or what comes behind the last element")
			return
		}
		if err != nil {
			require.ErrorIs(t, err, errBad, what)
			break
		}
		got = append(got, v)
	}
	states = append(states, saved(t, it))
	require.NoError(t, it.Close())
	require.LessOrEqual(t, len(got), len(want))
	require.Equal(t, want[:len(got)], got, what)
	for k, state := range states {
		at := min(k, len(got))
		healed.Store(false)
		begun.Store(epoch) // it is still there
		if k%4 == 0 && epoch == 1 {
			it = goOn(t, p, state)
			_, err := takeAll(it)
			require.Error(t, err)
			require.NoError(t, it.Close())
		}
		healed.Store(true)
		it, err := p.ChunkSize(1+k%7).Workers(1+k%3).Prefetch(1+k%4).Resume(t.Context(), state)
		require.NoError(t, err)
		rest := [][]rec{}
		if k%2 == 0 && at < len(want) { // a generation more
			rest = takeN(t, it, 1)
			state = saved(t, it)
			require.NoError(t, it.Close())
			it, err = p.Resume(t.Context(), state)
			require.NoError(t, err)
		}
		rest = append(rest, takeRest(t, it)...)
		require.NoError(t, it.Close())
		require.Equal(t, want[at:], rest, "%s, resumed after %d", what, at)
	}
}

// Errors of a source, and of the stages that hold elements themselves.
func TestHoldOnErrorOfAnyStage(t *testing.T) {
	var healed atomic.Bool
	bad := func(r rec) bool { return r.V[0] == 23 && !healed.Load() }
	src := upTo(40)
	src.bad = func(i int) bool { return bad(rec{V: []int{i}}) }
	good := upTo(40)
	for name, p := range map[string]*Pipeline[[]rec]{
		"source": BatchRaw(From[rec](src).Shuffle(7), 4),
		"pushed": BatchRaw(FromAsync[rec](pushed{src}).Shuffle(7), 4),
		"map": BatchRaw(From[rec](good).Shuffle(7).Map(func(r rec) (rec, error) {
			if bad(r) {
				return r, errBad
			}
			return r, nil
		}).Shuffle(5), 4),
		"stateful": BatchRaw(From[rec](good).Shuffle(7).Stateful(func() StatefulTransform[rec, rec] {
			return &failing{bad: bad}
		}).Shuffle(5), 4),
		"bucket": Bucket(From[rec](good).Shuffle(7), func(r rec) int {
			if bad(r) {
				return -1
			}
			return r.V[0]
		}, []int{10, 20}, 4),
		"behind": Map(BatchRaw(From[rec](good).Shuffle(7), 4), func(b []rec) ([]rec, error) {
			if slices.ContainsFunc(b, bad) {
				panic(errBad)
			}
			return b, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			healed.Store(true)
			want := allOf(t, p.Epochs(2))
			for _, chunk := range []int{1, 3, 64} {
				p := p.Epochs(2).ChunkSize(chunk).HoldOnError()
				healed.Store(false)
				it := begin(t, p)
				got, err := takeAll(it)
				require.Error(t, err)
				require.NotEqual(t, io.EOF, err)
				require.Equal(t, want[:len(got)], got)
				require.Less(t, len(got), len(want)/2)
				state := saved(t, it)
				again, err := takeAll(goOn(t, p, state))
				require.Error(t, err)
				require.Empty(t, again)
				healed.Store(true)
				require.Equal(t, want[len(got):], takeRest(t, goOn(t, p, state)), "chunk %d", chunk)
			}
		})
	}
}

// failing is a delay that fails at an element.
type failing struct {
	savedDelay
	bad func(rec) bool
}

func (f *failing) Push(ctx context.Context, r rec, emit func(rec)) error {
	if f.bad(r) {
		return errBad
	}
	return f.savedDelay.Push(ctx, r, emit)
}

// A state of a stream that gave out what it held goes on as that stream does, with and
// without HoldOnError.
func TestHoldOnErrorOfAStateWithout(t *testing.T) {
	for k := range 31 {
		src, healed := healing(40, 30)
		p := From[rec](src).Shuffle(9).Shuffle(5).ChunkSize(4)
		it := begin(t, p)
		takeN(t, it, k)
		if k == 30 {
			_, err := it.Next(t.Context())
			require.ErrorIs(t, err, errBad)
		}
		state := saved(t, it)
		healed.Store(true)
		want := takeRest(t, goOn(t, p, state))
		require.Equal(t, want, takeRest(t, goOn(t, p.HoldOnError(), state)), "after %d", k)
	}
}
