package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// crashPlan is the pipeline of these tests: 40 batches of records of which half are duplicates.
func crashPlan() runPlan {
	return runPlan{source: records{n: 320, texts: 200}, shape: "shuffle, dedup", epochs: 1, workers: 2, chunk: 16, ahead: 4, unique: firstText}
}

// crashOutput is the file that the run writes.
const crashOutput = "run/out.jsonl"

// delivered is what the run delivers, and what follows from that.
type delivered struct {
	plan    runPlan
	batches int
	whole   []byte         // of the output
	ends    []int64        // length of the output behind each number of batches
	first   map[string]int // the batch with a hash, from 1
}

var crashExpects = sync.OnceValue(func() func(t testing.TB) *delivered {
	var once sync.Once
	var out *delivered
	return func(t testing.TB) *delivered {
		once.Do(func() {
			d := &delivered{plan: crashPlan(), ends: []int64{0}, first: map[string]int{}}
			batches := d.plan.want(t)
			for i, b := range batches {
				d.whole = append(d.whole, lines(b)...)
				d.ends = append(d.ends, int64(len(d.whole)))
				for _, r := range b {
					d.first[fmt.Sprint(text.HashOf([]byte(r.Text)))] = i + 1
				}
			}
			d.batches = len(batches)
			out = d
		})
		require.NotNil(t, out)
		return out
	}
})()

// lines are the records of a batch in the output.
func lines(b []record) (out []byte) {
	for _, r := range b {
		out = fmt.Appendf(out, "{\"id\":%d,\"text\":%q}\n", r.ID, r.Text)
	}
	return out
}

// crashRun is a run that may be stopped at any time, and what is known of it.
type crashRun struct {
	*delivered
	every     int    // batches between commits
	maxFrames int    // of the log
	later     bool   // commits go on in the background
	reserve   int64  // of the log, in bytes
	g         int    // how its pipeline differs
	acked     mark   // what is committed for sure
	begun     []mark // what may be
}

// mark is a commit.
type mark struct {
	batch int
	ended bool
}

// crashSize is what the commits keep with them: the length of the output.
type crashSize struct {
	Size     int64
	Finished bool
}

// goOn opens the run on a disk, holds what it finds to what is known, and goes on to the end.
func (c *crashRun) goOn(d *fsys.Disk) (err error) {
	if err := c.looks(d); err != nil {
		return err
	}
	var out *Output
	var finished atomic.Bool
	opts := []Option{WithFS(d), WithHolder("the test")}
	size := func(f func() (int64, error)) (any, error) {
		if finished.Load() {
			return crashSize{c.ends[c.batches], true}, nil
		}
		n, err := f()
		return crashSize{Size: n}, err
	}
	if c.reserve > 0 {
		opts = append(opts, withReserve(c.reserve))
	}
	if c.later {
		opts = append(opts, WithExtra(func() (any, error) { return size(out.Flush) }), WithBeforeCommit(func() (any, error) {
			_, err := size(out.Sync)
			return nil, err
		}))
	} else {
		opts = append(opts, WithBeforeCommit(func() (any, error) { return size(out.Sync) }))
	}
	var at Start
	plan := c.plan.otherwise(c.g)
	plan.tell = func(s Start) { at = s }
	r, err := OpenPipeline(context.Background(), "run", plan.build, append(opts, WithMaxFrames(c.maxFrames))...)
	if err != nil {
		return err
	}
	defer r.Close() // what of it fails was seen before
	kept, err := c.found(d, at, r)
	if err != nil {
		return err
	}
	if at.Ended {
		return c.isWhole(d)
	}
	if out, err = OpenOutput(crashOutput, kept.Size, opts...); err != nil {
		return err
	}
	defer out.Close() // likewise
	for n := int(at.Batch); ; {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if _, err := out.Write(lines(b)); err != nil {
			return err
		}
		if n++; n%c.every == 0 {
			if err := c.commit(r, c.later, mark{batch: n}); err != nil {
				return err
			}
		}
	}
	for r.Committing() { // an output is not finished while a commit syncs it
		runtime.Gosched()
	}
	if err := out.Finish(); err != nil {
		return err
	}
	finished.Store(true)
	if err := c.commit(r, false, mark{c.batches, true}); err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	return c.isWhole(d)
}

