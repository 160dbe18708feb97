package inspection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrKind is returned when a file is none that can be inspected.
var ErrKind = errors.New("inspection: neither Arrow nor Parquet, nor the state of a run")

var (
	arrowMagic   = []byte("ARROW1")
	parquetMagic = []byte("PAR1")
	streamMagic  = []byte{0xFF, 0xFF, 0xFF, 0xFF} // begins a message
)

// File inspects a regular file. An error says that it could not be read, is not of a
// kind that is known ([ErrKind]), or that ctx is done; a file that is not sound is no
// error but has [Report.Fault].
func File(ctx context.Context, path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w; name a regular file", path, ErrKind)
	}
	r := &Report{Path: path, Bytes: info.Size(), Compression: []string{}, Sound: true}
	err = r.read(&contextReader{ctx, f})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// read inspects what is in a file of r.Bytes.
func (r *Report) read(in interface {
	io.ReaderAt
	io.Seeker
}) error {
	head := make([]byte, len(arrowMagic))
	n, err := in.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, arrowMagic):
		r.arrowFile(in)
	case bytes.HasPrefix(head, parquetMagic):
		r.parquet(in)
	case bytes.HasPrefix(head, streamMagic):
		r.arrowStream(in, 0)
	default:
		return fmt.Errorf("%w: it begins with %q", ErrKind, head)
	}
	return nil
}

// contextReader fails once its context is done: a file may be as long as a disk.
type contextReader struct {
	ctx context.Context
	*os.File
}

// ReadAt implements [io.ReaderAt].
func (c *contextReader) ReadAt(p []byte, at int64) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.File.ReadAt(p, at)
}
