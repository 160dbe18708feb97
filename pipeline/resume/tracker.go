package resume

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// StateTracker keeps how far a run is in a file of two slots, one of which is always sound: see
// the package. It is safe for concurrent use, and holds a lock, name.lock, until it is closed.
type StateTracker struct {
	mu      sync.Mutex
	name    string
	file    fsys.File
	lock    io.Closer
	state   State
	current int // the slot that holds it
	buf     [slotSize]byte
	err     error // the first failure, for ever
}

// OpenStateTracker opens a tracker for writing, and makes one if there is no file. Its
// directory must be there. The configuration is that of the run, see [ConfigOf].
//
// The errors are [ErrLocked], [ErrShort], [ErrForeign], [ErrVersion], [ErrCorrupt] with what
// is wrong with each slot, [ErrConfig], and those of the files. None of them changes a tracker
// that is there.
func OpenStateTracker(name string, config uint32, opts ...Option) (*StateTracker, error) {
	return openTracker(name, config, configure(opts), nil)
}

// openTracker calls first, if it is not nil, with the lock held and before it makes a tracker
// that is not there.
func openTracker(name string, config uint32, c config, first func() error) (*StateTracker, error) {
	lock, err := c.lockTracker(name)
	if err != nil {
		return nil, err
	}
	t := &StateTracker{name: name, lock: lock}
	if err := t.open(c, config, first); err != nil {
		err = errors.Join(err, lock.Close())
		if t.file != nil {
			err = errors.Join(err, t.file.Close())
		}
		return nil, err
	}
	return t, nil
}

// lockTracker takes the lock of the writer of a tracker.
func (c config) lockTracker(name string) (io.Closer, error) {
	lock, err := c.fs.Lock(name+".lock", c.holder)
	if errors.Is(err, fsys.ErrLocked) {
		return nil, fmt.Errorf("%w: tracker %s: %w; wait for it, or stop it", ErrLocked, name, err)
	} else if err != nil {
		return nil, fmt.Errorf("resume: tracker %s: %w", name, err)
	}
	return lock, nil
}

func (t *StateTracker) open(c config, config uint32, first func() error) error {
	there, err := c.exists(t.name)
	if err == nil && !there && first != nil {
		if err := first(); err != nil {
			return err
		}
	}
	if err == nil && !there {
		var file [trackerSize]byte
		for i := range 2 {
			State{Generation: uint64(i), Config: config}.encode((*[slotSize]byte)(file[i*slotDistance:]))
		}
		err = c.makeFile(t.name, file[:])
	}
	if err == nil {
		t.file, err = c.fs.OpenWrite(t.name)
	}
	if err != nil {
		return fmt.Errorf("resume: tracker %s: %w", t.name, err)
	}
	r, err := readTracker(t.name, t.file)
	if err != nil {
		return err
	}
	if r.Err != nil {
		return r.Err
	}
	t.current, t.state = r.Current, r.Slots[r.Current].State
	if first != nil && t.state.Generation <= 1 {
		t.state.Config = config // nothing was committed: it is that of the run that does
	}
	if t.state.Config != config {
		return fmt.Errorf("%w: tracker %s has configuration %08x, this run %08x; give the same options as then, or start anew in an empty folder",
			ErrConfig, t.name, t.state.Config, config)
	}
	// What was read may only have been in memory, after a process that was killed before its
	// sync or whose sync failed. It must not be lost when the other slot is written. If that
	// is bad it was itself being written, so this one is on the disk and is left alone.
	if r.Slots[1-t.current].Err == nil {
		err = t.write(t.current, t.state)
	} else {
		err = t.file.Sync()
	}
	if err == nil {
		err = c.fs.SyncDir(filepath.Dir(t.name))
	}
	if err != nil {
		return fmt.Errorf("resume: tracker %s: %w", t.name, err)
	}
	return nil
}

// write puts a state into a slot and on the disk.
func (t *StateTracker) write(slot int, s State) error {
	s.encode(&t.buf)
	if _, err := t.file.WriteAt(t.buf[:], int64(slot)*slotDistance); err != nil {
		return err
	}
	return t.file.Sync()
}

// State returns the last commit.
func (t *StateTracker) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Next returns the generation that the next commit must have. The error is [ErrGeneration] if
// there is none, or that of a commit that failed.
func (t *StateTracker) Next() (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, t.err
	}
	return next(t.state.Generation)
}

