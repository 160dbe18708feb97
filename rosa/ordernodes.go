package rosa

// The B+tree of an order: how prefixes come into its nodes and out of them.

// insert puts the text with c behind it before prefix k of leaf v, with its LCS with the one
// before and the one behind.
func (o *order) insert(v, k int32, c uint64, below, above int32) {
	if o.leaf(v).count == o.shape.leafFan {
		right := o.splitLeaf(v)
		if n := o.leaf(v).count; k > n {
			v, k = right, k-n
		}
	}
	l := o.leaf(v)
	copy(l.ends[k+1:l.count+1], l.ends[k:l.count])
	copy(l.lcs[k+1:l.count+1], l.lcs[k:l.count])
	i := o.places.add()
	*o.places.at(i) = placed(c, v)
	l.ends[k], l.lcs[k] = i, below
	l.count++
	if k+1 < l.count {
		l.lcs[k+1] = above
	} else if l.next != 0 {
		if n := o.leaf(l.next); n.lcs[0] != above {
			n.lcs[0] = above
			o.refresh(0, l.next)
		}
	}
	o.path[0] = branch{v, k}
	first := k == 0
	p := l.parent
	for level := int32(1); level <= o.height; level++ {
		n := o.inner(p)
		k = n.index(v)
		o.path[level] = branch{p, k}
		n.newest[k] = i
		n.least[k] = min(n.least[k], below)
		if first {
			n.first[k] = i
			first = k == 0
		}
		v, p = p, n.parent
	}
}

// takeBack takes the last n symbols back. O(n·log n).
func (o *order) takeBack(n int) {
	for range n {
		o.remove()
	}
	o.length = 0
	i := o.places.count - 1
	if i < 0 {
		return
	}
	v := o.places.at(i).leaf
	l := o.leaf(v)
	k := l.index(i)
	o.path[0] = branch{v, k}
	o.length = l.lcs[k]
	if k+1 < l.count {
		o.length = max(o.length, l.lcs[k+1])
	} else if l.next != 0 {
		o.length = max(o.length, o.leaf(l.next).lcs[0])
	}
	p := l.parent
	for level := int32(1); level <= o.height; level++ {
		n := o.inner(p)
		o.path[level] = branch{p, n.index(v)}
		v, p = p, n.parent
	}
	if o.length > 0 {
		o.source = o.newest(o.length)
	}
}

// remove takes the last prefix out, of which there is one. The path is not kept.
func (o *order) remove() {
	o.places.count--
	i := o.places.count
	if i == 0 {
		return
	}
	v := o.places.at(i).leaf
	l := o.leaf(v)
	k := l.index(i)
	lcs := l.lcs[k]
	if k+1 < l.count {
		l.lcs[k+1] = min(l.lcs[k+1], lcs)
	} else if l.next != 0 {
		if n := o.leaf(l.next); lcs < n.lcs[0] {
			n.lcs[0] = lcs
			o.refresh(0, l.next)
		}
	}
	copy(l.ends[k:], l.ends[k+1:l.count])
	copy(l.lcs[k:], l.lcs[k+1:l.count])
	l.count--
	o.shrunk(0, v)
}

// shrunk mends what is above node v, at a level, which has lost a prefix or a kid. If it is
// empty it goes, and if it has little and so has a neighbour of the same parent, they become
// one; then the parent has lost a kid. O(fan) a level.
func (o *order) shrunk(level, v int32) {
	for ; level < o.height; level++ {
		count, most := o.fill(level, v)
		if count >= most {
			o.refresh(level, v)
			return
		}
		p := *o.parent(level, v)
		n := o.inner(p)
		k := n.index(v)
		switch {
		case count == 0:
		case k > 0 && o.fits(level, n.kids[k-1], count):
			o.merge(level, n.kids[k-1], v)
			n.set(k-1, o.summary(level, n.kids[k-1]))
		case k+1 < n.count && o.fits(level, n.kids[k+1], count):
			k++
			o.merge(level, v, n.kids[k])
			n.set(k-1, o.summary(level, v))
		default:
			o.refresh(level, v)
			return
		}
		o.release(level, n.kids[k])
		n.drop(k)
		v = p
	}
	for o.height > 0 && o.inner(o.root).count == 1 {
		only := o.inner(o.root).kids[0]
		o.release(o.height, o.root)
		o.root = only
		o.height--
		*o.parent(o.height, only) = 0
	}
}

