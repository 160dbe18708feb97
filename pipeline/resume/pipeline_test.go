package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// otherwise are a plan with other workers, chunks and prefetch.
func (p runPlan) otherwise(g int) runPlan {
	p.workers, p.chunk, p.ahead = 1+g%3, 1+(g*5)%8, 1+(g*3)%5
	return p
}

// forPlans goes through the plans of the tests.
func forPlans(t *testing.T, test func(t *testing.T, p runPlan, want [][]record)) {
	for _, shape := range shapes {
		for _, epochs := range []int64{1, 3} {
			p := planOf(shape, epochs)
			t.Run(fmt.Sprint(shape, ", epochs ", epochs), func(t *testing.T) { test(t, p, p.want(t)) })
		}
	}
}

// A commit after each k batches, then the run reads on and stops. Opened again with other
// workers it stands behind the k, commits some more, and comes to its end.
func TestPipelineGoesOnBehindEachCommit(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		for k := range len(want) + 1 {
			d := newDisk(t)
			var at []Start
			p.tell = func(s Start) { at = append(at, s) }
			r := startPlan(t, p, d)
			got := take(t, r, k)
			require.NoError(t, r.Commit())
			take(t, r, min(3, len(want)-k))
			require.NoError(t, r.Close())

			for g := 1; g <= 3; g++ {
				r = startPlan(t, p.otherwise(k+g), d)
				require.EqualValues(t, len(got), at[g].Batch)
				require.False(t, at[g].Ended)
				if g == 3 {
					break
				}
				got = append(got, take(t, r, min(g, len(want)-len(got)))...)
				require.NoError(t, r.Commit())
				require.NoError(t, r.Close())
			}
			got = append(got, rest(t, r)...)
			require.Equal(t, want, got, "committed after %d", k)
			require.NoError(t, r.Commit())
			require.NoError(t, r.Close())

			r = startPlan(t, p, d)
			require.True(t, at[4].Ended)
			require.EqualValues(t, len(want), at[4].Batch)
			require.Empty(t, rest(t, r))
			require.NoError(t, r.Commit())
			require.NoError(t, r.Close())
		}
	})
}

// A run that is opened again after each batch, and one that commits each.
func TestPipelineInManyPieces(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		d := newDisk(t)
		for k, w := range want {
			r := startPlan(t, p.otherwise(k), d)
			require.Equal(t, w, take(t, r, 1)[0])
			require.NoError(t, r.Commit())
			require.NoError(t, r.Close())
		}
		r := startPlan(t, p, d, WithMaxFrames(1))
		require.Empty(t, rest(t, r))
		require.NoError(t, r.Commit())
		require.NoError(t, r.Close())

		d = newDisk(t)
		r = startPlan(t, p, d)
		for _, w := range want {
			require.Equal(t, w, take(t, r, 1)[0])
			require.NoError(t, r.Commit())
			require.NoError(t, r.Commit())
		}
		require.Empty(t, rest(t, r))
		require.NoError(t, r.Commit())
		require.NoError(t, r.Close())
	})
}

// The log has no text that was not delivered, and in the end all of each epoch.
func TestPipelineCommitsWhatWasDelivered(t *testing.T) {
	for _, shape := range shapes[:3] {
		p := planOf(shape, 1)
		want := p.want(t)
		d := newDisk(t)
		r := startPlan(t, p, d)
		known := map[text.Hash128]bool{}
		for _, w := range want {
			require.Equal(t, w, take(t, r, 1)[0])
			require.NoError(t, r.Commit())
			for _, v := range w {
				known[text.HashOf([]byte(v.Text))] = true
			}
			for _, h := range logHashes(t, d) {
				require.True(t, known[h], "%s: a text that was not delivered", shape)
			}
		}
		require.Empty(t, rest(t, r))
		require.NoError(t, r.Commit())
		require.Len(t, logHashes(t, d), len(known))
		require.NoError(t, r.Close())
	}
}

