package text

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// TestPackedIsEmitted compares packed survivors with those in a column, with one
// Packed for all batches, so that what a batch leaves behind shows.
func TestPackedIsEmitted(t *testing.T) {
	var packed Packed
	rapid.Check(t, func(t *rapid.T) {
		stages := rapid.Permutation(DefaultStages()).Draw(t, "order")
		stages = stages[:rapid.IntRange(0, len(stages)).Draw(t, "stages")]
		opts := []FusedOption{WithStages(stages...), WithKeepNulls(rapid.Bool().Draw(t, "keep nulls"))}
		if slices.Contains(stages, StageQuality) {
			opts = append(opts, WithQuality(newQuality(t, WithMaxSymbolRatio(0.5), WithC4(C4Bounds{KeepUnpunctuated: true}))))
		}
		if slices.Contains(stages, StagePII) && slices.Index(stages, StagePII) > max(slices.Index(stages, StageClean), slices.Index(stages, StageQuality)) {
			masker, err := NewPIIMasker(WithSpansOnly(rapid.Bool().Draw(t, "spans only")))
			require.NoError(t, err)
			opts = append(opts, WithPII(masker))
		}
		f, g := newFused(t, opts...), newFused(t, opts...)
		b := NewBatch()
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			col := columnWithNulls(t, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
				if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
					return nil
				}
				return drawText(t, "text")
			}), 0, 12).Draw(t, "rows")...)
			want := process(t, f, col)
			g.Scan(b, col)
			require.NoError(t, g.Resolve(b))
			require.NoError(t, g.EmitInto(b, &packed))
			require.Equal(t, want.Totals, packed.Totals)
			require.Equal(t, want.Position, packed.Position)
			require.Equal(t, want.Spans, packed.Spans)
			for i, spans := range want.Spans {
				require.ElementsMatch(t, f.PII().Find(want.Column.Bytes(i)), spans)
			}
			require.ElementsMatch(t, want.Rows, packed.Rows)
			require.ElementsMatch(t, want.Drops, packed.Drops)
			require.Len(t, packed.Offsets, want.Column.Len()+1)
			nulls := stringtensor.Selection{}
			for i := range want.Column.Len() {
				require.Equal(t, want.Column.At(i), string(packed.Payload[packed.Offsets[i]:packed.Offsets[i+1]]))
				if want.Column.IsNull(i) {
					nulls = append(nulls, uint32(i))
				}
			}
			require.ElementsMatch(t, nulls, packed.Nulls)
		}
	})
}

// TestPackedPhases: a batch that is not resolved is refused and leaves nothing.
func TestPackedPhases(t *testing.T) {
	f, b, packed := newFused(t), NewBatch(), Packed{Payload: []byte("old")}
	require.ErrorIs(t, f.EmitInto(b, &packed), ErrPhase)
	f.Scan(b, column(t, "a"))
	require.ErrorIs(t, f.EmitInto(b, &packed), ErrPhase)
	require.Empty(t, packed.Payload)
}

// documents returns n different documents of some 500 bytes; one in ten has a line
// end to change, one in five something to mask.
func documents(tb testing.TB, n int) *stringtensor.Column {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("  %d. It was the best of times, it was the worst of times. %s", i, distinctWords(420 + i%32)[i%64:])
		if i%10 == 0 {
			rows[i] += "\r\nand on it goes"
		}
		if i%5 == 0 {
			rows[i] += " write to someone@example.org"
		}
	}
	return column(tb, rows...)
}

// TestPackedAllocatesNothing runs all stages in steady state.
func TestPackedAllocatesNothing(t *testing.T) {
	col, f, b := documents(t, 200), newFused(t), NewBatch()
	var packed Packed
	run := func() {
		f.Scan(b, col)
		require.NoError(t, f.Resolve(b))
		require.NoError(t, f.EmitInto(b, &packed))
		f.dedup.Rollback()
	}
	run()
	require.EqualValues(t, 200, packed.RowsOut)
	require.Zero(t, testing.AllocsPerRun(10, run))
}

// BenchmarkPacked runs all stages over documents of 500 bytes and packs the
// survivors; parallel scans and packs on all cores, each batch by itself.
func BenchmarkPacked(b *testing.B) {
	const rows = 1024
	col := documents(b, rows)
	bytes := col.PayloadBytes()
	run := func(tb testing.TB, f *FusedPipeline, batch *Batch, packed *Packed) {
		f.Scan(batch, col)
		if err := f.Resolve(batch); err != nil {
			tb.Fatal(err)
		}
		if err := f.EmitInto(batch, packed); err != nil {
			tb.Fatal(err)
		}
		f.dedup.Rollback()
	}
	b.Run("one core", func(b *testing.B) {
		f, batch, packed := newFused(b), NewBatch(), new(Packed)
		b.SetBytes(bytes)
		b.ReportAllocs()
		for b.Loop() {
			run(b, f, batch, packed)
		}
		b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "docs/s")
	})
	b.Run("parallel", func(b *testing.B) {
		b.SetBytes(bytes)
		b.ReportAllocs()
		var done atomic.Int64
		b.RunParallel(func(p *testing.PB) {
			f, batch, packed := newFused(b), NewBatch(), new(Packed)
			for p.Next() {
				run(b, f, batch, packed)
				done.Add(1)
			}
		})
		b.ReportMetric(float64(done.Load())*rows/b.Elapsed().Seconds(), "docs/s")
	})
}
