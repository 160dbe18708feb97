package resume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// Log keeps the hashes that deduplication has committed, and with them a state of the caller, in
// a file that is only appended to: see the package. It holds no hashes in memory. It is safe
// for concurrent use. It has no lock: its writer is whoever has the [StateTracker] beside it.
type Log struct {
	mu     sync.Mutex
	conf   config
	name   string
	file   fsys.File
	size   int64 // bytes that are sound
	room   int64 // bytes that the file has; those behind size were kept free
	frames int
	hashes uint64
	last   uint64 // generation of the last frame, 0 if there is none
	prior  uint64 // the one before that
	state  []byte
	before int64 // bytes of the state before that of the last generation
	buf    []byte
	zeros  []byte
	err    error // the first failure, for ever

	appends int // of this process
}

// OpenLog opens a log for writing, and makes one if there is no file and nothing was committed.
// Committed is the state of the tracker. Each, if it is not nil, is given the committed hashes
// in the order in which they came, in pieces that it must not keep; what it was given counts
// only if OpenLog returns no error, and an error of its own is returned.
//
// What lies behind the committed frames is cut away. It takes time of the size of the file, and
// memory of the largest frame, about 2 MiB and a state. A log that is worn is compacted.
//
// The errors are [ErrShort], [ErrForeign], [ErrVersion], [ErrMagic] and [ErrChecksum] of the
// header, [ErrMissing], [ErrDamaged] if something committed is not there, with the offset,
// [ErrGeneration] if the log is further than its tracker can have left it, and those of the
// files. None of them changes a log that is there.
func OpenLog(name string, committed State, each func([]text.Hash128) error, opts ...Option) (*Log, error) {
	l := &Log{conf: configure(opts), name: name}
	err := l.open(committed, each)
	if err != nil {
		if l.file != nil {
			err = errors.Join(err, l.file.Close())
		}
		return nil, fmt.Errorf("resume: log %s: %w", name, err)
	}
	if l.worn() {
		// One that failed early has left the log as it was, and worn.
		if err := l.compact(); err != nil && l.err != nil {
			return nil, l.Close()
		}
	}
	return l, nil
}

func (l *Log) open(committed State, each func([]text.Hash128) error) error {
	there, err := l.conf.exists(l.name)
	if err != nil {
		return err
	}
	if !there {
		if err := missingLog(committed); err != nil {
			return err
		}
		if err := l.conf.makeFile(l.name, logHeader()); err != nil {
			return err
		}
	}
	if l.file, err = l.conf.fs.OpenWrite(l.name); err != nil {
		return err
	}
	head, size, err := readLogHeader(l.file)
	if err != nil {
		return err
	}
	if err := checkLogHeader(head); err != nil {
		return err
	}
	if err := l.read(size, committed, each); err != nil {
		return err
	}
	// A process that was killed may have left what is only in memory, and another name than
	// that on the disk.
	if l.room = l.size; l.size < size {
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	return l.conf.fs.SyncDir(filepath.Dir(l.name))
}

// read reads the committed frames. What is behind them may be anything that a crash leaves.
func (l *Log) read(size int64, committed State, each func([]text.Hash128) error) error {
	l.size = logHeaderSize
	r := newFrameReader(l.file, size)
	whole := func() bool {
		return l.hashes == committed.Hashes && (l.last == committed.Generation || l.last == 0 && committed.Generation <= 1)
	}
	damaged := func(why error) error {
		return fmt.Errorf("%w at offset %d: %w; the tracker has generation %d with %d hashes, before it are generation %d and %d hashes; %s",
			ErrDamaged, l.size, why, committed.Generation, committed.Hashes, l.last, l.hashes, restore)
	}
	for {
		var f frame
		err := r.next(&f)
		var bad *badFrame
		switch {
		case err == io.EOF && whole():
			return nil
		case err == io.EOF:
			return damaged(errors.New("the log ends"))
		case errors.As(err, &bad):
			if bad.newer {
				return fmt.Errorf("%w; go on with the newer program", bad)
			}
			if whole() {
				return l.checkTail(size, committed)
			}
			return damaged(bad)
		case err != nil:
			return err
		}
		if f.generation > committed.Generation {
			if err := l.checkTail(size, committed); err != nil || whole() {
				return err
			}
			return damaged(fmt.Errorf("frame of generation %d", f.generation))
		}
		if err := f.follows(l.last, l.hashes); err != nil {
			return damaged(err)
		}
		if l.hashes+uint64(len(f.hashes)) > committed.Hashes {
			return damaged(fmt.Errorf("more hashes than were committed"))
		}
		if each != nil && len(f.hashes) > 0 {
			if err := each(f.hashes); err != nil {
				return err
			}
		}
		l.took(&f)
	}
}

// checkTail looks for a generation, behind what was committed, that no crash leaves there: one
// may have been in flight, and the slot of one before that be bad. If there are more, the
// tracker is another or an older one, and to cut them away would lose a run.
func (l *Log) checkTail(size int64, committed State) error {
	if committed.Generation > math.MaxUint64-2 {
		return nil
	}
	for at := l.size; at < size; {
		f, err := nextHeader(l.file, at, size)
		if err != nil {
			return err
		}
		if f.offset < size && f.generation > committed.Generation+2 {
			return fmt.Errorf("%w: frame at offset %d has %d, the tracker %d; they do not belong together, %s",
				ErrGeneration, f.offset, f.generation, committed.Generation, restore)
		}
		// No more than the header is believed of a frame.
		at = f.offset + frameHeaderSize
	}
	return nil
}

// took counts a frame at the end of the log.
func (l *Log) took(f *frame) {
	l.size += frameHeaderSize + hashSize*int64(len(f.hashes)) + int64(len(f.state))
	l.frames++
	l.hashes += uint64(len(f.hashes))
	if f.generation != l.last {
		l.prior, l.last = l.last, f.generation
		l.before = int64(len(l.state))
	}
	if len(f.state) > 0 {
		l.state = append(l.state[:0], f.state...)
	}
}

// Append writes the hashes of a generation, which counts once the tracker has committed it, and
// a state, which may be empty, and syncs them. Each generation that the tracker commits must be
// appended once, in order, be there no hashes and no state. It takes time of what is appended,
// whatever the log holds.
//
// The errors are [ErrGeneration] and [ErrLimit], which change nothing, and [ErrClosed]. After
// one of the file every later call returns the same error: whoever wants to go on must open
// the log again.
func (l *Log) Append(generation uint64, hashes []text.Hash128, state []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return l.err
	case generation <= l.last:
		return fmt.Errorf("%w: log %s: append of %d, the last was %d", ErrGeneration, l.name, generation, l.last)
	case len(state) > MaxState, uint64(len(hashes)) > MaxHashes-l.hashes:
		return fmt.Errorf("%w: log %s: %d hashes and %d bytes of state to %d hashes, at most %d and %d",
			ErrLimit, l.name, len(hashes), len(state), l.hashes, int64(MaxHashes), MaxState)
	}
	err := l.append(generation, hashes, state)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("resume: log %s: append of generation %d: %w", l.name, generation, err)
	}
	return l.err
}

