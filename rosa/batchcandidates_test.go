package rosa

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newCandidateBatch(t require.TestingT, rows int, opts ...BatchOption) *CandidateBatch {
	b, err := NewCandidateBatch(rows, opts...)
	require.NoError(t, err)
	return b
}

// requireSlots compares a result with recorded candidates.
func requireSlots(t *testing.T, want [][4]int64, rows *CandidateRows, i int) {
	t.Helper()
	r := rows.Row(i)
	require.EqualValues(t, len(want), r.Count[0])
	for j := range r.Source {
		c := [4]int64{-1, 0, -1, 0}
		if j < len(want) {
			c = want[j]
		}
		require.Equal(t, c, [4]int64{r.Source[j], r.Length[j], r.State[j], r.Frequency[j]}, "slot %d", j)
	}
}

// dirtyRows returns results that hold something else.
func dirtyRows(n, slots int) *CandidateRows {
	r := garbageRows(n, slots)
	return &r
}

// TestCandidateBatchRecorded does what was recorded of rosa-torch-native 0.4.0.
func TestCandidateBatchRecorded(t *testing.T) {
	for _, s := range scripts(t, "candidate_ragged") {
		b := newCandidateBatch(t, s.B, WithRagged(), WithCapacity(s.MaxLength), WithCandidates(WithSuffixes(s.K), WithOccurrences(s.R)))
		for i, a := range s.Log {
			if a.Op == "reset_masked" {
				require.NoError(t, b.ResetMasked(bools(a.Reset)))
			} else {
				out := dirtyRows(s.B, b.Slots())
				err := b.StepMaskedInto(out, decoded[[]int64](t, a.Tokens), bools(a.Active), bools(a.Reset))
				if a.Error != nil {
					require.ErrorIs(t, err, ErrFull, "%d: %s", i, a.Error.Msg)
				} else {
					require.NoError(t, err)
					for row, want := range decoded[[][][4]int64](t, a.Out) {
						requireSlots(t, want, out, row)
					}
				}
			}
			p, err := b.Positions()
			require.NoError(t, err)
			require.Equal(t, a.Positions, p, i)
		}
		b.Close()
	}
	flat := func(raw json.RawMessage) []int64 { return slices.Concat(decoded[[][]int64](t, raw)...) }
	for _, s := range scripts(t, "candidate_uniform") {
		b := newCandidateBatch(t, s.B, WithCapacity(s.MaxLength), WithCandidates(WithSuffixes(s.K), WithOccurrences(s.R)))
		for i, a := range s.Log {
			var out CandidateRows
			var err error
			switch a.Op {
			case "reset":
				err = b.Reset()
			case "step":
				out, err = b.Step(decoded[[]int64](t, a.Tokens))
			case "prefill":
				if a.Error != nil && a.Error.Msg == "prefill requires an empty candidate state" {
					continue // it may begin anywhere here
				}
				out, err = b.Prefill(flat(a.Tokens))
			case "prefill_selected":
				out, err = b.PrefillSelected(flat(a.Tokens), flat(a.Query))
			}
			switch {
			case a.Error != nil:
				require.True(t, errors.Is(err, ErrFull) || errors.Is(err, ErrQuery), "%d: %v, not %s", i, err, a.Error.Msg)
			case a.Op == "step":
				require.NoError(t, err)
				for row, want := range decoded[[][][4]int64](t, a.Out) {
					requireSlots(t, want, &out, row)
				}
			case a.Op != "reset":
				require.NoError(t, err)
				for j, want := range slices.Concat(decoded[[][][][4]int64](t, a.Out)...) {
					requireSlots(t, want, &out, j)
				}
			}
			p, err := b.Positions()
			require.NoError(t, err)
			require.Equal(t, slices.Repeat([]int{a.Position}, s.B), p, i)
		}
		b.Close()
	}
}

