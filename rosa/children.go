package rosa

import (
	"math/bits"
	"slices"
)

// How the children of a node are kept.
//
// Of bytes, up to three are in the node: kids are the children, tags their number and,
// in the bytes above it, their symbols. Of more, kids[0] is the place of a slab and kids[1]
// its class: first the symbols, four a word, then the children in the same order; a slab
// of the last class has 256 children by symbol, and tags is manyTags plus their number
// times 256.
//
// Of codes, a node has at least two children: kids[0] and kids[1] are those, kids[2] and
// tags their symbols. Of more, kids[0] is 0, kids[1] the place of a slab, kids[2] its
// class and tags the number of children: symbols, then children; from class firstHashed
// on a hash table of pairs.
//
// The root is apart: tree.root.

// slabs is the memory of children that do not fit their nodes. Slabs that were outgrown
// are used again.
type slabs struct {
	words []int32
	free  [24][]int32 // places, by class
}

// take returns the place of a slab of a class, of so many zero words.
func (s *slabs) take(class, words int) int32 {
	at := len(s.words)
	if free := s.free[class]; len(free) > 0 {
		at = int(free[len(free)-1])
		s.free[class] = free[:len(free)-1]
	} else {
		if at+words > cap(s.words) {
			grown := make([]int32, at, spare(at+words))
			copy(grown, s.words)
			s.words = grown
		}
		s.words = s.words[:at+words]
	}
	clear(s.words[at : at+words])
	return int32(at)
}

// reset gives all slabs back.
func (s *slabs) reset() {
	s.words = s.words[:0]
	for i := range s.free {
		s.free[i] = s.free[i][:0]
	}
}

func (s *slabs) clone() slabs {
	c := slabs{words: slices.Clone(s.words)}
	for i := range s.free {
		c.free[i] = slices.Clone(s.free[i])
	}
	return c
}

func (s *slabs) give(class int, at int32) { s.free[class] = append(s.free[class], at) }

func (s *slabs) bytes() int {
	n := cap(s.words)
	for _, free := range s.free {
		n += cap(free)
	}
	return 4 * n
}

// byteSlabs are how many children a slab of bytes has, by class; direct is the last.
var byteSlabs = [...]int32{8, 16, 24, 32, 48, 64, 96, 256}

const (
	direct   = len(byteSlabs) - 1
	manyTags = 0xff
)

func byteSlabWords(class int) int {
	n := int(byteSlabs[class])
	if class == direct {
		return n
	}
	return n + n/4
}

// codeSlabs are how many children a slab of codes has, by class.
var codeSlabs = func() (n [24]int32) {
	copy(n[:], []int32{4, 6, 8, 12, 16})
	for i := firstHashed; i < len(n); i++ {
		n[i] = 32 << (i - firstHashed)
	}
	return n
}()

const firstHashed = 5

// child returns where the child of a node by a symbol stands, nil if there is none.
func (t *tree[S]) child(v int32, c S) *int32 {
	if v == 0 {
		if int(c) < len(t.root) && t.root[c] != 0 {
			return &t.root[c]
		}
		return nil
	}
	if narrow[S]() {
		return t.byteChild(t.nodes.at(v), uint32(c))
	}
	return t.codeChild(t.nodes.at(v), uint32(c))
}

// addChild gives a node a child by a symbol that it has none by.
func (t *tree[S]) addChild(v int32, c S, child int32) {
	switch {
	case v == 0:
		for int(c) >= len(t.root) {
			t.root = push(t.root, 0)
		}
		t.root[c] = child
	case narrow[S]():
		t.addByteChild(t.nodes.at(v), uint32(c), child)
	default:
		t.addCodeChild(t.nodes.at(v), uint32(c), child)
	}
}

