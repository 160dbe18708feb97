package resume

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// The files of the tests.
const (
	trackerName = "run/tracker"
	logName     = "run/log"
	testConfig  = 0xc0ffee
)

// newDisk returns a disk with an empty directory for a run.
func newDisk(t testing.TB) *fsys.Disk {
	d := fsys.NewDisk()
	require.NoError(t, d.MakeDir("run"))
	require.NoError(t, d.SyncDir("."))
	return d
}

func readFile(t testing.TB, d fsys.FS, name string) []byte {
	f, err := d.Open(name)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	b := make([]byte, size)
	if size > 0 {
		require.NoError(t, readFull(f, b, 0))
	}
	require.NoError(t, f.Close())
	return b
}

// writeFile puts bytes in the place of a file.
func writeFile(t testing.TB, d fsys.FS, name string, b []byte) {
	f, err := d.OpenWrite(name)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(0))
	if len(b) > 0 {
		_, err = f.WriteAt(b, 0)
		require.NoError(t, err)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.NoError(t, d.SyncDir("run"))
}

// batchHashes are those of a batch of the test run: none, one, two, three, none …
func batchHashes(batch uint64) []text.Hash128 {
	var out []text.Hash128
	for i := range batch % 4 {
		out = append(out, text.HashOf(fmt.Appendf(nil, "text %d of batch %d", i, batch)))
	}
	return out
}

func batchState(batch uint64) string { return fmt.Sprintf("behind batch %d", batch) }

// stateAfter is what a tracker must hold after that many batches, but for the generation.
func stateAfter(batch uint64) State {
	s := State{Batch: batch, Config: testConfig}
	for b := uint64(1); b <= batch; b++ {
		s.Hashes += b % 4
	}
	if batch > 0 {
		s.Coordinate = Coordinate{uint32(batch), 100 * batch, uint32(2 * batch), 7, 3 * batch}
	}
	return s
}

// hashesAfter are those that a log must hold after that many batches.
func hashesAfter(batch uint64) []text.Hash128 {
	out := []text.Hash128{}
	for b := uint64(1); b <= batch; b++ {
		out = append(out, batchHashes(b)...)
	}
	return out
}

// opened is a run that was opened, and what came out of its log.
type opened struct {
	tracker *StateTracker
	log     *Log
	hashes  []text.Hash128
}

func openRun(fs fsys.FS, opts ...Option) (o opened, err error) {
	opts = append([]Option{WithFS(fs), WithHolder("the test")}, opts...)
	if o.tracker, err = OpenStateTracker(trackerName, testConfig, opts...); err != nil {
		return o, err
	}
	o.hashes = []text.Hash128{}
	o.log, err = OpenLog(logName, o.tracker.State(), func(h []text.Hash128) error {
		o.hashes = append(o.hashes, h...)
		return nil
	}, opts...)
	return o, err
}

// close closes what was opened; errors were seen before.
func (o opened) close() {
	if o.log != nil {
		_ = o.log.Close()
	}
	if o.tracker != nil {
		_ = o.tracker.Close()
	}
}

// check holds a run that was just opened to what it must be after its batch.
func (o opened) check() error {
	s := o.tracker.State()
	want := stateAfter(s.Batch)
	want.Generation = s.Generation
	wantState := ""
	if s.Batch > 0 {
		wantState = batchState(s.Batch)
		if s.Generation != s.Batch+1 {
			return fmt.Errorf("batch %d has generation %d", s.Batch, s.Generation)
		}
	}
	hashes := hashesAfter(s.Batch)
	if s != want || fmt.Sprint(o.hashes) != fmt.Sprint(hashes) || o.log.Count() != s.Hashes || string(o.log.State()) != wantState {
		return fmt.Errorf("after batch %d: tracker %+v, want %+v; log %v of %d with %q, want %v", s.Batch, s, want, o.hashes, o.log.Count(), o.log.State(), hashes)
	}
	return nil
}

// commit does the next batch.
func (o opened) commit() error {
	generation, err := o.tracker.Next()
	if err != nil {
		return err
	}
	s := stateAfter(o.tracker.State().Batch + 1)
	if err := o.log.Append(generation, batchHashes(s.Batch), []byte(batchState(s.Batch))); err != nil {
		return err
	}
	s.Generation = generation
	return o.tracker.Commit(s)
}

// runTo makes a run of that many batches and returns its two files.
func runTo(t testing.TB, batches int) (tracker, log []byte) {
	d := newDisk(t)
	o, err := openRun(d)
	require.NoError(t, err)
	for range batches {
		require.NoError(t, o.commit())
	}
	o.close()
	return readFile(t, d, trackerName), readFile(t, d, logName)
}

// putSlot writes a slot from its fields, by the layout alone.
func putSlot(file []byte, slot int, version uint16, generation, batch, hashes uint64) {
	b := file[4096*slot:][:64]
	copy(b, "RSLT")
	binary.LittleEndian.PutUint64(b[4:], uint64(version)|hashes<<16)
	binary.LittleEndian.PutUint32(b[12:], testConfig)
	binary.LittleEndian.PutUint64(b[16:], generation)
	binary.LittleEndian.PutUint64(b[24:], batch)
	clear(b[32:60])
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], crc32.MakeTable(crc32.Castagnoli)))
}

// sum makes the last four bytes the CRC-32C of those before.
func sum(b []byte) {
	n := len(b) - 4
	binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)))
}

// sumIEEE makes the last four bytes the CRC-32 of those before.
func sumIEEE(b []byte) {
	n := len(b) - 4
	binary.LittleEndian.PutUint32(b[n:], crc32.ChecksumIEEE(b[:n]))
}

// outcomesOf checks what a crash of a disk may leave, up to a bound, and unless that is all of it
// as many at random as are asked for, of which it returns the number.
func outcomesOf(d *fsys.Disk, bound, random int, seed uint64, check func(left *fsys.Disk)) int {
	o := fsys.NewOutcomes(bound)
	for o.Next() {
		check(d.Crash(o.Choose))
	}
	if o.Complete() {
		return 0
	}
	for i := range uint64(random) {
		check(d.Crash(fsys.Random(seed | i)))
	}
	return random
}
