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
	out     *output.File
	rejects *output.File // nil when nobody asked for them
	report  *output.File // the same
}

// openOutputs opens all of them before the run, so that it does not fail at its
// end for want of a folder.
func openOutputs(ctx context.Context, f *runFlags, stdout io.Writer) (*outputs, error) {
	var o outputs
	for _, file := range []struct {
		flag, path string
		to         **output.File
	}{
		{"--output", f.out, &o.out}, {"--rejects", f.rejects, &o.rejects}, {"--report", f.report, &o.report},
	} {
		if file.path == "" {
			continue
		}
		create := func() (*output.File, error) { return output.Create(file.path, stdout) }
		var opened *output.File
		var err error
		if mayBlock(file.path) {
			opened, err = within(ctx, create)
		} else {
			opened, err = create() // not left behind, so that its partial file is not
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", file.flag, err)
			for _, other := range []*output.File{o.out, o.rejects} {
				if other != nil {
					err = both(err, other.Abort())
				}
			}
			return nil, err
		}
		*file.to = opened
	}
	return &o, nil
}

// mayBlock reports whether opening path may wait for another process.
func mayBlock(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// finish completes the output and the rejects of a run that returned err, or
// leaves them under their partial names and says so.
func (o *outputs) finish(err error) error {
	for _, f := range []*output.File{o.out, o.rejects} {
		switch {
		case f == nil:
		case err == nil:
			err = f.Commit()
		default:
			err = alsoFailed(err, f.Abort())
		}
	}
	for _, f := range []*output.File{o.out, o.rejects} {
		if f != nil && err != nil && f.Partial() != "" {
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
