package stringtensor

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// NullHash is the hash of a null row. It is not the hash of the empty string;
// like any hash it may be that of some other string.
const NullHash uint64 = 0

// Hash64 returns the XXH3-64 of row i with seed 0, and [NullHash] for a null row.
func (c *Column) Hash64(i int) uint64 {
	if c.IsNull(i) {
		return NullHash
	}
	return xxh3.Hash(c.Bytes(i))
}

// Hash128 returns the XXH3-128 of row i with seed 0 as its high and low half,
// and [NullHash] twice for a null row.
func (c *Column) Hash128(i int) (hi, lo uint64) {
	if c.IsNull(i) {
		return NullHash, NullHash
	}
	h := xxh3.Hash128(c.Bytes(i))
	return h.Hi, h.Lo
}

// HashAll returns [Column.Hash64] of every row.
func (c *Column) HashAll() []uint64 { return c.HashAllInto(nil) }

// HashAllInto is [Column.HashAll] into the memory of dst, which is grown if it is
// too small.
func (c *Column) HashAllInto(dst []uint64) []uint64 {
	dst = slices.Grow(dst[:0], len(c.views))[:len(c.views)]
	for i := range dst {
		dst[i] = xxh3.Hash(c.Bytes(i))
	}
	if c.nulls > 0 {
		for i := range dst {
			if !c.valid.get(i) {
				dst[i] = NullHash
			}
		}
	}
	return dst
}
