package rosa

import (
	"slices"
	"unsafe"
)

// symbol is what a text is made of: a byte, or the dense code of a token.
type symbol interface{ ~uint8 | ~uint32 }

// node is an internal node of a tree. Its string is the depth symbols from latest on, and
// so is the label of the edge that leads to it, so that neither needs a place of its own.
type node struct {
	depth  int32
	parent int32
	link   int32 // the node of the string without its first symbol
	latest int32 // start of the newest suffix below, while the tree climbs; see touch
	branches
}

// tree is the suffix tree of a text that grows at its end, by Ukkonen's algorithm (On-line
// construction of suffix trees, Algorithmica 14, 1995). Nodes know the newest leaf below.
//
//   - After each symbol, the active point stands for the longest suffix that also occurs
//     earlier: its length is L. Every earlier occurrence is a leaf below it, and leaves
//     come in the order of their starts, so that the newest leaf is the newest occurrence.
//   - Where the text goes on as it did behind that occurrence, the match grows by one and
//     its source moves by one: a newer source of the longer match would, without its last
//     symbol, have been a newer source of the shorter one. Nothing else changes.
//   - A new leaf is the newest below all of its ancestors: touch tells them. That climb is
//     short in ordinary texts and long in repetitive ones. When climbs have cost more than
//     climbsPerLeaf allows, the nodes are arranged as a link-cut tree, once, and from then
//     on the path from a leaf to the root is told in amortised O(log n).
//
// A child is a node, its number, or a leaf, ^start; no node is 0, the root.
type tree[S symbol] struct {
	text  []S
	gone  int // symbols before the text that are not held any more
	plain int // up to this length, a symbol is put behind the text and nothing else is to do
	nodes nodes
	slabs slabs
	root  []int32 // children of the root by symbol; 0 is none

	// The active point: length symbols below the root, on the edge from at to below or, if
	// below is 0, not yet walked down to.
	at, below int32
	length    int32
	start     int32 // of the newest earlier occurrence, if length is not 0

	leaves, climbs int64
	paths          linkCut // of the nodes, if used
	undo           *undo   // of the last symbols, if kept
	window         *window // of symbols that are not forgotten, if there is one
}

// A climb may go on for so long, all in all, before the link-cut tree takes over: of
// English a leaf takes three to seven steps, of random bits up to 17, of combs n.
const (
	climbsPerLeaf = 40
	climbsAtLeast = 1 << 17
)

// newTree returns the tree of the empty text, of which so many last symbols can be taken
// back, and with a window if its size is not 0.
func newTree[S symbol](keep, size int) *tree[S] {
	t := new(tree[S])
	t.nodes.add()
	if size > 0 {
		t.window = &window{size: int32(size), spare: int32(keep)}
	} else if keep > 0 {
		t.undo = &undo{keep: keep}
	}
	if narrow[S]() {
		t.root = make([]int32, 256)
	}
	t.nodes.at(0).latest = -1
	return t
}

// narrow reports whether S is a byte. It is a constant to the compiler.
func narrow[S symbol]() bool { return unsafe.Sizeof(*new(S)) == 1 }

// append appends a symbol and finds the newest earlier occurrence of the longest suffix
// that has one: t.start, t.length. Amortised O(log n), and O(1) where the match grows.
// Before it, so many tokens had codes.
func (t *tree[S]) append(c S, names int) {
	if t.undo != nil {
		t.undo.begin(t.at, t.below, t.length, t.start, names)
	}
	if t.window != nil {
		t.slide()
		t.window.parents = push(t.window.parents, 0)
	}
	t.text = push(t.text, c)
	if n := t.length; n > 0 && t.text[t.start+n] == c {
		t.length = n + 1
		return
	}
	t.extend(c)
}

// setPlain notes up to which length nothing is to do but to put a symbol behind the text,
// which has room for so many.
func (t *tree[S]) setPlain(room int) {
	if t.undo == nil && t.window == nil && t.gone == 0 {
		t.plain = min(cap(t.text), len(t.text)+room)
	}
}