// commit commits, and keeps what is known of it then.
func (c *crashRun) commit(r *ResumablePipeline[[]record], later bool, m mark) error {
	c.begun = append(c.begun, m)
	if !later {
		if err := r.Commit(); err != nil {
			return err
		}
		c.acked, c.begun = m, nil
		return nil
	}
	if err := r.CommitLater(); err != nil {
		return err
	}
	// It has waited for those before.
	if n := len(c.begun); n > 1 {
		c.acked, c.begun = c.begun[n-2], []mark{m}
	}
	return nil
}

// found holds a run that was just opened to what is known of it.
func (c *crashRun) found(d *fsys.Disk, at Start, r *ResumablePipeline[[]record]) (kept crashSize, err error) {
	is := mark{int(at.Batch), at.Ended}
	if is != c.acked && !slices.Contains(c.begun, is) {
		return kept, fmt.Errorf("%w: it is at %+v, known are %+v and %+v", errFound, is, c.acked, c.begun)
	}
	c.acked, c.begun = is, nil
	if at.Extra != nil {
		if err := json.Unmarshal(at.Extra, &kept); err != nil {
			return kept, fmt.Errorf("%w: %w", errFound, err)
		}
	}
	if kept.Size != c.ends[at.Batch] || kept.Finished != at.Ended {
		return kept, fmt.Errorf("%w: its output has %+v, it must be %d", errFound, kept, c.ends[at.Batch])
	}
	hashes, err := hashesIn(d)
	if err != nil {
		return kept, err // of the disk, whose loss a compaction may have hidden
	}
	wrong := 0
	for _, h := range hashes {
		if first := c.first[fmt.Sprint(h)]; first == 0 || first > is.batch {
			wrong++
		}
	}
	if uint64(len(hashes)) != r.store.tracker.State().Hashes || wrong > 0 || at.Ended && len(hashes) != len(c.first) {
		err = fmt.Errorf("%w: there are %d hashes at %+v, %d of them of texts that were not delivered", errFound, len(hashes), is, wrong)
	}
	return kept, err
}

// looks sees whether the output is as it may be found: whole under its name, or not there.
func (c *crashRun) looks(d *fsys.Disk) error {
	err := c.isWhole(d)
	if errors.Is(err, fs.ErrNotExist) && !c.acked.ended {
		return nil
	}
	return err
}

func (c *crashRun) isWhole(d *fsys.Disk) error {
	f, err := d.Open(crashOutput)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := readAll(f)
	if err == nil && string(b) != string(c.whole) {
		err = fmt.Errorf("%w: the output has %d bytes of %d, or others", errFound, len(b), len(c.whole))
	}
	return err
}

// crashKinds are the runs of these tests: one that commits each batch, one that commits every
// third, one whose log is compacted again and again, and one that commits in the background;
// the logs of two of them keep room for appends.
var crashKinds = []struct {
	every, maxFrames int
	later            bool
	reserve          int64 // bytes, 0 for none
}{{1, 1 << 16, false, 8 << 10}, {3, 1 << 16, false, 0}, {2, 1, false, 0}, {3, 1, true, 8 << 10}}

// newCrashRun is a run that has not begun.
func newCrashRun(t testing.TB, kind int) *crashRun {
	e := crashExpects(t)
	require.Equal(t, 40, e.batches)
	k := crashKinds[kind]
	return &crashRun{delivered: e, every: k.every, maxFrames: k.maxFrames, later: k.later, reserve: k.reserve}
}

// untouched is the run without a stop, and how many operations it takes.
func untouched(t testing.TB, kind int) (operations int) {
	d := newDisk(t)
	require.NoError(t, newCrashRun(t, kind).goOn(d))
	return d.Ops(fsys.OpAny)
}

// sideBySide calls f with 0 to n−1, two at a time.
func sideBySide(t *testing.T, n int, f func(t *testing.T, i int)) {
	var next atomic.Int64
	t.Run("side by side", func(t *testing.T) {
		for range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					f(t, i)
				}
			})
		}
	})
}

