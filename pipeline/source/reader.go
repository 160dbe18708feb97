package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"

	"github.com/rosaline-go/rosaline/pipeline"
)

// readBuffer is how many decompressed bytes are asked for at a time.
const readBuffer = 64 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads inputs one after the other and cuts them into chunks of whole
// lines. A line ends with LF or CR LF; the last line of an input needs no end.
// One byte order mark is taken off where an input begins, and where a gzip
// member or zstd frame begins together with a line, as happens when files are
// concatenated.
//
// Memory for lines is bounded by the chunk size plus the cap on a line, for
// each chunk that has not been released; memory for zstd by the cap on its window. A
// Reader starts no goroutine unless [WithReaders] says so. It is for one goroutine, [Reader.Progress] apart.
type Reader struct {
	inputs []Input
	cfg    readerConfig
	at     int // the next input
	closed bool
	last   ReaderPosition // when it was closed
	index  int64          // non-blank lines before the next input
	shard  lineShard
	resume *ReaderPosition // in the next input, nil if it is read from its beginning

	open bool // an input is being read
	in   openInput
	raw  *rawReader
	gzip gzipMembers
	zstd zstdMembers
	buf  []byte
	pool chunkPool

	read  atomic.Int64
	total int64
}

// openInput is the state of the input being read.
type openInput struct {
	Input
	live    bool      // a pipe, say: what comes must not wait for what follows
	file    io.Closer // nil for standard input
	stream  members
	seek    *seeking // on the way to the place at which the reader was opened
	kind    Compression
	member  memberStart
	inside  bool   // stream is inside a member
	rest    []byte // decompressed, not yet in a chunk
	restErr error  // what comes after rest
	offset  int64  // of rest in the decompressed stream

	chunk     *Chunk    // being filled
	begun     linePlace // where chunk begins
	linePlace           // of the line being filled
	lineStart int       // of that line in chunk.data
	lineLen   int64     // its length so far, with its end
	long      bool      // it is over the cap
	passed    bool      // it is another rank's, and not kept
	boms      int64     // byte order marks before it
}

// NewReader returns a reader of inputs in their order. Nothing is opened before
// the first [Reader.Next]. The error is [ErrOption], or [ErrPosition] when the
// place of [WithPosition] is not one of the inputs.
func NewReader(inputs []Input, opts ...ReaderOption) (*Reader, error) {
	r := &Reader{inputs: inputs, cfg: defaultReaderConfig()}
	for _, o := range opts {
		o(&r.cfg)
	}
	if err := r.cfg.validate(); err != nil {
		return nil, err
	}
	if err := r.cfg.position.validate(inputs); err != nil {
		return nil, err
	}
	return r, r.prepare()
}

// prepare makes a reader of inputs and options that have been looked at.
func (r *Reader) prepare() error {
	p := r.cfg.position
	r.at, r.index = p.File, p.Index
	if p.Offset > 0 {
		r.resume = &p
	}
	r.shard.begin(r.cfg.shard, p)
	r.pool.bytes, r.pool.maxLine = r.cfg.chunkBytes, r.cfg.maxLine
	before := int64(0) // bytes of the inputs that are not read
	for i, in := range r.inputs {
		if in.Path == Stdin && r.shard.mode == pipeline.Pad {
			return fmt.Errorf("%w: WithShard: Pad reads its inputs twice, which standard input does not allow; use Drop", ErrOption)
		}
		if r.total < 0 {
			continue
		}
		info, err := os.Stat(in.Path)
		if in.Path == Stdin || err != nil || !info.Mode().IsRegular() {
			r.total = -1
			continue
		}
		r.total += info.Size()
		if i < p.File {
			before += info.Size()
		}
	}
	r.read.Store(before)
	return nil
}

