package resume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
)

// The file of hashes that another program knew before the run began:
//
//	offset 0 "RSKH"   4 version u16   6 hash u16, 2: XXH3-64 seed 0   8 count u64
//	      16 hashes, ascending, without repeats   then CRC-32C of all before
const (
	knownMagic   = "RSKH"
	knownVersion = 1
	knownHash    = 2
	knownHeader  = 16
)

// encodeKnown makes the file of hashes, which it sorts.
func encodeKnown(known []uint64) []byte {
	known = slices.Clone(known)
	slices.Sort(known)
	known = slices.Compact(known)
	b := make([]byte, 0, knownHeader+8*len(known)+4)
	b = append(b, knownMagic...)
	b = binary.LittleEndian.AppendUint16(b, knownVersion)
	b = binary.LittleEndian.AppendUint16(b, knownHash)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(known)))
	for _, h := range known {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// beginKnown puts the hashes that the run begins with into their file; without any there is none.
func (c config) beginKnown(name string) error {
	if f, err := c.fs.Open(name); err == nil {
		head := make([]byte, len(knownMagic))
		n, _ := f.ReadAt(head, 0)
		if err := f.Close(); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		if string(head[:n]) != knownMagic {
			return fmt.Errorf("%w: %s has no hashes of a run; name a folder of its own", ErrForeign, name)
		}
	}
	if c.known != nil {
		return c.putFile(name, encodeKnown(c.known))
	}
	err := c.fs.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = c.fs.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// readKnown reads the file of hashes; nil if there is none.
func (c config) readKnown(name string) ([]uint64, error) {
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	defer f.Close()
	b, err := readAll(f)
	if err == nil {
		err = checkKnown(b)
	}
	if err != nil {
		return nil, fmt.Errorf("resume: known hashes %s: %w", name, err)
	}
	known := make([]uint64, binary.LittleEndian.Uint64(b[8:]))
	for i := range known {
		known[i] = binary.LittleEndian.Uint64(b[knownHeader+8*i:])
	}
	return known, nil
}

func checkKnown(b []byte) error {
	if len(b) < knownHeader+4 {
		return fmt.Errorf("%w: %d bytes; %s", ErrShort, len(b), restore)
	}
	end := len(b) - 4
	is, sum := binary.LittleEndian.Uint32(b[end:]), crc32.Checksum(b[:end], castagnoli)
	version, hash, count := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:]), binary.LittleEndian.Uint64(b[8:])
	switch {
	case string(b[:4]) != knownMagic:
		return fmt.Errorf("%w %q, want %q; %s", ErrMagic, b[:4], knownMagic, restore)
	case version != knownVersion || hash != knownHash:
		return fmt.Errorf("%w %d with hash %d, this program reads %d with %d; go on with the newer program", ErrVersion, version, hash, knownVersion, knownHash)
	case count != uint64(end-knownHeader)/8 || (end-knownHeader)%8 != 0:
		return fmt.Errorf("%w: %d bytes for %d hashes; %s", ErrShort, len(b), count, restore)
	case is != sum:
		return fmt.Errorf("%w %08x, the bytes have %08x; %s", ErrChecksum, is, sum, restore)
	}
	return nil
}
