package resume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// outputRun is a run that writes an output in pieces and commits after some of them, and what is
// known of it.
type outputRun struct {
	pieces [][]byte
	whole  []byte
	older  []byte // at the name, nil for none
	every  int    // pieces between commits

	acked   int  // pieces in the last commit
	prior   int  // in the one before
	ended   bool // the last commit says that the output is finished
	maybe   bool // the output may have had its name
	started bool // a commit was made
}

func newOutputRun(n, every int) *outputRun {
	r := &outputRun{pieces: firstPieces(n), every: every, whole: []byte{}}
	r.whole = append(r.whole, bytes.Join(r.pieces, nil)...)
	return r
}

// size is the length of that many pieces.
func (r *outputRun) size(n int) int64 { return int64(len(bytes.Join(r.pieces[:n], nil))) }

// looks holds the name to what may be there at any time: the older output or none, or the whole.
func (r *outputRun) looks(d *fsys.Disk) error {
	b, err := contentOf(d, outputName)
	isWhole := b != nil && bytes.Equal(b, r.whole)
	isOlder := (b == nil) == (r.older == nil) && bytes.Equal(b, r.older)
	switch {
	case err != nil:
		return err
	case r.ended && isWhole, !r.ended && isOlder, !r.ended && r.maybe && (isWhole || b == nil):
		return nil
	}
	return fmt.Errorf("%w: %d bytes have the name of the output, it has %d; %d pieces are committed, ended %v, maybe %v",
		errFound, len(b), len(r.whole), r.acked, r.ended, r.maybe)
}

// goOn opens the output where it was committed and goes on to the end.
func (r *outputRun) goOn(d *fsys.Disk) error {
	if err := r.looks(d); err != nil {
		return err
	}
	if r.ended {
		return CheckOutput(outputName, int64(len(r.whole)), WithFS(d))
	}
	o, err := OpenOutput(outputName, r.size(r.acked), WithFS(d))
	if err != nil {
		return err
	}
	defer o.Close() // what of it fails was seen before
	o.buf = make([]byte, 0, testBuffer)
	for n := r.acked; n < len(r.pieces); {
		if _, err := o.Write(r.pieces[n]); err != nil {
			return err
		}
		if n++; n%r.every == 0 {
			flushed, err := o.Flush()
			if err != nil {
				return err
			}
			size, err := o.Sync()
			if err != nil {
				return err
			}
			if want := r.size(n); size != want || flushed != want || o.Size() != want {
				return fmt.Errorf("%w: %d, %d and %d bytes instead of %d", errFound, flushed, size, o.Size(), want)
			}
			r.prior, r.acked, r.started = r.acked, n, true
		}
	}
	r.maybe = true
	if err := o.Finish(); err != nil {
		return err
	}
	r.prior, r.ended = r.acked, true
	return r.looks(d)
}

// unended is the run with the commit before the last as its last one: the crash came before that
// was on the disk.
func (r *outputRun) unended() *outputRun {
	before := *r
	before.acked, before.ended = r.prior, false
	return &before
}

