package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// PartialSuffix is added to the name of a file until it is complete.
const PartialSuffix = ".partial"

// ErrBusy is returned when another process is writing the same file.
var ErrBusy = errors.New("output: another run is writing this file")

// ErrNotRegular is returned when something that is not a regular file has the
// partial name of an output.
var ErrNotRegular = errors.New("output: not a regular file")

// openPartial opens the file called name for writing, empty. Until it is closed
// every other call for that name fails with [ErrBusy], also in other processes,
// where the system and the file system have locks.
func openPartial(name string, mode fs.FileMode) (*os.File, error) {
	for {
		// A link would be written through and then renamed itself; opening a pipe
		// would wait for a reader.
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: %s is in the way; remove it", ErrNotRegular, name)
		}
		f, err := openLocked(name, mode)
		switch {
		case errors.Is(err, ErrBusy):
			return nil, fmt.Errorf("%w; wait for its end or choose another name", err)
		case err != nil:
			return nil, err
		}
		// Between opening and locking, its last writer may have given the file
		// another name.
		info, err := f.Stat()
		if err == nil {
			var now fs.FileInfo
			if now, err = os.Lstat(name); err == nil && os.SameFile(info, now) {
				if err = f.Truncate(0); err == nil {
					return f, nil
				}
			}
		}
		if closed := f.Close(); closed != nil {
			return nil, closed
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}
