package rosa

import (
	"math"
	"unsafe"
)

// order is all prefixes of a text, read backwards, in lexicographic order, with the LCS of
// each and the one before it: the balanced indexing structure of Amir, Kopelowitz,
// Lewenstein and Lewenstein (Towards real-time suffix tree construction, SPIRE 2005), here
// a B+tree. It answers as a tree does, and no step takes more than O(log² n).
//
//   - Read backwards, the prefix that ends at i is x[i] and then the prefix that ends at
//     i−1. So it is compared with another by one symbol and, where that is the same, by the
//     places of two that are in the order already: O(log n), and O(log² n) a descent.
//   - The LCS of any two is the least of those that are noted between them. The longest
//     match is thus with a neighbour, and all that match as long lie around in one range:
//     the source is the newest of them.
//   - Every LCS that was between the neighbours of a new one still is the lesser of its two.
//     So to take the newest prefix out again, no more is to be known.
//
// The empty prefix is the least of all, and not in it. Nothing is ever copied to make room,
// but for tables of bounded size: that would be a long step. Nodes with little in them join
// their neighbours and are used again, so that memory is that of the most prefixes at a time,
// whatever was taken back: 26 bytes each, mostly, and at most 62 (12 of its place; 7 of them
// or more have a leaf).
type order struct {
	places chunks[place] // by end
	leaves chunks[leafNode]
	inners chunks[innerNode]
	gone   int // symbols before the text that are not held

	root   int32 // a leaf if the height is 0, else an inner node; none while the text is empty
	height int32

	freeLeaf, freeInner int32 // linked by parent

	path           [maxHeight + 1]branch // from the leaf of the last prefix up to the root
	length, source int32                 // of the match of the last prefix; source if length is not 0

	shape  orderShape
	visits int32 // of nodes, in this step
}

// orderShape is what could be otherwise without another answer. It is another in tests, where
// few tokens are to fill many nodes.
type orderShape struct {
	leafFan, innerFan int32 // kids of a full node, from 4 on
	reach             int32 // so many neighbours on either side of the last prefix are asked what followed them
	glance            int32 // so many symbols are compared before nodes are: they are on a line of the cache or two
}

func newOrder() *order { return &order{shape: orderShape{leafFan, innerFan, 8, 8}} }

// place is a symbol, and where the prefix is that ends with it. Two are on one line of the
// cache, mostly, as comparisons want them. It is of three words so that it takes no more.
type place struct {
	low, high uint32
	leaf      int32
}

// leafNode is prefixes in order, by their ends, and the LCS of each and the one before it, 0
// of the first of all. It is four lines of a cache. Node 0 is none.
type leafNode struct {
	ends, lcs  [leafFan]int32
	parent     int32
	count      int32
	prev, next int32
}

// innerNode is nodes in order with, of what is below each: the first prefix, the least LCS and
// the newest prefix.
type innerNode struct {
	kids, first, least, newest [innerFan]int32
	parent                     int32
	count                      int32
	_                          [2]int32
}

// summary is what an inner node knows of a node below.
type summary struct{ first, least, newest int32 }

// branch is a node of a path and which of its kids, or prefixes, the path goes by.
type branch struct{ node, at int32 }

const (
	leafFan  = 30
	innerFan = 31

	// Two nodes side by side under a parent have 16 kids together at least: the halves of a
	// full one have 15 each, and what shrinks joins a neighbour if they have less than 21. A
	// tree of height 11 so takes 4.6·10⁹ prefixes, more than MaxTokens, and there is room.
	maxHeight = 17

	// The LCS of nothing, and one that is not known.
	endless = math.MaxInt32
	unknown = -1
)

// append appends a symbol and finds its match. O(log² n).
func (o *order) append(token int64) {
	c := uint64(token)
	o.visits = 0
	i := o.places.count
	if i == 0 {
		o.begin(c)
		return
	}
	grows := o.length > 0 && o.places.at(o.source+1).symbol() == c
	v, k, below, above := o.find(c)
	below, above = o.between(v, k, c, below, above)
	o.insert(v, k, c, below, above)
	if grows {
		// A newer source would, without its last symbol, have been a newer source before.
		o.length++
		o.source++
		return
	}
	if o.length = max(below, above); o.length > 0 {
		o.source = o.newest(o.length)
	}
}

// token returns token i.
func (o *order) token(i int32) int64 { return int64(o.places.at(i).symbol()) }

// begin makes the order that of one symbol.
func (o *order) begin(c uint64) {
	o.leaves.count, o.inners.count = 0, 0
	o.leaves.add()
	o.inners.add()
	o.freeLeaf, o.freeInner = 0, 0
	o.root, o.height = o.newLeaf(), 0
	l := o.leaf(o.root)
	l.count = 1
	l.ends[0], l.lcs[0] = 0, 0
	*o.places.at(o.places.add()) = placed(c, o.root)
	o.path[0] = branch{o.root, 0}
	o.length = 0
}

