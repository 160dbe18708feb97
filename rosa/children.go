package rosa

// The children of a node but the root, whose are apart: tree.root. A node has two at least.

// child returns where the child of node v, which is n, by a symbol stands, nil if there is
// none.
func (t *tree[S]) child(v int32, n *node, c S) *int32 {
	if v == 0 {
		if int(c) < len(t.root) && t.root[c] != 0 {
			return &t.root[c]
		}
		return nil
	}
	if narrow[S]() {
		return t.slabs.byteBranch(&n.branches, uint32(c))
	}
	return t.slabs.codeBranch(&n.branches, uint32(c))
}

// addChild gives node v, which is n, a child by a symbol that it has none by.
func (t *tree[S]) addChild(v int32, n *node, c S, child int32) {
	switch {
	case v == 0:
		for int(c) >= len(t.root) {
			t.root = push(t.root, 0)
		}
		t.root[c] = child
	case narrow[S]():
		t.slabs.addByte(&n.branches, uint32(c), child)
	default:
		t.slabs.addCode(&n.branches, uint32(c), child)
	}
}

// twoBranches are the first two children of a node.
func twoBranches[S symbol](c0 S, child0 int32, c1 S, child1 int32) branches {
	if narrow[S]() {
		return branches{[3]int32{child0, child1, 0}, 2 | uint32(c0)<<8 | uint32(c1)<<16}
	}
	return branches{[3]int32{child0, child1, int32(c0)}, uint32(c1)}
}

// eachChild calls f with the children of a node but the root.
func (t *tree[S]) eachChild(n *node, f func(c uint32, child *int32)) {
	if narrow[S]() {
		t.slabs.eachByte(&n.branches, f)
	} else {
		t.slabs.eachCode(&n.branches, f)
	}
}

// children returns how many children a node has that is not the root.
func (t *tree[S]) children(v int32) int {
	n := t.nodes.at(v)
	switch {
	case narrow[S]() && n.tags&0xff == manyTags:
		return int(n.tags >> 8)
	case narrow[S]():
		return int(n.tags & 0xff)
	case n.kids[0] != 0:
		return 2
	}
	return int(n.tags)
}

// removeChild takes the child by a symbol from a node, which keeps two at least.
func (t *tree[S]) removeChild(v int32, c S) {
	switch {
	case v == 0:
		t.root[c] = 0
	case narrow[S]():
		t.slabs.removeByte(&t.nodes.at(v).branches, uint32(c))
	default:
		t.slabs.removeCode(&t.nodes.at(v).branches, uint32(c))
	}
}

// otherChild returns the child of a node that is not by symbol c, of two, and frees what
// the node has beside itself.
func (t *tree[S]) otherChild(v int32, c S) (other int32) {
	n := t.nodes.at(v)
	t.eachChild(n, func(symbol uint32, child *int32) {
		if symbol != uint32(c) {
			other = *child
		}
	})
	if narrow[S]() && n.tags&0xff > 3 {
		t.slabs.give(int(n.kids[1]), n.kids[0])
	} else if !narrow[S]() && n.kids[0] == 0 {
		t.slabs.give(int(n.kids[2]), n.kids[1])
	}
	return other
}
