package rosa

import "slices"

// window is what a tree needs to forget its oldest symbols (Larsson, Extended application
// of suffix trees to data compression, DCC 1996): the suffixes leave longest first, and
// each is the oldest leaf.
type window struct {
	size    int32
	first   int32   // the oldest symbol that is not forgotten
	parents []int32 // of the leaves, by start
	free    []int32 // nodes that are none
	spare   int32   // forgotten symbols that the text keeps at least, to go back to
}

// slide forgets the oldest symbol if there are as many as the window has, to make room for
// another. Amortised as an append.
func (t *tree[S]) slide() {
	w := t.window
	if int32(len(t.text))-w.first < w.size {
		return
	}
	t.walkDown()
	v := w.parents[w.first]
	c := t.text[w.first+t.nodes.at(v).depth]
	switch {
	case t.at == v && t.below == ^w.first && t.length > t.nodes.at(v).depth:
		// The active point is on the edge of the leaf, which is all that its string had
		// for an earlier occurrence: the leaf becomes that of the newest one.
		leaf := int32(len(t.text)) - t.length
		*t.child(v, t.nodes.at(v), c) = ^leaf
		w.parents[leaf] = v
		if v != 0 {
			t.touch(v, leaf)
		}
		t.at, t.below, t.length = t.nodes.at(v).link, 0, t.length-1
		t.walkDown()
		t.start = t.newestHere()
	case v == 0 || t.children(v) > 2:
		t.removeChild(v, c)
	default:
		t.contract(v, t.otherChild(v, c))
	}
	w.first++
	if w.first > w.size+w.spare+64 {
		t.rebase(w.first - w.spare)
	}
}

// newestHere returns the start of the newest earlier occurrence of what the active point
// stands for.
func (t *tree[S]) newestHere() int32 {
	if t.below != 0 {
		return t.newest(t.below)
	}
	if t.at != 0 {
		return t.newest(t.at)
	}
	return 0
}

// contract takes a node off the edge to its only child.
func (t *tree[S]) contract(v, child int32) {
	parent := t.nodes.at(v).parent
	*t.child(parent, t.nodes.at(parent), t.text[t.label(v)+t.nodes.at(parent).depth]) = child
	t.setParent(child, parent)
	if t.paths.used() {
		t.paths.remove(v, parent, child)
	}
	switch {
	case t.below == v:
		t.below = child
	case t.at == v:
		t.at = parent
		if t.below == 0 {
			t.below = child
		}
	}
	*t.nodes.at(v) = node{}
	t.window.free = append(t.window.free, v)
}

// rebase makes the text begin n symbols later. O(length), every so many symbols.
func (t *tree[S]) rebase(n int32) {
	w := t.window
	t.text = append(t.text[:0], t.text[n:]...)
	w.parents = append(w.parents[:0], w.parents[n:]...)
	w.first -= n
	t.gone += int(n)
	t.start -= n
	move := func(child *int32) {
		if *child < 0 {
			*child += n // ^start
		}
	}
	move(&t.below)
	for i := range t.root {
		move(&t.root[i])
	}
	for v := int32(1); v < t.nodes.count; v++ {
		if p := t.nodes.at(v); p.depth > 0 {
			p.latest -= n
			t.eachChild(p, func(_ uint32, child *int32) { move(child) })
		}
	}
	for i := range t.paths {
		t.paths[i].value -= n
	}
}

func (w *window) reset() {
	if w != nil {
		*w = window{size: w.size, spare: w.spare, parents: w.parents[:0], free: w.free[:0]}
	}
}

func (w *window) clone() *window {
	if w == nil {
		return nil
	}
	c := *w
	c.parents, c.free = slices.Clone(w.parents), slices.Clone(w.free)
	return &c
}

func (w *window) bytes() int {
	if w == nil {
		return 0
	}
	return 4*cap(w.parents) + 4*cap(w.free)
}
