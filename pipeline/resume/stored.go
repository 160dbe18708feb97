package resume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// stored is the folder of a run that is open for writing.
type stored struct {
	tracker *StateTracker
	log     *Log
	known   []uint64
	buf     []text.Hash128
}

// openStored opens the folder of a run, and makes one if there is none. It returns the hashes
// of the log as a set, and the last commit, nil if there is none.
func openStored(dir string, c config, opts []Option) (s *stored, set *text.StreamDeduplicator, last *Checkpoint, err error) {
	if err := c.makeFolder(filepath.Clean(dir)); err != nil {
		return nil, nil, nil, fmt.Errorf("resume: %w", err)
	}
	now, err := encodeConfig(c.options)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("resume: configuration: %w", err)
	}
	s = new(stored)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	config, known := filepath.Join(dir, configName), filepath.Join(dir, knownFile)
	s.tracker, err = openTracker(filepath.Join(dir, trackerFile), ConfigOf(now), c, func() error {
		if err := c.lostTracker(dir); err != nil {
			return err
		}
		// One of a process that came no further is replaced, anything else is not ours.
		switch _, _, err := c.readConfig(dir); {
		case errors.Is(err, ErrCorrupt):
			return fmt.Errorf("%w: %s is no configuration of a run; name a folder of its own", ErrForeign, config)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("resume: %w", err)
		}
		return c.putFile(config, now)
	})
	if errors.Is(err, ErrConfig) {
		then, _, failed := c.readConfig(dir)
		if failed != nil {
			return s, nil, nil, errors.Join(err, failed)
		}
		return s, nil, nil, fmt.Errorf("%w: %s: %s; give the same options as then, or start anew in an empty folder", ErrConfig, dir, differences(then, c.options))
	}
	if err != nil {
		return s, nil, nil, err
	}
	if _, then, err := c.readConfig(dir); err != nil || !bytes.Equal(then, now) {
		// It says what the tracker stands for, which is known now.
		if err := c.putFile(config, now); err != nil {
			return s, nil, nil, err
		}
	}
	switch begun := s.tracker.State().Generation > 1; {
	case begun && c.known != nil:
		return s, nil, nil, fmt.Errorf("%w: %s has begun without the hashes; name an empty folder", ErrOrder, dir)
	case begun:
	default:
		// There may be others, of a process that committed nothing.
		if err := c.beginKnown(known); err != nil {
			return s, nil, nil, err
		}
	}
	if s.known, err = c.readKnown(known); err != nil {
		return s, nil, nil, err
	}
	set, s.log, err = OpenDeduplicator(filepath.Join(dir, logFile), s.tracker.State(), dedupOptions(c.dedup, s.known, 0), opts...)
	if err != nil {
		return s, nil, nil, err
	}
	state := s.log.State()
	if at := s.tracker.State(); state == nil && at.Generation > 1 {
		return s, nil, nil, fmt.Errorf("%w: log %s has none, the tracker is at generation %d", ErrCheckpoint, filepath.Join(dir, logFile), at.Generation)
	}
	if state != nil {
		read, err := ReadCheckpoint(state)
		if err != nil {
			return s, nil, nil, fmt.Errorf("log %s: %w", filepath.Join(dir, logFile), err)
		}
		if last = &read; read.Known != len(s.known) {
			return s, nil, nil, fmt.Errorf("%w: %s has %d hashes, there were %d; %s", ErrMissing, known, len(s.known), read.Known, restore)
		}
	}
	return s, set, last, nil
}

// dedupOptions are those of the set of an epoch.
func dedupOptions(opts []text.DedupOption, known []uint64, epoch int64) []text.DedupOption {
	if known == nil || epoch != 0 {
		return opts
	}
	return append(slices.Clip(opts), text.WithKnown64(known))
}

// setOf makes a set of hashes of which there are at most so many.
func setOf(opts []text.DedupOption, room int, hashes iter.Seq[[]text.Hash128]) (*text.StreamDeduplicator, error) {
	return text.NewStreamDeduplicator(append(slices.Clip(opts), text.WithCapacity(room), text.WithHashBlocks(hashes))...)
}

// makeFolder makes a folder and those above it that are not there, each of which has its name
// on the disk before the next is made.
func (c config) makeFolder(dir string) error {
	missing := []string{dir}
	for {
		above := filepath.Dir(missing[len(missing)-1])
		if _, err := c.fs.List(above); !errors.Is(err, fs.ErrNotExist) || above == filepath.Dir(above) {
			break
		}
		missing = append(missing, above)
	}
	if len(missing) > 1 {
		// A process that was killed may have made the one that is there, and come no further.
		err := c.fs.SyncDir(filepath.Dir(filepath.Dir(missing[len(missing)-1])))
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	for _, d := range slices.Backward(missing) {
		if err := c.fs.MakeDir(d); err != nil {
			return err
		}
		if err := c.fs.SyncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// putFile puts a file in the place of another, or of none.
func (c config) putFile(name string, content []byte) error {
	if err := c.makeFile(name, content); err != nil {
		return fmt.Errorf("resume: %s: %w", name, err)
	}
	return nil
}

// commit writes a commit: the hashes before a position, then what goes on with them, then
// that it counts.
func (s *stored) commit(d *Dedup, to uint64, c Checkpoint, report pipeline.StateReport, at Coordinate) error {
	generation, err := s.tracker.Next()
	if err != nil {
		return err
	}
	if s.buf, err = d.hashes(s.buf[:0], s.log.Count(), to); err != nil {
		return err
	}
	c.Known = len(s.known)
	state, err := c.encode()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if err := s.log.Append(generation, s.buf, state); err != nil {
		return err
	}
	err = s.tracker.Commit(State{Generation: generation, Batch: uint64(report.Delivered), Coordinate: at, Hashes: s.log.Count()})
	if err != nil {
		return err
	}
	if s.log.Worn() {
		// What is committed is safe whatever becomes of this. If the log cannot be written
		// any more the next commit says so.
		_ = s.log.Compact()
	}
	return nil
}

// eachFrom gives out the hashes of a log from a position on, in pieces that must not be kept.
func (l *Log) eachFrom(position uint64, yield func([]text.Hash128) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := newFrameReader(l.file, l.size)
	for {
		var f frame
		switch err := r.next(&f); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("resume: log %s: %w", l.name, err)
		}
		passed := min(uint64(len(f.hashes)), max(position, f.before)-f.before)
		if h := f.hashes[passed:]; len(h) > 0 && !yield(h) {
			return nil
		}
	}
}

func (s *stored) close() error {
	var err error
	if s.log != nil {
		err = s.log.Close()
	}
	if s.tracker != nil {
		err = errors.Join(err, s.tracker.Close())
	}
	return err
}
