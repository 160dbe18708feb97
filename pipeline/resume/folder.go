package resume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
)

// FolderReport is what is in the folder of a run.
type FolderReport struct {
	// Tracker has the reason in Err also if the file is no tracker.
	Tracker TrackerReport
	// Log is as [InspectLog] has it, but if what the tracker counts is there, Torn is the first
	// place behind that which is not sound, and reaches to the end.
	Log         LogReport
	NoLog       bool  // there is no log
	Committed   int64 // bytes of the log with all that the tracker counts, −1 if they are not there
	Uncommitted int   // sound frames behind those: they are cut away when the run goes on
	Config      map[string]string
	Known       int         // hashes of another program
	Checkpoint  *Checkpoint // of the last commit; nil if there is none that can be read
	Epoch       int64       // in which that is
	Faults      []Fault     // why the run cannot go on, in no order of weight
}

// Fault is what is not sound about a folder.
type Fault struct {
	File   string // name in the folder
	Offset int64  // bytes; −1 for no place in the file
	Err    error
}

// Sound tells whether the run can go on. One bad slot of the tracker, a torn tail of the log and
// frames that were not committed are what a crash leaves, and no fault.
func (r *FolderReport) Sound() bool { return len(r.Faults) == 0 }

// State returns the last commit; false if the tracker has none.
func (r *FolderReport) State() (State, bool) {
	if r.Tracker.Current < 0 {
		return State{}, false
	}
	return r.Tracker.Slots[r.Tracker.Current].State, true
}

func (r *FolderReport) fault(file string, offset int64, err error) {
	r.Faults = append(r.Faults, Fault{file, offset, err})
}

// maxLooks is how often a folder is read while its run goes on beneath.
const maxLooks = 8

// maxConfig is how many bytes of a configuration are read.
const maxConfig = 1 << 28

