package resume

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"sync"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// ResumablePipeline is a running pipeline whose progress is kept in a folder, or in memory.
// Each element comes once, whatever stops the run: those behind the last commit come again
// then, as if they had never come. It is for one consumer, whose calls follow one another.
//
// The pipeline reads ahead as far as its Prefetch says. A commit covers what Next has
// returned, and nothing of what was read ahead.
type ResumablePipeline[T any] struct {
	conf  config
	ctx   context.Context
	build func(Start) (*pipeline.Pipeline[T], error)
	dedup *Dedup
	store *stored // nil in memory

	mu    sync.Mutex
	it    *pipeline.Iterator[T] // nil once the end was committed
	last  Checkpoint            // the last commit, or where the run began
	ended bool                  // the consumer has seen the end
	err   error                 // after Close

	pending    chan error // of the commit in the background; nil: there is none
	committing *pendingCommit

	behind bool // a state was loaded that the folder does not have
}

// Start is where a pipeline begins. Where the end was committed the pipeline that is made of it
// is not started, and may be nil.
type Start struct {
	Dedup *Dedup          // for [Deduplicate]
	Batch uint64          // elements that were delivered and committed before
	Extra json.RawMessage // what the function of [WithBeforeCommit] returned last; nil: nothing yet
	Ended bool            // the end was committed: there is nothing more
}

// OpenPipeline opens the folder of a run, which is made if there is none, and starts the
// pipeline that build makes where the last commit was. It takes the time to read the log of
// the epoch's hashes, and memory of 36 bytes each; the source is sought, and no more is read
// again than what stages hold back, and 16 elements or a chunk. The end of ctx ends the stream.
//
// The errors are those of [OpenStateTracker] and [OpenLog], [ErrConfig] with the differences,
// [ErrCheckpoint], those of build and of [pipeline.Pipeline.Resume].
func OpenPipeline[T any](ctx context.Context, dir string, build func(Start) (*pipeline.Pipeline[T], error), opts ...Option) (*ResumablePipeline[T], error) {
	r := newPipeline(ctx, build, opts)
	store, set, last, err := openStored(dir, r.conf, opts)
	if err != nil {
		return nil, err
	}
	r.store, r.dedup.known = store, store.known
	total := store.log.Count()
	if last == nil {
		last = new(Checkpoint)
	}
	at, err := last.place()
	if err == nil {
		set, err = r.goOn(at, set, total, store.log)
	}
	if err == nil {
		err = r.start(*last, at, set, total)
	}
	if err != nil {
		return nil, errors.Join(err, store.close())
	}
	return r, nil
}

// NewPipeline starts the pipeline that build makes from its beginning, with no folder: its
// progress is kept by whoever asks for [ResumablePipeline.State].
func NewPipeline[T any](ctx context.Context, build func(Start) (*pipeline.Pipeline[T], error), opts ...Option) (*ResumablePipeline[T], error) {
	r := newPipeline(ctx, build, opts)
	if err := r.start(Checkpoint{}, checkpointPlace{}, nil, 0); err != nil {
		return nil, err
	}
	return r, nil
}

func newPipeline[T any](ctx context.Context, build func(Start) (*pipeline.Pipeline[T], error), opts []Option) *ResumablePipeline[T] {
	c := configure(opts)
	return &ResumablePipeline[T]{conf: c, ctx: ctx, build: build, dedup: &Dedup{opts: c.dedup}}
}

// goOn returns the set of the epoch that goes on, given that of all hashes of the log. Hashes
// of epochs before are not looked up any more.
func (r *ResumablePipeline[T]) goOn(at checkpointPlace, all *text.StreamDeduplicator, total uint64, log *Log) (*text.StreamDeduplicator, error) {
	s := at.snapshot
	if s == nil || s.Base == 0 && (at.epoch == 0 || r.dedup.known == nil) {
		return all, nil
	}
	var failed error
	known := func(yield func([]text.Hash128) bool) { failed = log.eachFrom(s.Base, yield) }
	set, err := setOf(r.dedup.options(at.epoch), int(min(total-min(s.Base, total), maxRoom)), known)
	return set, errors.Join(failed, err)
}

// start starts the pipeline at a checkpoint, with the set of the epoch that goes on there.
func (r *ResumablePipeline[T]) start(c Checkpoint, at checkpointPlace, set *text.StreamDeduplicator, total uint64) error {
	begin := Start{Dedup: r.dedup, Batch: uint64(at.Delivered), Extra: c.Extra, Ended: c.Ended}
	if err := r.dedup.restore(at.snapshot, at.epoch, set, total); err != nil {
		return err
	}
	var plan *pipeline.Pipeline[T]
	err := guard(func() (err error) { plan, err = r.build(begin); return err })
	if err != nil {
		return err
	}
	var it *pipeline.Iterator[T]
	switch {
	case c.Ended:
	case plan == nil:
		err = fmt.Errorf("%w: there is none", pipeline.ErrConfig)
	case len(c.Pipeline) > 0:
		it, err = plan.HoldOnError().Resume(r.ctx, c.Pipeline)
	default:
		it, err = plan.HoldOnError().Start(r.ctx)
	}
	if err != nil {
		return err
	}
	if it != nil {
		if _, err := it.State(); err != nil { // of a pipeline that cannot tell
			return errors.Join(err, it.Close())
		}
	}
	r.it, r.last, r.ended = it, c, c.Ended
	return nil
}

// Next returns the next element, io.EOF after the last: see [pipeline.Iterator.Next].
func (r *ResumablePipeline[T]) Next(ctx context.Context) (v T, err error) {
	r.mu.Lock()
	it, err := r.it, r.err
	r.mu.Unlock()
	switch {
	case err != nil:
		return v, err
	case it == nil:
		return v, io.EOF
	}
	v, err = it.Next(ctx)
	if err == io.EOF {
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
	}
	return v, err
}