// fill returns how many prefixes or kids a node, at a level, has, and how many two may have
// to become one. That is two thirds of a full node: what comes of two is not soon to be split
// and what comes of a split is not soon one again.
func (o *order) fill(level, v int32) (count, most int32) {
	if level > 0 {
		return o.inner(v).count, o.shape.innerFan * 2 / 3
	}
	return o.leaf(v).count, o.shape.leafFan * 2 / 3
}

// fits reports whether a node, at a level, and one with so many may become one.
func (o *order) fits(level, v, others int32) bool {
	count, most := o.fill(level, v)
	return count+others <= most
}

// merge moves all of node right, at a level, behind what is in node left, which is before it.
func (o *order) merge(level, left, right int32) {
	if level == 0 {
		l, r := o.leaf(left), o.leaf(right)
		copy(l.ends[l.count:], r.ends[:r.count])
		copy(l.lcs[l.count:], r.lcs[:r.count])
		l.count += r.count
		for _, j := range r.ends[:r.count] {
			o.places.at(j).leaf = left
		}
		return
	}
	l, r := o.inner(left), o.inner(right)
	copy(l.kids[l.count:], r.kids[:r.count])
	copy(l.first[l.count:], r.first[:r.count])
	copy(l.least[l.count:], r.least[:r.count])
	copy(l.newest[l.count:], r.newest[:r.count])
	l.count += r.count
	for _, kid := range r.kids[:r.count] {
		*o.parent(level-1, kid) = left
	}
}

// release makes a node, at a level, one to be used again. A leaf leaves the line of leaves.
func (o *order) release(level, v int32) {
	if level > 0 {
		o.inner(v).parent, o.freeInner = o.freeInner, v
		return
	}
	l := o.leaf(v)
	if l.prev != 0 {
		o.leaf(l.prev).next = l.next
	}
	if l.next != 0 {
		o.leaf(l.next).prev = l.prev
	}
	l.parent, o.freeLeaf = o.freeLeaf, v
}

// splitLeaf moves half of a full leaf into a new one behind it, which it returns.
func (o *order) splitLeaf(v int32) int32 {
	right := o.newLeaf()
	l, r := o.leaf(v), o.leaf(right)
	half := l.count / 2
	r.count = int32(copy(r.ends[:], l.ends[half:l.count]))
	copy(r.lcs[:], l.lcs[half:l.count])
	l.count = half
	for _, j := range r.ends[:r.count] {
		o.places.at(j).leaf = right
	}
	r.prev, r.next = v, l.next
	if l.next != 0 {
		o.leaf(l.next).prev = right
	}
	l.next = right
	o.adopt(0, v, right)
	return right
}

// splitInner moves half of a full node, at a level, into a new one behind it.
func (o *order) splitInner(level, v int32) {
	right := o.newInner()
	n, r := o.inner(v), o.inner(right)
	half := n.count / 2
	r.count = int32(copy(r.kids[:], n.kids[half:n.count]))
	copy(r.first[:], n.first[half:n.count])
	copy(r.least[:], n.least[half:n.count])
	copy(r.newest[:], n.newest[half:n.count])
	n.count = half
	for _, kid := range r.kids[:r.count] {
		*o.parent(level-1, kid) = right
	}
	o.adopt(level, v, right)
}