// InspectFolder reports what is in the folder of a run, without its lock and without a change. It
// takes twice the time to read the log, memory of the largest frame, and 16 bytes for each hash
// of another program. Whether a run is active cannot be known without the lock. If one is, what
// is reported is one of its commits.
//
// What is wrong is in the report; the error is that of the files, [ErrForeign] or [ErrMissing] if
// there is no tracker, and [ErrLocked] if a run never let the folder be read at rest.
func InspectFolder(dir string, opts ...Option) (FolderReport, error) {
	c := configure(opts)
	var (
		r   FolderReport
		err error
	)
	for range maxLooks {
		r, err = c.look(dir)
		shrunk := errors.Is(err, io.ErrUnexpectedEOF) // a run has cut the tail of its log
		if err != nil && !shrunk {
			return r, err
		}
		// A slot that was read while it was written looks bad.
		if !shrunk && r.Sound() && r.Tracker.Slots[0].Err == nil && r.Tracker.Slots[1].Err == nil {
			return r, nil
		}
		again, failed := c.lookAtTracker(dir)
		if failed != nil {
			return r, failed
		}
		if !shrunk && sameTracker(&r.Tracker, &again) {
			return r, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%w: %s changes while it is read; wait for the run, or stop it", ErrLocked, dir)
	}
	return r, err
}

// sameTracker tells whether a tracker was not written in between.
func sameTracker(a, b *TrackerReport) bool {
	for i := range a.Slots {
		if a.Slots[i].State != b.Slots[i].State || (a.Slots[i].Err == nil) != (b.Slots[i].Err == nil) {
			return false
		}
	}
	return (a.Err == nil) == (b.Err == nil)
}

// look reads a folder once. The tracker comes first: the log then has what that counts, or more.
func (c config) look(dir string) (r FolderReport, err error) {
	r.Committed = -1
	if r.Tracker, err = c.lookAtTracker(dir); err != nil {
		return r, err
	}
	if r.Tracker.Err != nil {
		r.fault(trackerFile, 0, r.Tracker.Err)
	}
	state, err := c.lookAtLog(dir, &r)
	if err != nil {
		return r, err
	}
	if err := c.lookAtConfig(dir, &r); err != nil {
		return r, err
	}
	known, err := c.readKnown(filepath.Join(dir, knownFile))
	if err != nil {
		if !isFault(err) {
			return r, err
		}
		r.fault(knownFile, 0, err)
	}
	r.Known = len(known)
	if state != nil {
		r.lookAtCheckpoint(state, err == nil)
	}
	return r, nil
}

// isFault tells errors about what is in a file from those of reading it.
func isFault(err error) bool {
	for _, kind := range []error{ErrForeign, ErrShort, ErrMagic, ErrVersion, ErrChecksum, ErrCorrupt, ErrDamaged, ErrMissing, ErrGeneration, ErrLimit} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// lookAtTracker reads the tracker of a folder. That there is none is an error.
func (c config) lookAtTracker(dir string) (TrackerReport, error) {
	r, err := c.inspectTracker(filepath.Join(dir, trackerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, c.noTracker(dir)
	}
	if isFault(err) {
		r.Err, err = err, nil
	}
	return r, err
}

// lostTracker is the error of a folder without a tracker that has a log: that is made later.
func (c config) lostTracker(dir string) error {
	there, err := c.exists(filepath.Join(dir, logFile))
	switch {
	case err != nil:
		return fmt.Errorf("resume: %w", err)
	case there:
		return fmt.Errorf("%w: tracker %s, though there is a log; %s", ErrMissing, filepath.Join(dir, trackerFile), restore)
	}
	return nil
}

// noTracker is the error of a folder without a tracker.
func (c config) noTracker(dir string) error {
	if err := c.lostTracker(dir); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s has no tracker: it is not the folder of a run", ErrForeign, dir)
}

// lookAtLog reads the log of a folder, and returns the state of the last commit.
func (c config) lookAtLog(dir string, r *FolderReport) (state []byte, err error) {
	name := filepath.Join(dir, logFile)
	committed, counts := r.State()
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if r.NoLog = true; counts {
			if err := missingLog(committed); err != nil {
				r.fault(logFile, -1, err)
			} else {
				r.Committed = 0
			}
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume: log %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("resume: log %s: %w", name, err)
	}
	// What a run appends meanwhile is of later commits.
	still := stillFile{f, size}
	if r.Log, err = inspect(still); err == nil && counts {
		var l *Log
		if l, err = readCommitted(c, name, still, committed); err == nil {
			r.Committed, state = l.size, l.state
			r.Log.Damage = nil // it is in the tail, if anywhere
			var torn *Damage
			if r.Uncommitted, torn, err = l.tail(size); err == nil {
				err = r.Log.tail(still, torn)
			}
		}
	}
	var bad *badFrame
	var at *placedError
	switch {
	case err == nil && len(r.Log.Damage) > 0:
		r.fault(logFile, r.Log.Damage[0].Offset, r.Log.Damage[0].Err)
	case err == nil:
	case !isFault(err):
		return nil, fmt.Errorf("resume: log %s: %w", name, err)
	case errors.As(err, &at):
		r.fault(logFile, at.offset, at.error)
	case errors.As(err, &bad): // of a newer program
		r.fault(logFile, bad.offset, err)
	default:
		r.fault(logFile, 0, err)
	}
	return state, nil
}

// missingLog is the error of a run that has commits and no log.
func missingLog(committed State) error {
	if committed.Generation > 1 || committed.Hashes > 0 {
		return fmt.Errorf("%w: the tracker has generation %d with %d hashes; %s", ErrMissing, committed.Generation, committed.Hashes, restore)
	}
	return nil
}

// stillFile has the size that it had.
type stillFile struct {
	fsys.File
	size int64
}

func (s stillFile) Size() (int64, error) { return s.size, nil }

// placedError is an error with its place in a file.
type placedError struct {
	error
	offset int64
}

func (p *placedError) Unwrap() error { return p.error }

// readCommitted reads a log by the rules of [OpenLog], without a change.
func readCommitted(c config, name string, f fsys.File, committed State) (*Log, error) {
	head, size, err := readLogHeader(f)
	if err != nil {
		return nil, err
	}
	if err := checkLogHeader(head); err != nil {
		return nil, &placedError{fmt.Errorf("%w; %s", err, restore), 0}
	}
	l := &Log{conf: c, name: name, file: f}
	if err := l.read(size, committed, nil); err != nil {
		return nil, &placedError{err, l.size}
	}
	return l, nil
}

// tail tells what lies behind the committed frames: sound ones, and then, if torn is not nil,
// from there on what is not.
func (l *Log) tail(size int64) (frames int, torn *Damage, err error) {
	r := newFrameReader(l.file, size)
	r.seek(l.size)
	last, hashes := l.last, l.hashes
	for {
		var f frame
		err := r.next(&f)
		var bad *badFrame
		switch {
		case err == io.EOF:
			return frames, nil, nil
		case errors.As(err, &bad) && bad.newer:
			return frames, nil, fmt.Errorf("%w; go on with the newer program", bad)
		case errors.As(err, &bad):
			return frames, &Damage{bad.offset, size - bad.offset, bad}, nil
		case err != nil:
			return frames, nil, err
		}
		if err := f.follows(last, hashes); err != nil {
			return frames, &Damage{f.offset, size - f.offset, err}, nil
		}
		last, hashes = f.generation, hashes+uint64(len(f.hashes))
		frames++
	}
}

// lookAtConfig reads the configuration of a folder, which must be that of its tracker.
func (c config) lookAtConfig(dir string, r *FolderReport) error {
	name := filepath.Join(dir, configName)
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		r.fault(configName, -1, fmt.Errorf("%w: configuration %s; %s", ErrCorrupt, name, restore))
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	size, err := f.Size()
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if size > maxConfig {
		r.fault(configName, 0, fmt.Errorf("%w: configuration %s has %d bytes, at most %d; %s", ErrLimit, name, size, maxConfig, restore))
		return nil
	}
	options, raw, err := c.readConfig(dir)
	switch s, counts := r.State(); {
	case err != nil && raw == nil:
		return fmt.Errorf("resume: %w", err)
	case err != nil:
		r.fault(configName, 0, err)
	case counts && ConfigOf(raw) != s.Config:
		r.fault(configName, 0, fmt.Errorf("%w: %s is %08x, the tracker has %08x; %s", ErrConfig, name, ConfigOf(raw), s.Config, restore))
	}
	r.Config = options
	return nil
}

// lookAtCheckpoint holds the state of the last commit to the tracker, and to the hashes of another
// program if those could be read.
func (r *FolderReport) lookAtCheckpoint(state []byte, known bool) {
	committed, _ := r.State()
	c, err := ReadCheckpoint(state)
	var report pipeline.StateReport
	if err == nil {
		report, err = pipeline.ReadState(c.Pipeline)
	}
	if err != nil {
		r.fault(logFile, -1, fmt.Errorf("%w; %s", err, restore))
		return
	}
	r.Checkpoint, r.Epoch = &c, report.Epoch
	if uint64(report.Delivered) != committed.Batch {
		r.fault(logFile, -1, fmt.Errorf("%w: it is behind %d elements, the tracker has %d; %s", ErrCheckpoint, report.Delivered, committed.Batch, restore))
	}
	if s, _ := snapshotIn(report); s != nil && !c.Ended && *s.Position != committed.Hashes {
		r.fault(logFile, -1, fmt.Errorf("%w: it is behind %d hashes, the tracker has %d; %s", ErrCheckpoint, *s.Position, committed.Hashes, restore))
	}
	if known && c.Known != r.Known {
		r.fault(knownFile, -1, fmt.Errorf("%w: %d hashes of another program, there were %d; %s", ErrMissing, r.Known, c.Known, restore))
	}
}

// RepairFolder cuts away the torn tail of the log of a run: what is not sound behind all that the
// tracker counts. That is done when the run goes on as well, together with sound frames that
// were not committed, which are left here. It returns how many bytes were cut, 0 if nothing is
// torn. No file is made but the one of the lock.
//
// The errors are [ErrLocked] if the run is active, those of [InspectTracker] and [OpenLog], and
// [ErrVersion] if a newer program wrote the tail. None of them changes anything, but for one of
// the file that is cut.
func RepairFolder(dir string, opts ...Option) (cut int64, err error) {
	c := configure(opts)
	tracker := filepath.Join(dir, trackerFile)
	if there, err := c.exists(tracker); err != nil {
		return 0, fmt.Errorf("resume: tracker %s: %w", tracker, err)
	} else if !there {
		return 0, c.noTracker(dir)
	}
	lock, err := c.lockTracker(tracker)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	r, err := c.inspectTracker(tracker)
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return 0, err
	}
	if cut, err = c.cutTail(dir, r.Slots[r.Current].State); err != nil {
		return cut, fmt.Errorf("resume: log %s: %w", filepath.Join(dir, logFile), err)
	}
	return cut, nil
}

// cutTail is RepairFolder with the lock.
func (c config) cutTail(dir string, committed State) (cut int64, err error) {
	name := filepath.Join(dir, logFile)
	if there, err := c.exists(name); err != nil {
		return 0, err
	} else if !there {
		return 0, missingLog(committed)
	}
	f, err := c.fs.OpenWrite(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	l, err := readCommitted(c, name, f, committed)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	_, torn, err := l.tail(size)
	if err != nil || torn == nil {
		return 0, err
	}
	if err := f.Truncate(torn.Offset); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return torn.Length, err
	}
	return torn.Length, c.fs.SyncDir(dir)
}
