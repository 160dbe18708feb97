package abi1

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/rosa"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// filled returns an array of a shape that holds a value everywhere.
func filled[T int32 | int64 | uint8](value T, shape ...int) Array[T] {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return Array[T]{Data: slices.Repeat([]T{value}, n), Shape: shape}
}

// emptyAutomaton returns the arrays of b rows of n tokens at most. What needs no value
// has a wrong one.
func emptyAutomaton(b, n int, ragged bool) Automaton {
	const junk = 0x5a5a5a5a
	s, e := 2*n+1, 4*n+1
	h := 1 << bits.Len(uint(2*e-1))
	a := Automaton{
		Version: Version, BatchSize: b, MaxLength: n, History: filled[int64](junk, b, n),
		Head: filled[int32](-1, b, s), EdgeToken: filled[int64](junk, b, e), EdgeTarget: filled[int32](junk, b, e), EdgeNext: filled[int32](junk, b, e),
		HashState: filled[int32](-1, b, h), HashToken: filled[int64](junk, b, h), HashEdge: filled[int32](junk, b, h),
		SuffixLink: filled[int32](-1, b, s), Length: filled[int32](0, b, s),
		LCTLeft: filled[int32](-1, b, s), LCTRight: filled[int32](-1, b, s), LCTParent: filled[int32](-1, b, s), LCTStack: filled[int32](junk, b, s),
		Last: filled[int32](0, b), Size: filled[int32](1, b), EdgeCount: filled[int32](0, b),
	}
	if ragged {
		a.Positions = filled[int64](0, b)
	} else {
		a.Position = new(int64)
	}
	return a
}

func empty(b, n int, ragged bool) *Arrays {
	a := &Arrays{Automaton: emptyAutomaton(b, n, ragged)}
	s := a.Head.Shape[1]
	a.LCTValue, a.LCTLazy, a.LCTLazyValid = filled[int64](-1, b, s), filled[int64](0x5a5a5a5a, b, s), filled[uint8](0, b, s)
	return a
}

func bindTo(t require.TestingT, a *Arrays, opts ...Option) *State {
	s, err := Bind(a, opts...)
	require.NoError(t, err)
	return s
}

// predictions returns the predictions for tokens by the definition.
func predictions(x []int64) []int64 {
	next := make([]int64, len(x))
	for i := range x {
		next[i] = -1
		best := 0
		for j := i - 1; j >= 0; j-- {
			n := 0
			for n <= j && x[j-n] == x[i-n] {
				n++
			}
			if n > best {
				best, next[i] = n, x[j+1]
			}
		}
	}
	return next
}

// class is a state of an automaton by the definition: the strings with the same ends.
type class struct {
	longest string // tokens, of a letter each
	ends    []int  // newest first
}

// classes returns the states for a short stream, by their longest string.
func classes(x string) map[string]class {
	all := map[string]class{"": {}}
	byEnds := map[string]string{}
	ends := map[string][]int{}
	for to := len(x); to > 0; to-- {
		for from := range to {
			ends[x[from:to]] = append(ends[x[from:to]], to-1)
		}
	}
	for s, e := range ends {
		key := ""
		for _, end := range e {
			key += string(rune('0'+end)) + ","
		}
		if len(s) > len(byEnds[key]) {
			byEnds[key] = s
		}
	}
	for _, s := range byEnds {
		all[s] = class{s, ends[s]}
	}
	return all
}

// strings reads the automaton of row 0: the longest string of each state, by the edges.
func (a *Automaton) strings(t require.TestingT) []string {
	longest := make([]string, a.Size.Data[0])
	edges := 0
	for done := false; !done; {
		done = true
		edges = 0
		for v := range longest {
			for e := a.Head.Data[v]; e != -1; e = a.EdgeNext.Data[e] {
				edges++
				if s := longest[v] + string(rune(a.EdgeToken.Data[e])); len(s) > len(longest[a.EdgeTarget.Data[e]]) {
					longest[a.EdgeTarget.Data[e]], done = s, false
				}
			}
		}
	}
	require.EqualValues(t, edges, a.EdgeCount.Data[0])
	return longest
}

// pendingAbove returns the states above v in its splay tree, nearest first.
func (a *Automaton) pendingAbove(v int32) (above []int32) {
	for {
		p := a.LCTParent.Data[v]
		if p == -1 || a.LCTLeft.Data[p] != v && a.LCTRight.Data[p] != v {
			return above
		}
		above = append(above, p)
		v = p
	}
}

// newest reads the newest end of state v.
func (a *Arrays) newest(v int32) int64 {
	end := a.LCTValue.Data[v]
	for _, u := range a.pendingAbove(v) {
		if a.LCTLazyValid.Data[u] != 0 {
			end = a.LCTLazy.Data[u]
		}
	}
	return end
}

