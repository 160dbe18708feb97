package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

const (
	filledHashes = 1024 // of a commit of a filled log
	filledState  = 1024 // bytes
)

// The files of a run.
func trackerName(dir string) string { return filepath.Join(dir, "tracker") }
func logName(dir string) string     { return filepath.Join(dir, "log") }

// fill makes the files of a run that has committed n hashes, as many commits as a run with
// batches of a thousand new texts makes. There is one sync in the end.
func fill(dir string, n int) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tracker, err := resume.OpenStateTracker(trackerName(dir), 0, resume.WithFS(unsynced{}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tracker.Close()) }()
	log, err := resume.OpenLog(logName(dir), tracker.State(), nil, resume.WithFS(unsynced{}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	state, hashes := make([]byte, filledState), make([]text.Hash128, 0, filledHashes)
	for from := 0; from < n; from += len(hashes) {
		hashes = hashes[:0]
		for i := from; i < min(n, from+filledHashes); i++ {
			hashes = append(hashes, hash(uint64(i)))
		}
		at := tracker.State()
		at.Generation++
		if err := log.Append(at.Generation, hashes, state); err != nil {
			return err
		}
		at.Batch, at.Hashes = at.Batch+1, log.Count()
		if err := tracker.Commit(at); err != nil {
			return err
		}
	}
	// Or the system writes them while something else is timed.
	return errors.Join(syncFile(logName(dir)), syncFile(trackerName(dir)), fsys.OS{}.SyncDir(dir))
}

// hash returns one for each number, no two alike: mix is one to one.
func hash(i uint64) text.Hash128 { return text.Hash128{Hi: mix(2 * i), Lo: mix(2*i + 1)} }

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// unsynced is the files of the system whose syncs do nothing: tens of thousands of commits take
// a second instead of a minute.
type unsynced struct{ fsys.OS }

func (u unsynced) OpenWrite(name string) (fsys.File, error) {
	return unsyncedFile(u.OS.OpenWrite(name))
}
func (u unsynced) Create(name string) (fsys.File, error) { return unsyncedFile(u.OS.Create(name)) }
func (unsynced) SyncDir(string) error                    { return nil }

func unsyncedFile(f fsys.File, err error) (fsys.File, error) {
	if err != nil {
		return nil, err
	}
	return withoutSync{f}, nil
}

type withoutSync struct{ fsys.File }

func (withoutSync) Sync() error { return nil }
