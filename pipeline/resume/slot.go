package resume

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// State is what a tracker keeps of a commit.
type State struct {
	Generation uint64 // of the commit; 0 and 1 are the beginning
	Batch      uint64 // batches that were delivered
	Coordinate Coordinate
	Hashes     uint64 // in the log, at most [MaxHashes]
	Config     uint32 // see [ConfigOf]
}

// MaxHashes is how many hashes a state can count.
const MaxHashes = 1<<48 - 1

// ConfigOf makes a number of a configuration, by which a state that belongs to another one is
// refused: the low 32 bits of the XXH3-128 of its text.
func ConfigOf(config []byte) uint32 { return uint32(text.HashOf(config).Lo) }

// The layout is drawn in the documentation of the package.
const (
	slotMagic    = "RSLT"
	slotVersion  = 1
	slotSize     = 64
	slotDistance = 4096
	trackerSize  = 2 * slotDistance
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes a slot.
func (s State) encode(b *[slotSize]byte) {
	copy(b[:], slotMagic)
	// The version takes the low 16 bits, so that the two make one word.
	binary.LittleEndian.PutUint64(b[4:], slotVersion|s.Hashes<<16)
	binary.LittleEndian.PutUint32(b[12:], s.Config)
	binary.LittleEndian.PutUint64(b[16:], s.Generation)
	binary.LittleEndian.PutUint64(b[24:], s.Batch)
	binary.LittleEndian.PutUint64(b[32:], s.Coordinate.Offset)
	binary.LittleEndian.PutUint64(b[40:], s.Coordinate.Row)
	binary.LittleEndian.PutUint32(b[48:], s.Coordinate.Shard)
	binary.LittleEndian.PutUint32(b[52:], s.Coordinate.RowGroup)
	binary.LittleEndian.PutUint32(b[56:], s.Coordinate.Page)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// decodeSlot reads a slot. The errors are [ErrMagic], [ErrVersion] and [ErrChecksum], the first
// that is met. Newer tells of a version error that it is no damage: the checksum holds.
func decodeSlot(b []byte) (s State, newer bool, err error) {
	version, sum := binary.LittleEndian.Uint16(b[4:]), crc32.Checksum(b[:60], castagnoli)
	is := binary.LittleEndian.Uint32(b[60:])
	switch {
	case string(b[:4]) != slotMagic:
		return State{}, false, fmt.Errorf("%w %q, want %q", ErrMagic, b[:4], slotMagic)
	case version != slotVersion:
		return State{}, is == sum, fmt.Errorf("%w %d, this program reads %d", ErrVersion, version, slotVersion)
	case is != sum:
		return State{}, false, fmt.Errorf("%w %08x, the bytes have %08x", ErrChecksum, is, sum)
	}
	return State{
		Hashes:     binary.LittleEndian.Uint64(b[4:]) >> 16,
		Config:     binary.LittleEndian.Uint32(b[12:]),
		Generation: binary.LittleEndian.Uint64(b[16:]),
		Batch:      binary.LittleEndian.Uint64(b[24:]),
		Coordinate: Coordinate{
			Offset:   binary.LittleEndian.Uint64(b[32:]),
			Row:      binary.LittleEndian.Uint64(b[40:]),
			Shard:    binary.LittleEndian.Uint32(b[48:]),
			RowGroup: binary.LittleEndian.Uint32(b[52:]),
			Page:     binary.LittleEndian.Uint32(b[56:]),
		},
	}, false, nil
}

// next returns the generation after one.
func next(generation uint64) (uint64, error) {
	if generation == math.MaxUint64 {
		return 0, fmt.Errorf("%w: there is none after %d; start anew in an empty folder", ErrGeneration, generation)
	}
	return generation + 1, nil
}
