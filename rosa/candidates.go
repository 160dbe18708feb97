package rosa

import (
	"fmt"
	"slices"
)

// MaxCandidateTokens is how many tokens [Candidates] and [QKV] take at most.
const MaxCandidateTokens = 1 << 27

// Candidates finds, for each token of one stream, more than the one match that [State]
// finds: the longest suffixes that occur earlier, a few of the newest occurrences of each,
// and how often it occurs.
//
// Let l₁ > l₂ > … > 0 be the distinct values of LCS(j, i) over j < i: the lengths of the
// suffixes that are longest for their occurrences, E(k) = {j < i: LCS(j, i) ≥ l(k)}. For
// k = 1 to K, the R largest j of E(k), largest first, are a candidate each, unless j is one
// already: its length is LCS(j, i), its frequency |E(k)|. A j that is one already still
// counts among the R. Candidate 0 is the match of [State].
//
// The state of a candidate is the number of its suffix in the automaton of the stream: the
// root is 0; token i makes the next for x[0..i] and, if the match of i is not the longest
// string of a state yet, one more for that.
//
// Any int64 is a token. A token costs amortised O(log n · R + K·R), whatever the stream.
// Memory grows with use: 40 to 120 bytes a token where R is 4, a third of it spare at most. A
// larger R takes at most about twice what it keeps in addition: of each state that occurs
// twice or more the newest ends, as many as R rounded up to a power of two, 4 bytes each. A
// token of 200 KB of random ASCII takes 55 bytes where R is 4, and 75 where it is 4096.
// Candidates is for one goroutine at a time. The zero value is the empty stream with K 16 and
// R 4.
type Candidates struct {
	automaton *automaton // nil before the first token
	names     dictionary // of the tokens with codes from 256 on
	limit     int        // tokens, MaxCandidateTokens if 0; less in tests

	suffixes, occurrences int
	lists                 [2][]int32 // the occurrences of the last suffixes
	row                   CandidateRows
	padding               []int64 // −1s
	checked               [5]span // memory of the last StepInto: most often the next one's
}

// CandidatesOption is an option of [NewCandidates].
type CandidatesOption func(*Candidates)

// WithSuffixes sets K, how many suffixes are looked at, 1 to 2¹²; what is outside counts as
// the nearest. Default 16.
func WithSuffixes(k int) CandidatesOption {
	return func(c *Candidates) { c.suffixes = min(max(k, 1), maxCandidates) }
}

// WithOccurrences sets R, how many occurrences of each, 1 to 2¹²; what is outside counts as
// the nearest. Default 4.
func WithOccurrences(r int) CandidatesOption {
	return func(c *Candidates) { c.occurrences = min(max(r, 1), maxCandidates) }
}

const maxCandidates = 1 << 12

// NewCandidates returns an empty stream.
func NewCandidates(opts ...CandidatesOption) *Candidates {
	c := new(Candidates)
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	return c
}

// begin makes what the first token needs, once.
func (c *Candidates) begin() {
	if c.automaton != nil {
		return
	}
	c.suffixes, c.occurrences = c.Suffixes(), c.Occurrences()
	c.automaton = newAutomaton(c.occurrences)
	for i := range c.lists {
		c.lists[i] = make([]int32, c.occurrences+1)
	}
	c.padding = make([]int64, c.Slots())
	for i := range c.padding {
		c.padding[i] = -1
	}
}

// Suffixes returns K, how many suffixes are looked at.
func (c *Candidates) Suffixes() int {
	if c.suffixes == 0 {
		return 16
	}
	return c.suffixes
}

// Occurrences returns R, how many occurrences of each suffix are looked at.
func (c *Candidates) Occurrences() int {
	if c.occurrences == 0 {
		return 4
	}
	return c.occurrences
}

// Slots returns K·R, the places for candidates of a row.
func (c *Candidates) Slots() int { return c.Suffixes() * c.Occurrences() }

// Len returns the number of tokens that came.
func (c *Candidates) Len() int {
	if c.automaton == nil {
		return 0
	}
	return c.automaton.len()
}

// room returns how many tokens may come.
func (c *Candidates) room() int {
	if c.limit > 0 {
		return c.limit - c.Len()
	}
	return MaxCandidateTokens - c.Len()
}

// checkRoom returns ErrFull if n tokens may not come.
func (c *Candidates) checkRoom(n int) error {
	if n > c.room() {
		return fmt.Errorf("%w: it has %d tokens and takes %d more, not %d; reset it or begin another",
			ErrFull, c.Len(), c.room(), n)
	}
	return nil
}

