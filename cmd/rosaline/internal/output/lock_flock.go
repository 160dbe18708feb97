//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openLocked opens name for writing and locks it; it is created if need be. The
// error is [ErrBusy] when it is locked already.
func openLocked(name string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(ErrBusy, f.Close())
		}
		return f, nil // any other error: the file system has no locks
	}
}
