package rosa

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// offline finds what [Candidates] finds in a text that is known as a whole, by another way
// and in O(log n) for each candidate: by the suffix array of the text read backwards, where
// suffix p is x[i], x[i−1], …, x[0] with i = n−1−p, and what two suffixes begin with in
// common is LCS of their ends. Suffixes come from the shortest on, as tokens do, so that
// the newest end is the least p that has come.
//
// Those that begin with the same l symbols are a range of the array. The longest suffix that
// occurs earlier is common with one of the two that have come and are nearest in the array;
// the next longest with one of the two nearest outside of the range of the first, and so on.
type offline struct {
	n      int
	rank   []int32          // of suffixes in the array
	common minima           // what a suffix and the one before it begin with, by rank; −1 for the first
	starts minima           // suffixes that have come, by rank; n for another
	come   []int32          // how many have come, a Fenwick tree by rank
	states map[uint64]int64 // numbers of strings by the first of their range, and length

	occurrences int
	found       []suffix // of a token: room for as many as are asked for
	list        []int32
}

func newOffline(text []int64, suffixes, occurrences int) *offline {
	backwards := slices.Clone(text)
	slices.Reverse(backwards)
	n := len(text)
	order, rank := suffixArray(backwards)
	starts := make([]int32, n)
	for i := range starts {
		starts[i] = int32(n)
	}
	return &offline{
		n: n, rank: rank, common: newMinima(commonPrefixes(backwards, order, rank)), starts: newMinima(starts),
		come: make([]int32, n+1), states: map[uint64]int64{}, occurrences: occurrences, found: make([]suffix, suffixes),
	}
}

// at returns the suffixes of token i, longest first, in memory that the next call uses
// again. It is called for each, in order.
func (o *offline) at(i int) []suffix {
	p := o.n - 1 - i
	r := int(o.rank[p])
	o.number(r, i+1) // it is the first that begins with all of itself: others are longer
	o.list = o.list[:0]
	lo, hi, found := r, r, 0
	for ; found < len(o.found); found++ {
		left, right, length := o.starts.before(lo, o.n), o.starts.after(hi, o.n), 0
		if left >= 0 {
			length = o.common.least(left+1, r)
		}
		if right < o.n {
			length = max(length, o.common.least(r+1, right))
		}
		if length == 0 {
			break
		}
		before, after := lo, hi
		lo, hi = o.common.before(r+1, length), o.common.after(r, length)-1
		if found == 0 {
			o.number(lo, length)
		}
		o.list = o.starts.few(o.list, o.occurrences, o.n, lo, before-1)
		o.list = o.starts.few(o.list, o.occurrences, o.n, after+1, hi)
		s := &o.found[found]
		*s = suffix{int64(length), o.states[key(lo, length)], int64(o.count(hi+1) - o.count(lo)), s.ends[:0]}
		for _, q := range o.list {
			s.ends = append(s.ends, int64(o.n-1)-int64(q))
		}
	}
	o.starts.set(r, p)
	for j := r + 1; j < len(o.come); j += j & -j {
		o.come[j]++
	}
	return o.found[:found]
}

// count returns how many of the first r suffixes of the array have come.
func (o *offline) count(r int) (n int32) {
	for ; r > 0; r -= r & -r {
		n += o.come[r]
	}
	return n
}

// number gives a string the next number if it has none.
func (o *offline) number(first, length int) {
	w := key(first, length)
	if _, known := o.states[w]; !known {
		o.states[w] = int64(len(o.states)) + 1
	}
}

func key(first, length int) uint64 { return uint64(first)<<32 | uint64(length) }

// suffixArray returns the suffixes of a text in order, and the rank of each, by doubling
// what they are sorted by (Manber and Myers, Suffix arrays: a new method for on-line string
// searches, SIAM Journal on Computing 22, 1993). O(n log n).
func suffixArray(text []int64) (order, rank []int32) {
	n := len(text)
	order, rank = make([]int32, n), make([]int32, n)
	for p := range order {
		order[p] = int32(p)
	}
	slices.SortFunc(order, func(p, q int32) int { return cmp.Compare(text[p], text[q]) })
	last := int32(0) // rank
	for i := 1; i < n; i++ {
		if text[order[i]] != text[order[i-1]] {
			last++
		}
		rank[order[i]] = last
	}
	bySecond, next, places := make([]int32, 0, n), make([]int32, n), make([]int32, n+1)
	for width := 1; int(last) < n-1; width *= 2 {
		// By what is width further on: those that end before it come first.
		bySecond = bySecond[:0]
		for p := max(0, n-width); p < n; p++ {
			bySecond = append(bySecond, int32(p))
		}
		for _, p := range order {
			if int(p) >= width {
				bySecond = append(bySecond, p-int32(width))
			}
		}
		clear(places)
		for _, r := range rank {
			places[r+1]++
		}
		for r := range n {
			places[r+1] += places[r]
		}
		for _, p := range bySecond {
			order[places[rank[p]]] = p
			places[rank[p]]++
		}
		second := func(p int32) int32 {
			if int(p)+width < n {
				return rank[int(p)+width]
			}
			return -1
		}
		last, next[order[0]] = 0, 0
		for i := 1; i < n; i++ {
			p, q := order[i-1], order[i]
			if rank[p] != rank[q] || second(p) != second(q) {
				last++
			}
			next[q] = last
		}
		rank, next = next, rank
	}
	return order, rank
}

