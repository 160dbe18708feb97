package cpu

import (
	"testing"
	"unsafe"
)

func TestPrefetch(t *testing.T) {
	table := make([]uint64, 1000)
	eachLevel(t, func(*testing.T) {
		for n := range 20 {
			addresses := make([]unsafe.Pointer, n)
			for i := range addresses {
				addresses[i] = unsafe.Pointer(&table[50*i])
			}
			if n > 0 {
				addresses[n/2] = nil // not memory at all
			}
			Prefetch(addresses)
		}
	})
}

func BenchmarkPrefetch(b *testing.B) {
	const slots = 1 << 22 // 64 MB, more than the caches hold
	table := make([]View, slots)
	var places [16]int
	var addresses [16]unsafe.Pointer
	var sum, x uint64
	eachLevelB(b, func(b *testing.B) {
		for b.Loop() {
			for i := range places {
				x = x*6364136223846793005 + 1442695040888963407
				places[i] = int(x >> 42)
				addresses[i] = unsafe.Pointer(&table[places[i]])
			}
			Prefetch(addresses[:])
			for _, p := range places {
				// Each waits for the one before it, as those who search a table do.
				sum += table[p^int(sum)][0]
			}
		}
	})
	if sum != 0 {
		b.Fatal("the table was written to")
	}
}
