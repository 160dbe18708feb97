package rosa

import "slices"

// dictionary gives tokens dense codes in the order in which they first come: 0, 1, 2…
type dictionary struct {
	tokens []int64  // by code
	slots  []uint32 // hash table of codes plus one; a power of two, at least twice as many
}

// code returns the code of a token, and whether the token has one; if not, it is the next.
func (d *dictionary) code(token int64) (code uint32, known bool) {
	mask := uint64(len(d.slots) - 1)
	if d.slots == nil {
		return 0, false
	}
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
	if 2*len(d.tokens) > len(d.slots) {
		d.slots = make([]uint32, max(64, 2*len(d.slots)))
		for i, t := range d.tokens {
			d.place(t, uint32(i))
		}
		return
	}
	d.place(token, uint32(len(d.tokens)-1))
}

func (d *dictionary) place(token int64, code uint32) {
	mask := uint64(len(d.slots) - 1)
	i := spread(token) & mask
	for d.slots[i] != 0 {
		i = (i + 1) & mask
	}
	d.slots[i] = code + 1
}

// truncate takes the codes of all but the first n tokens. Of those in a row of the table
// the newest is last, so that none is lost behind an empty slot.
func (d *dictionary) truncate(n int) {
	mask := uint64(len(d.slots) - 1)
	for len(d.tokens) > n {
		last := len(d.tokens) - 1
		i := spread(d.tokens[last]) & mask
		for d.slots[i] != uint32(last)+1 {
			i = (i + 1) & mask
		}
		d.slots[i] = 0
		d.tokens = d.tokens[:last]
	}
}

func (d *dictionary) reset() {
	d.tokens = d.tokens[:0]
	clear(d.slots)
}

func (d *dictionary) clone() dictionary {
	return dictionary{slices.Clone(d.tokens), slices.Clone(d.slots)}
}

func (d *dictionary) bytes() int { return 8*cap(d.tokens) + 4*cap(d.slots) }

// spread hashes a token. It is the finaliser of splitmix64: tokens that differ in few bits,
// high or low, must not meet.
func spread(token int64) uint64 {
	x := uint64(token)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
