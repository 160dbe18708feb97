package rosa

import (
	"slices"
	"unsafe"
)

// class is a state of an automaton: the substrings of its text that end at the same
// positions, of which each is a suffix of the longest. Its branches are its transitions.
type class struct {
	length    int32 // of the longest substring
	link      int32 // class of its longest suffix that also ends elsewhere
	frequency int32 // number of ends
	ends      int32 // the newest; the number of a ring where more are kept and there are
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
	a := &automaton{classes: make([]class, 1, 8), root: make([]int32, 256)}
	for 1<<a.rings.shift < ends {
		a.rings.shift++
	}
	return a
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
		a.paths.owed.words = slices.Grow(a.paths.owed.words, n<<a.rings.shift)
	}
}

// split makes a class of those substrings of class q that are a suffix of the text: they
// are those that symbol c makes of class p and of those on its links.
func (a *automaton) split(q, p int32, c uint32) int32 {
	if a.paths.used() {
		a.splay(q)
	}
	m, n := int32(len(a.classes)), a.classes[q]
	n.length = a.classes[p].length + 1
	a.copyEdges(&n)
	if a.rings.shift > 0 && n.frequency > 1 {
		ring := a.rings.add()
		copy(a.rings.at(ring), a.rings.at(n.ends))
		n.ends = ring
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
		a.paths.touch(v, end)
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
		a.paths.build(a.classes, a.rings.shift)
	}
}

// addEnd adds an end to a class.
func (a *automaton) addEnd(s *class, end int32) {
	if a.rings.shift == 0 {
		s.ends = end
	} else {
		if s.frequency == 1 {
			a.addRing(s)
		}
		ring := a.rings.at(s.ends)
		ring[int(s.frequency)&(len(ring)-1)] = end
	}
	s.frequency++
}

// addRing gives a class that has one end a ring of ends.
func (a *automaton) addRing(s *class) {
	ring := a.rings.add()
	a.rings.at(ring)[0] = s.ends
	s.ends = ring
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
		rings: rings{words: a.rings.words[:0], shift: a.rings.shift},
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

// rings is memory for sequences of which the last 1<<shift are kept: number k, from 0 on,
// at place k modulo that.
type rings struct {
	words []int32
	shift uint8
}

// add returns the number of a new ring. What it holds is undefined.
func (r *rings) add() int32 {
	at, size := len(r.words), r.size()
	r.words = slices.Grow(r.words, size)[:at+size]
	return int32(at >> (r.shift & 31))
}

// at returns a ring.
func (r *rings) at(ring int32) []int32 {
	at := int(ring) << (r.shift & 31) // the mask spares the compiler a look at large shifts
	return r.words[at : at+r.size()]
}

// size returns how many a ring has.
func (r *rings) size() int { return 1 << (r.shift & 31) }

// pour appends a sequence of n to one of m, both in rings of the same size.
func pour(dst []int32, m int32, src []int32, n int32) {
	mask := int32(len(dst) - 1)
	for k := max(0, n-int32(len(dst))); k < n; k++ {
		dst[(m+k)&mask] = src[k&mask]
	}
}

func (r *rings) clone() rings { return rings{slices.Clone(r.words), r.shift} }

func (r *rings) bytes() int { return 4 * cap(r.words) }
