package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// resumableRun is a run that goes on where its folder says.
//
//	Next ──▸ write ──▸ … every --commit-every batches: outputs synced ──▸ log ──▸ tracker
type resumableRun struct {
	*job
	in      *intake
	outputs outputs
	writer  *writer
	plan    *runPlan
	dedup   *resume.Dedup
	before  runMark            // what earlier processes did
	fresh   bool               // nothing was ever committed
	batches uint64             // that were delivered, by all processes
	syncing []*output.Appended // outputs of the commit that is under way
	done    bool               // the end was committed before
	imports bool               // the folder is made of another program's state; the outputs are open
	ending  bool               // the next commit is that of the end
}

// runMark is what a commit keeps of a run besides the state of its pipeline.
type runMark struct {
	Output  sinkMark          `json:"output"`
	Owner   string            `json:"owner,omitempty"` // by which a folder of parts knows the run
	Rejects output.Checkpoint `json:"rejects"`
	Totals  totals            `json:"totals"`
	Runs    int               `json:"runs"`    // processes that have worked on it
	Seconds float64           `json:"seconds"` // that they took

	Import *importMark `json:"import,omitempty"` // where the run began, unless that is the beginning
}

// resumable does a run with a state.
func (j *job) resumable(ctx context.Context) (err error) {
	// The inputs do not end by a signal: what the engine makes of that would be delivered.
	inputs, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &resumableRun{job: j}
	if err := r.checkImported(); err != nil {
		return err
	}
	e, err := j.newEngine(&j.engineFlags, cancel)
	if err != nil {
		return err
	}
	defer e.close()
	run, err := r.openRun(inputs)
	if err != nil {
		return both(err, r.abort(true))
	}
	j.announce()
	if r.done {
		j.log.Info("the run is complete", "state", j.state)
		err = run.Close()
	} else {
		err = r.drive(ctx, e, run)
	}
	stats := run.Stats()
	if r.writer != nil {
		r.writer.progress.stop()
	}
	err = both(err, r.abort(false))
	report := r.report(stats, err)
	entries, bytes := 0, int64(0)
	if r.writer != nil {
		entries, bytes = r.dedup.Entries()
	}
	report.Dedup = dedupTotals{entries, bytes}
	return j.conclude(report, r.outputs.report, err)
}

// openRun opens the inputs, and the folder of the run.
func (r *resumableRun) openRun(inputs context.Context, more ...resume.Option) (*resume.ResumablePipeline[*batch], error) {
	var err error
	if r.in, err = r.open(inputs, &r.inputFlags, r.files); err != nil {
		return nil, err
	}
	options, err := r.stateConfig()
	if err != nil {
		return nil, err
	}
	run, err := resume.OpenPipeline(context.Background(), r.state, r.begin, append(more,
		resume.WithConfig(options), resume.WithExtra(r.mark), resume.WithBeforeCommit(r.sync), resume.WithCoordinate(r.coordinate))...)
	if err != nil {
		return nil, stateError(err)
	}
	return run, nil
}

// stateError tells wrong usage from a state that cannot be gone on with.
func stateError(err error) error {
	if errors.Is(err, resume.ErrConfig) {
		return &usageError{fmt.Errorf("--state: %w", err)}
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("--state: %w", err)
}

// begin opens the outputs where the last commit was, and makes the pipeline.
func (r *resumableRun) begin(at resume.Start) (*pipeline.Pipeline[*batch], error) {
	r.fresh, r.done, r.dedup, r.batches = at.Extra == nil, at.Ended, at.Dedup, at.Batch
	if !r.fresh {
		if err := json.Unmarshal(at.Extra, &r.before); err != nil {
			return nil, fmt.Errorf("%w: what it says of the outputs: %w", resume.ErrCheckpoint, err)
		}
	}
	if from := r.before.Import; from != nil {
		r.in.begin = from.Position
	}
	if r.done {
		return nil, r.outputs.open(r.checkOutputs, r.openReport)
	}
	if !r.imports {
		if err := r.openOutputs(); err != nil {
			return nil, err
		}
	}
	r.writer = r.newWriter(r.in, &r.outputs)
	r.plan = newRunPlan(r.runFlags, r.in, r.decode, r.stages, r.writer, at.Dedup)
	return r.plan.plan, nil
}

// checkImported refuses a folder whose import committed nothing: hashes are there, and where the run
// was to begin is not known.
func (r *resumableRun) checkImported() error {
	if _, err := os.Lstat(filepath.Join(r.state, "known")); err != nil {
		return nil
	}
	t, err := resume.InspectTracker(filepath.Join(r.state, "tracker"))
	if err == nil && (t.Current < 0 || t.Slots[t.Current].State.Generation > 1) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // it has begun, or whoever opens it tells what is wrong
	}
	return fmt.Errorf("--state: %w: the import into %s came to no end; remove the folder and import again", resume.ErrCheckpoint, r.state)
}

