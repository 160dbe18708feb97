package rosa

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// candidate is a slot of a row.
type candidate struct{ Source, Length, State, Frequency int64 }

// candidateModel finds all candidates by the definition, in O(n) for each suffix of a token,
// and numbers states in the order in which they are made: a string is known by where it
// ends first, and its length.
type candidateModel struct {
	tokens []int64
	lcs    []int64 // LCS(j, i) of the last token i, at j
	states map[[2]int64]int64

	suffixes []suffix // of the last token
	ends     []int64  // of those
}

func newCandidateModel() *candidateModel { return &candidateModel{states: map[[2]int64]int64{}} }

// suffix is a suffix that is longest for its occurrences: how many there are, and where
// they end, the newest first; not all need be there.
type suffix struct {
	length, state, frequency int64
	ends                     []int64
}

// push takes a token and returns its suffixes, longest first, in memory that the next push
// uses again.
func (m *candidateModel) push(token int64) []suffix {
	i := len(m.tokens)
	m.tokens, m.lcs = append(m.tokens, token), append(m.lcs, 0)
	for j := i; j >= 0; j-- {
		switch {
		case m.tokens[j] != token:
			m.lcs[j] = 0
		case j == 0:
			m.lcs[j] = 1
		default:
			m.lcs[j] = m.lcs[j-1] + 1 // that is still of token i−1
		}
	}
	m.number(int64(i), int64(i)+1)
	m.suffixes, m.ends = m.suffixes[:0], m.ends[:0]
	for length := m.longest(int64(i) + 1); length > 0; length = m.longest(length) {
		from := len(m.ends)
		for j := i - 1; j >= 0; j-- {
			if m.lcs[j] >= length {
				m.ends = append(m.ends, int64(j))
			}
		}
		ends := m.ends[from:]
		first := ends[len(ends)-1]
		if len(m.suffixes) == 0 {
			m.number(first, length)
		}
		m.suffixes = append(m.suffixes, suffix{length, m.states[[2]int64{first, length}], int64(len(ends)), ends})
	}
	return m.suffixes
}

// longest returns the largest LCS(j, i) < below of the last token i, 0 if there is none.
func (m *candidateModel) longest(below int64) (length int64) {
	for _, n := range m.lcs[:len(m.lcs)-1] {
		if n < below {
			length = max(length, n)
		}
	}
	return length
}

// number gives a string the next number if it has none.
func (m *candidateModel) number(first, length int64) {
	w := [2]int64{first, length}
	if _, known := m.states[w]; !known {
		m.states[w] = int64(len(m.states)) + 1
	}
}

func (m *candidateModel) reset() {
	m.tokens, m.lcs = m.tokens[:0], m.lcs[:0]
	clear(m.states)
}

// shown appends the candidates of some suffixes and some occurrences of each to an empty row.
func shown(row []candidate, suffixes []suffix, k, r int) []candidate {
	for _, s := range suffixes[:min(k, len(suffixes))] {
		for _, j := range s.ends[:min(r, len(s.ends))] {
			if !slices.ContainsFunc(row, func(c candidate) bool { return c.Source == j }) {
				row = append(row, candidate{j, s.length, s.state, s.frequency})
			}
		}
	}
	return row
}

// putRow makes candidates those of a row, and its other slots padding.
func putRow(rows *CandidateRows, i int, row []candidate) {
	slots := len(rows.Source) / len(rows.Count)
	for s := range slots {
		c := candidate{-1, 0, -1, 0}
		if s < len(row) {
			c = row[s]
		}
		at := i*slots + s
		rows.Source[at], rows.Length[at], rows.State[at], rows.Frequency[at] = c.Source, c.Length, c.State, c.Frequency
	}
	rows.Count[i] = int32(len(row))
}

// hasRow reports whether a row has these candidates, and padding.
func hasRow(rows *CandidateRows, i int, want []candidate) bool {
	row := rows.Row(i)
	for s := range row.Source {
		c := candidate{-1, 0, -1, 0}
		if s < len(want) {
			c = want[s]
		}
		if c != (candidate{row.Source[s], row.Length[s], row.State[s], row.Frequency[s]}) {
			return false
		}
	}
	return int(row.Count[0]) == len(want)
}