// extend takes a token, for which there is room, and returns the state of its match.
func (c *Candidates) extend(token int64) int32 {
	v := c.automaton.extend(codeFor(token, c.automaton, &c.names))
	if v != 0 && c.automaton.paths.used() {
		c.automaton.access(v)
	}
	return v
}

// codeFor returns the code of a token in an automaton, which becomes one of codes if it is
// one of bytes and the token is none, and the token gets a code.
func codeFor(token int64, a *automaton, names *dictionary) uint32 {
	if uint64(token) < 256 {
		return uint32(token)
	}
	if !a.wide {
		a.widen()
	}
	code, known := names.code(token)
	if !known {
		names.add(token)
	}
	return code + 256
}

// skip takes a token, for which there is room.
func (c *Candidates) skip(token int64) {
	if v := c.extend(token); v != 0 {
		c.automaton.touch(v, int32(c.automaton.len())-1)
	}
}

// step takes a token, for which there is room, and puts its candidates into row i. If that is
// fresh, what is 0 there and stays so need not be put.
func (c *Candidates) step(token int64, rows *CandidateRows, i int, fresh bool) {
	v, n := c.extend(token), 0
	from, to := i*len(c.padding), (i+1)*len(c.padding)
	source, state := rows.Source[from:to:to], rows.State[from:to:to]
	length, frequency := rows.Length[from:to:to], rows.Frequency[from:to:to]
	if v != 0 {
		n = c.read(v, source, length, state, frequency)
		c.automaton.touch(v, int32(c.automaton.len())-1)
	}
	rows.Count[i] = int32(n)
	if n == len(source) {
		return
	}
	copy(source[n:], c.padding)
	copy(state[n:], c.padding)
	length, frequency = length[n:], frequency[n:]
	if fresh {
		written := min(c.occurrences, len(length))
		length, frequency = length[:written], frequency[:written]
	}
	clear(length)
	clear(frequency)
}

// read puts the candidates of state v and those on its links into a row and returns how many
// there are. It may overwrite as many slots behind them as there are occurrences.
//
// What a state has in common with the one before it is in the list of that, and in the same
// order: each occurrence of the longer suffix is one of the shorter, and an older one has
// no fewer before it in the list of the shorter. Lists that are as long and end alike are
// the same.
func (c *Candidates) read(v int32, source, length, state, frequency []int64) (n int) {
	a := c.automaton
	list, spare := c.lists[0], c.lists[1] // a −1 behind the last
	list[0] = -1
	listed := 0
	for k := 1; ; k++ {
		s := &a.classes[v]
		first, count := n, min(int(s.frequency), c.occurrences)
		if a.rings.shift == 0 || s.frequency == 1 {
			if list[0] != s.ends {
				list[0], list[1], listed = s.ends, -1, 1
				source[n] = int64(s.ends)
				n++
			}
		} else if ring := a.rings.at(s.ends, s.frequency); listed != count || list[count-1] != ring[(int(s.frequency)-count)&(len(ring)-1)] {
			n += merge(source[n:n+count], spare[:count+1], list, ring, int(s.frequency)-1)
			list, spare, listed = spare, list, count
		}
		if n > first {
			// As many as there may be, since how many there are cannot be foretold.
			lengths := length[first : first+count]
			states, frequencies := state[first:][:len(lengths)], frequency[first:][:len(lengths)]
			for i := range lengths {
				lengths[i], states[i], frequencies[i] = int64(s.length), int64(v), int64(s.frequency)
			}
		}
		u := int32(0)
		if k < c.suffixes {
			u = a.above(v)
		}
		if u == 0 {
			a.leave(v, k)
			return n
		}
		v = u
	}
}

// merge puts the newest of a ring into a list, the last but the −1 behind them from number
// newest down, and those into source that are not in the list before. It returns how many
// those are. It does not branch by them.
func merge(source []int64, list, before, ring []int32, newest int) (n int) {
	mask, passed := len(ring)-1, 0
	for i := range source {
		end := ring[(newest-i)&mask]
		list[i] = end
		source[n] = int64(end)
		known := 0
		if before[passed] == end {
			known = 1
		}
		passed += known
		n += 1 - known
	}
	list[len(source)] = -1
	return n
}

// Step takes a token and returns its candidates, a row in memory that the next Step uses
// again. On [ErrFull] nothing has changed.
func (c *Candidates) Step(token int64) (CandidateRows, error) {
	if err := c.checkRoom(1); err != nil {
		return CandidateRows{}, err
	}
	c.begin()
	if c.row.Source == nil {
		c.row = NewCandidateRows(1, c.Slots())
	}
	c.step(token, &c.row, 0, false)
	return c.row, nil
}