// Commit makes a state last: when it returns nil the state is on the disk. The generation is
// that of [StateTracker.Next]; Config is set by the tracker. It takes one write of 64 bytes
// and one sync.
//
// The errors are [ErrGeneration], [ErrOrder] and [ErrLimit], which change nothing, and
// [ErrClosed]. After one of the file the disk has the last state or this one, and every later
// call returns the same error: whoever wants to go on must open the tracker again.
func (t *StateTracker) Commit(s State) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	generation, err := next(t.state.Generation)
	switch {
	case err != nil:
		return err
	case s.Generation != generation:
		return fmt.Errorf("%w: tracker %s: commit of %d, the next is %d", ErrGeneration, t.name, s.Generation, generation)
	case s.Batch < t.state.Batch || s.Hashes < t.state.Hashes:
		return fmt.Errorf("%w: tracker %s: batch %d with %d hashes, the last was batch %d with %d",
			ErrOrder, t.name, s.Batch, s.Hashes, t.state.Batch, t.state.Hashes)
	case s.Hashes > MaxHashes:
		return fmt.Errorf("%w: tracker %s: %d hashes, at most %d", ErrLimit, t.name, s.Hashes, int64(MaxHashes))
	}
	s.Config = t.state.Config
	if err := t.write(1-t.current, s); err != nil {
		t.err = fmt.Errorf("resume: tracker %s: commit of generation %d: %w", t.name, s.Generation, err)
		return t.err
	}
	t.current, t.state = 1-t.current, s
	return nil
}

// Close gives the lock back. It commits nothing. The error is that of a commit that failed, or
// of the files. A second call does nothing.
func (t *StateTracker) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	err := errors.Join(t.err, t.file.Close(), t.lock.Close())
	t.file, t.err = nil, fmt.Errorf("%w: tracker %s", ErrClosed, t.name)
	return err
}

// TrackerReport is what is in the file of a tracker.
type TrackerReport struct {
	Slots   [2]SlotReport
	Current int   // the slot that counts, −1 if none does
	Err     error // why none does
}

// SlotReport is what is in a slot of a tracker.
type SlotReport struct {
	Offset int64 // bytes, in the file
	State  State
	Err    error // [ErrMagic], [ErrVersion] or [ErrChecksum]; the state is zero then
}

// InspectTracker reports what is in a tracker, without its lock and without a change. What is
// wrong with it is in the report; the error is that of the file, or [ErrShort] or [ErrForeign]
// if it is no tracker.
func InspectTracker(name string, opts ...Option) (TrackerReport, error) {
	return configure(opts).inspectTracker(name)
}

func (c config) inspectTracker(name string) (TrackerReport, error) {
	f, err := c.fs.Open(name)
	if err != nil {
		return TrackerReport{Current: -1}, fmt.Errorf("resume: tracker %s: %w", name, err)
	}
	r, err := readTracker(name, f)
	return r, errors.Join(err, f.Close())
}

// readTracker reads both slots and decides between them.
func readTracker(name string, f fsys.File) (TrackerReport, error) {
	r := TrackerReport{Current: -1}
	size, err := f.Size()
	if err != nil {
		return r, fmt.Errorf("resume: tracker %s: %w", name, err)
	}
	var raw [trackerSize]byte
	n := int(min(size, trackerSize))
	if err := readFull(f, raw[:n], 0); err != nil {
		return r, fmt.Errorf("resume: tracker %s: %w", name, err)
	}
	kind := foreign(raw[:n], slotMagic)
	if kind == "" && size == luminamoonSize {
		kind = foreign(raw[luminamoonSlot:], slotMagic) // the first slot of that may be torn
	}
	switch {
	case kind != "":
		return r, fmt.Errorf("%w: %s is %s", ErrForeign, name, kind)
	case size != trackerSize:
		return r, fmt.Errorf("%w: tracker %s has %d bytes, want %d; %s", ErrShort, name, size, trackerSize, restore)
	}
	var newer [2]bool
	for i := range r.Slots {
		s := &r.Slots[i]
		s.Offset = int64(i) * slotDistance
		if s.State, newer[i], s.Err = decodeSlot(raw[s.Offset : s.Offset+slotSize]); s.Err != nil {
			s.Err = fmt.Errorf("slot %c at offset %d: %w", 'A'+i, s.Offset, s.Err)
		}
	}
	a, b := r.Slots[0], r.Slots[1]
	switch {
	case newer[0] || newer[1]:
		err := a.Err
		if !newer[0] {
			err = b.Err
		}
		r.Err = fmt.Errorf("resume: tracker %s: %w; go on with the newer program", name, err)
	case errors.Is(a.Err, ErrMagic) && errors.Is(b.Err, ErrMagic):
		r.Err = fmt.Errorf("%w: tracker %s: %w; %w; it may be no tracker; %s", ErrCorrupt, name, a.Err, b.Err, restore)
	case a.Err != nil && b.Err != nil:
		r.Err = fmt.Errorf("%w: tracker %s: %w; %w; %s", ErrCorrupt, name, a.Err, b.Err, restore)
	case a.Err == nil && b.Err == nil && a.State.Generation == b.State.Generation:
		r.Err = fmt.Errorf("%w: tracker %s: both slots have generation %d, one of them is a copy; %s", ErrCorrupt, name, a.State.Generation, restore)
	case b.Err != nil || a.Err == nil && a.State.Generation > b.State.Generation:
		r.Current = 0
	default:
		r.Current = 1
	}
	return r, nil
}
