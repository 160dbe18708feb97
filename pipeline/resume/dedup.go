package resume

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// Dedup is the deduplication of a [ResumablePipeline]. Each epoch has a set of its own, and the
// hashes of all have one numbering, that of the log:
//
//	position  0 ········ epoch 0 ········ base ···· epoch 1 ····▸
//	          ├──────── in the log ────────────┤ staged ahead of the consumer
//
// What a commit adds to the log are the hashes before the snapshot from which the pipeline
// goes on. Those behind it, of elements that are given to the stage again, come again then.
type Dedup struct {
	opts  []text.DedupOption
	known []uint64 // in the first epoch

	mu   sync.Mutex
	sets []*epochSet // of epochs, in order; those before the first are in the log
	next uint64      // position behind the sets, if there are none
	kept *epochSet   // the one of sets whose epoch goes on, until it does
}

// epochSet is the hashes of an epoch.
type epochSet struct {
	epoch int64
	base  uint64
	set   *text.StreamDeduplicator
}

func (s *epochSet) end() uint64 { return s.base + uint64(s.set.Position()) }

// dedupSnapshot is what the state of a pipeline says of its deduplication.
type dedupSnapshot struct {
	Base     uint64  `json:"dedup_base"`     // position at which the epoch begins
	Position *uint64 `json:"dedup_position"` // hashes of all epochs so far
}

// snapshotIn finds where the deduplication of a pipeline goes on; nil: the state tells of none.
func snapshotIn(r pipeline.StateReport) (s *dedupSnapshot, epoch int64) {
	for _, snapshot := range r.Snapshots {
		var d dedupSnapshot
		if json.Unmarshal(snapshot.Value, &d) == nil && d.Position != nil {
			return &d, snapshot.Epoch
		}
	}
	return nil, 0
}

// restore is told where the pipeline goes on, and the hashes of the epoch that does, of which
// there are none without a snapshot. Total is how many the log has.
func (d *Dedup) restore(s *dedupSnapshot, epoch int64, set *text.StreamDeduplicator, total uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sets, d.kept, d.next = nil, nil, total
	if s == nil {
		return nil
	}
	// Its hashes can be asked for before the pipeline has come to its stage.
	d.kept = &epochSet{epoch, s.Base, set}
	d.sets = []*epochSet{d.kept}
	if end := d.kept.end(); *s.Position != total || end != total {
		return fmt.Errorf("%w: the pipeline goes on behind %d hashes, there are %d, %d of them before its epoch; %s",
			ErrCheckpoint, *s.Position, total, s.Base, restore)
	}
	return nil
}

// options are those of the set of an epoch.
func (d *Dedup) options(epoch int64) []text.DedupOption { return dedupOptions(d.opts, d.known, epoch) }

// begin makes the set of an epoch.
func (d *Dedup) begin(epoch int64) (*epochSet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	base := d.next
	if n := len(d.sets); n > 0 {
		last := d.sets[n-1]
		if last.epoch >= epoch {
			return nil, fmt.Errorf("%w: epoch %d begins behind epoch %d; a Dedup is for one stage", ErrCheckpoint, epoch, last.epoch)
		}
		base = last.end()
	}
	set, err := text.NewStreamDeduplicator(d.options(epoch)...)
	if err != nil {
		return nil, err
	}
	s := &epochSet{epoch, base, set}
	d.sets, d.kept = append(d.sets, s), nil
	return s, nil
}

// goOn gives out the set of the epoch that goes on.
func (d *Dedup) goOn(s dedupSnapshot, epoch int64) (*epochSet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.kept
	if s.Position == nil || k == nil || k.epoch != epoch || k.base != s.Base || k.end() != *s.Position {
		return nil, fmt.Errorf("%w: the hashes of epoch %d are not there", ErrCheckpoint, epoch)
	}
	d.kept = nil
	return k, nil
}

// hashes appends those from one position up to another to dst.
func (d *Dedup) hashes(dst []text.Hash128, from, to uint64) ([]text.Hash128, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	for _, s := range d.sets {
		hi := min(to, s.end())
		if s.base <= from && from < hi {
			if dst, err = s.set.AppendHashes(dst, int(from-s.base), int(hi-s.base)); err != nil {
				return nil, err
			}
			from = hi
		}
	}
	if from < to {
		return nil, fmt.Errorf("%w: hashes %d to %d are not there", ErrCheckpoint, from, to)
	}
	return dst, nil
}

// end is the position behind all hashes.
func (d *Dedup) end() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.sets); n > 0 {
		return d.sets[n-1].end()
	}
	return d.next
}

