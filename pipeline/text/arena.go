package text

// Sizes of an arena in bytes: of its first slab, and of the largest slab that is
// kept for the next batch.
const (
	minArenaSlab  = 64 << 10
	keepArenaSlab = 4 << 20
)

// arena hands out memory for the rewritten texts of one batch. What it has
// handed out stays where it is until reset.
type arena struct {
	slabs []([]byte)
	slab  int // the one being filled
	used  int // bytes of it
}

// alloc returns n bytes of unspecified content.
func (a *arena) alloc(n int) []byte {
	for a.slab < len(a.slabs) {
		if s := a.slabs[a.slab]; len(s)-a.used >= n {
			a.used += n
			return s[a.used-n : a.used : a.used]
		}
		a.slab++
		a.used = 0
	}
	size := minArenaSlab
	if len(a.slabs) > 0 {
		size = min(2*len(a.slabs[len(a.slabs)-1]), keepArenaSlab)
	}
	a.slabs = append(a.slabs, make([]byte, max(n, size)))
	a.used = n
	return a.slabs[a.slab][:n:n]
}

// giveBack returns the last n bytes of the last alloc.
func (a *arena) giveBack(n int) { a.used -= n }

// reset makes all memory free again, and gives up slabs that only an unusually
// long text needed.
func (a *arena) reset() {
	kept := a.slabs[:0]
	for _, s := range a.slabs {
		if len(s) <= keepArenaSlab {
			kept = append(kept, s)
		}
	}
	clear(a.slabs[len(kept):])
	a.slabs, a.slab, a.used = kept, 0, 0
}
