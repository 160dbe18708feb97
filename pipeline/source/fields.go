package source

import (
	"fmt"
)

// maxFields is how many paths Fields takes.
const maxFields = 64

// Fields finds values in lines of JSON by their paths, which are those of
// [WithTextKey]. It allocates nothing for a line. It belongs to one goroutine.
type Fields struct {
	scans []jsonScanner // each for maxPaths paths
	line  []byte
	refs  []jsonRef
}

// NewFields returns a Fields for 1 to 64 paths. The error is [ErrOption].
func NewFields(paths ...string) (*Fields, error) {
	if len(paths) == 0 || len(paths) > maxFields {
		return nil, fmt.Errorf("%w: NewFields of %d paths; give 1 to %d", ErrOption, len(paths), maxFields)
	}
	f := &Fields{refs: make([]jsonRef, len(paths), len(paths)+maxPaths-1)}
	for i, p := range paths {
		if p == "" {
			return nil, fmt.Errorf("%w: path %d of NewFields is empty; use \".\" for the whole value", ErrOption, i)
		}
		if i%maxPaths == 0 {
			f.scans = append(f.scans, jsonScanner{maxDepth: defaultDecoderConfig().maxDepth})
		}
		s := &f.scans[len(f.scans)-1]
		s.paths = append(s.paths, parsePath(p))
	}
	return f, nil
}

// Scan checks all of line, which is one JSON value after RFC 8259 with white space around it or
// not, and finds the fields in it. It takes time linear in the line for each two
// paths. line must not change while its fields are used. The error is [ErrJSON] or
// [ErrDepth], at more than 1000 levels; then there are no fields.
func (f *Fields) Scan(line []byte) error {
	f.line = line
	for i := range f.scans {
		found := f.refs[i*maxPaths:][:maxPaths]
		if err := f.scans[i].scan(line, (*[maxPaths]jsonRef)(found)); err != nil {
			clear(f.refs)
			reason, detail := err.(*syntaxError).describe(line)
			return fmt.Errorf("%w: %s", badReasons[reason].err, detail)
		}
	}
	return nil
}

// Raw returns the value at path i as it stands in the line, strings with their
// quotes; nil if nothing is there. It panics when i is out of range, as indexing a slice
// does.
func (f *Fields) Raw(i int) []byte {
	r := f.refs[i]
	return f.line[r.start:r.end:r.end]
}

// Text returns what the string at path i stands for, without quotes and escapes; ok is
// false if what is there is no string. It is valid until the next call of
// Scan. Halves of surrogate pairs become U+FFFD; bytes that are not UTF-8 stay.
func (f *Fields) Text(i int) (text []byte, ok bool) {
	r := &f.refs[i]
	if !r.found() || f.line[r.start] != '"' {
		return nil, false
	}
	if !r.escaped() {
		return f.line[r.start+1 : r.end-1 : r.end-1], true
	}
	return f.scans[i/maxPaths].text[r.from:r.to:r.to], true
}