// append writes frames without a sync; the state is in the last.
func (l *Log) append(generation uint64, hashes []text.Hash128, state []byte) error {
	for f := range framesOf(generation, l.hashes, hashes, state) {
		l.buf = f.append(l.buf[:0])
		if err := l.reserve(int64(len(l.buf))); err != nil {
			return err
		}
		var err error
		if l.room > l.size {
			_, err = l.file.WriteAt(l.buf, l.size)
		} else {
			_, err = l.file.Append(l.buf)
		}
		if err != nil {
			return err
		}
		l.took(&f)
		l.room = max(l.room, l.size)
	}
	return nil
}

// logReserve is how many bytes a log keeps free ahead of its appends, and reserveAfter how many
// appends of one process there were before it does.
const (
	logReserve   = 256 << 10
	reserveAfter = 64
)

// reserve keeps room for an append of n bytes, by zeros: the sync of bytes within a file spares
// the file system to note how long that is, which is a third of what a commit takes.
func (l *Log) reserve(n int64) error {
	if l.appends++; l.appends <= l.conf.reserveAfter || l.size+n <= l.room || n > l.conf.reserve/4 {
		return nil
	}
	if l.zeros == nil {
		l.zeros = make([]byte, l.conf.reserve)
	}
	_, err := l.file.WriteAt(l.zeros, l.room)
	if errors.Is(err, syscall.ENOSPC) {
		// The append alone may still have room.
		l.room, err = l.file.Size()
		return err
	}
	if err == nil {
		l.room += l.conf.reserve
		err = l.file.Sync()
	}
	return err
}

// Count returns the hashes in the log, those of the last append included: what
// [State.Hashes] must be when it is committed.
func (l *Log) Count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hashes
}

// State returns the last state that was appended, nil if there is none.
func (l *Log) State() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.state)
}

// Frames returns how many frames the log has.
func (l *Log) Frames() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames
}

// Size returns the bytes of the log.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close closes the file. The error is that of an append that failed, or of the file. A second
// call does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.err
	if errors.Is(err, ErrClosed) {
		return nil
	}
	if l.file != nil {
		if err == nil && l.room > l.size {
			// Tidier without what was kept free, and no harm is done where that stays.
			_ = l.file.Truncate(l.size)
		}
		err = errors.Join(err, l.file.Close())
	}
	l.file, l.err = nil, fmt.Errorf("%w: log %s", ErrClosed, l.name)
	return err
}

// maxRoom is for how many entries a deduplicator can be told to make room.
const maxRoom = min(1<<40-1, math.MaxInt/64)

// OpenDeduplicator opens a log and a deduplicator that knows its hashes. Room is made for them
// from the start, so that no table is grown: at most 36 bytes a hash. The errors are those of
// [OpenLog] and [text.NewStreamDeduplicator].
func OpenDeduplicator(name string, committed State, dedup []text.DedupOption, opts ...Option) (*text.StreamDeduplicator, *Log, error) {
	room, err := roomFor(name, committed, configure(opts))
	if err != nil {
		return nil, nil, fmt.Errorf("resume: log %s: %w", name, err)
	}
	var (
		log    *Log
		opened error
	)
	known := func(yield func([]text.Hash128) bool) {
		log, opened = OpenLog(name, committed, func(hashes []text.Hash128) error {
			yield(hashes)
			return nil
		}, opts...)
	}
	d, err := setOf(dedup, room, known)
	if err = errors.Join(err, opened); err != nil {
		return nil, nil, err
	}
	return d, log, nil
}

// roomFor returns how many hashes to expect, no more than the file can hold.
func roomFor(name string, committed State, c config) (int, error) {
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return int(min(committed.Hashes, uint64(size)/hashSize, maxRoom)), errors.Join(err, f.Close())
}
