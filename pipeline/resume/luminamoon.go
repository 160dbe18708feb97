package resume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A checkpoint of luminamoon: slot A and slot B, side by side.
//
//	offset 0 "LMDL"   4 version u32   8 epoch u64   16 batch u64   24 shard u32   28 byte offset u64
//	      36 row group u32   40 page u32   44 row in page u32   48 row u64   56 hashes u32   60 CRC-32
const (
	luminamoonMagic   = "LMDL"
	luminamoonVersion = 1
	luminamoonSlot    = 64
	luminamoonSize    = 2 * luminamoonSlot
)

// LuminamoonCheckpoint is what a checkpoint of luminamoon says.
type LuminamoonCheckpoint struct {
	Epoch     uint64 // number of the write
	Batch     uint64
	Shard     uint32
	Offset    uint64 // bytes
	RowGroup  uint32
	Page      uint32
	RowInPage uint32 // rows of the source that were taken; its pipeline sets only this and Row
	Row       uint64 // samples that were emitted
	Hashes    uint32 // in the .dedup file beside it
}

// Coordinate returns the place, with RowInPage as the row: the samples that were emitted are
// fewer than the rows that were read where some were dropped.
func (c LuminamoonCheckpoint) Coordinate() Coordinate {
	return Coordinate{c.Shard, c.Offset, c.RowGroup, c.Page, uint64(c.RowInPage)}
}

// ReadLuminamoon reads a checkpoint of luminamoon 1.0.6 as that does: of the sound slots the one
// of the higher epoch, of two of the same epoch the first. The errors are [ErrShort] for a file
// with less than both slots, which luminamoon would overwrite, and [ErrCorrupt] with
// [ErrMagic], [ErrVersion] or [ErrChecksum] of each slot.
func ReadLuminamoon(name string, opts ...Option) (LuminamoonCheckpoint, error) {
	r, err := InspectLuminamoon(name, opts...)
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return LuminamoonCheckpoint{}, err
	}
	return r.Slots[r.Current].Checkpoint, nil
}

// LuminamoonReport is what is in a checkpoint of luminamoon.
type LuminamoonReport struct {
	Slots   [2]LuminamoonSlot
	Current int   // the slot that counts, −1 if none does
	Err     error // why none does
}

// LuminamoonSlot is what is in a slot of a checkpoint of luminamoon.
type LuminamoonSlot struct {
	Offset     int64 // bytes, in the file
	Checkpoint LuminamoonCheckpoint
	Err        error // [ErrMagic], [ErrVersion] or [ErrChecksum]; the checkpoint is zero then
}

// InspectLuminamoon reports what is in a checkpoint of luminamoon, and which slot counts by the
// rules of [ReadLuminamoon]. What is wrong with the slots is in the report; the error is that
// of the file, or [ErrShort].
func InspectLuminamoon(name string, opts ...Option) (LuminamoonReport, error) {
	r := LuminamoonReport{Current: -1}
	f, err := configure(opts).fs.Open(name)
	if err != nil {
		return r, fmt.Errorf("resume: luminamoon checkpoint %s: %w", name, err)
	}
	defer f.Close()
	var raw [luminamoonSize]byte
	if n, err := f.ReadAt(raw[:], 0); err == io.EOF && n < len(raw) {
		return r, fmt.Errorf("%w: luminamoon checkpoint %s has %d bytes, want %d", ErrShort, name, n, len(raw))
	} else if err != nil && err != io.EOF {
		return r, fmt.Errorf("resume: luminamoon checkpoint %s: %w", name, err)
	}
	for i := range r.Slots {
		s := &r.Slots[i]
		s.Offset = int64(i) * luminamoonSlot
		if s.Checkpoint, s.Err = decodeLuminamoon(raw[s.Offset : s.Offset+luminamoonSlot]); s.Err != nil {
			s.Err = fmt.Errorf("slot %c at offset %d: %w", 'A'+i, s.Offset, s.Err)
		}
	}
	switch a, b := r.Slots[0], r.Slots[1]; {
	case a.Err != nil && b.Err != nil:
		r.Err = fmt.Errorf("%w: luminamoon checkpoint %s: %w; %w", ErrCorrupt, name, a.Err, b.Err)
	case a.Err != nil || b.Err == nil && b.Checkpoint.Epoch > a.Checkpoint.Epoch:
		r.Current = 1
	default:
		r.Current = 0
	}
	return r, nil
}

func decodeLuminamoon(b []byte) (LuminamoonCheckpoint, error) {
	version := binary.LittleEndian.Uint32(b[4:])
	is, sum := binary.LittleEndian.Uint32(b[60:]), crc32.ChecksumIEEE(b[:60])
	switch {
	case string(b[:4]) != luminamoonMagic:
		return LuminamoonCheckpoint{}, fmt.Errorf("%w %q, want %q", ErrMagic, b[:4], luminamoonMagic)
	case version != luminamoonVersion:
		return LuminamoonCheckpoint{}, fmt.Errorf("%w %d, want %d", ErrVersion, version, luminamoonVersion)
	case is != sum:
		return LuminamoonCheckpoint{}, fmt.Errorf("%w %08x, the bytes have %08x", ErrChecksum, is, sum)
	}
	return LuminamoonCheckpoint{
		Epoch:     binary.LittleEndian.Uint64(b[8:]),
		Batch:     binary.LittleEndian.Uint64(b[16:]),
		Shard:     binary.LittleEndian.Uint32(b[24:]),
		Offset:    binary.LittleEndian.Uint64(b[28:]),
		RowGroup:  binary.LittleEndian.Uint32(b[36:]),
		Page:      binary.LittleEndian.Uint32(b[40:]),
		RowInPage: binary.LittleEndian.Uint32(b[44:]),
		Row:       binary.LittleEndian.Uint64(b[48:]),
		Hashes:    binary.LittleEndian.Uint32(b[56:]),
	}, nil
}

// ReadLuminamoonHashes reads a dedup file of luminamoon: the XXH3-64 of each text, seed 0, in no
// order, without a checksum. Each is given them in pieces that it must not keep. The error is
// [ErrShort] if the length is no multiple of 8, before any piece, or one of the file or of
// each. It takes memory of one piece.
//
// Such a hash is no half of the [text.Hash128] of a text: a [Log] cannot hold it.
func ReadLuminamoonHashes(name string, each func([]uint64) error, opts ...Option) (err error) {
	f, err := configure(opts).fs.Open(name)
	if err == nil {
		defer func() { err = errors.Join(err, f.Close()) }()
		err = eachLuminamoonHash(f, each)
	}
	if err != nil {
		return fmt.Errorf("resume: luminamoon dedup file %s: %w", name, err)
	}
	return nil
}

func eachLuminamoonHash(f interface {
	io.ReaderAt
	Size() (int64, error)
}, each func([]uint64) error) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size%8 != 0 {
		return fmt.Errorf("%w: %d bytes, no multiple of 8", ErrShort, size)
	}
	raw, words := make([]byte, 1<<16), make([]uint64, 0, 1<<13)
	for at := int64(0); at < size; at += int64(len(raw)) {
		raw = raw[:min(int64(len(raw)), size-at)]
		if _, err := f.ReadAt(raw, at); err != nil && err != io.EOF {
			return err
		}
		words = words[:0]
		for b := raw; len(b) > 0; b = b[8:] {
			words = append(words, binary.LittleEndian.Uint64(b))
		}
		if err := each(words); err != nil {
			return err
		}
	}
	return nil
}
