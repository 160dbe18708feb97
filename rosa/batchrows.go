package rosa

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rosaline-go/rosaline/rosa/internal/workers"
)

// ErrMode is returned when rows of a uniform batch are to be stepped or reset one by one,
// or those of a ragged batch all at once.
var ErrMode = errors.New("rosa: the batch is of the other mode")

// ErrClosed is returned when a batch is used after its Close.
var ErrClosed = errors.New("rosa: batch is closed")

// ErrBroken is returned when a row panicked, so that rows may have come to different
// positions, and by whatever the batch is asked for afterwards.
var ErrBroken = errors.New("rosa: batch is broken")

// ErrRows is returned when a batch is to have no rows, or more than 2²⁶.
var ErrRows = errors.New("rosa: a batch needs a row")

const maxRows = 1 << 26

// errNotMade is returned by a zero batch.
var errNotMade = fmt.Errorf("%w: it was not made by New; make another", ErrClosed)

// From so many rows on, those of a step or of a prefill are shared out among threads.
const (
	stepRows    = 64
	prefillRows = 4
)

// BatchOption is an option of [NewBatch] and [NewCandidateBatch].
type BatchOption func(*batchOptions)

type batchOptions struct {
	ragged            bool
	threads, capacity int
	states            []StateOption
	candidates        []CandidatesOption
}

// take takes the options in.
func (o *batchOptions) take(opts []BatchOption) {
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
}

// WithRagged gives each row of a batch a position of its own. Default: one for all.
func WithRagged() BatchOption { return func(o *batchOptions) { o.ragged = true } }

// WithThreads lets a batch use n threads, the caller's included; fewer than 1 count as 1.
// There are never more than CPUs, rows, or 16. Default: what the environment variable
// ROSA_NATIVE_THREADS says when threads are first needed, where anything but the digits of
// a positive number counts as 1; if it is not set, as many as there are CPUs.
func WithThreads(n int) BatchOption { return func(o *batchOptions) { o.threads = max(n, 1) } }

// WithCapacity lets each row take n tokens at most, from 1 to [MaxTokens], or
// [MaxCandidateTokens] in a [CandidateBatch]; what is outside counts as the nearest. Default
// as many as can be.
func WithCapacity(n int) BatchOption {
	return func(o *batchOptions) { o.capacity = min(max(n, 1), MaxTokens) }
}

// WithStates makes the rows of a [Batch] states with these options. With a window, there is
// no end to the tokens of a row.
func WithStates(opts ...StateOption) BatchOption {
	return func(o *batchOptions) { o.states = append(o.states, opts...) }
}

// WithCandidates makes the rows of a [CandidateBatch] streams with these options.
func WithCandidates(opts ...CandidatesOption) BatchOption {
	return func(o *batchOptions) { o.candidates = append(o.candidates, opts...) }
}

// stream is a row of a batch.
type stream interface {
	Len() int
	Reset()
	Bytes() int
	room() int // how many tokens may come
}

// rows is what batches are whatever their rows: who may do what, when, and on which thread.
// Whatever can fail is checked before a row changes; the checks of a call hold the lock
// until it ends.
type rows[T stream] struct {
	mu      sync.Mutex
	streams []T
	ragged  bool
	workers *workers.Rows
	state   error // ErrClosed or ErrBroken
}

func newRows[T stream](n int, o *batchOptions, newStream func() T) (*rows[T], error) {
	if n < 1 || n > maxRows {
		return nil, fmt.Errorf("%w, and takes %d: not %d", ErrRows, maxRows, n)
	}
	r := &rows[T]{streams: make([]T, n), ragged: o.ragged, workers: workers.New(n, o.threads)}
	for i := range r.streams {
		r.streams[i] = newStream()
	}
	return r, nil
}

// usable checks that the rows can be used in a mode.
func (r *rows[T]) usable(ragged bool) error {
	switch {
	case r.state != nil:
		return fmt.Errorf("%w; make another", r.state)
	case r.ragged && !ragged:
		return fmt.Errorf("%w: its rows have positions of their own; use the masked calls", ErrMode)
	case !r.ragged && ragged:
		return fmt.Errorf("%w: its rows have one position; make it with WithRagged", ErrMode)
	}
	return nil
}

// takes checks that all rows can take n tokens.
func (r *rows[T]) takes(n int) error {
	if room := r.streams[0].room(); n > room {
		return fmt.Errorf("%w: each row has %d tokens and takes %d more, not %d; reset the batch or begin another",
			ErrFull, r.streams[0].Len(), room, n)
	}
	return nil
}

// takesMasked checks the masks, and that each active row can take a token after its reset.
func (r *rows[T]) takesMasked(active, reset []bool) error {
	if len(active) != len(r.streams) || reset != nil && len(reset) != len(r.streams) {
		return fmt.Errorf("%w: masks of %d and %d for %d rows", ErrLength, len(active), len(reset), len(r.streams))
	}
	for i, s := range r.streams {
		if active[i] && (reset == nil || !reset[i]) && s.room() < 1 {
			return fmt.Errorf("%w: row %d has %d tokens; reset it or leave it out", ErrFull, i, s.Len())
		}
	}
	return nil
}

// each calls f with each row, on threads if there are rows enough.
func (r *rows[T]) each(f func(row int), enough int) error {
	if err := r.workers.Each(f, enough); err != nil {
		r.state = ErrBroken
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// resetAll empties all rows.
func (r *rows[T]) resetAll() error {
	if r == nil {
		return errNotMade
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.usable(false); err != nil {
		return err
	}
	return r.each(func(row int) { r.streams[row].Reset() }, prefillRows)
}

// resetMasked empties rows.
func (r *rows[T]) resetMasked(reset []bool) error {
	if r == nil {
		return errNotMade
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.usable(true); err != nil {
		return err
	}
	if len(reset) != len(r.streams) {
		return fmt.Errorf("%w: a mask of %d for %d rows", ErrLength, len(reset), len(r.streams))
	}
	return r.each(func(row int) {
		if reset[row] {
			r.streams[row].Reset()
		}
	}, prefillRows)
}

// positions returns how many tokens each row has.
func (r *rows[T]) positions() ([]int, error) {
	if r == nil {
		return nil, errNotMade
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != nil {
		return nil, fmt.Errorf("%w; make another", r.state)
	}
	if !r.ragged {
		return slices.Repeat([]int{r.streams[0].Len()}, len(r.streams)), nil
	}
	p := make([]int, len(r.streams))
	for i, s := range r.streams {
		p[i] = s.Len()
	}
	return p, nil
}

// bytes returns the memory that the rows hold.
func (r *rows[T]) bytes() (n int) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.streams {
		n += s.Bytes()
	}
	return n
}

// close ends the goroutines and lets the rows go.
func (r *rows[T]) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers.Close()
	r.streams, r.state = nil, ErrClosed
}
