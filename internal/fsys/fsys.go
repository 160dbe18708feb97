package fsys

import (
	"errors"
	"io"
	"io/fs"
)

// ErrLocked is returned by [FS.Lock] when another holds the lock. The error names the holder.
var ErrLocked = errors.New("fsys: locked")

var (
	_ FS = OS{}
	_ FS = (*Disk)(nil)
)

// failed says where an operation failed.
func failed(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// FS is the operations on files that the project needs to survive a crash. Names are those of
// the operating system. An error says where: it is an [fs.PathError] or an [os.LinkError], or
// wraps one.
//
// What is promised after a crash is what POSIX promises: bytes of a file that was synced are
// there; those that were not may be old, new, zero, or cut within a block; a name that was
// made, renamed or removed may be as before until its directory was synced.
type FS interface {
	// Open opens a file for reading at any place; writes to it fail. [fs.ErrNotExist] if there
	// is none.
	Open(name string) (File, error)
	// OpenWrite opens a file for reading and writing, and makes it if there is none. Its
	// name is on the disk once its directory is synced.
	OpenWrite(name string) (File, error)
	// Create makes a file that there is not yet: [fs.ErrExist].
	Create(name string) (File, error)
	// Rename gives a file another name, in place of what had that. Both are of one directory:
	// [fs.ErrInvalid]. Bytes of the file that were not synced stay so. On Windows neither may
	// be open.
	Rename(from, to string) error
	// Remove takes a name away, of a file or of an empty directory. On Windows a file that is
	// open cannot be removed.
	Remove(name string) error
	// MakeDir makes a directory and those above it, if there are none. Each has its name on
	// the disk once the directory above it is synced.
	MakeDir(name string) error
	// List returns the names in a directory, in order.
	List(dir string) ([]string, error)
	// SyncDir makes what was done to the names in a directory last; not what is in its files.
	SyncDir(dir string) error
	// Lock takes the lock of a name for this process, until it is closed or the process ends,
	// and never waits: [ErrLocked]. What holds the lock is written into the file, for others
	// to read. The file stays: whoever removes it lets two in.
	Lock(name, holder string) (io.Closer, error)
}

// File is an open file. It is safe for concurrent reads.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Append writes behind the end. What of it was written before an error is told by Size.
	Append(p []byte) (int, error)
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes what was written last. After an error nothing is known of what was not synced
	// before, and no later Sync may be believed.
	Sync() error
}