// Next returns the next chunk, io.EOF after the last. A chunk is filled before it is
// returned, except that of what is not a file, like a pipe, whole lines that have come
// are returned at once.
//
// When an input cannot be opened, or is cut off or corrupt, Next first returns
// every line that was whole before that place, then the error, with the place
// and what was not delivered: [ErrTruncated], [ErrCorrupt], [ErrWindow] or the
// error of the read. The unfinished line before the place is not delivered. A
// caller that goes on after such an error gets the inputs that follow.
//
// ctx is looked at before each read. Once it is done Next returns its error and
// loses nothing: a later call goes on. A read that blocks is not interrupted, unless
// what [WithOpen] or [WithStdin] gave does it.
func (r *Reader) Next(ctx context.Context) (*Chunk, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !r.open {
			if r.closed {
				return nil, io.EOF
			}
			if r.at == len(r.inputs) {
				return r.endShard(ctx)
			}
			in := r.inputs[r.at]
			r.at++
			if err := r.begin(in); err != nil {
				if err = errors.Join(err, r.end()); !r.shard.knows(err) {
					return nil, err
				}
				continue
			}
		}
		c, err := r.fill(ctx)
		switch {
		case c != nil:
			return c, nil
		case ctx.Err() != nil && err == ctx.Err():
			return nil, err
		}
		if err == io.EOF {
			err = nil
		}
		if err = errors.Join(err, r.end()); err != nil && !r.shard.knows(err) {
			return nil, err
		}
	}
}

// Close closes what is open. Further calls of Next return io.EOF.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.last, r.closed = r.Position(), true
	err := r.end()
	if r.zstd.dec != nil {
		r.zstd.dec.Close()
	}
	return err
}

// Progress returns how many bytes have been read from the inputs, as they lie
// there (compressed), and how many there are; −1 if that is not known. It may be
// called from any goroutine.
func (r *Reader) Progress() (bytesRead, bytesTotal int64) {
	return r.read.Load(), r.total
}

// begin opens an input.
func (r *Reader) begin(in Input) error {
	r.open = true
	r.in = openInput{Input: in, linePlace: linePlace{index: r.index}}
	resume := r.resume
	r.resume = nil
	if in.Format == FormatAuto {
		f, c, known := splitName(in.Path)
		switch {
		case in.Path == Stdin:
			f = FormatJSONL
		case !known:
			return fmt.Errorf("%w: %s: declare its format", ErrFormat, in.Path)
		}
		r.in.Format = f
		if in.Compression == CompressionAuto {
			r.in.Compression = c
		}
	}
	if r.in.Format != FormatJSONL && r.in.Format != FormatText {
		return fmt.Errorf("%w: %s: %v has no lines; read it by Chunks", ErrFormat, in.Path, r.in.Format)
	}
	var from io.Reader = r.cfg.stdin
	if in.Path != Stdin {
		f, err := r.cfg.open(in.Path)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		if ranges := newRangeReader(f, r.cfg.readers); ranges != nil {
			f = ranges
		}
		r.in.file, from = f, f
	}
	r.in.live = isLive(from)
	if r.raw == nil {
		r.raw = newRawReader()
		r.buf = make([]byte, readBuffer)
	}
	if resume != nil {
		return r.startSeek(from, *resume)
	}
	r.raw.reset(from, 0, &r.read)
	if !r.in.live && in.Path != Stdin {
		begin, _ := r.raw.Peek(beginningBytes)
		if err := checkBeginning(r.in.Input, begin); err != nil {
			return fmt.Errorf("source: %s: %w", in.Path, err)
		}
	}
	return r.decompress(CompressionAuto)
}

// decompress chooses the stream, by known unless that is CompressionAuto: then by
// what the data are, or by what they are said to be if they do not look compressed.
func (r *Reader) decompress(known Compression) error {
	c := known
	if c == CompressionAuto {
		c = r.in.Compression
		if c != CompressionNone {
			if found := r.raw.sniff(); found != CompressionNone {
				c = found
			}
		}
	}
	r.in.kind = c
	switch c {
	case CompressionGzip:
		r.gzip.raw, r.gzip.begun = r.raw, false
		r.in.stream = &r.gzip
	case CompressionZstd:
		if r.zstd.dec == nil {
			dec, err := newZstdDecoder(r.cfg.maxWindow)
			if err != nil {
				return fmt.Errorf("source: %w", err)
			}
			r.zstd.dec = dec
		}
		r.zstd.frames = zstdFrames{raw: r.raw, maxWindow: r.cfg.maxWindow}
		r.in.stream = &r.zstd
	default:
		r.in.kind = CompressionNone
		r.in.stream = &plainMembers{rawReader: r.raw}
	}
	return nil
}

