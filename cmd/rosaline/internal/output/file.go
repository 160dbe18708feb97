package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Stdout is the path that stands for standard output.
const Stdout = "-"

// ErrDirectory is returned when the path of an output is a folder.
var ErrDirectory = errors.New("output: path is a folder")

// File is an output being written. Only one goroutine may use it.
//
//	regular or new   written to path.partial, renamed to path by Commit
//	"-"              written straight to standard output, which stays open
//	anything else    (a pipe, a device, /dev/stderr) written straight
//
// The names *.gz and *.zst are compressed.
type File struct {
	path    string // as the user gave it
	target  string // where Commit renames to; "" when written straight
	out     io.Writer
	file    *os.File // nil for standard output
	packer  io.WriteCloser
	begun   bool // Write was called with something
	written int64
	err     error // the first failure; nothing is written after it
}

// Create opens path for writing; stdout serves for "-". The error wraps
// [ErrDirectory], [ErrBusy] or [ErrNotRegular], or is that of the system.
func Create(path string, stdout io.Writer) (*File, error) {
	f := &File{path: path, out: stdout}
	if path == Stdout {
		return f, nil
	}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("%s: cannot write: %w", path, err)
	}
	f.out = f.file
	if pack := packerOf(path); pack != nil {
		var err error
		if f.packer, err = pack(counter{f}); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.file.Close())
		}
	}
	return f, nil
}

// packerOf is what compresses a file of that name; nil: nothing does.
func packerOf(path string) func(io.Writer) (io.WriteCloser, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		return func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
	case ".zst":
		// One goroutine: the bytes do not depend on timing.
		return func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }
	}
	return nil
}

// IsCompressed reports whether a file of that name is compressed.
func IsCompressed(path string) bool { return packerOf(path) != nil }

func (f *File) open() error {
	if IsStream(f.path) {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
		f.file = file
		return err
	}
	target, mode, err := regularTarget(f.path)
	if err != nil {
		return err
	}
	f.target = target
	f.file, err = openPartial(f.partial(), mode)
	return err
}

// regularTarget returns the file that is replaced by an output of that path, which may not be
// there, and its mode. The error is [ErrDirectory] or [ErrNotRegular], or that of the system.
func regularTarget(path string) (target string, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return linkTarget(path), 0o666, nil
	case err != nil:
		return "", 0, err
	case info.IsDir():
		return "", 0, ErrDirectory
	case !info.Mode().IsRegular():
		return "", 0, fmt.Errorf("%w: %s", ErrNotRegular, path)
	}
	// Behind a symbolic link it is the file that is replaced, not the link.
	target, err = filepath.EvalSymlinks(path)
	return target, info.Mode().Perm(), err
}

// IsStream reports whether what is written to path goes on at once: standard output, a pipe, a
// device.
func IsStream(path string) bool {
	if path == Stdout || isDescriptor(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// maxLinks is how many symbolic links one name may lead through.
const maxLinks = 40

// linkTarget returns where path leads when nothing is there, or not yet: path
// itself, or what the symbolic links that begin at it name.
func linkTarget(path string) string {
	target := path
	for range maxLinks {
		next, err := os.Readlink(target)
		if err != nil {
			return target
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(target), next)
		}
		target = next
	}
	return path
}

// isDescriptor reports whether path names an open file of the process. That may
// lead to a regular file, which must be written through what is open, not
// replaced.
func isDescriptor(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") ||
		strings.HasPrefix(path, "/proc/") && strings.Contains(path, "/fd/")
}

// counter writes to the file itself and counts.
type counter struct{ f *File }

func (c counter) Write(p []byte) (int, error) {
	n, err := c.f.out.Write(p)
	c.f.written += int64(n)
	return n, err
}

// Write writes p. After an error every further call returns that error.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	f.begun = f.begun || len(p) > 0
	var w io.Writer = counter{f}
	if f.packer != nil {
		w = f.packer
	}
	n, err := w.Write(p)
	f.fail(err)
	return n, f.err
}

func (f *File) fail(err error) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: cannot write: %w", f.path, err)
	}
}

// Straight reports whether the file is written as it comes: a stream, a pipe, a
// device, where nothing can be replaced.
func (f *File) Straight() bool { return f.target == "" }

// Err returns the first error, after which nothing is written.
func (f *File) Err() error { return f.err }

// Path returns the name that was given to [Create].
func (f *File) Path() string { return f.path }

// Written returns how many bytes reached the file, after compression.
func (f *File) Written() int64 { return f.written }

// Partial returns the name that holds what was written if the file does not
// become complete. It is "" for a file that is written straight, and while
// nothing has been written.
func (f *File) Partial() string {
	if f.target == "" || !f.begun {
		return ""
	}
	return f.partial()
}

func (f *File) partial() string { return f.target + PartialSuffix }

// Commit completes the file: what is buffered is written and synced, and the
// file gets its name. If any of this fails, or a Write has failed, it does what
// Abort does and returns the first error.
func (f *File) Commit() error {
	f.flush()
	if f.err == nil && f.target != "" {
		f.fail(os.Rename(f.partial(), f.target))
	}
	f.close()
	return f.err
}

// Abort closes the file and leaves what was written under its partial name, or
// nothing if nothing was written. It returns the first error of any Write or of
// closing.
func (f *File) Abort() error {
	f.flush()
	if f.target != "" && !f.begun {
		f.fail(os.Remove(f.partial()))
	}
	f.close()
	return f.err
}

// flush writes what is buffered.
func (f *File) flush() {
	if f.packer != nil {
		f.fail(f.packer.Close()) // releases its memory even after a failure
		f.packer = nil
	}
	if f.err == nil && f.file != nil && f.target != "" {
		f.fail(f.file.Sync())
	}
}

// close lets go of the partial name. Commit and Abort are through with it by
// then: from here on another run may write there.
func (f *File) close() {
	if f.file != nil {
		f.fail(f.file.Close())
		f.file = nil
	}
}
