//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package fsys

import (
	"errors"
	"os"
)

// lock cannot: this system has no such call.
func lock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func unlock(*os.File) error { return nil }
