package inspection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/resume"
)

// The kinds of states.
const (
	KindRun        = "rosaline run"
	KindTracker    = "rosaline tracker"
	KindLog        = "rosaline log"
	KindLuminamoon = "luminamoon checkpoint"
	KindDedup      = "luminamoon dedup file"
)

// Result is what was found at a path: a [Report], or one of a state.
type Result interface {
	// WriteText writes it for people.
	WriteText(w io.Writer) error
	// Problem says what is not sound, where, and what to do; nil if all is.
	Problem() error
}

// Head is what the reports of states have in common.
type Head struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`
	Sound bool   `json:"sound"`
	Error string `json:"error,omitempty"` // why it is not, for a file
}

// Problem implements [Result].
func (h *Head) Problem() error {
	if h.Sound {
		return nil
	}
	return fmt.Errorf("%s: not sound: %s", h.Path, h.Error)
}

// failed takes an error about what is in the file, and returns any other.
func (h *Head) failed(err error) error {
	var reading *fs.PathError
	if err == nil || errors.As(err, &reading) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	h.Sound, h.Error = false, reason(err)
	return nil
}

// reason is the text of an error without the name of the package that it comes from.
func reason(err error) string { return strings.ReplaceAll(err.Error(), "resume: ", "") }

func optionalReason(err error) string {
	if err == nil {
		return ""
	}
	return reason(err)
}

// State inspects a regular file of a run alone, or one of luminamoon. A file of which even the
// first bytes are damaged is known by others. A dedup file of luminamoon has nothing to be known
// by but its name, *.dedup or *.wal. Errors are as those of [File].
func State(ctx context.Context, path string) (Result, error) {
	kind, err := stateKind(path)
	if err != nil {
		return nil, err
	}
	files := resume.WithFS(contextFS{ctx: ctx})
	h := Head{Path: path, Kind: kind, Sound: true}
	var r Result
	switch kind {
	case KindTracker:
		r, err = inspectTracker(h, files)
	case KindLog:
		r, err = inspectLog(h, files)
	case KindLuminamoon:
		r, err = inspectLuminamoon(h, files)
	default:
		r, err = inspectDedup(h, files)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, err
}

// The layouts are drawn in the documentation of package resume. Of luminamoon's there are 128
// bytes or more.
var stateMarks = []struct {
	magic  string
	offset int64
	size   int64 // of the file, 0 for any
	kind   string
}{
	{"RSLT", 0, 0, KindTracker},
	{"RSDL", 0, 0, KindLog},
	{"LMDL", 0, 0, KindLuminamoon},
	{"RSLT", 4096, 8192, KindTracker},
	{"RSDF", 16, 0, KindLog},
	{"LMDL", 64, 0, KindLuminamoon},
}

// stateKind tells the kind of a file.
func stateKind(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w; name a regular file", path, ErrKind)
	}
	for _, m := range stateMarks {
		got := make([]byte, len(m.magic))
		n, err := f.ReadAt(got, m.offset)
		if err != nil && err != io.EOF {
			return "", err
		}
		if string(got[:n]) == m.magic && (m.size == 0 || m.size == info.Size()) {
			return m.kind, nil
		}
	}
	if e := strings.ToLower(filepath.Ext(path)); e == ".dedup" || e == ".wal" {
		return KindDedup, nil
	}
	return "", fmt.Errorf("%s: %w", path, ErrKind)
}

// contextFS is the files of the system, which cannot be read any more once a context is done: a
// log may be as long as a disk.
type contextFS struct {
	fsys.OS
	ctx context.Context
}

// Open implements [fsys.FS].
func (c contextFS) Open(name string) (fsys.File, error) { return c.with(c.OS.Open(name)) }

// OpenWrite implements [fsys.FS].
func (c contextFS) OpenWrite(name string) (fsys.File, error) { return c.with(c.OS.OpenWrite(name)) }

func (c contextFS) with(f fsys.File, err error) (fsys.File, error) {
	if err != nil {
		return nil, err
	}
	return contextFile{f, c.ctx}, nil
}

type contextFile struct {
	fsys.File
	ctx context.Context
}

// ReadAt implements [io.ReaderAt].
func (c contextFile) ReadAt(p []byte, at int64) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.File.ReadAt(p, at)
}
