package resume

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// The layout is drawn in the documentation of the package.
const (
	logMagic      = "RSDL"
	logVersion    = 1
	logHashXXH3   = 1
	logHeaderSize = 16

	frameMagic      = "RSDF"
	frameVersion    = 1
	frameHeaderSize = 40
	frameHashes     = 1 << 16
	hashSize        = 16
)

// MaxState is how many bytes a state of a log may have.
const MaxState = 1 << 24

// logHeader is the first bytes of each log.
func logHeader() []byte {
	b := append(make([]byte, 0, logHeaderSize), logMagic...)
	b = binary.LittleEndian.AppendUint16(b, logVersion)
	b = binary.LittleEndian.AppendUint16(b, logHashXXH3)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// readLogHeader reads the first bytes of a log, as many as there are, and its size.
func readLogHeader(f fsys.File) (head []byte, size int64, err error) {
	if size, err = f.Size(); err != nil {
		return nil, 0, err
	}
	head = make([]byte, min(size, logHeaderSize))
	return head, size, readFull(f, head, 0)
}

// checkLogHeader looks at the first bytes of a log.
func checkLogHeader(b []byte) error {
	if kind := foreign(b, logMagic); kind != "" {
		return fmt.Errorf("%w: it is %s", ErrForeign, kind)
	}
	if len(b) < logHeaderSize {
		return fmt.Errorf("%w: %d bytes, the header has %d", ErrShort, len(b), logHeaderSize)
	}
	version, hash := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])
	switch {
	case string(b[:4]) != logMagic:
		return fmt.Errorf("%w %q at offset 0, want %q", ErrMagic, b[:4], logMagic)
	case version != logVersion:
		return fmt.Errorf("%w %d at offset 4, this program reads %d", ErrVersion, version, logVersion)
	case !logSumHolds(b):
		return fmt.Errorf("%w at offset 12", ErrChecksum)
	case hash != logHashXXH3:
		return fmt.Errorf("%w: hash %d at offset 6, this program knows %d", ErrVersion, hash, logHashXXH3)
	}
	return nil
}

// logSumHolds tells whether the first bytes of a log, 16 of them, are as they were written.
func logSumHolds(b []byte) bool {
	return binary.LittleEndian.Uint32(b[12:]) == crc32.Checksum(b[:12], castagnoli)
}

// frame is one of a log.
type frame struct {
	offset     int64 // bytes, in the file
	length     int64 // as its header has it
	generation uint64
	before     uint64 // hashes in the frames before
	hashes     []text.Hash128
	state      []byte
}

// append appends the bytes of a frame.
func (f *frame) append(b []byte) []byte {
	at := len(b)
	b = append(b, frameMagic...)
	b = binary.LittleEndian.AppendUint32(b, frameVersion)
	b = binary.LittleEndian.AppendUint64(b, f.generation)
	b = binary.LittleEndian.AppendUint64(b, f.before)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.hashes)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.state)))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, h := range f.hashes {
		b = binary.LittleEndian.AppendUint64(b, h.Lo)
		b = binary.LittleEndian.AppendUint64(b, h.Hi)
	}
	b = append(b, f.state...)
	binary.LittleEndian.PutUint32(b[at+32:], crc32.Checksum(b[at+frameHeaderSize:], castagnoli))
	binary.LittleEndian.PutUint32(b[at+36:], crc32.Checksum(b[at:at+36], castagnoli))
	return b
}

// framesOf goes through the frames of a generation, one at least, of which the last has the state.
func framesOf(generation, before uint64, hashes []text.Hash128, state []byte) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		for first := true; first || len(hashes) > 0; first = false {
			n := min(len(hashes), frameHashes)
			f := frame{generation: generation, before: before, hashes: hashes[:n]}
			before += uint64(n)
			if hashes = hashes[n:]; len(hashes) == 0 {
				f.state = state
			}
			if !yield(f) {
				return
			}
		}
	}
}

// badFrame is an error about the bytes of a frame, not about reading them.
type badFrame struct {
	offset int64
	length int64 // of the frame, 0 if it is not known
	newer  bool  // a newer program wrote it
	err    error
}

func (b *badFrame) Error() string { return fmt.Sprintf("frame at offset %d: %v", b.offset, b.err) }
func (b *badFrame) Unwrap() error { return b.err }

var errCut = errors.New("cut off")

