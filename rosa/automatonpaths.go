package rosa

import "slices"

// classPaths is a link-cut tree of the classes of an automaton, whose edges are the links:
// an end is added to a class and all on its links in amortised O(log n) (Sleator and Tarjan,
// A data structure for dynamic trees, JCSS 26, 1983), times the ends that a ring holds.
//
// As in linkCut, the splay tree of a preferred path holds it by depth, the root is in no
// path, and 0 is none. The ends of the classes of one path are not the same here: an end
// that is added is owed by the root of the splay tree, to itself and all below, until they
// are asked: how many ends are owed, and the newest of them, as many as a class keeps.
type classPaths struct {
	nodes   []pathNode
	stack   []int32 // nodes on the way to the place of above
	visited int     // by above, since access
}

// pathNode is a class in the splay tree of its path.
type pathNode struct {
	left, right, parent int32
	owes                int32 // ends that it and all below it have not got
	end                 int32 // the newest; the place of a ring where more are kept and there are
}

func (p *classPaths) used() bool { return p.nodes != nil }

func (p *classPaths) bytes() int { return 20*cap(p.nodes) + 4*cap(p.stack) }

func (p *classPaths) clone() classPaths {
	return classPaths{nodes: slices.Clone(p.nodes)}
}

// build makes a path of each class.
func (p *classPaths) build(classes []class) {
	p.nodes = make([]pathNode, len(classes), cap(classes))
	for v := range classes {
		p.nodes[v].parent = classes[v].link
	}
}

// add makes a path of the next class.
func (p *classPaths) add() { p.nodes = append(p.nodes, pathNode{}) }

// insert makes a place for the next class m, which was split off class q, between q and what
// q links to. q has been splayed.
func (p *classPaths) insert(m, q int32) {
	p.add()
	n := &p.nodes[q]
	p.nodes[m] = pathNode{left: n.left, right: q, parent: n.parent}
	if n.left != 0 {
		p.nodes[n.left].parent = m
	}
	n.left, n.parent = 0, m
}

// access makes a path of class v and those on its links, and v the root of its splay tree.
func (a *automaton) access(v int32) {
	p := &a.paths
	a.splay(v)
	p.nodes[v].right = 0
	for u := p.nodes[v].parent; u != 0; u = p.nodes[v].parent {
		a.splay(u)
		p.nodes[u].right = v
		p.rotate(v)
	}
	p.stack, p.visited = p.stack[:0], 0
}

// above returns the class that v links to, with all of its ends. By the link-cut tree, v is
// the one that was accessed or the last that above returned.
func (a *automaton) above(v int32) int32 {
	p := &a.paths
	if !p.used() {
		return a.classes[v].link
	}
	// In the splay tree it is the one before v.
	for u := p.nodes[v].left; u != 0; {
		a.settle(u)
		p.visited++
		right := p.nodes[u].right
		if right == 0 {
			return u
		}
		p.stack = append(p.stack, u)
		u = right
	}
	n := len(p.stack)
	if n == 0 {
		return 0
	}
	u := p.stack[n-1]
	p.stack = p.stack[:n-1]
	return u
}

// leave says that v is the last class that above returned, of so many. If the way there was
// long for that, v is splayed, which pays for it: those passed are above it.
func (a *automaton) leave(v int32, count int) {
	if a.paths.visited > 2*count+16 {
		a.splay(v)
	}
}

// touchPath adds an end to class v, which has been accessed, and to those on its links.
func (a *automaton) touchPath(v, end int32) {
	p := &a.paths
	for !p.isRoot(v) {
		v = p.nodes[v].parent // few times, after leave
	}
	a.owe(v, end)
}

// owe says that an end is owed to v and all below it.
func (a *automaton) owe(v, end int32) {
	n := &a.paths.nodes[v]
	if n.owes == 0 || a.rings.shift == 0 {
		n.end = end // most often it is asked for before there is another
	} else {
		a.push(&n.end, n.owes, end)
	}
	n.owes++
}

// settle gives class v the ends that are owed to it, and those below it the debt. Nothing is
// owed above v.
func (a *automaton) settle(v int32) {
	p := &a.paths
	n := &p.nodes[v]
	if n.owes == 0 {
		return
	}
	s := &a.classes[v]
	if n.owes == 1 {
		end := n.end
		a.addEnd(s, end)
		if n.left != 0 {
			a.owe(n.left, end)
		}
		if n.right != 0 {
			a.owe(n.right, end)
		}
		n.owes = 0
		return
	}
	a.spareRings(3)
	end, owes, rings := n.end, n.owes, &a.rings
	if rings.shift == 0 {
		s.ends = end
	} else {
		rings.pour(&s.ends, s.frequency, end, owes)
	}
	s.frequency += owes
	n.owes = 0
	passed := rings.shift == 0 // on, the ring
	for _, child := range [2]int32{n.left, n.right} {
		if child == 0 {
			continue
		}
		c := &p.nodes[child]
		switch {
		case rings.shift == 0:
			c.end = end
		case c.owes == 0 && !passed:
			c.end, passed = end, true
		default:
			rings.pour(&c.end, c.owes, end, owes)
		}
		c.owes += owes
	}
	if !passed {
		rings.give(end, rings.bits(owes))
	}
}

// isRoot reports whether v is the root of its splay tree.
func (p *classPaths) isRoot(v int32) bool {
	u := p.nodes[v].parent
	return u == 0 || p.nodes[u].left != v && p.nodes[u].right != v
}

// splay makes class v the root of its splay tree, with all of its ends.
func (a *automaton) splay(v int32) {
	p := &a.paths
	if p.isRoot(v) {
		a.settle(v)
		return
	}
	way := len(p.stack)
	u := v
	for ; !p.isRoot(u); u = p.nodes[u].parent {
		p.stack = append(p.stack, u)
	}
	a.settle(u)
	for i := len(p.stack) - 1; i >= way; i-- {
		a.settle(p.stack[i])
	}
	p.stack = p.stack[:way]
	for !p.isRoot(v) {
		u := p.nodes[v].parent
		if !p.isRoot(u) {
			g := p.nodes[u].parent
			if (p.nodes[g].left == u) == (p.nodes[u].left == v) {
				p.rotate(u)
			} else {
				p.rotate(v)
			}
		}
		p.rotate(v)
	}
}

// rotate swaps v and its parent, which is in the same splay tree. Neither owes anything.
func (p *classPaths) rotate(v int32) {
	nodes := p.nodes
	u := nodes[v].parent
	g := nodes[u].parent
	if g != 0 && nodes[g].left == u {
		nodes[g].left = v
	} else if g != 0 && nodes[g].right == u {
		nodes[g].right = v
	}
	nodes[v].parent = g
	var inner int32
	if nodes[u].left == v {
		inner, nodes[v].right = nodes[v].right, u
		nodes[u].left = inner
	} else {
		inner, nodes[v].left = nodes[v].left, u
		nodes[u].right = inner
	}
	if inner != 0 {
		nodes[inner].parent = u
	}
	nodes[u].parent = v
}
