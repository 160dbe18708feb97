package gpu

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// Column is a column of strings in the memory of a device: N+1 offsets of 4 bytes, the payload,
// and where there are null rows a bit for each row. It takes that much memory until Release.
type Column struct {
	engine *Engine
	rows   int
	size   int64 // of the payload, in bytes

	// Only the goroutine of the engine touches these.
	offsets, payload, valid address // payload is 0 when it is empty, valid when no row is null
	released                bool
}

// Upload copies a column to the device: views are packed straight into pinned memory, which is
// then copied. c is needed only until Upload returns. The errors are
// [stringtensor.ErrOffsetOverflow] when the payload has more than [stringtensor.MaxDeviceBytes]
// bytes (see [stringtensor.Column.Split]), [stringtensor.ErrTooManyRows], [ErrOutOfMemory],
// [ErrDevice] and [ErrClosed].
func (e *Engine) Upload(c *stringtensor.Column) (*Column, error) {
	words, size := c.GPUSize()
	if size > stringtensor.MaxDeviceBytes {
		return nil, fmt.Errorf("%w: the payload has %d bytes, a device column can have %d; split the column", stringtensor.ErrOffsetOverflow, size, int64(stringtensor.MaxDeviceBytes))
	}
	if uint64(c.Len()) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d; slice the column", stringtensor.ErrTooManyRows, c.Len())
	}
	end, err := e.use()
	if err != nil {
		return nil, err
	}
	defer end()

	d := &Column{engine: e, rows: c.Len(), size: size}
	valid := c.Validity()
	var offsets, payload, bits []byte // pinned
	s := scratch{engine: e}
	err = e.do(func() error {
		err := d.reserve(&s, len(valid) > 0)
		if err == nil {
			offsets, err = s.pin(4 * words)
		}
		if err == nil && size > 0 {
			payload, err = s.pin(int(size))
		}
		if err == nil && valid != nil {
			bits, err = s.pin(4 * maskWords(d.rows))
		}
		if err != nil {
			return errors.Join(err, s.end())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	// Packing is the caller's work, so that other operations go on.
	_, _, packed := c.GPUBuffersInto(unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(offsets))), words), payload)
	clear(bits[copy(bits, valid):])

	err = e.do(func() error {
		err := packed
		for _, u := range []struct {
			to   address
			from []byte
		}{{d.offsets, offsets}, {d.payload, payload}, {d.valid, bits}} {
			if err == nil && u.to != 0 {
				err = e.driver.upload(u.to, u.from)
			}
		}
		if err == nil {
			err = e.synchronize()
		}
		if err == nil {
			for _, at := range []address{d.offsets, d.payload, d.valid} {
				s.keep(at)
			}
		}
		return errors.Join(err, s.end())
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// reserve takes the memory of the column.
func (d *Column) reserve(s *scratch, nulls bool) (err error) {
	if d.offsets, err = s.alloc(4 * (int64(d.rows) + 1)); err != nil {
		return err
	}
	if d.size > 0 {
		if d.payload, err = s.alloc(d.size); err != nil {
			return err
		}
	}
	if nulls {
		d.valid, err = s.alloc(4 * int64(maskWords(d.rows)))
	}
	return err
}

// maskWords returns how many words of 32 bits have a bit for each of n rows.
func maskWords(n int) int { return (n + 31) / 32 }

// Len returns the number of rows.
func (d *Column) Len() int { return d.rows }

// PayloadBytes returns the bytes of all rows.
func (d *Column) PayloadBytes() int64 { return d.size }

// Engine returns the engine of the device that holds the column.
func (d *Column) Engine() *Engine { return d.engine }

// Release frees the memory of the column. A second call, and one after the engine was closed,
// does nothing. The error is [ErrDevice].
func (d *Column) Release() error {
	end, err := d.engine.use()
	if err != nil {
		return nil // Close has freed it
	}
	defer end()
	return d.engine.do(func() error {
		if d.released {
			return nil
		}
		d.released = true
		return errors.Join(d.engine.free(d.offsets), d.engine.free(d.payload), d.engine.free(d.valid))
	})
}
