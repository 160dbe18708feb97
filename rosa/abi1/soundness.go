package abi1

import "fmt"

// unsound returns ErrUnsound for a row.
func unsound(row int, format string, args ...any) error {
	return fmt.Errorf("%w: row %d: %s", ErrUnsound, row, fmt.Sprintf(format, args...))
}

// sound checks that what lies in the arrays of a row, the counters of which are right, is
// an automaton with a link-cut tree over its suffix links, as far as a step relies on it:
// not that it is that of the tokens. O(states + edges + hash slots).
func (a *automaton) sound(row int) error {
	size, edges := *a.size, *a.edges
	if a.link[0] != -1 || a.length[0] != 0 {
		return unsound(row, "the root has suffix link %d and length %d", a.link[0], a.length[0])
	}
	for v := int32(1); v < size; v++ {
		if u := a.link[v]; u < 0 || u >= size || a.length[u] >= a.length[v] || a.length[v] > a.length[*a.last] {
			return unsound(row, "state %d of length %d has suffix link %d", v, a.length[v], u)
		}
	}
	taken := int32(0)
	for _, s := range a.hashState {
		if s != -1 {
			taken++
		}
	}
	if taken != edges {
		return unsound(row, "%d edges, but %d slots of the hash table are taken", edges, taken)
	}
	seen := int32(0)
	for v := range size {
		for e := a.head[v]; e != -1; e = a.edgeNext[e] {
			if e < 0 || e >= edges {
				return unsound(row, "state %d has edge %d of %d", v, e, edges)
			}
			if seen++; seen > edges {
				return unsound(row, "the edges of states are more than %d", edges)
			}
			if to := a.edgeTarget[e]; to < 1 || to >= size || a.length[to] <= a.length[v] {
				return unsound(row, "edge %d leads from state %d to %d", e, v, to)
			}
			if at, found := a.find(v, a.edgeToken[e]); !found || a.hashEdge[at] != e {
				return unsound(row, "edge %d is not in the hash table", e)
			}
		}
	}
	if seen != edges {
		return unsound(row, "%d edges, but states have %d", edges, seen)
	}
	return a.forested(row)
}

// forested checks that the splay trees are paths of suffix links, by depth, and hold each
// state once.
func (a *automaton) forested(row int) error {
	size := *a.size
	for v := range size {
		for _, u := range [3]int32{a.left[v], a.right[v], a.parent[v]} {
			if u < -1 || u >= size {
				return unsound(row, "state %d has %d in the link-cut tree", v, u)
			}
		}
		for _, u := range [2]int32{a.left[v], a.right[v]} {
			if u != -1 && (a.parent[u] != v || a.left[v] == a.right[v]) {
				return unsound(row, "state %d has child %d in the link-cut tree, which has parent %d", v, u, a.parent[u])
			}
		}
	}
	seen := int32(0)
	stack := make([]int32, 0, 64)
	for root := range size {
		if !a.isRoot(root) {
			continue
		}
		// In order, each state is the suffix link of the next, and what the tree hangs on
		// is that of the first. Below a node are other nodes than above, as each has one
		// parent.
		above := a.parent[root]
		for v := root; v != -1 || len(stack) > 0; {
			for ; v != -1; v = a.left[v] {
				stack = append(stack, v)
			}
			v = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if a.link[v] != above {
				return unsound(row, "state %d is below %d in the link-cut tree, but its suffix link is %d", v, above, a.link[v])
			}
			above, v = v, a.right[v]
			seen++
		}
	}
	if seen != size {
		return unsound(row, "the link-cut tree has a cycle")
	}
	return nil
}

// sound checks the values too: ends of strings, that is, positions of tokens.
func (l *latest) sound(row int) error {
	if err := l.automaton.sound(row); err != nil {
		return err
	}
	end := int64(l.length[*l.last])
	for v := range *l.size {
		if l.value[v] < -1 || l.value[v] >= end || l.valid[v] != 0 && (l.lazy[v] < -1 || l.lazy[v] >= end) {
			return unsound(row, "state %d has newest end %d of %d tokens", v, l.value[v], end)
		}
		if v != 0 && l.value[v] < 0 && l.valid[v] == 0 && l.isRoot(v) {
			return unsound(row, "state %d has no newest end", v)
		}
	}
	return nil
}
