package pipeline_test

import (
	"context"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		it, err := pipeline.From(src).Start(context.Background())
		require.NoError(t, err)
		synctest.Wait()
		cpus := runtime.GOMAXPROCS(0)
		stats := it.Stats()
		require.Equal(t, min(cpus, 8), stats.Workers)
		require.Equal(t, max(2*cpus, 8)*64, stats.InFlight, "Prefetch × ChunkSize")
		require.NoError(t, it.Close())
	})
	// One epoch, Fail, no shuffle.
	src := &series{n: 3, next: func(_ context.Context, v int) error {
		if v == 2 {
			return errBad
		}
		return nil
	}}
	got, _, err := play(t, pipeline.From(src))
	require.Equal(t, []int{0, 1}, got)
	require.ErrorIs(t, err, errBad)
	got, _, err = play(t, pipeline.From(&series{n: 3}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{0, 1, 2}, got)

	synctest.Test(t, func(t *testing.T) { // 10 s, then Close gives up
		it, err := pipeline.From(&series{n: -1, next: func(context.Context, int) error { time.Sleep(time.Hour); return nil }}).
			Start(context.Background())
		require.NoError(t, err)
		synctest.Wait()
		began := time.Now()
		require.ErrorIs(t, it.Close(), pipeline.ErrStuck)
		require.Equal(t, 10*time.Second, time.Since(began))
		time.Sleep(time.Hour)
		require.NoError(t, it.Close())
	})

	// 10,000 errors in a row.
	bad := func(int) (int, error) { return 0, errBad }
	_, _, err = play(t, pipeline.From(&series{n: 9_999}).OnError(pipeline.Skip).Map(bad))
	require.Equal(t, io.EOF, err)
	_, _, err = play(t, pipeline.From(&series{n: 10_000}).OnError(pipeline.Skip).Map(bad))
	require.ErrorIs(t, err, pipeline.ErrTooManyErrors)
}

// 0 is 1 where 0 would mean nothing.
func TestZeroIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFlood()
		it, err := pipeline.From(src).Workers(0).Prefetch(0).ChunkSize(0).Start(context.Background())
		require.NoError(t, err)
		synctest.Wait()
		stats := it.Stats()
		require.Equal(t, 1, stats.Workers)
		require.Equal(t, 1, stats.InFlight)
		require.NoError(t, it.Close())
	})
	got, _, err := play(t, pipeline.From(&series{n: 5}).Shuffle(0).Repeat(0))
	require.Equal(t, io.EOF, err)
	require.Equal(t, upTo(0, 5), got, "a buffer of one leaves the order")
	batches, _, err := play(t, pipeline.BatchRaw(pipeline.From(&series{n: 3}), 0))
	require.Equal(t, io.EOF, err)
	require.Equal(t, [][]int{{0}, {1}, {2}}, batches)
	got, _, err = play(t, pipeline.From(&series{n: 3}).Batch(0).Collate(func(b []int) (int, error) { return 10 * len(b), nil }))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{10, 10, 10}, got)
}

func TestLargeValues(t *testing.T) {
	for _, p := range []*pipeline.Pipeline[int]{
		pipeline.From(&series{n: 500}).Workers(100).Prefetch(1000),
		pipeline.From(&series{n: 500}).Workers(1).Prefetch(1 << 20).ChunkSize(1 << 20),
		pipeline.From(&series{n: 500}).Prefetch(1).ChunkSize(1 << 20),
	} {
		got, _, err := play(t, p.Map(func(v int) (int, error) { return v, nil }))
		require.Equal(t, io.EOF, err)
		require.Equal(t, upTo(0, 500), got)
	}
}