// outputKinds are the runs of these tests and where they begin.
var outputKinds = []struct {
	name          string
	pieces, every int
	begin         func(t testing.TB, d *fsys.Disk, r *outputRun)
}{
	{"new", 8, 1, func(testing.TB, *fsys.Disk, *outputRun) {}},
	{"older", 8, 3, func(t testing.TB, d *fsys.Disk, r *outputRun) {
		r.older = []byte(outputOlder)
		writeFile(t, d, outputName, r.older)
	}},
	{"left over", 4, 2, func(t testing.TB, d *fsys.Disk, _ *outputRun) {
		writeFile(t, d, outputName+PartialSuffix, bytes.Repeat([]byte("left over"), 500))
	}},
	{"left over, and nothing comes", 0, 1, func(t testing.TB, d *fsys.Disk, _ *outputRun) {
		writeFile(t, d, outputName+PartialSuffix, []byte("left over"))
	}},
	{"within", 8, 2, func(t testing.TB, d *fsys.Disk, r *outputRun) {
		r.acked, r.prior, r.started = 4, 2, true
		writeFile(t, d, outputName+PartialSuffix, append(bytes.Clone(r.whole[:r.size(4)]), "not committed"...))
	}},
	{"finished and not committed", 8, 2, func(t testing.TB, d *fsys.Disk, r *outputRun) {
		r.acked, r.prior, r.started, r.maybe = 6, 4, true, true
		writeFile(t, d, outputName, r.whole)
	}},
	{"finished, all but that committed", 8, 1, func(t testing.TB, d *fsys.Disk, r *outputRun) {
		r.acked, r.prior, r.started, r.maybe = 8, 7, true, true
		writeFile(t, d, outputName, r.whole)
	}},
}

// beginOutput returns a disk on which a run of a kind may begin.
func beginOutput(t testing.TB, kind int) (*fsys.Disk, *outputRun) {
	k := outputKinds[kind]
	d, r := newDisk(t), newOutputRun(k.pieces, k.every)
	k.begin(t, d, r)
	return d, r
}

// spanOutput returns how many operations there were when a run began, and at its end.
func spanOutput(t testing.TB, kind int) (start, end int) {
	d, r := beginOutput(t, kind)
	start = d.Ops(fsys.OpAny)
	require.NoError(t, r.goOn(d))
	return start, d.Ops(fsys.OpAny)
}

// endOutput goes on with a run to its end, from its last commit and from the one before, and
// holds what lasts to the whole.
func endOutput(r *outputRun, left *fsys.Disk) (goneOn int, err error) {
	again := *r
	runs := []*outputRun{&again}
	if r.started && r.prior < r.acked || r.ended {
		runs = append(runs, r.unended())
	}
	for i, run := range runs {
		d := left
		if i < len(runs)-1 {
			d = left.Kill()
		}
		if err := run.goOn(d); err != nil {
			return i, fmt.Errorf("from %d pieces, ended %v: %w", run.acked, run.ended, err)
		}
		lasts := d.Crash(func(int) int { return 0 })
		b, err := contentOf(lasts, outputName)
		if err != nil || b == nil || !bytes.Equal(b, run.whole) {
			return i, fmt.Errorf("%w: %d bytes last instead of %d: %w", errFound, len(b), len(run.whole), err)
		}
		if b, err := contentOf(lasts, outputName+PartialSuffix); err != nil || b != nil {
			return i, fmt.Errorf("%w: %d bytes are left with the partial name: %w", errFound, len(b), err)
		}
	}
	return len(runs), nil
}

// TestOutputCrashAnywhere: power is lost at every operation of a run. What may be left then has
// the older output, none or the whole at its name, and goes on to the whole.
func TestOutputCrashAnywhere(t *testing.T) {
	bound, random := 60, 30
	if testing.Short() {
		bound, random = 8, 4
	}
	for kind, k := range outputKinds {
		start, end := spanOutput(t, kind)
		var outcomes, runs, complete atomic.Int64
		places := (end - start + 1) * len(models)
		sideBySide(t, places, func(t *testing.T, i int) {
			n := start + i/len(models)
			d, r := beginOutput(t, kind)
			d.SetModel(models[i%len(models)])
			d.CrashAfter(n)
			if err := r.goOn(d); n < end {
				require.ErrorIs(t, err, fsys.ErrCrashed)
			} else {
				require.NoError(t, err)
			}
			check := func(left *fsys.Disk) {
				goneOn, err := endOutput(r, left)
				require.NoError(t, err, "%s, model %d, crash after operation %d", k.name, i%len(models), n-start)
				outcomes.Add(1)
				runs.Add(int64(goneOn))
			}
			if outcomesOf(d, bound, random, uint64(i)<<8, check) == 0 {
				complete.Add(1)
			}
		})
		t.Logf("%s: %d operations, %d models: %d outcomes, %d runs that went on; all outcomes at %d of %d places",
			k.name, end-start, len(models), outcomes.Load(), runs.Load(), complete.Load(), places)
	}
}

