package fsys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// OS is the files of the operating system.
type OS struct{}

// maxHolder is how much of a lock file is read for the name of its holder, in bytes.
const maxHolder = 1 << 10

// Open opens a file for reading.
func (OS) Open(name string) (File, error) { return open(name, os.O_RDONLY) }

// OpenWrite opens a file for reading and writing, and makes it if there is none.
func (OS) OpenWrite(name string) (File, error) { return open(name, os.O_RDWR|os.O_CREATE) }

// Create makes a file that there is not yet.
func (OS) Create(name string) (File, error) { return open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL) }

func open(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return &file{File: f}, nil
}

// Rename gives a file another name of the same directory.
func (OS) Rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrInvalid}
	}
	return os.Rename(from, to)
}

// Remove takes a name away.
func (OS) Remove(name string) error { return os.Remove(name) }

// MakeDir makes a directory and those above it.
func (OS) MakeDir(name string) error { return os.MkdirAll(name, 0o777) }

// List returns the names in a directory, in order of their bytes.
func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// SyncDir makes what was done to the names in a directory last. Windows has no such call:
// there it only sees whether the directory is there.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
}

// Lock takes the lock of a name. A file system without locks is an error that wraps what the
// system says of it, or [errors.ErrUnsupported]: two writers would be worse than none.
func (OS) Lock(name, holder string) (io.Closer, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		taken, err := lock(f)
		switch {
		case err != nil:
			return nil, errors.Join(failed("lock", name, err), f.Close())
		case !taken:
			// One who has only just taken it may not have written its name yet.
			text, _ := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
			return nil, errors.Join(failed("lock", name, locked(string(text))), f.Close())
		}
		// Between opening and locking, somebody may have put another file there.
		same, err := isAt(f, name)
		if err == nil && same {
			if _, err = f.WriteAt([]byte(holder), 0); err == nil {
				err = f.Truncate(int64(len(holder)))
			}
			if err == nil {
				return held{f}, nil
			}
		}
		if closed := f.Close(); err != nil || closed != nil {
			return nil, errors.Join(err, closed)
		}
	}
}

// held is a lock until it is closed.
type held struct{ *os.File }

func (h held) Close() error { return errors.Join(unlock(h.File), h.File.Close()) }

// isAt tells whether an open file still has its name.
func isAt(f *os.File, name string) (bool, error) {
	this, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(this, there), err
}

// locked names the holder of a lock, if that is known.
func locked(holder string) error {
	if holder = strings.TrimSpace(holder); holder == "" {
		return ErrLocked
	}
	return fmt.Errorf("%w by %s", ErrLocked, holder)
}

// file is an open file of the system.
type file struct {
	*os.File
	appends sync.Mutex
}

// Append asks for the end each time: O_APPEND would forbid WriteAt, and an end that is kept
// would be wrong after a write that failed half way.
func (f *file) Append(p []byte) (int, error) {
	f.appends.Lock()
	defer f.appends.Unlock()
	end, err := f.Size()
	if err != nil {
		return 0, err
	}
	return f.WriteAt(p, end)
}

// Size is told by a seek, which unlike Stat allocates nothing. Nothing here reads or writes at
// the place that it moves.
func (f *file) Size() (int64, error) { return f.Seek(0, io.SeekEnd) }