// Each thing that can be wrong alone, by what the error must say.
func TestWrongConfigurations(t *testing.T) {
	from := func() *pipeline.Pipeline[int] { return pipeline.From(&series{n: 3}) }
	start := func(p *pipeline.Pipeline[int]) error { _, err := p.Start(context.Background()); return err }
	for what, p := range map[string]*pipeline.Pipeline[int]{
		"Workers(-1) is negative":         from().Workers(-1),
		"Workers(1000000) is over":        from().Workers(1_000_000),
		"Prefetch(-2) is negative":        from().Prefetch(-2),
		"Prefetch(2000000) is over":       from().Prefetch(2_000_000),
		"ChunkSize(-3) is negative":       from().ChunkSize(-3),
		"ChunkSize(2000000) is over":      from().ChunkSize(2_000_000),
		"PrefetchBytes(-4) is negative":   from().SizeOf(func(int) int64 { return 1 }).PrefetchBytes(-4),
		"PrefetchBytes needs to know how": from().PrefetchBytes(4),
		"SizeOf(nil)":                     from().SizeOf(nil),
		"SizeOf comes right after From":   from().Skip(1).SizeOf(func(int) int64 { return 1 }),
		"Epochs(-1) is negative":          from().Epochs(-1),
		"MaxErrorsInRow(0) is not":        from().MaxErrorsInRow(0),
		"OnError(policy(7)) is neither":   from().OnError(7),
		"SourceTimeout(-1s) is negative":  from().SourceTimeout(-time.Second),
		"StallTimeout(-1s) is negative":   from().StallTimeout(-time.Second),
		"CloseTimeout(-1s) is negative":   from().CloseTimeout(-time.Second),
		"FlushAfter(-1s) is negative":     from().FlushAfter(-time.Second),
		"Autotune(-1) is negative":        from().Autotune(-1),
		"Shuffle(-1) is negative":         from().Shuffle(-1),
		"Batch(-1) is negative":           from().Batch(-1).Collate(func([]int) (int, error) { return 0, nil }),
		"Take(-1) is negative":            from().Take(-1),
		"Skip(-1) is negative":            from().Skip(-1),
		"Repeat(-1) is negative":          from().Repeat(-1),
		"Shard(0, 0): the world needs":    from().Shard(0, 0),
		"Shard(3, 3): ranks go from 0":    from().Shard(3, 3),
		"Shard(-1, 3): ranks go from 0":   from().Shard(-1, 3),
		"ShardMode(shardmode(9)) is none": from().Shard(0, 1).ShardMode(9),
		"ShardMode needs Shard":           from().ShardMode(pipeline.Pad),
		"ShardFiles needs a source":       from().Shard(0, 2).ShardFiles(),
		"CanonicalShards(-1) is not":      from().CanonicalShards(-1),
		"CanonicalShards(5) does not":     from().Shard(0, 2).CanonicalShards(5),
		"CanonicalShards needs the":       from().Skip(1).Shuffle(3).CanonicalShards(4),
		"DropLast needs a Batch":          from().DropLast(),
		"AcrossEpochs needs a Batch":      from().AcrossEpochs(),
		"Collate needs a Batch":           from().Collate(func([]int) (int, error) { return 0, nil }),
		"Collate comes after its Batch":   pipeline.Map(pipeline.Map(from(), func(int) (string, error) { return "", nil }).Batch(2).Collate(func([]string) (string, error) { return "", nil }), func(string) (int, error) { return 0, nil }).Collate(func([]int) (int, error) { return 0, nil }),
		"Batch has nothing to collate":    from().Batch(2),
		"From(nil)":                       pipeline.From[int](nil),
		"FromAsync(nil)":                  pipeline.FromAsync[int](nil),
		"Map(nil)":                        from().Map(nil),
		"MapRand(nil)":                    from().MapRand(nil),
		"Filter(nil)":                     from().Filter(nil),
		"FlatMap(nil)":                    from().FlatMap(nil),
		"Apply(nil)":                      from().Transform(nil),
		"ApplyStateful(nil)":              from().Stateful(nil),
		"Shard needs a Source":            pipeline.FromAsync(counting(3)).Shard(0, 2),
	} {
		t.Run(what, func(t *testing.T) {
			err := start(p)
			require.ErrorIs(t, err, pipeline.ErrConfig)
			require.ErrorContains(t, err, what)
		})
	}
}

// Everything that is wrong is named at once.
func TestAllThatIsWrongIsNamed(t *testing.T) {
	p := pipeline.From(&series{n: 3}).Workers(-1).Prefetch(-2).ChunkSize(-3).Epochs(-4).Shard(5, 5).
		Map(nil).Shuffle(-6).StallTimeout(-time.Second).DropLast().OnError(9).PrefetchBytes(8)
	_, err := p.Start(context.Background())
	require.ErrorIs(t, err, pipeline.ErrConfig)
	for _, what := range []string{"Workers(-1)", "Prefetch(-2)", "ChunkSize(-3)", "Epochs(-4)", "Shard(5, 5)", "Map(nil)", "Shuffle(-6)",
		"StallTimeout(-1s)", "DropLast", "OnError(policy(9))", "PrefetchBytes"} {
		require.ErrorContains(t, err, what)
	}
	_, err = p.Resume(context.Background(), []byte("{}"))
	require.Error(t, err)
}

