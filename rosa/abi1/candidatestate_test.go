package abi1

import (
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/rosa"
)

func emptyCandidates(b, n, k, r int, ragged bool) *CandidateArrays {
	a := &CandidateArrays{Automaton: emptyAutomaton(b, n, ragged), SuffixK: k, OccurrencesR: r, Ragged: ragged}
	a.Positions = filled[int64](0, b)
	s := a.Head.Shape[1]
	a.Occurrences, a.LazyPrefix = filled[int64](-1, b, s, r), filled[int64](-1, b, s, r)
	a.OccurrenceSize, a.LazySize = filled[int32](0, b, s), filled[int32](0, b, s)
	a.Frequency, a.LazyDelta = filled[int64](0, b, s), filled[int64](0, b, s)
	return a
}

func bindCandidatesTo(t require.TestingT, a *CandidateArrays, opts ...Option) *CandidateState {
	s, err := BindCandidates(a, opts...)
	require.NoError(t, err)
	return s
}

// dirty returns rows for results that hold something else.
func dirty(n, slots int) *rosa.CandidateRows {
	r := rosa.NewCandidateRows(n, slots)
	for _, column := range [][]int64{r.Source, r.Length, r.State, r.Frequency} {
		for i := range column {
			column[i] = 77
		}
	}
	for i := range r.Count {
		r.Count[i] = 77
	}
	return &r
}