// adopt makes node right, which was split off v at a level, the next kid of v's parent.
func (o *order) adopt(level, v, right int32) {
	p := *o.parent(level, v)
	if p == 0 {
		p = o.newInner()
		n := o.inner(p)
		n.count, n.kids[0] = 1, v
		*o.parent(level, v) = p
		o.root = p
		o.height++
	} else if o.inner(p).count == o.shape.innerFan {
		o.splitInner(level+1, p)
		p = *o.parent(level, v)
	}
	n := o.inner(p)
	k := n.index(v)
	copy(n.kids[k+1:], n.kids[k:n.count])
	copy(n.first[k+1:], n.first[k:n.count])
	copy(n.least[k+1:], n.least[k:n.count])
	copy(n.newest[k+1:], n.newest[k:n.count])
	n.count++
	n.kids[k+1] = right
	n.set(k, o.summary(level, v))
	n.set(k+1, o.summary(level, right))
	*o.parent(level, right) = p
}

// refresh tells the ancestors of a node, at a level, what has become of it.
func (o *order) refresh(level, v int32) {
	for ; level < o.height; level++ {
		s := o.summary(level, v)
		p := *o.parent(level, v)
		n := o.inner(p)
		k := n.index(v)
		if s == (summary{n.first[k], n.least[k], n.newest[k]}) {
			return
		}
		n.set(k, s)
		v = p
	}
}

// summary returns what the parent of a node, at a level, is to know.
func (o *order) summary(level, v int32) summary {
	if level > 0 {
		n := o.inner(v)
		return summary{n.first[0], least(n.least[:n.count]), largest(n.newest[:n.count])}
	}
	l := o.leaf(v)
	return summary{l.ends[0], least(l.lcs[:l.count]), largest(l.ends[:l.count])}
}

// largest returns the newest of some ends.
func largest(ends []int32) int32 {
	m := int32(unknown)
	for _, e := range ends {
		m = max(m, e)
	}
	return m
}

// parent returns where a node, at a level, has its parent.
func (o *order) parent(level, v int32) *int32 {
	if level > 0 {
		return &o.inner(v).parent
	}
	return &o.leaf(v).parent
}

func (o *order) leaf(v int32) *leafNode {
	o.visits++
	return o.leaves.at(v)
}

func (o *order) inner(v int32) *innerNode {
	o.visits++
	return o.inners.at(v)
}

// newLeaf returns a leaf without prefixes.
func (o *order) newLeaf() int32 {
	v := o.freeLeaf
	if v == 0 {
		v = o.leaves.add()
	}
	l := o.leaf(v)
	if v == o.freeLeaf {
		o.freeLeaf = l.parent
	}
	l.parent, l.count, l.prev, l.next = 0, 0, 0, 0
	return v
}

// newInner returns a node without kids.
func (o *order) newInner() int32 {
	v := o.freeInner
	if v == 0 {
		v = o.inners.add()
	}
	n := o.inner(v)
	if v == o.freeInner {
		o.freeInner = n.parent
	}
	n.parent, n.count = 0, 0
	return v
}

// index returns which of the prefixes of a leaf ends at j. One does.
func (l *leafNode) index(j int32) int32 {
	for k, end := range l.ends[:l.count] {
		if end == j {
			return int32(k)
		}
	}
	return 0
}

// index returns which of the kids of a node v is. One is.
func (n *innerNode) index(v int32) int32 {
	for k, kid := range n.kids[:n.count] {
		if kid == v {
			return int32(k)
		}
	}
	return 0
}

// drop takes kid k out.
func (n *innerNode) drop(k int32) {
	copy(n.kids[k:], n.kids[k+1:n.count])
	copy(n.first[k:], n.first[k+1:n.count])
	copy(n.least[k:], n.least[k+1:n.count])
	copy(n.newest[k:], n.newest[k+1:n.count])
	n.count--
}

func (n *innerNode) set(k int32, s summary) {
	n.first[k], n.least[k], n.newest[k] = s.first, s.least, s.newest
}
