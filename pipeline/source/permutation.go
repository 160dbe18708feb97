package source

import "math/bits"

// How often a half is mixed into the other. Four times are enough for large domains
// (Luby and Rackoff, 1988). In one of few bits a round can do little, so that it
// takes more of them until all permutations are equally likely.
const (
	feistelRounds      = 12
	feistelRoundsSmall = 48
	feistelSmall       = 8 // bits
)

// permutation is a pseudo-random bijection of [0, n) in constant memory: a Feistel
// network over the smallest power of two that holds n, repeated until it falls
// below n (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite
// domains", 2002). As the power is less than 2n, at takes less than two walks on
// average.
type permutation struct {
	n    uint64
	low  uint // bits of the lower part
	high uint // bits of the upper part, low or low−1
	keys [feistelRoundsSmall]uint64
	used int // of keys: one a round
}

func newPermutation(n int64, seed uint64, epoch int64) *permutation {
	p := &permutation{n: uint64(max(n, 0))}
	width := uint(0)
	if n > 1 {
		width = uint(bits.Len64(p.n - 1))
	}
	p.high = width / 2
	p.low = width - p.high
	key := deriveSeed(seed, seedPermutation, uint64(epoch))
	p.used = feistelRounds
	if width <= feistelSmall {
		p.used = feistelRoundsSmall
	}
	for i := range p.used {
		p.keys[i] = splitmix(key + uint64(i))
	}
	return p
}

// at returns the image of i, which must be below n.
func (p *permutation) at(i uint64) uint64 {
	if p.low == 0 {
		return i
	}
	for {
		i = p.network(i)
		if i < p.n {
			return i
		}
	}
}

// network is the bijection of [0, 2^(low+high)). Rounds by turns mix the lower part into
// the upper one and the upper one into the lower, so that the parts may differ
// in size.
func (p *permutation) network(i uint64) uint64 {
	low, high := i&(1<<p.low-1), i>>p.low
	for keys := p.keys[:p.used]; len(keys) > 1; keys = keys[2:] {
		// The upper bits of the hash are taken: a shift by 64 is 0 in Go, so
		// an upper part of no bits stays as it is.
		high ^= splitmix(keys[0]^low) >> (64 - p.high)
		low ^= splitmix(keys[1]^high) >> (64 - p.low)
	}
	return high<<p.low | low
}
