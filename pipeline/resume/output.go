package resume

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// PartialSuffix is added to the name of an [Output] until it is complete.
const PartialSuffix = ".partial"

// outputBuffer is how many bytes an output holds back.
const outputBuffer = 256 << 10

// tailSize is how many bytes at the end of an output tell it from another one.
const tailSize = 4 << 10

// Output is a file that a run writes, and that has its name when it is whole. A commit of the run
// names its size; what a stop has left behind that is cut away when it is opened again.
//
//	OpenOutput ──▸ Write … Flush: the size for a commit … Sync: which may be made ──▸ Finish
//	  name.partial                                                                     name
//
// One goroutine writes; Sync may be called by another.
type Output struct {
	conf config
	name string

	syncing sync.Mutex // held while the file is synced or closed; taken before mu

	mu    sync.Mutex
	file  fsys.File // nil once it is closed
	buf   []byte
	size  int64  // the buffer included
	last  []byte // the last bytes of it, at most tailSize
	dirty bool   // something was written since the last sync began
	err   error  // the first failure, for ever
}

// OpenOutput opens an output where a commit was: that many bytes of it count, 0 for a run that
// has committed nothing of it. What a run has finished and not committed gets its partial name
// again. An older file of that name stays until the new one is whole.
//
// It takes no time of what is there, and looks at sizes alone. The error is [ErrOutput] if there is
// less than was committed, which changes nothing, or one of the files.
func OpenOutput(name string, committed int64, opts ...Option) (*Output, error) {
	o := &Output{conf: configure(opts), name: name, size: committed, buf: make([]byte, 0, outputBuffer)}
	if err := o.open(committed); err != nil {
		if o.file != nil {
			err = errors.Join(err, o.file.Close())
		}
		return nil, fmt.Errorf("resume: output %s: %w", name, err)
	}
	return o, nil
}

func (o *Output) partial() string { return o.name + PartialSuffix }

func (o *Output) open(committed int64) error {
	if committed < 0 {
		return fmt.Errorf("%w: a commit of %d bytes", ErrOutput, committed)
	}
	name := o.partial()
	size, err := o.conf.sizeOf(name)
	if err != nil {
		return err
	}
	if size < 0 && committed > 0 {
		name = o.name
		if size, err = o.conf.sizeOf(name); err != nil {
			return err
		}
	}
	if size >= committed && committed > 0 {
		if o.last, err = o.conf.tailOf(name, committed); err != nil {
			return err
		}
	}
	switch {
	case size < 0 && committed > 0:
		return fmt.Errorf("%w: it is not there any more, %d bytes were committed; %s", ErrOutput, committed, putBack)
	case size >= 0 && size < committed:
		return fmt.Errorf("%w: %s has %d bytes, %d were committed; %s", ErrOutput, name, size, committed, putBack)
	case size >= 0 && name == o.name:
		if err := o.conf.fs.Rename(o.name, o.partial()); err != nil {
			return err
		}
	}
	if o.file, err = o.conf.fs.OpenWrite(o.partial()); err != nil {
		return err
	}
	// The name comes first, be it one that a process left which was killed: else a crash could
	// leave the other name, that of what is whole, to what was cut.
	if err := o.conf.fs.SyncDir(filepath.Dir(o.name)); err != nil {
		return err
	}
	if size == committed {
		// Behind a sync that failed the file on the disk may be longer than the one that is seen,
		// and a size that does not change is not written.
		if err := o.file.Truncate(committed + 1); err != nil {
			return err
		}
	}
	if size >= 0 {
		if err := o.file.Truncate(committed); err != nil {
			return err
		}
	}
	return o.file.Sync()
}

// tailOf returns the last bytes of those of a file that were committed, which must be those of
// [WithTail].
func (c config) tailOf(name string, committed int64) ([]byte, error) {
	f, err := c.fs.Open(name)
	if err != nil {
		return nil, err
	}
	last := make([]byte, min(committed, tailSize))
	err = errors.Join(readFull(f, last, committed-int64(len(last))), f.Close())
	if err == nil && c.tail != nil && crc32.Checksum(last, castagnoli) != *c.tail {
		err = fmt.Errorf("%w: %s has other bytes before byte %d, another run has written it; %s", ErrOutput, name, committed, putBack)
	}
	return last, err
}

// putBack is what to do about an output that is not there.
const putBack = "put it back, or remove it and start anew with an empty folder for the state"

// sizeOf returns the size of a file, −1 if there is none.
func (c config) sizeOf(name string) (int64, error) {
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	if err == nil {
		// A folder may have a size, but cannot be read.
		if _, err = f.ReadAt(make([]byte, 1), 0); err == io.EOF {
			err = nil
		}
	}
	return size, errors.Join(err, f.Close())
}

