package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// item is an element of a length.
type item struct{ ID, Len int }

func (v item) length() int { return v.Len }

// items makes elements of lengths, which are told apart by epoch.
func items(lengths []int) listed[item] {
	return listed[item]{of: func(epoch int64) []item {
		out := make([]item, len(lengths))
		for i, n := range lengths {
			out[i] = item{1000*int(epoch) + i, n}
		}
		return out
	}}
}

// bucketModel makes batches of elements by length, one after the other.
type bucketModel struct {
	bounds, sizes      []int
	tokens             int
	dropLast, straddle bool
}

// padded is how many tokens a batch has when it is padded.
func padded(batch []item) int {
	longest := 1
	for _, v := range batch {
		longest = max(longest, v.Len)
	}
	return longest * len(batch)
}

func (m bucketModel) batches(epochs [][]item) [][]item {
	out := [][]item{}
	held := make([][]item, len(m.bounds)+1)
	give := func(i int) {
		out = append(out, held[i])
		held[i] = nil
	}
	for e, list := range epochs {
		for _, v := range list {
			i := 0
			for i < len(m.bounds) && m.bounds[i] <= v.Len {
				i++
			}
			with := func(v item) []item { return append(slices.Clone(held[i]), v) }
			if m.tokens > 0 && padded(with(v)) > m.tokens {
				give(i)
			}
			held[i] = with(v)
			if m.tokens > 0 && padded(with(item{})) > m.tokens || m.tokens == 0 && len(held[i]) == m.sizes[i%len(m.sizes)] {
				give(i)
			}
		}
		for i := range held {
			if m.straddle && e < len(epochs)-1 || len(held[i]) == 0 {
				continue
			}
			if give(i); m.dropLast {
				out = out[:len(out)-1]
			}
		}
	}
	return out
}

// plan is the same as a pipeline.
func (m bucketModel) plan(p *pipeline.Pipeline[item]) *pipeline.Pipeline[[]item] {
	var out *pipeline.Pipeline[[]item]
	if m.tokens > 0 {
		out = pipeline.BucketTokens(p, item.length, m.bounds, m.tokens)
	} else {
		out = pipeline.Bucket(p, item.length, m.bounds, m.sizes...)
	}
	if m.dropLast {
		out = out.DropLast()
	}
	if m.straddle {
		out = out.AcrossEpochs()
	}
	return out
}

func drawBuckets(t *rapid.T) bucketModel {
	m := bucketModel{dropLast: rapid.Bool().Draw(t, "dropLast"), straddle: rapid.Bool().Draw(t, "straddle")}
	bound := 0
	for range rapid.IntRange(0, 4).Draw(t, "bounds") {
		bound += rapid.IntRange(1, 6).Draw(t, "step")
		m.bounds = append(m.bounds, bound)
	}
	switch rapid.SampledFrom([]string{"sizes", "size", "tokens"}).Draw(t, "by") {
	case "sizes":
		for range len(m.bounds) + 1 {
			m.sizes = append(m.sizes, rapid.IntRange(1, 7).Draw(t, "size"))
		}
	case "size":
		m.sizes = []int{rapid.IntRange(1, 7).Draw(t, "size")}
	case "tokens":
		m.tokens = rapid.IntRange(20, 60).Draw(t, "tokens")
	}
	return m
}

// before makes a pipeline that ends before the stage to be tested.
func before[T any](t *rapid.T, src listed[T], copies func(T, int) T) *pipeline.Pipeline[T] {
	src.seek = rapid.Bool().Draw(t, "seek")
	p := pipeline.From[T](src).Seed(rapid.Uint64().Draw(t, "seed")).Epochs(rapid.Int64Range(1, 3).Draw(t, "epochs"))
	switch rapid.SampledFrom([]string{"", "flatmap", "shuffle", "skip"}).Draw(t, "before") {
	case "flatmap":
		p = p.FlatMap(func(v T) ([]T, error) { return []T{copies(v, 0), copies(v, 1), copies(v, 2)}, nil })
	case "shuffle":
		p = p.Shuffle(7)
	case "skip":
		p = p.Skip(2).Take(50)
	}
	return p
}

