package resume

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is an element of the tests. Many have the same text.
type record struct {
	ID   int
	Text string
}

// records is a source of numbered records, of which so many texts are different.
type records struct {
	n, texts int
	bad      func(id int) error // that of reading a record
	reads    *atomic.Int64
	name     string
}

func (s records) record(id int) record {
	return record{id, fmt.Sprintf("text %d", rand.New(rand.NewPCG(uint64(id), 7)).IntN(s.texts))}
}

// Describe implements [pipeline.Describer].
func (s records) Describe() string { return "records" + s.name }

// Open implements [pipeline.Source].
func (s records) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[record], error) {
	c := &recordsCursor{records: s}
	if at.Position != nil {
		if err := json.Unmarshal(at.Position, &c.at); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type recordsCursor struct {
	records
	at int
}

func (c *recordsCursor) Next(context.Context) (record, error) {
	if c.at == c.n {
		return record{}, io.EOF
	}
	if c.bad != nil {
		if err := c.bad(c.at); err != nil {
			return record{}, err
		}
	}
	if c.reads != nil {
		c.reads.Add(1)
	}
	c.at++
	return c.record(c.at - 1), nil
}

func (c *recordsCursor) Close() error  { return nil }
func (c *recordsCursor) Position() any { return c.at }

// runPlan is a pipeline of the tests: records that are shuffled and of which duplicates are
// left out, in batches of 4.
type runPlan struct {
	source  records
	shape   string // what comes before the batches
	epochs  int64
	workers int
	chunk   int
	ahead   int // Prefetch
	unique  func(set *text.StreamDeduplicator, r record) (bool, error)
	tell    func(Start) // is called with where the pipeline begins
}

// shapes are those of the plans.
var shapes = []string{"dedup", "shuffle, dedup", "dedup, shuffle", "shuffle, dedup, shuffle", "dedup, take", "filter, dedup, skip"}

func planOf(shape string, epochs int64) runPlan {
	return runPlan{source: records{n: 60, texts: 30}, shape: shape, epochs: epochs, workers: 2, chunk: 4, ahead: 4, unique: firstText}
}

// firstText tells whether a text is new.
func firstText(set *text.StreamDeduplicator, r record) (bool, error) {
	return set.IsUnique([]byte(r.Text)), nil
}

func even(r record) bool { return r.ID%2 == 0 }

func (p runPlan) build(s Start) (*pipeline.Pipeline[[]record], error) {
	if p.tell != nil {
		p.tell(s)
	}
	return p.grouped(p.stages(func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] {
		return Deduplicate(q, s.Dedup, p.unique)
	})), nil
}

// stages is the plan before the batches.
func (p runPlan) stages(dedup func(*pipeline.Pipeline[record]) *pipeline.Pipeline[record]) *pipeline.Pipeline[record] {
	q := pipeline.From[record](p.source)
	switch p.shape {
	case "dedup":
		return dedup(q)
	case "shuffle, dedup":
		return dedup(q.Shuffle(16))
	case "dedup, shuffle":
		return dedup(q).Shuffle(16)
	case "shuffle, dedup, shuffle":
		return dedup(q.Shuffle(5)).Shuffle(9)
	case "dedup, take":
		return dedup(q).Take(18)
	case "filter, dedup, skip":
		return dedup(q.Filter(even)).Skip(2)
	}
	panic("no such shape: " + p.shape)
}

func (p runPlan) grouped(q *pipeline.Pipeline[record]) *pipeline.Pipeline[[]record] {
	return pipeline.BatchRaw(q, 4).Epochs(p.epochs).Workers(p.workers).ChunkSize(p.chunk).Prefetch(p.ahead)
}

// want is all that the pipeline delivers. The deduplication of it is a map; for the order of
// a shuffle it asks the engine, which is tested elsewhere.
func (p runPlan) want(t testing.TB) [][]record {
	p.source.bad, p.source.reads = nil, nil
	one := func(r record) bool { return true }
	// A shuffle depends on its place in the pipeline, so that a stage is where another was.
	order := func(from pipeline.Source[record], stages func(*pipeline.Pipeline[record]) *pipeline.Pipeline[record]) [][]record {
		it, err := stages(pipeline.From(from)).Epochs(p.epochs).Start(t.Context())
		require.NoError(t, err)
		out := [][]record{}
		for _, epoch := range it.Epochs(t.Context()) {
			records := []record{}
			for r, err := range epoch {
				require.NoError(t, err)
				records = append(records, r)
			}
			out = append(out, records)
		}
		return out
	}
	unique := func(epochs [][]record) [][]record {
		var out [][]record
		for _, epoch := range epochs {
			come, list := map[string]bool{}, []record{}
			for _, r := range epoch {
				if !come[r.Text] {
					list = append(list, r)
				}
				come[r.Text] = true
			}
			out = append(out, list)
		}
		return out
	}
	var epochs [][]record
	plain := order(p.source, func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] { return q })
	switch p.shape {
	case "dedup":
		epochs = unique(plain)
	case "shuffle, dedup":
		epochs = unique(order(p.source, func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] { return q.Shuffle(16) }))
	case "dedup, shuffle":
		epochs = order(listed(unique(plain)), func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] { return q.Filter(one).Shuffle(16) })
	case "shuffle, dedup, shuffle":
		epochs = unique(order(p.source, func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] { return q.Shuffle(5) }))
		epochs = order(listed(epochs), func(q *pipeline.Pipeline[record]) *pipeline.Pipeline[record] {
			return q.Filter(one).Filter(one).Shuffle(9)
		})
	case "dedup, take":
		for _, epoch := range unique(plain) {
			epochs = append(epochs, epoch[:18])
		}
	case "filter, dedup, skip":
		for i := range plain {
			plain[i] = slices.DeleteFunc(plain[i], func(r record) bool { return !even(r) })
		}
		for _, epoch := range unique(plain) {
			epochs = append(epochs, epoch[2:])
		}
	}
	batches := [][]record{}
	for _, epoch := range epochs {
		for b := range slices.Chunk(epoch, 4) {
			batches = append(batches, b)
		}
	}
	require.Greater(t, len(batches), int(3*p.epochs))
	return batches
}

