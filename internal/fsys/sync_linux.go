package fsys

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Sync leaves out what of a file is not needed to read it again, such as its times: that
// spares the journal one write.
func (f *file) Sync() error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := raw.Control(func(fd uintptr) {
		for {
			if failure = unix.Fdatasync(int(fd)); failure != unix.EINTR {
				return
			}
		}
	}); err != nil {
		return failed("sync", f.Name(), fs.ErrClosed) // all that keeps it from being called
	}
	if failure != nil {
		return failed("sync", f.Name(), failure)
	}
	return nil
}
