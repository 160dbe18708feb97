package rosa

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// class is a state of an automaton: the substrings of its text that end at the same
// positions, of which each is a suffix of the longest. Its branches are its transitions.
type class struct {
	length    int32 // of the longest substring
	link      int32 // class of its longest suffix that also ends elsewhere
	frequency int32 // number of ends
	ends      int32 // the newest; the place of a ring where more are kept and there are
	branches
}

// automaton is the suffix automaton of a text that grows at its end (Blumer, Blumer,
// Haussler, Ehrenfeucht, Chen and Seiferas, The smallest automaton recognizing the subwords
// of a text, Theoretical Computer Science 40, 1985), whose classes know how often they
// occur and where they did last.
//
//   - Classes are numbered as they are made: the root is 0, a symbol makes the class of the
//     text that it ends, and then the one that it splits off another, if it does.
//   - The suffixes of the text are the classes on the links from the last one. A symbol adds
//     an end to each of them: it climbs. When climbs have cost more than climbsPerLeaf
//     allows, the links are arranged as a link-cut tree, once; see automatonpaths.go.
//
// The text itself is not kept.
type automaton struct {
	classes []class
	last    int32   // the class of the whole text
	root    []int32 // transitions of the root by symbol; 0 is none
	slabs   slabs
	wide    bool // symbols are codes and not bytes

	rings  rings // of the newest ends, where more than one is kept
	climbs int64
	paths  classPaths // of the classes, if used
}

// newAutomaton returns the automaton of the empty text of bytes, which keeps so many ends a
// class at least.
func newAutomaton(ends int) *automaton {
	return &automaton{classes: make([]class, 1, 8), root: make([]int32, 256), rings: newRings(ends)}
}

// len returns the length of the text.
func (a *automaton) len() int { return int(a.classes[a.last].length) }

// extend appends a symbol to the text and returns the class of the longest suffix that
// occurs earlier, 0 if none does. That class and those on its links have not heard of the
// new end: touch tells them. Amortised O(1), and O(log n) by the link-cut tree.
func (a *automaton) extend(c uint32) int32 {
	end, cur, p := a.classes[a.last].length, int32(len(a.classes)), a.last
	if len(a.classes)+2 > cap(a.classes) {
		a.reserve(len(a.classes)/2 + 8)
	}
	a.classes = append(a.classes, class{length: end + 1, frequency: 1, ends: end})
	if a.paths.used() {
		a.paths.add()
	}
	a.last = cur
	q := int32(0)
	for p != 0 {
		n := &a.classes[p]
		if t := a.edge(n, c); t != nil {
			q = *t
			break
		}
		a.addEdge(n, c, cur)
		p = n.link
	}
	if p == 0 {
		for int(c) >= len(a.root) {
			a.root = push(a.root, 0)
		}
		if q = a.root[c]; q == 0 {
			a.root[c] = cur
			return 0
		}
	}
	if a.classes[p].length+1 != a.classes[q].length {
		q = a.split(q, p, c)
	}
	a.classes[cur].link = q
	if a.paths.used() {
		a.paths.nodes[cur].parent = q
	}
	return q
}

// reserve makes room for so many classes.
func (a *automaton) reserve(n int) {
	a.classes = slices.Grow(a.classes, n)
	if a.paths.used() {
		a.paths.nodes = slices.Grow(a.paths.nodes, n)
	}
}

// split makes a class of those substrings of class q that are a suffix of the text: they
// are those that symbol c makes of class p and of those on its links.
func (a *automaton) split(q, p int32, c uint32) int32 {
	if a.paths.used() {
		a.splay(q)
	}
	a.spareRings(1)
	m, n := int32(len(a.classes)), a.classes[q]
	n.length = a.classes[p].length + 1
	a.copyEdges(&n)
	if a.rings.shift > 0 && n.frequency > 1 {
		n.ends = a.rings.copy(&a.rings, n.ends, n.frequency)
	}
	a.classes = append(a.classes, n)
	a.classes[q].link = m
	if a.paths.used() {
		a.paths.insert(m, q)
	}
	for ; p != 0; p = a.classes[p].link {
		t := a.edge(&a.classes[p], c)
		if *t != q {
			return m
		}
		*t = m
	}
	if a.root[c] == q {
		a.root[c] = m
	}
	return m
}

// touch adds an end to class v and those on its links. By the link-cut tree, v has been
// accessed.
func (a *automaton) touch(v, end int32) {
	if a.paths.used() {
		a.touchPath(v, end)
		return
	}
	n := int64(0)
	for ; v != 0; n++ {
		s := &a.classes[v]
		a.addEnd(s, end)
		v = s.link
	}
	a.climbs += n
	if a.climbs > climbsPerLeaf*int64(end)+climbsAtLeast {
		a.paths.build(a.classes)
	}
}

// addEnd adds an end to a class.
func (a *automaton) addEnd(s *class, end int32) {
	if a.rings.shift == 0 {
		s.ends = end
	} else {
		a.push(&s.ends, s.frequency, end)
	}
	s.frequency++
}

// push appends an end to a sequence of n > 0, where more than one is kept. The sequence is
// that of a class or a node.
func (a *automaton) push(at *int32, n, end int32) {
	r := &a.rings
	size := r.shift
	if n == 1 || r.least != size {
		if size = r.bits(n + 1); n == 1 || n == 1<<(size-1) && size > r.least {
			a.spareRings(1)
			size = r.bits(n + 1)
			r.enlarge(at, n, size)
		}
	}
	r.words[int(*at)<<(r.least&31)+int(n)&(1<<(size&31)-1)] = end
}