// find returns the leaf where the text with symbol c behind it belongs, and before which
// prefix, and its LCS with the one before and the one behind, as far as they come to light.
func (o *order) find(c uint64) (v, k, below, above int32) {
	// If c followed a neighbour of the last prefix, and none in between, then that with c is
	// the neighbour with c.
	last := o.path[0]
	l := o.leaf(last.node)
	below, above = endless, endless
	for d := int32(1); d <= o.shape.reach; d++ {
		if j := last.at - d; j >= 0 {
			below = min(below, l.lcs[j+1])
			if p := o.places.at(l.ends[j] + 1); p.symbol() == c {
				return p.leaf, o.leaf(p.leaf).index(l.ends[j]+1) + 1, below + 1, unknown
			}
		}
		if j := last.at + d; j < l.count {
			above = min(above, l.lcs[j])
			if p := o.places.at(l.ends[j] + 1); p.symbol() == c {
				return p.leaf, o.leaf(p.leaf).index(l.ends[j] + 1), unknown, above + 1
			}
		}
	}
	v = o.root
	for range o.height {
		n := o.inner(v)
		low, high := int32(0), n.count-1 // the last kid whose first is before it is among these
		for low < high {
			if m := (low + high + 1) / 2; o.before(n.first[m], c) {
				low = m
			} else {
				high = m - 1
			}
		}
		v = n.kids[low]
	}
	l = o.leaf(v)
	low, high := int32(0), l.count
	for low < high {
		if m := (low + high) / 2; o.before(l.ends[m], c) {
			low = m + 1
		} else {
			high = m
		}
	}
	return v, low, unknown, unknown
}

// before reports whether the prefix that ends at j is before the text with c behind it.
func (o *order) before(j int32, c uint64) bool {
	if x := o.places.at(j).symbol(); x != c || j == 0 {
		return x <= c
	}
	j--
	for d, i := int32(0), o.places.count-1; d < o.shape.glance; d++ {
		if d > j {
			return true
		}
		if x, y := o.places.at(j-d).symbol(), o.places.at(i-d).symbol(); x != y {
			return x < y
		}
	}
	v := o.places.at(j).leaf
	if last := o.path[0]; v == last.node {
		return o.leaf(v).index(j) < last.at
	}
	p := o.leaf(v).parent
	for level := 1; level < len(o.path); level++ {
		n := o.inner(p)
		if last := o.path[level]; p == last.node {
			return n.index(v) < last.at
		}
		v, p = p, n.parent
	}
	return false // they have met at the root
}

// between returns the LCS of the text with c behind it and its neighbours where it belongs
// before prefix k of leaf v, 0 where there is none. The lesser of the two is the LCS of the
// neighbours, so that often there is but one to find.
func (o *order) between(v, k int32, c uint64, below, above int32) (int32, int32) {
	before, behind, old := int32(unknown), int32(unknown), int32(0)
	l := o.leaf(v)
	if k > 0 {
		before = l.ends[k-1]
	} else if l.prev != 0 {
		p := o.leaf(l.prev)
		before = p.ends[p.count-1]
	}
	if k < l.count {
		behind, old = l.ends[k], l.lcs[k]
	} else if l.next != 0 {
		n := o.leaf(l.next)
		behind, old = n.ends[0], n.lcs[0]
	}
	switch {
	case before == unknown:
		below = 0
	case below == unknown && above > old:
		below = old
	case below == unknown:
		below = o.shared(before, c, true)
	}
	switch {
	case behind == unknown:
		above = 0
	case above == unknown && below > old:
		above = old
	case above == unknown:
		above = o.shared(behind, c, false)
	}
	return below, above
}

