package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// ErrEarlier is returned when a folder holds parts of an earlier run.
var ErrEarlier = errors.New("output: the folder holds parts of an earlier run")

// Folder is an output of numbered parts, each of which is there whole or not at all.
// Only one goroutine may use it.
//
//	part-00000.jsonl         of a run without ranks
//	part-00003-00000.jsonl   of rank 3
//	.part.lock               while a run writes there; .part-00003.lock for a rank
type Folder struct {
	path   string
	prefix string // of the names of parts
	ext    string
	lock   *os.File
	next   int
}

// partName is the name of a part, or of one that is not complete: the rank, if there is
// one, and the number.
var partName = regexp.MustCompile(`^part-(?:(\d{5,})-)?\d{5,}\.`)

// IsPart reports whether name is one that a part of a folder has.
func IsPart(name string) bool { return partName.MatchString(filepath.Base(name)) }

// OpenFolder prepares a folder for parts with the extension ext, which begins with a
// dot, and makes it if need be. rank and world are 0 for a run without ranks; ranks of
// one run may write into one folder at a time.
//
// Parts that the folder holds already are an error, [ErrEarlier], unless overwrite is
// set, which removes them. Those of other ranks of the run do not count; those of a run
// without ranks do, and those of ranks that the run does not have. Other files are left
// alone. The error is [ErrBusy] while another run writes the same parts.
func OpenFolder(path, ext string, rank, world int, overwrite bool) (*Folder, error) {
	f := &Folder{path: path, prefix: "part-", ext: ext}
	lock := ".part.lock"
	if world > 0 {
		f.prefix = fmt.Sprintf("part-%05d-", rank)
		lock = fmt.Sprintf(".part-%05d.lock", rank)
	}
	err := os.MkdirAll(path, 0o777)
	if err == nil {
		f.lock, err = openPartial(filepath.Join(path, lock), 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot write: %w", path, err)
	}
	if err := f.clear(rank, world, overwrite); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// clear sees to it that there are no parts yet.
func (f *Folder) clear(rank, world int, overwrite bool) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err // names the path
	}
	for _, e := range entries {
		m := partName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if of, err := strconv.Atoi(m[1]); err == nil && of != rank && of < world {
			continue // another rank's
		}
		path := filepath.Join(f.path, e.Name())
		if !overwrite {
			return fmt.Errorf("%w: %s; name another folder, or replace all of them with --overwrite", ErrEarlier, path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Next begins the next part. The one before must have been completed.
func (f *Folder) Next() (*File, error) {
	name := fmt.Sprintf("%s%05d%s", f.prefix, f.next, f.ext)
	f.next++
	return Create(filepath.Join(f.path, name), nil)
}

// Parts returns how many parts have been begun.
func (f *Folder) Parts() int { return f.next }

// Close lets other runs write into the folder.
func (f *Folder) Close() error {
	return errors.Join(os.Remove(f.lock.Name()), f.lock.Close())
}