// TestPipelineCrashAnywhere: power is lost at every operation of a run. What may be left then is
// opened and goes on to its end, which is that of a run without a stop.
func TestPipelineCrashAnywhere(t *testing.T) {
	bound, random := 5, 11
	if testing.Short() {
		bound, random = 1, 1
	}
	for kind, k := range crashKinds {
		start, end := newDisk(t).Ops(fsys.OpAny), untouched(t, kind)
		var outcomes, chance, complete atomic.Int64
		places := (end - start + 1) * len(models)
		sideBySide(t, places, func(t *testing.T, i int) {
			n := start + i/len(models)
			if testing.Short() && (i+n)%len(models) != 0 {
				return
			}
			d, run := newDisk(t), newCrashRun(t, kind)
			d.SetModel(models[i%len(models)])
			d.CrashAfter(n)
			err := run.goOn(d)
			switch {
			case err != nil:
				require.ErrorIs(t, err, fsys.ErrCrashed)
			case !k.later: // else it may sync less often
				require.Equal(t, end, n)
			}
			check := func(left *fsys.Disk) {
				again := *run
				again.g = int(outcomes.Add(1))
				again.every = []int{1, 9, 16}[again.g%3]
				require.NoError(t, again.goOn(left), "kind %d, model %d, crash after operation %d, known %+v and %v", kind, i%len(models), n, run.acked, run.begun)
			}
			drawn := outcomesOf(d, bound, random, uint64(i)<<8, check)
			if chance.Add(int64(drawn)); drawn == 0 {
				complete.Add(1)
			}
		})
		t.Logf("a commit every %d batches, logs of %d frames, in the background %v: %d operations, %d models: %d outcomes, %d of them at random; all of them at %d of %d places",
			k.every, k.maxFrames, k.later, end-start, len(models), outcomes.Load(), chance.Load(), complete.Load(), places)
	}
}

// TestPipelineKilledAnywhere: the process ends at every operation, and the machine goes on; it
// may lose power at the end of the next.
func TestPipelineKilledAnywhere(t *testing.T) {
	for kind := range crashKinds {
		start, end := newDisk(t).Ops(fsys.OpAny), untouched(t, kind)
		sideBySide(t, end-start+1, func(t *testing.T, i int) {
			if testing.Short() && (i+kind)%4 > 0 {
				return
			}
			d, run := newDisk(t), newCrashRun(t, kind)
			d.CrashAfter(start + i)
			if err := run.goOn(d); err != nil {
				require.ErrorIs(t, err, fsys.ErrCrashed)
			}
			left := d.Kill()
			run.g, run.every = i, 5
			require.NoError(t, run.goOn(left), "kind %d, killed after operation %d", kind, start+i)
			require.NoError(t, run.goOn(left.Crash(fsys.Random(uint64(i)))))
			require.True(t, run.acked.ended)
		})
		t.Logf("kind %d: %d operations", kind, end-start)
	}
}

// TestPipelineCrashesInARow: power is lost at random while a run goes on after the last loss,
// with operations that fail and processes that are killed in between.
func TestPipelineCrashesInARow(t *testing.T) {
	runs := 600
	if testing.Short() {
		runs = 60
	}
	var crashes, kills, faults atomic.Int64
	sideBySide(t, runs, func(t *testing.T, i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		d, run := newDisk(t), newCrashRun(t, i%len(crashKinds))
		d.SetModel(models[rng.IntN(len(models))])
		for step := 0; ; step++ {
			run.g = rng.IntN(60)
			at := d.Ops(fsys.OpAny) + rng.IntN(120)
			quiet := step >= 12
			fault := !quiet && rng.IntN(3) == 0
			if fault {
				d.FailAt(fsys.OpAny, at+1, []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite}[rng.IntN(3)])
			} else if !quiet {
				d.CrashAfter(at)
			}
			err := run.goOn(d)
			require.NotErrorIs(t, err, errFound, "run %d", i)
			if err == nil {
				break
			}
			if !errors.Is(err, fsys.ErrCrashed) {
				require.True(t, fault, "run %d: %v", i, err)
				faults.Add(1)
				if rng.IntN(2) == 0 {
					d.Evict(rng.IntN)
				}
				if rng.IntN(2) == 0 {
					continue // the next process sees what this one left in memory
				}
			}
			if rng.IntN(4) == 0 {
				d = d.Kill()
				kills.Add(1)
			} else {
				d = d.Crash(rng.IntN)
				crashes.Add(1)
			}
		}
		require.NoError(t, run.goOn(d.Crash(rng.IntN)), "run %d", i)
		require.True(t, run.acked.ended)
	})
	t.Logf("%d runs: %d losses of power, %d processes killed, %d failed operations", runs, crashes.Load(), kills.Load(), faults.Load())
}

