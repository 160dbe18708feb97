package abi1

import "fmt"

// automaton is the suffix automaton of a row, in the caller's memory. What it reads of it
// is within bounds or panics, and no loop goes on for ever, whatever the memory holds.
type automaton struct {
	history []int64
	head    []int32

	edgeToken            []int64
	edgeTarget, edgeNext []int32

	hashState, hashEdge []int32
	hashToken           []int64

	link, length      []int32
	last, size, edges *int32
	forest
}

func newAutomaton(a *Automaton, row int) automaton {
	b := a.BatchSize
	return automaton{
		history: a.History.row(row, b), head: a.Head.row(row, b),
		edgeToken: a.EdgeToken.row(row, b), edgeTarget: a.EdgeTarget.row(row, b), edgeNext: a.EdgeNext.row(row, b),
		hashState: a.HashState.row(row, b), hashEdge: a.HashEdge.row(row, b), hashToken: a.HashToken.row(row, b),
		link: a.SuffixLink.row(row, b), length: a.Length.row(row, b),
		last: &a.Last.Data[row], size: &a.Size.Data[row], edges: &a.EdgeCount.Data[row],
		forest: forest{a.LCTLeft.row(row, b), a.LCTRight.row(row, b), a.LCTParent.row(row, b), a.LCTStack.row(row, b)},
	}
}

// slot returns where a hash table with such a mask looks for a state's token first.
func slot(state int32, token int64, mask int) int {
	x := uint64(token) ^ (uint64(state) + 0x9e3779b97f4a7c15)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) & uint64(mask))
}

// find returns the slot of a state's token, or the free one where it belongs.
func (a *automaton) find(state int32, token int64) (at int, found bool) {
	states, tokens := a.hashState, a.hashToken
	mask := len(states) - 1
	at = slot(state, token, mask)
	for range states {
		switch s := states[at]; {
		case s == state && tokens[at] == token:
			return at, true
		case s == -1:
			return at, false
		}
		at = (at + 1) & mask
	}
	panic("abi1: hash table is full")
}

// add adds an edge, the free slot of which is known, as number e.
func (a *automaton) add(e int32, at int, state int32, token int64, target int32) {
	a.edgeToken[e], a.edgeTarget[e], a.edgeNext[e] = token, target, a.head[state]
	a.head[state] = e
	a.hashState[at], a.hashToken[at], a.hashEdge[at] = state, token, e
}

// create empties state v and says how long its longest string is.
func (a *automaton) create(v, length int32) {
	a.head[v], a.length[v] = -1, length
	a.left[v], a.right[v] = -1, -1
}

// extend appends a token and returns the state of all that came and that of its longest
// suffix that occurred earlier, its suffix link. If that is new, above is the state whose
// suffix link it now is, as it has what was that one's before; else −1. The link-cut tree
// is the caller's to mend.
func (a *automaton) extend(token int64, position int) (current, matched, above int32) {
	a.history[position] = token
	size, edges := *a.size, *a.edges
	current, above = size, -1
	size++
	a.create(current, int32(position)+1)
	v := *a.last
	at, found := 0, false
	for v != -1 {
		if at, found = a.find(v, token); found {
			break
		}
		a.add(edges, at, v, token, current)
		edges++
		v = a.link[v]
	}
	if v != -1 {
		edge := a.hashEdge[at]
		matched = a.edgeTarget[edge]
		if n := a.length[v] + 1; n != a.length[matched] {
			above, matched = matched, size
			size++
			a.create(matched, n)
			a.link[matched] = a.link[above]
			for e := a.head[above]; e != -1; e = a.edgeNext[e] {
				to, held := a.find(matched, a.edgeToken[e])
				if held {
					panic("abi1: state has two edges of a token")
				}
				a.add(edges, to, matched, a.edgeToken[e], a.edgeTarget[e])
				edges++
			}
			for found && a.edgeTarget[a.hashEdge[at]] == above {
				a.edgeTarget[a.hashEdge[at]] = matched
				if v = a.link[v]; v == -1 {
					break
				}
				at, found = a.find(v, token)
			}
			a.link[above] = matched
		}
	}
	a.link[current] = matched
	*a.last, *a.size, *a.edges = current, size, edges
	return current, matched, above
}

// reset makes the row one of no tokens, in time of what it holds.
func (a *automaton) reset() {
	// Slots can only be freed when all are known: a slot that is free ends a search.
	edges := *a.edges
	for v := range *a.size {
		for e := a.head[v]; e != -1; e = a.edgeNext[e] {
			at, found := a.find(v, a.edgeToken[e])
			if edges--; !found || edges < 0 {
				panic("abi1: edges and hash table differ")
			}
			a.edgeTarget[e] = int32(at)
		}
	}
	for e := range *a.edges {
		a.hashState[a.edgeTarget[e]] = -1
	}
	for v := range *a.size {
		a.create(v, 0)
		a.link[v], a.parent[v] = -1, -1
	}
	*a.last, *a.size, *a.edges = 0, 1, 0
}

// counters checks that a row can be one of so many tokens.
func (a *automaton) counters(row int, tokens int64) error {
	last, size, edges := *a.last, *a.size, *a.edges
	switch {
	case tokens < 0 || tokens > int64(len(a.history)):
		return fmt.Errorf("%w: row %d: position %d is outside capacity %d", ErrCounters, row, tokens, len(a.history))
	case size < 1 || int(size) > len(a.head), last < 0 || last >= size, edges < 0 || int(edges) > len(a.edgeToken):
		return fmt.Errorf("%w: row %d: last %d, size %d, edge_count %d", ErrCounters, row, last, size, edges)
	case int64(a.length[last]) != tokens:
		return fmt.Errorf("%w: row %d: position %d, but the last state is of %d tokens", ErrCounters, row, tokens, a.length[last])
	case int64(size) > max(2*tokens, 1), tokens > 0 && int64(size) <= tokens, int64(edges) > 3*tokens:
		return fmt.Errorf("%w: row %d: %d states and %d edges for %d tokens", ErrCounters, row, size, edges, tokens)
	}
	return nil
}
