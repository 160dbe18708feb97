package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A checkpoint after each k of 40 samples, with a shuffle buffer of 8 and 4 chunks
// prefetched: nothing is lost, and nothing comes twice.
func TestResumeAfterEachSample(t *testing.T) {
	for _, seek := range []bool{false, true} {
		src := upTo(40)
		src.seek = seek
		for _, chunk := range []int{1, 3, 64} {
			p := From[rec](src).Shuffle(8).Prefetch(4).ChunkSize(chunk)
			straight := firsts(allOf(t, p))
			for k := range 41 {
				it := begin(t, p)
				got := firsts(takeN(t, it, k))
				state := saved(t, it)
				require.NoError(t, it.Close())
				got = append(got, firsts(takeRest(t, goOn(t, p, state)))...)
				require.Equal(t, straight, got, "after %d", k)
				sorted := slices.Clone(got)
				slices.Sort(sorted)
				require.Equal(t, counted(40), sorted)
			}
		}
	}
}

// 30 steps, save, 10 steps, save, load: where a resumed run stands counts from the
// beginning.
func TestResumeASecondTime(t *testing.T) {
	p := BatchRaw(From[rec](upTo(100)).Shuffle(16).Epochs(2), 2)
	straight := allOf(t, p)
	for _, first := range []int{0, 30, 50} {
		for _, second := range []int{0, 1, 10, 20, 50} {
			it := begin(t, p)
			got := takeN(t, it, first)
			it = goOn(t, p, saved(t, it))
			got = append(got, takeN(t, it, second)...)
			state := saved(t, it)
			it = goOn(t, p, state)
			require.JSONEq(t, string(state), string(saved(t, it)), "right after it was resumed")
			require.EqualValues(t, first+second, it.Stats().Delivered)
			got = append(got, takeRest(t, it)...)
			require.Equal(t, straight, got, "after %d and %d", first, second)
		}
	}
}

// resumable are plans whose streams are compared after every k outputs.
func resumablePlans() map[string]*Pipeline[[]rec] {
	split := func(b []rec) ([][]rec, error) {
		out := [][]rec{}
		for _, r := range b {
			out = append(out, []rec{r})
		}
		return out, nil
	}
	many := func(r rec) ([]rec, error) {
		var out []rec
		for i := range r.V[0] % 4 {
			out = append(out, rec{V: []int{r.V[0], i}})
		}
		return out, nil
	}
	src := upTo(50)
	unseekable := src
	unseekable.seek = false
	return map[string]*Pipeline[[]rec]{
		"batch":    BatchRaw(From[rec](src).Epochs(2), 4),
		"flat":     BatchRaw(From[rec](src).Epochs(2).FlatMap(many), 4),
		"shuffle":  BatchRaw(From[rec](src).Filter(func(r rec) bool { return r.V[0]%5 > 0 }).Shuffle(10).Epochs(2), 4),
		"unbatch":  FlatMap(BatchRaw(From[rec](unseekable).Shuffle(10).Epochs(2), 4), split),
		"two":      BatchRaw(From[rec](src).Shuffle(10).Skip(3).Take(40).Shuffle(7).Epochs(2), 4),
		"repeat":   BatchRaw(From[rec](unseekable).Shuffle(10).Repeat(3).Take(120), 4),
		"cache":    BatchRaw(From[rec](src).Shuffle(10).Cache().Shuffle(6).Epochs(3), 4),
		"straddle": BatchRaw(From[rec](src).Shuffle(10).Epochs(3), 4).AcrossEpochs(),
		"ends": BatchRaw(From[rec](src).Epochs(3).ChunkSize(4), 4).AcrossEpochs().
			Stateful(func() StatefulTransform[[]rec, []rec] { return new(census) }),
		"shard":       BatchRaw(From[rec](src).Shard(3, 4).ShardMode(Pad).Shuffle(10).Epochs(3), 4),
		"files":       BatchRaw(From[rec](filesOf(50, 6)).Shard(2, 3).ShardFiles().ShardMode(Pad).Shuffle(5).Epochs(3), 4),
		"canonical":   BatchRaw(From[rec](src).Shard(1, 2).CanonicalShards(4).Shuffle(12).Epochs(2), 4),
		"stateful":    BatchRaw(From[rec](src).Shuffle(5).Stateful(func() StatefulTransform[rec, rec] { return new(hoard) }).Epochs(2), 4),
		"snapshotted": BatchRaw(From[rec](src).Shuffle(5).Stateful(func() StatefulTransform[rec, rec] { return new(savedHoard) }).Epochs(2), 4),
	}
}