// next returns the place of the symbol behind the newest earlier occurrence, −1 if there
// is no match.
func (t *tree[S]) next() int {
	if t.length == 0 {
		return -1
	}
	return int(t.start + t.length)
}

// extend inserts the suffixes that occurred before the symbol c at the end of the text,
// longest first, and do not occur with it.
func (t *tree[S]) extend(c S) {
	text := t.text
	end := int32(len(text)) - 1
	at, below, length := t.at, t.below, t.length
	n := t.nodes.at(at)
	depth := n.depth
	var unlinked *node // a new one whose link is not known yet
	for {
		// Walk down to the node or the edge where the suffix ends.
		var edge *int32 // where below stands, if it was looked up
		for length != depth {
			if below == 0 {
				edge = t.child(at, n, text[end-length+depth])
				below = *edge
			}
			if below < 0 {
				break
			}
			b := t.nodes.at(below)
			if b.depth > length {
				break
			}
			at, n, depth, below = below, b, b.depth, 0
		}
		leaf, parent := end-length, at
		// What comes next is read before the climb, so that it need not wait for it.
		next := n.link
		following := t.nodes.at(next)
		depthThere := following.depth
		if length == depth {
			if unlinked != nil {
				unlinked.link = at
				unlinked = nil
			}
			if p := t.child(at, n, c); p != nil {
				t.at, t.below, t.length = at, *p, length+1
				t.start = t.newest(*p)
				return
			}
			if t.undo != nil {
				t.undo.leaf(at, uint32(c), false, !t.paths.used())
			}
			t.addChild(at, n, c, ^leaf)
			if at == 0 {
				t.setParent(^leaf, at)
				t.leaves++
				t.at, t.below, t.length = 0, 0, 0
				return
			}
		} else {
			// The edge goes on with another symbol: that of the longer suffix before, or,
			// of the first, that of the occurrence which the text does not follow.
			parent = t.newNode()
			if edge == nil {
				edge = t.child(at, n, text[leaf+depth])
			}
			label := t.label(below)
			*edge = parent
			if t.undo != nil {
				t.undo.leaf(parent, uint32(c), true, !t.paths.used())
			}
			m := t.nodes.at(parent)
			// Its newest leaf is, until touch tells it, that below it.
			m.depth, m.parent, m.link, m.latest = length, at, 0, label
			m.branches = twoBranches(text[label+length], below, c, ^leaf)
			t.setParent(below, parent)
			if t.paths.used() {
				t.paths.insert(parent, at, below)
			}
			if unlinked != nil {
				unlinked.link = parent
			}
			unlinked = m
		}
		t.setParent(^leaf, parent)
		t.leaves++
		t.touch(parent, leaf)
		at, n, depth, below = next, following, depthThere, 0
		length--
	}
}

// walkDown makes the active point canonical: at is the deepest node above it, or on it.
func (t *tree[S]) walkDown() {
	end := int32(len(t.text))
	for depth := t.nodes.at(t.at).depth; t.length > depth; {
		if t.below == 0 {
			t.below = *t.child(t.at, t.nodes.at(t.at), t.text[end-t.length+depth])
		}
		if t.below < 0 || t.nodes.at(t.below).depth > t.length {
			return
		}
		t.at, t.below, depth = t.below, 0, t.nodes.at(t.below).depth
	}
}

// newNode returns a node that is none yet.
func (t *tree[S]) newNode() int32 {
	if w := t.window; w != nil && len(w.free) > 0 {
		v := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		return v
	}
	return t.nodes.add()
}

// setParent tells a child the node that it is below.
func (t *tree[S]) setParent(child, parent int32) {
	switch {
	case child > 0:
		t.nodes.at(child).parent = parent
	case t.window != nil:
		t.window.parents[^child] = parent
	}
}

// label returns a start of the string of a child.
func (t *tree[S]) label(child int32) int32 {
	if child < 0 {
		return ^child
	}
	if t.window != nil && t.paths.used() {
		return t.paths.value(child) // others may be forgotten
	}
	return t.nodes.at(child).latest
}

