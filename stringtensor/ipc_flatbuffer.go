package stringtensor

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errFlat is wrapped by all errors about FlatBuffers.
var errFlat = errors.New("malformed metadata")

// flatTable is a table in a FlatBuffer: a position, and there the distance back
// to its vtable, which has the place of each slot. Positions are int64 so that
// no sum of them overflows.
type flatTable struct {
	buf    []byte
	pos    int64
	vtable int64
	slots  int64 // bytes of the vtable
	size   int64 // bytes of the table
}

// flatRoot returns the table that the first four bytes point to.
func flatRoot(buf []byte) (flatTable, error) {
	if len(buf) < 4 {
		return flatTable{}, fmt.Errorf("%w: %d bytes", errFlat, len(buf))
	}
	return flatTableAt(buf, int64(binary.LittleEndian.Uint32(buf)))
}

func flatTableAt(buf []byte, pos int64) (flatTable, error) {
	size := int64(len(buf))
	if pos < 4 || pos > size-4 {
		return flatTable{}, fmt.Errorf("%w: table at %d of %d bytes", errFlat, pos, size)
	}
	vt := pos - int64(int32(binary.LittleEndian.Uint32(buf[pos:])))
	if vt < 0 || vt > size-4 {
		return flatTable{}, fmt.Errorf("%w: vtable at %d of %d bytes", errFlat, vt, size)
	}
	t := flatTable{buf: buf, pos: pos, vtable: vt}
	t.slots = int64(binary.LittleEndian.Uint16(buf[vt:]))
	t.size = int64(binary.LittleEndian.Uint16(buf[vt+2:]))
	if t.slots < 4 || t.slots%2 != 0 || vt+t.slots > size || t.size < 4 || pos+t.size > size {
		return flatTable{}, fmt.Errorf("%w: table at %d has %d and %d bytes", errFlat, pos, t.slots, t.size)
	}
	return t, nil
}

// slot returns where the value of slot i lies, which has size bytes; 0 when the
// table has none.
func (t flatTable) slot(i, size int64) (int64, error) {
	o := 4 + 2*i
	if o+2 > t.slots {
		return 0, nil
	}
	d := int64(binary.LittleEndian.Uint16(t.buf[t.vtable+o:]))
	if d == 0 {
		return 0, nil
	}
	if d < 4 || d+size > t.size {
		return 0, fmt.Errorf("%w: slot %d of the table at %d", errFlat, i, t.pos)
	}
	return t.pos + d, nil
}

// byteSlot returns the value of a slot of one byte, 0 when there is none.
func (t flatTable) byteSlot(i int64) (uint8, error) {
	p, err := t.slot(i, 1)
	if p == 0 || err != nil {
		return 0, err
	}
	return t.buf[p], nil
}

// int64Slot returns the value of a slot of eight bytes, 0 when there is none.
func (t flatTable) int64Slot(i int64) (int64, error) {
	p, err := t.slot(i, 8)
	if p == 0 || err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(t.buf[p:])), nil
}

// ref returns where slot i points, 0 when there is none. References only point
// forward, so following them ends.
func (t flatTable) ref(i int64) (int64, error) {
	p, err := t.slot(i, 4)
	if p == 0 || err != nil {
		return 0, err
	}
	return flatRef(t.buf, p)
}

func flatRef(buf []byte, p int64) (int64, error) {
	to := p + int64(binary.LittleEndian.Uint32(buf[p:]))
	if to < p+4 || to > int64(len(buf))-4 {
		return 0, fmt.Errorf("%w: reference from %d to %d of %d bytes", errFlat, p, to, len(buf))
	}
	return to, nil
}

// table returns the table slot i points to; ok is false when there is none.
func (t flatTable) table(i int64) (sub flatTable, ok bool, err error) {
	p, err := t.ref(i)
	if p == 0 || err != nil {
		return flatTable{}, false, err
	}
	sub, err = flatTableAt(t.buf, p)
	return sub, err == nil, err
}

// vector returns where the n elements of size bytes of slot i begin.
func (t flatTable) vector(i, size int64) (at, n int64, err error) {
	p, err := t.ref(i)
	if p == 0 || err != nil {
		return 0, 0, err
	}
	n = int64(binary.LittleEndian.Uint32(t.buf[p:]))
	if n*size > int64(len(t.buf))-p-4 {
		return 0, 0, fmt.Errorf("%w: %d elements of %d bytes at %d of %d bytes", errFlat, n, size, p, len(t.buf))
	}
	return p + 4, n, nil
}