// TestOutputCrashTwice: the process is killed at every operation, or loses power, and power is
// lost at every operation of the run that goes on.
func TestOutputCrashTwice(t *testing.T) {
	random, step := uint64(3), 1
	if testing.Short() {
		random, step = 1, 3
	}
	var outcomes, kills, losses atomic.Int64
	for kind, k := range outputKinds {
		start, end := spanOutput(t, kind)
		sideBySide(t, end-start+1, func(t *testing.T, i int) {
			if i%step > 0 {
				return
			}
			d, first := beginOutput(t, kind)
			d.SetModel(models[i%len(models)])
			d.CrashAfter(start + i)
			if err := first.goOn(d); i < end-start {
				require.ErrorIs(t, err, fsys.ErrCrashed)
			}
			if first.ended {
				first = first.unended()
			}
			for m := 0; ; m++ {
				left, r := d.Kill(), *first
				if m%4 == 3 {
					left = d.Crash(fsys.Random(uint64(i + m)))
					losses.Add(1)
				} else {
					kills.Add(1)
				}
				left.CrashAfter(m)
				stopped := r.goOn(left)
				require.NotErrorIs(t, stopped, errFound)
				for seed := range random {
					_, err := endOutput(&r, left.Crash(fsys.Random(uint64(m)<<8|seed)))
					require.NoError(t, err, "%s, operations %d and %d", k.name, i, m)
					outcomes.Add(1)
				}
				if stopped == nil {
					break
				}
				require.ErrorIs(t, stopped, fsys.ErrCrashed)
			}
		})
	}
	t.Logf("%d processes killed, %d losses of power, then %d outcomes of another", kills.Load(), losses.Load(), outcomes.Load())
}

// TestOutputCrashesInARow: power is lost at random while a run goes on after the last loss, with
// operations that fail and processes that are killed in between.
func TestOutputCrashesInARow(t *testing.T) {
	rounds := 800
	if testing.Short() {
		rounds = 80
	}
	var crashes, kills, faults, stays atomic.Int64
	sideBySide(t, rounds, func(t *testing.T, i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		d, r := beginOutput(t, i%len(outputKinds))
		d.SetModel(models[rng.IntN(len(models))])
		for step := 0; ; step++ {
			at := d.Ops(fsys.OpAny) + rng.IntN(24)
			quiet := step >= 12
			fault := !quiet && rng.IntN(3) == 0
			if fault {
				d.FailAt(fsys.OpAny, at+1, []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite}[rng.IntN(3)])
			} else if !quiet {
				d.CrashAfter(at)
			}
			r.every = 1 + rng.IntN(4)
			err := r.goOn(d)
			require.NotErrorIs(t, err, errFound, "run %d", i)
			if err == nil {
				if r = r.unended(); step < 6 {
					d = d.Kill() // before the commit that says so
					kills.Add(1)
					continue
				}
				break
			}
			if !errors.Is(err, fsys.ErrCrashed) {
				require.True(t, fault, "run %d: %v", i, err)
				faults.Add(1)
				if rng.IntN(2) == 0 {
					d.Evict(rng.IntN)
				}
				if rng.IntN(2) == 0 {
					stays.Add(1)
					continue // the next process sees what this one left in memory
				}
			}
			if rng.IntN(3) == 0 {
				d = d.Kill()
				kills.Add(1)
			} else {
				d = d.Crash(rng.IntN)
				crashes.Add(1)
			}
		}
		_, err := endOutput(r, d.Crash(rng.IntN))
		require.NoError(t, err, "run %d", i)
	})
	t.Logf("%d runs: %d losses of power, %d processes killed, %d failed operations, %d of them gone on from at once",
		rounds, crashes.Load(), kills.Load(), faults.Load(), stays.Load())
}

