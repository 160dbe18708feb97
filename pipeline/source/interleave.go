package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline"
)

// InterleaveSource takes elements from several sources by turns. It is a
// [pipeline.Source] that counts and can be split by file, a source being one. Its cursors
// tell positions.
type InterleaveSource[T any] struct {
	n       int
	sources []pipeline.Source[T]
}

// maxInterleave is how many cursors may be open at once.
const maxInterleave = 1 << 16

// Interleave returns the source that has n of the sources open at once and takes one element
// of each in turn. One that ends is replaced by the next of the sources in the same
// turn:
//
//	n = 2    a: 1    b: 2 3 4    c: 5 6    ──▸    1 2 5 3 6 4
//
// So files with their own subjects come mixed, and the order is always the same. Sources are
// opened when their turn comes; one that cannot be opened ends the stream. An error
// about an element takes its turn, and its source goes on. Each source has a seed of its own.
//
// n is from 1 to 65,536. The error wraps [ErrOption].
func Interleave[T any](n int, sources ...pipeline.Source[T]) (*InterleaveSource[T], error) {
	if n < 1 || n > maxInterleave {
		return nil, fmt.Errorf("%w: Interleave of %d at once is not from 1 to %d", ErrOption, n, maxInterleave)
	}
	return &InterleaveSource[T]{n, slices.Clone(sources)}, checkSources("Interleave", sources)
}

// Count implements [pipeline.Counter]. The error wraps [ErrNoCount] if a source does
// not count.
func (s *InterleaveSource[T]) Count(ctx context.Context) (int64, error) {
	return countAll(ctx, s.sources)
}

// ShardFiles implements [pipeline.FileSharder]: rank has the sources i with i mod world
// = rank, perhaps none. The error wraps [ErrOption].
func (s *InterleaveSource[T]) ShardFiles(rank, world int) (pipeline.Source[T], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return &InterleaveSource[T]{s.n, shardOf(s.sources, rank, world)}, nil
}

// Describe implements [pipeline.Describer].
func (s *InterleaveSource[T]) Describe() string {
	return fmt.Sprintf("interleave %d of %d: ", s.n, len(s.sources)) + describeAll(s.sources, func(int) string { return "" })
}

// Name implements [pipeline.Named].
func (s *InterleaveSource[T]) Name() string { return "interleave" }

// interleavePosition is where an interleaveCursor stands.
type interleavePosition struct {
	Turn  int                  `json:"turn"`            // place in Slots
	Begun int                  `json:"begun"`           // sources that have been opened
	Slots []interleaveSlotMark `json:"slots,omitempty"` // those that have not ended
}

type interleaveSlotMark struct {
	Source int            `json:"source"`
	At     nestedPosition `json:"at"`
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition], or is that of a
// source.
func (s *InterleaveSource[T]) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	c := &interleaveCursor[T]{src: s, start: at}
	if at.Position == nil {
		return c, nil
	}
	var p interleavePosition
	if err := decodePosition(at.Position, &p); err != nil {
		return nil, err
	}
	if p.Begun < 0 || p.Begun > len(s.sources) || len(p.Slots) > min(s.n, p.Begun) || p.Turn < 0 || p.Turn > len(p.Slots) ||
		len(p.Slots) < s.n && p.Begun < len(s.sources) && p.Turn != len(p.Slots) {
		return nil, fmt.Errorf("%w: turn %d of %d open ones, %d of %d begun", ErrPosition, p.Turn, len(p.Slots), p.Begun, len(s.sources))
	}
	seen := make(map[int]bool, len(p.Slots))
	for _, slot := range p.Slots {
		if slot.Source < 0 || slot.Source >= p.Begun || seen[slot.Source] {
			return nil, errors.Join(fmt.Errorf("%w: source %d is open, %d were begun", ErrPosition, slot.Source, p.Begun), c.Close())
		}
		seen[slot.Source] = true
		in, err := c.open(ctx, slot.Source, slot.At)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.slots = append(c.slots, interleaveSlot[T]{in, slot.Source})
	}
	c.turn, c.begun = p.Turn, p.Begun
	return c, nil
}

// interleaveCursor goes round its slots. In the first round there are fewer than n,
// and a turn behind the last one opens another; so does a turn whose source has
// ended. When no source is left the slots become fewer.
type interleaveCursor[T any] struct {
	src     *InterleaveSource[T]
	start   pipeline.Start
	slots   []interleaveSlot[T]
	turn    int   // 0 to len(slots)
	begun   int   // sources opened
	failed  error // ended the stream
	closing error // of cursors that were closed on the way
}

type interleaveSlot[T any] struct {
	in     *nested[T]
	source int
}

func (c *interleaveCursor[T]) open(ctx context.Context, source int, at nestedPosition) (*nested[T], error) {
	start := c.start
	start.Seed = deriveSeed(start.Seed, seedInterleaveChild, uint64(source))
	in, err := openNested(ctx, c.src.sources[source], start, at)
	if err != nil {
		return nil, fmt.Errorf("source %d of interleave: %w", source, err)
	}
	return in, nil
}

func (c *interleaveCursor[T]) Next(ctx context.Context) (v T, err error) {
	for c.failed == nil {
		more := c.begun < len(c.src.sources)
		switch {
		case c.turn < len(c.slots):
		case more && len(c.slots) < c.src.n:
			c.begin(ctx)
			continue
		case len(c.slots) == 0:
			return v, io.EOF
		default:
			c.turn = 0
		}
		slot := c.slots[c.turn]
		if v, err = slot.in.next(ctx); err != io.EOF {
			c.turn++
			return v, err
		}
		c.closing = errors.Join(c.closing, slot.in.close())
		c.slots = slices.Delete(c.slots, c.turn, c.turn+1)
		if more {
			c.begin(ctx)
		}
	}
	return v, c.failed
}

// begin opens the next source where the turn is.
func (c *interleaveCursor[T]) begin(ctx context.Context) {
	in, err := c.open(ctx, c.begun, nestedPosition{})
	if err = errors.Join(ctx.Err(), err); err != nil {
		c.failed = pipeline.Fatal(errors.Join(err, in.close()))
		return
	}
	c.slots = slices.Insert(c.slots, c.turn, interleaveSlot[T]{in, c.begun})
	c.begun++
}

func (c *interleaveCursor[T]) Position() any {
	p := interleavePosition{Turn: c.turn, Begun: c.begun, Slots: make([]interleaveSlotMark, len(c.slots))}
	for i, slot := range c.slots {
		p.Slots[i] = interleaveSlotMark{slot.source, slot.in.position()}
	}
	return p
}

// Close implements [pipeline.Cursor].
func (c *interleaveCursor[T]) Close() error {
	err := c.closing
	for _, slot := range c.slots {
		err = errors.Join(err, slot.in.close())
	}
	return err
}
