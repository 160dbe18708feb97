package stringtensor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// A message of an IPC stream:
//
//	FF FF FF FF │ length of metadata, 4 B │ metadata, padded to 8 B │ body
//
// A length of 0 ends the stream. Streams of before Arrow 0.15 lack the first
// four bytes. A file is the magic, padded to 8 bytes, a stream, a footer that
// says where its messages lie, the length of the footer in 4 bytes, and the magic
// again.
const (
	ipcContinuation = 0xFFFFFFFF
	ipcFileStart    = 8
)

var ipcMagic = []byte("ARROW1")

// maxMetadata is the longest metadata of a message, and the longest footer, in
// bytes. It holds schemas of some hundred thousand columns.
const maxMetadata = 64 << 20

// firstRead is how many bytes are allocated on the word of a length before any
// of them has been read.
const firstRead = 1 << 20

// rawMessage is a message as it lies in the input. Its body comes next in body.
type rawMessage struct {
	at   int64 // byte where it begins
	meta []byte
	body io.Reader
	want messageKind // 0 for any
	size int64       // of the body; −1 where only the metadata tells
}

// messageSource finds the messages of the input; next returns io.EOF after the
// last.
type messageSource interface{ next() (rawMessage, error) }

// ipcMessages gives checked messages to the Arrow library. It counts no
// references: the reader that owns it closes it.
type ipcMessages struct {
	src   messageSource
	meta  ipcMetadata
	alloc *ipcAllocator
	count int
	msg   *ipc.Message
	err   error // the first that is not io.EOF
}

var _ ipc.MessageReader = (*ipcMessages)(nil)

// Retain does nothing.
func (m *ipcMessages) Retain() {}

// Release does nothing.
func (m *ipcMessages) Release() {}

func (m *ipcMessages) close() {
	if m.msg != nil {
		m.msg.Release()
		m.msg = nil
	}
}

// Message returns the next message, which is valid until the next call.
func (m *ipcMessages) Message() (*ipc.Message, error) {
	m.close()
	if m.err != nil {
		return nil, m.err
	}
	m.alloc.message()
	raw, err := m.src.next()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err == nil {
		err = m.read(raw)
	}
	if err != nil {
		m.err = fmt.Errorf("message %d at byte %d: %w", m.count, raw.at, err)
		return nil, m.err
	}
	m.count++
	return m.msg, nil
}

func (m *ipcMessages) read(raw rawMessage) (err error) {
	defer recovered(&err)
	kind, size, err := m.meta.message(raw.meta)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	case raw.want != 0 && kind != raw.want:
		return fmt.Errorf("%w: %v where a %v must be", ErrInvalid, kind, raw.want)
	case raw.size >= 0 && raw.size != size:
		return fmt.Errorf("%w: body of %d bytes, the footer says %d", ErrInvalid, size, raw.size)
	case size > m.alloc.limit:
		return fmt.Errorf("%w: body of %d bytes, the limit is %d", ErrMessageTooLarge, size, m.alloc.limit)
	}
	body := arrowmem.NewResizableBuffer(m.alloc)
	defer body.Release()
	// A length that the input does not live up to must not cost its memory.
	for have := 0; have < int(size); {
		to := int(min(size, int64(max(2*have, firstRead))))
		if raw.size >= 0 {
			to = int(size)
		}
		body.Resize(to)
		n, err := io.ReadFull(raw.body, body.Bytes()[have:to])
		if err != nil {
			return cutOff(err, "body", int64(have+n), size)
		}
		have = to
	}
	m.msg = ipc.NewMessage(arrowmem.NewBufferBytes(raw.meta), body)
	return nil
}

// cutOff says that the input ends too early, or why it cannot be read.
func cutOff(err error, what string, have, want int64) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the %s ends after %d of %d bytes: %w", ErrInvalid, what, have, want, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("read %s: %w", what, err)
}

// streamSource reads the messages of a stream.
type streamSource struct {
	r       io.Reader
	at      int64
	endless bool
}

