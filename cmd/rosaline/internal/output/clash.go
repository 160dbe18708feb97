package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrClash is returned when an output would overwrite an input or another
// output.
var ErrClash = errors.New("output: two names for one file")

// Use is a path and what it is for, in the user's words: "-o", "--rejects".
type Use struct {
	Role, Path string
	Folder     bool // the path is that of a [Folder]
}

// CheckClashes returns an error that wraps [ErrClash] when two of the outputs
// are the same file, or one is an input. Names that lead to one file by links or
// by way of another folder count as the same; so does the name a file has while it
// is incomplete, and any name that a part of an output folder may have. Outputs with
// an empty path are not used. The null device may be used any number of times.
func CheckClashes(outputs []Use, inputs []string) error {
	var seen []place
	for _, in := range inputs {
		seen = append(seen, placeOf(Use{Role: "the input", Path: in}, in, os.Stdin))
	}
	for _, out := range outputs {
		if out.Path == "" {
			continue
		}
		places := []place{placeOf(out, out.Path, os.Stdout)}
		if p := places[0]; out.Path != Stdout && !out.Folder && (p.info == nil || p.info.Mode().IsRegular()) {
			places = append(places, placeOf(out, p.name+PartialSuffix, nil))
		}
		for _, p := range places {
			for _, q := range seen {
				if p.same(q) {
					return fmt.Errorf("%w: %s %s would overwrite %s %s; choose another name", ErrClash, out.Role, out.Path, q.use.Role, q.use.Path)
				}
			}
		}
		seen = append(seen, places...)
	}
	return nil
}

// IsSame reports whether two paths lead to one file or folder, by links or by way of others.
func IsSame(a, b string) bool {
	return placeOf(Use{Path: a}, a, os.Stdout).same(placeOf(Use{Path: b}, b, os.Stdout))
}

// place is where a path leads.
type place struct {
	use  Use
	name string // absolute, links of the folder followed; that of a stream is its own
	info os.FileInfo
}

// placeOf looks up path, which "-" makes that of the stream.
func placeOf(use Use, path string, stream *os.File) place {
	p := place{use: use, name: path}
	if path == Stdout {
		p.name = stream.Name()
		if info, err := stream.Stat(); err == nil && info.Mode().IsRegular() {
			p.info = info // redirected; a terminal or pipe may well be both ends
		}
		return p
	}
	p.info, _ = os.Stat(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		p.name = target
	} else {
		if p.info == nil { // not so for a pipe, whose link has a made-up target
			p.name = linkTarget(path)
		}
		if folder, err := filepath.EvalSymlinks(filepath.Dir(p.name)); err == nil {
			p.name = filepath.Join(folder, filepath.Base(p.name))
		}
	}
	if abs, err := filepath.Abs(p.name); err == nil {
		p.name = abs
	}
	return p
}

func (p place) same(q place) bool {
	if p.use.Path == os.DevNull && q.use.Path == os.DevNull {
		return false
	}
	if p.holds(q) || q.holds(p) {
		return true
	}
	return p.name == q.name || p.info != nil && q.info != nil && os.SameFile(p.info, q.info)
}

// holds reports whether p is a folder and q may be a part of it.
func (p place) holds(q place) bool {
	return p.use.Folder && IsPart(q.name) && filepath.Dir(q.name) == p.name
}
