package resume

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// progress is what a run knows to be committed, and what it has begun to commit.
type progress struct {
	acked, begun uint64
	reserve      bool // the log keeps room for appends
}

// crashBatches is how long the runs of these tests are, and compactAt where their logs are
// compacted. One that is opened before that has more frames than it may.
const (
	crashBatches = 8
	compactAt    = 7
)

// goOn opens the run on a disk, holds what it finds to what is known, and goes on to the end.
func (p *progress) goOn(d *fsys.Disk) error { return p.goOnTo(d, crashBatches) }

func (p *progress) goOnTo(d *fsys.Disk, end uint64) error {
	opts := []Option{WithMaxFrames(1)}
	if p.reserve {
		opts = append(opts, withReserve(1024))
	}
	o, err := openRun(d, opts...)
	defer o.close()
	if err != nil {
		return err
	}
	if err := p.found(o); err != nil {
		return err
	}
	for p.acked < end {
		p.begun = p.acked + 1
		if err := o.commit(); err != nil {
			return err
		}
		p.acked++
		if p.acked == compactAt {
			if err := o.log.Compact(); err != nil {
				return err
			}
		}
	}
	return nil
}

// errFound is that of a run that is not what it must be.
var errFound = errors.New("wrong state")

// found holds a run that was just opened to what is known of it.
func (p *progress) found(o opened) error {
	batch := o.tracker.State().Batch
	if batch != p.acked && batch != p.begun {
		return errors.Join(errFound, o.check(), errors.New("it is neither the last nor the one in flight"))
	}
	if err := o.check(); err != nil {
		return errors.Join(errFound, err)
	}
	p.acked, p.begun = batch, batch
	return nil
}

// models are the file systems of the tests.
var models = []fsys.Model{{}, {AnyNames: true}, {AnyCut: true}, {AnyNames: true, AnyCut: true}}

// TestCrashAnywhere: power is lost at every operation of a run, and every outcome up to a bound
// is opened, and gone on with to the end.
func TestCrashAnywhere(t *testing.T) {
	bound := 60
	if testing.Short() {
		bound = 10
	}
	operations, outcomes, places, complete := 0, 0, 0, 0
	for kind := range 4 {
		from, reserve := uint64(kind/2*6), kind%2 == 1
		start, end := span(t, from, reserve)
		operations += end - start
		for _, model := range models {
			for n := start; n <= end; n++ {
				d, p := begun(t, from, reserve)
				d.SetModel(model)
				d.CrashAfter(n)
				err := p.goOn(d)
				require.NotErrorIs(t, err, errFound)
				if n < end && p.acked < crashBatches { // what is left is to close it
					require.ErrorIs(t, err, fsys.ErrCrashed)
				}
				check := func(left *fsys.Disk) {
					q := p
					require.NoError(t, q.goOn(left), "crash after operation %d, known %+v", n, p)
					outcomes++
				}
				places++
				if outcomesOf(d, bound, bound/2, 0, check) == 0 {
					complete++
				}
			}
		}
	}
	t.Logf("%d operations, %d models: %d outcomes; all of them at %d of %d places", operations, len(models), outcomes, complete, places)
}

// begun returns a disk with a run that has come so far.
func begun(t *testing.T, batch uint64, reserve bool) (*fsys.Disk, progress) {
	d := newDisk(t)
	p := progress{reserve: reserve}
	if batch > 0 {
		require.NoError(t, p.goOnTo(d, batch))
	}
	return d, p
}

// span returns how many operations there were when a run had come so far, and at its end.
func span(t *testing.T, batch uint64, reserve bool) (start, end int) {
	d, p := begun(t, batch, reserve)
	start = d.Ops(fsys.OpAny)
	require.NoError(t, p.goOn(d))
	return start, d.Ops(fsys.OpAny)
}

// TestCrashesInARow: power is lost at random while a run is opened after the last loss, with
// operations that fail and processes that are killed in between.
func TestCrashesInARow(t *testing.T) {
	runs := 10_000
	if testing.Short() {
		runs = 500
	}
	crashes, faults := 0, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 7))
		d := newDisk(t)
		d.SetModel(models[seed%4])
		p := progress{reserve: seed%8 >= 4}
		for step := 0; ; step++ {
			at := d.Ops(fsys.OpAny) + rng.IntN(40)
			quiet := step >= 12
			fault := !quiet && rng.IntN(3) == 0
			if fault {
				err := []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite}[rng.IntN(3)]
				d.FailAt(fsys.OpAny, at+1, err)
			} else if !quiet {
				d.CrashAfter(at)
			}
			err := p.goOn(d)
			require.NotErrorIs(t, err, errFound, "seed %d", seed)
			if err == nil {
				break
			}
			switch {
			case !errors.Is(err, fsys.ErrCrashed):
				// A full disk or a bad one; the next process may see what is in memory, or not.
				require.True(t, fault, "seed %d: %v", seed, err)
				faults++
				if rng.IntN(2) == 0 {
					d.Evict(rng.IntN)
				}
				if rng.IntN(2) == 0 {
					d = d.Crash(rng.IntN)
					crashes++
				}
			default:
				d = d.Crash(rng.IntN)
				crashes++
			}
		}
		q := p
		require.NoError(t, q.goOn(d.Crash(rng.IntN)), "seed %d", seed)
		require.EqualValues(t, crashBatches, q.acked)
	}
	t.Logf("%d runs: %d losses of power, %d failed operations", runs, crashes, faults)
}

