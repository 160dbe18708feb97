package source

import (
	"fmt"
	"io"
	"os"
)

// ReaderOption changes how a [Reader] works.
type ReaderOption func(*readerConfig)

type readerConfig struct {
	stdin      io.Reader
	open       func(path string) (io.ReadCloser, error)
	maxLine    int
	chunkBytes int
	chunkLines int
	maxWindow  int
}

func defaultReaderConfig() readerConfig {
	return readerConfig{
		stdin:      os.Stdin,
		open:       openFile,
		maxLine:    16 << 20,
		chunkBytes: 256 << 10,
		chunkLines: 1 << 14,
		maxWindow:  128 << 20,
	}
}

// WithStdin sets what "-" reads from; default os.Stdin.
func WithStdin(in io.Reader) ReaderOption {
	return func(c *readerConfig) { c.stdin = in }
}

// WithOpen sets what opens an input that is not "-"; default os.Open. A caller
// that must not wait for ever for a named pipe or a terminal opens it in its own
// way. The reader closes what it was given.
func WithOpen(open func(path string) (io.ReadCloser, error)) ReaderOption {
	return func(c *readerConfig) { c.open = open }
}

func openFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // not f: an interface that holds a nil pointer is not nil
	}
	return f, nil
}

// WithMaxLine sets the length in bytes, without its end, up to which a line is
// kept; default 16 MiB, range 1 to 1 GiB. A longer line is passed over, whatever
// its length, and becomes a [Line] that is TooLong.
func WithMaxLine(n int) ReaderOption {
	return func(c *readerConfig) { c.maxLine = n }
}

// WithChunkBytes sets the size in bytes from which on a chunk gets no more
// lines; default 256 KiB, range 1 to 1 GiB.
func WithChunkBytes(n int) ReaderOption {
	return func(c *readerConfig) { c.chunkBytes = n }
}

// WithChunkLines sets the largest number of lines in a chunk; default 16,384,
// range 1 to 2²⁴.
func WithChunkLines(n int) ReaderOption {
	return func(c *readerConfig) { c.chunkLines = n }
}

// WithMaxWindow sets the largest window in bytes that a zstd frame may ask for;
// default 128 MiB, range 1 KiB to 1 GiB. Frames made with zstd --long=28 or more
// need a larger one than the default.
func WithMaxWindow(n int) ReaderOption {
	return func(c *readerConfig) { c.maxWindow = n }
}

func (c readerConfig) validate() error {
	if c.stdin == nil {
		return fmt.Errorf("%w: WithStdin(nil)", ErrOption)
	}
	if c.open == nil {
		return fmt.Errorf("%w: WithOpen(nil)", ErrOption)
	}
	for _, o := range []struct {
		name      string
		v, lo, hi int
	}{
		{"WithMaxLine", c.maxLine, 1, 1 << 30},
		{"WithChunkBytes", c.chunkBytes, 1, 1 << 30},
		{"WithChunkLines", c.chunkLines, 1, 1 << 24},
		{"WithMaxWindow", c.maxWindow, 1 << 10, 1 << 30},
	} {
		if o.v < o.lo || o.v > o.hi {
			return fmt.Errorf("%w: %s(%d) is not from %d to %d", ErrOption, o.name, o.v, o.lo, o.hi)
		}
	}
	return nil
}