// parse reads a header, which is checked but for what it says of the payload. It returns how
// many hashes there are and the checksum of the payload; bad is nil if the header is sound.
func (f *frame) parse(head []byte) (count int, payload uint32, bad *badFrame) {
	version := binary.LittleEndian.Uint16(head[4:])
	is, sum := binary.LittleEndian.Uint32(head[36:]), crc32.Checksum(head[:36], castagnoli)
	hashes, state := binary.LittleEndian.Uint32(head[24:]), binary.LittleEndian.Uint32(head[28:])
	f.generation, f.before = binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	f.length = frameHeaderSize + hashSize*int64(hashes) + int64(state)
	var err error
	switch {
	case string(head[:4]) != frameMagic:
		err = fmt.Errorf("%w %q, want %q", ErrMagic, head[:4], frameMagic)
	case version != frameVersion:
		err = fmt.Errorf("%w %d, this program reads %d", ErrVersion, version, frameVersion)
	case is != sum:
		err = fmt.Errorf("header: %w %08x, the bytes have %08x", ErrChecksum, is, sum)
	case hashes > frameHashes || state > MaxState:
		err = fmt.Errorf("%w: %d hashes and %d bytes of state, at most %d and %d", ErrLimit, hashes, state, frameHashes, MaxState)
	default:
		return int(hashes), binary.LittleEndian.Uint32(head[32:]), nil
	}
	return 0, 0, &badFrame{offset: f.offset, newer: errors.Is(err, ErrVersion) && is == sum, err: err}
}

// frameReader reads the frames of a log one after the other. It holds one at a time.
type frameReader struct {
	from   io.ReaderAt
	size   int64
	at     int64
	in     *bufio.Reader
	raw    []byte
	hashes []text.Hash128
}

func newFrameReader(from io.ReaderAt, size int64) *frameReader {
	r := &frameReader{from: from, size: size, in: bufio.NewReaderSize(nil, int(min(1<<18, size)))}
	r.seek(logHeaderSize)
	return r
}

// seek goes on at an offset.
func (r *frameReader) seek(offset int64) {
	r.at = offset
	r.in.Reset(io.NewSectionReader(r.from, offset, max(0, r.size-offset)))
}

// next reads a frame, which is valid until the next call. The errors are io.EOF at the end, a
// [badFrame] after which only seek goes on, and those of reading.
func (r *frameReader) next(f *frame) error {
	left := r.size - r.at
	switch {
	case left <= 0:
		return io.EOF
	case left < frameHeaderSize:
		return &badFrame{offset: r.at, err: fmt.Errorf("%w: %d bytes, the header has %d", errCut, left, frameHeaderSize)}
	}
	head, err := r.in.Peek(frameHeaderSize)
	if err != nil {
		return readError(err)
	}
	f.offset = r.at
	count, payload, bad := f.parse(head)
	if bad != nil {
		return bad
	}
	// No memory is taken for what is not there.
	if f.length > left {
		return &badFrame{offset: r.at, err: fmt.Errorf("%w: %d bytes of %d", errCut, left, f.length)}
	}
	if int64(cap(r.raw)) < f.length {
		r.raw = make([]byte, f.length)
	}
	r.raw = r.raw[:f.length]
	if _, err := io.ReadFull(r.in, r.raw); err != nil {
		return readError(err)
	}
	body := r.raw[frameHeaderSize:]
	if sum := crc32.Checksum(body, castagnoli); sum != payload {
		return &badFrame{offset: r.at, length: f.length, err: fmt.Errorf("payload: %w %08x, the bytes have %08x", ErrChecksum, payload, sum)}
	}
	r.hashes = r.hashes[:0]
	for ; count > 0; count-- {
		r.hashes = append(r.hashes, text.Hash128{Lo: binary.LittleEndian.Uint64(body), Hi: binary.LittleEndian.Uint64(body[8:])})
		body = body[hashSize:]
	}
	f.hashes, f.state = r.hashes, body
	r.at += f.length
	return nil
}

// nextHeader returns the next sound header of a frame at or behind an offset. Its offset is the
// size if there is none.
func nextHeader(from io.ReaderAt, offset, size int64) (f frame, err error) {
	buf := make([]byte, 1<<16)
	for offset+frameHeaderSize <= size {
		b := buf[:min(int64(len(buf)), size-offset)]
		if err := readFull(from, b, offset); err != nil {
			return f, err
		}
		at := 0
		for len(b)-at >= frameHeaderSize {
			k := bytes.Index(b[at:], []byte(frameMagic))
			if k < 0 {
				at = len(b) - frameHeaderSize + 1
				break
			}
			if at += k; len(b)-at < frameHeaderSize {
				break
			}
			f.offset = offset + int64(at)
			if _, _, bad := f.parse(b[at:]); bad == nil {
				return f, nil
			}
			at++
		}
		offset += int64(at)
	}
	f.offset = size
	return f, nil
}

// readFull fills p from an offset, or fails.
func readFull(from io.ReaderAt, p []byte, offset int64) error {
	n, err := from.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	return readError(err)
}

// readError makes an end that came early an error that is not taken for the end.
func readError(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// follows tells what is wrong about a frame behind one of a generation and so many hashes.
func (f *frame) follows(generation, hashes uint64) error {
	switch {
	case f.generation < generation || f.generation == 0:
		return fmt.Errorf("frame at offset %d: %w %d behind %d", f.offset, ErrGeneration, f.generation, generation)
	case f.before != hashes:
		return fmt.Errorf("frame at offset %d: %d hashes come before it, it was written behind %d", f.offset, hashes, f.before)
	}
	return nil
}
