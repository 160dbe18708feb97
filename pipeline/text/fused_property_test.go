package text

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// sequential is the meaning of a fused pipeline: each stage by itself, on one
// record after the other.
type sequential struct {
	stages    []Stage
	cleaner   *TextCleaner
	quality   *QualityFilter
	pii       *PIIMasker
	keepNulls bool
	nulls     NullPolicy
	seen      map[any]bool // nil is null
	totals    Totals
}

type outcome struct {
	text  any // nil for a null that was kept
	stage Stage
	Verdict
}

func (m *sequential) process(in any) (out outcome) {
	t := &m.totals
	t.RowsIn++
	enter := func(s Stage, v Verdict) bool {
		c := &t.Stages[s]
		c.In++
		if v.Kept() {
			c.Kept++
			return true
		}
		c.Dropped[v.Reason]++
		out = outcome{stage: s, Verdict: v}
		return false
	}
	source := Verdict{}
	if in == nil && !m.keepNulls {
		source.Reason = ReasonNull
	}
	if s, ok := in.(string); ok {
		t.BytesIn += int64(len(s))
	}
	if !enter(StageSource, source) {
		return out
	}
	for _, stage := range m.stages {
		v := Verdict{}
		s, isText := in.(string)
		switch {
		case stage == StageDedup && (isText || m.nulls == NullsEqual):
			if m.seen[in] {
				v = Verdict{ReasonDuplicate, 1, 0}
			}
			m.seen[in] = true
		case !isText:
		case stage == StageClean:
			in, v = m.cleaner.CleanString(s)
		case stage == StageQuality:
			var out []byte
			out, v = m.quality.Filter(NewMeasurer(), new([]byte), []byte(s))
			in = string(out)
		case stage == StagePII:
			var spans []Span
			in, spans = m.pii.MaskString(s)
			for _, x := range spans {
				t.Masked[x.Kind]++
			}
		}
		if !enter(stage, v) {
			return out
		}
	}
	t.RowsOut++
	if s, ok := in.(string); ok {
		t.BytesOut += int64(len(s))
	}
	return outcome{text: in}
}

// processParallel runs batches with several goroutines: scans and emissions as
// they come, resolutions in order.
func processParallel(t require.TestingT, f *FusedPipeline, cols []*stringtensor.Column, workers int) []*Result {
	results := make([]*Result, len(cols))
	scanned := make([]chan *Batch, len(cols))
	for i := range scanned {
		scanned[i] = make(chan *Batch, 1)
	}
	type resolved struct {
		i int
		b *Batch
	}
	scans, emits := make(chan int, len(cols)), make(chan resolved, len(cols))
	for i := range cols {
		scans <- i
	}
	close(scans)
	batches := sync.Pool{New: func() any { return NewBatch() }}
	errs := make(chan error, 2*len(cols))
	var scanners, emitters sync.WaitGroup
	for range workers {
		scanners.Go(func() {
			for i := range scans {
				b := batches.Get().(*Batch)
				f.Scan(b, cols[i])
				scanned[i] <- b
			}
		})
		emitters.Go(func() {
			for r := range emits {
				var err error
				results[r.i], err = f.Emit(r.b)
				errs <- err
				batches.Put(r.b)
			}
		})
	}
	for i := range cols {
		b := <-scanned[i]
		errs <- f.Resolve(b)
		emits <- resolved{i, b}
	}
	close(emits)
	scanners.Wait()
	emitters.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	return results
}