// checkAutomaton compares the states of row 0 with the definition and returns the longest
// string of each.
func (a *Automaton) checkAutomaton(t require.TestingT, x string) ([]string, map[string]class) {
	want, longest := classes(x), a.strings(t)
	require.Equal(t, len(want), len(longest), x)
	for v, s := range longest {
		require.Contains(t, want, s)
		require.EqualValues(t, len(s), a.Length.Data[v])
		if v == 0 {
			continue
		}
		// The suffix link is the longest suffix with other ends.
		suffix := s[1:]
		for {
			if _, is := want[suffix]; is {
				break
			}
			suffix = suffix[1:]
		}
		require.Equal(t, suffix, longest[a.SuffixLink.Data[v]])
	}
	return longest, want
}

func letters(x []int64) string {
	var b strings.Builder
	for _, c := range x {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// TestEverySequence: predictions, and what is in the arrays, of every short sequence.
func TestEverySequence(t *testing.T) {
	long := 9
	if testing.Short() {
		long = 7
	}
	for k, n := range map[int64]int{2: long, 3: long - 2} {
		a := empty(1, n, true)
		s := bindTo(t, a)
		x, next := make([]int64, n), []int64{0}
		for code := range int(math.Pow(float64(k), float64(n))) {
			for i := range x {
				x[i] = 'a' + int64(code)%k
				code /= int(k)
			}
			require.NoError(t, s.ResetMasked([]uint8{1}))
			for i, want := range predictions(x) {
				require.NoError(t, s.StepMasked(next, x[i:i+1], []uint8{1}, nil))
				require.Equal(t, want, next[0], x[:i+1])
			}
			longest, want := a.checkAutomaton(t, letters(x))
			for v := 1; v < len(longest); v++ {
				require.EqualValues(t, want[longest[v]].ends[0], a.newest(int32(v)), "%s: %s", x, longest[v])
			}
		}
		_, err := Bind(a)
		require.NoError(t, err)
	}
}

// recording is arrays that were recorded.
type recording struct {
	Name, How string
	MaxLength int `json:"max_length"`
	Tokens    []int64
	Pred      []int64
	K, R      int
	More      []int64
	After     [][][4]int64
	Arrays    struct {
		History                []int64
		Head                   []int32
		EdgeToken              []int64 `json:"edge_token"`
		EdgeTarget             []int32 `json:"edge_target"`
		EdgeNext               []int32 `json:"edge_next"`
		HashState              []int32 `json:"hash_state"`
		HashToken              []int64 `json:"hash_token"`
		HashEdge               []int32 `json:"hash_edge"`
		SuffixLink             []int32 `json:"suffix_link"`
		Length, Last, Size     []int32
		EdgeCount              []int32 `json:"edge_count"`
		Left                   []int32 `json:"lct_left"`
		Right                  []int32 `json:"lct_right"`
		Parent                 []int32 `json:"lct_parent"`
		Value                  []int64 `json:"lct_value"`
		Lazy                   []int64 `json:"lct_lazy"`
		Valid                  []int   `json:"lct_lazy_valid"`
		Occurrences, Frequency []int64
		LazyPrefix             []int64 `json:"lazy_prefix"`
		LazyDelta              []int64 `json:"lazy_delta"`
		OccurrenceSize         []int32 `json:"occurrence_size"`
		LazySize               []int32 `json:"lazy_size"`
	}
}

func recordings(t *testing.T, path string) (all []recording) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for d := json.NewDecoder(z); d.More(); {
		var r recording
		require.NoError(t, d.Decode(&r))
		all = append(all, r)
	}
	require.Len(t, all, 14)
	return all
}

// automaton puts recorded arrays into a caller's.
func (r *recording) automaton(a *Automaton) {
	w := &r.Arrays
	a.History.Data, a.Head.Data = w.History, w.Head
	a.EdgeToken.Data, a.EdgeTarget.Data, a.EdgeNext.Data = w.EdgeToken, w.EdgeTarget, w.EdgeNext
	a.HashState.Data, a.HashToken.Data, a.HashEdge.Data = w.HashState, w.HashToken, w.HashEdge
	a.SuffixLink.Data, a.Length.Data = w.SuffixLink, w.Length
	a.LCTLeft.Data, a.LCTRight.Data, a.LCTParent.Data = w.Left, w.Right, w.Parent
	a.Last.Data, a.Size.Data, a.EdgeCount.Data = w.Last, w.Size, w.EdgeCount
	*a.Position = int64(len(r.Tokens))
}

// arrays returns the recorded arrays as a caller's.
func (r *recording) arrays() *Arrays {
	a := empty(1, r.MaxLength, false)
	r.automaton(&a.Automaton)
	a.LCTValue.Data, a.LCTLazy.Data = r.Arrays.Value, r.Arrays.Lazy
	for i, v := range r.Arrays.Valid {
		a.LCTLazyValid.Data[i] = uint8(v)
	}
	return a
}

// requireSame compares the automata of one row, whatever lies where nothing is.
func requireSame(t *testing.T, theirs, ours *Automaton) {
	require.Equal(t, theirs.Size, ours.Size)
	require.Equal(t, theirs.Last, ours.Last)
	require.Equal(t, theirs.EdgeCount, ours.EdgeCount)
	require.Equal(t, *theirs.Position, *ours.Position)
	n, edges := *ours.Position, ours.EdgeCount.Data[0]
	require.Equal(t, theirs.History.Data[:n], ours.History.Data[:n])
	require.Equal(t, theirs.Head, ours.Head)
	require.Equal(t, theirs.EdgeToken.Data[:edges], ours.EdgeToken.Data[:edges])
	require.Equal(t, theirs.EdgeTarget.Data[:edges], ours.EdgeTarget.Data[:edges])
	require.Equal(t, theirs.EdgeNext.Data[:edges], ours.EdgeNext.Data[:edges])
	require.Equal(t, theirs.HashState, ours.HashState)
	for i, v := range ours.HashState.Data {
		if v != -1 {
			require.Equal(t, theirs.HashToken.Data[i], ours.HashToken.Data[i])
			require.Equal(t, theirs.HashEdge.Data[i], ours.HashEdge.Data[i])
		}
	}
	require.Equal(t, theirs.SuffixLink, ours.SuffixLink)
	require.Equal(t, theirs.Length, ours.Length)
}

// TestRecordedArrays: the same tokens leave the same automaton in the arrays, and one can
// go on from what the other left.
func TestRecordedArrays(t *testing.T) {
	for _, r := range recordings(t, "testdata/arrays.jsonl.gz") {
		theirs, ours := r.arrays(), empty(1, r.MaxLength, false)
		s := bindTo(t, ours)
		next := make([]int64, len(r.Tokens))
		if r.How == "step" {
			for i := range r.Tokens {
				require.NoError(t, s.Step(next[i:i+1], r.Tokens[i:i+1]))
			}
		} else {
			require.NoError(t, s.Prefill(next, r.Tokens))
		}
		require.Equal(t, r.Pred, next, r.Name)
		requireSame(t, &theirs.Automaton, &ours.Automaton)
		for v := range ours.Size.Data[0] {
			require.Equal(t, theirs.newest(v), ours.newest(v), "%s: state %d", r.Name, v)
		}
		more := append(slices.Clone(r.Tokens), 7, r.Tokens[0], r.Tokens[1], r.Tokens[2])
		want := predictions(more)
		s = bindTo(t, theirs)
		for i := len(r.Tokens); i < len(more); i++ {
			require.NoError(t, s.Step(next[:1], more[i:i+1]))
			require.Equal(t, want[i], next[0], r.Name)
		}
		require.ErrorIs(t, s.Step(next[:1], more[:1]), rosa.ErrFull)
	}
}

// action is one of a recorded script.
type action struct {
	Op            string
	Tokens, Query json.RawMessage
	Active, Reset []int
	Out           json.RawMessage
	Error         *struct{ Type, Msg string }
	Position      int64
	Positions     []int64
}

type script struct {
	Kind      string
	B, K, R   int
	MaxLength int `json:"max_length"`
	Log       []action
}

func scripts(t *testing.T, kind string) (all []script) {
	f, err := os.Open("../testdata/actions.jsonl")
	require.NoError(t, err)
	defer f.Close()
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var s script
		require.NoError(t, d.Decode(&s))
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

// mask returns a mask, with another value than 1 for yes now and then.
func mask(m []int) []uint8 {
	b := make([]uint8, len(m))
	for i, v := range m {
		b[i] = uint8(v * (1 + 6*(i%2)))
	}
	return b
}

func TestRecordedActions(t *testing.T) {
	for _, c := range scripts(t, "top1_ragged") {
		a := empty(c.B, c.MaxLength, true)
		s := bindTo(t, a)
		next := make([]int64, c.B)
		for i, step := range c.Log {
			err := s.StepMasked(next, decoded[[]int64](t, step.Tokens), mask(step.Active), mask(step.Reset))
			if step.Error != nil {
				require.ErrorIs(t, err, rosa.ErrFull, "%d: %s", i, step.Error.Msg)
			} else {
				require.NoError(t, err)
				require.Equal(t, decoded[[]int64](t, step.Out), next, i)
			}
			require.Equal(t, step.Positions, s.Positions(), i)
			require.Equal(t, step.Positions, a.Positions.Data, i)
		}
		bindTo(t, a)
		s.Close()
	}
}

// TestUniformAndRagged: many rows on some threads, by prefill and steps, as one and by
// others, with resets.
func TestUniformAndRagged(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 5, 66}).Draw(t, "rows")
		capacity := rapid.IntRange(1, 40).Draw(t, "capacity")
		alphabet := rapid.SampledFrom([][]int64{{0, 1}, {-1, 0, math.MaxInt64, math.MinInt64}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}).Draw(t, "alphabet")
		u, r := empty(n, capacity, false), empty(n, capacity, true)
		uniform, ragged := bindTo(t, u, WithThreads(3)), bindTo(t, r)
		defer uniform.Close()
		defer ragged.Close()
		rnd := rapid.Uint64().Draw(t, "seed")
		all := slices.Repeat([]uint8{1}, n)
		for range rapid.IntRange(1, 3).Draw(t, "streams") {
			x := make([][]int64, n)
			want := make([][]int64, n)
			var flat, flatWant []int64
			prefix := rapid.IntRange(0, capacity).Draw(t, "prefix")
			for row := range x {
				for range capacity {
					rnd = rnd*6364136223846793005 + 1442695040888963407
					x[row] = append(x[row], alphabet[rnd>>33%uint64(len(alphabet))])
				}
				want[row] = predictions(x[row])
				flat, flatWant = append(flat, x[row][:prefix]...), append(flatWant, want[row][:prefix]...)
			}
			next := make([]int64, len(flat))
			require.NoError(t, uniform.Prefill(next, flat))
			require.Equal(t, len(flatWant), len(next))
			for i := range next {
				require.Equal(t, flatWant[i], next[i])
			}
			column := func(x [][]int64, i int) []int64 {
				c := make([]int64, n)
				for row := range c {
					c[row] = x[row][i]
				}
				return c
			}
			next = make([]int64, n)
			for i := range capacity {
				require.NoError(t, ragged.StepMasked(next, column(x, i), all, nil))
				require.Equal(t, column(want, i), next)
				if i >= prefix {
					require.NoError(t, uniform.Step(next, column(x, i)))
					require.Equal(t, column(want, i), next)
				}
				if i == capacity/2 { // another goes on
					uniform.Close()
					uniform = bindTo(t, u, WithThreads(2))
				}
			}
			require.ErrorIs(t, uniform.Step(next, next[:0]), rosa.ErrLength)
			require.ErrorIs(t, uniform.Step(next, column(x, 0)), rosa.ErrFull)
			require.ErrorIs(t, ragged.StepMasked(next, column(x, 0), all, nil), rosa.ErrFull)
			require.NoError(t, uniform.Reset())
			require.NoError(t, ragged.ResetMasked(all))
			// What is written is as it was in the beginning.
			fresh := empty(n, capacity, true)
			for _, a := range []*Arrays{u, r} {
				require.Equal(t, fresh.Head, a.Head)
				require.Equal(t, fresh.HashState, a.HashState)
				require.Equal(t, fresh.SuffixLink, a.SuffixLink)
				require.Equal(t, fresh.Length, a.Length)
				require.Equal(t, fresh.LCTLeft, a.LCTLeft)
				require.Equal(t, fresh.LCTRight, a.LCTRight)
				require.Equal(t, fresh.LCTParent, a.LCTParent)
				require.Equal(t, fresh.LCTValue, a.LCTValue)
				require.Equal(t, fresh.LCTLazyValid, a.LCTLazyValid)
				require.Equal(t, fresh.Size, a.Size)
			}
		}
	})
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	const n = 65
	s := bindTo(t, empty(n, 100, false), WithThreads(3))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				if err := s.Step(make([]int64, n), make([]int64, n)); err != nil {
					t.Error(err)
				}
				s.Positions()
			}
		})
	}
	wg.Wait()
	require.Equal(t, slices.Repeat([]int64{100}, n), s.Positions())
	s.Close()
	s.Close()
	require.Nil(t, s.Positions())
	require.ErrorIs(t, s.Step(make([]int64, n), make([]int64, n)), rosa.ErrClosed)
}

func TestStepAllocatesNothing(t *testing.T) {
	s := bindTo(t, empty(4, 1000, false))
	defer s.Close()
	next, tokens := make([]int64, 4), []int64{1, 2, 3, 4}
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if err := s.Step(next, tokens); err != nil {
			panic(err)
		}
	}))
	require.True(t, errors.Is(s.Reset(), nil))
}
