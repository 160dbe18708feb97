package stringtensor

import (
	"sync/atomic"
	"unsafe"
)

// Slack is how many bytes past its end a buffer made by a [Builder] may be read,
// so that loops can load whole vectors. What they hold is unspecified.
const Slack = 64

// Buffer is payload that columns share. It is immutable. A buffer over Go
// memory needs no release; one over borrowed memory counts its users and gives
// the memory back when the last is gone. A buffer answers for its own memory
// only: if one owner stands behind several buffers, each of them borrows.
type Buffer struct {
	data    []byte
	release func() // nil for Go memory
	refs    atomic.Int64
}

// NewBuffer returns a buffer over data, which must not change any more.
// release, if not nil, is called once when the last column that uses the buffer
// is released; the caller holds the first reference and gives it up with
// [Buffer.Release].
func NewBuffer(data []byte, release func()) *Buffer {
	b := &Buffer{data: data, release: release}
	b.refs.Store(1)
	return b
}

// Bytes returns the payload. It must not be changed.
func (b *Buffer) Bytes() []byte { return b.data }

// Len returns the length of the payload in bytes.
func (b *Buffer) Len() int { return len(b.data) }

// Slack returns how many bytes past the end may be read.
func (b *Buffer) Slack() int { return cap(b.data) - len(b.data) }

// Borrowed reports whether the memory has an owner that must be told when it
// is no longer used.
func (b *Buffer) Borrowed() bool { return b.release != nil }

// Retain adds a reference.
func (b *Buffer) Retain() {
	if b.release != nil {
		b.refs.Add(1)
	}
}

// Release drops a reference; the last one gives borrowed memory back.
func (b *Buffer) Release() {
	if b.release != nil && b.refs.Add(-1) == 0 {
		b.data = nil
		b.release()
	}
}

// region identifies the bytes of a buffer: two buffers over the same memory are
// one for those who share or count it.
type region struct {
	data *byte
	n    int
}

func (b *Buffer) region() region { return region{unsafe.SliceData(b.data), len(b.data)} }