// equalRow reports whether row i of some is row j of others.
func equalRow(a *CandidateRows, i int, b *CandidateRows, j int) bool {
	p, q := a.Row(i), b.Row(j)
	return slices.Equal(p.Source, q.Source) && slices.Equal(p.Length, q.Length) && slices.Equal(p.State, q.State) &&
		slices.Equal(p.Frequency, q.Frequency) && p.Count[0] == q.Count[0]
}

// equalRows reports whether rows are the same.
func equalRows(a, b *CandidateRows) bool {
	return slices.Equal(a.Source, b.Source) && slices.Equal(a.Length, b.Length) && slices.Equal(a.State, b.State) &&
		slices.Equal(a.Frequency, b.Frequency) && slices.Equal(a.Count, b.Count)
}

// rowOf returns the candidates of a row, or an error if its other slots are not padding.
func rowOf(rows CandidateRows, i int) ([]candidate, error) {
	row := rows.Row(i)
	all := make([]candidate, len(row.Source))
	for s := range all {
		all[s] = candidate{row.Source[s], row.Length[s], row.State[s], row.Frequency[s]}
		if s >= int(row.Count[0]) && all[s] != (candidate{-1, 0, -1, 0}) {
			return all, fmt.Errorf("slot %d of row %d with %d candidates is %v", s, i, row.Count[0], all[s])
		}
	}
	return all[:row.Count[0]], nil
}

// requireRow requires that a row has these candidates.
func requireRow(t require.TestingT, want []candidate, rows CandidateRows, i int, what ...any) {
	if !hasRow(&rows, i, want) {
		got, err := rowOf(rows, i)
		require.Equal(t, want, got, what...)
		require.NoError(t, err, what...)
	}
}

// newLinked returns Candidates whose automaton goes over to the link-cut tree at once.
func newLinked(opts ...CandidatesOption) *Candidates {
	c := NewCandidates(opts...)
	relink(c)
	return c
}

// relink makes an empty stream go over to the link-cut tree at once.
func relink(c *Candidates) {
	c.begin()
	c.automaton.climbs = math.MaxInt64 / 2
}

// TestEverySequenceOfCandidates compares every short sequence with the definition: for
// several K and R, climbing and by the link-cut tree, as bytes, as codes, and as bytes that
// become codes on the way.
func TestEverySequenceOfCandidates(t *testing.T) {
	variants := []struct {
		k, r   int
		linked bool
		shift  int64 // of the tokens
	}{
		{1, 1, false, 0}, {1, 1, true, math.MinInt64}, {16, 4, false, 256}, {16, 4, true, 0},
		{2, 3, true, 255}, {3, 2, false, 254}, {2, 1, true, 0}, {1, 2, true, 256},
		{2, 5, true, 0}, {1, 8, false, 0}, {1, 100, true, 0},
	}
	for _, in := range exhaustive() {
		if in.k == 1 {
			in.n = 40
		}
		model, row := newCandidateModel(), []candidate{}
		streams := make([]*Candidates, len(variants))
		every(in.k, in.n, func(x []int64) {
			model.reset()
			for i, v := range variants {
				if streams[i] == nil || v.shift == 254 || v.shift == 255 { // it is of codes after a reset
					streams[i] = NewCandidates(WithSuffixes(v.k), WithOccurrences(v.r))
				}
				streams[i].Reset()
				if v.linked {
					relink(streams[i])
				}
			}
			for at, token := range x {
				suffixes := model.push(token)
				for i, v := range variants {
					row = shown(row[:0], suffixes, v.k, v.r)
					rows, err := streams[i].Step(token + v.shift)
					if err != nil || !hasRow(&rows, 0, row) {
						require.NoError(t, err)
						requireRow(t, row, rows, 0, "%v at %d, %+v", x, at, v)
					}
				}
			}
		})
	}
}