// twoChildren gives a node its first two children.
func (t *tree[S]) twoChildren(v int32, c0 S, child0 int32, c1 S, child1 int32) {
	n := t.nodes.at(v)
	n.kids[0], n.kids[1] = child0, child1
	if narrow[S]() {
		n.tags = 2 | uint32(c0)<<8 | uint32(c1)<<16
	} else {
		n.kids[2], n.tags = int32(c0), uint32(c1)
	}
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

func (t *tree[S]) byteChild(n *node, c uint32) *int32 {
	count := n.tags & 0xff
	if count <= 3 {
		if n.tags>>8&0xff == c {
			return &n.kids[0]
		}
		if n.tags>>16&0xff == c {
			return &n.kids[1]
		}
		if count == 3 && n.tags>>24 == c {
			return &n.kids[2]
		}
		return nil
	}
	at, class := n.kids[0], int(n.kids[1])
	if class == direct {
		if p := &t.slabs.words[at+int32(c)]; *p != 0 {
			return p
		}
		return nil
	}
	size := byteSlabs[class]
	slab := t.slabs.words[at : at+size/4+size]
	pattern := everyByte * uint64(c)
	for i := 0; i < int(count); i += 8 {
		x := (uint64(uint32(slab[i/4])) | uint64(uint32(slab[i/4+1]))<<32) ^ pattern
		// The lowest byte that is zero, and maybe some above it.
		if zero := (x - everyByte) &^ x & highBits; zero != 0 {
			if k := i + bits.TrailingZeros64(zero)/8; k < int(count) {
				return &slab[int(size)/4+k]
			}
			return nil
		}
	}
	return nil
}

// eachChild calls f with the children of a node but the root.
func (t *tree[S]) eachChild(n *node, f func(c uint32, child *int32)) {
	if narrow[S]() {
		t.eachByteChild(n, f)
	} else {
		t.eachCodeChild(n, f)
	}
}

func (t *tree[S]) eachByteChild(n *node, f func(c uint32, child *int32)) {
	count, class := n.tags&0xff, int(n.kids[1])
	if count <= 3 {
		for i := range count {
			f(n.tags>>(8+8*i)&0xff, &n.kids[i])
		}
		return
	}
	slab := t.slabs.words[n.kids[0]:]
	if class == direct {
		for c := range uint32(256) {
			if slab[c] != 0 {
				f(c, &slab[c])
			}
		}
		return
	}
	for i := range count {
		f(uint32(slab[i/4])>>(8*(i%4))&0xff, &slab[uint32(byteSlabs[class]/4)+i])
	}
}

func (t *tree[S]) eachCodeChild(n *node, f func(c uint32, child *int32)) {
	if n.kids[0] != 0 {
		f(uint32(n.kids[2]), &n.kids[0])
		f(n.tags, &n.kids[1])
		return
	}
	class, size := n.kids[2], codeSlabs[n.kids[2]]
	slab := t.slabs.words[n.kids[1] : n.kids[1]+2*size]
	if class < firstHashed {
		for i := range n.tags {
			f(uint32(slab[i]), &slab[uint32(size)+i])
		}
		return
	}
	for i := int32(0); i < 2*size; i += 2 {
		if slab[i+1] != 0 {
			f(uint32(slab[i]), &slab[i+1])
		}
	}
}

func (t *tree[S]) addByteChild(n *node, c uint32, child int32) {
	count := n.tags & 0xff
	if count < 3 {
		n.kids[count] = child
		n.tags += 1 + c<<(8+8*count)
		return
	}
	if count == 3 {
		at := t.slabs.take(0, byteSlabWords(0))
		slab := t.slabs.words[at:]
		slab[0] = int32(n.tags >> 8)
		copy(slab[byteSlabs[0]/4:], n.kids[:])
		n.kids[0], n.kids[1] = at, 0
		n.tags = count
	}
	class := int(n.kids[1])
	if class != direct && int32(count) == byteSlabs[class] {
		class = t.growByteSlab(n, class, int32(count))
	}
	if class == direct {
		t.slabs.words[n.kids[0]+int32(c)] = child
		n.tags += 1 << 8
		return
	}
	slab := t.slabs.words[n.kids[0]:]
	slab[count/4] |= int32(c << (8 * (count % 4)))
	slab[byteSlabs[class]/4+int32(count)] = child
	n.tags++
}

// growByteSlab moves the children of a node, a full slab, to one of the next class.
func (t *tree[S]) growByteSlab(n *node, class int, count int32) (next int) {
	next = class + 1
	from := n.kids[0]
	to := t.slabs.take(next, byteSlabWords(next))
	old, slab := t.slabs.words[from:], t.slabs.words[to:]
	if next == direct {
		for i := range count {
			slab[byte(old[i/4]>>(8*(i%4)))] = old[count/4+i]
		}
		n.tags = manyTags | uint32(count)<<8
	} else {
		copy(slab, old[:count/4])
		copy(slab[byteSlabs[next]/4:], old[count/4:count/4+count])
	}
	t.slabs.give(class, from)
	n.kids[0], n.kids[1] = to, int32(next)
	return next
}

func (t *tree[S]) codeChild(n *node, c uint32) *int32 {
	if n.kids[0] != 0 {
		if uint32(n.kids[2]) == c {
			return &n.kids[0]
		}
		if n.tags == c {
			return &n.kids[1]
		}
		return nil
	}
	class, size := n.kids[2], codeSlabs[n.kids[2]]
	slab := t.slabs.words[n.kids[1] : n.kids[1]+2*size]
	if class < firstHashed {
		for i, x := range slab[:n.tags] {
			if uint32(x) == c {
				return &slab[int(size)+i]
			}
		}
		return nil
	}
	for i := codeSlot(c, size); ; i = (i + 1) & uint32(size-1) {
		if slab[2*i+1] == 0 {
			return nil
		}
		if uint32(slab[2*i]) == c {
			return &slab[2*i+1]
		}
	}
}

// codeSlot returns where a hashed slab of a size looks for a symbol first.
func codeSlot(c uint32, size int32) uint32 { return c * 0x9E3779B1 >> 7 & uint32(size-1) }

func (t *tree[S]) addCodeChild(n *node, c uint32, child int32) {
	if n.kids[0] != 0 {
		at := t.slabs.take(0, int(2*codeSlabs[0]))
		slab := t.slabs.words[at:]
		slab[0], slab[1] = n.kids[2], int32(n.tags)
		copy(slab[codeSlabs[0]:], n.kids[:2])
		n.kids, n.tags = [3]int32{0, at, 0}, 2
	}
	class := int(n.kids[2])
	full := codeSlabs[class]
	if class >= firstHashed {
		full -= full / 8
	}
	if int32(n.tags) == full {
		class = t.growCodeSlab(n, class)
	}
	size := codeSlabs[class]
	slab := t.slabs.words[n.kids[1]:]
	if class < firstHashed {
		slab[n.tags], slab[size+int32(n.tags)] = int32(c), child
	} else {
		putCode(slab, size, c, child)
	}
	n.tags++
}

func putCode(slab []int32, size int32, c uint32, child int32) {
	i := codeSlot(c, size)
	for slab[2*i+1] != 0 {
		i = (i + 1) & uint32(size-1)
	}
	slab[2*i], slab[2*i+1] = int32(c), child
}

// growCodeSlab moves the children of a node to a slab of the next class.
func (t *tree[S]) growCodeSlab(n *node, class int) (next int) {
	next = class + 1
	from, count := n.kids[1], int32(n.tags)
	size, room := codeSlabs[class], codeSlabs[next]
	to := t.slabs.take(next, int(2*room))
	old, slab := t.slabs.words[from:from+2*size], t.slabs.words[to:]
	switch {
	case next < firstHashed:
		copy(slab, old[:count])
		copy(slab[room:], old[size:size+count])
	case class < firstHashed:
		for i := range count {
			putCode(slab, room, uint32(old[i]), old[size+i])
		}
	default:
		for i := int32(0); i < 2*size; i += 2 {
			if old[i+1] != 0 {
				putCode(slab, room, uint32(old[i]), old[i+1])
			}
		}
	}
	t.slabs.give(class, from)
	n.kids[1], n.kids[2] = to, int32(next)
	return next
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
		t.removeByteChild(t.nodes.at(v), uint32(c))
	default:
		t.removeCodeChild(t.nodes.at(v), uint32(c))
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

func (t *tree[S]) removeByteChild(n *node, c uint32) {
	place, class, last := t.byteChild(n, c), int(n.kids[1]), n.tags&0xff-1
	switch {
	case last < 3:
		// The last one takes its place.
		for i := range last {
			if n.tags>>(8+8*i)&0xff == c {
				n.tags ^= (c ^ n.tags>>(8+8*last)&0xff) << (8 + 8*i)
			}
		}
		*place = n.kids[last]
		n.tags = n.tags&(1<<(8+8*last)-1) - 1
	case class == direct:
		*place = 0
		n.tags -= 1 << 8
	default:
		at := n.kids[0]
		slab := t.slabs.words[at:]
		symbols := uint32(byteSlabs[class] / 4)
		symbol := uint32(slab[last/4]) >> (8 * (last % 4)) & 0xff
		for i := range last {
			if uint32(slab[i/4])>>(8*(i%4))&0xff == c {
				slab[i/4] ^= int32((c ^ symbol) << (8 * (i % 4)))
			}
		}
		*place = slab[symbols+last]
		slab[last/4] &^= 0xff << (8 * (last % 4))
		n.tags--
		if last == 3 {
			n.tags = 3 | uint32(slab[0])<<8
			copy(n.kids[:], slab[symbols:symbols+3])
			t.slabs.give(class, at)
		}
	}
}

func (t *tree[S]) removeCodeChild(n *node, c uint32) {
	place, at, class := t.codeChild(n, c), n.kids[1], int(n.kids[2])
	size := codeSlabs[class]
	slab := t.slabs.words[at : at+2*size]
	n.tags--
	if class >= firstHashed {
		takeCode(slab, size, c)
		return
	}
	last := int32(n.tags)
	for i := range last {
		if uint32(slab[i]) == c {
			slab[i] = slab[last]
		}
	}
	*place = slab[size+last]
	if last == 2 {
		n.kids, n.tags = [3]int32{slab[size], slab[size+1], slab[0]}, uint32(slab[1])
		t.slabs.give(class, at)
	}
}

// takeCode removes a symbol from a hashed slab: what follows it moves up unless it is at
// its first place then.
func takeCode(slab []int32, size int32, c uint32) {
	mask := uint32(size - 1)
	i := codeSlot(c, size)
	for uint32(slab[2*i]) != c || slab[2*i+1] == 0 {
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		if slab[2*j+1] == 0 {
			break
		}
		// From its first place to j, is i passed?
		if home := codeSlot(uint32(slab[2*j]), size); (j-home)&mask >= (j-i)&mask {
			slab[2*i], slab[2*i+1] = slab[2*j], slab[2*j+1]
			i = j
		}
	}
	slab[2*i], slab[2*i+1] = 0, 0
}
