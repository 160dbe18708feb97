package rosa

import (
	"math/bits"
	"slices"
)

// dictionary gives tokens dense codes in the order in which they first come: 0, 1, 2…
type dictionary struct {
	tokens []int64  // by code
	direct []uint32 // by token, of those below its length: codes plus one
	slots  []uint32 // hash table of the codes of the others plus one; a power of two
	hashed int      // codes in it, half of its slots at most
}

// code returns the code of a token, and whether the token has one; if not, it is the next.
func (d *dictionary) code(token int64) (code uint32, known bool) {
	if uint64(token) < uint64(len(d.direct)) {
		if c := d.direct[token]; c != 0 {
			return c - 1, true
		}
		return uint32(len(d.tokens)), false
	}
	return d.hash(token)
}

// hash is code of a token that is not below the length of direct.
func (d *dictionary) hash(token int64) (code uint32, known bool) {
	if d.slots == nil {
		return uint32(len(d.tokens)), false
	}
	mask := uint64(len(d.slots) - 1)
	for i := spread(token) & mask; ; i = (i + 1) & mask {
		c := d.slots[i]
		if c == 0 {
			return uint32(len(d.tokens)), false
		}
		if d.tokens[c-1] == token {
			return c - 1, true
		}
	}
}

// add gives a token that has none the next code.
func (d *dictionary) add(token int64) {
	d.tokens = push(d.tokens, token)
	n := len(d.tokens)
	switch {
	case uint64(token) < uint64(len(d.direct)):
		d.direct[token] = uint32(n)
	case uint64(token) < uint64(directPays*n/2):
		d.rebuild(1<<bits.Len64(uint64(token)), max(64, len(d.slots)))
	case 2*(d.hashed+1) > len(d.slots):
		d.rebuild(len(d.direct), max(64, 2*len(d.slots)))
	default:
		d.place(token, uint32(n-1))
	}
}

// directPays is how many times as many places as tokens there may be, at most, where codes
// are looked up by the token itself: that is faster than a hash table and takes up to twice
// its memory.
const directPays = 8

// rebuild makes the tables anew, of these lengths. O(n).
func (d *dictionary) rebuild(direct, slots int) {
	d.direct, d.slots, d.hashed = make([]uint32, direct), make([]uint32, slots), 0
	for i, token := range d.tokens {
		if uint64(token) < uint64(direct) {
			d.direct[token] = uint32(i) + 1
		} else {
			d.place(token, uint32(i))
		}
	}
}

// place puts a code into the hash table.
func (d *dictionary) place(token int64, code uint32) {
	mask := uint64(len(d.slots) - 1)
	i := spread(token) & mask
	for d.slots[i] != 0 {
		i = (i + 1) & mask
	}
	d.slots[i] = code + 1
	d.hashed++
}

// truncate takes the codes of all but the first n tokens. Of those in a row of the table
// the newest is last, so that none is lost behind an empty slot.
func (d *dictionary) truncate(n int) {
	mask := uint64(len(d.slots) - 1)
	for len(d.tokens) > n {
		last := len(d.tokens) - 1
		token := d.tokens[last]
		d.tokens = d.tokens[:last]
		if uint64(token) < uint64(len(d.direct)) {
			d.direct[token] = 0
			continue
		}
		i := spread(token) & mask
		for d.slots[i] != uint32(last)+1 {
			i = (i + 1) & mask
		}
		d.slots[i] = 0
		d.hashed--
	}
}

// reset takes all codes. O(n), not of the tables.
func (d *dictionary) reset() {
	if 16*len(d.tokens) < len(d.direct)+len(d.slots) {
		d.truncate(0)
		return
	}
	d.tokens, d.hashed = d.tokens[:0], 0
	clear(d.direct)
	clear(d.slots)
}

func (d *dictionary) clone() dictionary {
	return dictionary{slices.Clone(d.tokens), slices.Clone(d.direct), slices.Clone(d.slots), d.hashed}
}

func (d *dictionary) bytes() int { return 8*cap(d.tokens) + 4*cap(d.direct) + 4*cap(d.slots) }

// spread hashes a token. It is the finaliser of splitmix64, since tokens that differ in few
// bits, high or low, must not meet; behind seed, since it can be inverted.
func spread(token int64) uint64 {
	x := uint64(token) ^ seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
