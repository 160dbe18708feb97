package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func newFused(t require.TestingT, opts ...FusedOption) *FusedPipeline {
	f, err := NewFusedPipeline(opts...)
	require.NoError(t, err)
	return f
}

func process(t require.TestingT, f *FusedPipeline, col *stringtensor.Column) *Result {
	r, err := f.Process(col)
	require.NoError(t, err)
	require.NoError(t, r.Column.Validate())
	return r
}

// fusedGolden is one recorded run: a deduplicator over some batches.
type fusedGolden struct {
	ID string
	Kw struct {
		cleanKw
		qualityKw
	}
	Inert   bool `json:"inert_thresholds"`
	Dedup   bool
	Batches [][]string
	Out     [][]string
	Staged  *int `json:"staged_committed"`
}

// equal runs the batches and compares output and count.
func (g fusedGolden) equal(t *testing.T, bounds []QualityOption) bool {
	stages := []Stage{StageClean}
	opts := []FusedOption{WithCleaner(newCleaner(t, g.Kw.cleanKw.options()...))}
	if len(bounds) > 0 {
		stages = append(stages, StageQuality)
		opts = append(opts, WithQuality(newQuality(t, bounds...)))
	}
	if g.Dedup {
		stages = append(stages, StageDedup)
	}
	f := newFused(t, append(opts, WithStages(stages...))...)
	equal := true
	for i, in := range g.Batches {
		equal = equal && equalStrings(process(t, f, column(t, in...)).Column.Strings(), g.Out[i])
	}
	return equal && (!g.Dedup || f.Deduplicator().Commit() == *g.Staged)
}

// TestFusedGoldens runs the recorded batches. Where bounds of quality are given
// they act. The recorded system wants a switch besides; without it the bounds
// are inert, and leaving them out must give its answer.
func TestFusedGoldens(t *testing.T) {
	deviations := readDeviations(t)
	for _, g := range readGoldens[fusedGolden](t, "fused.jsonl") {
		requireGolden(t, deviations, g.ID, g.equal(t, g.Kw.qualityKw.options()), "other output or count")
		if g.Inert {
			require.True(t, g.equal(t, nil), "%s without bounds", g.ID)
		}
	}
}

// TestPostprocessGoldens composes what the recorded system calls
// postprocess_and_dedup_records: clean, drop the empty, drop what the caller has
// seen, return the hashes that are new. Its hashes have 64 bits.
func TestPostprocessGoldens(t *testing.T) {
	type golden struct {
		ID     string
		In     []string
		Seen   []string
		Dedup  bool
		Out    []string
		Hashes []string `json:"new_hashes"`
	}
	hash64 := withHash(func(s []byte) Hash128 { return Hash128{Lo: xxh3.Hash(s)} })
	deviations := readDeviations(t)
	for _, g := range readGoldens[golden](t, "postprocess.jsonl") {
		var seen []Hash128
		for _, s := range g.Seen {
			h, err := strconv.ParseUint(s, 10, 64)
			require.NoError(t, err)
			seen = append(seen, Hash128{Lo: h})
		}
		d := newDedup(t, hash64, WithHashes(slices.Values(seen)))
		stages, opts := []Stage{StageClean}, []FusedOption{WithCleaner(newCleaner(t, WithMinBytes(1)))}
		if g.Dedup {
			stages, opts = append(stages, StageDedup), append(opts, WithDedup(d))
		}
		out := process(t, newFused(t, append(opts, WithStages(stages...))...), column(t, g.In...)).Column.Strings()
		hashes, err := d.AppendHashes(nil, d.Count(), d.Position())
		require.NoError(t, err)
		var fresh []string
		for _, h := range hashes {
			fresh = append(fresh, strconv.FormatUint(h.Lo, 10))
		}
		equal := equalStrings(out, g.Out) && equalStrings(fresh, g.Hashes)
		requireGolden(t, deviations, g.ID, equal, "%q, %v", out, fresh)
	}
}