// What the options and the folder have to do with each other.
func TestFolderOfAnotherConfiguration(t *testing.T) {
	p := planOf("dedup", 1)
	d := newDisk(t)
	options := WithConfig(map[string]string{"input": "a.jsonl", "seed": "1", "nulls": "<&>"})
	r := startPlan(t, p, d, options)
	take(t, r, 1)
	require.NoError(t, r.Commit())

	_, err := openPlan(p, d, options)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "the test")
	require.NoError(t, r.Close())

	other := WithConfig(map[string]string{"input": "b.jsonl", "seed": "1", "rank": "3"})
	_, err = openPlan(p, d, other)
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorContains(t, err, "input was a.jsonl and is b.jsonl; nulls was <&> and is not set; rank is 3 and was not set")
	require.NotContains(t, err.Error(), "seed")
	_, err = openPlan(p, d)
	require.ErrorIs(t, err, ErrConfig)

	// The file of the options is for people. If it is gone, or damaged, it comes back.
	config := readFile(t, d, "run/config")
	require.JSONEq(t, `{"input":"a.jsonl","seed":"1","nulls":"<&>"}`, string(config))
	require.EqualValues(t, '\n', config[len(config)-1])
	for _, damage := range []func(){
		func() { require.NoError(t, d.Remove("run/config")) },
		func() { writeFile(t, d, "run/config", []byte(`{"input":`)) },
		func() { writeFile(t, d, "run/config", []byte(`{"input":"b.jsonl","seed":"1","rank":"3"}`+"\n")) },
		func() { writeFile(t, d, "run/config", nil) },
	} {
		damage()
		_, err := openPlan(p, d, other)
		require.ErrorIs(t, err, ErrConfig)
		r, err := openPlan(p, d, options)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, config, readFile(t, d, "run/config"))
	}

	// Another pipeline is seen without options.
	longer := p
	longer.shape = "shuffle, dedup"
	_, err = openPlan(longer, d, options)
	require.ErrorIs(t, err, pipeline.ErrStateMismatch)
	longer = p
	longer.source.name = " of another file"
	_, err = openPlan(longer, d, options)
	require.ErrorIs(t, err, pipeline.ErrStateMismatch)
	r = startPlan(t, p, d, options)
	require.NoError(t, r.Close())
}

