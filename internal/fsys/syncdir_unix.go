//go:build unix

package fsys

import (
	"errors"
	"os"
	"syscall"
)

// syncDir takes EINVAL for done: it is how a file system says that it keeps no names back, or
// has no way to.
func syncDir(d *os.File) error {
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
