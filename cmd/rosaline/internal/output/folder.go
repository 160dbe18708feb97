package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline/resume"
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
var partName = regexp.MustCompile(`^part-(?:(\d{5,})-)?(\d{5,})\.`)

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
	return openFolder(path, ext, rank, world, func(f *Folder) error {
		if err := f.clear(rank, world, overwrite); err != nil {
			return err
		}
		return f.Disown()
	})
}

// hidden is a file beside the parts that is for runs alone.
func (f *Folder) hidden(ext string) string {
	return filepath.Join(f.path, "."+strings.TrimSuffix(f.prefix, "-")+ext)
}

// ownerName is the file that names the run that goes on in the folder.
func (f *Folder) ownerName() string { return f.hidden(".owner") }

// Claim notes the name of a run that is to go on in the folder, until another one begins there.
func (f *Folder) Claim(owner string) error {
	file, err := os.Create(f.ownerName())
	if err != nil {
		return err
	}
	_, err = file.WriteString(owner)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// Disown forgets who goes on in the folder.
func (f *Folder) Disown() error {
	if err := os.Remove(f.ownerName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ResumeFolder opens a folder where the run that has claimed it by that name goes on. It has
// completed the first parts, of so many bytes together. The error is [resume.ErrOutput] if
// these are not there, or if another run has begun to write there. Parts behind the next one
// are removed; what there is of that is left to whoever opens it.
func ResumeFolder(path, ext string, rank, world, parts int, bytes int64, owner string) (*Folder, error) {
	return openFolder(path, ext, rank, world, func(f *Folder) error {
		f.next = parts
		if is, err := os.ReadFile(f.ownerName()); err != nil || string(is) != owner {
			return fmt.Errorf("%w: another run has written into %s; give it an empty folder, with an empty folder for the state", resume.ErrOutput, path)
		}
		if err := f.check(bytes); err != nil {
			return err
		}
		return f.cut()
	})
}

func newFolder(path, ext string, rank, world int) *Folder {
	f := &Folder{path: path, prefix: "part-", ext: ext}
	if world > 0 {
		f.prefix = fmt.Sprintf("part-%05d-", rank)
	}
	return f
}

func openFolder(path, ext string, rank, world int, prepare func(*Folder) error) (*Folder, error) {
	f := newFolder(path, ext, rank, world)
	err := os.MkdirAll(path, 0o777)
	if err == nil {
		f.lock, err = openPartial(f.hidden(".lock"), 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot write: %w", path, err)
	}
	if err := prepare(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// CheckFolder sees whether the parts of a run that is complete are there, of so many bytes
// together: else [resume.ErrOutput].
func CheckFolder(path, ext string, rank, world, parts int, bytes int64) error {
	f := newFolder(path, ext, rank, world)
	f.next = parts
	return f.check(bytes)
}

// check sees whether the parts before the next are there.
func (f *Folder) check(bytes int64) error {
	have := int64(0)
	for i := range f.next {
		info, err := os.Stat(f.name(i))
		if err != nil {
			return fmt.Errorf("%w: %w; put it back, or start anew with an empty folder for the state", resume.ErrOutput, err)
		}
		have += info.Size()
	}
	if have != bytes {
		return fmt.Errorf("%w: the first %d parts in %s have %d bytes, they had %d; put them back, or start anew with an empty folder for the state",
			resume.ErrOutput, f.next, f.path, have, bytes)
	}
	return nil
}

// cut removes the parts behind the next.
func (f *Folder) cut() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err // names the path
	}
	for _, e := range entries {
		m := partName.FindStringSubmatch(e.Name())
		if m == nil || !strings.HasPrefix(e.Name(), f.prefix) || f.prefix == "part-" && m[1] != "" {
			continue // another rank's
		}
		if ext := e.Name()[len(m[0])-1:]; strings.TrimSuffix(ext, PartialSuffix) != f.ext {
			continue // no part of this run
		}
		if n, err := strconv.Atoi(m[2]); err == nil && n > f.next {
			if err := os.Remove(filepath.Join(f.path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// name is the path of a part.
func (f *Folder) name(i int) string {
	return filepath.Join(f.path, fmt.Sprintf("%s%05d%s", f.prefix, i, f.ext))
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
	f.next++
	return Create(f.name(f.next-1), nil)
}

// NextAppended begins the next part, or goes on with it where a checkpoint was.
func (f *Folder) NextAppended(at Checkpoint) (*Appended, error) {
	f.next++
	return OpenAppended(f.name(f.next-1), at)
}

// DropNext removes what there is of the next part.
func (f *Folder) DropNext() error { return resume.RemoveOutput(f.name(f.next)) }

// Parts returns how many parts have been begun.
func (f *Folder) Parts() int { return f.next }

// Close lets other runs write into the folder.
func (f *Folder) Close() error {
	return errors.Join(os.Remove(f.lock.Name()), f.lock.Close())
}
