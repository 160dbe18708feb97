package resume

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// TestTrackerOnFiles: the files of the system do the same as the disk of the other tests.
func TestTrackerOnFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tracker")
	tr, err := OpenStateTracker(name, 7)
	require.NoError(t, err)
	require.Equal(t, State{Generation: 1, Config: 7}, tr.State())
	_, err = OpenStateTracker(name, 7)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "process ")
	want := State{Generation: 2, Batch: 5, Coordinate: Coordinate{1, 2, 3, 4, 5}, Hashes: 6, Config: 7}
	require.NoError(t, tr.Commit(want))
	require.Equal(t, want, tr.State())
	require.NoError(t, tr.Close())
	require.NoError(t, tr.Close())
	require.ErrorIs(t, tr.Commit(want), ErrClosed)
	_, err = tr.Next()
	require.ErrorIs(t, err, ErrClosed)

	tr, err = OpenStateTracker(name, 7)
	require.NoError(t, err)
	require.Equal(t, want, tr.State())
	require.NoError(t, tr.Close())
	_, err = OpenStateTracker(name, 8)
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorContains(t, err, "00000007")
	require.ErrorContains(t, err, "00000008")
	_, err = OpenStateTracker(filepath.Join(filepath.Dir(name), "none", "tracker"), 7)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestCommitWritesTheOtherSlot: the bytes of the slot that counts are those they were.
func TestCommitWritesTheOtherSlot(t *testing.T) {
	d := newDisk(t)
	o, err := openRun(d)
	require.NoError(t, err)
	defer o.close()
	for i := range 6 {
		before := readFile(t, d, trackerName)
		require.NoError(t, o.commit())
		after := readFile(t, d, trackerName)
		current := 4096 * ((i + 1) % 2)
		require.Equal(t, before[current:current+4096], after[current:current+4096])
		require.NotEqual(t, before, after)
	}
}

// TestCommitKeepsTheOnlySlot: where the newer slot is bad the older one counts, whichever that
// is, and the next commit goes into the bad one.
func TestCommitKeepsTheOnlySlot(t *testing.T) {
	for batches := 1; batches <= 4; batches++ {
		tracker, log := runTo(t, batches)
		_, before := runTo(t, batches-1)
		newer := 4096 * ((batches + 1) % 2)
		clear(tracker[newer : newer+64])
		d := newDisk(t)
		writeFile(t, d, trackerName, tracker)
		writeFile(t, d, logName, log)
		o, err := openRun(d)
		require.NoError(t, err)
		require.NoError(t, o.check())
		require.Equal(t, uint64(batches-1), o.tracker.State().Batch)
		require.Equal(t, before, readFile(t, d, logName))
		require.NoError(t, o.commit())
		o.close()
		o, err = openRun(d)
		require.NoError(t, err)
		require.NoError(t, o.check())
		require.Equal(t, uint64(batches), o.tracker.State().Batch)
		o.close()
	}
}

func TestTrackerRefuses(t *testing.T) {
	sound, log := runTo(t, 3) // generation 4 in slot A
	both := bytes.Clone(sound)
	both[20] ^= 1
	both[4096+61] ^= 1
	newerA, newerB, copied := bytes.Clone(sound), bytes.Clone(sound), bytes.Clone(sound)
	putSlot(newerA, 0, 2, 9, 9, 9)
	putSlot(newerB, 1, 2, 1, 0, 0)
	copy(copied[4096:], sound[:64])
	lunaA := append([]byte("LMDL"), make([]byte, 124)...)
	lunaB := append(make([]byte, 64), append([]byte("LMDL"), make([]byte, 60)...)...)
	for name, c := range map[string]struct {
		file []byte
		is   error
		says []string
	}{
		"empty":               {nil, ErrShort, []string{"0 bytes, want 8192"}},
		"short":               {sound[:8191], ErrShort, []string{"8191 bytes", "restore"}},
		"long":                {append(bytes.Clone(sound), 0), ErrShort, []string{"8193 bytes"}},
		"zeros":               {make([]byte, 8192), ErrMagic, []string{"it may be no tracker", "restore"}},
		"both":                {both, ErrCorrupt, []string{"slot A at offset 0", "slot B at offset 4096", "restore"}},
		"newer A":             {newerA, ErrVersion, []string{"slot A at offset 0", "version 2", "newer program"}},
		"newer B":             {newerB, ErrVersion, []string{"slot B at offset 4096", "newer program"}},
		"copied":              {copied, ErrCorrupt, []string{"both slots have generation 4"}},
		"log":                 {log, ErrForeign, []string{"a dedup log"}},
		"luminamoon":          {lunaA, ErrForeign, []string{"luminamoon checkpoint"}},
		"luminamoon, A torn":  {lunaB, ErrForeign, []string{"luminamoon checkpoint"}},
		"text of that length": {bytes.Repeat([]byte("x"), 8192), ErrCorrupt, []string{`wrong magic "xxxx"`}},
	} {
		d := newDisk(t)
		writeFile(t, d, trackerName, c.file)
		_, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
		require.ErrorIs(t, err, c.is, name)
		for _, s := range append(c.says, trackerName) {
			require.ErrorContains(t, err, s, name)
		}
		require.True(t, bytes.Equal(c.file, readFile(t, d, trackerName)), name)
	}
}