func TestResumeGivesTheRest(t *testing.T) {
	for name, p := range resumablePlans() {
		t.Run(name, func(t *testing.T) {
			p := p.ChunkSize(4)
			straight := allOf(t, p)
			for k := 0; k <= len(straight); k++ {
				it, err := p.Start(context.Background())
				require.NoError(t, err)
				takeN(t, it, k)
				state := saved(t, it)
				require.NoError(t, it.Close())
				// Generations with other chunks, workers and prefetch.
				for g := 0; g < 3; g++ {
					other := p.ChunkSize(1 + 3*g).Workers(1 + g).Prefetch(4 - g)
					it, err := other.Resume(context.Background(), state)
					require.NoError(t, err)
					require.JSONEq(t, string(state), string(saved(t, it)))
					at := k + g
					if at >= len(straight) || g == 2 {
						require.Equal(t, straight[min(at, len(straight)):], takeRest(t, it))
						require.NoError(t, it.Close())
						break
					}
					require.Equal(t, straight[at], takeN(t, it, 1)[0])
					state = saved(t, it)
					require.NoError(t, it.Close())
				}
			}
		})
	}
}

func TestStatesAreSmall(t *testing.T) {
	p := BatchRaw(From[rec](upTo(5000)).Shuffle(1000).Epochs(2), 32)
	it := begin(t, p)
	largest := 0
	for {
		largest = max(largest, len(saved(t, it)))
		if _, err := it.Next(context.Background()); err == io.EOF {
			break
		}
	}
	require.Less(t, largest, 2<<10)
	require.Greater(t, largest, 100)
}

// A source that can seek is sought: what is read again is at most what the chunks and
// batches at hand need, and for a shuffle buffer back to the oldest that it holds.
func TestResumeSeeks(t *testing.T) {
	const n, at, chunk = 50_000, 40_000, 8
	read := func(p func(numbers) *Pipeline[rec]) int64 {
		src := upTo(n)
		it := begin(t, p(src))
		takeN(t, it, at)
		state := saved(t, it)
		require.NoError(t, it.Close())
		src.reads = new(atomic.Int64)
		it = goOn(t, p(src).Prefetch(1), state)
		takeN(t, it, 1)
		require.NoError(t, it.Close())
		return src.reads.Load()
	}
	// The mark of a source, and the chunk that is prefetched meanwhile.
	const slack = 2*marksEvery + 2*chunk
	require.LessOrEqual(t, read(func(s numbers) *Pipeline[rec] {
		return From[rec](s).ChunkSize(chunk).Workers(1)
	}), int64(slack))
	require.LessOrEqual(t, read(func(s numbers) *Pipeline[rec] {
		return From[rec](s).ChunkSize(chunk).Workers(1).Shard(0, 1)
	}), int64(slack))
	const buffer = 100
	oldest := int64(buffer * (math.Log(buffer) + 8)) // once in 3000 seeds it is older
	require.LessOrEqual(t, read(func(s numbers) *Pipeline[rec] {
		return From[rec](s).ChunkSize(chunk).Workers(1).Shuffle(buffer)
	}), oldest+slack)

	// One that cannot is read from the beginning.
	require.Greater(t, read(func(s numbers) *Pipeline[rec] {
		s.seek = false
		return From[rec](s).ChunkSize(chunk)
	}), int64(at))
}

func TestResumeAfterTheEnd(t *testing.T) {
	p := BatchRaw(From[rec](upTo(10)).Shuffle(4).Epochs(2), 3)
	it := begin(t, p)
	takeRest(t, it)
	state := saved(t, it)
	for range 3 {
		it = goOn(t, p, state)
		require.Empty(t, takeRest(t, it))
		again := saved(t, it)
		require.Empty(t, takeRest(t, goOn(t, p, again)))
		state = again
	}
	more := takeRest(t, goOn(t, p.Epochs(3), state))
	require.Equal(t, allOf(t, p.Epochs(3))[8:], more, "an epoch more")
	require.Empty(t, takeRest(t, goOn(t, p.Epochs(1), state)), "an epoch less")
}

func TestResumeAfterStopAndClose(t *testing.T) {
	src := upTo(300)
	src.sleeps = true
	p := BatchRaw(From[rec](src).Shuffle(20).Epochs(2), 4).ChunkSize(3)
	straight := allOf(t, p)
	for k := 0; k < 60; k += 7 {
		it := begin(t, p)
		got := takeN(t, it, k)
		it.Stop()
		got = append(got, takeRest(t, it)...)
		it = goOn(t, p, saved(t, it))
		got = append(got, takeN(t, it, 2)...)
		require.NoError(t, it.Close())
		_, err := it.Next(context.Background())
		require.ErrorIs(t, err, ErrClosed)
		got = append(got, takeRest(t, goOn(t, p, saved(t, it)))...)
		require.Equal(t, straight, got)
	}
}