// Files that are missing, or do not belong together.
func TestFolderThatLacksFiles(t *testing.T) {
	p := planOf("dedup", 1)
	put := func() *fsys.Disk {
		d := newDisk(t)
		r := startPlan(t, p, d)
		take(t, r, 3)
		require.NoError(t, r.Commit())
		require.NoError(t, r.Close())
		return d
	}
	refused := func(d *fsys.Disk, want error) {
		t.Helper()
		_, err := openPlan(p, d)
		require.ErrorIs(t, err, want)
		_, err = openPlan(p, d) // no lock stays
		require.ErrorIs(t, err, want)
	}
	d := put()
	require.NoError(t, d.Remove(trackerName))
	log := readFile(t, d, logName)
	refused(d, ErrMissing)
	require.Equal(t, log, readFile(t, d, logName))

	d = put()
	require.NoError(t, d.Remove(logName))
	refused(d, ErrMissing)

	// A log and a tracker of another program have no checkpoint.
	d = newDisk(t)
	none, err := encodeConfig(nil)
	require.NoError(t, err)
	tr, err := OpenStateTracker(trackerName, ConfigOf(none), WithFS(d))
	require.NoError(t, err)
	l, err := OpenLog(logName, tr.State(), nil, WithFS(d))
	require.NoError(t, err)
	for i, state := range []string{"", "behind batch 1"} {
		generation, err := tr.Next()
		require.NoError(t, err)
		require.NoError(t, l.Append(generation, nil, []byte(state)))
		require.NoError(t, tr.Commit(State{Generation: generation, Batch: uint64(i)}))
		require.NoError(t, l.Close())
		require.NoError(t, tr.Close())
		refused(d, ErrCheckpoint)
		tr, err = OpenStateTracker(trackerName, ConfigOf(none), WithFS(d))
		require.NoError(t, err)
		l, err = OpenLog(logName, tr.State(), nil, WithFS(d))
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	require.NoError(t, tr.Close())
}

// A folder whose parents are not there yet is on the disk with its names.
func TestFolderInNewFolders(t *testing.T) {
	p := planOf("dedup", 1)
	want := p.want(t)
	d := fsys.NewDisk()
	open := func(d *fsys.Disk) *ResumablePipeline[[]record] {
		r, err := OpenPipeline(t.Context(), "a/b/c/run", p.build, WithFS(d))
		require.NoError(t, err)
		return r
	}
	r := open(d)
	take(t, r, 2)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	for _, choose := range []func(int) int{func(int) int { return 0 }, func(n int) int { return n - 1 }} {
		r = open(d.Crash(choose))
		require.Equal(t, want[2:], rest(t, r))
		require.NoError(t, r.Close())
	}
}

func TestPipelinesThatAreRefused(t *testing.T) {
	failed := errors.New("no input")
	p := planOf("dedup", 1)
	for _, c := range []struct {
		want  error
		build func(Start) (*pipeline.Pipeline[[]record], error)
	}{
		{pipeline.ErrUnordered, func(s Start) (*pipeline.Pipeline[[]record], error) {
			q, err := p.build(s)
			return q.Unordered(), err
		}},
		{failed, func(Start) (*pipeline.Pipeline[[]record], error) { return nil, failed }},
		{pipeline.ErrConfig, func(s Start) (*pipeline.Pipeline[[]record], error) {
			q, err := p.build(s)
			return q.Workers(-1), err
		}},
		{pipeline.ErrConfig, func(Start) (*pipeline.Pipeline[[]record], error) { return nil, nil }},
	} {
		d := newDisk(t)
		for range 2 {
			_, err := OpenPipeline(t.Context(), "run", c.build, WithFS(d))
			require.ErrorIs(t, err, c.want)
			_, err = NewPipeline(t.Context(), c.build)
			require.ErrorIs(t, err, c.want)
		}
		// Nothing is in the way of one that is right.
		require.NoError(t, startPlan(t, p, d).Close())
	}
}

// Two stages with one set would take each other's texts for duplicates.
func TestTwoStagesOfOneDedup(t *testing.T) {
	p := planOf("dedup", 1)
	r, err := NewPipeline(t.Context(), func(s Start) (*pipeline.Pipeline[[]record], error) {
		return p.grouped(Deduplicate(Deduplicate(pipeline.From[record](p.source), s.Dedup, firstText), s.Dedup, firstText)), nil
	})
	require.NoError(t, err)
	_, err = drain(r)
	require.ErrorIs(t, err, ErrCheckpoint)
	require.NoError(t, r.Close())
}

// A record cannot be read, later it can. What comes before the error is the begin of the
// stream, and what comes after it the rest.
func TestErrorOfTheSourceThatGoes(t *testing.T) {
	failed := errors.New("a record that cannot be read")
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		for _, at := range []int{0, 1, 17, 40, 59} {
			for _, epoch := range []int{1, int(p.epochs)} {
				var healed atomic.Bool
				opened := atomic.Int64{}
				p.source.bad = func(id int) error {
					if id == 0 && !healed.Load() {
						opened.Add(1)
					}
					if id == at && int(opened.Load()) == epoch && !healed.Load() {
						return failed
					}
					return nil
				}
				for _, every := range []bool{false, true} {
					healed.Store(false)
					opened.Store(0)
					d := newDisk(t)
					r := startPlan(t, p, d)
					got := [][]record{}
					for {
						v, err := r.Next(t.Context())
						if err == io.EOF {
							break // Take ended the epoch before
						}
						if err != nil {
							require.ErrorIs(t, err, failed)
							break
						}
						got = append(got, v)
						if every {
							require.NoError(t, r.Commit())
						}
					}
					goesOnHealed(t, p, d, r, at, got, want, &healed, fmt.Sprintf("record %d of epoch %d", at, epoch))
				}
			}
		}
	})
}

// goesOnHealed takes what a run has given up to an error, and sees it give the rest once that is
// gone: from its folder, and from a state in memory.
func goesOnHealed(t *testing.T, p runPlan, d *fsys.Disk, r *ResumablePipeline[[]record], at int, got, want [][]record, healed *atomic.Bool, what string) {
	require.Equal(t, want[:len(got)], got, what)
	state, err := r.State()
	require.NoError(t, err)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	healed.Store(true)
	r = startPlan(t, p.otherwise(at), d)
	require.Equal(t, want[len(got):], rest(t, r), what)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	m := memoryPlan(t, p)
	require.NoError(t, m.Load(state))
	require.Equal(t, want[len(got):], rest(t, m), what)
	require.NoError(t, m.Close())
}