// TestFusedStagesBeforeDrop: a text that dedup saw counts as seen, even if a
// later stage dropped it; a duplicate is dedup's if dedup comes first.
func TestFusedStagesBeforeDrop(t *testing.T) {
	q := newQuality(t, WithMinWords(2))
	dedupFirst := newFused(t, WithStages(StageDedup, StageQuality), WithQuality(q))
	r := process(t, dedupFirst, column(t, "one", "one", "two words", "two words"))
	require.Equal(t, []Drop{
		{0, StageQuality, Verdict{ReasonMinWords, 1, 2}},
		{1, StageDedup, Verdict{ReasonDuplicate, 1, 0}},
		{3, StageDedup, Verdict{ReasonDuplicate, 1, 0}},
	}, r.Drops)
	require.Equal(t, 2, r.Position)

	qualityFirst := newFused(t, WithStages(StageQuality, StageDedup), WithQuality(q))
	r = process(t, qualityFirst, column(t, "one", "one", "two words", "two words"))
	require.Equal(t, []Drop{
		{0, StageQuality, Verdict{ReasonMinWords, 1, 2}},
		{1, StageQuality, Verdict{ReasonMinWords, 1, 2}},
		{3, StageDedup, Verdict{ReasonDuplicate, 1, 0}},
	}, r.Drops)
	require.Equal(t, 1, r.Position)
}

// TestFusedOrderOfMasking: texts that differ only in what is masked are equal to
// dedup if masking comes first.
func TestFusedOrderOfMasking(t *testing.T) {
	in := column(t, "mail to ann@example.org", "mail to bob@example.org")
	r := process(t, newFused(t, WithStages(StageDedup, StagePII)), in)
	require.Equal(t, []string{"mail to [EMAIL]", "mail to [EMAIL]"}, r.Column.Strings())
	require.EqualValues(t, 2, r.Masked[KindEmail])
	r = process(t, newFused(t, WithStages(StagePII, StageDedup)), in)
	require.Equal(t, []string{"mail to [EMAIL]"}, r.Column.Strings())
	require.EqualValues(t, 2, r.Masked[KindEmail], "masking reached both")

	// A duplicate does not reach the masking that comes after dedup.
	r = process(t, newFused(t, WithStages(StageDedup, StagePII)), column(t, "a@example.org", "a@example.org"))
	require.EqualValues(t, 1, r.Masked[KindEmail])
}

// TestFusedClassifiesAgain: classes of a text are no longer those of the text
// that a stage made of it.
func TestFusedClassifiesAgain(t *testing.T) {
	in := column(t, "  \t \u3000 write to ann@example.org\r\nor to 10.1.2.3 ")
	want := []string{"write to [EMAIL]\nor to [IP]"}
	for _, stages := range [][]Stage{
		{StageQuality, StageClean, StagePII}, {StagePII, StageClean, StageQuality}, {StagePII, StageQuality, StageClean},
	} {
		q := newQuality(t, WithMinEntropy(1))
		require.Equal(t, want, process(t, newFused(t, WithStages(stages...), WithQuality(q)), in).Column.Strings())
	}
}

func TestFusedNulls(t *testing.T) {
	in := columnWithNulls(t, nil, "", nil, "")
	null := Verdict{Reason: ReasonNull}
	r := process(t, newFused(t, WithStages(StageDedup)), in)
	require.Equal(t, []Drop{{0, StageSource, null}, {2, StageSource, null}, {3, StageDedup, Verdict{ReasonDuplicate, 1, 0}}}, r.Drops)

	r = process(t, newFused(t, WithStages(StageClean, StageDedup), WithKeepNulls(true)), in)
	require.Equal(t, stringtensor.Selection{0, 1, 2}, r.Rows)
	require.Equal(t, 2, r.Column.NullCount())

	equal := newDedup(t, WithNulls(NullsEqual))
	r = process(t, newFused(t, WithStages(StageDedup), WithDedup(equal), WithKeepNulls(true)), in)
	require.Equal(t, stringtensor.Selection{0, 1}, r.Rows)
	require.True(t, r.Column.IsNull(0))
	require.False(t, r.Column.IsNull(1))
}

