package abi1

import "github.com/rosaline-go/rosaline/rosa"

// latest is a row of a [State]: each state has the newest end of its strings.
type latest struct {
	automaton
	value, lazy []int64
	valid       []uint8
}

func newLatest(a *Arrays, row int) latest {
	b := a.BatchSize
	return latest{newAutomaton(&a.Automaton, row), a.LCTValue.row(row, b), a.LCTLazy.row(row, b), a.LCTLazyValid.row(row, b)}
}

// assign gives v and what is below it in its splay tree a value.
func (l *latest) assign(v int32, value int64) {
	l.value[v], l.lazy[v], l.valid[v] = value, value, 1
}

// splay makes v the root of its splay tree, with nothing pending.
func (l *latest) splay(v int32) {
	for n := l.spine(v) - 1; n >= 0; n-- {
		u := l.stack[n]
		if l.valid[u] == 0 {
			continue
		}
		if c := l.left[u]; c != -1 {
			l.assign(c, l.lazy[u])
		}
		if c := l.right[u]; c != -1 {
			l.assign(c, l.lazy[u])
		}
		l.valid[u] = 0
	}
	l.forest.splay(v)
}

// access makes the path from the root to v one splay tree with v as its root.
func (l *latest) access(v int32) {
	below, u := int32(-1), v
	for range l.parent {
		l.splay(u)
		l.right[u] = below
		if below, u = u, l.parent[u]; u == -1 {
			l.splay(v)
			return
		}
	}
	panic("abi1: link-cut tree has a cycle")
}

// step appends a token and returns the one behind the newest earlier occurrence of the
// longest suffix that has one, −1 if there is none. Amortised O(log n).
func (l *latest) step(token int64, position int) int64 {
	current, matched, above := l.extend(token, position)
	if above != -1 {
		l.splay(above)
		l.insert(matched, above)
		l.value[matched], l.valid[matched] = l.value[above], 0
	}
	l.parent[current], l.value[current], l.valid[current] = matched, int64(position), 0
	l.access(matched)
	next := int64(-1)
	if matched != 0 {
		next = l.history[l.value[matched]+1]
	}
	l.assign(matched, int64(position))
	return next
}

// prefill appends tokens to an empty row, as steps do, and puts what they return into next.
// O(n log n): a [rosa.State] answers, and the link-cut tree is made when all tokens are
// there, of paths of one state each.
func (l *latest) prefill(next, tokens []int64) {
	s := rosa.NewState()
	for i, token := range tokens {
		m, err := s.Step(token)
		if err != nil {
			panic(err) // it takes more tokens than arrays do
		}
		next[i] = m.Next
		l.stack[i], _, _ = l.extend(token, i)
	}
	for v := range *l.size {
		l.parent[v], l.value[v], l.valid[v] = l.link[v], -1, 0
	}
	// Newest first, so that a state that has an end has its newest, as have those above it.
	for i := len(tokens) - 1; i >= 0; i-- {
		for v := l.stack[i]; v != -1 && l.value[v] == -1; v = l.link[v] {
			l.value[v] = int64(i)
		}
	}
}

func (l *latest) reset() {
	size := *l.size
	l.automaton.reset()
	for v := range size {
		l.value[v], l.valid[v] = -1, 0
	}
}