// The function of the deduplication fails, before it stages a text or after, by an error or
// a panic. The text is no duplicate of itself later.
func TestErrorOfTheDeduplicationThatGoes(t *testing.T) {
	failed := errors.New("a text that cannot be told")
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		for _, at := range []int{0, 1, 18, 40, 58} {
			for way := range 4 {
				var healed atomic.Bool
				p.unique = func(set *text.StreamDeduplicator, r record) (bool, error) {
					bad := r.ID == at && !healed.Load()
					if bad && way%2 == 1 {
						set.IsUnique([]byte(r.Text))
					}
					switch {
					case bad && way < 2:
						return false, failed
					case bad:
						panic(failed)
					}
					return firstText(set, r)
				}
				d := newDisk(t)
				r := startPlan(t, p, d)
				got, err := drain(r)
				if err != io.EOF {
					require.ErrorIs(t, err, failed)
					require.Equal(t, way >= 2, errors.Is(err, pipeline.ErrPanic))
				}
				goesOnHealed(t, p, d, r, at, got, want, &healed, fmt.Sprintf("record %d, way %d", at, way))
			}
		}
	})
}

// Under Skip an error without a trace leaves the record out; one behind a text that was
// staged ends the stream, as the text would be known and the record not.
func TestErrorOfTheDeduplicationUnderSkip(t *testing.T) {
	for way := range 4 {
		p := planOf("dedup", 1)
		p.unique = func(set *text.StreamDeduplicator, r record) (bool, error) {
			if r.ID == 5 {
				if way%2 == 1 {
					require.True(t, set.IsUnique([]byte("nobody else has it")))
				}
				if way >= 2 {
					panic("5")
				}
				return false, errors.New("5")
			}
			return firstText(set, r)
		}
		r, err := NewPipeline(t.Context(), func(s Start) (*pipeline.Pipeline[[]record], error) {
			q, err := p.build(s)
			return q.OnError(pipeline.Skip), err
		})
		require.NoError(t, err)
		got, err := drain(r)
		if way%2 == 1 {
			require.NotErrorIs(t, err, io.EOF)
			if way == 1 {
				require.ErrorContains(t, err, ": 5")
			} else {
				require.ErrorIs(t, err, ErrCheckpoint) // from the next record
			}
		} else {
			require.Equal(t, io.EOF, err)
		}
		for _, b := range got {
			for _, v := range b {
				require.NotEqual(t, 5, v.ID)
			}
		}
		require.NoError(t, r.Close())
	}
}

// The end of a context ends the stream and loses nothing.
func TestPipelineWhoseContextEnds(t *testing.T) {
	p := planOf("shuffle, dedup", 3)
	want := p.want(t)
	d := newDisk(t)
	at := 0
	for at < len(want) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := OpenPipeline(ctx, "run", p.build, WithFS(d))
		require.NoError(t, err)
		got := take(t, r, min(2, len(want)-at))
		require.Equal(t, want[at:][:len(got)], got)
		at += len(got)
		cancel()
		more, err := drain(r) // what was ready may come still
		require.True(t, errors.Is(err, context.Canceled) || err == io.EOF, "%v", err)
		require.Equal(t, want[at:][:len(more)], more)
		at += len(more)
		require.NoError(t, r.Commit())
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		_, err = r.Next(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		_, err = r.State()
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, r.Load(nil), ErrShort)
	}
}

// All gives the elements, and the error last.
func TestPipelineAll(t *testing.T) {
	p := planOf("dedup", 1)
	want := p.want(t)
	r := memoryPlan(t, p)
	got := [][]record{}
	for v, err := range r.All(t.Context()) {
		require.NoError(t, err)
		if got = append(got, v); len(got) == 2 {
			break
		}
	}
	for v, err := range r.All(t.Context()) {
		require.NoError(t, err)
		got = append(got, v)
	}
	require.Equal(t, want, got)
	require.EqualValues(t, len(want), r.Stats().Delivered)
	require.NoError(t, r.Close())
	calls := 0
	for _, err := range r.All(t.Context()) {
		require.ErrorIs(t, err, ErrClosed)
		calls++
	}
	require.Equal(t, 1, calls)
}