// healing is numbers of which some cannot be read until they are healed.
func healing(n int, bad ...int) (src numbers, healed *atomic.Bool) {
	healed = new(atomic.Bool)
	src = upTo(n)
	src.bad = func(i int) bool { return !healed.Load() && slices.Contains(bad, i) }
	return src, healed
}

// The stream fails at an element; before the error comes what stages held. The
// consumer resumes from any state, also one taken between those, when what was
// wrong has gone: every element comes once.
func TestResumeAfterAnErrorThatHasGone(t *testing.T) {
	plans := map[string]func(*Pipeline[rec]) *Pipeline[rec]{
		"plain":    func(p *Pipeline[rec]) *Pipeline[rec] { return p },
		"shuffle":  func(p *Pipeline[rec]) *Pipeline[rec] { return p.Shuffle(9) },
		"shuffles": func(p *Pipeline[rec]) *Pipeline[rec] { return p.Shuffle(9).Shuffle(5) },
		"batch": func(p *Pipeline[rec]) *Pipeline[rec] {
			return FlatMap(BatchRaw(p.Shuffle(7), 4), func(b []rec) ([]rec, error) { return b, nil })
		},
		"held back": func(p *Pipeline[rec]) *Pipeline[rec] {
			return p.Stateful(func() StatefulTransform[rec, rec] { return new(delay) }).Shuffle(5)
		},
		"held and saved": func(p *Pipeline[rec]) *Pipeline[rec] {
			return p.Shuffle(5).Stateful(func() StatefulTransform[rec, rec] { return new(savedDelay) })
		},
	}
	for name, plan := range plans {
		for _, at := range []int{0, 3, 30} {
			for _, chunk := range []int{1, 4, 64} {
				t.Run(fmt.Sprint(name, " at ", at, " chunk ", chunk), func(t *testing.T) {
					src, _ := healing(40, at)
					failed, err := takeAll(begin(t, plan(From[rec](src)).ChunkSize(chunk)))
					require.ErrorIs(t, err, errBad)
					require.Len(t, failed, at, "everything before the error")
					for k := 0; k <= at; k++ {
						src, healed := healing(40, at)
						p := plan(From[rec](src)).ChunkSize(chunk)
						it, err := p.Start(context.Background())
						require.NoError(t, err)
						got := takeN(t, it, k)
						if k == at {
							_, err := it.Next(context.Background())
							require.ErrorIs(t, err, errBad)
						}
						state := saved(t, it)
						require.NoError(t, it.Close())

						// While it is still there, the rest comes and then the error.
						it, err = p.Resume(context.Background(), state)
						require.NoError(t, err)
						rest, err := takeAll(it)
						require.ErrorIs(t, err, errBad)
						require.Equal(t, failed[k:], rest)
						require.NoError(t, it.Close())

						healed.Store(true)
						it, err = p.Resume(context.Background(), state)
						require.NoError(t, err)
						if k < at { // and a generation more
							got = append(got, takeN(t, it, 1)...)
							state = saved(t, it)
							require.NoError(t, it.Close())
							it, err = p.Resume(context.Background(), state)
							require.NoError(t, err)
						}
						got = append(got, takeRest(t, it)...)
						require.NoError(t, it.Close())
						all := firsts(got)
						slices.Sort(all)
						require.Equal(t, counted(40), all, "resumed after %d: %v", k, firsts(got))
					}
				})
			}
		}
	}
}

// census passes batches on, and tells at the end of an epoch how many there were.
type census struct{ Batches int }

func (c *census) Push(_ context.Context, b []rec, emit func([]rec)) error {
	c.Batches++
	emit(b)
	return nil
}

func (c *census) Finish(_ context.Context, emit func([]rec)) error {
	emit([]rec{{V: []int{-c.Batches}}})
	return nil
}

// delay is a stateful transform that gives elements out three later.
type delay struct{ Held []rec }

func (d *delay) Push(_ context.Context, r rec, emit func(rec)) error {
	if d.Held = append(d.Held, r); len(d.Held) > 3 {
		emit(d.Held[0])
		d.Held = slices.Clone(d.Held[1:])
	}
	return nil
}

func (d *delay) Finish(_ context.Context, emit func(rec)) error {
	for _, r := range d.Held {
		emit(r)
	}
	return nil
}

type savedDelay struct{ delay }

func (d *savedDelay) Snapshot() (any, error) { return delay{slices.Clone(d.Held)}, nil }