// TestCandidateBatchIsItsRows: uniform and ragged batches of any size, on any number of
// threads, answer as the streams by themselves do.
func TestCandidateBatchIsItsRows(t *testing.T) {
	for _, threads := range []int{1, 2, 16} {
		withThreads(t, threads)
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.SampledFrom([]int{1, 3, 5, 66}).Draw(t, "rows")
			kind := WithCandidates(WithSuffixes(rapid.IntRange(1, 4).Draw(t, "k")), WithOccurrences(rapid.IntRange(1, 3).Draw(t, "r")))
			uniform := newCandidateBatch(t, n, WithThreads(threads), kind)
			ragged := newCandidateBatch(t, n, WithRagged(), WithThreads(threads), kind)
			defer uniform.Close()
			defer ragged.Close()
			require.Equal(t, n, uniform.Len())
			var o batchOptions
			kind(&o)
			alone := make([]*Candidates, n)
			for row := range alone {
				alone[row] = NewCandidates(o.candidates...)
			}
			k := rapid.Int64Range(1, 300).Draw(t, "tokens")
			random := splitmix64(rapid.Uint64().Draw(t, "seed"))
			for range rapid.IntRange(1, 5).Draw(t, "calls") {
				width := rapid.IntRange(0, 6).Draw(t, "width")
				tokens := make([]int64, n*width)
				for i := range tokens {
					tokens[i] = int64(random.below(uint64(k)))
				}
				want := NewCandidateRows(n*width, uniform.Slots())
				for row, c := range alone {
					rows, err := c.Prefill(part(tokens, row, n))
					require.NoError(t, err)
					copyRows(&want, row*width, &rows)
				}
				if width > 0 && rapid.Bool().Draw(t, "selected") {
					var queries []int64
					each := rapid.IntRange(1, width).Draw(t, "queries")
					for range n {
						order := make([]int64, width)
						for i := range order {
							j := random.below(uint64(i) + 1)
							order[i], order[j] = order[j], int64(i)
						}
						queries = append(queries, order[:each]...)
					}
					got, err := uniform.PrefillSelected(tokens, queries)
					require.NoError(t, err)
					for i, q := range queries {
						require.Equal(t, want.Row(i/each*width+int(q)), got.Row(i))
					}
				} else {
					got := dirtyRows(n*width, uniform.Slots())
					require.NoError(t, uniform.PrefillInto(got, tokens))
					require.Equal(t, want, *got)
				}
				column := make([]int64, n)
				for i := range width {
					active, rest := make([]bool, n), make([]bool, n)
					for row := range column {
						column[row] = tokens[row*width+i]
						active[row] = random.below(2) == 0
						rest[row] = !active[row]
					}
					a, err := ragged.StepMasked(column, active, nil)
					require.NoError(t, err)
					b := *dirtyRows(n, ragged.Slots())
					require.NoError(t, ragged.StepMaskedInto(&b, column, rest, make([]bool, n)))
					for row := range column {
						some, none := a.Row(row), b.Row(row)
						if !active[row] {
							some, none = none, some
						}
						require.Equal(t, want.Row(row*width+i), some)
						require.Zero(t, none.Count[0])
						require.EqualValues(t, -1, none.Source[0])
					}
				}
				if rapid.IntRange(0, 3).Draw(t, "reset") == 0 {
					require.NoError(t, uniform.Reset())
					require.NoError(t, ragged.ResetMasked(slices.Repeat([]bool{true}, n)))
					for _, c := range alone {
						c.Reset()
					}
				}
			}
		})
	}
}

// TestEverySequenceInCandidateBatch: every short sequence is a row of a uniform batch,
// wherever it is cut into a prefill and steps, or two prefills of which every second token
// is asked for, and of a ragged batch whose rows are at other places.
func TestEverySequenceInCandidateBatch(t *testing.T) {
	withThreads(t, 2)
	const k, r = 3, 2
	kind := WithCandidates(WithSuffixes(k), WithOccurrences(r))
	for _, in := range exhaustive() {
		all, n := everySequence(in)
		want := NewCandidateRows(len(all)*in.n, k*r)
		model, row := newCandidateModel(), []candidate{}
		for i, x := range all {
			model.reset()
			for at, token := range x {
				row = shown(row[:0], model.push(token), k, r)
				putRow(&want, i*in.n+at, row)
			}
		}
		uniform := newCandidateBatch(t, n, WithThreads(2), kind)
		for first := 0; first < len(all); first += n {
			group := all[first : first+n]
			// Result i of each of a stream is that of the token at places[i].
			check := func(got *CandidateRows, places ...int) {
				for i := range got.Count {
					stream, at := i/len(places), places[i%len(places)]
					if wanted := (first+stream)*in.n + at; !equalRow(&want, wanted, got, i) {
						require.Equal(t, want.Row(wanted), got.Row(i), "%v at %d of %v", group[stream], at, places)
					}
				}
			}
			steps := func(from, to int) {
				got := dirtyRows(n, k*r)
				for i := from; i < to; i++ {
					require.NoError(t, uniform.StepInto(got, flat(group, i, i+1)))
					check(got, i)
				}
			}
			prefill := func(from, to int) {
				var places []int
				for i := from; i < to; i++ {
					places = append(places, i)
				}
				got := dirtyRows(n*(to-from), k*r)
				require.NoError(t, uniform.PrefillInto(got, flat(group, from, to)))
				check(got, places...)
			}
			selected := func(from, to int) {
				var places []int
				var queries []int64
				for i := to - 1; i >= from; i -= 2 {
					places, queries = append(places, i), append(queries, int64(i-from))
				}
				if len(places) == 0 {
					return
				}
				got := dirtyRows(n*len(places), k*r)
				require.NoError(t, uniform.PrefillSelectedInto(got, flat(group, from, to), slices.Repeat(queries, n)))
				check(got, places...)
			}
			for cut := range in.n + 1 {
				for _, two := range [][2]func(from, to int){{prefill, steps}, {steps, prefill}, {selected, selected}} {
					require.NoError(t, uniform.Reset())
					two[0](0, cut)
					two[1](cut, in.n)
				}
			}
		}
		uniform.Close()

		ragged := newCandidateBatch(t, 97, WithRagged(), WithThreads(2), kind)
		padding, count := NewCandidateRows(1, k*r), 0
		putRow(&padding, 0, nil)
		staggered(all, 97, func(tokens []int64, active, reset []bool, turns [][2]int) {
			got := dirtyRows(97, k*r)
			require.NoError(t, ragged.StepMaskedInto(got, tokens, active, reset))
			for row, turn := range turns {
				wanted, i := &padding, 0
				if active[row] {
					wanted, i = &want, turn[0]*in.n+turn[1]
					count++
				}
				if !equalRow(wanted, i, got, row) {
					require.Equal(t, wanted.Row(i), got.Row(row), "sequence and place %v", turn)
				}
			}
		})
		require.Equal(t, len(all)*in.n, count)
		ragged.Close()
	}
}