// TestPipelineEachOperationFails: every operation of a run fails once, in each way, and every
// sync that fails has lost what it should have written. The run goes on in a new process, and
// after a loss of power.
func TestPipelineEachOperationFails(t *testing.T) {
	ways := []error{syscall.EIO, syscall.ENOSPC, io.ErrShortWrite}
	var cases, hidden, syncs atomic.Int64
	kinds := len(crashKinds)
	if testing.Short() {
		kinds = 1
	}
	for kind := range kinds {
		start, end := newDisk(t).Ops(fsys.OpAny), untouched(t, kind)
		sideBySide(t, (end-start)*len(ways), func(t *testing.T, i int) {
			n, fault := start+1+i/len(ways), ways[i%len(ways)]
			for variant := range 4 {
				if kind > 0 && variant%2 != n%2 || testing.Short() && (variant != n%4 || i%4 > 0) {
					continue
				}
				d, run := newDisk(t), newCrashRun(t, kind)
				d.SetModel(models[(i+variant)%len(models)])
				d.FailAt(fsys.OpAny, n, fault)
				if err := run.goOn(d); err == nil && d.Ops(fsys.OpAny) < n {
					continue // one in the background may sync less often
				} else if err == nil {
					hidden.Add(1) // a compaction that failed early is put off
				} else {
					require.ErrorIs(t, err, fault, "kind %d, operation %d", kind, n)
				}
				if variant%2 == 1 {
					d.Evict(fsys.Random(uint64(i)))
				}
				if variant >= 2 {
					d = d.Crash(fsys.Random(uint64(i)))
				}
				run.g, run.every = i, 7
				require.NoError(t, run.goOn(d), "kind %d, operation %d, %v, variant %d", kind, n, fault, variant)
				require.NoError(t, run.goOn(d.Crash(fsys.Random(uint64(i)))), "kind %d, operation %d, %v", kind, n, fault)
				require.True(t, run.acked.ended)
				cases.Add(1)
			}
		})
		d := newDisk(t)
		require.NoError(t, newCrashRun(t, kind).goOn(d))
		for _, op := range []fsys.Op{fsys.OpSync, fsys.OpSyncDir} {
			all := d.Ops(op)
			sideBySide(t, all-newDisk(t).Ops(op), func(t *testing.T, i int) {
				for seed := range uint64(3) {
					if testing.Short() && seed != uint64(i)%12 {
						continue
					}
					d, run := newDisk(t), newCrashRun(t, kind)
					d.SetModel(models[int(seed)])
					d.FailAt(op, newDisk(t).Ops(op)+i+1, syscall.EIO)
					if err := run.goOn(d); err != nil { // else it was of a compaction
						require.ErrorIs(t, err, syscall.EIO)
					}
					run.g, run.every = i, 7
					if seed > 0 {
						d.Evict(fsys.Random(seed))
						d = d.Crash(fsys.Random(seed))
					}
					require.NoError(t, run.goOn(d), "kind %d, %v %d", kind, op, i)
					require.NoError(t, run.goOn(d.Crash(fsys.Random(seed))), "kind %d, %v %d", kind, op, i)
					syncs.Add(1)
				}
			})
		}
	}
	t.Logf("%d cases, %d without an error; %d syncs", cases.Load(), hidden.Load(), syncs.Load())
}

// TestPipelineOnAFullDisk: whatever the room, the run stops by ENOSPC and goes on when there is
// more.
func TestPipelineOnAFullDisk(t *testing.T) {
	var stopped, sizes atomic.Int64
	sideBySide(t, 200, func(t *testing.T, i int) {
		for kind := range crashKinds {
			room := int64(i) * fsys.BlockSize
			if testing.Short() && (i+kind)%4 > 0 {
				continue
			}
			d, run := newDisk(t), newCrashRun(t, kind)
			d.SetCapacity(room)
			if err := run.goOn(d); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC, "%d bytes", room)
				stopped.Add(1)
			}
			sizes.Add(1)
			d.SetCapacity(-1)
			run.every = 7
			require.NoError(t, run.goOn(d), "kind %d, %d bytes", kind, room)
			require.True(t, run.acked.ended)
		}
	})
	require.Positive(t, stopped.Load())
	require.Less(t, stopped.Load(), sizes.Load())
	t.Logf("%d sizes, %d too small", sizes.Load(), stopped.Load())
}
