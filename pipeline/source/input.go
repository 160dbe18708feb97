package source

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Input is one thing to read.
type Input struct {
	Path        string // "-" for standard input
	Format      Format // FormatAuto goes by the extension
	Compression Compression

	// Also holds the other names under which [Expand] met the same file. It is
	// read once, under Path.
	Also []string
}

// Expand turns arguments into the inputs they stand for.
//
//   - "-" is standard input, JSONL unless format says otherwise.
//   - A file is taken as it is. If its extension says nothing and format is
//     [FormatAuto], the error wraps [ErrFormat].
//   - A folder stands for the files in it and in its folders that have a known
//     extension. Names that begin with a dot are skipped, links to files are
//     followed, links to folders below the argument are not. Files without a
//     known extension are skipped.
//   - Anything else with *, ? or [ in it is a pattern of [filepath.Match]. Names
//     that begin with a dot must be matched by a dot. Each match is taken as if
//     it had been an argument; ** has no special meaning, name a folder instead.
//
// A format other than [FormatAuto] overrides what the extension says, not which
// files of a folder are taken. The result is sorted by path, byte by byte with
// / as separator, so that it does not depend on the order of arguments. A file
// that is reached twice (links are resolved) is listed once, under the first
// path, and the others are in [Input.Also].
//
// The error wraps [ErrNoInput] when an argument stands for nothing.
func Expand(args []string, format Format) ([]Input, error) {
	e := expansion{format: format}
	for _, arg := range args {
		if err := e.argument(arg); err != nil {
			return nil, err
		}
	}
	if len(e.found) == 0 {
		return nil, fmt.Errorf("%w: name a file, a folder, a pattern or - for standard input", ErrNoInput)
	}
	return e.unique()
}

type expansion struct {
	format Format
	found  []Input
}

func (e *expansion) argument(arg string) error {
	if arg == Stdin {
		f := e.format
		if f == FormatAuto {
			f = FormatJSONL
		}
		e.found = append(e.found, Input{Path: Stdin, Format: f})
		return nil
	}
	info, err := os.Stat(arg)
	switch {
	case arg == "":
		return fmt.Errorf("%w: an argument is empty", ErrNoInput)
	case err == nil:
		return e.named(arg, info)
	case strings.ContainsAny(arg, "*?["):
		return e.pattern(arg)
	case os.IsNotExist(err):
		return fmt.Errorf("%w: %s does not exist; check the path, a pattern must match something", ErrNoInput, arg)
	}
	return fmt.Errorf("%w: %w", ErrNoInput, err)
}

// named takes a file or folder that an argument or a pattern names.
func (e *expansion) named(path string, info fs.FileInfo) error {
	if path = filepath.Clean(path); path == Stdin {
		path = "." + string(filepath.Separator) + path // a file of that name
	}
	if !info.IsDir() {
		return e.file(path)
	}
	n := len(e.found)
	if err := e.folder(path); err != nil {
		return err
	}
	if len(e.found) == n {
		return fmt.Errorf("%w: folder %s holds no file with a known extension (%s); name files by a pattern to read others", ErrNoInput, path, knownExtensions)
	}
	return nil
}

func (e *expansion) pattern(arg string) error {
	matches, err := filepath.Glob(arg)
	if err != nil {
		return fmt.Errorf("%w: pattern %s: %w", ErrNoInput, arg, err)
	}
	hidden := strings.HasPrefix(filepath.Base(arg), ".")
	n := len(e.found)
	for _, m := range matches {
		if strings.HasPrefix(filepath.Base(m), ".") && !hidden {
			continue
		}
		info, err := os.Stat(m)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoInput, err)
		}
		if err := e.named(m, info); err != nil {
			return err
		}
	}
	if len(e.found) == n {
		return fmt.Errorf("%w: nothing matches %s", ErrNoInput, arg)
	}
	return nil
}

// file takes one file, whatever it is called.
func (e *expansion) file(path string) error {
	f, c, known := splitName(path)
	switch {
	case e.format != FormatAuto:
		f = e.format
	case !known:
		return fmt.Errorf("%w: %s has none of the extensions %s; say what it is with --format, such as jsonl or text", ErrFormat, path, knownExtensions)
	}
	if !f.compresses() && c != CompressionAuto {
		return fmt.Errorf("%w: %s: %v is compressed inside and read out of order; decompress the file first", ErrFormat, path, f)
	}
	e.found = append(e.found, Input{Path: path, Format: f, Compression: c})
	return nil
}

func (e *expansion) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if entry.IsDir() {
			if err := e.folder(path); err != nil {
				return err
			}
			continue
		}
		if _, _, known := splitName(path); !known {
			continue
		}
		if !entry.Type().IsRegular() {
			info, err := os.Stat(path)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrNoInput, err)
			}
			if !info.Mode().IsRegular() {
				continue
			}
		}
		if err := e.file(path); err != nil {
			return err
		}
	}
	return nil
}

// unique sorts what was found and folds the names of one file into one input.
func (e *expansion) unique() ([]Input, error) {
	slices.SortFunc(e.found, func(a, b Input) int {
		return cmp.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path))
	})
	place := make(map[string]int, len(e.found))
	out := make([]Input, 0, len(e.found))
	for _, in := range e.found {
		key := in.Path
		if in.Path != Stdin {
			abs, err := filepath.Abs(in.Path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoInput, err)
			}
			// What cannot be resolved (a pipe handed over by the shell, say)
			// is known by its name alone.
			if key, err = filepath.EvalSymlinks(abs); err != nil {
				key = abs
			}
		}
		if i, seen := place[key]; seen {
			out[i].Also = append(out[i].Also, in.Path)
			continue
		}
		place[key] = len(out)
		out = append(out, in)
	}
	return out, nil
}