// commonPrefixes returns how many symbols each suffix in order begins with as the one before
// it does, −1 for the first (Kasai, Lee, Arimura, Arikawa and Park, Linear-time longest-
// common-prefix computation in suffix arrays and its applications, CPM 2001). O(n).
func commonPrefixes(text []int64, order, rank []int32) []int32 {
	common, length := make([]int32, len(text)), 0
	for p := range text {
		if rank[p] == 0 {
			common[0], length = -1, 0
			continue
		}
		q := int(order[rank[p]-1])
		for p+length < len(text) && q+length < len(text) && text[p+length] == text[q+length] {
			length++
		}
		common[rank[p]] = int32(length)
		length = max(length-1, 0)
	}
	return common
}

// minima are numbers in a segment tree: node 1 is the root, those of v are 2·v and 2·v+1,
// each the least below it. Every call is O(log n).
type minima struct {
	n, size int
	nodes   []int32
}

func newMinima(numbers []int32) minima {
	size := 1
	for size < len(numbers) {
		size *= 2
	}
	m := minima{len(numbers), size, make([]int32, 2*size)}
	for v := 2*size - 1; v > 0; v-- {
		switch i := v - size; {
		case i >= len(numbers):
			m.nodes[v] = math.MaxInt32
		case i >= 0:
			m.nodes[v] = numbers[i]
		default:
			m.nodes[v] = min(m.nodes[2*v], m.nodes[2*v+1])
		}
	}
	return m
}

func (m *minima) set(i, number int) {
	v := i + m.size
	m.nodes[v] = int32(number)
	for v /= 2; v > 0; v /= 2 {
		m.nodes[v] = min(m.nodes[2*v], m.nodes[2*v+1])
	}
}

// least returns the least of the numbers from lo to hi.
func (m *minima) least(lo, hi int) int {
	least := int32(math.MaxInt32)
	for a, b := lo+m.size, hi+m.size; a <= b; a, b = a/2, b/2 {
		if a&1 == 1 {
			least = min(least, m.nodes[a])
			a++
		}
		if b&1 == 0 {
			least = min(least, m.nodes[b])
			b--
		}
	}
	return int(least)
}

// before returns the last place before i of a number below a bound, −1 if there is none.
func (m *minima) before(i, bound int) int {
	if i == m.n {
		// The last has no place behind it.
		if i--; int(m.nodes[i+m.size]) < bound {
			return i
		}
	}
	for v := i + m.size; v > 1; v /= 2 {
		if v&1 == 1 && int(m.nodes[v-1]) < bound {
			for v--; v < m.size; {
				if v = 2*v + 1; int(m.nodes[v]) >= bound {
					v--
				}
			}
			return v - m.size
		}
	}
	return -1
}

// after returns the first place after i of a number below a bound, n if there is none.
func (m *minima) after(i, bound int) int {
	for v := i + m.size; v > 1; v /= 2 {
		if v&1 == 0 && int(m.nodes[v+1]) < bound {
			for v++; v < m.size; {
				if v = 2 * v; int(m.nodes[v]) >= bound {
					v++
				}
			}
			return v - m.size
		}
	}
	return m.n
}

// few puts the numbers from lo to hi that are below a bound into a list, which is in order
// and keeps the least, up to so many. No two are equal. O(log n) for each that it takes.
func (m *minima) few(list []int32, most, bound, lo, hi int) []int32 {
	if len(list) == most {
		bound = int(list[most-1])
	}
	if lo > hi || m.least(lo, hi) >= bound {
		return list
	}
	return m.fewBelow(list, most, int32(bound), lo, hi, 1, 0, m.size-1)
}