// TestGenerationsEnd: they do not begin anew.
func TestGenerationsEnd(t *testing.T) {
	d := newDisk(t)
	file := make([]byte, 8192)
	putSlot(file, 0, 1, math.MaxUint64-1, 3, 0)
	putSlot(file, 1, 1, math.MaxUint64-2, 2, 0)
	writeFile(t, d, trackerName, file)
	tr, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
	require.NoError(t, err)
	g, err := tr.Next()
	require.NoError(t, err)
	require.EqualValues(t, uint64(math.MaxUint64), g)
	require.NoError(t, tr.Commit(State{Generation: g, Batch: 4}))
	_, err = tr.Next()
	require.ErrorIs(t, err, ErrGeneration)
	require.ErrorIs(t, tr.Commit(State{Batch: 5}), ErrGeneration)
	require.NoError(t, tr.Close())
	r, err := InspectTracker(trackerName, WithFS(d))
	require.NoError(t, err)
	require.Equal(t, 1, r.Current)
	require.EqualValues(t, uint64(math.MaxUint64), r.Slots[1].State.Generation)
}

func TestCommitRefuses(t *testing.T) {
	d := newDisk(t)
	tr, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
	require.NoError(t, err)
	require.NoError(t, tr.Commit(State{Generation: 2, Batch: 5, Hashes: 9}))
	before := readFile(t, d, trackerName)
	for _, c := range []struct {
		s  State
		is error
	}{
		{State{Generation: 2, Batch: 6, Hashes: 9}, ErrGeneration},
		{State{Generation: 4, Batch: 6, Hashes: 9}, ErrGeneration},
		{State{Generation: 3, Batch: 4, Hashes: 9}, ErrOrder},
		{State{Generation: 3, Batch: 6, Hashes: 8}, ErrOrder},
		{State{Generation: 3, Batch: 6, Hashes: MaxHashes + 1}, ErrLimit},
	} {
		require.ErrorIs(t, tr.Commit(c.s), c.is, "%+v", c.s)
		require.Equal(t, before, readFile(t, d, trackerName))
	}
	require.NoError(t, tr.Commit(State{Generation: 3, Batch: 5, Hashes: MaxHashes}))
	require.NoError(t, tr.Close())
}

// TestFailureStays: after a write or a sync that failed every call returns the same.
func TestFailureStays(t *testing.T) {
	for _, op := range []fsys.Op{fsys.OpWrite, fsys.OpSync} {
		d := newDisk(t)
		tr, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
		require.NoError(t, err)
		d.FailAt(op, d.Ops(op)+1, syscall.EIO)
		first := tr.Commit(State{Generation: 2, Batch: 1})
		require.ErrorIs(t, first, syscall.EIO)
		require.ErrorContains(t, first, "generation 2")
		require.Equal(t, State{Generation: 1, Config: testConfig}, tr.State())
		for range 2 {
			require.Equal(t, first, tr.Commit(State{Generation: 2, Batch: 1}))
			_, err = tr.Next()
			require.Equal(t, first, err)
		}
		require.ErrorIs(t, tr.Close(), syscall.EIO)
	}
}

// TestTrackerFlips: every byte of the file changed, and every length. There is an error that
// changes nothing, or one of the two states that were committed last.
func TestTrackerFlips(t *testing.T) {
	sound, log := runTo(t, 3)
	open := func(file []byte) (State, error) {
		d := newDisk(t)
		writeFile(t, d, trackerName, file)
		writeFile(t, d, logName, log)
		o, err := openRun(d)
		defer o.close()
		if err != nil {
			require.Equal(t, file, readFile(t, d, trackerName))
			require.Equal(t, log, readFile(t, d, logName))
			return State{}, err
		}
		require.NoError(t, o.check())
		return o.tracker.State(), nil
	}
	var last, older int
	for i := range sound {
		for _, x := range []byte{0x01, 0x80, 0xff} {
			if i%4096 >= 64 && (x != 0xff || i%64 != 0) {
				continue // what is between the slots is not read
			}
			file := bytes.Clone(sound)
			file[i] ^= x
			s, err := open(file)
			require.NoError(t, err, "byte %d", i)
			if i < 64 { // slot A has generation 4
				require.EqualValues(t, 2, s.Batch, "byte %d", i)
				older++
			} else {
				require.EqualValues(t, 3, s.Batch, "byte %d", i)
				last++
			}
		}
	}
	t.Logf("%d gave the last state, %d the one before", last, older)
	for n := range len(sound) {
		if n%64 > 1 && n%64 < 63 && n > 128 {
			continue
		}
		_, err := open(sound[:n])
		require.ErrorIs(t, err, ErrShort, "%d bytes", n)
	}
	// Both slots: never the beginning.
	for i := range 64 {
		file := bytes.Clone(sound)
		file[i] ^= 0x10
		file[4096+63-i] ^= 0x10
		_, err := open(file)
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestInspectTracker(t *testing.T) {
	file, _ := runTo(t, 3)
	file[4096+30] ^= 1
	d := newDisk(t)
	writeFile(t, d, trackerName, file)
	r, err := InspectTracker(trackerName, WithFS(d))
	require.NoError(t, err)
	require.NoError(t, r.Err)
	require.Equal(t, 0, r.Current)
	require.EqualValues(t, 3, r.Slots[0].State.Batch)
	require.ErrorIs(t, r.Slots[1].Err, ErrChecksum)
	require.EqualValues(t, 4096, r.Slots[1].Offset)
	require.Equal(t, State{}, r.Slots[1].State)
	file[5]++ // of the version
	writeFile(t, d, trackerName, file)
	r, err = InspectTracker(trackerName, WithFS(d))
	require.NoError(t, err)
	require.Equal(t, -1, r.Current)
	require.ErrorIs(t, r.Err, ErrCorrupt)
	require.ErrorIs(t, r.Slots[0].Err, ErrVersion)
	_, err = InspectTracker("run/none", WithFS(d))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.False(t, errors.Is(err, ErrShort))
}
