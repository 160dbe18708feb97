package fsys

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// far is the byte that is locked. Nobody else could read it: so it is far behind the holder's
// name.
func far() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// lock takes the lock of an open file, or tells that another has it.
func lock(f *os.File) (bool, error) {
	const now = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), now, 0, 1, 0, far())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, err
}

// unlock is there because Windows takes its time to do so for a file that is closed.
func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, far())
}