// TestFusedCommit: commits are the caller's, by position, unless asked for.
func TestFusedCommit(t *testing.T) {
	f := newFused(t, WithStages(StageDedup))
	first := process(t, f, column(t, "a", "b"))
	process(t, f, column(t, "b", "c")) // read ahead, never delivered
	n, err := f.Deduplicator().CommitTo(first.Position)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, 1, f.Deduplicator().Rollback())
	require.Equal(t, []string{"c"}, process(t, f, column(t, "b", "c")).Column.Strings())

	f = newFused(t, WithStages(StageDedup), WithCommitDedup(true))
	process(t, f, column(t, "a", "b", "a"))
	require.Equal(t, 2, f.Deduplicator().Count())
	require.Zero(t, f.Deduplicator().Rollback())
}

// TestFusedOwnsItsMemory: survivors do not keep the input alive.
func TestFusedOwnsItsMemory(t *testing.T) {
	in := column(t, strings.Repeat("long text that is not inline ", 5), "short")
	r := process(t, newFused(t, WithStages()), in)
	require.Equal(t, in.Strings(), r.Column.Strings())
	require.Empty(t, r.Drops)
	for _, b := range r.Column.Buffers() {
		for _, x := range in.Buffers() {
			require.NotSame(t, x, b)
		}
	}
	require.Zero(t, process(t, newFused(t), column(t)).Column.Len())
}

func TestFusedPhases(t *testing.T) {
	f, b := newFused(t), NewBatch()
	require.ErrorIs(t, f.Resolve(b), ErrPhase)
	f.Scan(b, column(t, "a"))
	_, err := f.Emit(b)
	require.ErrorIs(t, err, ErrPhase)
	require.NoError(t, f.Resolve(b))
	require.ErrorIs(t, f.Resolve(b), ErrPhase)
	_, err = f.Emit(b)
	require.NoError(t, err)
	_, err = f.Emit(b)
	require.ErrorIs(t, err, ErrPhase)
}

// TestResolveWith: batches that are resolved by any of several deduplicators are told
// from what came before in that one alone, and hold its position.
func TestResolveWith(t *testing.T) {
	list, listed := everyThird(40)
	rapid.Check(t, func(t *rapid.T) {
		type epoch struct {
			dedup    *StreamDeduplicator
			known    bool
			equal    bool // nulls are
			seen     map[any]bool
			position int
		}
		epochs := make([]epoch, rapid.IntRange(1, 4).Draw(t, "epochs"))
		for i := range epochs {
			e := epoch{known: rapid.Bool().Draw(t, "known"), equal: rapid.Bool().Draw(t, "equal"), seen: map[any]bool{}}
			opts := []DedupOption{WithByteCheck(rapid.Bool().Draw(t, "byte check"))}
			if e.known {
				opts = append(opts, WithKnown64(list))
			}
			if e.equal {
				opts = append(opts, WithNulls(NullsEqual))
			}
			e.dedup = newDedup(t, opts...)
			epochs[i] = e
		}
		f := newFused(t, WithStages(StageDedup, StageClean), WithKeepNulls(true))
		b, p := NewBatch(), new(Packed)
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			rows := make([]any, rapid.IntRange(0, 90).Draw(t, "rows"))
			for i := range rows {
				if n := rapid.IntRange(-2, 40).Draw(t, "row"); n >= 0 {
					rows[i] = numbered(n)
				}
			}
			e := &epochs[rapid.IntRange(0, len(epochs)-1).Draw(t, "epoch")]
			want := stringtensor.Selection{}
			for i, row := range rows {
				s, isText := row.(string)
				switch {
				case !isText && !e.equal:
					want = append(want, uint32(i))
				case isText && e.known && listed[s]:
				case !e.seen[row]:
					e.seen[row] = true
					e.position++
					want = append(want, uint32(i))
				}
			}
			f.Scan(b, columnWithNulls(t, rows...))
			require.NoError(t, f.ResolveWith(e.dedup, b))
			if rapid.Bool().Draw(t, "packed") {
				require.NoError(t, f.EmitInto(b, p))
				require.Equal(t, want, append(stringtensor.Selection{}, p.Rows...))
				require.Equal(t, e.position, p.Position)
			} else {
				r, err := f.Emit(b)
				require.NoError(t, err)
				require.Equal(t, want, r.Rows)
				require.Equal(t, e.position, r.Position)
				for _, drop := range r.Drops {
					require.Equal(t, Drop{drop.Row, StageDedup, Verdict{ReasonDuplicate, 1, 0}}, drop)
				}
			}
			require.Equal(t, e.position, e.dedup.Position())
		}
		require.Zero(t, f.Deduplicator().Position())
	})
}

