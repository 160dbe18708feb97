package stringtensor

import "math/bits"

// Set is a set of strings for [Column.WhereIn]. It is immutable and safe for
// concurrent readers. The zero value is the empty set.
type Set struct {
	members map[string]struct{}
	// keys is a Bloom filter with one hash over the first words of the members'
	// views, 16 to 32 bits a member: a row whose length and prefix no member has
	// is turned away without a look at its payload.
	keys  []uint64
	shift uint
}

// NewSet returns the set of members, which are kept, not copied. O(their bytes).
func NewSet(members ...string) *Set {
	s := &Set{members: make(map[string]struct{}, len(members))}
	words := 1 << bits.Len(uint(len(members)/4)) // 64 bits each
	s.keys = make([]uint64, words)
	s.shift = uint(64 - bits.TrailingZeros(uint(words)) - 6)
	for _, m := range members {
		s.members[m] = struct{}{}
		h := s.place(lengthAndPrefix(m))
		s.keys[h>>6] |= 1 << (h & 63)
	}
	return s
}

// Len returns the number of members.
func (s *Set) Len() int { return len(s.members) }

// Contains reports whether x is a member.
func (s *Set) Contains(x string) bool {
	_, ok := s.members[x]
	return ok
}

// place hashes the first word of a view to a bit of keys, by the high bits of
// its product with 2⁶⁴ divided by the golden ratio.
func (s *Set) place(lo uint64) uint64 { return lo * 0x9e3779b97f4a7c15 >> s.shift }

// mayContain reports whether a member may have lo as first word of its view.
func (s *Set) mayContain(lo uint64) bool {
	if len(s.keys) == 0 {
		return false
	}
	h := s.place(lo)
	return s.keys[h>>6]>>(h&63)&1 != 0
}