// restart draws with what a generation is run, which no output depends on, and after how
// many outputs each ends.
func restart[T any](t *rapid.T, p *pipeline.Pipeline[T]) (func(int) *pipeline.Pipeline[T], []int) {
	workers := rapid.SliceOfN(rapid.IntRange(1, 4), 4, 4).Draw(t, "workers")
	chunks := rapid.SliceOfN(rapid.IntRange(1, 70), 4, 4).Draw(t, "chunks")
	cuts := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 9).Draw(t, "cuts")
	return func(g int) *pipeline.Pipeline[T] {
		return p.Workers(workers[g%4]).ChunkSize(chunks[g%4])
	}, cuts
}

func drawLengths(t *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(0, 20), 0, 120).Draw(t, "lengths")
}

func TestBucketIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBuckets(t)
		p := before(t, items(drawLengths(t)), func(v item, n int) item { return item{v.ID*10 + n, v.Len} })
		want := m.batches(byEpoch(t, p))
		plan, cuts := restart(t, m.plan(p))
		got, _ := inGenerations(t, plan, cuts)
		require.Equal(t, want, got)
	})
}

// Elements behind the stage may come from one batch: places are in the middle of it.
func TestBucketIsResumedInABatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBuckets(t)
		p := before(t, items(drawLengths(t)), func(v item, n int) item { return item{v.ID*10 + n, v.Len} })
		want := []item{}
		for _, b := range m.batches(byEpoch(t, p)) {
			want = append(want, b...)
		}
		plan, cuts := restart(t, pipeline.FlatMap(m.plan(p), func(b []item) ([]item, error) { return b, nil }))
		got, _ := inGenerations(t, plan, cuts)
		require.Equal(t, want, got)
	})
}

func TestBucketIsResumedAfterEveryBatch(t *testing.T) {
	lengths := make([]int, 150)
	for i := range lengths {
		lengths[i] = i * i % 23
	}
	for _, m := range []bucketModel{
		{bounds: []int{4, 9, 15}, sizes: []int{7, 5, 3, 2}},
		{bounds: []int{1, 22}, sizes: []int{2, 5, 9}, straddle: true},
		{bounds: []int{5, 10}, tokens: 50, dropLast: true},
	} {
		p := pipeline.From[item](items(lengths)).Epochs(2).ChunkSize(9)
		want := m.batches(byEpoch(t, p))
		for k := 0; k <= len(want); k++ {
			got, _ := inGenerations(t, func(int) *pipeline.Pipeline[[]item] { return m.plan(p) }, []int{k, 0, 1, 3})
			require.Equal(t, want, got, "after %d batches", k)
		}
	}
}

func TestBucketGivesEachElementOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBuckets(t)
		m.dropLast = false
		lengths := drawLengths(t)
		plan, cuts := restart(t, m.plan(pipeline.From[item](items(lengths))))
		batches, _ := inGenerations(t, plan, cuts)
		times := make([]int, len(lengths))
		for _, b := range batches {
			for _, v := range b {
				times[v.ID]++
			}
			if m.tokens > 0 {
				require.LessOrEqual(t, padded(b), m.tokens)
			}
		}
		for id, n := range times {
			require.Equal(t, 1, n, "element %d", id)
		}
	})
}

