package rosa

import "math/bits"

// How the transitions of a class are kept: as the children of a node are, but there may be
// none or one, and none goes away.
//
// By bytes, up to three are in the class: next are where they lead, symbols their number
// and, in the bytes above it, their symbols. Of more, next[0] is the place of a slab and
// next[1] its class: first the symbols, four a word, then where they lead in the same
// order; a slab of the last class has 256 by symbol, and symbols is manyTags.
//
// By codes, up to two: next[0] and next[1], 0 if there is none, by next[2] and symbols. Of
// more, next[0] is hasSlab, next[1] the place of the slab, next[2] its class and symbols the
// number of transitions; from class firstHashed on it is a hash table of pairs.
//
// The root is apart: automaton.root.

const hasSlab = -1

// edge returns where the transition of a class by a symbol stands, nil if there is none.
func (a *automaton) edge(n *class, c uint32) *int32 {
	if a.wide {
		return a.codeEdge(n, c)
	}
	switch n.symbols & 0xff {
	case 3:
		if n.symbols>>24 == c {
			return &n.next[2]
		}
		fallthrough
	case 2:
		if n.symbols>>16&0xff == c {
			return &n.next[1]
		}
		fallthrough
	case 1:
		if n.symbols>>8&0xff == c {
			return &n.next[0]
		}
		fallthrough
	case 0:
		return nil
	}
	return a.byteEdge(n, c)
}

// byteEdge is edge by a byte of a class with a slab.
func (a *automaton) byteEdge(n *class, c uint32) *int32 {
	at, kind := n.next[0], n.next[1]
	if int(kind) == direct {
		if p := &a.slabs.words[at+int32(c)]; *p != 0 {
			return p
		}
		return nil
	}
	size, count := byteSlabs[kind], int(n.symbols)
	slab := a.slabs.words[at : at+size/4+size]
	pattern := everyByte * uint64(c)
	for i := 0; i < count; i += 8 {
		x := (uint64(uint32(slab[i/4])) | uint64(uint32(slab[i/4+1]))<<32) ^ pattern
		// The lowest byte that is zero, and maybe some above it.
		if zero := (x - everyByte) &^ x & highBits; zero != 0 {
			if k := i + bits.TrailingZeros64(zero)/8; k < count {
				return &slab[int(size)/4+k]
			}
			return nil
		}
	}
	return nil
}

// codeEdge is edge by a code.
func (a *automaton) codeEdge(n *class, c uint32) *int32 {
	if n.next[0] != hasSlab {
		if n.next[0] != 0 && uint32(n.next[2]) == c {
			return &n.next[0]
		}
		if n.next[1] != 0 && n.symbols == c {
			return &n.next[1]
		}
		return nil
	}
	kind, size := n.next[2], codeSlabs[n.next[2]]
	slab := a.slabs.words[n.next[1] : n.next[1]+2*size]
	if kind < firstHashed {
		for i, x := range slab[:n.symbols] {
			if uint32(x) == c {
				return &slab[int(size)+i]
			}
		}
		return nil
	}
	for i := codeSlot(c, size); slab[2*i+1] != 0; i = (i + 1) & uint32(size-1) {
		if uint32(slab[2*i]) == c {
			return &slab[2*i+1]
		}
	}
	return nil
}

// addEdge gives a class a transition by a symbol that it has none by.
func (a *automaton) addEdge(n *class, c uint32, to int32) {
	if a.wide {
		a.addCodeEdge(n, c, to)
		return
	}
	count := n.symbols & 0xff
	if count < 3 {
		n.next[count] = to
		n.symbols += 1 + c<<(8+8*count)
		return
	}
	if count == 3 {
		at := a.slabs.take(0, byteSlabWords(0))
		slab := a.slabs.words[at:]
		slab[0] = int32(n.symbols >> 8)
		copy(slab[byteSlabs[0]/4:], n.next[:])
		n.next, n.symbols = [3]int32{at, 0}, 3
	}
	kind := n.next[1]
	if int(kind) != direct && int32(count) == byteSlabs[kind] {
		a.growByteSlab(n)
		kind = n.next[1]
	}
	slab := a.slabs.words[n.next[0]:]
	if int(kind) == direct {
		slab[c] = to
		return
	}
	slab[count/4] |= int32(c << (8 * (count % 4)))
	slab[byteSlabs[kind]/4+int32(count)] = to
	n.symbols++
}