// listed is a source of the records of each epoch.
type listed [][]record

func (l listed) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[record], error) {
	return &listedCursor{l[at.Epoch]}, nil
}

type listedCursor struct{ left []record }

func (c *listedCursor) Next(context.Context) (record, error) {
	if len(c.left) == 0 {
		return record{}, io.EOF
	}
	r := c.left[0]
	c.left = c.left[1:]
	return r, nil
}

func (c *listedCursor) Close() error { return nil }

// openPlan opens a plan with its folder on a disk.
func openPlan(p runPlan, d fsys.FS, opts ...Option) (*ResumablePipeline[[]record], error) {
	return OpenPipeline(context.Background(), "run", p.build, append([]Option{WithFS(d), WithHolder("the test")}, opts...)...)
}

// startPlan is openPlan of a pipeline that is closed with the test.
func startPlan(t testing.TB, p runPlan, d fsys.FS, opts ...Option) *ResumablePipeline[[]record] {
	r, err := openPlan(p, d, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// memoryPlan starts a plan without a folder.
func memoryPlan(t testing.TB, p runPlan) *ResumablePipeline[[]record] {
	r, err := NewPipeline(context.Background(), p.build)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// take takes n elements.
func take[T any](t testing.TB, r *ResumablePipeline[T], n int) []T {
	out := make([]T, 0, n)
	for range n {
		v, err := r.Next(context.Background())
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

// drain takes what comes up to an error, which may be the end.
func drain[T any](r *ResumablePipeline[T]) ([]T, error) {
	out := []T{}
	for {
		v, err := r.Next(context.Background())
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

// rest takes what comes up to a clean end.
func rest[T any](t testing.TB, r *ResumablePipeline[T]) []T {
	out, err := drain(r)
	require.ErrorIs(t, err, io.EOF)
	return out
}

// logHashes are all in a log, by its layout.
func logHashes(t testing.TB, d fsys.FS) []text.Hash128 {
	hashes, err := hashesIn(d)
	require.NoError(t, err)
	return hashes
}

func hashesIn(d fsys.FS) ([]text.Hash128, error) {
	f, err := d.Open(logName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := readAll(f)
	if err != nil {
		return nil, err
	}
	out := []text.Hash128{}
	r := newFrameReader(bytes.NewReader(raw), int64(len(raw)))
	for {
		var f frame
		switch err := r.next(&f); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, f.hashes...)
	}
}
