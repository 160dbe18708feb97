package main

import (
	"os"
	"runtime"
)

// heapFloor is how much garbage may gather, in bytes, before it is collected. The
// batches under way are small beside what passes through them, so that by Go's rule
// alone, a share of what is in use, the collector would run most of the time.
const heapFloor = 64 << 20

// raiseHeap makes the collector wait for heapFloor bytes more than it would, until keep
// is called: for memory that counts as in use but is never touched, and so takes none.
// GOGC in the environment outranks it.
func raiseHeap() (keep func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	ballast := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(ballast) }
}