// TestResolveWithNone: a deduplicator must be there if it is a stage; the batch goes on.
func TestResolveWithNone(t *testing.T) {
	f, b := newFused(t, WithStages(StageDedup)), NewBatch()
	require.ErrorIs(t, f.ResolveWith(nil, b), ErrPhase)
	f.Scan(b, column(t, "a", "a"))
	require.ErrorIs(t, f.ResolveWith(nil, b), ErrOption)
	require.NoError(t, f.ResolveWith(newDedup(t), b))
	require.ErrorIs(t, f.ResolveWith(newDedup(t), b), ErrPhase)
	r, err := f.Emit(b)
	require.NoError(t, err)
	require.Equal(t, stringtensor.Selection{0}, r.Rows)

	f = newFused(t, WithStages(StageClean))
	for _, d := range []*StreamDeduplicator{nil, newDedup(t)} {
		f.Scan(b, column(t, "a", "a"))
		require.NoError(t, f.ResolveWith(d, b))
		r, err = f.Emit(b)
		require.NoError(t, err)
		require.Len(t, r.Rows, 2)
		require.Zero(t, r.Position)
	}
}

func TestFusedOptions(t *testing.T) {
	for name, opts := range map[string][]FusedOption{
		"source":          {WithStages(StageSource)},
		"unknown":         {WithStages(stageCount)},
		"twice":           {WithStages(StageClean, StageClean)},
		"inert quality":   {WithStages(StageClean), WithQuality(newQuality(t))},
		"inert cleaner":   {WithStages(), WithCleaner(newCleaner(t))},
		"inert dedup":     {WithStages(StageClean), WithDedup(newDedup(t))},
		"inert commit":    {WithStages(StageClean), WithCommitDedup(true)},
		"inert detection": {WithStages(StageClean), WithPII(&PIIMasker{})},
	} {
		_, err := NewFusedPipeline(opts...)
		require.ErrorIs(t, err, ErrOption, name)
	}
	require.Equal(t, DefaultStages(), newFused(t).Stages())
}

// TestFusedAllocations: the number of allocations does not depend on the number
// of rows.
func TestFusedAllocations(t *testing.T) {
	f := newFused(t, WithStages(StageClean, StageQuality, StagePII, StageDedup))
	allocations := func(rows int) float64 {
		texts := make([]any, rows)
		for i := range texts {
			texts[i] = fmt.Sprintf("  The quick brown fox %d writes\r\nto fox@example.org about dogs. ", i%50)
			if i%7 == 0 {
				texts[i] = "!!"
			}
			if i%11 == 0 {
				texts[i] = nil
			}
		}
		col, b := columnWithNulls(t, texts...), NewBatch()
		run := func() {
			f.Scan(b, col)
			_ = f.Resolve(b)
			_, _ = f.Emit(b)
			f.dedup.Rollback()
		}
		run()
		return testing.AllocsPerRun(20, run)
	}
	few, many := allocations(64), allocations(4096)
	require.LessOrEqual(t, many, 12.0)
	require.LessOrEqual(t, many, few+2)
}

