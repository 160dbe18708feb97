package rosa

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// ErrCorrupt is returned when what is loaded is damaged or no saved state.
var ErrCorrupt = errors.New("rosa: no sound saved state")

// ErrVersion is returned when a saved state is of a version that is not known here.
var ErrVersion = errors.New("rosa: unknown version of a saved state")

// A saved state, little endian:
//
//	┌────────────┬─────────┬───────┬────────┬───────┬───────┬──────────┬────────────┬─────────┐
//	│ "ROSALINE" │ version │ width │ before │ text  │ names │ names    │ text       │ CRC-32C │
//	│ 8 bytes    │ u32     │ u32   │ u64    │ u64   │ u64   │ i64 each │ width each │ u32     │
//	└────────────┴─────────┴───────┴────────┴───────┴───────┴──────────┴────────────┴─────────┘
//
// Before the text came so many tokens that are forgotten.
//
// It holds the tokens and not the tree: the tree is grown again, so that no damage can
// make a state that is not that of its tokens.
const (
	saveMagic   = "ROSALINE"
	saveVersion = 1
	saveHeader  = 40
)

// castagnoli is the table of CRC-32C.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the state. One byte a token if all are bytes, else four, and eight for each
// distinct one.
func (s *State) Save(w io.Writer) error {
	sum := crc32.New(castagnoli)
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	width, names := uint32(1), &s.names
	if s.order != nil {
		names = s.order.names()
	}
	if s.codes != nil || s.order != nil && len(names.tokens) > 0 {
		width = 4
	}
	head := append(make([]byte, 0, saveHeader), saveMagic...)
	head = binary.LittleEndian.AppendUint32(head, saveVersion)
	head = binary.LittleEndian.AppendUint32(head, width)
	text := len(s.Tokens(nil))
	head = binary.LittleEndian.AppendUint64(head, uint64(s.Len()-text))
	head = binary.LittleEndian.AppendUint64(head, uint64(text))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(names.tokens)))
	b.Write(head) // the writer keeps its first error
	var word [8]byte
	for _, name := range names.tokens {
		binary.LittleEndian.PutUint64(word[:], uint64(name))
		b.Write(word[:])
	}
	if s.codes != nil {
		for _, c := range s.codes.text[len(s.codes.text)-text:] {
			binary.LittleEndian.PutUint32(word[:], c)
			b.Write(word[:4])
		}
	} else if s.bytes != nil {
		b.Write(s.bytes.text[len(s.bytes.text)-text:])
	} else if s.order != nil {
		for i := range int32(text) {
			token := s.order.token(i)
			code := uint32(token)
			if uint64(token) > 255 {
				code, _ = names.code(token)
				code += 256
			}
			binary.LittleEndian.PutUint32(word[:], code)
			b.Write(word[:width])
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("rosa: save: %w", err)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return fmt.Errorf("rosa: save: %w", err)
	}
	return nil
}

// Load reads what [State.Save] wrote, and no more, into a state with options of its own: a
// window may be another than that of the state that was saved, but what that had forgotten stays
// forgotten. It takes as long as a [State.Prefill] of the tokens. On an error the state is
// nil.
func Load(r io.Reader, opts ...StateOption) (*State, error) {
	sum := crc32.New(castagnoli)
	in := io.TeeReader(r, sum)
	head := make([]byte, saveHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, loadError("header", err)
	}
	version, width := binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[12:])
	before, tokens := binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[24:])
	names := binary.LittleEndian.Uint64(head[32:])
	switch {
	case string(head[:8]) != saveMagic:
		return nil, fmt.Errorf("%w: it begins with %q, not %q", ErrCorrupt, head[:8], saveMagic)
	case version != saveVersion:
		return nil, fmt.Errorf("%w: %d, this is %d", ErrVersion, version, saveVersion)
	case width != 1 && width != 4, before > math.MaxInt64/2, tokens > MaxTokens, names > math.MaxInt32, width == 1 && names > 0:
		return nil, fmt.Errorf("%w: %d tokens of %d bytes, %d of them names", ErrCorrupt, tokens, width, names)
	}
	s := NewState(opts...)
	// Codes are those of the file: the state gives its own.
	var file dictionary
	// In pieces: a length is not to be believed before the bytes are there.
	err := eachPiece(in, int64(8*names), "names", func(p []byte) error {
		for ; len(p) > 0; p = p[8:] {
			name := int64(binary.LittleEndian.Uint64(p))
			if _, known := file.code(name); known || uint64(name) < 256 {
				return fmt.Errorf("%w: token %d has two codes", ErrCorrupt, name)
			}
			file.add(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if width == 4 && s.order == nil {
		s.widen()
	}
	err = eachPiece(in, int64(tokens)*int64(width), "text", func(p []byte) error {
		for ; len(p) > 0; p = p[width:] {
			token := int64(p[0])
			if width == 4 {
				code := binary.LittleEndian.Uint32(p)
				if uint64(code) >= 256+names {
					return fmt.Errorf("%w: code %d of %d", ErrCorrupt, code, 256+names)
				}
				if token = int64(code); code >= 256 {
					token = file.tokens[code-256]
				}
			}
			if _, err := s.Step(token); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if before > 0 && s.order == nil && s.bytes == nil && s.codes == nil {
		s.bytes = newTree[uint8](s.rollback, s.window) // for what begins has to say
	}
	s.begins(int(before))
	want := sum.Sum32()
	tail := make([]byte, 4)
	if _, err := io.ReadFull(r, tail); err != nil {
		return nil, loadError("checksum", err)
	}
	if got := binary.LittleEndian.Uint32(tail); got != want {
		return nil, fmt.Errorf("%w: checksum %08x, not %08x", ErrCorrupt, want, got)
	}
	return s, nil
}

// eachPiece reads so many bytes and calls f with piece after piece, whole words each.
func eachPiece(r io.Reader, bytes int64, what string, f func(p []byte) error) error {
	buffer := make([]byte, min(bytes, 1<<16))
	for bytes > 0 {
		p := buffer[:min(bytes, int64(len(buffer)))]
		if _, err := io.ReadFull(r, p); err != nil {
			return loadError(what, err)
		}
		if err := f(p); err != nil {
			return err
		}
		bytes -= int64(len(p))
	}
	return nil
}

// loadError says where a saved state ends too early, or cannot be read.
func loadError(where string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends in its %s", ErrCorrupt, where)
	}
	return fmt.Errorf("rosa: load: %s: %w", where, err)
}