// TestRecordedCandidates compares with the recorded answers of rosa-torch-native 0.4.0.
func TestRecordedCandidates(t *testing.T) {
	f, err := os.Open("testdata/candidates.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := 0
	for scan := lineScanner(bufio.NewReader(r)); scan.Scan(); lines++ {
		var recorded struct {
			Name   string
			K, R   int
			Tokens []int64
			Cand   [][][4]int64
		}
		require.NoError(t, json.Unmarshal(scan.Bytes(), &recorded))
		for _, newCandidates := range []func(...CandidatesOption) *Candidates{NewCandidates, newLinked} {
			rows, err := newCandidates(WithSuffixes(recorded.K), WithOccurrences(recorded.R)).Prefill(recorded.Tokens)
			require.NoError(t, err)
			for i, row := range recorded.Cand {
				want := []candidate{}
				for _, c := range row {
					want = append(want, candidate{c[0], c[1], c[2], c[3]})
				}
				requireRow(t, want, rows, i, "%s at %d", recorded.Name, i)
			}
		}
	}
	require.Equal(t, 96, lines)
}

// garbageRows returns rows whose memory was used before.
func garbageRows(n, slots int) CandidateRows {
	rows := NewCandidateRows(n, slots)
	for _, s := range [][]int64{rows.Source, rows.Length, rows.State, rows.Frequency} {
		for i := range s {
			s[i] = 77
		}
	}
	for i := range rows.Count {
		rows.Count[i] = 77
	}
	return rows
}

// TestCandidatesAgainstModel: steps, prefills, clones and resets in any order.
func TestCandidatesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, r := rapid.IntRange(1, 20).Draw(t, "k"), rapid.OneOf(rapid.IntRange(1, 9), rapid.Just(100)).Draw(t, "r")
		c := NewCandidates(WithSuffixes(k), WithOccurrences(r))
		if rapid.Bool().Draw(t, "linked") {
			c = newLinked(WithSuffixes(k), WithOccurrences(r))
		}
		c.begin()
		c.automaton.rings.most = rapid.SampledFrom([]int32{1, 100, 1000, math.MaxInt32}).Draw(t, "places")
		if rapid.Bool().Draw(t, "reset") {
			_, err := c.Prefill(drawTokens(t))
			require.NoError(t, err)
			c.Reset()
			require.Zero(t, c.Len())
		}
		x := drawTokens(t)
		x = x[:min(len(x), 200)]
		model := newCandidateModel()
		var want [][]candidate
		for _, token := range x {
			want = append(want, shown(nil, model.push(token), k, r))
		}
		for i := 0; i < len(x); {
			n := rapid.IntRange(1, len(x)-i).Draw(t, "n")
			piece := x[i : i+n]
			var queries []int64
			for q := range int64(n) {
				queries = append(queries, q)
			}
			queries = rapid.Permutation(queries).Draw(t, "queries")[:rapid.IntRange(1, n).Draw(t, "asked")]
			switch rapid.IntRange(0, 6).Draw(t, "operation") {
			case 0:
				rows, err := c.Prefill(piece)
				require.NoError(t, err)
				for q := range piece {
					requireRow(t, want[i+q], rows, q)
				}
			case 1:
				rows := garbageRows(n, k*r)
				require.NoError(t, c.PrefillInto(&rows, piece))
				for q := range piece {
					requireRow(t, want[i+q], rows, q)
				}
			case 2:
				rows, err := c.PrefillSelected(piece, queries)
				require.NoError(t, err)
				for row, q := range queries {
					requireRow(t, want[i+int(q)], rows, row)
				}
			case 3:
				rows := garbageRows(len(queries), k*r)
				require.NoError(t, c.PrefillSelectedInto(&rows, piece, queries))
				for row, q := range queries {
					requireRow(t, want[i+int(q)], rows, row)
				}
			case 4:
				rows, err := c.Step(x[i])
				require.NoError(t, err)
				requireRow(t, want[i], rows, 0)
				n = 1
			case 5:
				rows := garbageRows(1, k*r)
				require.NoError(t, c.StepInto(&rows, x[i]))
				requireRow(t, want[i], rows, 0)
				n = 1
			case 6:
				other := c
				c = c.Clone()
				_, err := other.Prefill(piece)
				require.NoError(t, err)
				n = 0
			}
			i += n
			require.Equal(t, i, c.Len())
		}
	})
}