// What was delivered before an error and what comes when its cause is gone are
// together what there is, and the state is that of the error.
func TestBucketGoesOnBehindAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBuckets(t)
		m.straddle = false
		lengths := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 90).Draw(t, "lengths")
		at := rapid.IntRange(0, len(lengths)-1).Draw(t, "broken")
		src := items(lengths)
		src.seek, src.broken = rapid.Bool().Draw(t, "seek"), new(atomic.Int64)
		src.broken.Store(int64(at) + 1)
		plan, _ := restart(t, m.plan(pipeline.From[item](src)))

		it, err := plan(0).Start(context.Background())
		require.NoError(t, err)
		got := [][]item{}
		for {
			b, err := it.Next(context.Background())
			if err != nil {
				require.ErrorIs(t, err, errBroken)
				break
			}
			got = append(got, b)
		}
		state, err := it.State()
		require.NoError(t, err)
		require.NoError(t, it.Close())

		src.broken.Store(0)
		it, err = plan(1).Resume(context.Background(), state)
		require.NoError(t, err)
		for b, err := range it.All(context.Background()) {
			require.NoError(t, err)
			got = append(got, b)
		}
		all := src.of(0)
		want := m.batches([][]item{all[:at], all[at:]})
		if m.dropLast { // what is held is not given out, and not lost
			want = m.batches([][]item{all})
		}
		require.Equal(t, want, got)
	})
}

// brokenAnywhere stops a stream that fails after each number of outputs, also among
// those that the error brings out, which are those from cut on. The source is broken in front
// of element at; healthy is what comes if it never was, want if it was mended after the
// error.
func brokenAnywhere[T any](t require.TestingT, plan func(int) *pipeline.Pipeline[T], broken *atomic.Int64, at, cut int, healthy, want []T) {
	run := func(g int, state []byte, most int) (out []T, next []byte, err error) {
		var it *pipeline.Iterator[T]
		if state == nil {
			it, err = plan(g).Start(context.Background())
		} else {
			it, err = plan(g).Resume(context.Background(), state)
		}
		require.NoError(t, err)
		defer func() { require.NoError(t, it.Close()) }()
		for n := 0; n < most && err == nil; n++ {
			var v T
			if v, err = it.Next(context.Background()); err == nil {
				out = append(out, v)
			}
		}
		next, stateErr := it.State()
		require.NoError(t, stateErr)
		return out, next, err
	}
	const all = 1 << 30
	broken.Store(int64(at) + 1)
	until, _, err := run(0, nil, all)
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, want[:len(until)], append([]T{}, until...))
	for k := range len(until) + 1 {
		broken.Store(int64(at) + 1)
		_, state, err := run(1, nil, k)
		require.NoError(t, err)
		got, after, err := run(2, state, all)
		require.ErrorIs(t, err, errBroken)
		require.Equal(t, append([]T{}, until[k:]...), append([]T{}, got...), "after %d outputs, still broken", k)
		broken.Store(0)
		got, _, err = run(3, after, all)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, append([]T{}, want[len(until):]...), append([]T{}, got...), "after %d outputs and the error", k)
		got, _, err = run(3, state, all)
		require.ErrorIs(t, err, io.EOF)
		rest := want
		if k <= cut && assert.ObjectsAreEqual(healthy[k:], got) { // nothing that it brings out has been delivered
			rest = healthy
		}
		require.Equal(t, append([]T{}, rest[k:]...), append([]T{}, got...), "after %d outputs of %d, mended; the error brings out those from %d on", k, len(until), cut)
	}
}

func TestBucketIsResumedAroundAnError(t *testing.T) {
	lengths := make([]int, 90)
	for i := range lengths {
		lengths[i] = i * i % 23
	}
	for _, m := range []bucketModel{
		{bounds: []int{4, 9, 15}, sizes: []int{7, 5, 9, 4}},
		{bounds: []int{5, 10}, tokens: 50},
		{bounds: []int{5, 10}, sizes: []int{8}, dropLast: true},
	} {
		for _, at := range []int{0, 3, 17, 40, 61} {
			src := items(lengths)
			src.broken = new(atomic.Int64)
			all := src.of(0)
			healthy := m.batches([][]item{all})
			want := m.batches([][]item{all[:at], all[at:]})
			if m.dropLast {
				want = healthy
			}
			full := m
			full.dropLast = true
			cut := len(full.batches([][]item{all[:at]}))
			plan := func(g int) *pipeline.Pipeline[[]item] {
				return m.plan(pipeline.From[item](src)).ChunkSize(5 + 4*g)
			}
			brokenAnywhere(t, plan, src.broken, at, cut, healthy, want)
		}
	}
}