func (d *savedDelay) Restore(snapshot json.RawMessage) error {
	return unmarshal(snapshot, &d.delay)
}

func TestResumeRefusesAnotherConfiguration(t *testing.T) {
	base := From[rec](upTo(100)).Shuffle(10).Take(90)
	state := saved(t, begin(t, base))
	renamed := upTo(100)
	renamed.name = " of another file"
	for want, p := range map[string]*Pipeline[rec]{
		"seed was 0 and is 1":                                  base.Seed(1),
		"on_error was fail and is skip":                        base.OnError(Skip),
		"shard was none and is 0/2 uneven":                     base.Shard(0, 2),
		"canonical_shards was 0 and is 4":                      From[rec](upTo(100)).CanonicalShards(4).Shuffle(10).Take(90),
		"shuffle(10) → take(90) and is shuffle(11) → take(90)": From[rec](upTo(100)).Shuffle(11).Take(90),
		"and is take(90) → shuffle(10)":                        From[rec](upTo(100)).Take(90).Shuffle(10),
		"source was numbers and is numbers of another file":    From[rec](renamed).Shuffle(10).Take(90),
	} {
		_, err := p.Resume(context.Background(), state)
		require.ErrorIs(t, err, ErrStateMismatch)
		require.ErrorContains(t, err, want)
	}
	batches := BatchRaw(From[rec](upTo(100)), 8)
	state = saved(t, begin(t, batches))
	_, err := batches.DropLast().Resume(context.Background(), state)
	require.ErrorContains(t, err, "drop_last was false and is true")
	across := batches.AcrossEpochs()
	_, err = across.Resume(context.Background(), state)
	require.ErrorContains(t, err, "across_epochs was false and is true")
	state = saved(t, begin(t, across.Epochs(2)))
	_, err = across.Epochs(3).Resume(context.Background(), state)
	require.ErrorContains(t, err, "epochs was 2 and is 3")

	// All of it at once.
	_, err = base.Seed(3).OnError(Skip).Resume(context.Background(), saved(t, begin(t, base)))
	require.ErrorContains(t, err, "seed was 0 and is 3; on_error was fail and is skip")
}

// A source that has become shorter is not taken for the end.
func TestResumeOfAShorterSource(t *testing.T) {
	for _, policy := range []Policy{Fail, Skip} {
		for _, seek := range []bool{false, true} {
			src := upTo(100)
			src.seek = seek
			shorter := upTo(20)
			shorter.seek = seek
			for name, plan := range map[string]func(numbers) *Pipeline[rec]{
				"plain":   func(s numbers) *Pipeline[rec] { return From[rec](s).OnError(policy) },
				"shuffle": func(s numbers) *Pipeline[rec] { return From[rec](s).Shuffle(30).OnError(policy) },
				"cache":   func(s numbers) *Pipeline[rec] { return From[rec](s).Cache().OnError(policy) },
				"shard":   func(s numbers) *Pipeline[rec] { return From[rec](s).Shard(0, 1).OnError(policy) },
			} {
				it := begin(t, plan(src))
				takeN(t, it, 50)
				_, err := takeAll(goOn(t, plan(shorter), saved(t, it)))
				require.Error(t, err)
				require.NotErrorIs(t, err, io.EOF, "%s, seek %v, %v", name, seek, policy)
			}
		}
	}
}

// slowly gives a state up to when it must have been refused, or the stream have
// ended: it never hangs.
func slowly(t testing.TB, p *Pipeline[rec], state []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	it, err := p.Resume(ctx, state)
	if err != nil {
		require.True(t, errors.Is(err, ErrState) || errors.Is(err, ErrStateMismatch), "%v of %s", err, state)
		return err
	}
	_, err = takeAll(it)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "%s", state)
	require.NotErrorIs(t, err, ErrPanic, "%s", state)
	require.NoError(t, it.Close())
	if err == io.EOF {
		return nil
	}
	return err
}

func damagedPlan() *Pipeline[rec] {
	return From[rec](upTo(60)).Skip(2).Shuffle(8).Epochs(2).ChunkSize(4).
		Stateful(func() StatefulTransform[rec, rec] { return new(savedHoard) })
}

