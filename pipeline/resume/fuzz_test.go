package resume

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// FuzzOpenStateTracker: a file of any size with any bytes in its slots is an error and stays as
// it is, or a tracker that goes on.
func FuzzOpenStateTracker(f *testing.F) {
	tracker, log := runTo(f, 3)
	slotA, slotB := tracker[:64], tracker[4096:][:64]
	f.Add(slotA, slotB, uint16(8192), false)
	f.Add(slotA, slotB, uint16(8192), true)
	f.Add(slotA, slotB, uint16(100), false)
	f.Add(log, []byte{}, uint16(len(log)), false)
	f.Add([]byte("LMDL"), []byte{}, uint16(128), false)
	newer := bytes.Clone(slotA)
	newer[4] = 2
	f.Add(newer, slotB, uint16(8192), true)
	f.Fuzz(func(t *testing.T, slotA, slotB []byte, size uint16, seal bool) {
		file := make([]byte, max(8192, int(size)))
		copy(file[:4096], slotA)
		copy(file[4096:], slotB)
		if seal { // past the checksums
			sum(file[:64])
			sum(file[4096:][:64])
		}
		file = file[:size]
		d := newDisk(t)
		writeFile(t, d, trackerName, file)
		r, inspected := InspectTracker(trackerName, WithFS(d))
		tr, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
		require.Equal(t, err == nil, inspected == nil && r.Err == nil && r.Slots[r.Current].State.Config == testConfig)
		require.True(t, bytes.Equal(file, readFile(t, d, trackerName)))
		if err != nil {
			return
		}
		defer tr.Close()
		s := tr.State()
		require.Equal(t, r.Slots[r.Current].State, s)
		if s.Generation, err = tr.Next(); err != nil {
			return
		}
		require.NoError(t, tr.Commit(s))
		r, err = InspectTracker(trackerName, WithFS(d))
		require.NoError(t, err)
		require.NoError(t, r.Err)
		require.Equal(t, s, r.Slots[r.Current].State)
	})
}

// sealFrames makes the checksums of all frames right, as far as their lengths lead.
func sealFrames(b []byte) {
	for b = b[min(len(b), 16):]; len(b) >= 40; {
		n := 40 + 16*int64(binary.LittleEndian.Uint32(b[24:])) + int64(binary.LittleEndian.Uint32(b[28:]))
		if n <= int64(len(b)) {
			binary.LittleEndian.PutUint32(b[32:], crc32.Checksum(b[40:n], crc32.MakeTable(crc32.Castagnoli)))
		}
		sum(b[:40])
		b = b[min(n, int64(len(b))):]
	}
}

// FuzzOpenLog: a file of any bytes is an error and stays as it is, or a log with the hashes that
// were committed, which goes on.
func FuzzOpenLog(f *testing.F) {
	tracker, log := runTo(f, 3)
	f.Add(log, uint64(4), uint64(6), false)
	f.Add(log, uint64(4), uint64(6), true)
	f.Add(log, uint64(3), uint64(3), false)
	f.Add(log[:len(log)-1], uint64(3), uint64(3), false)
	f.Add(log[:16], uint64(1), uint64(0), false)
	f.Add(log[:9], uint64(1), uint64(0), false)
	f.Add(tracker, uint64(1), uint64(0), false)
	f.Fuzz(func(t *testing.T, file []byte, generation, hashes uint64, seal bool) {
		if seal {
			file = bytes.Clone(file)
			sealFrames(file)
		}

		d := newDisk(t)
		writeFile(t, d, logName, file)
		report, inspected := InspectLog(logName, WithFS(d))
		committed := State{Generation: generation, Hashes: hashes}
		l, got, err := collect(logName, committed, WithFS(d))
		if err != nil {
			require.True(t, bytes.Equal(file, readFile(t, d, logName)))
			return
		}
		require.NoError(t, inspected)
		require.GreaterOrEqual(t, report.Hashes, hashes)
		require.EqualValues(t, hashes, len(got))
		require.EqualValues(t, hashes, l.Count())
		require.True(t, bytes.HasPrefix(file, readFile(t, d, logName)))
		defer l.Close()
		next, err := next(generation)
		if err != nil {
			return
		}
		require.NoError(t, l.Append(next, []text.Hash128{{Hi: 1, Lo: 2}}, nil))
		again, got2, err := collect(logName, State{Generation: next, Hashes: hashes + 1}, WithFS(d))
		require.NoError(t, err)
		require.Equal(t, append(got, text.Hash128{Hi: 1, Lo: 2}), got2)
		require.NoError(t, again.Close())
	})
}
