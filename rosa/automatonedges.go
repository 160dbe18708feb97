package rosa

// edge returns where the transition of a class by a symbol stands, nil if there is none. The
// root is apart: automaton.root.
func (a *automaton) edge(n *class, c uint32) *int32 {
	if a.wide {
		return a.slabs.codeBranch(&n.branches, c)
	}
	return a.slabs.byteBranch(&n.branches, c)
}

// addEdge gives a class a transition by a symbol that it has none by.
func (a *automaton) addEdge(n *class, c uint32, to int32) {
	if a.wide {
		a.slabs.addCode(&n.branches, c, to)
	} else {
		a.slabs.addByte(&n.branches, c, to)
	}
}

// copyEdges gives a class that is a copy of another a slab of its own, if that has one.
func (a *automaton) copyEdges(n *class) {
	if a.wide {
		a.slabs.copyCodes(&n.branches)
	} else {
		a.slabs.copyBytes(&n.branches)
	}
}

// widen makes the symbols codes, which the bytes equal. O(length).
func (a *automaton) widen() {
	old := a.slabs
	a.slabs, a.wide = slabs{}, true
	for v := 1; v < len(a.classes); v++ {
		n := &a.classes[v]
		before := n.branches
		n.branches = branches{}
		old.eachByte(&before, func(c uint32, to *int32) { a.slabs.addCode(&n.branches, c, *to) })
	}
}
