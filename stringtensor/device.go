package stringtensor

import (
	"fmt"
	"math"

	"github.com/rosaline-go/rosaline/cpu"
)

// GPUSize returns the size of the device layout: the number of offsets, one more
// than there are rows, and the bytes of payload. O(N).
func (c *Column) GPUSize() (offsets int, payload int64) {
	return len(c.views) + 1, c.PayloadBytes()
}

// GPUBuffers returns the device layout: row i is payload[offsets[i]:offsets[i+1]],
// offsets[0] is 0, and the last offset is the length of the payload. Null rows
// are empty; [Column.Validity] tells them apart. Both are fresh copies. The error
// is [ErrOffsetOverflow] for more than [MaxDeviceBytes] bytes, or 2³¹−1 where int
// has 32 bits: [Column.Split] before.
func (c *Column) GPUBuffers(opts ...DeviceOption) (offsets []uint32, payload []byte, err error) {
	cfg := newDeviceConfig(opts)
	n, size := c.GPUSize()
	if err := cfg.check(size); err != nil {
		return nil, nil, err
	}
	if size > math.MaxInt {
		return nil, nil, fmt.Errorf("%w: %d bytes do not fit the memory of this machine", ErrOffsetOverflow, size)
	}
	offsets, payload = unzeroed[uint32](n), unzeroed[byte](int(size))
	c.pack(offsets, payload)
	return offsets, payload, nil
}

// GPUBuffersInto is [Column.GPUBuffers] into the caller's memory, of which it
// returns the part that was used; [Column.GPUSize] says how much it takes. The
// memory may be pinned or write-combined: it is only written to, never read, and
// not beyond the part returned. Nothing is written when there is an error, which
// is [ErrOffsetOverflow] or [ErrShortBuffer].
func (c *Column) GPUBuffersInto(offsets []uint32, payload []byte, opts ...DeviceOption) ([]uint32, []byte, error) {
	cfg := newDeviceConfig(opts)
	n, size := c.GPUSize()
	if err := cfg.check(size); err != nil {
		return nil, nil, err
	}
	if len(offsets) < n || int64(len(payload)) < size {
		return nil, nil, fmt.Errorf("%w: room for %d offsets and %d bytes, %d and %d are needed", ErrShortBuffer, len(offsets), len(payload), n, size)
	}
	offsets, payload = offsets[:n:n], payload[:size:size]
	c.pack(offsets, payload)
	return offsets, payload, nil
}

func (cfg deviceConfig) check(size int64) error {
	if size > cfg.limit {
		return fmt.Errorf("%w: the payload has %d bytes, the limit is %d; split the column", ErrOffsetOverflow, size, cfg.limit)
	}
	return nil
}

// pack writes the device layout to memory of exactly its size. Rows that lie end
// to end in a buffer are copied as one piece.
func (c *Column) pack(offsets []uint32, out []byte) {
	offsets[0] = 0
	cpu.Gather(out, offsets[1:], wordsOf(c.views), c.data)
}

// Split cuts the column between rows into slices whose payload is at most
// maxBytes each, as few as there can be; 0 stands for [MaxDeviceBytes], the most
// the device layout takes. A column without rows gives one part without rows.
// Each part is released on its own. O(N), and for each part a count of borrowed
// buffers, as of [Column.Slice]. The errors are [ErrStringTooLong] when one row
// alone is longer than maxBytes, and [ErrOutOfRange] when maxBytes is negative or
// above MaxDeviceBytes.
func (c *Column) Split(maxBytes int64) ([]*Column, error) {
	if maxBytes < 0 || maxBytes > MaxDeviceBytes {
		return nil, fmt.Errorf("%w: parts of %d bytes, from 0 to %d are possible", ErrOutOfRange, maxBytes, int64(MaxDeviceBytes))
	}
	if maxBytes == 0 {
		maxBytes = MaxDeviceBytes
	}
	var cuts []int
	size := int64(0)
	for i := range c.views {
		n := int64(uint32(c.views[i].lo))
		if n > maxBytes {
			return nil, fmt.Errorf("%w: row %d has %d bytes, a part may have %d", ErrStringTooLong, i, n, maxBytes)
		}
		if size+n > maxBytes {
			cuts = append(cuts, i)
			size = 0
		}
		size += n
	}
	parts := make([]*Column, 0, len(cuts)+1)
	lo := 0
	for _, hi := range append(cuts, len(c.views)) {
		part, err := c.Slice(lo, hi)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		lo = hi
	}
	return parts, nil
}

// FromGPUBuffers returns the column of a device layout, as [Column.GPUBuffers]
// makes it, without copying the payload. It is [FromOffsets] of uint32 offsets
// and checks as much: offsets never decrease and end within the payload, rows are
// UTF-8, and no offset is inside a character. No offsets at all stand for no rows.
func FromGPUBuffers(offsets []uint32, payload []byte, opts ...OffsetsOption) (*Column, error) {
	return FromOffsets(offsets, payload, opts...)
}
