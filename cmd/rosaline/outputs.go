package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
)

// outputs are the files that rosaline run writes.
type outputs struct {
	out     *sink
	rejects target       // nil when nobody asked for them
	report  *output.File // the same
}

// destination is an output that is completed, or left as it is.
type destination interface {
	Commit() error
	Abort() error
	Partial() string
}

// openOutputs opens all of them before the run, so that it does not fail at its
// end for want of a folder.
func openOutputs(ctx context.Context, f *runFlags, stdout io.Writer) (*outputs, error) {
	var o outputs
	// The output comes last: --overwrite removes what cannot be had again.
	return &o, o.open(
		func() error { return o.openRejects(ctx, f, stdout) },
		func() error { return o.openReport(ctx, f, stdout) },
		func() (err error) { o.out, err = openSink(ctx, f, stdout); return labelled("--output", err) },
	)
}

// openRejects opens the file of the rejects, if there are to be any.
func (o *outputs) openRejects(ctx context.Context, f *runFlags, stdout io.Writer) error {
	if f.rejects == "" {
		return nil
	}
	file, err := openFile(ctx, f.rejects, stdout)
	if err == nil {
		o.rejects = file
	}
	return labelled("--rejects", err)
}

// openReport opens the file of the report, if there is to be one.
func (o *outputs) openReport(ctx context.Context, f *runFlags, stdout io.Writer) (err error) {
	if f.report != "" {
		o.report, err = openFile(ctx, f.report, stdout)
	}
	return labelled("--report", err)
}

// open does the steps. When one fails it lets go of what was opened before.
func (o *outputs) open(steps ...func() error) error {
	for _, step := range steps {
		err := step()
		if err == nil {
			continue
		}
		return both(err, both(o.abort(), o.abortReport()))
	}
	return nil
}

// abort lets go of the output and the rejects, as they are.
func (o *outputs) abort() (err error) {
	if o.out != nil {
		err = o.out.Abort()
	}
	if o.rejects != nil {
		err = both(err, o.rejects.Abort())
	}
	return err
}

// abortReport lets go of the file of the report.
func (o *outputs) abortReport() error {
	if o.report == nil {
		return nil
	}
	return o.report.Abort()
}

// labelled names the flag that an error is about.
func labelled(flag string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// openSink opens the output of a run.
func openSink(ctx context.Context, f *runFlags, stdout io.Writer) (*sink, error) {
	workers, _ := f.size()
	if f.folder {
		folder, err := output.OpenFolder(f.out, f.fileFormat.Extension(), f.rank(), f.world(), f.overwrite)
		if err != nil {
			return nil, err
		}
		limit := partLimit{f.shardRows.n, f.shardSize.n}
		return newFolderSink(folder, limit, f.fileFormat, f.columns(), workers), nil
	}
	if f.out == output.Stdout && f.fileFormat != output.JSONL && isTerminal(stdout) {
		return nil, usagef("%s is not for a terminal; name a file, or redirect standard output", f.fileFormat)
	}
	file, err := openFile(ctx, f.out, stdout)
	if err != nil {
		return nil, err
	}
	return newFileSink(file, f.fileFormat, f.columns(), workers), nil
}

// openFile opens one file.
func openFile(ctx context.Context, path string, stdout io.Writer) (*output.File, error) {
	create := func() (*output.File, error) { return output.Create(path, stdout) }
	if mayBlock(path) {
		return within(ctx, create)
	}
	return create() // not left behind, so that its partial file is not
}

// mayBlock reports whether opening path may wait for another process.
func mayBlock(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// finish completes the output and the rejects of a run that returned err, or
// leaves them under their partial names and says so.
func (o *outputs) finish(err error) error {
	all := []destination{o.out}
	if o.rejects != nil {
		all = append(all, o.rejects)
	}
	for _, f := range all {
		if err == nil {
			err = f.Commit()
		} else {
			err = alsoFailed(err, f.Abort())
		}
	}
	for _, f := range all {
		if err != nil && f.Partial() != "" {
			err = fmt.Errorf("%w; what was written before is in %s", err, f.Partial())
		}
	}
	return err
}

// alsoFailed adds to err, which ended a run, that an output could not be
// completed. That outranks an interrupt: what was in flight did not get through.
func alsoFailed(err, failed error) error {
	if failed != nil && isInterrupt(err) {
		return fmt.Errorf("%w (after: %v)", failed, err)
	}
	return both(err, failed)
}

// conclude ends a run that returned err: the table for people, the report for
// programs.
func (c *command) conclude(r *report, to *output.File, err error) error {
	if err != nil {
		r.Error = err.Error()
	}
	if !isClosedStdout(err) {
		err = both(err, writeTable(c.err, r))
	}
	if to == nil {
		return err
	}
	failed := r.write(to)
	if failed == nil {
		failed = to.Commit()
	} else {
		failed = both(failed, to.Abort())
	}
	if failed != nil {
		failed = fmt.Errorf("--report: %w", failed)
	}
	return alsoFailed(err, failed)
}

// both joins two errors, of which either may be nil, on one line. An error that
// the other holds already is not repeated.
func both(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil || errors.Is(a, b):
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