// brokenAgain stops a stream after each number of outputs, and resumes it from a source that
// fails at each element once. Nothing may be lost or come twice. What the error brings out
// may be smaller than it were, so ids tells what is in an output, each 1 once.
func brokenAgain[T any](t require.TestingT, p *pipeline.Pipeline[T], broken *atomic.Int64, elements, outputs int, ids func(T) []int) {
	for n := range outputs {
		for at := n % 2; at < elements; at += 2 {
			var got []int
			var state []byte
			for g, most := range []int{n, 1 << 30, 1 << 30} {
				broken.Store(0)
				if g == 1 {
					broken.Store(int64(at) + 1)
				}
				var it *pipeline.Iterator[T]
				var err error
				if state == nil {
					it, err = p.Start(context.Background())
				} else {
					it, err = p.Resume(context.Background(), state)
				}
				require.NoError(t, err)
				for i := 0; i < most && err == nil; i++ {
					var v T
					if v, err = it.Next(context.Background()); err == nil {
						got = append(got, ids(v)...)
					}
				}
				if err != nil && err != io.EOF {
					require.ErrorIs(t, err, errBroken)
				}
				state, err = it.State()
				require.NoError(t, err)
				require.NoError(t, it.Close())
			}
			slices.Sort(got)
			for i := 1; i < len(got); i++ {
				require.Equal(t, got[i-1]+1, got[i], "after %d outputs, then broken at %d", n, at)
			}
			require.Equal(t, elements, len(got), "after %d outputs, then broken at %d", n, at)
		}
	}
}

func TestBucketFailsBeforeItHasGoneBack(t *testing.T) {
	lengths := make([]int, 70)
	for i := range lengths {
		if lengths[i] = 1; i%11 == 1 {
			lengths[i] = 9
		}
	}
	src := items(lengths)
	src.broken, src.seek = new(atomic.Int64), true
	p := pipeline.Bucket(pipeline.From[item](src).ChunkSize(1), item.length, []int{5}, 4, 2)
	brokenAgain(t, p, src.broken, len(lengths), 15, func(batch []item) (ids []int) {
		for _, v := range batch {
			ids = append(ids, v.ID)
		}
		return ids
	})
}

// A stage behind must not be told again of the end of an epoch that is gone back over.
func TestBucketPassesEndsOfEpochsOnOnce(t *testing.T) {
	lengths := slices.Repeat([]int{1}, 40)
	lengths[38] = 9 // is held through the next epoch
	p := pipeline.Bucket(pipeline.From[item](items(lengths)).ChunkSize(3).Epochs(3), item.length, []int{5}, 1, 3).AcrossEpochs().Skip(7).Take(31)
	want := slices.Concat(byEpoch(t, p)...)
	require.Len(t, want, 3*31)
	for k := range want {
		got, _ := inGenerations(t, func(int) *pipeline.Pipeline[[]item] { return p }, []int{k})
		require.Equal(t, want, got, "after %d batches", k)
	}
}

func TestBucketStateIsSmall(t *testing.T) {
	lengths := make([]int, 4000)
	for i := range lengths {
		lengths[i] = i * 7919 % 4
	}
	p := pipeline.Bucket(pipeline.From[item](items(lengths)), item.length, []int{1, 2, 3}, 901, 700, 600, 2)
	got, largest := inGenerations(t, func(int) *pipeline.Pipeline[[]item] { return p }, []int{1, 100, 300, 1, 50})
	require.Greater(t, len(got), 500)
	require.Less(t, largest, 700, "bytes, while up to 2,200 elements are held")
}