// committed lets go of the sets of epochs that are over and in the log.
func (d *Dedup) committed(to uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.sets) > 1 && d.sets[0].end() <= to {
		d.sets[0] = nil
		d.sets = d.sets[1:]
	}
	if len(d.sets) > 0 && d.sets[0].base <= to {
		// It cannot fail: the set has come at least that far.
		_, _ = d.sets[0].set.CommitTo(int(to - d.sets[0].base))
	}
}

// Entries returns how many hashes are held, and the memory in bytes that they take.
func (d *Dedup) Entries() (n int, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sets {
		n += s.set.Position()
		bytes += s.set.Bytes()
	}
	return n, bytes
}

// DedupEpoch is the deduplication of one epoch: a part to be embedded in a
// [pipeline.StatefulTransform], which it makes one that can be resumed.
type DedupEpoch struct {
	dedup *Dedup
	epoch int64
	cur   *epochSet // nil before the first element

	before int  // position of the set before the element that is being pushed
	failed bool // what lies behind that does not count
}

// Begin is called for each epoch, by the function that makes its transform.
func (d *Dedup) Begin() *DedupEpoch { return &DedupEpoch{dedup: d} }

// Set returns the set of the epoch. It is for Push, where alone entries may be staged, and is
// called once in each, before anything is staged.
func (e *DedupEpoch) Set() (*text.StreamDeduplicator, error) {
	if e.failed {
		return nil, fmt.Errorf("%w: the deduplication of epoch %d has failed", ErrCheckpoint, e.epoch)
	}
	if err := e.begin(); err != nil {
		return nil, err
	}
	e.before = e.cur.set.Position()
	return e.cur.set, nil
}

// Fail is called by a Push that fails. The element counts as not pushed, and comes again when
// the run goes on: what was staged for it must not make it its own duplicate. If something
// was, the stream ends whatever its policy is.
func (e *DedupEpoch) Fail(err error) error {
	if e.cur != nil && e.cur.set.Position() > e.before {
		e.failed = true
		return pipeline.Fatal(err)
	}
	return err
}

// begin makes the set, if there is none.
func (e *DedupEpoch) begin() error {
	if e.cur == nil {
		var err error
		if e.cur, err = e.dedup.begin(e.epoch); err != nil {
			return err
		}
	}
	return nil
}

// StartEpoch implements [pipeline.EpochStarter].
func (e *DedupEpoch) StartEpoch(epoch int64) { e.epoch = epoch }

// Snapshot implements [pipeline.Resumable].
func (e *DedupEpoch) Snapshot() (any, error) {
	if err := e.begin(); err != nil {
		return nil, err
	}
	end := e.cur.end()
	if e.failed {
		end = e.cur.base + uint64(e.before)
	}
	return dedupSnapshot{e.cur.base, &end}, nil
}

// Restore implements [pipeline.Resumable].
func (e *DedupEpoch) Restore(snapshot json.RawMessage) error {
	var s dedupSnapshot
	err := json.Unmarshal(snapshot, &s)
	if err == nil {
		e.cur, err = e.dedup.goOn(s, e.epoch)
	}
	return err
}

// Deduplicate gives each element, in order, to a function with the set of its epoch, and passes
// on those for which it returns true. The function stages what is new, by
// [text.StreamDeduplicator.IsUnique], say. It must depend on nothing else, and be the only one
// that uses the set.
func Deduplicate[T any](p *pipeline.Pipeline[T], d *Dedup, unique func(set *text.StreamDeduplicator, v T) (bool, error)) *pipeline.Pipeline[T] {
	return p.Stateful(func() pipeline.StatefulTransform[T, T] {
		return &deduplicating[T]{d.Begin(), unique}
	}).Named("deduplicate")
}

// deduplicating is the stage of [Deduplicate] in an epoch.
type deduplicating[T any] struct {
	*DedupEpoch
	unique func(*text.StreamDeduplicator, T) (bool, error)
}

// Push implements [pipeline.StatefulTransform].
func (d *deduplicating[T]) Push(_ context.Context, v T, emit func(T)) error {
	set, err := d.Set()
	if err != nil {
		return pipeline.Fatal(err)
	}
	done := false
	defer func() {
		if !done { // it panics
			_ = d.Fail(nil)
		}
	}()
	unique, err := d.unique(set, v)
	done = true
	if err != nil {
		return d.Fail(err)
	}
	if unique {
		emit(v)
	}
	return nil
}

// Finish implements [pipeline.StatefulTransform].
func (*deduplicating[T]) Finish(context.Context, func(T)) error { return nil }
