package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

var (
	// ErrConfig is returned by Start and Resume when the pipeline cannot be built;
	// its text lists everything that is wrong.
	ErrConfig = errors.New("pipeline: wrong configuration")
	// ErrClosed is returned by Next after Close.
	ErrClosed = errors.New("pipeline: closed")
	// ErrPanic is returned when a function of the user panicked; see [PanicError].
	ErrPanic = errors.New("pipeline: panic")
	// ErrStalled is returned by Next when nothing has come for [Pipeline.StallTimeout].
	// Nothing is lost: Next may be called again.
	ErrStalled = errors.New("pipeline: stalled")
	// ErrSourceTimeout is returned when the source took longer than
	// [Pipeline.SourceTimeout] for one element.
	ErrSourceTimeout = errors.New("pipeline: the source takes too long")
	// ErrEmptySource is returned by an endless pipeline whose source has no elements.
	ErrEmptySource = errors.New("pipeline: the source is empty")
	// ErrTooManyErrors is returned under [Skip] when a stage failed for
	// [Pipeline.MaxErrorsInRow] elements with none in between that passed.
	ErrTooManyErrors = errors.New("pipeline: too many errors in a row")
	// ErrStuck is returned by Close when a function of the user did not return in
	// time; the text says which.
	ErrStuck = errors.New("pipeline: a function does not return")
	// ErrState is returned by Resume when the state is damaged or of another version.
	ErrState = errors.New("pipeline: not a state")
	// ErrStateMismatch is returned by Resume when the state belongs to another
	// configuration; the text says what differs.
	ErrStateMismatch = errors.New("pipeline: state of another configuration")
	// ErrUnordered is returned by State under [Pipeline.Unordered]: what was
	// delivered is no beginning of the stream.
	ErrUnordered = errors.New("pipeline: an unordered stream has no state")
)

// Policy says what an error about one element does.
type Policy uint8

const (
	// Fail ends the stream: everything before the first error in the order of the
	// stream is delivered, then the error, then nothing.
	Fail Policy = iota
	// Skip leaves the element out, counts it, and tells [Pipeline.ErrorSink].
	Skip
)

func (p Policy) String() string {
	switch p {
	case Fail:
		return "fail"
	case Skip:
		return "skip"
	}
	return fmt.Sprintf("policy(%d)", uint8(p))
}

// ErrorKind says where an error came from.
type ErrorKind uint8

// The kinds.
const (
	KindSource    ErrorKind = iota // Next of a cursor, or Fail of a sink
	KindTransform                  // a function of the user returned it
	KindPanic                      // a function of the user panicked
	KindCollate                    // elements of a batch do not go together
	kindCount
)

func (k ErrorKind) String() string {
	if k < kindCount {
		return [kindCount]string{"source", "transform", "panic", "collate"}[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// StageError is an error about one element.
type StageError struct {
	Stage string // its name, see [StageStats]
	Kind  ErrorKind
	Epoch int64
	// Index is the position in the epoch, from 0, of the element of the source that
	// this one came from, the first where it came from several. For an error of the source it
	// is that of the element that would have come.
	Index uint64
	Err   error
}

func (e *StageError) Error() string {
	return fmt.Sprintf("pipeline: %s: element %d of epoch %d: %v", e.Stage, e.Index, e.Epoch, e.Err)
}

// Unwrap returns the error of the user's function.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic of a function of the user. It wraps [ErrPanic], and the
// value if that is an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%v: %v\n%s", ErrPanic, e.Value, e.Stack)
}

// Unwrap returns [ErrPanic] and the value if it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}

// ItemError is returned by a collate function to say which element of the batch does not
// go with the others. Under [Skip] only that one is left out.
type ItemError struct {
	Item int // index in the batch
	Err  error
}

func (e *ItemError) Error() string { return fmt.Sprintf("item %d of the batch: %v", e.Item, e.Err) }

// Unwrap returns the reason.
func (e *ItemError) Unwrap() error { return e.Err }

// Fatal marks an error that is not about one element: it ends the stream under every
// policy. Fatal(nil) is nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// reported is an error that ends the stream and has been counted.
type reported struct{ err error }

func (e reported) Error() string { return e.err.Error() }
func (e reported) Unwrap() error { return e.err }

// isMarked reports whether [Fatal] has marked an error.
func isMarked(err error) bool {
	var mark *fatalError
	return errors.As(err, &mark)
}

// isFatal reports whether an error of a source ends the stream.
func isFatal(ctx context.Context, err error) bool {
	return isMarked(err) || ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// caught makes an error of a panic; it is deferred.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{v, debug.Stack()}
	}
}

// sound returns an error of the user that can be asked what it is: a panic for one whose
// methods panic, like those of a nil pointer, and never io.EOF, which a consumer
// takes for the end of the stream.
func sound(err error) (out error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			out = &PanicError{fmt.Sprintf("the methods of an error of type %T: %v", err, v), debug.Stack()}
		}
	}()
	_ = err.Error()
	_, _ = isMarked(err), kindOf(err, 0)
	if errors.Is(err, io.EOF) {
		return &earlyEnd{err}
	}
	return err
}

// earlyEnd is an error that wraps io.EOF, as one that wraps io.ErrUnexpectedEOF.
type earlyEnd struct{ err error }

func (e *earlyEnd) Error() string { return e.err.Error() }

func (e *earlyEnd) Is(target error) bool {
	return target == io.ErrUnexpectedEOF || target != io.EOF && errors.Is(e.err, target)
}

func (e *earlyEnd) As(target any) bool { return errors.As(e.err, target) }

// guard calls f and turns a panic into an error.
func guard(f func() error) (err error) {
	defer caught(&err)
	return f()
}

// kindOf is the kind of an error, usual unless it was a panic.
func kindOf(err error, usual ErrorKind) ErrorKind {
	var p *PanicError
	if errors.As(err, &p) {
		return KindPanic
	}
	return usual
}
