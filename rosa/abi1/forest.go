package abi1

// forest is the shape of a link-cut tree over suffix links (Sleator and Tarjan, A data
// structure for dynamic trees, JCSS 26, 1983): splay trees of paths, by depth, the roots
// of which have as parent the state above the path. What is pending in a node must have
// been pushed down before its children change.
type forest struct{ left, right, parent, stack []int32 }

// isRoot reports whether v is the root of its splay tree.
func (f *forest) isRoot(v int32) bool {
	p := f.parent[v]
	return p == -1 || f.left[p] != v && f.right[p] != v
}

// spine puts v and what is above it in its splay tree on the stack, the root last, and
// returns how many there are.
func (f *forest) spine(v int32) int {
	left, right, parent, stack := f.left, f.right, f.parent, f.stack
	stack[0] = v
	for n := 1; ; n++ {
		p := parent[v]
		if p == -1 || left[p] != v && right[p] != v {
			return n
		}
		stack[n] = p
		v = p
	}
}

// splay makes v the root of its splay tree, in which nothing is pending on the way.
func (f *forest) splay(v int32) {
	for range f.stack {
		if f.isRoot(v) {
			return
		}
		p := f.parent[v]
		if !f.isRoot(p) {
			g := f.parent[p]
			if (f.left[p] == v) == (f.left[g] == p) {
				f.rotate(p)
			} else {
				f.rotate(v)
			}
		}
		f.rotate(v)
	}
	panic("abi1: link-cut tree has a cycle")
}

// rotate swaps v and its parent, which is in the same splay tree.
func (f *forest) rotate(v int32) {
	left, right, parent := f.left, f.right, f.parent
	p := parent[v]
	g := parent[p]
	var inner int32
	if left[p] == v {
		inner, right[v] = right[v], p
		left[p] = inner
	} else {
		inner, left[v] = left[v], p
		right[p] = inner
	}
	if inner != -1 {
		parent[inner] = p
	}
	parent[p], parent[v] = v, g
	if g != -1 {
		if left[g] == p {
			left[g] = v
		} else if right[g] == p {
			right[g] = v
		}
	}
}

// insert puts v on the edge to child, the root of its splay tree with nothing pending.
func (f *forest) insert(v, child int32) {
	above := f.left[child]
	f.left[v], f.right[v], f.parent[v] = above, child, f.parent[child]
	if above != -1 {
		f.parent[above] = v
	}
	f.left[child], f.parent[child] = -1, v
}
