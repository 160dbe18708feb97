package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/rosaline-go/rosaline/pipeline/resume"
)

// Appended is an output of a run that can be resumed: what is behind the last checkpoint that
// the run has committed is cut away when it is opened again.
//
//	OpenAppended ──▸ Write … Checkpoint … ──┬─▸ Commit: synced, renamed to path
//	 at the last         path.partial       └─▸ Abort:  stays path.partial, to go on with
//
// The names *.gz and *.zst are compressed, in members that end with each checkpoint: the bytes
// depend on where the checkpoints are. Only one goroutine may use it, but Sync may be called
// by another.
type Appended struct {
	path   string
	out    *resume.Output
	lock   io.Closer // nil where there is none
	pack   func(io.Writer) (io.WriteCloser, error)
	packer io.WriteCloser // nil between members, and without compression
	err    error
}

// Checkpoint is how much of an output counts, and what tells it from another one.
type Checkpoint struct {
	Size int64  `json:"size"` // bytes
	Tail uint32 `json:"tail"` // see [resume.Output.Tail]
}

// OpenAppended opens path where a checkpoint was. With none it begins anew. The error wraps
// [ErrDirectory], [ErrBusy], [ErrNotRegular] or [resume.ErrOutput], or is that of the system.
func OpenAppended(path string, at Checkpoint) (*Appended, error) {
	a := &Appended{path: path, pack: packerOf(path)}
	if err := a.open(at); err != nil {
		return nil, fmt.Errorf("%s: cannot write: %w", path, err)
	}
	return a, nil
}

func (a *Appended) open(at Checkpoint) error {
	target, _, err := regularTarget(a.path)
	if err != nil {
		return err
	}
	// Who else writes there must be seen before anything of it is cut away.
	partial := target + PartialSuffix
	if _, err := os.Lstat(partial); err == nil {
		if err := a.take(partial); err != nil {
			return err
		}
	}
	a.out, err = resume.OpenOutput(target, at.Size, resume.WithTail(at.Tail))
	if err == nil && a.lock == nil {
		err = a.take(partial)
	}
	if info, there := os.Stat(target); err == nil && there == nil {
		err = os.Chmod(partial, info.Mode().Perm()) // that of the file it takes the place of
	}
	if err != nil && a.out != nil {
		err = errors.Join(err, a.out.Close())
	}
	if err != nil && a.lock != nil {
		err = errors.Join(err, a.lock.Close())
	}
	return err
}

// take locks the file of that name. On Windows a lock would keep the writer out as well: there
// only the folder of the state is locked.
func (a *Appended) take(partial string) error {
	if info, err := os.Lstat(partial); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is in the way; remove it", ErrNotRegular, partial)
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := openLocked(partial, 0o666)
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%w; wait for its end or choose another name", err)
	}
	if err == nil {
		a.lock = f
	}
	return err
}

// CheckAppended sees whether an output that was completed at a checkpoint is there: else
// [resume.ErrOutput].
func CheckAppended(path string, at Checkpoint) error {
	target, _, err := regularTarget(path)
	if err == nil {
		err = resume.CheckOutput(target, at.Size, resume.WithTail(at.Tail))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write writes p. After an error every further call returns that error.
func (a *Appended) Write(p []byte) (n int, err error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.pack != nil && a.packer == nil && len(p) > 0 {
		a.packer, err = a.pack(a.out)
	}
	switch {
	case err != nil:
	case a.packer != nil:
		n, err = a.packer.Write(p)
	default:
		n, err = a.out.Write(p)
	}
	a.fail(err)
	return n, a.err
}

func (a *Appended) fail(err error) {
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s: cannot write: %w", a.path, err)
	}
}

// EndMember writes the end of what is compressed; what comes is a new member.
func (a *Appended) EndMember() {
	if a.packer != nil {
		a.fail(a.packer.Close())
		a.packer = nil
	}
}

// Checkpoint returns where the output stands, all of which lasts once Sync has returned.
func (a *Appended) Checkpoint() (Checkpoint, error) {
	a.EndMember()
	if a.err != nil {
		return Checkpoint{}, a.err
	}
	size, err := a.out.Flush()
	a.fail(err)
	return Checkpoint{size, a.out.Tail()}, a.err
}

// Completed is the checkpoint of an output after Commit.
func (a *Appended) Completed() Checkpoint { return Checkpoint{a.out.Size(), a.out.Tail()} }

// Sync makes what was written before the last Checkpoint last. Of a file that is complete or
// closed there is nothing to be done.
func (a *Appended) Sync() error {
	if _, err := a.out.Sync(); err != nil && !errors.Is(err, resume.ErrClosed) {
		return fmt.Errorf("%s: cannot write: %w", a.path, err)
	}
	return nil
}

// Commit completes the file, which gets its name. If any of this fails it does what Abort
// does and returns the first error.
func (a *Appended) Commit() error {
	a.EndMember()
	if a.err == nil && a.pack != nil && a.out.Size() == 0 {
		var err error
		a.packer, err = a.pack(a.out) // a member without content: no bytes at all are none
		a.fail(err)
		a.EndMember()
	}
	if a.err == nil {
		a.fail(a.out.Finish())
	}
	return a.Abort()
}

// Abort closes the file, from which a later run goes on at the last checkpoint. It returns the
// first error of any Write or of closing.
func (a *Appended) Abort() error {
	if a.packer != nil {
		_ = a.packer.Close() // for its memory; what it still writes is behind the checkpoint
		a.packer = nil
	}
	a.fail(a.out.Close())
	if a.lock != nil {
		a.fail(a.lock.Close())
		a.lock = nil
	}
	return a.err
}

// Partial returns "": what is not complete belongs to the run that goes on.
func (a *Appended) Partial() string { return "" }

// Straight returns false, see [File.Straight].
func (a *Appended) Straight() bool { return false }

// Err returns the first error, after which nothing is written.
func (a *Appended) Err() error { return a.err }

// Path returns the name that was given to [OpenAppended].
func (a *Appended) Path() string { return a.path }

// Written returns how many bytes the file has, those of earlier runs included.
func (a *Appended) Written() int64 { return a.out.Size() }