// StepInto is Step into memory of the caller: one row. On [ErrLength], [ErrOverlap] and
// [ErrFull] nothing has changed.
func (c *Candidates) StepInto(row *CandidateRows, token int64) error {
	if spans := row.spans(); row == nil || spans != c.checked || len(row.Count) == 0 {
		if err := row.check(1, c.Slots()); err != nil {
			return err
		}
		c.checked = spans
	}
	if err := c.checkRoom(1); err != nil {
		return err
	}
	c.begin()
	c.step(token, row, 0, false)
	return nil
}

// Prefill takes tokens and returns the candidates of each, a row a token. It is Step of one
// after the other, from any position. On [ErrFull] nothing has changed.
func (c *Candidates) Prefill(tokens []int64) (CandidateRows, error) {
	if err := c.checkRoom(len(tokens)); err != nil {
		return CandidateRows{}, err
	}
	rows, err := newRowsOf(len(tokens), c.Slots())
	if err != nil {
		return CandidateRows{}, err
	}
	c.prefill(&rows, tokens, true)
	return rows, nil
}

// PrefillInto is Prefill into memory of the caller: as many rows as tokens. On [ErrLength],
// [ErrOverlap] and [ErrFull] nothing has changed.
func (c *Candidates) PrefillInto(rows *CandidateRows, tokens []int64) error {
	if err := rows.check(len(tokens), c.Slots(), tokens); err != nil {
		return err
	}
	if err := c.checkRoom(len(tokens)); err != nil {
		return err
	}
	c.prefill(rows, tokens, false)
	return nil
}

func (c *Candidates) prefill(rows *CandidateRows, tokens []int64, fresh bool) {
	c.begin()
	c.automaton.reserve(len(tokens))
	for i, token := range tokens {
		c.step(token, rows, i, fresh)
	}
}

// PrefillSelected takes tokens and returns the candidates of some: row q is that of token
// queries[q]. There is a query at least, each from 0 to len(tokens)−1 and at most once, in
// any order. On [ErrQuery] and [ErrFull] nothing has changed.
func (c *Candidates) PrefillSelected(tokens, queries []int64) (CandidateRows, error) {
	order, err := queryOrder(queries, len(tokens))
	if err == nil {
		err = c.checkRoom(len(tokens))
	}
	if err != nil {
		return CandidateRows{}, err
	}
	rows, err := newRowsOf(len(queries), c.Slots())
	if err != nil {
		return CandidateRows{}, err
	}
	c.prefillSelected(&rows, tokens, queries, order, true)
	return rows, nil
}

// PrefillSelectedInto is PrefillSelected into memory of the caller: as many rows as queries.
// On [ErrLength], [ErrOverlap], [ErrQuery] and [ErrFull] nothing has changed.
func (c *Candidates) PrefillSelectedInto(rows *CandidateRows, tokens, queries []int64) error {
	if err := rows.check(len(queries), c.Slots(), tokens, queries); err != nil {
		return err
	}
	order, err := queryOrder(queries, len(tokens))
	if err == nil {
		err = c.checkRoom(len(tokens))
	}
	if err != nil {
		return err
	}
	c.prefillSelected(rows, tokens, queries, order, false)
	return nil
}

func (c *Candidates) prefillSelected(rows *CandidateRows, tokens, queries []int64, order []int, fresh bool) {
	c.begin()
	c.automaton.reserve(len(tokens))
	for i, token := range tokens {
		if len(order) > 0 && queries[order[0]] == int64(i) {
			c.step(token, rows, order[0], fresh)
			order = order[1:]
			continue
		}
		c.skip(token)
	}
}

// Reset empties the stream and keeps its memory, in time of what it holds.
func (c *Candidates) Reset() {
	if c.automaton != nil {
		c.automaton.reset()
	}
	c.names.reset()
}

// Clone returns a stream that goes on from here on its own.
func (c *Candidates) Clone() *Candidates {
	d := &Candidates{
		automaton: c.automaton.clone(), names: c.names.clone(), limit: c.limit,
		suffixes: c.suffixes, occurrences: c.occurrences, padding: c.padding,
	}
	for i := range d.lists {
		d.lists[i] = slices.Clone(c.lists[i])
	}
	return d
}

// Bytes returns the memory that the stream holds.
func (c *Candidates) Bytes() int {
	return c.automaton.bytes() + c.names.bytes() + 8*len(c.lists[0]) + 8*len(c.padding) + c.row.bytes()
}