// TestFusedIsSequential compares the fused pass with its meaning, for random
// stages, options, texts, cuts into batches and numbers of workers.
func TestFusedIsSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := rapid.Permutation(DefaultStages()).Draw(t, "order")
		stages = stages[:rapid.IntRange(0, len(stages)).Draw(t, "stages")]
		model := &sequential{
			stages: stages,
			cleaner: newCleaner(t, WithTrim(rapid.Bool().Draw(t, "trim")), WithMinBytes(rapid.IntRange(0, 4).Draw(t, "min")), WithMaxBytes(40), WithTruncate(rapid.Bool().Draw(t, "cut")),
				WithRepairs(Repairs(rapid.IntRange(0, int(repairEnd)-1).Draw(t, "repairs")))),
			quality: newQuality(t, WithMinWords(rapid.IntRange(0, 3).Draw(t, "words")), WithMaxSymbolRatio(rapid.Float64Range(0.2, 1).Draw(t, "symbols")), WithMaxRepetition(0.8),
				rapid.SampledFrom([]QualityOption{WithWords(WordsBySpace), WithC4(C4Bounds{MinLineWords: 1, KeepUnpunctuated: true}), WithC4(C4Bounds{KeepUnpunctuated: true, KeepCurly: true})}).Draw(t, "rules")),
			keepNulls: rapid.Bool().Draw(t, "keep nulls"),
			nulls:     rapid.SampledFrom([]NullPolicy{NullsDistinct, NullsEqual}).Draw(t, "nulls"),
			seen:      map[any]bool{},
		}
		var err error
		model.pii, err = NewPIIMasker(WithKinds(rapid.SampledFrom([][]Kind{AllKinds(), {KindEmail}}).Draw(t, "kinds")...), WithReplacement(KindEmail, rapid.SampledFrom([]string{"", "[EMAIL]", " \r"}).Draw(t, "replacement")),
			rapid.SampledFrom([]PIIOption{WithSpansOnly(false), WithPseudonyms([]byte("sixteen bytes, 16"), KindIP), WithRules(Rule{Name: "rule", Pattern: `eight\w+`})}).Draw(t, "pii"))
		require.NoError(t, err)
		dedup := newDedup(t, WithNulls(model.nulls), WithByteCheck(rapid.Bool().Draw(t, "byte check")))

		opts := []FusedOption{WithStages(stages...), WithKeepNulls(model.keepNulls)}
		for _, s := range stages {
			opts = append(opts, map[Stage]FusedOption{
				StageClean: WithCleaner(model.cleaner), StageQuality: WithQuality(model.quality),
				StageDedup: WithDedup(dedup), StagePII: WithPII(model.pii),
			}[s])
		}
		f := newFused(t, opts...)

		vocabulary := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				return nil
			}
			return drawText(t, "text")
		}), 1, 8).Draw(t, "vocabulary")
		batches := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12), 1, 6).Draw(t, "batches")
		var cols []*stringtensor.Column
		for _, b := range batches {
			cols = append(cols, columnWithNulls(t, b...))
		}

		var results []*Result
		if workers := rapid.IntRange(0, 3).Draw(t, "workers"); workers == 0 {
			for _, col := range cols {
				results = append(results, process(t, f, col))
			}
		} else {
			results = processParallel(t, f, cols, workers)
		}

		var totals Totals
		for i, r := range results {
			kept, drops := 0, 0
			for row, in := range batches[i] {
				want := model.process(in)
				if !want.Kept() {
					require.Equal(t, Drop{row, want.stage, want.Verdict}, r.Drops[drops])
					drops++
					continue
				}
				require.EqualValues(t, row, r.Rows[kept])
				require.Equal(t, want.text == nil, r.Column.IsNull(kept))
				if want.text != nil {
					require.Equal(t, want.text, r.Column.At(kept), "from %q", in)
				}
				kept++
			}
			require.Equal(t, kept, r.Column.Len())
			require.Len(t, r.Rows, kept)
			require.Len(t, r.Drops, drops)
			require.NoError(t, r.Column.Validate())
			totals.Add(r.Totals)
		}
		// The model only counts what reaches a stage, the pipeline all stages.
		require.Equal(t, model.totals, totals)
		if slices.Contains(stages, StageDedup) {
			require.Equal(t, len(model.seen), dedup.Position())
			require.Equal(t, dedup.Position(), results[len(results)-1].Position)
		}
	})
}