// TestEachOperationFails: every operation of a run fails once, in each way. The run goes on
// from there in a new process, and after a loss of power.
func TestEachOperationFails(t *testing.T) {
	operations, cases, hidden := 0, 0, 0
	for kind := range 4 {
		from, reserve := uint64(kind/2*6), kind%2 == 1
		start, end := span(t, from, reserve)
		operations += end - start
		for n := start + 1; n <= end; n++ {
			for _, fault := range []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite} {
				for variant := range uint64(6) {
					d, p := begun(t, from, reserve)
					d.FailAt(fsys.OpAny, n, fault)
					err := p.goOn(d)
					if err == nil {
						hidden++ // a compaction by OpenLog that failed early is put off
					} else {
						require.ErrorIs(t, err, fault, "operation %d", n)
					}
					if variant%2 == 1 {
						d.Evict(fsys.Random(variant))
					}
					if variant >= 4 {
						d = d.Crash(fsys.Random(variant + uint64(n)))
					}
					require.NoError(t, p.goOn(d), "operation %d, %v", n, fault)
					left := d.Crash(fsys.Random(uint64(n)))
					require.NoError(t, p.goOn(left), "operation %d, %v", n, fault)
					require.EqualValues(t, crashBatches, p.acked)
					cases++
				}
			}
		}
	}
	require.Positive(t, hidden)
	t.Logf("%d operations, %d cases, %d without an error", operations, cases, hidden)
}

// TestFullDisk: whatever the room, the run stops by ENOSPC and goes on when there is more.
func TestFullDisk(t *testing.T) {
	stopped := 0
	for room := int64(0); room <= 12<<10; room += fsys.BlockSize {
		d := newDisk(t)
		d.SetCapacity(room)
		p := progress{reserve: room%1024 == 0}
		if err := p.goOn(d); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC, "%d bytes", room)
			stopped++
		}
		d.SetCapacity(-1)
		require.NoError(t, p.goOn(d), "%d bytes", room)
		require.EqualValues(t, crashBatches, p.acked)
	}
	require.Positive(t, stopped)
}

// TestOpenMakesItLast: what was opened is on the disk, though whoever put it there, a process
// that was killed or a copy, synced neither bytes nor names.
func TestOpenMakesItLast(t *testing.T) {
	tracker, log := runTo(t, 3)
	put := func(d *fsys.Disk, name string, b []byte) {
		f, err := d.Create(name)
		require.NoError(t, err)
		_, err = f.Append(b)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	nothing := func(int) int { return 0 }
	d := newDisk(t)
	put(d, trackerName, tracker)
	tr, err := OpenStateTracker(trackerName, testConfig, WithFS(d))
	require.NoError(t, err)
	require.Equal(t, tracker, readFile(t, d.Crash(nothing), trackerName))
	put(d, logName, log)
	l, _, err := collect(logName, tr.State(), WithFS(d))
	require.NoError(t, err)
	require.Equal(t, log, readFile(t, d.Crash(nothing), logName))
	require.NoError(t, l.Close())
	require.NoError(t, tr.Close())

	tracker[4096+9] ^= 1 // slot B, the older one
	d = newDisk(t)
	put(d, trackerName, tracker)
	tr, err = OpenStateTracker(trackerName, testConfig, WithFS(d))
	require.NoError(t, err)
	require.Equal(t, tracker, readFile(t, d.Crash(nothing), trackerName))
	require.NoError(t, tr.Close())
}

// TestFailedReads: what cannot be read is no end and no damage, and nothing is cut for it.
func TestFailedReads(t *testing.T) {
	tracker, log := runTo(t, 3)
	put := func() *fsys.Disk {
		d := newDisk(t)
		writeFile(t, d, trackerName, tracker)
		writeFile(t, d, logName, log)
		return d
	}
	d := put()
	start := d.Ops(fsys.OpRead)
	o, err := openRun(d)
	require.NoError(t, err)
	o.close()
	end := d.Ops(fsys.OpRead)
	require.Greater(t, end, start+4)
	for k := start + 1; k <= end; k++ {
		d := put()
		d.FailAt(fsys.OpRead, k, syscall.EIO)
		o, err := openRun(d)
		require.ErrorIs(t, err, syscall.EIO, "read %d", k)
		require.NotErrorIs(t, err, ErrDamaged)
		o.close()
		require.Equal(t, tracker, readFile(t, d, trackerName))
		require.Equal(t, log, readFile(t, d, logName))
	}
	// A file that became shorter while it was read.
	for n := range len(log) {
		r := newFrameReader(bytes.NewReader(log[:n]), int64(len(log)))
		err := error(nil)
		for f := (frame{}); err == nil; {
			err = r.next(&f)
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
	}
}
