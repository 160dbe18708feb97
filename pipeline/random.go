package pipeline

import "math/bits"

// mix is a hash of two words: the finaliser of splitmix64 (Steele, Lea and Flood,
// 2014) over their combination. Random choices are mix of the seed, the epoch and a counter,
// so that any of them can be made again without the ones before.
func mix(a, b uint64) uint64 {
	z := a + 0x9e3779b97f4a7c15 + b*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below maps a random word to [0, n).
func below(r uint64, n uint64) uint64 {
	hi, _ := bits.Mul64(r, n)
	return hi
}
