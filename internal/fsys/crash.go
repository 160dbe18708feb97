package fsys

import (
	"maps"
	"slices"
)

// Model is what a [Disk] takes for legal after a crash, beyond what it always does.
type Model struct {
	// AnyNames is a file system without a journal: of the operations on the names of a
	// directory that were not synced each is lost or kept, whatever became of those before
	// it. Without it those that are kept are the first ones, as many as may be.
	AnyNames bool
	// AnyCut tears a block, or a file that grew, at any byte. Without it there are three
	// places: the first that matters, the last, and the middle.
	AnyCut bool
}

// SetModel sets what is legal after a crash, for this disk and those made of it. Without it
// that is the zero [Model].
func (d *Disk) SetModel(m Model) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.model = m
}

// Crash returns a disk as it may be found after the power was lost now: one of all that are
// legal. This one stays as it is, so that others can be had of it.
//
// Each choice is made by a call that returns a number of 0 to n-1, for n ≥ 2, as those of
// [Outcomes.Choose] and [Random] do. 0 is what was synced. They are, for each directory:
//
//   - how many of its operations on names since it was synced were kept, from the first on, or
//     which of them: [Model.AnyNames]. A rename is kept as a whole. What each directory keeps
//     does not depend on the others;
//
// and for each file that still has a name then:
//
//   - its size: any that it had since it was synced, or for one that grew one between. With a
//     shorter size that is chosen all cuts before it have happened, and bytes that were cut
//     away do not come back;
//   - each block that was written since it was synced: as it was then (zeros, if it was a hole
//     or behind the end), as any of the writes left it, or torn: the first bytes of a write,
//     and behind them those of the block as it was before or as an earlier write left it.
//
// All that is left is synced, no lock is held, nothing is made to fail, and the count of
// operations begins anew. It takes time of the size of the disk / 512.
func (d *Disk) Crash(choose func(n int) int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := NewDisk()
	next.model, next.capacity = d.model, d.capacity
	c := crash{d.model, choose}
	next.root = d.root.crash(&c).(*directory)
	return next
}

// Kill returns a disk as the next process finds it when this one ended now and the machine did
// not: all that was written is there, but is synced no more than before, and no lock is held.
// This one stays as it is. Nothing is made to fail on the other, and its count of operations
// begins anew.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := NewDisk()
	next.model, next.capacity = d.model, d.capacity
	next.root = d.root.clone(map[node]node{}).(*directory)
	return next
}

// clone copies a node once, however often it is named.
func (d *directory) clone(done map[node]node) node {
	if next, ok := done[d]; ok {
		return next
	}
	next := newDirectory()
	done[d] = next
	for name, n := range d.names {
		next.names[name] = n.clone(done)
	}
	for name, n := range d.synced {
		next.synced[name] = n.clone(done)
	}
	next.journal = slices.Clone(d.journal)
	for i, op := range next.journal {
		if op.node != nil {
			next.journal[i].node = op.node.clone(done)
		}
	}
	return next
}

func (n *inode) clone(done map[node]node) node {
	if next, ok := done[n]; ok {
		return next
	}
	next := *n
	done[n] = &next
	next.blocks, next.sizes = slices.Clone(n.blocks), slices.Clone(n.sizes)
	next.pasts = make(map[int64]*past, len(n.pasts))
	for i, h := range n.pasts {
		next.pasts[i] = &past{slices.Clone(h.versions), h.dirty}
	}
	return &next
}

// Evict makes programs see what a failed [File.Sync] has left on the disk, as they do when the
// system needs the memory of a file: for each block that was not written since, one of those
// that [Disk.Crash] chooses from.
func (d *Disk) Evict(choose func(n int) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := crash{d.model, choose}
	for n := range d.root.files {
		for _, i := range slices.Sorted(maps.Keys(n.pasts)) {
			h := n.pasts[i]
			if h.dirty || i >= int64(len(n.blocks)) {
				continue
			}
			n.blocks[i] = c.cutOff(c.block(h.legal(n.cuts)), n.size-i*BlockSize)
			delete(n.pasts, i)
		}
	}
}

