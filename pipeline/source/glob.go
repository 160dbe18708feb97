package source

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/zeebo/xxh3"
)

// File is a file that was listed.
type File struct {
	Path   string
	Size   int64 // in bytes, when it was listed
	Padded bool  // given out once more to make shards equal; see [pipeline.Pad]
}

// AsPadding implements [pipeline.PadMarker].
func (f File) AsPadding() File { f.Padded = true; return f }

// ListOption changes how files are listed.
type ListOption func(*listConfig)

type listConfig struct {
	extensions []string // lower case, with the dot; nil is all
	readDir    func(dir string) ([]fs.DirEntry, error)
}

func newListConfig(opts []ListOption, extensions ...string) (listConfig, error) {
	c := listConfig{extensions: extensions, readDir: os.ReadDir}
	for _, o := range opts {
		o(&c)
	}
	if c.extensions != nil && len(c.extensions) == 0 {
		return c, fmt.Errorf("%w: WithExtensions names none", ErrOption)
	}
	for i, e := range c.extensions {
		e = "." + strings.ToLower(strings.TrimPrefix(e, "."))
		if e == "." || strings.ContainsAny(e, `/\`) {
			return c, fmt.Errorf("%w: WithExtensions(%q) is not the end of a file name", ErrOption, c.extensions[i])
		}
		c.extensions[i] = e
	}
	return c, nil
}

// WithExtensions sets how the names of files that are taken from a folder may end,
// with or without the dot, in lower or upper case: "png", ".tar.gz". The default
// depends on the source: all files, or those of its kind.
func WithExtensions(extensions ...string) ListOption {
	return func(c *listConfig) { c.extensions = append([]string{}, extensions...) }
}

// takes reports whether a file of a folder is taken.
func (c *listConfig) takes(name string) bool {
	if c.extensions == nil {
		return true
	}
	name = strings.ToLower(name)
	for _, e := range c.extensions {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

// GlobSource is a list of files: a [pipeline.Source] that counts and can be split
// by file, and an [Indexed]. Its cursors tell positions, and are opened there in
// constant time.
type GlobSource struct{ files []File }

// Glob lists the files that patterns stand for.
//
//   - A file is taken as it is.
//   - A folder stands for the files in it and in its folders; see [WithExtensions].
//     Names that begin with a dot are skipped, and so is what is not a regular
//     file. Links to files are followed, links to folders below the pattern are not.
//   - Anything else with *, ? or [ in it is a pattern of [filepath.Match]. Names that
//     begin with a dot must be matched by a dot. Each match is taken as if it
//     had been named; ** has no special meaning, name a folder instead.
//
// The list is sorted by path, byte by byte with / as separator, and has each file
// once, links resolved. It is made here, once: all epochs have the same files, and
// all ranks that see the same folder. No file is opened; see [ReadFile].
//
// The error wraps [ErrNoInput] when a pattern stands for nothing or is none (then
// it wraps [filepath.ErrBadPattern] also), or [ErrOption].
func Glob(patterns []string, opts ...ListOption) (*GlobSource, error) {
	c, err := newListConfig(opts)
	if err != nil {
		return nil, err
	}
	files, err := c.list(patterns)
	if err != nil {
		return nil, err
	}
	return &GlobSource{files}, nil
}

// Files returns the list. It must not be changed.
func (g *GlobSource) Files() []File { return g.files }

// Len returns the number of files.
func (g *GlobSource) Len() int64 { return int64(len(g.files)) }

// At returns file i. The error wraps [ErrIndex].
func (g *GlobSource) At(i int64) (File, error) { return itemAt(g.files, i) }

// Open implements [pipeline.Source]. The error wraps [ErrPosition].
func (g *GlobSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[File], error) {
	return openSlice(g.files, at)
}

// Count implements [pipeline.Counter].
func (g *GlobSource) Count(context.Context) (int64, error) { return g.Len(), nil }

// ShardFiles implements [pipeline.FileSharder]: rank has the files i with i mod world =
// rank, perhaps none. The error wraps [ErrOption].
func (g *GlobSource) ShardFiles(rank, world int) (pipeline.Source[File], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return &GlobSource{shardOf(g.files, rank, world)}, nil
}

// Describe implements [pipeline.Describer].
func (g *GlobSource) Describe() string {
	return "glob of " + describePaths(len(g.files), func(i int) string { return g.files[i].Path })
}

// Name implements [pipeline.Named].
func (g *GlobSource) Name() string { return "glob" }

// list makes the sorted list of regular files.
func (c *listConfig) list(patterns []string) ([]File, error) {
	var e expansion
	for _, p := range patterns {
		n := len(e.found)
		if err := c.argument(&e, p); err != nil {
			return nil, err
		}
		if len(e.found) == n {
			return nil, fmt.Errorf("%w: there is no file%s in %s", ErrNoInput, c.kind(), p)
		}
	}
	if len(e.found) == 0 {
		return nil, fmt.Errorf("%w: name a file, a folder or a pattern", ErrNoInput)
	}
	inputs, err := e.unique()
	if err != nil {
		return nil, err
	}
	files := make([]File, len(inputs))
	for i, in := range inputs {
		info, err := os.Stat(in.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoInput, err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: %s is not a regular file", ErrNoInput, in.Path)
		}
		files[i] = File{Path: in.Path, Size: info.Size()}
	}
	return files, nil
}

// kind says for messages which files are taken from folders.
func (c *listConfig) kind() string {
	if c.extensions == nil {
		return ""
	}
	return " that ends with " + strings.Join(c.extensions, ", ")
}

// argument adds what one pattern stands for.
func (c *listConfig) argument(e *expansion, arg string) error {
	if arg == "" {
		return fmt.Errorf("%w: a pattern is empty", ErrNoInput)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil:
		return c.named(e, arg, info)
	case !strings.ContainsAny(arg, "*?["):
		return fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	matches, err := filepath.Glob(arg)
	if err != nil {
		return fmt.Errorf("%w: pattern %s: %w", ErrNoInput, arg, err)
	}
	hidden := strings.HasPrefix(filepath.Base(arg), ".")
	for _, m := range matches {
		if strings.HasPrefix(filepath.Base(m), ".") && !hidden {
			continue
		}
		info, err := os.Stat(m)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoInput, err)
		}
		if err := c.named(e, m, info); err != nil {
			return err
		}
	}
	return nil
}

// named adds a file or the files of a folder.
func (c *listConfig) named(e *expansion, path string, info fs.FileInfo) error {
	path = filepath.Clean(path)
	if info.IsDir() {
		return c.folder(e, path)
	}
	if path == Stdin {
		path = "." + string(filepath.Separator) + path // a file of that name
	}
	e.found = append(e.found, Input{Path: path})
	return nil
}

func (c *listConfig) folder(e *expansion, dir string) error {
	entries, err := c.readDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
			continue
		case entry.IsDir():
			if err := c.folder(e, path); err != nil {
				return err
			}
			continue
		case !c.takes(entry.Name()):
			continue
		}
		regular, err := isRegular(path, entry)
		if err != nil {
			return err
		}
		if regular {
			e.found = append(e.found, Input{Path: path})
		}
	}
	return nil
}

// isRegular reports whether an entry of a folder is a regular file or a link to one.
func isRegular(path string, entry fs.DirEntry) (bool, error) {
	if entry.Type().IsRegular() {
		return true, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	return info.Mode().IsRegular(), nil
}

// maxPathsDescribed is how many paths a description lists.
const maxPathsDescribed = 8

// describePaths tells n paths on one line: all if they are few, else a hash of them.
func describePaths(n int, path func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files", n)
	if n <= maxPathsDescribed {
		for i := range n {
			fmt.Fprintf(&b, " %q", filepath.ToSlash(path(i)))
		}
		return b.String()
	}
	var h xxh3.Hasher
	for i := range n {
		p := filepath.ToSlash(path(i))
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		_, _ = h.Write(length[:])
		_, _ = h.WriteString(p)
	}
	fmt.Fprintf(&b, " %q to %q, hash %016x", filepath.ToSlash(path(0)), filepath.ToSlash(path(n-1)), h.Sum64())
	return b.String()
}
