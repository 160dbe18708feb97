package resume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// Option changes how files are opened.
type Option func(*config)

type config struct {
	fs        fsys.FS
	holder    string
	maxFrames int
	// A log keeps that many bytes free after so many appends.
	reserve      int64
	reserveAfter int

	// Of a resumable pipeline.
	options map[string]string
	dedup   []text.DedupOption
	known   []uint64
	tail    *uint32
	extra   func() (any, error)
	before  func() (any, error)
	where   func(pipeline.SourceMark) Coordinate
}

// WithFS sets the files. Default those of the operating system; others are for tests.
func WithFS(files fsys.FS) Option { return func(c *config) { c.fs = files } }

// WithHolder sets how this writer is named to others that find a tracker locked. Default the
// number of the process and the name of the machine.
func WithHolder(name string) Option { return func(c *config) { c.holder = name } }

// WithMaxFrames sets how many frames a log may have, beyond twice those that its hashes need,
// until it is [Log.Worn] and is compacted when it is opened, if enough of it is headers and old
// states. Default 4096, which with a state of 2.5 KB in each take 10 MB; at least 1.
func WithMaxFrames(n int) Option { return func(c *config) { c.maxFrames = max(1, n) } }

// WithConfig sets what the output of a [ResumablePipeline] depends on, by name. The folder keeps
// it, and is refused with [ErrConfig] and the differences to who brings another one. Default
// none; what the pipeline itself depends on is seen without it.
func WithConfig(options map[string]string) Option {
	return func(c *config) { c.options = options }
}

// WithDedupOptions sets how the sets of a [Dedup] work.
func WithDedupOptions(opts ...text.DedupOption) Option {
	return func(c *config) { c.dedup = opts }
}

// WithKnown begins a new folder with hashes that another program knew: the XXH3-64 of texts, in
// any order, which count as duplicates in the first epoch. They are kept in the folder, 8 bytes
// each there and in memory. A folder that is not new is refused with [ErrOrder].
func WithKnown(hashes []uint64) Option { return func(c *config) { c.known = hashes } }

// WithExtra sets a function that is called when a commit begins, by who calls
// [ResumablePipeline.Commit] or [ResumablePipeline.CommitLater]. What it returns, unless that is
// nil, is kept with the commit as JSON, see [Start]: names and sizes of files, say. After an
// error of it nothing is committed, and Commit may be called again.
func WithExtra(f func() (any, error)) Option { return func(c *config) { c.extra = f } }

// WithTail sets what [Output.Tail] was when the size of an output was committed. One with other
// bytes there is refused with [ErrOutput].
func WithTail(sum uint32) Option { return func(c *config) { c.tail = &sum } }

// WithBeforeCommit sets a function like that of [WithExtra], which is called after that. When it
// returns, all output of what the consumer was given when the commit began must be on the disk.
// CommitLater calls it in the background.
func WithBeforeCommit(f func() (any, error)) Option { return func(c *config) { c.before = f } }

// WithCoordinate sets how a coordinate is made of the place of the source. It is for people and
// other programs; the run goes on by the state of the pipeline. Default [CoordinateOf].
func WithCoordinate(f func(pipeline.SourceMark) Coordinate) Option {
	return func(c *config) { c.where = f }
}

// withReserve lets tests keep room that is small, from the first append on.
func withReserve(n int64) Option { return func(c *config) { c.reserve, c.reserveAfter = n, 0 } }

func configure(opts []Option) config {
	c := config{fs: fsys.OS{}, maxFrames: 1 << 12, reserve: logReserve, reserveAfter: reserveAfter, where: CoordinateOf}
	for _, o := range opts {
		o(&c)
	}
	if c.holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "this machine"
		}
		c.holder = fmt.Sprintf("process %d on %s", os.Getpid(), host)
	}
	return c
}

// exists tells whether there is a file.
func (c config) exists(name string) (bool, error) {
	f, err := c.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// unfinished is the name of a file that is being made.
func unfinished(name string) string { return name + ".new" }

// create makes a file under another name, in place of what a crash has left there.
func (c config) create(name string) (fsys.File, error) {
	if err := c.fs.Remove(unfinished(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return c.fs.Create(unfinished(name))
}

// finish gives a file that is whole and synced its name.
func (c config) finish(name string) error {
	if err := c.fs.Rename(unfinished(name), name); err != nil {
		return err
	}
	return c.fs.SyncDir(filepath.Dir(name))
}

// makeFile makes a file that is there as a whole or not at all.
func (c config) makeFile(name string, content []byte) error {
	f, err := c.create(name)
	if err != nil {
		return err
	}
	_, err = f.Append(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return c.finish(name)
}

// foreign names the kind of a file by its first bytes, if it is known and not the one that is
// wanted.
func foreign(head []byte, want string) string {
	for _, kind := range []struct{ magic, name string }{
		{luminamoonMagic, "a luminamoon checkpoint; import it"},
		{slotMagic, "a tracker"},
		{logMagic, "a dedup log"},
	} {
		if len(head) >= 4 && string(head[:4]) == kind.magic && kind.magic != want {
			return kind.name
		}
	}
	return ""
}