// shared returns the LCS of the prefix that ends at j and the text with c behind it, given
// which is before the other.
func (o *order) shared(j int32, c uint64, before bool) int32 {
	switch {
	case o.places.at(j).symbol() != c:
		return 0
	case j == 0:
		return 1
	}
	// One more than the least from the one that ends at j−1 to the last, or the other way.
	j--
	for d, i := int32(0), o.places.count-1; d < o.shape.glance; d++ {
		if d > j || o.places.at(j-d).symbol() != o.places.at(i-d).symbol() {
			return 1 + d
		}
	}
	v := o.places.at(j).leaf
	l, last := o.leaf(v), o.path[0]
	k := l.index(j)
	if v == last.node {
		return 1 + least(l.lcs[min(k, last.at)+1:max(k, last.at)+1])
	}
	other := o.leaf(last.node)
	var m int32
	if before {
		m = min(least(l.lcs[k+1:l.count]), least(other.lcs[:last.at+1]))
	} else {
		m = min(least(l.lcs[:k+1]), least(other.lcs[last.at+1:other.count]))
	}
	p := l.parent
	for level := 1; level < len(o.path); level++ {
		n, last := o.inner(p), o.path[level]
		k := n.index(v)
		if p == last.node {
			return 1 + min(m, least(n.least[min(k, last.at)+1:max(k, last.at)]))
		}
		other := o.inner(last.node)
		if before {
			m = min(m, least(n.least[k+1:n.count]), least(other.least[:last.at]))
		} else {
			m = min(m, least(n.least[:k]), least(other.least[last.at+1:other.count]))
		}
		v, p = p, n.parent
	}
	return 1 // they have met at the root
}

// least returns the least of some LCS.
func least(lcs []int32) int32 {
	m := int32(endless)
	for _, l := range lcs {
		m = min(m, l)
	}
	return m
}

// newest returns the newest but the last prefix of those around it with an LCS with it of at
// least l, which is not 0.
func (o *order) newest(l int32) int32 {
	newest := int32(unknown)
	at := o.path[0]
	leaf := o.leaf(at.node)
	k := at.at
	for leaf.lcs[k] >= l && k > 0 {
		k--
		newest = max(newest, leaf.ends[k])
	}
	if leaf.lcs[k] >= l {
		newest = max(newest, o.newestLeft(l))
	}
	for k = at.at + 1; k < leaf.count && leaf.lcs[k] >= l; k++ {
		newest = max(newest, leaf.ends[k])
	}
	if k == leaf.count {
		newest = max(newest, o.newestRight(l))
	}
	return newest
}

// newestLeft is newest of what is before the leaf of the last prefix.
func (o *order) newestLeft(l int32) int32 {
	newest := int32(unknown)
	for level := int32(1); level <= o.height; level++ {
		n := o.inner(o.path[level].node)
		k := o.path[level].at - 1
		for ; k >= 0 && n.least[k] >= l; k-- {
			newest = max(newest, n.newest[k])
		}
		if k < 0 {
			continue
		}
		v := n.kids[k]
		for level--; level > 0; level-- {
			n := o.inner(v)
			k := n.count - 1
			for ; k > 0 && n.least[k] >= l; k-- {
				newest = max(newest, n.newest[k])
			}
			v = n.kids[k]
		}
		leaf := o.leaf(v)
		for k := leaf.count - 1; k >= 0; k-- {
			newest = max(newest, leaf.ends[k])
			if leaf.lcs[k] < l {
				break
			}
		}
		return newest
	}
	return newest
}

// newestRight is newest of what is behind the leaf of the last prefix.
func (o *order) newestRight(l int32) int32 {
	newest := int32(unknown)
	for level := int32(1); level <= o.height; level++ {
		n := o.inner(o.path[level].node)
		k := o.path[level].at + 1
		for ; k < n.count && n.least[k] >= l; k++ {
			newest = max(newest, n.newest[k])
		}
		if k == n.count {
			continue
		}
		v := n.kids[k]
		for level--; level > 0; level-- {
			n := o.inner(v)
			k := int32(0)
			for ; k < n.count-1 && n.least[k] >= l; k++ {
				newest = max(newest, n.newest[k])
			}
			v = n.kids[k]
		}
		leaf := o.leaf(v)
		for k := int32(0); k < leaf.count && leaf.lcs[k] >= l; k++ {
			newest = max(newest, leaf.ends[k])
		}
		return newest
	}
	return newest
}

// names returns codes for the tokens that are no bytes. O(n).
func (o *order) names() *dictionary {
	d := new(dictionary)
	for i := range o.places.count {
		token := o.token(i)
		if uint64(token) < 256 {
			continue
		}
		if _, known := d.code(token); !known {
			d.add(token)
		}
	}
	return d
}

// reset makes the order that of the empty text, in the memory that it has. O(1).
func (o *order) reset() {
	o.places.count = 0
	o.gone, o.length = 0, 0
}

func (o *order) clone() *order {
	c := *o
	c.places, c.leaves, c.inners = o.places.clone(), o.leaves.clone(), o.inners.clone()
	return &c
}

func (o *order) bytes() int {
	return int(unsafe.Sizeof(*o)) + o.places.bytes() + o.leaves.bytes() + o.inners.bytes()
}

// placed returns the place of a symbol.
func placed(c uint64, leaf int32) place { return place{uint32(c), uint32(c >> 32), leaf} }

func (p *place) symbol() uint64 { return uint64(p.high)<<32 | uint64(p.low) }
