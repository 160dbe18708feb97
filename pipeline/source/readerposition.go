package source

import (
	"errors"
	"fmt"
	"io"
)

// ReaderPosition is a place between two lines of a [Reader]'s inputs. The zero
// value is the beginning. It is made to be saved as JSON.
//
// A reader opened there with [WithPosition], the same inputs and the same options
// gives what would have followed: lines, places, errors and counts. A file is
// sought: to the line if it is not compressed, else to the gzip member or zstd
// frame in which the place lies, of which Skip bytes are decompressed again. What
// cannot be sought, standard input and pipes, must be given again from its beginning,
// and is read up to the place. Contents are not compared: of a file that was
// changed, only a shorter one is seen.
type ReaderPosition struct {
	File        int    `json:"file"`                  // number of the input from 0; that of inputs after the last
	Path        string `json:"path,omitempty"`        // its path
	Compression string `json:"compression,omitempty"` // as found in its data: none, gzip or zstd; "" if Offset is 0
	Lines       int64  `json:"lines,omitempty"`       // lines of the input before the place
	Offset      int64  `json:"offset,omitempty"`      // bytes before the place in the decompressed stream of the input
	Member      int64  `json:"member,omitempty"`      // bytes of the compressed input before the member or frame
	Skip        int64  `json:"skip,omitempty"`        // decompressed bytes from there to the place
	Index       int64  `json:"index,omitempty"`       // non-blank lines before the place, over all inputs
	Padded      bool   `json:"padded,omitempty"`      // the line for padding has been given out
	Errors      int    `json:"errors,omitempty"`      // errors of inputs after the place that have been returned
}

// validate compares p with what is known of inputs without opening them.
func (p ReaderPosition) validate(inputs []Input) error {
	if p == (ReaderPosition{}) {
		return nil
	}
	if p.File < 0 || p.File > len(inputs) {
		return fmt.Errorf("%w: input %d of %d; give the inputs it was taken of", ErrPosition, p.File, len(inputs))
	}
	path := ""
	if p.File < len(inputs) {
		path = inputs[p.File].Path
	}
	if path != p.Path {
		return fmt.Errorf("%w: input %d is %q, it was %q; give the inputs it was taken of", ErrPosition, p.File, path, p.Path)
	}
	c := p.kind()
	for _, n := range []int64{p.Lines, p.Offset, p.Member, p.Skip, p.Index, int64(p.Errors)} {
		if n < 0 {
			return fmt.Errorf("%w: %+v has a negative number", ErrPosition, p)
		}
	}
	switch {
	case p.Offset == 0 && (p.Lines > 0 || p.Member > 0 || p.Skip > 0 || p.Compression != ""),
		p.Offset > 0 && (c == CompressionAuto || path == ""),
		p.Skip > p.Offset, c == CompressionNone && (p.Member > 0 || p.Skip > 0), p.Padded && path != "":
		return fmt.Errorf("%w: %+v contradicts itself", ErrPosition, p)
	}
	return nil
}

// kind is the compression, CompressionAuto if there is none.
func (p ReaderPosition) kind() Compression {
	for c := CompressionNone; c <= CompressionZstd; c++ {
		if c.String() == p.Compression {
			return c
		}
	}
	return CompressionAuto
}

// linePlace is where a line of an input begins.
type linePlace struct {
	lines  int64 // lines before it
	start  int64 // bytes before it, a byte order mark that belongs to it not included
	index  int64 // non-blank lines before it, over all inputs
	member memberStart
}

// memberStart is where a gzip member or zstd frame begins.
type memberStart struct {
	raw    int64 // in the compressed input
	offset int64 // in the decompressed stream
}

// Position returns the place of the first line that the next call of Next gives
// out. With [WithPosition] another reader goes on there. It is for the goroutine that
// calls Next.
//
// After an error about an input it is the beginning of the next one. An error of
// the context passes over nothing that has not been given out. Under pipeline.Drop
// it is the place of the line that waits for its row, if one does.
func (r *Reader) Position() ReaderPosition {
	switch {
	case r.closed:
		return r.last
	case r.shard.held != nil:
		p := r.shard.heldAt
		p.Errors = r.shard.heldErrors + r.shard.known
		return p
	case r.open && r.in.chunk != nil:
		return r.position(r.in.begun)
	case r.open:
		return r.position(r.in.linePlace)
	}
	if p := r.resume; p != nil {
		return *p // before the first Next
	}
	p := ReaderPosition{File: r.at, Index: r.index, Padded: r.shard.padded, Errors: r.shard.known}
	if r.at < len(r.inputs) {
		p.Path = r.inputs[r.at].Path
	}
	return p
}