// TestOutputEachOperationFails: every operation of a run fails once, in each way. The run goes on
// from there in a new process, and after a loss of power, which may come at once or at its end.
func TestOutputEachOperationFails(t *testing.T) {
	ways := []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite}
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	var cases atomic.Int64
	for kind, k := range outputKinds {
		start, end := spanOutput(t, kind)
		sideBySide(t, (end-start)*len(ways), func(t *testing.T, i int) {
			n, fault := start+1+i/len(ways), ways[i%len(ways)]
			for variant := range 6 {
				if testing.Short() && (i+variant)%4 > 0 {
					continue
				}
				d, r := beginOutput(t, kind)
				d.SetModel(models[(i+variant)%len(models)])
				d.FailAt(fsys.OpAny, n, fault)
				require.ErrorIs(t, r.goOn(d), fault, "%s, operation %d", k.name, n-start)
				if variant%2 == 1 {
					d.Evict(fsys.Random(uint64(i)))
				}
				switch variant / 2 {
				case 1:
					d = d.Crash(fsys.Random(uint64(i)))
				case 2:
					d = d.Kill()
				}
				_, err := endOutput(r, d.Kill())
				require.NoError(t, err, "%s, operation %d, %v, variant %d", k.name, n-start, fault, variant)
				require.NoError(t, r.goOn(d), "%s, operation %d, %v, variant %d", k.name, n-start, fault, variant)
				for seed := range seeds {
					_, err := endOutput(r, d.Crash(fsys.Random(uint64(i)<<8|seed)))
					require.NoError(t, err, "%s, operation %d, %v, variant %d", k.name, n-start, fault, variant)
				}
				cases.Add(1)
			}
		})
	}
	t.Logf("%d cases", cases.Load())
}

// TestOutputReadFails: what cannot be read is not missing, and nothing is changed for it.
func TestOutputReadFails(t *testing.T) {
	failures := 0
	for kind, k := range outputKinds {
		d, r := beginOutput(t, kind)
		start := d.Ops(fsys.OpRead)
		o, err := OpenOutput(outputName, r.size(r.acked), WithFS(d))
		require.NoError(t, err)
		require.NoError(t, o.Close())
		for n := start + 1; n <= d.Ops(fsys.OpRead); n++ {
			d, r := beginOutput(t, kind)
			before := []any{textAt(t, d, outputName), textAt(t, d, outputName+PartialSuffix)}
			d.FailAt(fsys.OpRead, d.Ops(fsys.OpRead)+n-start, syscall.EIO)
			_, err := OpenOutput(outputName, r.size(r.acked), WithFS(d))
			require.ErrorIs(t, err, syscall.EIO, k.name)
			require.NotErrorIs(t, err, ErrOutput, k.name)
			require.Equal(t, before, []any{textAt(t, d, outputName), textAt(t, d, outputName+PartialSuffix)}, k.name)
			failures++
		}
	}
	require.GreaterOrEqual(t, failures, 8)
}

// TestOutputOnAFullDisk: whatever the room, the run stops by ENOSPC and goes on when there is
// more.
func TestOutputOnAFullDisk(t *testing.T) {
	stopped, sizes := 0, 0
	for kind, k := range outputKinds {
		for room := int64(0); room <= 24; room++ {
			d, r := beginOutput(t, kind)
			d.SetCapacity(room * fsys.BlockSize)
			if err := r.goOn(d); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC, "%s, %d blocks", k.name, room)
				stopped++
			}
			sizes++
			d.SetCapacity(-1)
			_, err := endOutput(r, d)
			require.NoError(t, err, "%s, %d blocks", k.name, room)
		}
	}
	require.Positive(t, stopped)
	require.Less(t, stopped, sizes)
	t.Logf("%d sizes, %d too small", sizes, stopped)
}
