package stringtensor

import (
	"slices"

	"github.com/rosaline-go/rosaline/cpu"
)

// PayloadBytes returns the sum of the lengths of all rows.
func (c *Column) PayloadBytes() int64 { return int64(cpu.SumLengths(wordsOf(c.views))) }

// RetainedBytes returns the memory in bytes that the column keeps alive: views,
// validity, and every buffer up to its capacity, each memory counted once. What
// other columns share is counted for each of them. A slice or a filtered column
// may keep far more than [Column.PayloadBytes]; [Column.Compact] ends that.
func (c *Column) RetainedBytes() int64 { return c.retained + c.bufferBytes() }

// bufferBytes sums the capacities of the distinct buffers.
func (c *Column) bufferBytes() int64 {
	if len(c.buffers) == 1 {
		return int64(cap(c.buffers[0].data))
	}
	var n int64
	seen := make(map[region]bool, len(c.buffers))
	for _, b := range c.buffers {
		if m := b.region(); !seen[m] {
			seen[m] = true
			n += int64(cap(b.data))
		}
	}
	return n
}

// Lengths returns the length of each row in bytes; 0 for a null row.
func (c *Column) Lengths() []uint32 { return c.LengthsInto(nil) }

// LengthsInto is [Column.Lengths] into the memory of dst, which is grown if it is
// too small.
func (c *Column) LengthsInto(dst []uint32) []uint32 {
	dst = slices.Grow(dst[:0], len(c.views))[:len(c.views)]
	for i := range c.views {
		dst[i] = uint32(c.views[i].lo)
	}
	return dst
}

// InlinedCount returns how many rows are kept inside their view. Null rows are
// neither inlined nor pooled.
func (c *Column) InlinedCount() int { return len(c.views) - c.nulls - c.PooledCount() }

// PooledCount returns how many rows lie in a buffer.
func (c *Column) PooledCount() int {
	n := 0
	for i := range c.views {
		if !c.views[i].IsInline() {
			n++
		}
	}
	return n
}
