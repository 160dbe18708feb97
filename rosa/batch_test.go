package rosa

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// withThreads lets n threads run, however many CPUs there are, and looks for goroutines
// that are left at the end.
func withThreads(t *testing.T, n int) {
	leaks := goleak.IgnoreCurrent()
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(old)
		goleak.VerifyNone(t, leaks)
	})
}

func newBatch(t require.TestingT, rows int, opts ...BatchOption) *Batch {
	b, err := NewBatch(rows, opts...)
	require.NoError(t, err)
	return b
}

func positions(t require.TestingT, b *Batch) []int {
	p, err := b.Positions()
	require.NoError(t, err)
	return p
}

// script is recorded actions on a batch.
type script struct {
	Kind      string
	B, K, R   int
	MaxLength int `json:"max_length"`
	Log       []struct {
		Op            string
		Tokens, Query json.RawMessage
		Active, Reset []uint8
		Out           json.RawMessage
		Error         *struct{ Type, Msg string }
		Position      int
		Positions     []int

		Sources, Lengths []int // of rlbwt: of the last matches
	}
}

func scripts(t *testing.T, kind string) (all []script) {
	f, err := os.Open("testdata/actions.jsonl")
	require.NoError(t, err)
	defer f.Close()
	for scan := lineScanner(bufio.NewReader(f)); scan.Scan(); {
		var s script
		require.NoError(t, json.Unmarshal(scan.Bytes(), &s))
		if s.Kind == kind {
			all = append(all, s)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

func bools(mask []uint8) []bool {
	m := make([]bool, len(mask))
	for i, b := range mask {
		m[i] = b != 0
	}
	return m
}

// TestBatchRecorded does what was recorded of rosa-torch-native 0.4.0.
func TestBatchRecorded(t *testing.T) {
	for _, s := range scripts(t, "top1_ragged") {
		b := newBatch(t, s.B, WithRagged(), WithCapacity(s.MaxLength))
		full := 0
		for i, a := range s.Log {
			m, err := b.StepMasked(decoded[[]int64](t, a.Tokens), bools(a.Active), bools(a.Reset))
			if a.Error != nil {
				require.ErrorIs(t, err, ErrFull, "%d: %s", i, a.Error.Msg)
				full++
			} else {
				require.NoError(t, err)
				for row, next := range decoded[[]int64](t, a.Out) {
					require.Equal(t, next, m[row].Next, "%d row %d", i, row)
				}
			}
			require.Equal(t, a.Positions, positions(t, b), i)
		}
		require.NotZero(t, full)
		b.Close()
	}
}

// TestBatchRecordedRLBWT does what was recorded of the other system's run-length BWT, whose
// matches are the same: all but its inner state, and that it fills no state that has tokens.
func TestBatchRecordedRLBWT(t *testing.T) {
	for _, bounded := range []bool{false, true} {
		for _, s := range scripts(t, "rlbwt") {
			opts := []BatchOption{WithCapacity(s.MaxLength)}
			if bounded {
				opts = append(opts, WithStates(WithBoundedSteps()))
			}
			b := newBatch(t, s.B, opts...)
			last, full := slices.Repeat([]Match{none}, s.B), 0
			for i, a := range s.Log {
				var m []Match
				var want []int64
				var err error
				switch {
				case a.Op == "snapshot", a.Error != nil && a.Op == "prefill":
					continue
				case a.Op == "reset":
					require.NoError(t, b.Reset())
					last = slices.Repeat([]Match{none}, s.B)
				case a.Op == "step":
					m, err = b.Step(decoded[[]int64](t, a.Tokens))
					if a.Error == nil {
						want = decoded[[]int64](t, a.Out)
					}
				default:
					m, err = b.Prefill(slices.Concat(decoded[[][]int64](t, a.Tokens)...))
					if a.Error == nil {
						want = slices.Concat(decoded[[][]int64](t, a.Out)...)
					}
				}
				if a.Error != nil {
					require.ErrorIs(t, err, ErrFull, "%d: %s", i, a.Error.Msg)
					full++
				} else {
					require.NoError(t, err)
					require.Equal(t, want, nextOf(m), i)
				}
				for row := range last {
					if width := len(m) / s.B; width > 0 {
						last[row] = m[(row+1)*width-1]
					}
					require.Equal(t, a.Sources[row], last[row].Source, "%d row %d", i, row)
					require.Equal(t, a.Lengths[row], last[row].Length, "%d row %d", i, row)
				}
				require.Equal(t, slices.Repeat([]int{a.Position}, s.B), positions(t, b), i)
			}
			require.NotZero(t, full)
			b.Close()
		}
	}
}

// nextOf returns the tokens behind matches.
func nextOf(matches []Match) (next []int64) {
	for _, m := range matches {
		next = append(next, m.Next)
	}
	return next
}

// TestBatchIsItsRows: uniform and ragged batches of any size, on any number of threads,
// answer as the rows by themselves do.
func TestBatchIsItsRows(t *testing.T) {
	for _, threads := range []int{1, 2, 16} {
		withThreads(t, threads)
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.SampledFrom([]int{1, 3, 4, 5, 64, 70}).Draw(t, "rows")
			uniform, ragged := newBatch(t, n, WithThreads(threads)), newBatch(t, n, WithRagged(), WithThreads(threads))
			defer uniform.Close()
			defer ragged.Close()
			require.Equal(t, n, uniform.Len())
			k := rapid.Int64Range(1, 300).Draw(t, "tokens")
			r := splitmix64(rapid.Uint64().Draw(t, "seed"))
			rows := make([][]int64, n)
			for range rapid.IntRange(1, 6).Draw(t, "calls") {
				width := rapid.IntRange(0, 8).Draw(t, "width")
				var tokens []int64
				var want []Match
				for row := range rows {
					for range width {
						rows[row] = append(rows[row], int64(r.below(uint64(k))))
					}
					end := len(rows[row])
					tokens = append(tokens, rows[row][end-width:]...)
					want = append(want, brute(rows[row])[end-width:]...)
				}
				at := func(all []Match, i int) []Match {
					column := make([]Match, n)
					for row := range column {
						column[row] = all[row*width+i]
					}
					return column
				}
				prefill := rapid.Bool().Draw(t, "prefill")
				if prefill {
					m, err := uniform.Prefill(tokens)
					require.NoError(t, err)
					require.Equal(t, len(want), len(m))
					for i := range want {
						require.Equal(t, want[i], m[i], i)
					}
				}
				for i := range width {
					column := make([]int64, n)
					for row := range column {
						column[row] = tokens[row*width+i]
					}
					if !prefill {
						m, err := uniform.Step(column)
						require.NoError(t, err)
						require.Equal(t, at(want, i), m)
					}
					// One after the other, in two halves.
					active := make([]bool, n)
					for row := range active {
						active[row] = r.below(2) == 0
					}
					m, err := ragged.StepMasked(column, active, nil)
					require.NoError(t, err)
					for row := range active {
						active[row] = !active[row]
					}
					rest, err := ragged.StepMasked(column, active, make([]bool, n))
					require.NoError(t, err)
					for row := range active {
						if active[row] {
							require.Equal(t, none, m[row])
							m[row] = rest[row]
						} else {
							require.Equal(t, none, rest[row])
						}
					}
					require.Equal(t, at(want, i), m)
				}
				require.Equal(t, positions(t, uniform), positions(t, ragged))
				if rapid.IntRange(0, 4).Draw(t, "reset") == 0 {
					require.NoError(t, uniform.Reset())
					all := slices.Repeat([]bool{true}, n)
					require.NoError(t, ragged.ResetMasked(all))
					clear(rows)
				}
			}
		})
	}
}

// everySequence returns all sequences, and a number of rows that they fill again and again:
// 1, 32, or 243, so that neither prefills nor steps are on threads, or these are, or both.
func everySequence(in sequences) (all [][]int64, rows int) {
	every(in.k, in.n, func(x []int64) { all = append(all, slices.Clone(x)) })
	return all, int(in.k * in.k * in.k * in.k * in.k)
}

// flat returns what rows have at some places, row after row.
func flat[T any](rows [][]T, from, to int) []T {
	all := make([]T, 0, len(rows)*(to-from))
	for _, row := range rows {
		all = append(all, row[from:to]...)
	}
	return all
}

// staggered calls step with tokens for a ragged batch of n rows until each sequence was in a
// row, from its reset on. Which rows are active is drawn. turns are the number of the
// sequence of each row and the place of its token there, where it is active.
func staggered(all [][]int64, n int, step func(tokens []int64, active, reset []bool, turns [][2]int)) {
	random := splitmix64(5)
	tokens, active, reset, turns := make([]int64, n), make([]bool, n), make([]bool, n), make([][2]int, n)
	for row := range turns {
		turns[row] = [2]int{row, -1}
	}
	for left := min(n, len(all)); left > 0; {
		for row := range turns {
			turn := &turns[row]
			tokens[row], active[row], reset[row] = -1, false, random.below(2) == 0 // which says nothing
			if turn[0] >= len(all) || random.below(4) == 0 {
				continue
			}
			if turn[1]++; turn[1] == len(all[turn[0]]) {
				if *turn = [2]int{turn[0] + n, 0}; turn[0] >= len(all) {
					left--
					continue
				}
			}
			tokens[row], active[row], reset[row] = all[turn[0]][turn[1]], true, turn[1] == 0
		}
		step(tokens, active, reset, turns)
	}
}

// TestEverySequenceInBatch: every short sequence is a row of a uniform batch, wherever it is
// cut into a prefill and steps, and of a ragged batch whose rows are at other places.
func TestEverySequenceInBatch(t *testing.T) {
	withThreads(t, 2)
	for _, in := range exhaustive() {
		all, n := everySequence(in)
		want := make([][]Match, len(all))
		for i, x := range all {
			want[i] = brute(x)
		}
		uniform := newBatch(t, n, WithThreads(2))
		for first := 0; first < len(all); first += n {
			group, expected := all[first:first+n], want[first:first+n]
			take := func(prefill bool, from, to int) {
				width := 1
				if prefill {
					width = to - from
				}
				for i := from; i < to; i += width {
					var m []Match
					var err error
					if prefill {
						m, err = uniform.Prefill(flat(group, from, to))
					} else {
						m, err = uniform.Step(flat(group, i, i+1))
					}
					require.NoError(t, err)
					if wanted := flat(expected, i, i+width); !slices.Equal(wanted, m) {
						require.Equal(t, wanted, m, "%v from %d to %d of %d to %d", group, i, i+width, from, to)
					}
				}
			}
			for cut := range in.n + 1 {
				for _, prefill := range []bool{true, false} {
					require.NoError(t, uniform.Reset())
					take(prefill, 0, cut)
					take(!prefill, cut, in.n)
				}
			}
		}
		uniform.Close()

		ragged := newBatch(t, 97, WithRagged(), WithThreads(2))
		count := 0
		staggered(all, 97, func(tokens []int64, active, reset []bool, turns [][2]int) {
			m, err := ragged.StepMasked(tokens, active, reset)
			require.NoError(t, err)
			for row, turn := range turns {
				wanted := none
				if active[row] {
					wanted = want[turn[0]][turn[1]]
					count++
				}
				if wanted != m[row] {
					require.Equal(t, wanted, m[row], "sequence and place %v", turn)
				}
			}
		})
		require.Equal(t, len(all)*in.n, count)
		ragged.Close()
	}
}

// TestBatchResets: an active row is reset before its token, another not at all.
func TestBatchResets(t *testing.T) {
	b := newBatch(t, 3, WithRagged())
	defer b.Close()
	for range 2 {
		_, err := b.StepMasked([]int64{1, 2, 3}, []bool{true, true, true}, nil)
		require.NoError(t, err)
	}
	m, err := b.StepMasked([]int64{1, 2, 3}, []bool{true, false, true}, []bool{true, true, false})
	require.NoError(t, err)
	require.Equal(t, []Match{none, none, {3, 1, 2}}, m)
	require.Equal(t, []int{1, 2, 3}, positions(t, b))
	require.NoError(t, b.ResetMasked([]bool{false, true, false}))
	require.Equal(t, []int{1, 0, 3}, positions(t, b))
}

// TestBatchErrors: each is told, and nothing has changed.
func TestBatchErrors(t *testing.T) {
	_, err := NewBatch(0)
	require.ErrorIs(t, err, ErrRows)
	yes := []bool{true, true}
	uniform := newBatch(t, 2, WithCapacity(3))
	ragged := newBatch(t, 2, WithCapacity(3), WithRagged())
	_, err = uniform.Prefill([]int64{1, 1, 2, 2})
	require.NoError(t, err)
	_, err = ragged.StepMasked([]int64{1, 1}, yes, nil)
	require.NoError(t, err)
	for range 2 {
		_, err = ragged.StepMasked([]int64{1, 1}, []bool{false, true}, nil)
		require.NoError(t, err)
	}
	call := func(f func() error) func() error { return f }
	step := func(b *Batch, tokens ...int64) func() error {
		return call(func() error { _, err := b.Step(tokens); return err })
	}
	prefill := func(b *Batch, tokens ...int64) func() error {
		return call(func() error { _, err := b.Prefill(tokens); return err })
	}
	masked := func(b *Batch, tokens []int64, active, reset []bool) func() error {
		return call(func() error { _, err := b.StepMasked(tokens, active, reset); return err })
	}
	two := []int64{5, 6}
	for i, c := range []struct {
		f    func() error
		want error
	}{
		{step(ragged, 5, 6), ErrMode}, {prefill(ragged, 5, 6), ErrMode}, {ragged.Reset, ErrMode},
		{masked(uniform, two, yes, nil), ErrMode},
		{func() error { return uniform.ResetMasked(yes) }, ErrMode},
		{step(uniform, 5), ErrLength}, {step(uniform), ErrLength}, {step(uniform, 5, 6, 7), ErrLength},
		{prefill(uniform, 5, 6, 7), ErrLength},
		{func() error { return uniform.StepInto(make([]Match, 1), two) }, ErrLength},
		{func() error { return uniform.PrefillInto(make([]Match, 4), two) }, ErrLength},
		{masked(ragged, two[:1], yes, nil), ErrLength}, {masked(ragged, two, yes[:1], nil), ErrLength},
		{masked(ragged, two, nil, nil), ErrLength}, {masked(ragged, two, yes, yes[:1]), ErrLength},
		{func() error { return ragged.StepMaskedInto(make([]Match, 3), two, yes, nil) }, ErrLength},
		{func() error { return ragged.ResetMasked(nil) }, ErrLength},
		{prefill(uniform, 5, 6, 7, 8), ErrFull},
		// Row 1 is full, so that row 0 is not stepped, and not reset either.
		{masked(ragged, two, yes, nil), ErrFull}, {masked(ragged, two, yes, []bool{true, false}), ErrFull},
	} {
		require.ErrorIs(t, c.f(), c.want, i)
		require.Equal(t, []int{2, 2}, positions(t, uniform))
		require.Equal(t, []int{1, 3}, positions(t, ragged))
	}
	m, err := uniform.Step([]int64{1, 2})
	require.NoError(t, err)
	require.Equal(t, []Match{{1, 1, 2}, {2, 1, 2}}, m)
	require.ErrorIs(t, step(uniform, 1, 1)(), ErrFull)
	m, err = ragged.StepMasked([]int64{1, 1}, yes, []bool{false, true})
	require.NoError(t, err)
	require.Equal(t, []Match{{1, 0, 1}, none}, m)

	// Positions are a copy.
	positions(t, uniform)[0] = 1
	require.Equal(t, []int{3, 3}, positions(t, uniform))

	require.NotZero(t, uniform.Bytes())
	uniform.Close()
	uniform.Close()
	require.ErrorIs(t, step(uniform, 1, 2)(), ErrClosed)
	require.ErrorIs(t, prefill(uniform)(), ErrClosed)
	require.ErrorIs(t, uniform.Reset(), ErrClosed)
	_, err = uniform.Positions()
	require.ErrorIs(t, err, ErrClosed)
	require.Zero(t, uniform.Bytes())
	ragged.Close()
	require.ErrorIs(t, masked(ragged, two, yes, nil)(), ErrClosed)
	require.ErrorIs(t, ragged.ResetMasked(yes), ErrClosed)
}

// TestBatchPanics: a row that panics breaks the batch, and nothing else.
func TestBatchPanics(t *testing.T) {
	withThreads(t, 4)
	cause := errors.New("cause")
	for _, n := range []int{1, 3, 70} {
		b := newBatch(t, n, WithThreads(4))
		step := b.step
		b.step = func(row int) {
			if row == n/2 {
				panic(cause)
			}
			step(row)
		}
		_, err := b.Step(make([]int64, n))
		require.ErrorIs(t, err, ErrBroken)
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, fmt.Sprintf("row %d", n/2))
		require.ErrorContains(t, err, "batch_test.go") // the stack
		b.step = step
		_, err = b.Step(make([]int64, n))
		require.ErrorIs(t, err, ErrBroken)
		require.NotErrorIs(t, err, cause)
		_, err = b.Positions()
		require.ErrorIs(t, err, ErrBroken)
		require.ErrorIs(t, b.Reset(), ErrBroken)
		b.Close()
		require.ErrorIs(t, b.Reset(), ErrClosed)
	}
}

