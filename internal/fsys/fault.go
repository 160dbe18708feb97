package fsys

import (
	"errors"
)

// ErrCrashed is returned by all operations on a [Disk] after the last that [Disk.CrashAfter]
// lets pass.
var ErrCrashed = errors.New("fsys: the disk has crashed")

// Op is a kind of operation on a [Disk].
type Op uint8

// The kinds. OpOpen is Open and OpenWrite, OpRead is ReadAt, Size and List. OpAny is each but
// OpRead, which leaves the disk as it is.
const (
	OpOpen Op = iota
	OpCreate
	OpRead
	OpWrite
	OpAppend
	OpTruncate
	OpSync
	OpSyncDir
	OpRename
	OpRemove
	OpMakeDir
	OpLock
	OpAny
)

func (op Op) String() string {
	if op > OpAny {
		return "unknown"
	}
	return [...]string{
		"open", "create", "read", "write", "append", "truncate", "sync", "syncdir", "rename", "remove", "mkdir", "lock", "any",
	}[op]
}

// fault is an operation that fails.
type fault struct {
	op  Op
	k   int
	err error
}

// FailAt makes the k-th operation of a kind fail, counted from 1 since the disk was made, with
// an error that wraps err, such as [syscall.EIO]. It does nothing then, but for two: a write
// or append that fails with [io.ErrShortWrite] writes half of its bytes, rounded down, and a
// failed [File.Sync] loses track of what it should have written, as described there.
func (d *Disk) FailAt(op Op, k int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, fault{op, k, err})
}

// CrashAfter lets n operations of [OpAny] pass, counted since the disk was made: those after
// them change nothing and return [ErrCrashed], reads as well. [Disk.Crash] then tells what is
// left. What an operation leaves that it stops in is among what is left when it is the last
// that passes, or, for a sync, when it is the first that does not.
func (d *Disk) CrashAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = n
}

// Ops returns how many operations of a kind there were, failed ones included.
func (d *Disk) Ops(op Op) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts[op]
}

// SetCapacity bounds the disk, in bytes. Each block of 512 bytes that a file has takes room,
// holes and names take none. What does not fit fails with [syscall.ENOSPC], after as much of
// it as does was written; a file without a name gives its room back. n < 0 is no bound.
func (d *Disk) SetCapacity(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = n
}

// begin counts an operation, and returns the error that it must fail with.
func (d *Disk) begin(op Op) error {
	if d.down {
		return ErrCrashed
	}
	if op != OpRead {
		if d.counts[OpAny] == d.last {
			d.down = true
			return ErrCrashed
		}
		d.counts[OpAny]++
	}
	d.counts[op]++
	for _, f := range d.faults {
		if f.op == op && f.k == d.counts[op] || f.op == OpAny && op != OpRead && f.k == d.counts[OpAny] {
			return f.err
		}
	}
	return nil
}

// room returns how many of n bytes can be written to a file at a place.
func (d *Disk) room(f *inode, n int, off int64) int {
	if d.capacity < 0 {
		return n
	}
	free := d.capacity / BlockSize
	for f := range d.root.files {
		for _, b := range f.blocks {
			if b != nil {
				free--
			}
		}
	}
	for i := off / BlockSize; i < blocksOf(off+int64(n)); i++ {
		if i < int64(len(f.blocks)) && f.blocks[i] != nil {
			continue
		}
		if free--; free < 0 {
			return int(max(0, i*BlockSize-off))
		}
	}
	return n
}