func TestBucketsNeedLittlePadding(t *testing.T) {
	lengths := make([]int, 3000)
	for i := range lengths {
		lengths[i] = 1 + i*7919%64
	}
	share := func(batches [][]item) float64 {
		tokens, room := 0, 0
		for _, b := range batches {
			room += padded(b)
			for _, v := range b {
				tokens += v.Len
			}
		}
		return 1 - float64(tokens)/float64(room)
	}
	p := pipeline.From[item](items(lengths))
	plain := share(byEpoch(t, pipeline.BatchRaw(p, 16))[0])
	buckets := share(byEpoch(t, pipeline.Bucket(p, item.length, []int{9, 17, 25, 33, 41, 49, 57}, 16))[0])
	// A batch of plain elements is as long as the longest, about 64, and half full; in
	// a bucket of width 8 about 3.5 of 8 tokens at the end are padding.
	require.Greater(t, plain, 0.4)
	require.Less(t, buckets, 0.13)
}

func TestBucketErrorsAreAboutElements(t *testing.T) {
	lengths := []int{3, 5, -1, 3, 40, 5, 7, 2}
	length := func(v item) int {
		if v.Len == 7 {
			panic("no length")
		}
		return v.Len
	}
	for i, want := range map[int]error{4: pipeline.ErrTooLong, 6: pipeline.ErrPanic} {
		it, err := pipeline.BucketTokens(pipeline.From[item](items(lengths[i:])), length, nil, 20).Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(context.Background())
		require.ErrorIs(t, err, want)
		require.NoError(t, it.Close())
	}

	var told []error
	p := pipeline.BucketTokens(pipeline.From[item](items(lengths)), length, nil, 20).
		OnError(pipeline.Skip).ErrorSink(func(err *pipeline.StageError) {
		require.Equal(t, "bucket", err.Stage)
		told = append(told, fmt.Errorf("%d: %w", err.Index, err))
	})
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	var ids []int
	for b, err := range it.All(context.Background()) {
		require.NoError(t, err)
		for _, v := range b {
			ids = append(ids, v.ID)
		}
	}
	require.Equal(t, []int{0, 1, 3, 5, 7}, ids)
	require.Len(t, told, 3)
	require.ErrorContains(t, told[0], "2: ")
	require.ErrorContains(t, told[0], "-1 is negative")
	require.ErrorIs(t, told[1], pipeline.ErrTooLong)
	require.ErrorIs(t, told[2], pipeline.ErrPanic)
}

// What is not the input of then is told, also under Skip, and not made batches of.
func TestBucketRefusesAnotherInput(t *testing.T) {
	lengths := make([]int, 60)
	for i := range lengths {
		if lengths[i] = 9; i%20 == 1 {
			lengths[i] = 1
		}
	}
	plan := func(lengths []int) *pipeline.Pipeline[[]item] {
		p := pipeline.From[item](items(lengths)).ChunkSize(1).OnError(pipeline.Skip)
		return pipeline.Bucket(p, item.length, []int{5}, 4, 3)
	}
	it, err := plan(lengths).Start(context.Background())
	require.NoError(t, err)
	for range 15 {
		_, err = it.Next(context.Background())
		require.NoError(t, err)
	}
	state, err := it.State()
	require.NoError(t, err)
	require.NoError(t, it.Close())
	require.Contains(t, string(state), `"given"`, "it is of a time when batches had been given out")
	for name, now := range map[string][]int{
		"shorter":        lengths[:4],
		"other bucket":   slices.Repeat([]int{9}, 60),
		"other lengths":  append([]int{9}, slices.Repeat([]int{1}, 59)...),
		"nothing at all": {},
	} {
		it, err := plan(now).Resume(context.Background(), state)
		require.NoError(t, err, name)
		for err == nil {
			_, err = it.Next(context.Background())
		}
		require.ErrorIs(t, err, pipeline.ErrStateMismatch, name)
		require.NoError(t, it.Close())
	}
}

