package resume

import (
	"errors"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// Worn tells whether the log has more frames than [WithMaxFrames] allows, and half as many bytes
// again as [Log.Compact] would leave, so that this is worth its time: compactions of worn logs
// write at most twice the bytes that were appended.
func (l *Log) Worn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err == nil && l.worn()
}

// A compaction drops half of what it writes or more, and all that is dropped makes the file
// shorter, which only appends make longer.
func (l *Log) worn() bool {
	need := int64(l.hashes/frameHashes) + 2
	left := logHeaderSize + hashSize*int64(l.hashes) + frameHeaderSize*need + l.before + int64(len(l.state))
	return int64(l.frames) > int64(l.conf.maxFrames)+2*need && l.size >= left+left/2
}

// Compact joins the frames before the last generation into as few as can be, and drops all
// states but the last and the one before that generation. It writes a new file, which takes
// the name of the old one once it is on the disk. It is for the time after a commit of the
// tracker: the log then goes with both of its slots. At any time it is safe from a crash. It
// takes time of the size of the log.
//
// An error before the new file takes the name leaves the log as it was, and open: a full disk
// does no harm. After a later one every call returns the same error.
func (l *Log) Compact() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if err := l.compact(); err != nil {
		return fmt.Errorf("resume: log %s: compaction: %w", l.name, err)
	}
	return nil
}

func (l *Log) compact() error {
	f, err := l.conf.create(l.name)
	if err != nil {
		return err
	}
	c := compaction{log: l, to: f}
	if err = c.copy(); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		// It is in the way of nothing but space, and the next compaction removes it.
		_ = l.conf.fs.Remove(unfinished(l.name))
		return err
	}
	// Some systems rename onto no open file.
	err = l.file.Close()
	l.file = nil
	if err == nil {
		err = l.conf.finish(l.name)
	}
	if err == nil {
		l.file, err = l.conf.fs.OpenWrite(l.name)
	}
	if err != nil {
		l.err = fmt.Errorf("resume: log %s: compaction: %w", l.name, err)
		return err
	}
	l.size, l.room, l.frames = c.size, c.size, c.frames
	return nil
}

// compaction writes the frames of a log into another file.
type compaction struct {
	log     *Log
	to      fsys.File
	size    int64
	frames  int
	before  uint64
	pending []text.Hash128 // of the generations before the last
	state   []byte
	joined  bool // the last generation has begun
}

func (c *compaction) copy() error {
	if err := c.write(logHeader()); err != nil {
		return err
	}
	r := newFrameReader(c.log.file, c.log.size)
	seen := uint64(0)
	for {
		var f frame
		err := r.next(&f)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.follows(0, seen)
		}
		if err != nil {
			return err
		}
		seen += uint64(len(f.hashes))
		if f.generation == c.log.last {
			if err := c.finish(); err != nil {
				return err
			}
			if err := c.frame(&f); err != nil {
				return err
			}
			continue
		}
		if len(f.state) > 0 {
			c.state = append(c.state[:0], f.state...)
		}
		for h := f.hashes; len(h) > 0; {
			n := min(len(h), frameHashes-len(c.pending))
			c.pending, h = append(c.pending, h[:n]...), h[n:]
			if len(c.pending) == frameHashes {
				if err := c.join(nil); err != nil {
					return err
				}
			}
		}
	}
	if c.before != c.log.hashes {
		return fmt.Errorf("%w: %d hashes were read, %d were written", ErrDamaged, c.before, c.log.hashes)
	}
	return nil
}

// finish writes what is left of the generations before the last, which have a frame even if
// they have no hashes.
func (c *compaction) finish() error {
	if c.joined || c.log.prior == 0 {
		return nil
	}
	c.joined = true
	return c.join(c.state)
}

// join writes the hashes that wait as a frame of the generation before the last.
func (c *compaction) join(state []byte) error {
	f := frame{generation: c.log.prior, hashes: c.pending, state: state}
	c.pending = c.pending[:0]
	return c.frame(&f)
}

func (c *compaction) frame(f *frame) error {
	f.before = c.before
	c.before += uint64(len(f.hashes))
	c.frames++
	c.log.buf = f.append(c.log.buf[:0])
	return c.write(c.log.buf)
}

func (c *compaction) write(b []byte) error {
	c.size += int64(len(b))
	_, err := c.to.Append(b)
	return err
}
