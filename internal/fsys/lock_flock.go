//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fsys

import (
	"os"
	"syscall"
)

// lock takes the lock of an open file, or tells that another has it. It goes with the open
// file, so that two of one process keep each other out as well.
func lock(f *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
		default:
			return false, err
		}
	}
}

// unlock does nothing: the lock goes with the open file.
func unlock(*os.File) error { return nil }