// A pipeline without deduplication, and one that asks the set itself.
func TestPipelineWithoutDeduplication(t *testing.T) {
	p := planOf("dedup", 2)
	build := func(Start) (*pipeline.Pipeline[[]record], error) {
		return p.grouped(pipeline.From[record](p.source).Shuffle(9)), nil
	}
	it, err := func() (*pipeline.Iterator[[]record], error) { q, _ := build(Start{}); return q.Start(t.Context()) }()
	require.NoError(t, err)
	var want [][]record
	for v, err := range it.All(t.Context()) {
		require.NoError(t, err)
		want = append(want, v)
	}
	d := newDisk(t)
	for k := range want {
		r, err := OpenPipeline(t.Context(), "run", build, WithFS(d))
		require.NoError(t, err)
		require.Equal(t, want[k], take(t, r, 1)[0])
		state, err := r.State()
		require.NoError(t, err)
		require.NoError(t, r.Load(state))
		require.NoError(t, r.Commit())
		require.NoError(t, r.Close())
	}
	require.Empty(t, logHashes(t, d))
}

// What is resumed is sought: of a source that tells positions little is read again, and the
// coordinate of the tracker says where.
func TestPipelineSeeks(t *testing.T) {
	p := planOf("dedup", 1)
	p.source = records{n: 4000, texts: 1 << 20, reads: new(atomic.Int64)}
	p.workers = 1
	d := newDisk(t)
	r := startPlan(t, p, d)
	take(t, r, 900)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	report, err := InspectTracker(trackerName, WithFS(d))
	require.NoError(t, err)
	s := report.Slots[report.Current].State
	require.EqualValues(t, 900, s.Batch)
	require.InDelta(t, 3600, s.Coordinate.Row, 40)
	require.LessOrEqual(t, s.Coordinate.Row, uint64(3600))
	p.source.reads.Store(0)
	r = startPlan(t, p, d)
	take(t, r, 1)
	require.NoError(t, r.Close())
	require.Less(t, p.source.reads.Load(), int64(100))
}

func TestWithCoordinate(t *testing.T) {
	p := planOf("dedup", 1)
	d := newDisk(t)
	r := startPlan(t, p, d, WithCoordinate(func(at pipeline.SourceMark) Coordinate {
		return Coordinate{Shard: 7, Offset: at.Count, Row: uint64(at.Skip)}
	}))
	take(t, r, 3)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	report, err := InspectTracker(trackerName, WithFS(d))
	require.NoError(t, err)
	c := report.Slots[report.Current].State.Coordinate
	require.EqualValues(t, 7, c.Shard)
}

func TestCoordinateOf(t *testing.T) {
	for position, want := range map[string]Coordinate{
		`{"file":2,"offset":100,"lines":7}`:           {Shard: 2, Offset: 100, Row: 7},
		`{"input":3,"lines":{"offset":50,"lines":4}}`: {Shard: 3, Offset: 50, Row: 4},
		`{"input":1,"table":{"row":9,"offset":20}}`:   {Shard: 1, Offset: 20, Row: 9},
		`17`:                         {Row: 33},
		`null`:                       {Row: 33},
		``:                           {Row: 33},
		`{"file":"of another kind"}`: {Row: 33},
		`{"input":0,"lines":{}}`:     {Row: 33},
	} {
		require.Equal(t, want, CoordinateOf(pipeline.SourceMark{Count: 33, Position: json.RawMessage(position)}), position)
	}
}

// The sets of epochs that are over are let go of once they are committed.
func TestDedupEntries(t *testing.T) {
	p := planOf("dedup", 3)
	want := p.want(t)
	perEpoch := 0
	for _, b := range want[:len(want)/3] {
		perEpoch += len(b)
	}
	var dedup *Dedup
	p.tell = func(s Start) { dedup = s.Dedup }
	r := startPlan(t, p, newDisk(t))
	for range want {
		take(t, r, 1)
		require.NoError(t, r.Commit())
	}
	require.Empty(t, rest(t, r))
	require.NoError(t, r.Commit())
	n, size := dedup.Entries()
	require.Equal(t, perEpoch, n)
	require.Positive(t, size)
	require.NoError(t, r.Close())
}