// Write appends p. After an error every later call returns the same error.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf)+len(p) > cap(o.buf) {
		o.flush()
	}
	if o.err != nil {
		return 0, o.err
	}
	o.size += int64(len(p))
	if len(p) >= tailSize {
		o.last = append(o.last[:0], p[len(p)-tailSize:]...)
	} else {
		if over := len(o.last) + len(p) - tailSize; over > 0 {
			o.last = append(o.last[:0], o.last[over:]...)
		}
		o.last = append(o.last, p...)
	}
	if len(p) < cap(o.buf) {
		o.buf = append(o.buf, p...)
		return len(p), nil
	}
	if o.append(p); o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}

// flush hands the buffer to the system; mu is held.
func (o *Output) flush() {
	if len(o.buf) > 0 {
		o.append(o.buf)
		o.buf = o.buf[:0]
	}
}

func (o *Output) append(p []byte) {
	if o.err != nil {
		return
	}
	o.dirty = true
	_, err := o.file.Append(p)
	o.fail(err)
}

func (o *Output) fail(err error) {
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("resume: output %s: %w", o.name, err)
	}
}

// Size returns the bytes of the output, those that are held back included.
func (o *Output) Size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// Tail is a checksum of the last bytes that were written, 4096 at most, by which a later run tells
// the output from another one: see [WithTail].
func (o *Output) Tail() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return crc32.Checksum(o.last, castagnoli)
}

// Flush hands all that was written to the system, and returns the size, which a commit may name
// once a Sync that begins after that has returned.
func (o *Output) Flush() (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	return o.size, o.err
}

// Sync makes all that was written before it last, and returns how much that is. Where nothing was
// written since the last one it takes no time. The error is [ErrClosed] for one that is
// closed or finished. After another one nothing is known of what was written since the last
// Sync, and every later call returns the same error.
func (o *Output) Sync() (int64, error) {
	o.syncing.Lock()
	defer o.syncing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	if o.err != nil || !o.dirty {
		return o.size, o.err
	}
	file, size := o.file, o.size
	o.dirty = false
	o.mu.Unlock() // writing goes on meanwhile
	err := file.Sync()
	o.mu.Lock()
	if err != nil {
		o.fail(err)
		return 0, o.err
	}
	return size, nil
}

// Finish makes all that was written last, and gives the output its name. After an error it is as
// after a stop: to be opened at the last commit. It waits for a Sync that is under way.
func (o *Output) Finish() error {
	// A sync that is under way may be the only one to be told of a failure.
	o.syncing.Lock()
	defer o.syncing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	if o.err == nil {
		o.fail(o.file.Sync())
	}
	if o.err != nil {
		return o.err
	}
	// Some systems rename no file that is open.
	o.fail(o.file.Close())
	o.file = nil
	if o.err == nil {
		o.fail(o.conf.fs.Rename(o.partial(), o.name))
	}
	if o.err == nil {
		o.fail(o.conf.fs.SyncDir(filepath.Dir(o.name)))
	}
	if o.err != nil {
		return o.err
	}
	o.err = fmt.Errorf("%w: output %s", ErrClosed, o.name)
	return nil
}

// Close closes an output that is not finished; what is held back is not written. It returns the
// error of a write or sync that failed. After Finish, and a second time, it does nothing.
func (o *Output) Close() error {
	o.syncing.Lock()
	defer o.syncing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.err
	if errors.Is(err, ErrClosed) {
		return nil
	}
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	o.file, o.err = nil, fmt.Errorf("%w: output %s", ErrClosed, o.name)
	return err
}

// CheckOutput sees whether an output that was finished is there with that many bytes: else the
// error is [ErrOutput].
func CheckOutput(name string, size int64, opts ...Option) error {
	is, err := configure(opts).sizeOf(name)
	switch {
	case err != nil:
		return fmt.Errorf("resume: output %s: %w", name, err)
	case is < 0:
		return fmt.Errorf("%w: %s is not there any more; %s", ErrOutput, name, putBack)
	case is != size:
		return fmt.Errorf("%w: %s has %d bytes, it had %d; %s", ErrOutput, name, is, size, putBack)
	}
	if _, err := configure(opts).tailOf(name, size); err != nil {
		return fmt.Errorf("resume: output %s: %w", name, err)
	}
	return nil
}

// RemoveOutput removes an output, complete or not, if there is one. It syncs the directory, be
// it for what a process has removed that was killed.
func RemoveOutput(name string, opts ...Option) error {
	c := configure(opts)
	for _, n := range []string{name, name + PartialSuffix} {
		if err := c.fs.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("resume: output %s: %w", name, err)
		}
	}
	if err := c.fs.SyncDir(filepath.Dir(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resume: output %s: %w", name, err)
	}
	return nil
}