// openOutputs opens the outputs where the last commit was.
func (r *resumableRun) openOutputs() error {
	// The output comes last: --overwrite removes what cannot be had again.
	err := r.outputs.open(
		func() (err error) { return labelled("--rejects", r.openRejects()) },
		r.openReport,
		func() (err error) { r.outputs.out, err = r.openSink(); return labelled("--output", err) },
	)
	if err != nil {
		r.outputs = outputs{}
	}
	return err
}

// openSink opens the output.
func (r *resumableRun) openSink() (*sink, error) {
	f, at := r.runFlags, r.before.Output
	workers, _ := f.size()
	if !f.folder {
		file, err := r.openAppended(f.out, at.Checkpoint)
		if err != nil {
			return nil, err
		}
		s := newFileSink(file, f.fileFormat, f.columns(), workers)
		if file.Straight() {
			s.done = at.Size
			r.log.Warn("what went into a stream cannot be taken back: after a kill its last batches may come again; -o names a file or folder", "output", f.out)
		}
		return s, nil
	}
	rank, world, ext := f.rank(), f.world(), f.fileFormat.Extension()
	var folder *output.Folder
	var err error
	if r.fresh {
		r.before.Owner = rand.Text()
		if folder, err = output.OpenFolder(f.out, ext, rank, world, f.overwrite); err == nil {
			err = folder.Claim(r.before.Owner)
		}
	} else {
		folder, err = output.ResumeFolder(f.out, ext, rank, world, at.Parts, at.Done, r.before.Owner)
	}
	if err != nil {
		if folder != nil {
			err = both(err, folder.Close())
		}
		return nil, err
	}
	s := newFolderSink(folder, partLimit{f.shardRows.n, f.shardSize.n}, f.fileFormat, f.columns(), workers)
	s.next = func() (target, error) { return folder.NextAppended(output.Checkpoint{}) }
	s.whole = f.fileFormat != output.JSONL
	if err := s.goOn(at); err != nil {
		return nil, both(err, s.Abort())
	}
	return s, nil
}

// openRejects opens the file of the rejects, if there are to be any.
func (r *resumableRun) openRejects() error {
	if r.runFlags.rejects == "" {
		return nil
	}
	file, err := r.openAppended(r.runFlags.rejects, r.before.Rejects)
	if err == nil {
		r.outputs.rejects = file
	}
	return err
}

// openReport opens the file of the report, if there is to be one.
func (r *resumableRun) openReport() error {
	return r.outputs.openReport(context.Background(), r.runFlags, r.command.out)
}