// copyRows copies rows to others, from row i on.
func copyRows(to *CandidateRows, i int, from *CandidateRows) {
	if len(from.Count) == 0 {
		return
	}
	slots := len(from.Source) / len(from.Count)
	copy(to.Source[i*slots:], from.Source)
	copy(to.Length[i*slots:], from.Length)
	copy(to.State[i*slots:], from.State)
	copy(to.Frequency[i*slots:], from.Frequency)
	copy(to.Count[i:], from.Count)
}

// TestCandidateBatchErrors: each is told, and nothing has changed.
func TestCandidateBatchErrors(t *testing.T) {
	_, err := NewCandidateBatch(-1)
	require.ErrorIs(t, err, ErrRows)
	uniform := newCandidateBatch(t, 2, WithCapacity(3))
	ragged := newCandidateBatch(t, 2, WithCapacity(3), WithRagged())
	yes, two, out := []bool{true, true}, []int64{5, 6}, dirtyRows(2, uniform.Slots())
	same := *out
	same.State = same.Source
	prefill := func(b *CandidateBatch, n int) error { _, err := b.Prefill(make([]int64, n)); return err }
	selected := func(n int, queries ...int64) error {
		_, err := uniform.PrefillSelected(make([]int64, n), queries)
		return err
	}
	step := func(b *CandidateBatch, tokens ...int64) error { _, err := b.Step(tokens); return err }
	masked := func(b *CandidateBatch, active, reset []bool) error {
		_, err := b.StepMasked(two, active, reset)
		return err
	}
	for i, c := range []struct{ got, want error }{
		{step(ragged, 5, 6), ErrMode}, {prefill(ragged, 2), ErrMode}, {ragged.Reset(), ErrMode},
		{masked(uniform, yes, nil), ErrMode}, {uniform.ResetMasked(yes), ErrMode},
		{step(uniform, 5), ErrLength}, {step(uniform), ErrLength}, {prefill(uniform, 3), ErrLength},
		{selected(2, 0), ErrLength}, {selected(2), ErrQuery}, {selected(2, 0, 1), ErrQuery}, {selected(4, 0, 1, 1, 1), ErrQuery},
		{selected(2, 0, -1), ErrQuery},
		{uniform.StepInto(dirtyRows(1, uniform.Slots()), two), ErrLength},
		{uniform.StepInto(&same, two), ErrOverlap}, {uniform.StepInto(out, out.Source[:2]), ErrOverlap},
		{uniform.PrefillSelectedInto(out, two, out.State[:2]), ErrOverlap},
		{masked(ragged, yes[:1], nil), ErrLength}, {masked(ragged, yes, yes[:1]), ErrLength}, {ragged.ResetMasked(nil), ErrLength},
		{prefill(uniform, 8), ErrFull},
	} {
		require.ErrorIs(t, c.got, c.want, i)
	}
	require.EqualValues(t, 77, out.Source[0])
	p, err := uniform.Positions()
	require.NoError(t, err)
	require.Equal(t, []int{0, 0}, p)
	for range 3 {
		require.NoError(t, masked(ragged, []bool{false, true}, nil))
	}
	require.ErrorIs(t, masked(ragged, yes, nil), ErrFull)
	p, err = ragged.Positions()
	require.NoError(t, err)
	require.Equal(t, []int{0, 3}, p)
	require.NotZero(t, ragged.Bytes())

	stepRow := uniform.step
	uniform.step = func(row int) {
		if row == 1 {
			panic("no")
		}
		stepRow(row)
	}
	require.ErrorIs(t, step(uniform, 5, 6), ErrBroken)
	require.ErrorIs(t, prefill(uniform, 2), ErrBroken)
	uniform.Close()
	require.ErrorIs(t, prefill(uniform, 2), ErrClosed)
	ragged.Close()
	require.ErrorIs(t, masked(ragged, yes, nil), ErrClosed)
}

func TestCandidateBatchAllocatesNothing(t *testing.T) {
	withThreads(t, 2)
	b := newCandidateBatch(t, 66, WithThreads(2))
	defer b.Close()
	tokens, out := make([]int64, 66), dirtyRows(66, b.Slots())
	for range 100 {
		require.NoError(t, b.StepInto(out, tokens))
	}
	require.NoError(t, b.Reset())
	require.Zero(t, testing.AllocsPerRun(50, func() { _ = b.StepInto(out, tokens) }))
}
