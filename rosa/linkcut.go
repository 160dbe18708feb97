package rosa

// linkCut holds, for each node of a tree with root 0, the value that was assigned to it
// last, where values are assigned to whole paths from a node to the root. Amortised O(log n)
// an operation (Sleator and Tarjan, A data structure for dynamic trees, JCSS 26, 1983).
//
// The nodes are divided into preferred paths, all of whose nodes have the same value, so
// that one is kept a path: at the root of the splay tree that holds the path by depth. An
// assignment makes the path to the root a preferred one, which leaves the rest of each
// path it takes a piece of with the value it had.
type linkCut []splayNode

// splayNode is a node in the splay tree of its path. The root of one has as parent the node
// above the path, and neither of its children is it. The root of the tree is in no path: 0
// is none.
type splayNode struct{ left, right, parent, value int32 }

func (c linkCut) used() bool { return c != nil }

func (c linkCut) bytes() int { return 16 * cap(c) }

// build makes the paths of all nodes. A node and its child with the same newest leaf are
// on one path.
func (c *linkCut) build(nodes *nodes) {
	s := make(linkCut, nodes.count, nodes.count+nodes.count/8)
	for v := int32(1); v < nodes.count; v++ {
		n := nodes.at(v)
		s[v].parent, s[v].value = n.parent, n.latest
		if n.parent != 0 && nodes.at(n.parent).latest == n.latest {
			s[n.parent].right = v
		}
	}
	*c = s
}

// insert makes a place for node m on the edge from parent to child, which is no node if it
// is negative.
func (c *linkCut) insert(m, parent, child int32) {
	if int(m) == len(*c) {
		*c = push(*c, splayNode{})
	}
	s := *c
	s[m] = splayNode{parent: parent}
	if child < 0 {
		return
	}
	s.splay(child)
	above := s[child].left
	s[m] = splayNode{left: above, right: child, parent: s[child].parent, value: s[child].value}
	if above != 0 {
		s[above].parent = m
	}
	s[child].left, s[child].parent = 0, m
}

// remove takes node m off the edge from parent to child, which is the only node below it, or
// no node if it is negative.
func (c linkCut) remove(m, parent, child int32) {
	c.splay(m)
	n := c[m]
	top := n.left // what becomes the root of the path that m was in
	if child > 0 && n.right == 0 {
		c.splay(child) // of a path of its own, which hung on m
		c[child].parent = parent
	} else if child > 0 {
		c[n.right].parent = 0
		c.splay(child) // the highest of what is below m, so that nothing is on its left
		c[child].left = n.left
		if n.left != 0 {
			c[n.left].parent = child
		}
		top = child
	}
	if top != 0 {
		c[top].parent, c[top].value = n.parent, n.value
	}
	c[m] = splayNode{}
}

// assign gives v and its ancestors a value, and tells u the old ones unless it is nil.
func (c linkCut) assign(v, value int32, undo *undo) {
	below := int32(0)
	for u := v; u != 0; u = c[u].parent {
		c.splay(u)
		if undo != nil {
			undo.path(u, c[u].value)
		}
		if rest := c[u].right; rest != 0 {
			c[rest].value = c[u].value // it is a path of its own from now on
		}
		c[u].right = below
		below = u
	}
	c.splay(v)
	c[v].value = value
}

// value returns the value of v.
func (c linkCut) value(v int32) int32 {
	c.splay(v)
	return c[v].value
}

// isRoot reports whether v is the root of its splay tree.
func (c linkCut) isRoot(v int32) bool {
	p := c[v].parent
	return p == 0 || c[p].left != v && c[p].right != v
}

// splay makes v the root of its splay tree.
func (c linkCut) splay(v int32) {
	for !c.isRoot(v) {
		p := c[v].parent
		if !c.isRoot(p) {
			g := c[p].parent
			if (c[g].left == p) == (c[p].left == v) {
				c.rotate(p)
			} else {
				c.rotate(v)
			}
		}
		c.rotate(v)
	}
}

// rotate swaps v and its parent, which is in the same splay tree.
func (c linkCut) rotate(v int32) {
	p := c[v].parent
	g := c[p].parent
	switch {
	case g != 0 && c[g].left == p:
		c[g].left = v
	case g != 0 && c[g].right == p:
		c[g].right = v
	default:
		c[v].value = c[p].value
	}
	c[v].parent = g
	var inner int32
	if c[p].left == v {
		inner, c[v].right = c[v].right, p
		c[p].left = inner
	} else {
		inner, c[v].left = c[v].left, p
		c[p].right = inner
	}
	if inner != 0 {
		c[inner].parent = p
	}
	c[p].parent = v
}
