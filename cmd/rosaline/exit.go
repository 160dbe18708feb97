package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// Exit codes. Scripts depend on them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError says that the command was used wrongly.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// notYetError says that what a flag or command asks for has a name here but is
// not there yet. It counts as wrong usage.
type notYetError struct {
	what string // the flag, with dashes, or the command
	why  string
}

func (e *notYetError) Error() string {
	if e.what == "" {
		return "not yet: " + e.why
	}
	return e.what + ": not yet: " + e.why
}

// interruptError is why the context of a command ends at a signal.
type interruptError struct{ signal os.Signal }

func (e *interruptError) Error() string { return "interrupted: " + e.signal.String() }

// flagError makes a usage error of what the flag parser says, or of a value that
// is not supported yet.
func flagError(err error) error {
	var later *notYetError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		name := "--" + invalid.GetFlag().Name
		if errors.As(err, &later) {
			return &notYetError{name, later.why}
		}
		if invalid.GetFlag().Value.Type() == "bool" {
			return usagef("%s: %q: must be true or false", name, invalid.GetValue())
		}
		return usagef("%s: %q: %w", name, invalid.GetValue(), invalid.Unwrap())
	}
	return &usageError{err}
}

// inputError tells wrong usage of INPUT from inputs that cannot be read.
func inputError(err error) error {
	if errors.Is(err, source.ErrFormat) || errors.Is(err, source.ErrOption) {
		return &usageError{err}
	}
	return err
}

// isUsage reports whether err is about how the command was used.
func isUsage(err error) bool {
	var usage *usageError
	var later *notYetError
	return errors.As(err, &usage) || errors.As(err, &later)
}

func isInterrupt(err error) bool {
	var signal *interruptError
	return errors.As(err, &signal)
}

// isClosedStdout reports whether the reader of standard output has gone away. On
// Windows that is told like any other error.
func isClosedStdout(err error) bool {
	var path *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &path) && path.Path == os.Stdout.Name()
}

// exitCode maps what a command returned to the exit code of the process.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case isUsage(err):
		return exitUsage
	case isInterrupt(err):
		return exitInterrupted
	}
	return exitFailed
}