// growByteSlab moves the transitions of a class, a full slab, to one of the next class.
func (a *automaton) growByteSlab(n *class) {
	from, kind, count := n.next[0], int(n.next[1]), byteSlabs[n.next[1]]
	to := a.slabs.take(kind+1, byteSlabWords(kind+1))
	old, slab := a.slabs.words[from:], a.slabs.words[to:]
	if kind+1 == direct {
		for i := range count {
			slab[byte(old[i/4]>>(8*(i%4)))] = old[count/4+i]
		}
		n.symbols = manyTags
	} else {
		copy(slab, old[:count/4])
		copy(slab[byteSlabs[kind+1]/4:], old[count/4:count/4+count])
	}
	a.slabs.give(kind, from)
	n.next[0], n.next[1] = to, int32(kind+1)
}

func (a *automaton) addCodeEdge(n *class, c uint32, to int32) {
	switch {
	case n.next[0] == 0:
		n.next[0], n.next[2] = to, int32(c)
		return
	case n.next[0] != hasSlab && n.next[1] == 0:
		n.next[1], n.symbols = to, c
		return
	case n.next[0] != hasSlab:
		at := a.slabs.take(0, int(2*codeSlabs[0]))
		slab := a.slabs.words[at:]
		slab[0], slab[1] = n.next[2], int32(n.symbols)
		copy(slab[codeSlabs[0]:], n.next[:2])
		n.next, n.symbols = [3]int32{hasSlab, at, 0}, 2
	}
	full := codeSlabs[n.next[2]]
	if n.next[2] >= firstHashed {
		full -= full / 8
	}
	if int32(n.symbols) == full {
		a.growCodeSlab(n)
	}
	size := codeSlabs[n.next[2]]
	slab := a.slabs.words[n.next[1]:]
	if n.next[2] < firstHashed {
		slab[n.symbols], slab[size+int32(n.symbols)] = int32(c), to
	} else {
		putCode(slab, size, c, to)
	}
	n.symbols++
}

// growCodeSlab moves the transitions of a class, a full slab, to one of the next class.
func (a *automaton) growCodeSlab(n *class) {
	from, kind, count := n.next[1], int(n.next[2]), int32(n.symbols)
	size, room := codeSlabs[kind], codeSlabs[kind+1]
	to := a.slabs.take(kind+1, int(2*room))
	old, slab := a.slabs.words[from:from+2*size], a.slabs.words[to:]
	switch {
	case kind+1 < firstHashed:
		copy(slab, old[:count])
		copy(slab[room:], old[size:size+count])
	case kind < firstHashed:
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
	a.slabs.give(kind, from)
	n.next[1], n.next[2] = to, int32(kind+1)
}

// copyEdges gives a class that is a copy of another a slab of its own, if that has one.
func (a *automaton) copyEdges(n *class) {
	switch {
	case a.wide && n.next[0] == hasSlab:
		n.next[1] = a.copySlab(int(n.next[2]), n.next[1], int(2*codeSlabs[n.next[2]]))
	case !a.wide && n.symbols&0xff > 3:
		n.next[0] = a.copySlab(int(n.next[1]), n.next[0], byteSlabWords(int(n.next[1])))
	}
}

// copySlab returns the place of a copy of a slab.
func (a *automaton) copySlab(kind int, from int32, words int) int32 {
	to := a.slabs.take(kind, words)
	copy(a.slabs.words[to:int(to)+words], a.slabs.words[from:])
	return to
}

// widen makes the symbols codes, which the bytes equal. O(length).
func (a *automaton) widen() {
	old := a.slabs
	a.slabs, a.wide = slabs{}, true
	for v := 1; v < len(a.classes); v++ {
		n := &a.classes[v]
		next, symbols := n.next, n.symbols
		n.next, n.symbols = [3]int32{}, 0
		switch count := symbols & 0xff; {
		case count <= 3:
			for i := range count {
				a.addCodeEdge(n, symbols>>(8+8*i)&0xff, next[i])
			}
		case int(next[1]) == direct:
			for c, to := range old.words[next[0] : next[0]+256] {
				if to != 0 {
					a.addCodeEdge(n, uint32(c), to)
				}
			}
		default:
			slab := old.words[next[0]:]
			for i := range count {
				a.addCodeEdge(n, uint32(slab[i/4])>>(8*(i%4))&0xff, slab[uint32(byteSlabs[next[1]]/4)+i])
			}
		}
	}
}
