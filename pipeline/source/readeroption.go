package source

import (
	"fmt"
	"io"
	"os"

	"github.com/rosaline-go/rosaline/pipeline"
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
	readers    int
	shard      pipeline.Sharding
	position   ReaderPosition
	tables     tableConfig
}

func defaultReaderConfig() readerConfig {
	return readerConfig{
		stdin:      os.Stdin,
		open:       openFile,
		maxLine:    16 << 20,
		chunkBytes: 256 << 10,
		chunkLines: 1 << 14,
		maxWindow:  128 << 20,
		readers:    1,
		shard:      pipeline.Sharding{World: 1},
		tables:     defaultTableConfig(),
	}
}

// WithStdin sets what "-" reads from; default os.Stdin.
func WithStdin(in io.Reader) ReaderOption {
	return func(c *readerConfig) { c.stdin = in }
}

// WithOpen sets what opens an input that is not "-"; default os.Open. A caller
// that must not wait for ever for a named pipe or a terminal opens it in its own
// way. The reader closes what it was given. If that has the method Stat of [fs.File],
// a file that becomes shorter while it is read is [ErrTruncated], not a file that ends.
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

// WithReaders sets how many goroutines read a large file at once, each a range of
// 256 KiB, while lines are made of the ranges before; default 1, which is the goroutine
// that calls Next alone; range 1 to 1024. It helps where reading waits: for a disk, or for the
// copy out of the page cache. Lines, places and errors are the same. What [WithOpen]
// gives must have ReadAt and Stat for that, as [os.File] has; pipes are read by one.
func WithReaders(n int) ReaderOption {
	return func(c *readerConfig) { c.readers = n }
}

// WithPosition opens the reader at a place that [Reader.Position] told for the same inputs;
// default the beginning. See [ReaderPosition] for what is read again.
func WithPosition(p ReaderPosition) ReaderOption {
	return func(c *readerConfig) { c.position = p }
}

// WithShard makes the reader give out the lines of one rank: those whose position is rank
// modulo world, where positions count the non-blank lines of all inputs from 0;
// default rank 0 of world 1, which is every line. Lines of other ranks are read,
// but not kept. Lines over the cap and lines that cannot be decoded have a
// position. Blank lines are not given out, rank 0 counts them.
//
// When the number n of positions is no multiple of world, [pipeline.Uneven] gives
// the first ranks one line more. [pipeline.Pad] gives the last ranks a line again,
// the one at their next position modulo n, as a chunk of its own whose line is
// Padded; inputs are opened again for that, so standard input is refused.
// [pipeline.Drop] leaves the last lines out: a line is given out when its row of
// world lines is complete. An input that is cut off counts as far as it goes.
func WithShard(rank, world int, mode pipeline.ShardMode) ReaderOption {
	return func(c *readerConfig) { c.shard = pipeline.Sharding{Rank: rank, World: world, Mode: mode} }
}

func (c readerConfig) validate() error {
	if c.stdin == nil {
		return fmt.Errorf("%w: WithStdin(nil)", ErrOption)
	}
	if c.open == nil {
		return fmt.Errorf("%w: WithOpen(nil)", ErrOption)
	}
	if s := c.shard; s.World < 1 || s.Rank < 0 || s.Rank >= s.World || s.Mode > pipeline.Drop {
		return fmt.Errorf("%w: WithShard(%d, %d, %v): ranks go from 0 to world-1, modes are Uneven, Pad and Drop", ErrOption, s.Rank, s.World, s.Mode)
	}
	if err := c.tables.validate(); err != nil {
		return err
	}
	for _, o := range []struct {
		name      string
		v, lo, hi int
	}{
		{"WithMaxLine", c.maxLine, 1, 1 << 30},
		{"WithChunkBytes", c.chunkBytes, 1, 1 << 30},
		{"WithChunkLines", c.chunkLines, 1, 1 << 24},
		{"WithMaxWindow", c.maxWindow, 1 << 10, 1 << 30},
		{"WithReaders", c.readers, 1, 1024},
	} {
		if o.v < o.lo || o.v > o.hi {
			return fmt.Errorf("%w: %s(%d) is not from %d to %d", ErrOption, o.name, o.v, o.lo, o.hi)
		}
	}
	return nil
}
