package source

// splitmix is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014) on the word after x: a hash of 64 bits. Called on
// a counter it is a generator without state.
func splitmix(x uint64) uint64 {
	x += splitmixStep
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// splitmixStep is between the counters of SplitMix64: 2⁶⁴ over the golden ratio.
const splitmixStep = 0x9e3779b97f4a7c15

// deriveSeed makes a seed of another and of what it is for.
func deriveSeed(seed uint64, purpose ...uint64) uint64 {
	for _, p := range purpose {
		seed = splitmix(splitmix(seed) ^ p)
	}
	return seed
}

// What derived seeds are for.
const (
	seedPermutation uint64 = iota + 1
	seedMix
	seedMixChild
	seedInterleaveChild
)
