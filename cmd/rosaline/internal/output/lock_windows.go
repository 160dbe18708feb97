package output

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errSharing is what Windows says of a file that somebody else keeps to himself.
const errSharing = syscall.Errno(32)

// openLocked opens name for writing and shares it with readers only; it is
// created if need be. It can be renamed and removed while it is open. The error
// is [ErrBusy] when it is being written already.
func openLocked(name string, _ fs.FileMode) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_DELETE,
		nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, errSharing):
		return nil, ErrBusy
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