// TestFusedBatchBelongsToOnePipeline: the phases of two pipelines must not mix,
// and nothing of one is left when the batch is used for another.
func TestFusedBatchBelongsToOnePipeline(t *testing.T) {
	mask, dedup := newFused(t, WithStages(StagePII)), newFused(t, WithStages(StageDedup))
	col := column(t, "write to bob@example.com", "and again")
	b := NewBatch()
	dedup.Scan(b, col)
	require.ErrorIs(t, mask.Resolve(b), ErrPhase)
	require.NoError(t, dedup.Resolve(b))
	_, err := mask.Emit(b)
	require.ErrorIs(t, err, ErrPhase)
	r, err := dedup.Emit(b)
	require.NoError(t, err)
	require.Equal(t, 2, r.Position)

	mask.Scan(b, col)
	require.ErrorIs(t, dedup.Resolve(b), ErrPhase)
	require.NoError(t, mask.Resolve(b))
	r, err = mask.Emit(b)
	require.NoError(t, err)
	require.Zero(t, r.Position)
	require.Equal(t, []string{"write to [EMAIL]", "and again"}, r.Column.Strings())
}

// TestBatchGivesUpUnusualMemory: one batch of very many rows or spans must not
// be paid for as long as the scratch lives.
func TestBatchGivesUpUnusualMemory(t *testing.T) {
	f := newFused(t, WithStages(StagePII))
	run := func(b *Batch, col *stringtensor.Column) {
		f.Scan(b, col)
		require.NoError(t, f.Resolve(b))
		_, err := f.Emit(b)
		require.NoError(t, err)
	}
	b := NewBatch()
	run(b, column(t, "10.0.0.1", "10.0.0.2"))
	require.NotZero(t, cap(b.records))
	require.NotZero(t, cap(b.spans))
	run(b, column(t, make([]string, keepRecords+1)...))
	require.Zero(t, cap(b.records))
	run(b, column(t, strings.Repeat("10.0.0.1 ", keepRecords+1)))
	require.Zero(t, cap(b.spans))
}

func TestFusedIsLinear(t *testing.T) {
	f := newFused(t, WithStages(StageClean, StageQuality, StagePII, StageDedup), WithQuality(newQuality(t, WithMinEntropy(0.001), WithMaxRepetition(0.999))))
	// Long enough that the caches of the processor do not hold the shorter ones alone.
	requireLinear(t, 128<<10, func(s []byte) {
		col, err := stringtensor.FromBytes([][]byte{s})
		require.NoError(t, err)
		process(t, f, col)
		f.dedup.Rollback()
	})
}

func BenchmarkFused(b *testing.B) {
	var texts []string
	bytes := 0
	for i := range 512 {
		s := string(distinctWords(1000)) + "It was the best of times, " + strconv.Itoa(i) + ". "
		if i%4 == 0 {
			s += "\r\nwrite to someone@example.org or 192.168.0.1"
		}
		texts = append(texts, s)
		bytes += len(s)
	}
	col := column(b, texts...)
	for name, stages := range map[string][]Stage{
		"clean": {StageClean}, "quality": {StageQuality}, "pii": {StagePII}, "dedup": {StageDedup}, "all": DefaultStages(),
	} {
		b.Run(name, func(b *testing.B) {
			f := newFused(b, WithStages(stages...))
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Process(col); err != nil {
					b.Fatal(err)
				}
				if f.dedup != nil {
					f.dedup.Rollback()
				}
			}
			b.ReportMetric(float64(b.N)*512/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