// end closes the input being read.
func (r *Reader) end() error {
	if !r.open {
		return nil
	}
	r.open = false
	if r.in.chunk != nil {
		r.in.chunk.Release()
	}
	f := r.in.file
	r.index = r.in.index
	r.in = openInput{}
	if r.raw != nil {
		r.raw.reset(nil, 0, &r.read)
	}
	if f == nil {
		return nil
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	return nil
}

// fill adds lines to the chunk until it is large enough or the input ends. It
// returns a chunk, or the error that comes after the last one.
func (r *Reader) fill(ctx context.Context) (*Chunk, error) {
	in := &r.in
	for {
		if in.chunk == nil {
			in.chunk = r.pool.get(in.Path, in.Format, in.lines+1)
			in.lineStart, in.begun = 0, in.linePlace
		}
		for len(in.rest) > 0 {
			r.takeLine()
			if in.lineLen > 0 {
				break // and rest is empty
			}
			if h := r.shard.due(); h != nil {
				return h, nil
			}
			if c := in.chunk; !r.shard.waiting && c.full(&r.cfg, in.lines) {
				in.chunk = nil
				return c, nil
			}
		}
		if in.restErr != nil {
			return r.finish()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c := in.chunk; in.live && in.seek == nil && !r.shard.waiting && len(c.spans) > 0 &&
			len(c.data) == in.lineStart && in.lineLen == 0 {
			in.chunk = nil // the next read may take for ever
			return c, nil
		}
		if in.seek == nil {
			r.readMore()
		} else if err := r.seekOn(); err != nil {
			return nil, err
		}
	}
}

// full reports whether c gets no more lines, of an input with lines behind it.
func (c *Chunk) full(cfg *readerConfig, lines int64) bool {
	return len(c.data) >= cfg.chunkBytes || len(c.spans) >= cfg.chunkLines ||
		len(c.spans) > 0 && lines-c.first >= math.MaxInt32
}

// takeLine moves bytes from rest to the chunk, up to the end of the line.
func (r *Reader) takeLine() {
	in, c := &r.in, r.in.chunk
	piece, ended := in.rest, false
	if i := bytes.IndexByte(piece, '\n'); i >= 0 {
		piece, ended = piece[:i+1], true
	}
	in.rest = in.rest[len(piece):]
	in.offset += int64(len(piece))
	in.lineLen += int64(len(piece))
	switch {
	case in.passed:
	case r.shard.turn != r.shard.rank && !isWhite(piece):
		c.data = c.data[:in.lineStart]
		in.passed = true
	case in.long:
		// The last byte is kept to tell CR LF from LF.
		c.data = append(c.data[:in.lineStart], c.data[len(c.data)-1])
		c.data = append(c.data, piece[max(0, len(piece)-2):]...)
	default:
		c.data = append(c.data, piece...)
		// With LF or CR LF after it a line of the cap's length is within it.
		in.long = in.lineLen > int64(r.cfg.maxLine)+2
	}
	if ended {
		r.endLine(true)
	}
}

// endLine makes a line of what was gathered, or passes over it; newline tells
// whether it ends with LF.
func (r *Reader) endLine(newline bool) {
	in, c, shard := &r.in, r.in.chunk, &r.shard
	start, end := in.lineStart, len(c.data)
	span, blank := lineSpan{offset: in.start, start: uint32(start)}, false
	length := in.lineLen
	if !in.passed {
		if newline {
			end--
		}
		if end > start && c.data[end-1] == '\r' {
			end--
		}
		length -= int64(len(c.data) - end)
		if !in.long {
			length = int64(end - start)
		}
		blank = (start == end || c.data[start] <= ' ') && length <= int64(r.cfg.maxLine) && c.isBlank(c.data[start:end])
		span.end = uint32(end)
	}
	keep := !in.passed && (shard.world == 1 || !blank && shard.turn == shard.rank)
	switch {
	case keep:
		if shard.mode == pipeline.Drop {
			shard.wait(c, in.linePlace)
		}
		if length > int64(r.cfg.maxLine) {
			span.start, span.end = uint32(len(c.long)), overCap
			c.long = append(c.long, length)
			c.data = c.data[:start]
		}
		if len(c.spans) == 0 {
			c.first = in.lines + 1
		}
		if shard.world > 1 {
			c.numbers = append(c.numbers, int32(in.lines+1-c.first))
		}
		c.spans = append(c.spans, span)
	case blank && shard.rank == 0:
		c.blank++
		fallthrough
	default:
		c.data = c.data[:start]
	}
	if keep || blank && shard.rank == 0 {
		c.bytes += in.offset - in.start
		c.boms += in.boms
	}
	if !blank {
		in.index++
		if shard.world > 1 {
			shard.pass()
		}
	}
	in.lines++
	in.start = in.offset
	if in.linePlace.member != in.member {
		in.linePlace.member = in.member
	}
	in.lineStart, in.lineLen, in.boms = len(c.data), 0, 0
	in.long, in.passed = false, false
}

// finish ends the input after its last whole line.
func (r *Reader) finish() (*Chunk, error) {
	in, c := &r.in, r.in.chunk
	switch {
	case in.restErr != io.EOF:
		c.data = c.data[:in.lineStart] // the unfinished line is left out
	case in.lineLen > 0:
		r.endLine(false)
	case in.boms > 0:
		if r.shard.rank == 0 {
			c.boms += in.boms
			c.bytes += in.offset - in.start
		}
		in.start, in.linePlace.member = in.offset, in.member
		in.boms = 0
	}
	if h := r.shard.due(); h != nil {
		return h, nil
	}
	if r.shard.waiting {
		r.holdLine(c)
	}
	if c.bytes > 0 {
		in.chunk = nil
		return c, nil
	}
	if in.restErr == io.EOF {
		return nil, io.EOF
	}
	return nil, r.failure()
}

// failure says where the input failed and what was not delivered.
func (r *Reader) failure() error {
	in, err := &r.in, r.in.restErr
	place := fmt.Sprintf("%s:%d: at byte %d", in.Path, in.lines+1, in.offset)
	if in.kind != CompressionNone {
		place = fmt.Sprintf("%s, compressed byte %d", place, r.raw.consumed())
	}
	lost := ""
	if n := in.offset - in.start; n > 0 {
		lost = fmt.Sprintf("; an unfinished line was not delivered, its length in bytes: %d", n)
	}
	switch {
	case hasShrunk(r.raw.count.err):
		return fmt.Errorf("%s: %w%s", place, errShrunk, lost)
	case r.raw.count.err != nil:
		return fmt.Errorf("source: %s: %w%s", place, r.raw.count.err, lost)
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrWindow):
		return fmt.Errorf("%s: %w%s", place, err, lost)
	case err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%s: %w: get the whole file%s", place, ErrTruncated, lost)
	}
	return fmt.Errorf("%s: %w: %w; get the file again%s", place, ErrCorrupt, err, lost)
}

// readMore reads into rest, and takes off a byte order mark where a member and a
// line begin together.
func (r *Reader) readMore() {
	in := &r.in
	begins := false
	if !in.inside {
		if err := r.nextMember(); err != nil {
			in.restErr = err
			return
		}
		begins = in.lineLen == 0
	}
	n, err := in.stream.Read(r.buf)
	for begins && n < len(byteOrderMark) && err == nil {
		var more int
		more, err = in.stream.Read(r.buf[n:])
		n += more
	}
	in.rest = r.buf[:n]
	switch err {
	case nil:
	case io.EOF:
		in.inside = false
	default:
		in.restErr = err
	}
	if begins && bytes.HasPrefix(in.rest, byteOrderMark) {
		in.rest = in.rest[len(byteOrderMark):]
		in.offset += int64(len(byteOrderMark))
		in.boms++
	}
}

// nextMember begins a member.
func (r *Reader) nextMember() error {
	in := &r.in
	start := memberStart{r.raw.consumed(), in.offset}
	if err := in.stream.next(); err != nil {
		return err
	}
	in.inside, in.member = true, start
	if in.offset == in.start {
		in.linePlace.member = start
	}
	return nil
}
