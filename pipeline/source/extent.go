package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// extent is the size of a file when it was opened. A file that is written anew in
// place while it is read ends early, and must not pass for a whole one.
type extent struct {
	file statter // nil if there is no telling: a pipe, say
	size int64
}

// statter is the part of [fs.File] that tells the size.
type statter interface{ Stat() (fs.FileInfo, error) }

// errShrunk is the end of a file that was longer when it was opened.
var errShrunk = fmt.Errorf("%w: the file became shorter while it was read; read it again when nothing writes to it", ErrTruncated)

// extentOf looks at what has just been opened.
func extentOf(in io.Reader) extent {
	f, ok := in.(statter)
	if !ok {
		return extent{}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return extent{}
	}
	return extent{f, info.Size()}
}

// end makes errShrunk of io.EOF if the file has lost some of what it held. read is
// how many of its bytes were read, or less. The sizes of a file are compared with each
// other since some file systems make them up.
func (e extent) end(err error, read int64) error {
	if err != io.EOF || e.file == nil || read >= e.size {
		return err
	}
	if info, failed := e.file.Stat(); failed == nil && info.Size() < e.size {
		return errShrunk
	}
	return err
}

// hasShrunk reports whether err is errShrunk.
func hasShrunk(err error) bool { return errors.Is(err, errShrunk) }

// isLive reports whether what has just been opened gives its data when it pleases, like
// a pipe. What does not say what it is counts as a file.
func isLive(in io.Reader) bool {
	f, ok := in.(statter)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}