// files yields each file that has a name, in their order.
func (d *directory) files(yield func(*inode) bool) {
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		switch n := d.names[name].(type) {
		case *inode:
			if !yield(n) {
				return
			}
		case *directory:
			for f := range n.files {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// crash chooses.
type crash struct {
	model  Model
	decide func(n int) int
}

func (c *crash) choose(n int) int {
	if n < 2 {
		return 0
	}
	return c.decide(n)
}

func (d *directory) crash(c *crash) node {
	names := maps.Clone(d.synced)
	if c.model.AnyNames {
		for _, op := range d.journal {
			if c.choose(2) == 0 {
				continue
			}
			if op.to != "" {
				// Where the operation that gave it is lost, the node has an older name yet.
				maps.DeleteFunc(names, func(_ string, n node) bool { return n == op.node })
			}
			op.apply(names)
		}
	} else {
		for _, op := range d.journal[:c.choose(len(d.journal)+1)] {
			op.apply(names)
		}
	}
	next := newDirectory()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		next.names[name] = names[name].crash(c)
	}
	next.synced = maps.Clone(next.names)
	return next
}

func (n *inode) crash(c *crash) node {
	size, cuts := c.size(n.sizes)
	next := newInode()
	next.size, next.sizes[0].size = size, size
	next.blocks = make([]*block, blocksOf(size))
	copy(next.blocks, n.blocks)
	for _, i := range slices.Sorted(maps.Keys(n.pasts)) {
		if i < int64(len(next.blocks)) {
			next.blocks[i] = c.block(n.pasts[i].legal(cuts))
		}
	}
	if last := len(next.blocks) - 1; last >= 0 {
		next.blocks[last] = c.cutOff(next.blocks[last], size-int64(last)*BlockSize)
	}
	return next
}

// cutOff returns a block with zeros behind the end of its file.
func (c *crash) cutOff(b *block, size int64) *block {
	if b == nil || size >= BlockSize || *b.bytes() == zeros {
		return b
	}
	left := *b
	clear(left[size:])
	return &left
}

// size chooses a size, and tells how many cuts have happened then.
func (c *crash) size(sizes []resize) (size int64, cuts int) {
	n := 1
	for i := 1; i < len(sizes); i++ {
		n += 1 + c.cutsBetween(sizes[i-1].size, sizes[i].size)
	}
	k := c.choose(n)
	for i, s := range sizes {
		if s.cut > 0 {
			cuts = s.cut
		}
		between := 0
		if i > 0 {
			between = c.cutsBetween(sizes[i-1].size, s.size)
		}
		if k < between {
			return c.cutAt(sizes[i-1].size, s.size, k), cuts
		}
		if k -= between; k == 0 {
			return s.size, cuts
		}
		k--
	}
	return sizes[0].size, 0 // not reached
}

// cutsBetween counts the places between two, both left out, where something may be cut.
func (c *crash) cutsBetween(from, to int64) int {
	n := max(0, to-from-1)
	if !c.model.AnyCut {
		n = min(n, 3)
	}
	return int(n)
}

// cutAt returns one of them.
func (c *crash) cutAt(from, to int64, k int) int64 {
	switch {
	case c.model.AnyCut || k == 0:
		return from + 1 + int64(k)
	case k == 1:
		return to - 1
	}
	return from + (to-from)/2
}

// legal returns what a block may be when that many cuts have happened: nothing from before the
// last of them that met it, and nothing from behind the next.
func (h *past) legal(cuts int) []version {
	from, to := 0, len(h.versions)
	for i, v := range h.versions {
		switch {
		case v.cut == 0:
		case v.cut <= cuts:
			from = i
		case i < to:
			to = i
		}
	}
	return h.versions[from:to]
}

// block chooses a version, or tears one.
func (c *crash) block(versions []version) *block {
	n := len(versions)
	for j := range versions {
		for i := range j {
			n += c.tears(versions[i], versions[j])
		}
	}
	k := c.choose(n)
	if k < len(versions) {
		return versions[k].block
	}
	k -= len(versions)
	for j := range versions {
		for i := range j {
			tears := c.tears(versions[i], versions[j])
			if k < tears {
				before, torn := versions[i].block.bytes(), *versions[j].block.bytes()
				first, last := differ(before, &torn)
				at := c.cutAt(first, last+1, k)
				copy(torn[at:], before[at:])
				return &torn
			}
			k -= tears
		}
	}
	return versions[0].block // not reached
}

// tears counts the places where the first bytes of one block before the rest of another make
// something else than both.
func (c *crash) tears(a, b version) int {
	first, last := differ(a.block.bytes(), b.block.bytes())
	return c.cutsBetween(first, last+1)
}

// differ returns the first and the last byte that differ; if none does, last < first.
func differ(a, b *block) (first, last int64) {
	last = BlockSize - 1
	for first < BlockSize && a[first] == b[first] {
		first++
	}
	for last >= first && a[last] == b[last] {
		last--
	}
	return first, last
}