// All goes through the elements. An error comes last, with the zero element. The pipeline
// stays open.
func (r *ResumablePipeline[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := r.Next(ctx)
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Commit makes what Next has returned so far last, the end of the stream included: all of it or
// nothing. First the function of [WithBeforeCommit] makes the output last, then the hashes go
// into the log, then the tracker says that they count. When it returns nil the commit is on
// the disk. Without anything new since the last commit it does nothing; the first commit may be
// one of the beginning.
//
// It takes two syncs beside those of the function, and time of what came since the last
// commit, whatever came before. An error of a function changes nothing. After one of the
// files every later call returns the same error: the pipeline must be opened again, and goes
// on at this commit or the last. In memory Commit only calls the functions.
func (r *ResumablePipeline[T]) Commit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.prepare()
	if err != nil || c == nil {
		return err
	}
	return r.wrote(c, c.write())
}

// CommitLater is Commit that returns when it knows what to commit, and goes on in the
// background: what Next returns meanwhile is not in it. It waits for the one before. What
// goes wrong is returned by the next call of CommitLater, Commit or Close.
func (r *ResumablePipeline[T]) CommitLater() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.prepare()
	if err != nil || c == nil {
		return err
	}
	done := make(chan error, 1)
	r.pending, r.committing = done, c
	go func() { done <- c.write() }()
	return nil
}

// Wait waits for the commit in the background, if there is one, and returns its error.
func (r *ResumablePipeline[T]) Wait() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wait()
}

// Committing reports whether a commit goes on in the background.
func (r *ResumablePipeline[T]) Committing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending != nil && len(r.pending) == 0
}

// wait waits for the commit in the background. mu is held.
func (r *ResumablePipeline[T]) wait() error {
	if r.pending == nil {
		return nil
	}
	err := <-r.pending
	r.pending = nil
	return r.wrote(r.committing, err)
}

// wrote notes what became of a commit. mu is held.
func (r *ResumablePipeline[T]) wrote(c *pendingCommit, err error) error {
	if err == nil {
		r.last, r.behind = c.Checkpoint, false
	}
	return err
}

// pendingCommit is a commit that has not been written.
type pendingCommit struct {
	Checkpoint
	report pipeline.StateReport
	at     Coordinate
	to     uint64 // position of the hashes that belong to it
	conf   *config
	dedup  *Dedup
	store  *stored // nil in memory
}

// prepare waits for the commit in the background, and says what one now has; nil: nothing new. mu
// is held.
func (r *ResumablePipeline[T]) prepare() (*pendingCommit, error) {
	if err := r.wait(); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	c := &pendingCommit{conf: &r.conf, dedup: r.dedup, store: r.store}
	var err error
	if c.Checkpoint, c.report, err = r.checkpoint(); err != nil {
		return nil, err
	}
	if !r.behind && c.Ended == r.last.Ended && bytes.Equal(c.Pipeline, r.last.Pipeline) {
		return nil, nil
	}
	if err := c.keep(r.conf.extra); err != nil {
		return nil, err
	}
	c.to = r.upTo(c.Checkpoint, c.report)
	err = guard(func() error { c.at = r.conf.where(c.report.Source); return nil })
	return c, err
}

// guard makes an error of a panic in a function of the user.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pipeline.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// keep keeps what a function returns, if there is one and it returns something.
func (c *pendingCommit) keep(f func() (any, error)) error {
	if f == nil {
		return nil
	}
	err := guard(func() error {
		extra, err := f()
		if err != nil || extra == nil {
			return err
		}
		raw, err := json.Marshal(extra)
		if err == nil {
			c.Extra = raw
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("resume: before the commit: %w", err)
	}
	return nil
}

// write makes the commit last.
func (c *pendingCommit) write() error {
	if err := c.keep(c.conf.before); err != nil {
		return err
	}
	if c.store == nil {
		return nil
	}
	if err := c.store.commit(c.dedup, c.to, c.Checkpoint, c.report, c.at); err != nil {
		return err
	}
	c.dedup.committed(c.to)
	return nil
}

// checkpoint is what a commit now would keep.
func (r *ResumablePipeline[T]) checkpoint() (Checkpoint, pipeline.StateReport, error) {
	if r.it == nil {
		report, err := pipeline.ReadState(r.last.Pipeline)
		return r.last, report, err
	}
	state, report, err := r.it.ReportState()
	return Checkpoint{Pipeline: state, Extra: r.last.Extra, Ended: r.ended}, report, err
}

// upTo is the position of the hashes that belong to a checkpoint: those of elements that are
// not given to the deduplication again.
func (r *ResumablePipeline[T]) upTo(c Checkpoint, report pipeline.StateReport) uint64 {
	if c.Ended {
		return r.dedup.end()
	}
	if s, _ := snapshotIn(report); s != nil {
		return *s.Position
	}
	if r.store != nil {
		return r.store.log.Count()
	}
	return 0
}

// Stats returns what the pipeline has done since it was opened; nothing once the end was
// committed before that.
func (r *ResumablePipeline[T]) Stats() pipeline.Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.it == nil {
		return pipeline.Stats{}
	}
	return r.it.Stats()
}

// Close stops the pipeline and closes the files. It commits nothing, but waits for a commit in
// the background.
func (r *ResumablePipeline[T]) Close() error {
	r.mu.Lock()
	err := r.wait()
	it, store := r.it, r.store
	if r.err == nil {
		r.err = ErrClosed
	}
	r.store = nil
	r.mu.Unlock()
	if it != nil {
		err = errors.Join(err, it.Close())
	}
	if store != nil {
		err = errors.Join(err, store.close())
	}
	return err
}
