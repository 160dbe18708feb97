package inspection

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline/resume"
)

// Coordinate is a place in the input, see [resume.Coordinate].
type Coordinate struct {
	Shard      uint32 `json:"shard"`
	ByteOffset uint64 `json:"byte_offset"`
	RowGroup   uint32 `json:"row_group"`
	Page       uint32 `json:"page"`
	Row        uint64 `json:"row"`
}

// Commit is what a slot of a tracker says.
type Commit struct {
	Generation uint64     `json:"generation"`
	Batch      uint64     `json:"batch"` // batches that were delivered
	Coordinate Coordinate `json:"coordinate"`
	Hashes     uint64     `json:"hashes"`
	ConfigHash string     `json:"config_hash"` // of the file of the configuration, 8 hexadecimal digits
}

func commitOf(s resume.State) *Commit {
	c := s.Coordinate
	return &Commit{s.Generation, s.Batch, Coordinate{c.Shard, c.Offset, c.RowGroup, c.Page, c.Row}, s.Hashes, fmt.Sprintf("%08x", s.Config)}
}

// Slot is one of a tracker.
type Slot struct {
	Slot    string `json:"slot"`   // A or B
	Offset  int64  `json:"offset"` // bytes, in the file
	Counts  bool   `json:"counts"`
	*Commit        // nil if it is not sound
	Error   string `json:"error,omitempty"`
}

func slotsOf(t resume.TrackerReport) (slots []Slot, current *Commit) {
	for i, s := range t.Slots {
		slot := Slot{Slot: string(rune('A' + i)), Offset: s.Offset, Counts: i == t.Current, Error: optionalReason(s.Err)}
		if s.Err == nil {
			slot.Commit = commitOf(s.State)
		}
		if slots = append(slots, slot); slot.Counts {
			current = slot.Commit
		}
	}
	return slots, current
}

// Tracker is what the file of a tracker says.
type Tracker struct {
	Head
	*Commit        // the one that counts, nil if there is none
	Slots   []Slot `json:"slots,omitempty"`
}

func inspectTracker(h Head, files resume.Option) (*Tracker, error) {
	r := &Tracker{Head: h}
	t, err := resume.InspectTracker(h.Path, files)
	if err == nil {
		r.Slots, r.Commit = slotsOf(t)
		err = t.Err
	}
	return r, r.failed(err)
}

// Damage is a place of a log that is not sound.
type Damage struct {
	Offset int64  `json:"offset"` // bytes, in the file
	Length int64  `json:"length"` // bytes, up to what is sound again or to the end
	Error  string `json:"error"`
}

func damageOf(d resume.Damage) Damage { return Damage{d.Offset, d.Length, reason(d.Err)} }

// Frames is what is in a log.
type Frames struct {
	Bytes           int64    `json:"bytes"`
	Frames          int      `json:"frames"` // that are sound
	Hashes          uint64   `json:"hashes"`
	States          int      `json:"states"` // frames with a state
	FirstGeneration uint64   `json:"first_generation"`
	LastGeneration  uint64   `json:"last_generation"`
	FreeBytes       int64    `json:"free_bytes,omitempty"` // zeros at the end, kept for appends
	Torn            *Damage  `json:"torn,omitempty"`       // at the end
	Damage          []Damage `json:"damage,omitempty"`
	MoreDamage      int      `json:"more_damage,omitempty"` // places beyond those
}

func framesOf(l resume.LogReport) Frames {
	f := Frames{Bytes: l.Size, Frames: l.Frames, Hashes: l.Hashes, States: l.States, FirstGeneration: l.First, LastGeneration: l.Last, FreeBytes: l.Free, MoreDamage: l.More}
	if l.Torn != nil {
		torn := damageOf(*l.Torn)
		f.Torn = &torn
	}
	for _, d := range l.Damage {
		f.Damage = append(f.Damage, damageOf(d))
	}
	return f
}

// Log is what the file of a log holds, without its tracker.
type Log struct {
	Head
	Frames
}