func TestDamagedStatesAreRefused(t *testing.T) {
	p := damagedPlan()
	it := begin(t, p)
	takeN(t, it, 30)
	state := saved(t, it)
	require.NoError(t, slowly(t, p, state))
	for n := range state {
		require.Error(t, slowly(t, p, state[:n]), "cut off at %d: %s", n, state[:n])
	}
	for i := range state {
		for bit := range 8 {
			flipped := slices.Clone(state)
			flipped[i] ^= 1 << bit
			require.Error(t, slowly(t, p, flipped), "%s", flipped)
		}
	}
	for _, junk := range []string{"", "null", "0", "[]", "{}", `"x"`, `{"rosaline_pipeline_state":2}`,
		`{"rosaline_pipeline_state":"1"}`, `{"rosaline_pipeline_state":1}`, `{"rosaline_pipeline_state":1,"place":{}}`, string(state) + "x"} {
		require.ErrorIs(t, slowly(t, p, []byte(junk)), ErrState, "%s", junk)
	}
}

// A state may be kept in other JSON, which changes spaces and the order of keys.
func TestStatesSurviveOtherJSON(t *testing.T) {
	p := damagedPlan()
	it := begin(t, p)
	takeN(t, it, 30)
	state := saved(t, it)
	rest := takeRest(t, goOn(t, p, state))
	var fields map[string]any
	require.NoError(t, unmarshal(state, &fields))
	require.Equal(t, rest, takeRest(t, goOn(t, p, indented(t, fields))))
}

// resealed is a state with other contents whose checksum is right again.
func resealed(t testing.TB, state []byte) []byte {
	sum, err := checksum(state)
	if err != nil {
		return state
	}
	var fields map[string]any
	if unmarshal(state, &fields) != nil || fields == nil {
		return state
	}
	fields["crc32c"] = sum
	return indented(t, fields)
}

// Contents that no run could have had are refused, or end the stream with an error or
// at its end; they cause no panic and do not hang.
func TestImpossibleStates(t *testing.T) {
	p := damagedPlan()
	it := begin(t, p)
	takeN(t, it, 30)
	state := saved(t, it)
	var fields map[string]any
	require.NoError(t, unmarshal(state, &fields))
	values := []any{nil, true, "x", -1, 0, 1.5, 7, uint64(math.MaxUint32), int64(math.MaxInt64), uint64(math.MaxUint64), []any{}, map[string]any{}, []any{1, 2, 3}}
	n := 0
	var visit func(v any, set func(any))
	visit = func(v any, set func(any)) {
		for _, other := range values {
			set(other)
			n++
			_ = slowly(t, p, resealed(t, indented(t, fields)))
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for key, old := range v {
				visit(old, func(x any) { v[key] = x })
			}
		case []any:
			for i, old := range v {
				visit(old, func(x any) { v[i] = x })
			}
		}
	}
	visit(fields["place"], func(x any) { fields["place"] = x })
	for _, key := range []string{"epoch", "delivered", "epoch_ended", "rosaline_pipeline_state"} {
		visit(fields[key], func(x any) { fields[key] = x })
	}
	require.Greater(t, n, 200)
	require.NoError(t, slowly(t, p, resealed(t, indented(t, fields))))
}

func FuzzResume(f *testing.F) {
	p := damagedPlan()
	it := begin(f, p)
	for k := range 40 {
		if k%13 == 0 {
			f.Add(saved(f, it))
		}
		takeN(f, it, 1)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		if err := slowly(t, p, state); err == nil {
			return // a state that is whole
		}
		_ = slowly(t, p, resealed(t, state))
	})
}

// Take ends an epoch before its source does. A stream that is stopped behind that goes on
// with the next epoch, and stages behind Take do not finish the last one again.
func TestResumeBehindAnEpochThatTakeEnded(t *testing.T) {
	plan := &modelPlan{policy: Skip, src: upTo(36)}
	plan.src.seek = false
	plan.stages = []modelStage{flatMapStage(false), repeatStage(2), filterStage(3), takeStage(36), statefulStage(false)}
	want, _, _ := plan.expect()
	p := plan.pipeline()
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		var state []byte
		at := 0
		for gen := 0; at < len(want)-1 && gen < 12; gen++ {
			p := p.Workers(1 + (round+gen)%4).ChunkSize(1 + (round*7+gen)%9).Prefetch(1 + round%5)
			it, err := p.Start(t.Context())
			if state != nil {
				require.NoError(t, it.Close())
				it, err = p.Resume(t.Context(), state)
			}
			require.NoError(t, err)
			for n := (round*31 + gen*17) % 7; at < len(want); n-- {
				if n == 0 {
					if gen%3 == 0 {
						break
					}
					it.Stop()
				}
				v, err := it.Next(t.Context())
				if err != nil {
					require.Equal(t, io.EOF, err)
					break
				}
				require.Equal(t, want[at].V, v.V, "round %d, element %d", round, at)
				at++
			}
			state = saved(t, it)
			require.NoError(t, it.Close())
		}
	}
}
