package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// atomicBytes counts bytes that were read, for progress.
type atomicBytes = atomic.Int64

// tableStream is the decompressed stream of a table that is read from front to back. All
// gzip members and zstd frames are one stream.
type tableStream struct {
	ctx    context.Context // of the call that reads
	raw    *rawReader
	parts  members
	packed bool
	inside bool  // parts is inside a member
	offset int64 // bytes read
	live   bool  // a pipe, say: what comes must not wait for what follows
	dec    *zstd.Decoder
	err    error // what ends the stream
}

// openTableStream begins to read in.
func openTableStream(ctx context.Context, in *TableInput) (*tableStream, error) {
	s := &tableStream{ctx: ctx, raw: newRawReader(), live: isLive(in.File)}
	count := in.read
	if count == nil {
		count = new(atomicBytes)
	}
	s.raw.reset(in.File, 0, count)
	c := in.Compression
	if c != CompressionNone {
		if found := s.raw.sniff(); found != CompressionNone {
			c = found
		}
	}
	switch c {
	case CompressionGzip:
		s.parts, s.packed = &gzipMembers{raw: s.raw}, true
	case CompressionZstd:
		dec, err := newZstdDecoder(in.MaxWindow)
		if err != nil {
			return nil, err
		}
		s.dec, s.packed = dec, true
		s.parts = &zstdMembers{frames: zstdFrames{raw: s.raw, maxWindow: in.MaxWindow}, dec: dec}
	default:
		s.parts = &plainMembers{rawReader: s.raw}
	}
	return s, nil
}

// Read reads across members. After an error, io.EOF apart, it says where it was.
func (s *tableStream) Read(p []byte) (int, error) {
	for s.err == nil {
		if !s.inside {
			if s.err = s.parts.next(); s.err != nil {
				break
			}
			s.inside = true
		}
		n, err := s.parts.Read(p)
		s.offset += int64(n)
		switch {
		case err == io.EOF:
			s.inside = false
		case err != nil:
			s.err = err
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, s.failure()
}

// failure is the end of the stream, or what cut it off.
func (s *tableStream) failure() error {
	err, failed := s.err, s.raw.count.err
	place := fmt.Sprintf("at byte %d", s.offset)
	if s.packed {
		place = fmt.Sprintf("%s, compressed byte %d", place, s.raw.consumed())
	}
	switch {
	case err == io.EOF:
		return io.EOF
	case hasShrunk(failed), failed != nil:
		return fmt.Errorf("%s: %w", place, failed)
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrWindow):
		return fmt.Errorf("%s: %w", place, err)
	case err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%s: %w: get the whole file", place, ErrTruncated)
	}
	return fmt.Errorf("%s: %w: %w; get the file again", place, ErrCorrupt, err)
}

// seek goes to a place that lies n bytes from the beginning, from where nothing was read.
// A file is sought if it is not compressed, anything else is read up to there.
func (s *tableStream) seek(in *TableInput, n int64) error {
	if f, ok := in.File.(io.Seeker); ok && !s.packed && in.Path != Stdin {
		if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 0 {
			if size < n {
				return fmt.Errorf("%w: it has %d bytes, the place is at byte %d; give the file as it was, or start anew", ErrPosition, size, n)
			}
			if _, err := f.Seek(n, io.SeekStart); err != nil {
				return err
			}
			total := s.raw.count.total
			s.raw.reset(in.File, n, total)
			s.parts, s.inside, s.offset = &plainMembers{rawReader: s.raw}, false, n
			return nil
		}
	}
	for s.offset < n {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		_, err := io.CopyN(io.Discard, s, min(n-s.offset, seekStep))
		switch {
		case err == io.EOF:
			return fmt.Errorf("%w: it ends at byte %d, the place is at byte %d; give the file as it was, or start anew", ErrPosition, s.offset, n)
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *tableStream) close() {
	if s.dec != nil {
		s.dec.Close()
	}
}
