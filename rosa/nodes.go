package rosa

import "unsafe"

// nodes are the nodes of a tree by number. They lie in chunks, so that they stay where they
// are when more come: a slice that leaves little spare would be copied again and again.
type nodes struct {
	chunks []*nodeChunk
	count  int32
}

// nodeChunk is 16 KiB.
type nodeChunk [1 << nodeChunkBits]node

const nodeChunkBits = 9

// at returns node v.
func (n *nodes) at(v int32) *node {
	return &n.chunks[uint32(v)>>nodeChunkBits][v&(1<<nodeChunkBits-1)]
}

// add returns the number of a new node, which may hold anything.
func (n *nodes) add() int32 {
	v := n.count
	if int(v)>>nodeChunkBits == len(n.chunks) {
		n.chunks = append(n.chunks, new(nodeChunk))
	}
	n.count++
	return v
}

// truncate takes all nodes away but the first so many.
func (n *nodes) truncate(count int32) { n.count = count }

func (n *nodes) clone() nodes {
	c := nodes{count: n.count}
	for i := int32(0); i < n.count; i += 1 << nodeChunkBits {
		chunk := *n.chunks[i>>nodeChunkBits]
		c.chunks = append(c.chunks, &chunk)
	}
	return c
}

func (n *nodes) bytes() int {
	return len(n.chunks)*int(unsafe.Sizeof(nodeChunk{})) + cap(n.chunks)*int(unsafe.Sizeof((*nodeChunk)(nil)))
}