// newest returns the start of the newest leaf below a child.
func (t *tree[S]) newest(child int32) int32 {
	if child > 0 && t.paths.used() {
		return t.paths.value(child)
	}
	return t.label(child)
}

// touch tells a node and its ancestors that the leaf, the newest of all, is below them.
func (t *tree[S]) touch(v, leaf int32) {
	if t.paths.used() {
		t.paths.assign(v, leaf, t.undo)
		return
	}
	if t.undo != nil {
		latest := int32(-1)
		for u := v; u != 0; u = t.nodes.at(u).parent {
			if n := t.nodes.at(u); n.latest != latest {
				latest = n.latest
				t.undo.path(u, latest)
			}
		}
	}
	n := int64(0)
	for chunks := t.nodes.chunks; v != 0; n++ {
		p := &chunks[uint32(v)>>nodeChunkBits][v&(1<<nodeChunkBits-1)]
		p.latest = leaf
		v = p.parent
	}
	t.climbs += n
	if t.climbs > climbsPerLeaf*t.leaves+climbsAtLeast {
		t.paths.build(&t.nodes)
	}
}

// bytes returns the memory of the tree.
func (t *tree[S]) bytes() int {
	return cap(t.text)*int(unsafe.Sizeof(*new(S))) + t.nodes.bytes() +
		4*cap(t.root) + t.slabs.bytes() + t.paths.bytes() + t.undo.bytes() + t.window.bytes()
}

// reset makes the tree that of the empty text, in the memory that it has. O(length).
func (t *tree[S]) reset() {
	if narrow[S]() {
		clear(t.root)
	} else {
		t.root = t.root[:0] // addChild puts 0 where it makes it longer
	}
	t.slabs.reset()
	t.undo.reset()
	t.window.reset()
	t.nodes.truncate(1)
	*t = tree[S]{text: t.text[:0], nodes: t.nodes, slabs: t.slabs, root: t.root, undo: t.undo, window: t.window}
}

func (t *tree[S]) clone() *tree[S] {
	c := *t
	c.text, c.nodes, c.root = slices.Clone(t.text), t.nodes.clone(), slices.Clone(t.root)
	c.slabs, c.paths, c.undo = t.slabs.clone(), slices.Clone(t.paths), t.undo.clone()
	c.window = t.window.clone()
	c.plain = 0 // the text has other room
	return &c
}

// widened returns the tree with codes in place of bytes, which they equal, in place of t.
// O(length).
func widened(t *tree[uint8]) *tree[uint32] {
	w := &tree[uint32]{
		text: make([]uint32, len(t.text), cap(t.text)), nodes: t.nodes.clone(), root: t.root,
		at: t.at, below: t.below, length: t.length, start: t.start,
		leaves: t.leaves, climbs: t.climbs, paths: t.paths, undo: t.undo, window: t.window, gone: t.gone,
	}
	for i, c := range t.text {
		w.text[i] = uint32(c)
	}
	for v := int32(1); v < t.nodes.count; v++ {
		if t.nodes.at(v).depth == 0 {
			continue // it is free
		}
		count, first, before := 0, uint32(0), int32(0)
		n := w.nodes.at(v)
		t.eachChild(t.nodes.at(v), func(c uint32, child *int32) {
			switch count++; count {
			case 1:
				first, before = c, *child
			case 2:
				n.branches = twoBranches(first, before, c, *child)
			default:
				w.addChild(v, n, c, *child)
			}
		})
	}
	return w
}

// push is append that leaves an eighth of the memory spare at most, of much memory.
func push[T any](s []T, x T) []T {
	if len(s) == cap(s) {
		s = grown(s)
	}
	s = s[:len(s)+1]
	s[len(s)-1] = x
	return s
}

func grown[T any](s []T) []T {
	g := make([]T, len(s), spare(len(s)))
	copy(g, s)
	return g
}

// spare returns the capacity that n elements, or a few more, get: twice as much, but an
// eighth more of many.
func spare(n int) int { return n + max(n/8, min(n, 1<<10)) + 8 }