// openAppended opens a file where so many bytes of it were committed, or a stream.
func (r *resumableRun) openAppended(path string, at output.Checkpoint) (target, error) {
	if output.IsStream(path) {
		if err := r.checkStream(path, at); err != nil {
			return nil, err
		}
		file, err := openFile(context.Background(), path, r.command.out)
		if err != nil {
			return nil, err
		}
		return file, nil
	}
	file, err := output.OpenAppended(path, at)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// checkStream refuses a standard output that is a file which does not have what was committed: one
// that > has emptied.
func (r *resumableRun) checkStream(path string, at output.Checkpoint) error {
	file, ok := r.command.out.(*os.File)
	if path != output.Stdout || !ok || !isRegular(file) {
		return nil
	}
	info, err := file.Stat()
	if err == nil && info.Size() < at.Size {
		err = fmt.Errorf("%w: standard output has %d bytes, %d were committed; append to what came before with >>", resume.ErrOutput, info.Size(), at.Size)
	}
	return err
}

// checkOutputs sees whether what a complete run has written is still there.
func (r *resumableRun) checkOutputs() error {
	f, at := r.runFlags, r.before.Output
	if f.folder {
		if err := output.CheckFolder(f.out, f.fileFormat.Extension(), f.rank(), f.world(), at.Parts, at.Done); err != nil {
			return labelled("--output", err)
		}
	} else {
		check := output.CheckAppended
		if output.IsStream(f.out) {
			check = r.checkStream
		}
		if err := check(f.out, at.Checkpoint); err != nil {
			return labelled("--output", err)
		}
	}
	if f.rejects != "" && !output.IsStream(f.rejects) {
		return labelled("--rejects", output.CheckAppended(f.rejects, r.before.Rejects))
	}
	return nil
}

// mark tells what goes with a commit. The outputs last when sync has returned, or, at the end, are
// complete.
func (r *resumableRun) mark() (any, error) {
	r.syncing = nil
	if r.ending {
		if err := r.outputs.finish(nil); err != nil {
			return nil, err
		}
		if r.plan.split != nil {
			r.writer.tally.stats.Add(r.plan.split.stats)
		}
	}
	m := runMark{Runs: r.before.Runs + 1, Seconds: r.before.Seconds + time.Since(r.started).Seconds(), Totals: r.totals(), Import: r.before.Import, Owner: r.before.Owner}
	if r.imports {
		m.Runs, m.Seconds = 0, 0
	}
	var err error
	if m.Output, err = r.outputs.out.mark(); err != nil {
		return nil, err
	}
	rejects, ok := r.outputs.rejects.(*output.Appended)
	switch {
	case !ok:
	case r.ending:
		m.Rejects = rejects.Completed()
	default:
		if m.Rejects, err = rejects.Checkpoint(); err != nil {
			return nil, err
		}
		r.syncing = append(r.syncing, rejects)
	}
	if out, ok := r.outputs.out.file.(*output.Appended); ok {
		r.syncing = append(r.syncing, out)
	}
	return m, nil
}

// sync makes the outputs last as far as the mark says.
func (r *resumableRun) sync() (any, error) {
	for _, f := range r.syncing {
		if err := f.Sync(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// totals are those of all processes that have worked on the run.
func (r *resumableRun) totals() totals {
	sum := r.writer.tally.totals(r.stages.Stages())
	sum.add(&r.before.Totals)
	return sum
}

// drive writes what the pipeline gives, up to the end, a signal or the first error, and commits
// it.
func (r *resumableRun) drive(ctx context.Context, e *engine, run *resume.ResumablePipeline[*batch]) (err error) {
	stop := e.observe(run.Stats)
	defer func() {
		e.cancelInputs()
		err = both(err, run.Close())
		stop()
	}()
	if r.fresh {
		// From here on what lies at the outputs is the run's own.
		if err := run.Commit(); err != nil {
			return err
		}
	}
	for since := 0; ; {
		b, err := run.Next(ctx)
		switch {
		case err == io.EOF:
			r.ending = true
			if err := run.Commit(); err != nil {
				return err
			}
			return r.disown()
		case err != nil:
			err = streamError(err)
			if r.canCommit() {
				err = alsoFailed(err, run.Commit())
			}
			return err
		}
		if err := r.writer.write(b); err != nil {
			return err
		}
		r.batches++
		since++
		if r.compressed() && r.aligned() {
			r.endMembers()
		}
		// While a commit is under way more is written, which the next one covers.
		if since >= r.commitEvery.n && r.canCommit() && (r.fileFormat != output.JSONL || !run.Committing()) {
			if err := run.CommitLater(); err != nil {
				return err
			}
			since = 0
		}
	}
}

// disown takes the name of the run from a folder of parts that is complete.
func (r *resumableRun) disown() error {
	if r.outputs.out.folder == nil {
		return nil
	}
	return r.outputs.out.folder.Disown()
}

// aligned reports whether the batches so far are whole intervals of --commit-every.
func (r *resumableRun) aligned() bool { return r.batches%uint64(r.commitEvery.n) == 0 }

// endMembers ends those of compressed outputs, though they may not be committed yet.
func (r *resumableRun) endMembers() {
	for _, f := range []target{r.outputs.out.file, r.outputs.rejects} {
		if f, ok := f.(*output.Appended); ok {
			f.EndMember()
		}
	}
}

// canCommit reports whether the run can go on where it stands: a table cannot in the middle of a
// part, what is compressed not within a member.
func (r *resumableRun) canCommit() bool {
	return r.outputs.out.table == nil && (!r.compressed() || r.aligned())
}

// abort lets go of the outputs, unless they are complete. Of a run that has not begun that is
// the report as well.
func (r *resumableRun) abort(report bool) error {
	var err error
	if !r.ending || r.outputs.out != nil && r.outputs.out.file != nil {
		err = r.outputs.abort()
	}
	if report {
		err = both(err, r.outputs.abortReport())
	}
	return err
}

// report tells what the run has done, in all processes.
func (r *resumableRun) report(stats pipeline.Stats, err error) *report {
	w := r.writer
	if w == nil {
		w = &writer{intake: r.in, out: &sink{done: r.before.Output.Done + r.before.Output.Size}}
		w.tally.pii = r.stages.PII()
	}
	out := r.newReport(w, stats, err)
	out.totals.add(&r.before.Totals)
	out.Resumable = &resumableReport{Folder: r.state, Runs: r.before.Runs + 1, Seconds: r.before.Seconds + out.Seconds}
	return out
}

// coordinate names the batch or row group of a table besides the row.
func (r *resumableRun) coordinate(at pipeline.SourceMark) resume.Coordinate {
	if from := r.before.Import; from != nil && !r.ending && at.Epoch == 0 && at.Position == nil {
		at.Position = from.Position
	}
	c := resume.CoordinateOf(at)
	if int(c.Shard) < len(r.files) {
		if f := r.files[c.Shard].Format; f == source.FormatArrow || f == source.FormatParquet {
			c.RowGroup, c.Offset = uint32(c.Offset), 0
		}
	}
	return c
}