// wanted compares a result with recorded candidates.
func wanted(t *testing.T, want [][4]int64, rows *rosa.CandidateRows, i int) {
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

func TestRecordedCandidateActions(t *testing.T) {
	for _, c := range scripts(t, "candidate_ragged") {
		a := emptyCandidates(c.B, c.MaxLength, c.K, c.R, true)
		s := bindCandidatesTo(t, a)
		for i, step := range c.Log {
			if step.Op == "reset_masked" {
				require.NoError(t, s.ResetMasked(mask(step.Reset)))
				require.Equal(t, step.Positions, s.Positions(), i)
				continue
			}
			out := dirty(c.B, c.K*c.R)
			err := s.StepMasked(out, decoded[[]int64](t, step.Tokens), mask(step.Active), mask(step.Reset))
			if step.Error != nil {
				require.ErrorIs(t, err, rosa.ErrFull, "%d: %s", i, step.Error.Msg)
			} else {
				require.NoError(t, err)
				for row, want := range decoded[[][][4]int64](t, step.Out) {
					wanted(t, want, out, row)
				}
			}
			require.Equal(t, step.Positions, s.Positions(), i)
			require.Equal(t, step.Positions, a.Positions.Data, i)
		}
		bindCandidatesTo(t, a)
		s.Close()
	}
	for _, c := range scripts(t, "candidate_uniform") {
		a := emptyCandidates(c.B, c.MaxLength, c.K, c.R, false)
		s := bindCandidatesTo(t, a)
		for i, step := range c.Log {
			uniformAction(t, s, &c, &step)
			require.Equal(t, slices.Repeat([]int64{step.Position}, c.B), s.Positions(), "%d %s", i, step.Op)
			require.Equal(t, step.Position, *a.Position)
			require.Equal(t, s.Positions(), a.Positions.Data)
		}
		bindCandidatesTo(t, a)
		s.Close()
	}
}

func uniformAction(t *testing.T, s *CandidateState, c *script, step *action) {
	flat := func(raw json.RawMessage) (all []int64) {
		for _, row := range decoded[[][]int64](t, raw) {
			all = append(all, row...)
		}
		return all
	}
	var err error
	var want [][][4]int64
	var out *rosa.CandidateRows
	switch step.Op {
	case "reset":
		require.NoError(t, s.Reset())
		return
	case "step":
		out = dirty(c.B, c.K*c.R)
		err = s.Step(out, decoded[[]int64](t, step.Tokens))
		if err == nil {
			want = decoded[[][][4]int64](t, step.Out)
		}
	case "prefill", "prefill_selected":
		tokens := flat(step.Tokens)
		if step.Op == "prefill" {
			out = dirty(len(tokens), c.K*c.R)
			err = s.Prefill(out, tokens)
		} else {
			queries := flat(step.Query)
			out = dirty(len(queries), c.K*c.R)
			err = s.PrefillSelected(out, tokens, queries)
		}
		if err == nil {
			for _, row := range decoded[[][][][4]int64](t, step.Out) {
				want = append(want, row...)
			}
		}
	default:
		require.Fail(t, "unknown action", step.Op)
	}
	if step.Error == nil {
		require.NoError(t, err)
		require.Len(t, out.Count, len(want))
		for i := range want {
			wanted(t, want[i], out, i)
		}
		return
	}
	sentinel, known := map[string]error{
		"candidate state capacity exceeded":                      rosa.ErrFull,
		"prefill requires an empty candidate state":              ErrNotEmpty,
		"query_positions must contain at least one query":        rosa.ErrQuery,
		"query_positions values must be in [0, N)":               rosa.ErrQuery,
		"query_positions must be unique within each batch row":   rosa.ErrQuery,
		"tokens must be a two-dimensional int64 array":           rosa.ErrLength,
		"step_masked requires a ragged candidate state":          rosa.ErrMode,
		"tokens must be contiguous int64 [batch_size]":           rosa.ErrLength,
		"reset_masked requires a ragged candidate state":         rosa.ErrMode,
		"tokens must be C-contiguous with the expected shape":    rosa.ErrLength,
		"query_positions must be C-contiguous with the expected": rosa.ErrLength,
	}[step.Error.Msg]
	require.True(t, known, step.Error.Msg)
	require.ErrorIs(t, err, sentinel)
}

// newest reads the newest ends of state v and their number.
func (a *CandidateArrays) newest(v int32) (ends []int64, frequency int64) {
	r := a.OccurrencesR
	ends = slices.Clone(a.Occurrences.Data[int(v)*r:][:a.OccurrenceSize.Data[v]])
	frequency = a.Frequency.Data[v]
	for _, u := range a.pendingAbove(v) {
		ends = append(slices.Clone(a.LazyPrefix.Data[int(u)*r:][:a.LazySize.Data[u]]), ends...)
		frequency += a.LazyDelta.Data[u]
	}
	return ends[:min(len(ends), r)], frequency
}

// TestRecordedCandidateArrays: the same tokens leave the same automaton in the arrays, with
// the same lists, and one can go on from what the other left.
func TestRecordedCandidateArrays(t *testing.T) {
	for _, r := range recordings(t, "testdata/candidatearrays.jsonl.gz") {
		theirs, ours := emptyCandidates(1, r.MaxLength, r.K, r.R, false), emptyCandidates(1, r.MaxLength, r.K, r.R, false)
		r.automaton(&theirs.Automaton)
		theirs.Positions.Data[0] = *theirs.Position
		theirs.Occurrences.Data, theirs.LazyPrefix.Data = r.Arrays.Occurrences, r.Arrays.LazyPrefix
		theirs.OccurrenceSize.Data, theirs.LazySize.Data = r.Arrays.OccurrenceSize, r.Arrays.LazySize
		theirs.Frequency.Data, theirs.LazyDelta.Data = r.Arrays.Frequency, r.Arrays.LazyDelta
		s := bindCandidatesTo(t, ours)
		if r.How == "step" {
			for i := range r.Tokens {
				require.NoError(t, s.Step(dirty(1, r.K*r.R), r.Tokens[i:i+1]))
			}
		} else {
			require.NoError(t, s.Prefill(dirty(len(r.Tokens), r.K*r.R), r.Tokens))
		}
		requireSame(t, &theirs.Automaton, &ours.Automaton)
		for v := range ours.Size.Data[0] {
			theirEnds, theirFrequency := theirs.newest(v)
			ends, frequency := ours.newest(v)
			require.Equal(t, theirEnds, ends, "%s: state %d", r.Name, v)
			require.Equal(t, theirFrequency, frequency, "%s: state %d", r.Name, v)
		}
		for _, a := range []*CandidateArrays{theirs, ours} {
			s := bindCandidatesTo(t, a)
			for i, want := range r.After {
				out := dirty(1, r.K*r.R)
				require.NoError(t, s.Step(out, r.More[i:i+1]))
				wanted(t, want, out, 0)
			}
		}
	}
}

// TestEverySequenceOfCandidates: what is in the arrays, and that candidates are those of a
// stream, of every short sequence.
func TestEverySequenceOfCandidates(t *testing.T) {
	long := 8
	if testing.Short() {
		long = 6
	}
	for _, c := range []struct{ letters, n, k, r int }{{2, long, 3, 2}, {3, long - 2, 16, 3}, {2, long, 1, 1}} {
		a := emptyCandidates(1, c.n, c.k, c.r, true)
		s := bindCandidatesTo(t, a)
		stream := rosa.NewCandidates(rosa.WithSuffixes(c.k), rosa.WithOccurrences(c.r))
		x := make([]int64, c.n)
		for code := range int(math.Pow(float64(c.letters), float64(c.n))) {
			for i := range x {
				x[i] = 'a' + int64(code%c.letters)
				code /= c.letters
			}
			require.NoError(t, s.ResetMasked([]uint8{1}))
			stream.Reset()
			for i := range x {
				out := dirty(1, c.k*c.r)
				require.NoError(t, s.StepMasked(out, x[i:i+1], []uint8{1}, nil))
				want, err := stream.Step(x[i])
				require.NoError(t, err)
				require.Equal(t, want, *out, "%v at %d", x, i)
			}
			longest, want := a.checkAutomaton(t, letters(x))
			for v := 1; v < len(longest); v++ {
				all := want[longest[v]].ends
				ends, frequency := a.newest(int32(v))
				require.EqualValues(t, len(all), frequency)
				require.Len(t, ends, min(len(all), c.r))
				for i, end := range ends {
					require.EqualValues(t, all[i], end, "%v: %s", x, longest[v])
				}
			}
		}
		bindCandidatesTo(t, a)
	}
}

// TestCandidatesUniformAndRagged: many rows on some threads, by prefill, selected or not,
// and by steps, as one and by others, are streams.
func TestCandidatesUniformAndRagged(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	rapid.Check(t, func(t *rapid.T) {
		n, k, r := rapid.SampledFrom([]int{1, 5, 66}).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "k"), rapid.IntRange(1, 4).Draw(t, "r")
		capacity := rapid.IntRange(1, 40).Draw(t, "capacity")
		prefix := rapid.IntRange(0, capacity).Draw(t, "prefix")
		alphabet := rapid.SampledFrom([]uint64{1, 2, 3, 9}).Draw(t, "alphabet")
		rnd := rapid.Uint64().Draw(t, "seed")
		below := func(n uint64) uint64 {
			rnd = rnd*6364136223846793005 + 1442695040888963407
			return rnd >> 33 % n
		}
		u, g := emptyCandidates(n, capacity, k, r, false), emptyCandidates(n, capacity, k, r, true)
		uniform, ragged := bindCandidatesTo(t, u, WithThreads(3)), bindCandidatesTo(t, g)
		defer uniform.Close()
		defer ragged.Close()
		x := make([][]int64, n)
		want := make([]rosa.CandidateRows, n)
		var flat, queries []int64
		each := 0
		if prefix > 0 && rapid.Bool().Draw(t, "selected") {
			each = rapid.IntRange(1, prefix).Draw(t, "queries")
		}
		for row := range x {
			for range capacity {
				x[row] = append(x[row], int64(below(alphabet)))
			}
			var err error
			want[row], err = rosa.NewCandidates(rosa.WithSuffixes(k), rosa.WithOccurrences(r)).Prefill(x[row])
			require.NoError(t, err)
			flat = append(flat, x[row][:prefix]...)
			order := make([]int64, prefix)
			for i := range order {
				j := below(uint64(i) + 1)
				order[i], order[j] = order[j], int64(i)
			}
			queries = append(queries, order[:each]...)
		}
		if each > 0 {
			out := dirty(len(queries), k*r)
			require.NoError(t, uniform.PrefillSelected(out, flat, queries))
			for i, q := range queries {
				require.Equal(t, want[i/each].Row(int(q)), out.Row(i))
			}
		} else {
			out := dirty(len(flat), k*r)
			require.NoError(t, uniform.Prefill(out, flat))
			for i := range flat {
				require.Equal(t, want[i/prefix].Row(i%prefix), out.Row(i))
			}
		}
		tokens := make([]int64, n)
		for i := range capacity {
			active, rest := make([]uint8, n), make([]uint8, n)
			for row := range tokens {
				tokens[row] = x[row][i]
				active[row] = uint8(below(2))
				rest[row] = 1 - active[row]
			}
			a, b := dirty(n, k*r), dirty(n, k*r)
			require.NoError(t, ragged.StepMasked(a, tokens, active, nil))
			require.NoError(t, ragged.StepMasked(b, tokens, rest, make([]uint8, n)))
			c := dirty(n, k*r)
			if i >= prefix {
				require.NoError(t, uniform.Step(c, tokens))
			}
			for row := range tokens {
				some, none := a, b
				if active[row] == 0 {
					some, none = b, a
				}
				require.Equal(t, want[row].Row(i), some.Row(row))
				require.Zero(t, none.Count[row])
				require.EqualValues(t, -1, none.Source[row*k*r])
				if i >= prefix {
					require.Equal(t, want[row].Row(i), c.Row(row))
				}
			}
			if i == capacity/2 { // another goes on
				uniform.Close()
				uniform = bindCandidatesTo(t, u, WithThreads(2))
			}
		}
		require.ErrorIs(t, uniform.Step(dirty(n, k*r), tokens), rosa.ErrFull)
		require.NoError(t, uniform.Reset())
		require.NoError(t, ragged.ResetMasked(slices.Repeat([]uint8{1}, n)))
		fresh := emptyCandidates(n, capacity, k, r, true)
		for _, a := range []*CandidateArrays{u, g} {
			require.Equal(t, fresh.OccurrenceSize, a.OccurrenceSize)
			require.Equal(t, fresh.LazySize, a.LazySize)
			require.Equal(t, fresh.Frequency, a.Frequency)
			require.Equal(t, fresh.LazyDelta, a.LazyDelta)
			require.Equal(t, fresh.Positions, a.Positions)
		}
	})
}
