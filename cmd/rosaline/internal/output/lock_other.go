//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package output

import (
	"io/fs"
	"os"
)

// openLocked opens name for writing; it is created if need be. This system has
// no locks.
func openLocked(name string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE, mode)
}
