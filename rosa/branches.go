package rosa

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// branches are the children of a node of a tree, or the transitions of a class of an
// automaton: numbers but 0, by symbol. What does not fit them is in slabs.
//
// Of bytes, up to three are in kids; tags is their number and, in the bytes above it, their
// symbols. Of more, kids[0] is the place of a slab and kids[1] its class: first the symbols,
// four a word, then the children in the same order; a slab of the last class has 256
// children by symbol, and tags is manyTags plus their number times 256.
//
// Of codes, up to two are kids[0] and kids[1], 0 where there is none, by the symbols kids[2]
// and tags. Of more, kids[0] is 0, kids[1] the place of a slab, kids[2] its class and tags
// the number of children: symbols, then children; from class firstHashed on a hash table of
// pairs.
type branches struct {
	kids [3]int32
	tags uint32
}

// slabs is the memory of children that do not fit their nodes, in chunks, so that it stays
// where it is when more comes. Slabs that were outgrown are used again.
//
// Words are counted through all chunks, and a slab is at place p, without a sign: from word
// 2·p on, since all have an even number of words. One that is larger than a chunk has as
// many chunks as it takes, of which the first holds all.
type slabs struct {
	chunks [][]int32
	end    int              // word behind the last slab in the chunk that is being filled
	spare  []int32          // chunks that hold no slab
	free   [classes][]int32 // places, by class
}

// A slab of codes of the last class has room for all children that a node may have.
const classes = 32

const slabChunkBits, slabChunk = 12, 1 << 12

// at returns the words from a place on.
func (s *slabs) at(place int32) []int32 {
	p := uint32(place)
	return s.chunks[p>>(slabChunkBits-1)][p<<1&(slabChunk-1):]
}

// take returns the place of a slab of a class, of so many zero words.
func (s *slabs) take(class, words int) int32 {
	if free := s.free[class]; len(free) > 0 {
		at := free[len(free)-1]
		s.free[class] = free[:len(free)-1]
		clear(s.at(at)[:words])
		return at
	}
	if words > slabChunk {
		return s.takeLarge(words)
	}
	if word := s.end; word&(slabChunk-1) != 0 && word&(slabChunk-1)+words <= slabChunk {
		s.end += words
		return placeOf(word)
	}
	chunk := len(s.chunks)
	if n := len(s.spare); n > 0 {
		chunk = int(s.spare[n-1])
		s.spare = s.spare[:n-1]
		clear(s.chunks[chunk])
	} else {
		s.chunks = append(s.chunks, make([]int32, slabChunk))
	}
	s.end = chunk<<slabChunkBits + words
	return placeOf(chunk << slabChunkBits)
}

// placeOf returns the place of a word.
func placeOf(word int) int32 { return int32(uint32(word >> 1)) }

// takeLarge is take of more than a chunk.
func (s *slabs) takeLarge(words int) int32 {
	first := len(s.chunks)
	s.chunks = append(s.chunks, make([]int32, words))
	for n := slabChunk; n < words; n += slabChunk {
		s.chunks = append(s.chunks, nil)
	}
	return placeOf(first << slabChunkBits)
}

// reset gives all slabs back.
func (s *slabs) reset() {
	s.end, s.spare = 0, s.spare[:0]
	for i := range s.free {
		s.free[i] = s.free[i][:0]
	}
	for i, chunk := range s.chunks {
		switch {
		case len(chunk) == slabChunk:
			s.spare = append(s.spare, int32(i))
		case chunk != nil:
			class := slices.Index(codeSlabs[:], len(chunk)/2)
			s.give(class, placeOf(i<<slabChunkBits))
		}
	}
}

func (s *slabs) clone() slabs {
	c := slabs{chunks: make([][]int32, len(s.chunks)), end: s.end, spare: slices.Clone(s.spare)}
	for i, chunk := range s.chunks {
		c.chunks[i] = slices.Clone(chunk)
	}
	for i := range s.free {
		c.free[i] = slices.Clone(s.free[i])
	}
	return c
}

func (s *slabs) give(class int, at int32) { s.free[class] = append(s.free[class], at) }

