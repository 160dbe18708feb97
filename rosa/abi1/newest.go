package abi1

// newest is a row of a [CandidateState]: each state has the R newest ends of its strings,
// newest first, and their number, of which those of a whole path can grow at once.
type newest struct {
	automaton
	k, r            int
	ends, owed      []int64 // R of each state; owed is pending
	held, owedHeld  []int32 // how many there are
	frequency, more []int64 // more is pending
}

func newNewest(a *CandidateArrays, row int) newest {
	b := a.BatchSize
	return newest{
		automaton: newAutomaton(&a.Automaton, row), k: a.SuffixK, r: a.OccurrencesR,
		ends: a.Occurrences.row(row, b), owed: a.LazyPrefix.row(row, b),
		held: a.OccurrenceSize.row(row, b), owedHeld: a.LazySize.row(row, b),
		frequency: a.Frequency.row(row, b), more: a.LazyDelta.row(row, b),
	}
}

// list returns the ends of state v that a column of lists holds.
func (s *newest) list(lists []int64, held []int32, v int32) []int64 {
	return lists[int(v)*s.r:][:held[v]:s.r]
}

// prepend puts newer ends before those of a list.
func (s *newest) prepend(lists []int64, held []int32, v int32, ends []int64) {
	list := lists[int(v)*s.r:][:s.r:s.r]
	n := min(len(ends)+int(held[v]), s.r)
	copy(list[len(ends):n], list)
	copy(list, ends)
	held[v] = int32(n)
}

// add adds ends, newer than all, to v, and to what is below it in its splay tree later.
func (s *newest) add(v int32, ends []int64, more int64) {
	s.prepend(s.ends, s.held, v, ends)
	s.prepend(s.owed, s.owedHeld, v, ends)
	s.frequency[v] += more
	s.more[v] += more
}

// splay makes v the root of its splay tree, with nothing pending.
func (s *newest) splay(v int32) {
	for n := s.spine(v) - 1; n >= 0; n-- {
		u := s.stack[n]
		more := s.more[u]
		if s.owedHeld[u] == 0 && more == 0 {
			continue
		}
		ends := s.list(s.owed, s.owedHeld, u)
		if c := s.left[u]; c != -1 {
			s.add(c, ends, more)
		}
		if c := s.right[u]; c != -1 {
			s.add(c, ends, more)
		}
		s.owedHeld[u], s.more[u] = 0, 0
	}
	s.forest.splay(v)
}

// access makes the path from the root to v one splay tree with v as its root.
func (s *newest) access(v int32) {
	below, u := int32(-1), v
	for range s.parent {
		s.splay(u)
		s.right[u] = below
		if below, u = u, s.parent[u]; u == -1 {
			s.splay(v)
			return
		}
	}
	panic("abi1: link-cut tree has a cycle")
}

// slots are the places for the candidates of a token.
type slots struct{ source, length, state, frequency []int64 }

// step appends a token, puts its candidates into slots unless they are nil, and returns
// how many there are. Amortised O((log n + K)·R + K·log n).
func (s *newest) step(token int64, position int, out *slots) (count int) {
	current, matched, above := s.extend(token, position)
	if above != -1 {
		s.splay(above)
		s.insert(matched, above)
		s.put(matched, s.list(s.ends, s.held, above), s.frequency[above])
	}
	end := [1]int64{int64(position)}
	s.parent[current] = matched
	s.put(current, end[:], 1)
	s.access(matched)
	top := matched
	if out != nil {
		count, top = s.read(matched, out)
	}
	s.add(top, end[:], 1)
	return count
}

// put gives state v, below which there is nothing, ends and their number.
func (s *newest) put(v int32, ends []int64, frequency int64) {
	copy(s.ends[int(v)*s.r:][:s.r], ends)
	s.held[v], s.frequency[v] = int32(len(ends)), frequency
	s.owedHeld[v], s.more[v] = 0, 0
}

// read puts the candidates of v and of its suffix links into slots, all in the splay tree
// of v, and returns how many there are and the root of that tree.
//
// What a suffix has in common with the one before it is in the list of that, and in the
// same order: an end of the longer is one of the shorter, and has no fewer before it there.
func (s *newest) read(v int32, out *slots) (n int, top int32) {
	top = v
	var before []int64
	for k := 0; k < s.k && v != 0; k++ {
		s.splay(v)
		top = v
		ends := s.list(s.ends, s.held, v)
		for _, end := range ends {
			if len(before) > 0 && before[0] == end {
				before = before[1:]
				continue
			}
			out.source[n], out.length[n] = end, int64(s.length[v])
			out.state[n], out.frequency[n] = int64(v), s.frequency[v]
			n++
		}
		before = ends
		v = s.link[v]
	}
	return n, top
}

func (s *newest) reset() {
	size := *s.size
	s.automaton.reset()
	for v := range size {
		s.held[v], s.owedHeld[v] = 0, 0
		s.frequency[v], s.more[v] = 0, 0
	}
}

// sound checks the lists too: ends of strings, newest first.
func (s *newest) sound(row int) error {
	if err := s.automaton.sound(row); err != nil {
		return err
	}
	end := int64(s.length[*s.last])
	for v := range *s.size {
		for _, held := range [2]int32{s.held[v], s.owedHeld[v]} {
			if held < 0 || int(held) > s.r {
				return unsound(row, "state %d has %d newest ends of %d", v, held, s.r)
			}
		}
		for _, list := range [2][]int64{s.list(s.ends, s.held, v), s.list(s.owed, s.owedHeld, v)} {
			for i, e := range list {
				if e < 0 || e >= end || i > 0 && e >= list[i-1] {
					return unsound(row, "state %d has newest ends %v of %d tokens", v, list, end)
				}
			}
		}
		if s.frequency[v] < 0 || s.frequency[v] > end || s.more[v] < 0 || s.more[v] > end {
			return unsound(row, "state %d has %d ends and %d more, of %d tokens", v, s.frequency[v], s.more[v], end)
		}
	}
	return nil
}
