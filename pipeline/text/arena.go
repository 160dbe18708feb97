package text

// Sizes of an arena: the first and the largest slab in bytes, and the number of
// slabs that are kept for the next batch, some 64 MiB.
const (
	minArenaSlab   = 64 << 10
	maxArenaSlab   = 4 << 20
	keepArenaSlabs = 22
)

// arena hands out memory for the rewritten texts of one batch. What it has
// handed out stays where it is until reset.
type arena struct {
	slabs [][]byte
	slab  int  // the one being filled
	used  int  // bytes of it
	alone bool // the last alloc has memory of its own
}

// alloc returns n bytes of unspecified content. What is too long for a slab is
// allocated by itself: a search for its place would skip all slabs, and the rest
// of the batch would make new ones, in every batch.
func (a *arena) alloc(n int) []byte {
	if a.alone = n > maxArenaSlab; a.alone {
		return make([]byte, n)
	}
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
		size = min(2*len(a.slabs[len(a.slabs)-1]), maxArenaSlab)
	}
	a.slabs = append(a.slabs, make([]byte, max(n, size)))
	a.used = n
	return a.slabs[a.slab][:n:n]
}

// giveBack returns the last n bytes of the last alloc.
func (a *arena) giveBack(n int) {
	if !a.alone {
		a.used -= n
	}
}

// reset makes all memory free again, and gives up slabs that only an unusually
// large batch needed.
func (a *arena) reset() {
	if len(a.slabs) > keepArenaSlabs {
		clear(a.slabs[keepArenaSlabs:])
		a.slabs = a.slabs[:keepArenaSlabs]
	}
	a.slab, a.used, a.alone = 0, 0, false
}