func (s *slabs) bytes() int {
	n := cap(s.spare)
	for _, chunk := range s.chunks {
		n += cap(chunk)
	}
	for _, free := range s.free {
		n += cap(free)
	}
	return 4*n + cap(s.chunks)*int(unsafe.Sizeof([]int32{}))
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
var codeSlabs = func() (n [classes]int) {
	copy(n[:], []int{4, 6, 8, 12, 16})
	for i := firstHashed; i < len(n); i++ {
		n[i] = 32 << (i - firstHashed)
	}
	return n
}()

const firstHashed = 5

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// byteBranch returns where the child by a byte stands, nil if there is none.
func (s *slabs) byteBranch(n *branches, c uint32) *int32 {
	count := n.tags & 0xff
	if count <= 3 {
		// Which of them it is cannot be foretold, so that a branch for each would cost more.
		x := n.tags>>8 ^ everyByte&0xffffff*c
		zero := (x - everyByte&0xffffff) &^ x & (highBits & 0xffffff)
		if k := uint32(bits.TrailingZeros32(zero)) / 8; k < count {
			return &n.kids[k]
		}
		return nil
	}
	slab, class := s.at(n.kids[0]), int(n.kids[1])
	if class == direct {
		if p := &slab[c]; *p != 0 {
			return p
		}
		return nil
	}
	size := byteSlabs[class]
	slab = slab[:size/4+size]
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

// eachByte calls f with the children by bytes.
func (s *slabs) eachByte(n *branches, f func(c uint32, child *int32)) {
	count, class := n.tags&0xff, int(n.kids[1])
	if count <= 3 {
		for i := range count {
			f(n.tags>>(8+8*i)&0xff, &n.kids[i])
		}
		return
	}
	slab := s.at(n.kids[0])
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

// eachCode calls f with the children by codes, two at least.
func (s *slabs) eachCode(n *branches, f func(c uint32, child *int32)) {
	if n.kids[0] != 0 {
		f(uint32(n.kids[2]), &n.kids[0])
		f(n.tags, &n.kids[1])
		return
	}
	class, size := n.kids[2], codeSlabs[n.kids[2]]
	slab := s.at(n.kids[1])[:2*size]
	if class < firstHashed {
		for i := range n.tags {
			f(uint32(slab[i]), &slab[size+int(i)])
		}
		return
	}
	for i := 0; i < 2*size; i += 2 {
		if slab[i+1] != 0 {
			f(uint32(slab[i]), &slab[i+1])
		}
	}
}

// addByte adds a child by a byte that there is none by.
func (s *slabs) addByte(n *branches, c uint32, child int32) {
	count := n.tags & 0xff
	if count < 3 {
		n.kids[count] = child
		n.tags += 1 + c<<(8+8*count)
		return
	}
	if count == 3 {
		at := s.take(0, byteSlabWords(0))
		slab := s.at(at)
		slab[0] = int32(n.tags >> 8)
		copy(slab[byteSlabs[0]/4:], n.kids[:])
		n.kids[0], n.kids[1] = at, 0
		n.tags = count
	}
	class := int(n.kids[1])
	if class != direct && int32(count) == byteSlabs[class] {
		class = s.growByteSlab(n, class, int32(count))
	}
	if class == direct {
		s.at(n.kids[0])[c] = child
		n.tags += 1 << 8
		return
	}
	slab := s.at(n.kids[0])
	slab[count/4] |= int32(c << (8 * (count % 4)))
	slab[byteSlabs[class]/4+int32(count)] = child
	n.tags++
}

// growByteSlab moves the children of a node, a full slab, to one of the next class.
func (s *slabs) growByteSlab(n *branches, class int, count int32) (next int) {
	next = class + 1
	from := n.kids[0]
	to := s.take(next, byteSlabWords(next))
	old, slab := s.at(from), s.at(to)
	if next == direct {
		for i := range count {
			slab[byte(old[i/4]>>(8*(i%4)))] = old[count/4+i]
		}
		n.tags = manyTags | uint32(count)<<8
	} else {
		copy(slab, old[:count/4])
		copy(slab[byteSlabs[next]/4:], old[count/4:count/4+count])
	}
	s.give(class, from)
	n.kids[0], n.kids[1] = to, int32(next)
	return next
}

// codeBranch is byteBranch of a code.
func (s *slabs) codeBranch(n *branches, c uint32) *int32 {
	if n.kids[0] != 0 {
		if uint32(n.kids[2]) == c {
			return &n.kids[0]
		}
		if n.tags == c && n.kids[1] != 0 {
			return &n.kids[1]
		}
		return nil
	}
	if n.tags == 0 {
		return nil
	}
	class, size := n.kids[2], codeSlabs[n.kids[2]]
	slab := s.at(n.kids[1])[:2*size]
	if class < firstHashed {
		for i, x := range slab[:n.tags] {
			if uint32(x) == c {
				return &slab[size+i]
			}
		}
		return nil
	}
	for i := codeSlot(c, size); ; i = (i + 1) & (size - 1) {
		if slab[2*i+1] == 0 {
			return nil
		}
		if uint32(slab[2*i]) == c {
			return &slab[2*i+1]
		}
	}
}

// codeSlot returns where a hashed slab of a size looks for a symbol first: by multiplication
// with a number that nobody knows, so that nobody can choose symbols that meet.
func codeSlot(c uint32, size int) int { return int(uint64(c)*seed>>32) & (size - 1) }

// seed is an odd number, another in each process. No answer depends on it.
var seed = rand.Uint64() | 1

// addCode is addByte of a code.
func (s *slabs) addCode(n *branches, c uint32, child int32) {
	switch {
	case n.kids[0] == 0 && n.tags == 0:
		n.kids[0], n.kids[2] = child, int32(c)
		return
	case n.kids[0] != 0 && n.kids[1] == 0:
		n.kids[1], n.tags = child, c
		return
	case n.kids[0] != 0:
		at := s.take(0, 2*codeSlabs[0])
		slab := s.at(at)
		slab[0], slab[1] = n.kids[2], int32(n.tags)
		copy(slab[codeSlabs[0]:], n.kids[:2])
		n.kids, n.tags = [3]int32{0, at, 0}, 2
	}
	class := int(n.kids[2])
	full := codeSlabs[class]
	if class >= firstHashed {
		full -= full / 8
	}
	if int(n.tags) == full {
		class = s.growCodeSlab(n, class)
	}
	size := codeSlabs[class]
	slab := s.at(n.kids[1])
	if class < firstHashed {
		slab[n.tags], slab[size+int(n.tags)] = int32(c), child
	} else {
		putCode(slab, size, c, child)
	}
	n.tags++
}

func putCode(slab []int32, size int, c uint32, child int32) {
	i := codeSlot(c, size)
	for slab[2*i+1] != 0 {
		i = (i + 1) & (size - 1)
	}
	slab[2*i], slab[2*i+1] = int32(c), child
}

// growCodeSlab moves the children of a node to a slab of the next class.
func (s *slabs) growCodeSlab(n *branches, class int) (next int) {
	next = class + 1
	from, count := n.kids[1], int(n.tags)
	size, room := codeSlabs[class], codeSlabs[next]
	to := s.take(next, 2*room)
	old, slab := s.at(from)[:2*size], s.at(to)
	switch {
	case next < firstHashed:
		copy(slab, old[:count])
		copy(slab[room:], old[size:size+count])
	case class < firstHashed:
		for i := range count {
			putCode(slab, room, uint32(old[i]), old[size+i])
		}
	default:
		for i := 0; i < 2*size; i += 2 {
			if old[i+1] != 0 {
				putCode(slab, room, uint32(old[i]), old[i+1])
			}
		}
	}
	s.give(class, from)
	n.kids[1], n.kids[2] = to, int32(next)
	return next
}

// removeByte removes the child by a byte; two at least stay.
func (s *slabs) removeByte(n *branches, c uint32) {
	place, class, last := s.byteBranch(n, c), int(n.kids[1]), n.tags&0xff-1
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
		slab := s.at(at)
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
			s.give(class, at)
		}
	}
}

// removeCode is removeByte of a code.
func (s *slabs) removeCode(n *branches, c uint32) {
	place, at, class := s.codeBranch(n, c), n.kids[1], int(n.kids[2])
	size := codeSlabs[class]
	slab := s.at(at)[:2*size]
	n.tags--
	if class >= firstHashed {
		takeCode(slab, size, c)
		return
	}
	last := int(n.tags)
	for i := range last {
		if uint32(slab[i]) == c {
			slab[i] = slab[last]
		}
	}
	*place = slab[size+last]
	if last == 2 {
		n.kids, n.tags = [3]int32{slab[size], slab[size+1], slab[0]}, uint32(slab[1])
		s.give(class, at)
	}
}

// takeCode removes a symbol from a hashed slab: what follows it moves up unless it is at
// its first place then.
func takeCode(slab []int32, size int, c uint32) {
	mask := size - 1
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

// copyBytes gives branches by bytes that are a copy of others a slab of their own, if those
// have one.
func (s *slabs) copyBytes(n *branches) {
	if n.tags&0xff > 3 {
		n.kids[0] = s.copy(int(n.kids[1]), n.kids[0], byteSlabWords(int(n.kids[1])))
	}
}

// copyCodes is copyBytes of branches by codes.
func (s *slabs) copyCodes(n *branches) {
	if n.kids[0] == 0 && n.tags != 0 {
		n.kids[1] = s.copy(int(n.kids[2]), n.kids[1], 2*codeSlabs[n.kids[2]])
	}
}

// copy returns the place of a copy of a slab.
func (s *slabs) copy(class int, from int32, words int) int32 {
	to := s.take(class, words)
	copy(s.at(to)[:words], s.at(from))
	return to
}
