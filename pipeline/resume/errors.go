package resume

import "errors"

var (
	// ErrLocked is returned when another process writes the files; the text says which.
	ErrLocked = errors.New("resume: in use")
	// ErrForeign is returned for a file of another kind; the text says which, if it is known.
	ErrForeign = errors.New("resume: a file of another kind")
	// ErrShort is returned for a file that does not have the size that it was made with.
	ErrShort = errors.New("resume: wrong size")
	// ErrMagic is returned when a slot, a header or a frame does not begin as it must.
	ErrMagic = errors.New("resume: wrong magic")
	// ErrVersion is returned when a newer program wrote the file.
	ErrVersion = errors.New("resume: unknown version")
	// ErrChecksum is returned when bytes are not those that were written.
	ErrChecksum = errors.New("resume: wrong checksum")
	// ErrCorrupt is returned when neither slot of a tracker is sound, or when they contradict
	// each other.
	ErrCorrupt = errors.New("resume: no sound state")
	// ErrDamaged is returned when a log lacks something that was committed; the text says at
	// which offset.
	ErrDamaged = errors.New("resume: damaged log")
	// ErrMissing is returned when there is no log although the tracker has commits.
	ErrMissing = errors.New("resume: missing log")
	// ErrGeneration is returned when a generation does not follow the one before, and when
	// there is no next.
	ErrGeneration = errors.New("resume: wrong generation")
	// ErrConfig is returned when a state belongs to a run with another configuration.
	ErrConfig = errors.New("resume: state of another configuration")
	// ErrOrder is returned when a commit goes back to an older batch or fewer hashes.
	ErrOrder = errors.New("resume: a commit goes back")
	// ErrLimit is returned for more hashes or a larger state than a file can hold.
	ErrLimit = errors.New("resume: too much")
	// ErrCheckpoint is returned for a state that is not one of a resumable pipeline, or that does
	// not fit the hashes beside it.
	ErrCheckpoint = errors.New("resume: no checkpoint")
	// ErrOutput is returned when an output is not there as it was committed; the text says where.
	ErrOutput = errors.New("resume: not the output that was committed")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("resume: closed")
)

// restore is what to do about a file that cannot be read.
const restore = "restore the files of the run from a copy, or start anew in an empty folder"