// TestLongCandidates: on streams of all kinds, the first candidate is the match of State,
// and the link-cut tree answers as climbing does.
func TestLongCandidates(t *testing.T) {
	n := 5_000
	for _, in := range streams {
		f := in.token(n)
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i)
		}
		matches, err := NewState().Prefill(x)
		require.NoError(t, err)
		for _, kr := range [][2]int{{1, 1}, {1, 5}, {16, 4}} {
			options := []CandidatesOption{WithSuffixes(kr[0]), WithOccurrences(kr[1])}
			climbing, linked := NewCandidates(options...), newLinked(options...)
			climbing.begin()
			climbing.automaton.climbs = math.MinInt64 / 2
			want, got := garbageRows(1, climbing.Slots()), garbageRows(1, climbing.Slots())
			for i, token := range x {
				_, _ = climbing.StepInto(&want, token), linked.StepInto(&got, token) // the rows tell
				if !slices.Equal(want.Source, got.Source) || !slices.Equal(want.Length, got.Length) || want.Count[0] != got.Count[0] ||
					!slices.Equal(want.State, got.State) || !slices.Equal(want.Frequency, got.Frequency) {
					require.Equal(t, want, got, "%s at %d", in.name, i)
				}
				if m := matches[i]; int64(m.Source) != got.Source[0] || int64(m.Length) != got.Length[0] {
					require.Equal(t, m, got, "%s at %d", in.name, i)
				}
			}
			require.False(t, climbing.automaton.paths.used())
			require.True(t, linked.automaton.paths.used())
		}
	}
}

// TestManyTransitions: classes with every number of transitions, bytes and others, and
// copies of them.
func TestManyTransitions(t *testing.T) {
	for _, tokens := range []int64{255, 300, 3000} {
		var x []int64
		for round := range int64(3) {
			for i := range tokens {
				x = append(x, round%2, 0, i*7919%tokens)
			}
		}
		matches, err := NewState().Prefill(x)
		require.NoError(t, err)
		rows, err := NewCandidates(WithSuffixes(1), WithOccurrences(1)).Prefill(x)
		require.NoError(t, err)
		for i, m := range matches {
			require.EqualValues(t, m.Source, rows.Source[i])
			require.EqualValues(t, m.Length, rows.Length[i])
		}
	}
}

func TestCandidatesRefuse(t *testing.T) {
	c := NewCandidates(WithSuffixes(2), WithOccurrences(2))
	c.limit = 6
	tokens := []int64{1, 2, 1}
	_, err := c.Prefill(tokens)
	require.NoError(t, err)
	memory := make([]int64, 12)
	shared := func(change func(r *CandidateRows)) *CandidateRows {
		rows := NewCandidateRows(3, 4)
		change(&rows)
		return &rows
	}
	for name, rows := range map[string]*CandidateRows{
		"short source":    shared(func(r *CandidateRows) { r.Source = r.Source[:11] }),
		"long length":     shared(func(r *CandidateRows) { r.Length = make([]int64, 16) }),
		"short state":     shared(func(r *CandidateRows) { r.State = nil }),
		"short frequency": shared(func(r *CandidateRows) { r.Frequency = r.Frequency[:8] }),
		"long count":      shared(func(r *CandidateRows) { r.Count = make([]int32, 4) }),
	} {
		require.ErrorIs(t, c.PrefillInto(rows, tokens), ErrLength, name)
		require.ErrorIs(t, c.PrefillSelectedInto(rows, tokens, []int64{0, 1, 2}), ErrLength, name)
		require.ErrorIs(t, c.StepInto(rows, 1), ErrLength, name)
	}
	for name, rows := range map[string]*CandidateRows{
		"source and state":     shared(func(r *CandidateRows) { r.Source, r.State = memory, memory }),
		"length and frequency": shared(func(r *CandidateRows) { m := make([]int64, 13); r.Length, r.Frequency = m[:12], m[1:] }),
		"state and tokens":     shared(func(r *CandidateRows) { r.State = memory }),
	} {
		require.ErrorIs(t, c.PrefillInto(rows, memory[9:]), ErrOverlap, name)
		require.ErrorIs(t, c.PrefillSelectedInto(rows, tokens, memory[9:]), ErrOverlap, name)
	}
	all := make([]int64, 48)
	for i := range all {
		all[i] = 5
	}
	touching := CandidateRows{Source: all[:12], Length: all[12:24], State: all[24:36], Frequency: all[36:], Count: make([]int32, 3)}
	for _, queries := range [][]int64{{}, {3}, {-1}, {0, 2, 0}, {1, 1}, {math.MaxInt64}} {
		_, err = c.PrefillSelected(tokens, queries)
		require.ErrorIs(t, err, ErrQuery)
	}
	require.ErrorIs(t, c.PrefillSelectedInto(&touching, tokens, []int64{0, 1, 1}), ErrQuery)
	_, err = c.PrefillSelected(nil, []int64{0})
	require.ErrorIs(t, err, ErrQuery)
	_, err = c.Prefill(make([]int64, 4))
	require.ErrorIs(t, err, ErrFull)
	_, err = c.PrefillSelected(make([]int64, 4), []int64{0})
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, 3, c.Len())
	require.EqualValues(t, 5, all[0])

	require.NoError(t, c.PrefillInto(&touching, []int64{2, 1, 9}))
	requireRow(t, []candidate{{1, 2, 2, 1}}, touching, 0)
	_, err = c.Step(1)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorIs(t, c.StepInto(shared(func(r *CandidateRows) { *r = NewCandidateRows(1, 4) }), 1), ErrFull)
	require.NoError(t, c.PrefillInto(new(CandidateRows), nil))

	huge := NewCandidates(WithSuffixes(1<<30), WithOccurrences(1<<30))
	require.Equal(t, maxCandidates*maxCandidates, huge.Slots())
	_, err = huge.Prefill(make([]int64, 1<<17))
	require.ErrorIs(t, err, ErrLength)
}