func inspectLog(h Head, files resume.Option) (*Log, error) {
	r := &Log{Head: h}
	l, err := resume.InspectLog(h.Path, files)
	if err != nil {
		return r, r.failed(err)
	}
	r.Frames = framesOf(l)
	switch {
	case len(l.Damage) > 0:
		d := r.Damage[0]
		r.Sound, r.Error = false, fmt.Sprintf("byte %d: %s; restore it from a copy", d.Offset, d.Error)
	case l.Torn != nil:
		// It may have been committed.
		r.Sound, r.Error = false, fmt.Sprintf("byte %d: %s; only its tracker tells whether that counts, name the folder", r.Torn.Offset, r.Torn.Error)
	}
	return r, nil
}

// Run is what is in the folder of a run.
type Run struct {
	Head
	*Commit                    // the last, nil if there is none
	Epoch    *int64            `json:"epoch,omitempty"` // in which that is, if it can be read
	Ended    *bool             `json:"ended,omitempty"` // the end of the stream was committed
	Known    int               `json:"known_hashes,omitempty"`
	Config   map[string]string `json:"config,omitempty"`
	Slots    []Slot            `json:"slots,omitempty"`
	Log      *RunLog           `json:"log,omitempty"`
	Extra    json.RawMessage   `json:"extra,omitempty"` // what the program has kept with the commit
	Faults   []RunFault        `json:"faults,omitempty"`
	Repaired *Cut              `json:"repaired,omitempty"` // nil if that was not asked for
}

// RunLog is the log of a run.
type RunLog struct {
	Frames
	CommittedBytes    *int64 `json:"committed_bytes,omitempty"` // that hold what the tracker counts; nil if they are not there
	UncommittedFrames int    `json:"uncommitted_frames"`        // behind those
}

// RunFault is what is not sound about a run.
type RunFault struct {
	File   string `json:"file"`   // name in the folder
	Offset int64  `json:"offset"` // bytes, −1 for no place in the file
	Error  string `json:"error"`
}

// Cut is what was cut off a log.
type Cut struct {
	Offset int64 `json:"offset"` // where the log ends now
	Bytes  int64 `json:"bytes"`  // 0: nothing was torn
}

// Folder inspects the folder of a run. With repair it cuts away a torn tail of the log first. The
// errors are those of [resume.InspectFolder] and [resume.RepairFolder], and that ctx is done.
func Folder(ctx context.Context, path string, repair bool) (*Run, error) {
	files := resume.WithFS(contextFS{ctx: ctx})
	cut, err := int64(0), error(nil)
	if repair {
		cut, err = resume.RepairFolder(path, files)
	}
	var found resume.FolderReport
	if err == nil {
		found, err = resume.InspectFolder(path, files)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := runOf(path, &found)
	if repair {
		r.Repaired = &Cut{Offset: found.Log.Size, Bytes: cut}
	}
	return r, nil
}

func runOf(path string, found *resume.FolderReport) *Run {
	r := &Run{Head: Head{Path: path, Kind: KindRun, Sound: found.Sound()}, Known: found.Known, Config: found.Config}
	r.Slots, r.Commit = slotsOf(found.Tracker)
	if !found.NoLog {
		r.Log = &RunLog{Frames: framesOf(found.Log), UncommittedFrames: found.Uncommitted}
		if found.Committed >= 0 {
			r.Log.CommittedBytes = &found.Committed
		}
	}
	if c := found.Checkpoint; c != nil {
		r.Epoch, r.Ended, r.Extra = &found.Epoch, &c.Ended, c.Extra
	}
	for _, f := range found.Faults {
		r.Faults = append(r.Faults, RunFault{f.File, f.Offset, reason(f.Err)})
	}
	return r
}

// String says where a fault is, and what.
func (f RunFault) String() string {
	if f.Offset < 0 {
		return f.File + ": " + f.Error
	}
	return fmt.Sprintf("%s, byte %d: %s", f.File, f.Offset, f.Error)
}

// Problem implements [Result].
func (r *Run) Problem() error {
	if r.Sound {
		return nil
	}
	more := ""
	if n := len(r.Faults) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf("%s: not sound%s: %s", r.Path, more, r.Faults[0])
}