// position makes a position of a place in the input being read.
func (r *Reader) position(at linePlace) ReaderPosition {
	p := ReaderPosition{File: r.at - 1, Path: r.in.Path, Index: at.index, Errors: r.shard.known}
	if at.start == 0 {
		return p
	}
	p.Compression, p.Lines, p.Offset = r.in.kind.String(), at.lines, at.start
	if r.in.kind != CompressionNone {
		p.Member, p.Skip = at.member.raw, at.start-at.member.offset
	}
	return p
}

// seeking is the way from where an input was opened to a place in it.
type seeking struct {
	raw   int64 // bytes of the input still to be passed over
	skip  int64 // then of the decompressed stream
	place ReaderPosition
}

// seekStep is how many bytes are passed over between looks at the context.
const seekStep = 1 << 20

// startSeek begins to read the open input, from, at a place in it.
func (r *Reader) startSeek(from io.Reader, p ReaderPosition) error {
	in := &r.in
	in.kind, in.offset = p.kind(), p.Offset
	in.member = memberStart{p.Member, p.Offset - p.Skip}
	in.linePlace = linePlace{p.Lines, p.Offset, p.Index, in.member}
	in.seek = &seeking{raw: p.Member, skip: p.Skip, place: p}
	if in.kind == CompressionNone {
		in.seek.raw = p.Offset
	}
	if s, ok := from.(io.Seeker); ok && in.Path != Stdin {
		// Pipes and devices have no size.
		if size, err := s.Seek(0, io.SeekEnd); err == nil {
			if size > 0 && size < in.seek.raw {
				return fmt.Errorf("%w: %s has %d bytes, the place is at byte %d; give the file as it was, or start anew", ErrPosition, in.Path, size, in.seek.raw)
			}
			to := in.seek.raw
			if size == 0 {
				to = 0
			}
			if _, err := s.Seek(to, io.SeekStart); err != nil {
				return fmt.Errorf("source: %w", err)
			}
			in.seek.raw -= to
			r.read.Add(to)
			r.raw.reset(from, to, &r.read)
			return nil
		}
	}
	r.raw.reset(from, 0, &r.read)
	return nil
}

// seekOn goes a step on the way to the place.
func (r *Reader) seekOn() error {
	in := &r.in
	s := in.seek
	if s.raw > 0 {
		n, err := r.raw.Discard(int(min(s.raw, seekStep)))
		if s.raw -= int64(n); err != nil {
			return r.seekFailed(err)
		}
		return nil
	}
	if in.stream == nil {
		if c := r.raw.sniff(); in.kind != CompressionNone && c != in.kind {
			return r.seekFailed(fmt.Errorf("no %v data begin there", in.kind))
		}
		if err := r.decompress(in.kind); err != nil {
			return err
		}
		if p, ok := in.stream.(*plainMembers); ok {
			p.begun, in.inside = true, true
		}
	}
	for done := 0; s.skip > 0; {
		if done >= seekStep {
			return nil
		}
		if !in.inside {
			if err := in.stream.next(); err != nil {
				return r.seekFailed(err)
			}
			in.inside = true
		}
		n, err := in.stream.Read(r.buf[:min(int64(len(r.buf)), s.skip)])
		done += n
		s.skip -= int64(n)
		switch {
		case err == io.EOF:
			in.inside = false
		case err != nil && s.skip > 0:
			return r.seekFailed(err)
		default:
			in.restErr = err
		}
		if err == io.EOF && s.skip > 0 {
			return r.seekFailed(err)
		}
	}
	in.seek = nil
	return nil
}

// seekFailed says that the place cannot be reached.
func (r *Reader) seekFailed(err error) error {
	in := &r.in
	switch {
	case err == io.EOF, hasShrunk(r.raw.count.err):
		err = errors.New("it is shorter than it was")
	case r.raw.count.err != nil:
		err = fmt.Errorf("source: %w", r.raw.count.err)
	}
	p := in.seek.place
	return fmt.Errorf("%w: %s: at byte %d, compressed byte %d: %w; give the file as it was, or start anew", ErrPosition, in.Path, p.Offset, p.Member, err)
}