// fewBelow is few of node v, which is of the numbers from..to.
func (m *minima) fewBelow(list []int32, most int, bound int32, lo, hi, v, from, to int) []int32 {
	if len(list) == most {
		bound = list[most-1]
	}
	if hi < from || to < lo || m.nodes[v] >= bound {
		return list
	}
	if from == to {
		at, _ := slices.BinarySearch(list, m.nodes[v])
		return slices.Insert(list[:min(len(list), most-1)], at, m.nodes[v])
	}
	middle := (from + to) / 2
	if m.nodes[2*v] < m.nodes[2*v+1] {
		list = m.fewBelow(list, most, bound, lo, hi, 2*v, from, middle)
		return m.fewBelow(list, most, bound, lo, hi, 2*v+1, middle+1, to)
	}
	list = m.fewBelow(list, most, bound, lo, hi, 2*v+1, middle+1, to)
	return m.fewBelow(list, most, bound, lo, hi, 2*v, from, middle)
}

// TestOffline compares offline itself with the definition, on short streams.
func TestOffline(t *testing.T) {
	check := func(t require.TestingT, x []int64, k, r int, model *candidateModel) {
		o, matches := newOffline(x, k, r), brute(x)
		model.reset()
		for i, token := range x {
			want, got := model.push(token), o.at(i)
			if m := matchOf(x, got); m != matches[i] {
				require.Equal(t, matches[i], m, "%v at %d", x, i)
			}
			want = want[:min(k, len(want))]
			same := slices.EqualFunc(want, got, func(a, b suffix) bool {
				return a.length == b.length && a.state == b.state && a.frequency == b.frequency &&
					slices.Equal(a.ends[:min(r, len(a.ends))], b.ends)
			})
			if !same {
				require.Equal(t, want, got, "%v at %d", x, i)
			}
		}
	}
	model := newCandidateModel()
	for _, in := range []sequences{{1, 20}, {2, 10}, {3, 6}, {5, 4}} {
		for n := range in.n {
			every(in.k, n+1, func(x []int64) { check(t, x, 16, 4, model) })
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := drawTokens(t)
		k, r := rapid.IntRange(1, 20).Draw(t, "k"), rapid.IntRange(1, 9).Draw(t, "r")
		check(t, x[:min(len(x), 200)], k, r, model)
	})
}

// matchOf returns the match of a token of a text, of its suffixes.
func matchOf(text []int64, suffixes []suffix) Match {
	if len(suffixes) == 0 {
		return none
	}
	source := int(suffixes[0].ends[0])
	return Match{Next: text[source+1], Source: source, Length: int(suffixes[0].length)}
}

// eachLongStream calls f with the streams of the benchmarks, and with others that are hard.
func eachLongStream(t *testing.T, n int, f func(name string, x []int64)) {
	for _, in := range streams {
		token := in.token(n)
		x := make([]int64, n)
		for i := range x {
			x[i] = token(i)
		}
		f(in.name, x)
	}
	each := func(token func(i int) int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = token(i)
		}
		return x
	}
	// a^k c, k at random up to 2000.
	r, left, teeth := splitmix64(2), 0, int64(0)
	f("combs", each(func(int) int64 {
		if left--; left < 0 {
			left, teeth = int(r.below(2000)), teeth%255+1
			return teeth
		}
		return 0
	}))
	// a b aa b aaa b …
	left, step := 1, 1
	f("stairs", each(func(int) int64 {
		if left--; left < 0 {
			step++
			left = step
			return 1
		}
		return 0
	}))
	f("a^n b a^n", each(func(i int) int64 {
		if i == n/2 {
			return 1
		}
		return 0
	}))
	pieces := func(k, longest uint64) []int64 {
		return generator{Gen: "copy", N: n, K: k, Seed: 3, MaxLen: longest}.tokens(t)
	}
	f("short pieces of itself", pieces(4, 20))
	f("long pieces of itself", pieces(256, uint64(n/20)))
	f("any pieces of itself", pieces(math.MaxUint64, 500))
	late := pieces(200, 300)
	for i := n / 2; i < n; i += 1 + n/100 {
		late[i] = math.MinInt64 + int64(i%7)
	}
	f("bytes and then others", late)
}