func (s *streamSource) next() (rawMessage, error) {
	m := rawMessage{at: s.at, body: &countingReader{s.r, &s.at}, size: -1}
	var head [4]byte
	n, err := io.ReadFull(s.r, head[:])
	s.at += int64(n)
	if err == io.EOF && s.endless {
		return m, io.EOF
	}
	if err == io.EOF {
		return m, fmt.Errorf("%w: the stream ends without an end marker, so rows may be missing: %w", ErrInvalid, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return m, cutOff(err, "message length", int64(n), 4)
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size == ipcContinuation {
		n, err := io.ReadFull(s.r, head[:])
		s.at += int64(n)
		if err != nil {
			return m, cutOff(err, "message length", int64(n), 4)
		}
		size = binary.LittleEndian.Uint32(head[:])
	}
	if size == 0 {
		return m, io.EOF
	}
	if m.at == 0 && bytes.Equal(head[:], ipcMagic[:4]) {
		return m, fmt.Errorf("%w: this is an Arrow file, not a stream", ErrInvalid)
	}
	m.meta, err = readMetadata(m.body, int64(size))
	return m, err
}

// readMetadata reads the metadata of a message.
func readMetadata(r io.Reader, size int64) ([]byte, error) {
	if size > maxMetadata {
		return nil, fmt.Errorf("%w: metadata of %d bytes, at most %d can be", ErrInvalid, size, maxMetadata)
	}
	var b bytes.Buffer
	n, err := io.CopyN(&b, r, size)
	if err != nil {
		return nil, cutOff(err, "metadata", n, size)
	}
	return b.Bytes(), nil
}

// countingReader adds what it reads to at.
type countingReader struct {
	r  io.Reader
	at *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.at += int64(n)
	return n, err
}

// fileSource finds the messages of a file by its footer: the schema, all
// dictionaries, then the record batches.
type fileSource struct {
	r       io.ReaderAt
	footer  []byte // has the schema if there is no message of it at the beginning; else nil
	schema  bool
	dicts   []ipcBlock
	records []ipcBlock
	end     int64 // of the messages
	dict    int   // next
	record  int   // next
}

// openFile reads the footer of a file.
func openFile(r io.ReaderAt, size int64) (*fileSource, error) {
	tail := int64(4 + len(ipcMagic))
	if size < ipcFileStart+tail {
		return nil, fmt.Errorf("%w: a file of %d bytes is too short for an Arrow file", ErrInvalid, size)
	}
	b := make([]byte, tail)
	if err := readAt(r, b[:len(ipcMagic)], 0, "magic"); err != nil {
		return nil, err
	}
	if !bytes.Equal(b[:len(ipcMagic)], ipcMagic) {
		return nil, fmt.Errorf("%w: byte 0: no Arrow file begins with %q", ErrInvalid, b[:len(ipcMagic)])
	}
	if err := readAt(r, b, size-tail, "end of the file"); err != nil {
		return nil, err
	}
	if !bytes.Equal(b[4:], ipcMagic) {
		return nil, fmt.Errorf("%w: byte %d: the file does not end as an Arrow file does, it is cut off: %w", ErrInvalid, size-tail, io.ErrUnexpectedEOF)
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > maxMetadata || n > size-tail-ipcFileStart {
		return nil, fmt.Errorf("%w: byte %d: footer of %d bytes in a file of %d", ErrInvalid, size-tail, n, size)
	}
	s := &fileSource{r: r, end: size - tail - n}
	footer := make([]byte, n)
	if err := readAt(r, footer, s.end, "footer"); err != nil {
		return nil, err
	}
	var err error
	if s.dicts, s.records, err = footerBlocks(footer, ipcFileStart, s.end); err != nil {
		return nil, fmt.Errorf("%w: footer at byte %d: %w", ErrInvalid, s.end, err)
	}
	// Some writers put the schema there without a length; others read the footer's.
	if err := readAt(r, b[:4], ipcFileStart, "schema"); err == nil && binary.LittleEndian.Uint32(b) < unframedSchema {
		s.footer = footer
	}
	return s, nil
}

func readAt(r io.ReaderAt, b []byte, at int64, what string) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("byte %d: %w", at, cutOff(err, what, int64(n), int64(len(b))))
}

// rewind makes record batch i the next after schema and dictionaries.
func (s *fileSource) rewind(i int) { s.schema, s.dict, s.record = false, 0, i }

func (s *fileSource) next() (rawMessage, error) {
	switch {
	case !s.schema && s.footer != nil:
		s.schema = true
		meta, err := footerSchema(s.footer)
		if err != nil {
			err = fmt.Errorf("%w: footer: %w", ErrInvalid, err)
		}
		return rawMessage{at: s.end, meta: meta, body: bytes.NewReader(nil), want: schemaMessage, size: -1}, err
	case !s.schema:
		s.schema = true
		src := streamSource{r: io.NewSectionReader(s.r, ipcFileStart, s.end-ipcFileStart), at: ipcFileStart}
		m, err := src.next()
		m.want = schemaMessage
		if err == io.EOF {
			err = fmt.Errorf("%w: a file without a schema", ErrInvalid)
		}
		return m, err
	case s.dict < len(s.dicts):
		s.dict++
		return s.block(s.dicts[s.dict-1], dictionaryMessage)
	case s.record < len(s.records):
		s.record++
		return s.block(s.records[s.record-1], recordMessage)
	}
	return rawMessage{at: s.end}, io.EOF
}

func (s *fileSource) block(b ipcBlock, want messageKind) (rawMessage, error) {
	m := rawMessage{at: b.at, want: want, size: b.body}
	head := make([]byte, 8)
	if err := readAt(s.r, head, b.at, "message length"); err != nil {
		return m, err
	}
	skip, size := int64(4), int64(binary.LittleEndian.Uint32(head))
	if size == ipcContinuation {
		skip, size = 8, int64(binary.LittleEndian.Uint32(head[4:]))
	}
	if size != b.meta-skip {
		return m, fmt.Errorf("%w: metadata of %d bytes, the footer says %d", ErrInvalid, size, b.meta-skip)
	}
	var err error
	m.meta, err = readMetadata(io.NewSectionReader(s.r, b.at+skip, size), size)
	m.body = io.NewSectionReader(s.r, b.at+b.meta, b.body)
	return m, err
}