// spareRings makes sure that there are places for so many more rings of any size. If there
// might not be, places become those of units twice as large, and all rings move, in time of
// the classes: O(1) amortised, since memory has doubled.
func (a *automaton) spareRings(n int) {
	for !a.rings.fits(n) {
		old := a.rings
		a.rings.words, a.rings.free = nil, [maxRing + 1]int32{}
		a.rings.least++
		for v := range a.classes {
			if s := &a.classes[v]; s.frequency > 1 {
				s.ends = a.rings.copy(&old, s.ends, s.frequency)
			}
		}
		for v := range a.paths.nodes {
			if u := &a.paths.nodes[v]; u.owes > 1 {
				u.end = a.rings.copy(&old, u.end, u.owes)
			}
		}
	}
}

// bytes returns the memory of the automaton.
func (a *automaton) bytes() int {
	if a == nil {
		return 0
	}
	return int(unsafe.Sizeof(class{}))*cap(a.classes) + 4*cap(a.root) + a.slabs.bytes() + a.rings.bytes() + a.paths.bytes()
}

// reset makes the automaton that of the empty text, in the memory that it has. O(length).
func (a *automaton) reset() {
	a.root = a.root[:256] // extend puts 0 where it makes it longer
	clear(a.root)
	a.slabs.reset()
	a.classes[0] = class{}
	*a = automaton{
		classes: a.classes[:1], root: a.root, slabs: a.slabs, wide: a.wide,
		rings: a.rings.emptied(),
	}
}

func (a *automaton) clone() *automaton {
	if a == nil {
		return nil
	}
	c := *a
	c.classes, c.root, c.slabs = slices.Clone(a.classes), slices.Clone(a.root), a.slabs.clone()
	c.rings, c.paths = a.rings.clone(), a.paths.clone()
	return &c
}

// rings is memory for sequences of ends, of which the last 1<<shift are kept. Of n > 1 ends
// they lie in a ring of bits(n), number k, from 0 on, at place k modulo its size: of two to
// four ends in a ring of four, of more in one of the next power of two, up to 1<<shift. So
// there are more places than ends, but less than twice as many, or four.
//
// A ring that is outgrown or given back is used again, as it is or in pieces. The place of a
// ring is in units of the smallest.
type rings struct {
	words []int32
	free  [maxRing + 1]int32 // by bits: place of the first, and 1, or 0; its first word is the next
	shift uint8
	least uint8 // bits of the smallest
	most  int32 // units; less in tests
}

// maxRing is the bits of the largest ring: maxCandidates ends.
const maxRing = 12

// newRings returns rings that keep so many ends at least.
func newRings(ends int) rings {
	return rings{shift: uint8(bits.Len(uint(ends - 1))), most: math.MaxInt32}.emptied()
}

// emptied returns rings without any, in the same memory.
func (r rings) emptied() rings {
	return rings{words: r.words[:0], shift: r.shift, least: min(r.shift, 2), most: r.most}
}

// bits returns the logarithm of the size of a ring of n > 1 ends.
func (r *rings) bits(n int32) uint8 {
	if r.least == r.shift {
		return r.shift
	}
	return min(r.shift, max(r.least, uint8(bits.Len32(uint32(n-1)))))
}

// at returns the ring of n > 1 ends at a place.
func (r *rings) at(place, n int32) []int32 {
	from := int(place) << (r.least & 31) // the masks spare the compiler a look at large shifts
	return r.words[from : from+1<<(r.bits(n)&31)]
}

// fits reports whether there are places for n more rings of any size. Where all have one,
// there are: there are no more rings than classes and nodes.
func (r *rings) fits(n int) bool {
	return r.least == r.shift || len(r.words)>>r.least+n<<(r.shift-r.least) <= int(r.most)
}

// take returns the place of a ring, which may hold anything. It may move all rings.
func (r *rings) take(size uint8) int32 {
	for larger := size; larger <= r.shift; larger++ {
		place := r.free[larger] - 1
		if place < 0 {
			continue
		}
		r.free[larger] = r.words[int(place)<<r.least]
		for larger > size {
			larger--
			r.give(place+1<<(larger-r.least), larger)
		}
		return place
	}
	n := len(r.words)
	r.words = slices.Grow(r.words, 1<<size)[:n+1<<size]
	return int32(n >> r.least)
}

// give says that a ring is not used any more.
func (r *rings) give(place int32, size uint8) {
	r.words[int(place)<<r.least] = r.free[size]
	r.free[size] = place + 1
}

// copy returns the place of a copy of n > 1 ends in other rings, or in these.
func (r *rings) copy(from *rings, place, n int32) int32 {
	c := r.take(r.bits(n))
	copy(r.at(c, n), from.at(place, n))
	return c
}

// enlarge moves n > 0 ends into a ring with room for more.
func (r *rings) enlarge(at *int32, n int32, size uint8) {
	place := r.take(size)
	if n == 1 {
		r.words[int(place)<<r.least] = *at
	} else {
		// None of them is at the place of another in the larger.
		copy(r.words[int(place)<<r.least:], r.at(*at, n)[:n])
		r.give(*at, r.bits(n))
	}
	*at = place
}

// pour appends m > 1 ends, which are in a ring, to n.
func (r *rings) pour(at *int32, n, place, m int32) {
	size := r.bits(n + m)
	switch {
	case n == 0:
		*at = r.take(size)
	case n == 1 || r.bits(n) < size:
		r.enlarge(at, n, size)
	}
	dst, src := r.at(*at, n+m), r.at(place, m)
	for k := max(0, m-int32(len(dst))); k < m; k++ {
		dst[int(n+k)&(len(dst)-1)] = src[int(k)&(len(src)-1)]
	}
}

func (r *rings) clone() rings {
	c := *r
	c.words = slices.Clone(r.words)
	return c
}

func (r *rings) bytes() int { return 4 * cap(r.words) }
