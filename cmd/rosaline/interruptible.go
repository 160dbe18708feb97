package main

import (
	"context"
	"io"
	"io/fs"
	"os"
)

// interruptible is a reader that can be left alone: a read of a terminal or pipe
// may block for ever, and a signal must end the command all the same.
type interruptible struct {
	ctx    context.Context
	in     io.Reader
	filled chan filled
	free   chan []byte
	now    filled
	rest   []byte // of now, not read yet
}

type filled struct {
	data []byte
	err  error
}

// readAhead is how much an interruptible reader asks for at once, in bytes.
const readAhead = 128 << 10

// newInterruptible returns in such that its Read returns the cause of ctx once
// that is done. The goroutine that reads in ends with in or at its first read
// after ctx is done; a read that blocks then is left behind until in is closed or
// the process ends.
func newInterruptible(ctx context.Context, in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok && isRegular(f) {
		return &checked{ctx, f}
	}
	return readAheadOf(ctx, in)
}

// readAheadOf begins to read in.
func readAheadOf(ctx context.Context, in io.Reader) *interruptible {
	r := &interruptible{ctx: ctx, in: in, filled: make(chan filled, 2), free: make(chan []byte, 2)}
	r.free <- make([]byte, readAhead)
	r.free <- make([]byte, readAhead)
	go r.fill()
	return r
}

// Stat tells the source that this is no file, if it is none: lines of a pipe do not
// wait for each other.
func (r *interruptible) Stat() (fs.FileInfo, error) {
	if f, ok := r.in.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, fs.ErrInvalid
}

// fill reads ahead by one buffer.
func (r *interruptible) fill() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case b := <-r.free:
			n, err := r.in.Read(b)
			r.filled <- filled{b[:n], err}
			if err != nil {
				return
			}
		}
	}
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.now.err != nil {
			return 0, r.now.err
		}
		if r.now.data != nil {
			r.free <- r.now.data[:cap(r.now.data)]
			r.now = filled{}
		}
		select {
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		case r.now = <-r.filled:
			r.rest = r.now.data
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// checked is a reader that never blocks. That does not mean that it ends soon: a
// line may be as long as a disk.
type checked struct {
	ctx context.Context
	in  *os.File
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.in.Read(p)
}

// ReadAt lets the source read a table from its end.
func (c *checked) ReadAt(p []byte, offset int64) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.in.ReadAt(p, offset)
}

// Seek lets the source begin where a run goes on.
func (c *checked) Seek(offset int64, whence int) (int64, error) { return c.in.Seek(offset, whence) }

// Stat makes the source see a file that becomes shorter while it is read.
func (c *checked) Stat() (fs.FileInfo, error) { return c.in.Stat() }

func isRegular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// openInterruptible opens a file for reading until ctx is done.
func openInterruptible(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := within(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, err
	}
	if isRegular(f) {
		return struct {
			*checked
			io.Closer
		}{&checked{ctx, f}, f}, nil
	}
	return struct {
		*interruptible
		io.Closer
	}{readAheadOf(ctx, f), f}, nil
}

// openStrict is [openInterruptible] that does not tell of pipes.
func openStrict(ctx context.Context, path string) (io.ReadCloser, error) {
	in, err := openInterruptible(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, file := in.(io.Seeker); file {
		return in, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{in, in}, nil
}

// within returns what open returns, or the cause of ctx if that is done before:
// the open of a named pipe waits for its other end. An open that blocks then is
// left behind until the process ends.
func within[T any](ctx context.Context, open func() (T, error)) (T, error) {
	type opened struct {
		file T
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		file, err := open()
		done <- opened{file, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case o := <-done:
		return o.file, o.err
	}
}