// TestBatchConcurrent: calls are done one after the other. For the race detector.
func TestBatchConcurrent(t *testing.T) {
	withThreads(t, 4)
	const n, calls = 70, 25
	b := newBatch(t, n, WithThreads(3))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range calls {
				if _, err := b.Step(make([]int64, n)); err != nil {
					t.Error(err)
				}
				if _, err := b.Positions(); err != nil {
					t.Error(err)
				}
				b.Bytes()
			}
		})
	}
	wg.Wait()
	require.Equal(t, slices.Repeat([]int{4 * calls}, n), positions(t, b))
	wg.Go(b.Close)
	wg.Go(func() {
		for range calls {
			if _, err := b.Step(make([]int64, n)); err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// TestBatchGarbage: a batch that nobody closed leaves no goroutine.
func TestBatchGarbage(t *testing.T) {
	withThreads(t, 4)
	leaks := goleak.IgnoreCurrent()
	func() {
		b := newBatch(t, 70)
		_, err := b.Step(make([]int64, 70))
		require.NoError(t, err)
		require.Equal(t, 4, b.rows.workers.Threads())
	}()
	runtime.GC()
	require.NoError(t, goleak.Find(leaks))
}

func TestBatchAllocatesNothing(t *testing.T) {
	withThreads(t, 2)
	for _, threads := range []int{1, 2} {
		const n = 70
		uniform := newBatch(t, n, WithThreads(threads))
		ragged := newBatch(t, n, WithThreads(threads), WithRagged())
		tokens, matches, active := make([]int64, n), make([]Match, n), slices.Repeat([]bool{true}, n)
		for range 64 { // until the text has room
			require.NoError(t, uniform.StepInto(matches, tokens))
			require.NoError(t, ragged.StepMaskedInto(matches, tokens, active, nil))
		}
		require.NoError(t, uniform.Reset())
		require.Zero(t, testing.AllocsPerRun(50, func() { _ = uniform.StepInto(matches, tokens) }))
		require.Zero(t, testing.AllocsPerRun(50, func() { _ = ragged.StepMaskedInto(matches, tokens, active, active) }))
		uniform.Close()
		ragged.Close()
	}
}

func BenchmarkBatch(b *testing.B) {
	const n, length = 64, 10_000
	for _, in := range []string{"bytes", "text"} {
		for _, threads := range []int{1, 2} {
			x := batchStreams(in, n, length)
			b.Run(fmt.Sprintf("step/%s/%d", in, threads), func(b *testing.B) {
				tokens, matches := make([]int64, n), make([]Match, n)
				for b.Loop() {
					batch := newBatch(b, n, WithThreads(threads))
					for i := range length {
						for row := range tokens {
							tokens[row] = x[row*length+i]
						}
						if err := batch.StepInto(matches, tokens); err != nil {
							b.Fatal(err)
						}
					}
					batch.Close()
				}
				b.ReportMetric(float64(b.N)*n*length/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
			b.Run(fmt.Sprintf("prefill/%s/%d", in, threads), func(b *testing.B) {
				matches := make([]Match, n*length)
				for b.Loop() {
					batch := newBatch(b, n, WithThreads(threads))
					if err := batch.PrefillInto(matches, x); err != nil {
						b.Fatal(err)
					}
					batch.Close()
				}
				b.ReportMetric(float64(b.N)*n*length/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}

// batchStreams returns n streams of a kind, one after the other.
func batchStreams(kind string, n, length int) []int64 {
	x := make([]int64, 0, n*length)
	for _, in := range streams {
		if in.name == kind {
			f := in.token(n * length)
			for i := range n * length {
				x = append(x, f(i))
			}
		}
	}
	return x
}

// TestBatchNotMade: what New did not make, and what it is not to make, are errors.
func TestBatchNotMade(t *testing.T) {
	var b Batch
	var c CandidateBatch
	_, err := b.Step(nil)
	require.ErrorIs(t, err, ErrClosed)
	_, err = c.Step(nil)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, b.Reset(), ErrClosed)
	require.ErrorIs(t, c.ResetMasked(nil), ErrClosed)
	_, err = b.Positions()
	require.ErrorIs(t, err, ErrClosed)
	require.Zero(t, b.Bytes()+c.Bytes())
	b.Close()
	c.Close()
	_, err = NewBatch(math.MaxInt)
	require.ErrorIs(t, err, ErrRows)
	_, err = NewBatch(1, nil, WithStates(nil))
	require.NoError(t, err)
	_, err = NewCandidateBatch(1, nil, WithCandidates(nil))
	require.NoError(t, err)
}

// TestBatchChecksFirst: nothing is made for a call that fails, however much it were.
func TestBatchChecksFirst(t *testing.T) {
	c, err := NewCandidateBatch(1, WithCapacity(10), WithCandidates(WithSuffixes(1<<12), WithOccurrences(1<<12)))
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Prefill(make([]int64, 60_000)) // 32 TB
	require.ErrorIs(t, err, ErrFull)
	require.ErrorIs(t, c.StepInto(nil, []int64{1}), ErrLength)
	require.ErrorIs(t, NewCandidates().StepInto(nil, 1), ErrLength)
	require.ErrorIs(t, NewCandidates().PrefillInto(nil, []int64{1}), ErrLength)
	require.Empty(t, NewCandidateRows(-1, 4).Source)
}
