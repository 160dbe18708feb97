package resume

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// memoryGeneration is that of the frames of a state in memory.
const memoryGeneration = 1

// State returns what the consumer has received as bytes, for a checkpoint of a training run,
// say: see [ResumablePipeline.Load]. It has the form of a log, with the hashes of the epoch of
// which the deduplication goes on, 16 bytes each, and some 500 bytes besides. It commits
// nothing, and calls no function.
func (r *ResumablePipeline[T]) State() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	c, report, err := r.checkpoint()
	if err != nil {
		return nil, err
	}
	var hashes []text.Hash128
	if s, _ := snapshotIn(report); s != nil && !c.Ended {
		if hashes, err = r.dedup.hashes(nil, s.Base, *s.Position); err != nil {
			return nil, err
		}
	}
	state, err := c.encode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if len(state) > MaxState {
		return nil, fmt.Errorf("%w: %d bytes of state, at most %d", ErrLimit, len(state), MaxState)
	}
	b := logHeader()
	for f := range framesOf(memoryGeneration, 0, hashes, state) {
		b = f.append(b)
	}
	return b, nil
}

// Load goes on where a state was taken, in the place of where the pipeline is; what was read
// ahead is dropped. A pipeline with a folder takes none from before its last commit:
// [ErrOrder]. Other errors are those of a log that is damaged, [ErrCheckpoint], and those of
// [pipeline.Pipeline.Resume]; the pipeline is closed then, its folder is as it was.
func (r *ResumablePipeline[T]) Load(state []byte) error {
	c, hashes, err := parseMemory(state)
	if err != nil {
		return fmt.Errorf("resume: state: %w", err)
	}
	place, err := c.place()
	if err != nil {
		return err
	}
	total, base := uint64(len(hashes)), uint64(0)
	if s := place.snapshot; s != nil {
		base = s.Base
		total += base
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err := r.wait(); err != nil {
		return err
	}
	if r.store != nil {
		at := r.store.tracker.State()
		if place.snapshot == nil {
			total = max(total, at.Hashes) // it has none of its own
		}
		if uint64(place.Delivered) < at.Batch || total < at.Hashes {
			return fmt.Errorf("%w: the state is of batch %d with %d hashes, the folder has committed batch %d with %d",
				ErrOrder, place.Delivered, total, at.Batch, at.Hashes)
		}
		if base > at.Hashes {
			return fmt.Errorf("%w: the epoch of the state begins behind %d hashes, the folder has committed %d; those between are of epochs before, and in neither",
				ErrCheckpoint, base, at.Hashes)
		}
	}
	set, err := setOf(r.dedup.options(place.epoch), len(hashes), slices.Values([][]text.Hash128{hashes}))
	if err == nil && r.it != nil {
		err = r.it.Close()
	}
	if err == nil {
		err = r.start(c, place, set, total)
	}
	if err != nil {
		r.err = fmt.Errorf("%w after a state that could not be loaded: %w", ErrClosed, err)
		return err
	}
	if r.store != nil {
		r.behind = true
	}
	return nil
}

// parseMemory reads what State made.
func parseMemory(state []byte) (c Checkpoint, hashes []text.Hash128, err error) {
	in := bytes.NewReader(state)
	if err := checkLogHeader(state[:min(len(state), logHeaderSize)]); err != nil {
		return c, nil, err
	}
	r := newFrameReader(in, int64(len(state)))
	for {
		var f frame
		err := r.next(&f)
		switch {
		case err == io.EOF:
			return c, nil, fmt.Errorf("%w: it is cut off behind %d hashes", ErrShort, len(hashes))
		case err != nil:
			return c, nil, err
		case f.generation != memoryGeneration || f.before != uint64(len(hashes)):
			return c, nil, fmt.Errorf("%w: frame at offset %d is of a log; open the folder that it lies in", ErrGeneration, f.offset)
		}
		hashes = append(hashes, f.hashes...)
		if len(f.state) > 0 {
			if f.offset+f.length != int64(len(state)) {
				return c, nil, fmt.Errorf("%w: there is more behind its end at offset %d", ErrShort, f.offset+f.length)
			}
			c, err := ReadCheckpoint(f.state)
			return c, hashes, err
		}
	}
}
