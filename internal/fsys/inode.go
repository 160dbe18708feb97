package fsys

// BlockSize is how many bytes a [Disk] writes at once: what is in one block is old or new as a
// whole, but for a block that the crash tears.
const BlockSize = 512

// block is never changed: a write puts another in its place. A nil one is all zero.
type block [BlockSize]byte

var zeros block

func (b *block) bytes() *block {
	if b == nil {
		return &zeros
	}
	return b
}

// inode is the bytes of a file.
//
//	blocks    0  1  2  3        as programs see them
//	             │     │
//	pasts        1     3        of those that were written since they were synced:
//	             a     nil      what is on the disk for sure, if none of the writes is,
//	             b     c        and each write; the last is what programs see
//	             c
//	sizes     512 2048 …        likewise
//
// A past that a failed sync left is not dirty: a later sync leaves it as it is.
type inode struct {
	blocks []*block
	size   int64
	pasts  map[int64]*past
	sizes  []resize // the first is of the last sync
	resize bool     // sizes are dirty
	cuts   int      // that are in sizes
}

// resize is one change of a size. The n-th that shortened the file has n in cut, others 0.
type resize struct {
	size int64
	cut  int
}

// past is what a block was since it was synced.
type past struct {
	versions []version
	dirty    bool
}

// version is one write of a block, or with a cut the zeros that the n-th cut of the file left.
type version struct {
	block *block
	cut   int
}

func newInode() *inode {
	return &inode{pasts: map[int64]*past{}, sizes: []resize{{}}}
}

// put puts another block in the place of one.
func (n *inode) put(i int64, b *block, cut int) {
	h := n.pasts[i]
	if h == nil {
		h = &past{versions: []version{{block: n.blocks[i]}}}
		n.pasts[i] = h
	}
	h.dirty = true
	if last := h.versions[len(h.versions)-1].block; cut > 0 || *last.bytes() != *b.bytes() {
		h.versions = append(h.versions, version{b, cut})
	}
	n.blocks[i] = b
}

func (n *inode) readAt(p []byte, off int64) int {
	if off >= n.size {
		return 0
	}
	p = p[:min(int64(len(p)), n.size-off)]
	for done := 0; done < len(p); {
		at := off + int64(done)
		done += copy(p[done:], n.blocks[at/BlockSize].bytes()[at%BlockSize:])
	}
	return len(p)
}

func (n *inode) writeAt(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	if end := off + int64(len(p)); end > n.size {
		n.grow(end)
	}
	for len(p) > 0 {
		i := off / BlockSize
		b := *n.blocks[i].bytes()
		k := copy(b[off%BlockSize:], p)
		n.put(i, &b, 0)
		p, off = p[k:], off+int64(k)
	}
}

func (n *inode) grow(size int64) {
	n.size, n.resize = size, true
	n.sizes = append(n.sizes, resize{size: size})
	for int64(len(n.blocks)) < blocksOf(size) {
		n.blocks = append(n.blocks, nil)
	}
}

// truncate leaves zeros behind the end in the last block, and no others.
func (n *inode) truncate(size int64) {
	if size >= n.size {
		if size > n.size {
			n.grow(size)
		}
		return
	}
	n.cuts++
	keep := blocksOf(size)
	for i := keep; i < int64(len(n.blocks)); i++ {
		n.put(i, nil, n.cuts) // a hole too: what is written there later is not of the longer file
	}
	if rest := size % BlockSize; rest > 0 {
		b := *n.blocks[keep-1].bytes()
		clear(b[rest:])
		n.put(keep-1, &b, n.cuts)
	}
	n.blocks = n.blocks[:keep]
	n.size, n.resize = size, true
	n.sizes = append(n.sizes, resize{size, n.cuts})
}

// sync makes what is dirty last.
func (n *inode) sync() {
	for i, h := range n.pasts {
		if h.dirty {
			delete(n.pasts, i)
		}
	}
	if n.resize {
		n.sizes, n.resize, n.cuts = []resize{{size: n.size}}, false, 0
		for _, h := range n.pasts {
			for i := range h.versions {
				h.versions[i].cut = 0
			}
		}
	}
}

// forget is a sync that failed: nothing is dirty any longer.
func (n *inode) forget() {
	for _, h := range n.pasts {
		h.dirty = false
	}
	n.resize = false
}

func blocksOf(size int64) int64 { return (size + BlockSize - 1) / BlockSize }
