package rosa

import (
	"slices"
	"unsafe"
)

// chunks are elements by number, in chunks of 8 to 16 KiB that stay where they are. The
// tables of the chunks are of bounded size too, so that to add an element never takes long.
type chunks[T any] struct {
	tables [][][]T
	count  int32
}

// chunkTable is how many chunks are in a table.
const chunkTable = 1 << 10

// inChunk returns how many elements are in a chunk. It is a constant to the compiler.
func inChunk[T any]() uint32 {
	switch size := unsafe.Sizeof(*new(T)); {
	case size <= 16:
		return 1 << 10
	case size <= 256:
		return 1 << 5
	}
	return 1 << 4
}

// at returns element i.
func (c *chunks[T]) at(i int32) *T {
	u, n := uint32(i), inChunk[T]()
	return &c.tables[u/(n*chunkTable)][u/n%chunkTable][u%n]
}

// add returns the number of a new element, which may hold anything.
func (c *chunks[T]) add() int32 {
	i := c.count
	if u, n := uint32(i), inChunk[T](); u%n == 0 {
		t := int(u / (n * chunkTable))
		if t == len(c.tables) {
			c.tables = append(c.tables, nil)
		}
		if int(u/n%chunkTable) == len(c.tables[t]) {
			c.tables[t] = append(c.tables[t], make([]T, n))
		}
	}
	c.count++
	return i
}

// clone copies what is in use.
func (c *chunks[T]) clone() chunks[T] {
	d := chunks[T]{count: c.count}
	left := int(c.count)
	for _, table := range c.tables {
		var t [][]T
		for _, chunk := range table {
			if left > 0 {
				t = append(t, slices.Clone(chunk))
				left -= len(chunk)
			}
		}
		if len(t) > 0 {
			d.tables = append(d.tables, t)
		}
	}
	return d
}

func (c *chunks[T]) bytes() int {
	n := cap(c.tables) * int(unsafe.Sizeof([][]T{}))
	for _, t := range c.tables {
		n += cap(t)*int(unsafe.Sizeof([]T{})) + len(t)*int(inChunk[T]())*int(unsafe.Sizeof(*new(T)))
	}
	return n
}