func TestBucketRefusesDamagedStates(t *testing.T) {
	p := pipeline.Bucket(pipeline.From[item](items([]int{1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9})).ChunkSize(1), item.length, []int{5}, 4, 2)
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	for range 9 {
		_, err = it.Next(context.Background())
		require.NoError(t, err)
	}
	state, err := it.State()
	require.NoError(t, err)
	require.NoError(t, it.Close())
	for stage, want := range map[string]string{
		`{"given":3,"beside":[{"count":1},{"count":0}]}`:  "",
		`{"given":3,"beside":[{"count":1}]}`:              "it has 1 buckets, the pipeline has 2",
		`{"given":3,"beside":[{"count":4},{"count":0}]}`:  "bucket 0 holds 4 values",
		`{"given":3,"beside":[{"count":-1},{"count":0}]}`: "bucket 0 holds -1 values",
		`{"given":1,"beside":[{"count":1},{"count":1}]}`:  "contradict",
		`[]`: "cannot unmarshal",
	} {
		it, err := p.Resume(context.Background(), resealed(t, state, stage))
		if want == "" {
			require.NoError(t, err)
			require.NoError(t, it.Close())
			continue
		}
		require.ErrorIs(t, err, pipeline.ErrState)
		require.ErrorContains(t, err, want)
	}
}

func TestBucketNamesAllThatIsWrong(t *testing.T) {
	p := pipeline.From[item](items(nil))
	for want, bad := range map[string]*pipeline.Pipeline[[]item]{
		"Bucket: there is no function that tells the length; Bucket: the bound 0 is not positive; " +
			"Bucket: the bound 4 does not ascend after 4; Bucket has 2 sizes for 4 buckets: give one for each, or one for all; " +
			"Bucket: the size -3 is negative": pipeline.Bucket(p, nil, []int{0, 4, 4}, 2, -3),
		"Bucket has 0 sizes for 1 buckets": pipeline.Bucket(p, item.length, nil),
		"BucketTokens: the bound -1 is not positive; BucketTokens(0): a batch needs room for at least one token": pipeline.BucketTokens(p, item.length, []int{-1}, 0),
	} {
		_, err := bad.Start(context.Background())
		require.ErrorIs(t, err, pipeline.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}

func ExampleBucket() {
	words := listed[string]{of: func(int64) []string {
		return []string{"a", "abacus", "be", "to", "capable", "do", "I", "paper"}
	}}
	length := func(word string) int { return len(word) }
	// Up to three words of less than 4 letters, up to two of the others.
	p := pipeline.Bucket(pipeline.From[string](words), length, []int{4}, 3, 2)
	it, err := p.Start(context.Background())
	if err != nil {
		panic(err)
	}
	for batch, err := range it.All(context.Background()) {
		fmt.Println(batch, err)
	}
	// Output:
	// [a be to] <nil>
	// [abacus capable] <nil>
	// [do I] <nil>
	// [paper] <nil>
}

func ExampleBucketTokens() {
	words := listed[string]{of: func(int64) []string {
		return []string{"a", "abacus", "be", "to", "capable", "do", "I", "paper"}
	}}
	length := func(word string) int { return len(word) }
	// Up to 8 letters, the shorter words padded to the longest of the batch.
	it, err := pipeline.BucketTokens(pipeline.From[string](words), length, []int{4}, 8).Start(context.Background())
	if err != nil {
		panic(err)
	}
	for batch, err := range it.All(context.Background()) {
		fmt.Println(batch, err)
	}
	// Output:
	// [abacus] <nil>
	// [capable] <nil>
	// [a be to do] <nil>
	// [paper] <nil>
	// [I] <nil>
}