// TestCandidatesZero: the zero value is an empty stream with the defaults.
func TestCandidatesZero(t *testing.T) {
	var c Candidates
	require.Equal(t, 64, c.Slots())
	require.Zero(t, c.Len())
	require.Zero(t, c.Bytes())
	c.Reset()
	d := c.Clone()
	rows, err := d.Step(3)
	require.NoError(t, err)
	requireRow(t, []candidate{}, rows, 0)
	rows, err = d.Step(3)
	require.NoError(t, err)
	requireRow(t, []candidate{{0, 1, 1, 1}}, rows, 0)
	require.Zero(t, c.Len())
}

// TestCandidatesAllocateNothing, once their memory has grown.
func TestCandidatesAllocateNothing(t *testing.T) {
	c := NewCandidates(WithSuffixes(4))
	r := splitmix64(3)
	x := make([]int64, 20000)
	for i := range x {
		x[i] = int64(r.below(300))
	}
	row := NewCandidateRows(1, c.Slots())
	run := func() {
		c.Reset()
		for _, token := range x {
			_ = c.StepInto(&row, token)
		}
	}
	run()
	require.Zero(t, testing.AllocsPerRun(3, run))
}

// FuzzCandidates compares with the definition what comes of tokens and operations: each byte
// is a token, and says by its high bits what is done with it.
func FuzzCandidates(f *testing.F) {
	f.Add(uint8(2), uint8(2), true, []byte("abracadabra abracadabra"))
	f.Add(uint8(15), uint8(3), false, []byte{0, 1, 0, 64, 1, 0, 128, 1, 192, 0, 1, 0})
	f.Add(uint8(0), uint8(0), true, []byte{255, 3, 255, 3, 255, 3, 3})
	f.Fuzz(func(t *testing.T, k, r uint8, linked bool, operations []byte) {
		suffixes, occurrences := 1+int(k%20), 1+int(r%9)
		options := []CandidatesOption{WithSuffixes(suffixes), WithOccurrences(occurrences)}
		c := NewCandidates(options...)
		if linked {
			c = newLinked(options...)
		}
		model := newCandidateModel()
		row := garbageRows(1, c.Slots())
		for _, operation := range operations[:min(len(operations), 300)] {
			// One token is no byte.
			token := int64(operation&3) * 85
			if operation&7 == 7 {
				token = -1
			}
			switch operation >> 5 {
			case 2:
				c = c.Clone()
			case 3:
				c.Reset()
				model = newCandidateModel()
			case 4:
				model.push(token)
				_, err := c.PrefillSelected([]int64{token, token}, []int64{1})
				require.NoError(t, err)
				model.push(token)
				continue
			}
			want := shown(nil, model.push(token), suffixes, occurrences)
			require.NoError(t, c.StepInto(&row, token))
			requireRow(t, want, row, 0)
		}
	})
}