// Stages may stand anywhere: what another system calls an error here has a meaning.
func TestStagesStandAnywhere(t *testing.T) {
	p := pipeline.From(&series{n: 8}).Batch(2).Collate(func(b []int) (int, error) { return 10*b[0] + b[1], nil }).
		Map(func(v int) (int, error) { return -v, nil })
	got, _, err := play(t, p)
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{-1, -23, -45, -67}, got, "a map behind a batch maps batches")

	twice, _, err := play(t, pipeline.BatchRaw(p.Shuffle(4), 3))
	require.Equal(t, io.EOF, err)
	require.Len(t, twice, 2)
}

// The second Collate of a Batch replaces the first.
func TestCollateReplaces(t *testing.T) {
	p := pipeline.From(&series{n: 4}).Batch(2).Collate(func([]int) (int, error) { return 1, nil })
	q := p.Collate(func([]int) (int, error) { return 2, nil })
	got, _, _ := play(t, p)
	require.Equal(t, []int{1, 1}, got)
	got, _, _ = play(t, q)
	require.Equal(t, []int{2, 2}, got)
}

// A plan is a value: what is made of it leaves it as it was.
func TestBranchesLeaveTheirParent(t *testing.T) {
	base := pipeline.From(&series{n: 6})
	for range 5 { // so that slices have room behind their end
		base = base.Map(func(v int) (int, error) { return v, nil })
	}
	double := base.Map(func(v int) (int, error) { return 2 * v, nil })
	negate := base.Map(func(v int) (int, error) { return -v, nil }).Epochs(2)
	wrong := base.Map(nil).Filter(nil).FlatMap(nil)
	worse, other := wrong.Shuffle(-1), wrong.Take(-1)
	named := base.Named("other")
	sharded := base.Shard(1, 2)
	padded := sharded.ShardMode(pipeline.Pad)

	for range 2 {
		got, stats, err := play(t, base)
		require.Equal(t, io.EOF, err)
		require.Equal(t, upTo(0, 6), got)
		require.Len(t, stats.Stages, 6)
		require.Equal(t, "map#5", stats.Stages[5].Name)
		got, _, _ = play(t, double)
		require.Equal(t, []int{0, 2, 4, 6, 8, 10}, got)
		got, _, _ = play(t, negate)
		require.Equal(t, []int{0, -1, -2, -3, -4, -5, -1000, -1001, -1002, -1003, -1004, -1005}, got)
		_, stats, _ = play(t, named)
		require.Equal(t, "other", stats.Stages[5].Name)
		for _, p := range []*pipeline.Pipeline[int]{sharded, padded} {
			got, _, _ = play(t, p)
			require.Equal(t, []int{1, 3, 5}, got)
		}
	}
	_, err := wrong.Start(context.Background())
	require.ErrorContains(t, err, "Map(nil)")
	require.NotContains(t, err.Error(), "Shuffle")
	_, err = worse.Start(context.Background())
	require.ErrorContains(t, err, "Map(nil)")
	require.ErrorContains(t, err, "Shuffle(-1)")
	require.NotContains(t, err.Error(), "Take")
	_, err = other.Start(context.Background())
	require.ErrorContains(t, err, "Take(-1)")
}

// A plan runs any number of times, also at once.
func TestPlanRunsManyTimes(t *testing.T) {
	p := pipeline.BatchRaw(pipeline.From(&series{n: 200}).Epochs(2).ChunkSize(7).Workers(2).Seed(3).
		Map(func(v int) (int, error) { return v, nil }).Shuffle(30).
		FlatMap(func(v int) ([]int, error) { return []int{v, -v}, nil }).
		Stateful(func() pipeline.StatefulTransform[int, int] { return &watching{} }), 4)
	want, _, err := play(t, p)
	require.Equal(t, io.EOF, err)
	require.Len(t, want, 200)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			it, err := p.Start(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer it.Close()
			for i := 0; ; i++ {
				b, err := it.Next(t.Context())
				if err == io.EOF {
					if i != len(want) {
						t.Errorf("%d batches", i)
					}
					return
				}
				if err != nil || b[0] != want[i][0] || b[3] != want[i][3] {
					t.Errorf("batch %d is %v: %v", i, b, err)
					return
				}
			}
		})
	}
	group.Wait()
}