// TestRings compares streams with offline, for many numbers of occurrences: rings of all
// sizes, climbing and by the link-cut tree, with places enough and without, in memory that
// was used before and in copies.
func TestRings(t *testing.T) {
	n := 3_000
	if testing.Short() {
		n = 600
	}
	eachLongStream(t, n, func(name string, x []int64) {
		o := newOffline(x, 3, 300)
		type variant struct {
			r      int
			stream *Candidates
			row    CandidateRows
		}
		var variants []*variant
		for at, r := range []int{1, 2, 3, 4, 5, 8, 17, 100, 300} {
			for _, linked := range []bool{false, true} {
				c := NewCandidates(WithSuffixes(3), WithOccurrences(r))
				c.begin()
				for _, token := range x[:n/4+at] {
					c.skip(token)
				}
				c.Reset()
				if linked {
					relink(c)
				} else {
					c.automaton.climbs = math.MinInt64 / 2
				}
				if at%3 == 1 {
					c.automaton.rings.most = int32(n)
				}
				variants = append(variants, &variant{r, c, garbageRows(1, 3*r)})
			}
		}
		row := []candidate{}
		for i, token := range x {
			suffixes := o.at(i)
			for at, v := range variants {
				if i%1000 == 500 {
					other := v.stream
					v.stream = other.Clone()
					for _, token := range x[:20] {
						other.skip(token)
					}
				}
				if at%2 == i&1 && v.r > 8 {
					v.stream.skip(token) // or it takes long
					continue
				}
				row = shown(row[:0], suffixes, 3, v.r)
				require.NoError(t, v.stream.StepInto(&v.row, token))
				if rings := &v.stream.automaton.rings; rings.least < rings.shift {
					require.LessOrEqual(t, len(rings.words)>>rings.least, int(rings.most))
				}
				if !hasRow(&v.row, 0, row) {
					requireRow(t, row, v.row, 0, "%s at %d, R%d, stream %d", name, i, v.r, at)
				}
			}
		}
		for at, v := range variants {
			requireRingsAreWhole(t, v.stream.automaton, "%s, R%d, stream %d", name, v.r, at)
		}
	})
}

// requireRingsAreWhole requires that each word of the rings is in one that a class or a node
// has, or that is free.
func requireRingsAreWhole(t require.TestingT, a *automaton, what ...any) {
	r := &a.rings
	if r.shift == 0 {
		require.Empty(t, r.words, what...)
		return
	}
	words := make([]bool, len(r.words))
	take := func(place int32, size uint8) {
		for i := range 1 << size {
			at := int(place)<<r.least + i
			if words[at] {
				require.Fail(t, "a word is in two rings", what...)
			}
			words[at] = true
		}
	}
	for _, s := range a.classes {
		if s.frequency > 1 {
			take(s.ends, r.bits(s.frequency))
		}
	}
	for _, n := range a.paths.nodes {
		if n.owes > 1 {
			take(n.end, r.bits(n.owes))
		}
	}
	for size, next := range r.free {
		for ; next != 0; next = r.words[int(next-1)<<r.least] {
			take(next-1, uint8(size))
		}
	}
	require.NotContains(t, words, false, what...)
}

// TestAgainstOffline compares long streams with offline: steps and prefills, climbing and by
// the link-cut tree.
func TestAgainstOffline(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 2_000
	}
	eachLongStream(t, n, func(name string, x []int64) {
		o := newOffline(x, 16, 4)
		plain, linked := NewState(), NewState()
		useLinkCut(linked)
		type variant struct {
			k, r      int
			stream    *Candidates
			want, got CandidateRows // of a piece
		}
		const most = 200 // tokens of a piece
		var variants []*variant
		for _, v := range []struct {
			k, r int
			make func(...CandidatesOption) *Candidates
		}{{1, 1, NewCandidates}, {1, 1, newLinked}, {4, 4, NewCandidates}, {16, 4, NewCandidates}, {16, 4, newLinked}} {
			variants = append(variants, &variant{v.k, v.r, v.make(WithSuffixes(v.k), WithOccurrences(v.r)),
				NewCandidateRows(most, v.k*v.r), garbageRows(most, v.k*v.r)})
		}
		random, row := splitmix64(1), []candidate{}
		want, got := make([]Match, most), make([]Match, most)
		for from := 0; from < n; {
			to := min(n, from+1+int(random.below(most)))
			for i := from; i < to; i++ {
				suffixes := o.at(i)
				want[i-from] = matchOf(x, suffixes)
				for _, v := range variants {
					row = shown(row[:0], suffixes, v.k, v.r)
					putRow(&v.want, i-from, row)
				}
			}
			how := random.below(2)
			for at, s := range []*State{plain, linked} {
				var err error
				if how == 0 {
					err = s.PrefillInto(got[:to-from], x[from:to])
				} else {
					for i := from; i < to && err == nil; i++ {
						got[i-from], err = s.Step(x[i])
					}
				}
				require.NoError(t, err)
				for i := range to - from {
					if want[i] != got[i] {
						require.Equal(t, want[i], got[i], "%s at %d, state %d", name, from+i, at)
					}
				}
			}
			for at, v := range variants {
				piece := x[from:to]
				var err error
				if how == 0 {
					err = prefillAt(v.stream, &v.got, piece, 0, len(piece))
				} else {
					err = stepAt(v.stream, &v.got, piece, 0, len(piece))
				}
				require.NoError(t, err)
				for i := range piece {
					if !equalRow(&v.want, i, &v.got, i) {
						require.Equal(t, v.want.Row(i), v.got.Row(i), "%s at %d, K%d R%d, stream %d", name, from+i, v.k, v.r, at)
					}
				}
			}
			from = to
		}
	})
}
