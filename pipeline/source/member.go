package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// members is a stream cut where its compression cuts it: gzip members, zstd
// frames, or one piece for data that are not compressed. Where one ends matters
// because files are concatenated there, and each may begin with a byte order
// mark.
type members interface {
	// next moves to the next member; io.EOF after the last.
	next() error
	// Read reads the member; io.EOF at its end.
	io.Reader
}

// rawReader is the input before decompression. It counts what was taken from it
// for progress, and through consumed for the place of an error.
type rawReader struct {
	*bufio.Reader
	count countingReader
}

type countingReader struct {
	r     io.Reader
	whole extent // of r
	taken int64
	total *atomic.Int64
	err   error // what the input itself failed with, EOF apart
}

// emptyReads is how often in a row an input may give nothing without an error.
const emptyReads = 100

func (c *countingReader) Read(p []byte) (n int, err error) {
	for i := 0; n == 0 && err == nil && len(p) > 0; i++ {
		if i == emptyReads {
			err = io.ErrNoProgress
			break
		}
		n, err = c.r.Read(p)
	}
	c.taken += int64(n)
	c.total.Add(int64(n))
	err = c.whole.end(err, c.taken)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// rawBuffer is the read-ahead for compressed inputs, in bytes.
const rawBuffer = 64 << 10

func newRawReader() *rawReader {
	r := &rawReader{}
	r.Reader = bufio.NewReaderSize(&r.count, rawBuffer)
	return r
}

// reset makes in what is read; it begins from bytes after the input does.
func (r *rawReader) reset(in io.Reader, from int64, total *atomic.Int64) {
	r.count = countingReader{r: in, whole: extentOf(in), taken: from, total: total}
	r.Reset(&r.count)
}

// consumed returns how many bytes of the input have been used.
func (r *rawReader) consumed() int64 { return r.count.taken - int64(r.Buffered()) }

// sniff tells the compression by the first bytes. Both magics are invalid UTF-8,
// so no text is taken for compressed data. Skippable frames may stand before the
// first zstd frame; their magic is ASCII and one control character.
func (r *rawReader) sniff() Compression {
	b, _ := r.Peek(4)
	switch {
	case bytes.HasPrefix(b, gzipMagic):
		return CompressionGzip
	case len(b) == 4 && (string(b) == zstdMagic || isSkippable(b)):
		return CompressionZstd
	}
	return CompressionNone
}

// plainMembers is an input that is not compressed: one piece.
type plainMembers struct {
	*rawReader
	begun bool
}

func (p *plainMembers) next() error {
	if p.begun {
		return io.EOF
	}
	p.begun = true
	return nil
}

var gzipMagic = []byte{0x1f, 0x8b}

type gzipMembers struct {
	raw   *rawReader
	gz    gzip.Reader
	begun bool
}

func (g *gzipMembers) next() error {
	b, err := g.raw.Peek(2)
	switch {
	case len(b) == 0 && g.begun:
		return err
	case bytes.HasPrefix(gzipMagic, b):
	case !g.begun:
		return fmt.Errorf("%w: the name says gzip, the data do not; rename the file if it is not compressed", ErrCorrupt)
	case b[0] == 0:
		return g.padding()
	default:
		return fmt.Errorf("%w: what follows the gzip data is not gzip", ErrCorrupt)
	}
	g.begun = true
	if err := g.gz.Reset(g.raw); err != nil {
		return endsEarly(err)
	}
	g.gz.Multistream(false)
	return nil
}

// padding reads zeros to the end of the input: tapes and block devices leave
// them, and gzip ignores them.
func (g *gzipMembers) padding() error {
	for {
		c, err := g.raw.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return fmt.Errorf("%w: what follows the gzip data and zeros is not empty", ErrCorrupt)
		}
	}
}

func (g *gzipMembers) Read(p []byte) (int, error) { return g.gz.Read(p) }

// endsEarly makes the end of the input in the middle of something distinct from
// the end of a member.
func endsEarly(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

type zstdMembers struct {
	frames zstdFrames
	dec    *zstd.Decoder
}

func (z *zstdMembers) next() error {
	if err := z.frames.next(); err != nil {
		return err
	}
	return z.dec.Reset(&z.frames)
}

func (z *zstdMembers) Read(p []byte) (int, error) {
	n, err := z.dec.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	if !z.frames.cut {
		// Damage inside a block can look like an early end to the decoder.
		return n, fmt.Errorf("%w: zstd frame: %w", ErrCorrupt, err)
	}
	// The decoder holds back the last block until it has seen the checksum.
	// When the input ends inside the checksum the block is still whole, and
	// further calls give it, as much as there is room for at a time.
	if n == 0 {
		n, _ = z.dec.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, io.ErrUnexpectedEOF
}

// newZstdDecoder returns a decoder without goroutines for frames whose window
// has been checked.
func newZstdDecoder(maxWindow int) (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(maxWindow)),
		// A streaming decoder reads this as another cap on the window.
		zstd.WithDecoderMaxMemory(uint64(maxWindow)))
}
