package source

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

const zstdMagic = "\x28\xb5\x2f\xfd"

// isSkippable reports whether b, 4 bytes, begins a skippable frame.
func isSkippable(b []byte) bool {
	return b[0]&0xf0 == 0x50 && string(b[1:]) == skippableMagic
}

// skippableMagic follows a first byte of 0x50 to 0x5f.
const skippableMagic = "\x2a\x4d\x18"

// mayBeginFrame reports whether b is the beginning of a frame's magic.
func mayBeginFrame(b []byte) bool {
	return strings.HasPrefix(zstdMagic, string(b)) ||
		b[0]&0xf0 == 0x50 && strings.HasPrefix(skippableMagic, string(b[1:]))
}

// zstdFrames reads an input one frame at a time: Read returns io.EOF at the end
// of each, next moves on and skips skippable frames. It parses no more than
// where frames and blocks end (RFC 8878, section 3.1), so that the decoder is
// given one frame, a cut is told from an end, and the window is known before
// memory is taken for it.
//
//	magic 4 │ descriptor 1 │ window 0…1 │ dictionary id 0…4 │ content size 0…8
//	block   3 B: last 1 bit │ type 2 bits │ size 21 bits │ data       … until last
//	checksum 0 or 4
type zstdFrames struct {
	raw       *rawReader
	maxWindow int

	begun     bool   // a frame has been met
	head      []byte // header bytes to hand out next; memory is headBuf
	headBuf   [18]byte
	left      int64 // data bytes to hand out after head
	last      bool  // the block being handed out is the last one
	checksum  bool  // a checksum is still to come
	cut       bool  // the input ended inside the frame
	skippable [8]byte
}

// next moves to the next frame that holds data. It returns io.EOF when there is
// none.
func (z *zstdFrames) next() error {
	for {
		b, err := z.raw.Peek(4)
		switch {
		case len(b) == 0 && z.begun:
			return err
		case len(b) < 4 && mayBeginFrame(b):
			return endsEarly(err)
		case len(b) == 4 && isSkippable(b):
			z.begun = true
			if err := z.skip(); err != nil {
				return err
			}
		case string(b) == zstdMagic:
			z.begun = true
			return z.begin()
		case !z.begun:
			return fmt.Errorf("%w: the name says zstd, the data do not; rename the file if it is not compressed", ErrCorrupt)
		default:
			return fmt.Errorf("%w: what follows the zstd data is not zstd", ErrCorrupt)
		}
	}
}

// skip passes over a skippable frame: magic, size, and that many bytes.
func (z *zstdFrames) skip() error {
	if _, err := io.ReadFull(z.raw, z.skippable[:]); err != nil {
		return endsEarly(err)
	}
	size := int64(binary.LittleEndian.Uint32(z.skippable[4:]))
	_, err := io.CopyN(io.Discard, z.raw, size)
	return endsEarly(err)
}

// begin reads the header of a frame.
func (z *zstdFrames) begin() error {
	z.left, z.last, z.cut = 0, false, false
	h := z.headBuf[:5]
	if _, err := io.ReadFull(z.raw, h); err != nil {
		return endsEarly(err)
	}
	descriptor := h[4]
	z.checksum = descriptor&(1<<2) != 0
	single := descriptor&(1<<5) != 0
	dictBytes := [4]int{0, 1, 2, 4}[descriptor&3]
	sizeBytes := [4]int{0, 2, 4, 8}[descriptor>>6]
	windowBytes := 1
	if single {
		windowBytes = 0
		sizeBytes = max(sizeBytes, 1)
	}
	h = z.headBuf[:5+windowBytes+dictBytes+sizeBytes]
	if _, err := io.ReadFull(z.raw, h[5:]); err != nil {
		return endsEarly(err)
	}
	if window := zstdWindow(h[5:], single, sizeBytes); window > uint64(z.maxWindow) {
		return fmt.Errorf("%w: the frame needs %d bytes, the cap is %d; raise it (WithMaxWindow) if you trust the input", ErrWindow, window, z.maxWindow)
	}
	for _, c := range h[5+windowBytes : 5+windowBytes+dictBytes] {
		if c != 0 {
			return fmt.Errorf("%w: the zstd frame needs a dictionary; compress it without one", ErrCorrupt)
		}
	}
	z.head = h
	return nil
}

// zstdWindow returns the window a frame needs, given its header after the
// descriptor: the declared one, or for a frame in a single segment its content.
func zstdWindow(h []byte, single bool, sizeBytes int) uint64 {
	if !single {
		base := uint64(1) << (10 + h[0]>>3)
		return base + base/8*uint64(h[0]&7)
	}
	size := h[len(h)-sizeBytes:]
	switch sizeBytes {
	case 1:
		return uint64(size[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(size)) + 256
	case 4:
		return uint64(binary.LittleEndian.Uint32(size))
	}
	return min(binary.LittleEndian.Uint64(size), math.MaxInt64)
}

// Read reads the frame as it is, compressed.
func (z *zstdFrames) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case len(z.head) > 0:
			n := copy(p, z.head)
			z.head = z.head[n:]
			return n, nil
		case z.left > 0:
			n, err := z.raw.Read(p[:min(int64(len(p)), z.left)])
			z.left -= int64(n)
			if n > 0 {
				return n, nil
			}
			return 0, z.ended(err)
		case !z.last:
			if err := z.block(); err != nil {
				return 0, err
			}
		case z.checksum:
			z.checksum = false
			z.left = 4
		default:
			return 0, io.EOF
		}
	}
}

// block reads the header of the next block.
func (z *zstdFrames) block() error {
	h := z.headBuf[:3]
	if _, err := io.ReadFull(z.raw, h); err != nil {
		return z.ended(err)
	}
	v := uint32(h[0]) | uint32(h[1])<<8 | uint32(h[2])<<16
	z.head, z.last, z.left = h, v&1 != 0, int64(v>>3)
	if v>>1&3 == 1 { // one byte, repeated
		z.left = 1
	}
	return nil
}

// ended notes that the input ended inside the frame.
func (z *zstdFrames) ended(err error) error {
	err = endsEarly(err)
	z.cut = err == io.ErrUnexpectedEOF
	return err
}
