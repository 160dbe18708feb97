package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/pipeline"
)

// RingOption changes a [Ring].
type RingOption func(*ringConfig)

type ringConfig struct{ laps int64 }

// WithLaps sets how often a ring is gone through in an epoch; default 0, which is without
// end; range 0 to 2⁶³−1.
func WithLaps(n int64) RingOption { return func(c *ringConfig) { c.laps = n } }

// RingSource is a small data set that is served over and over: for benchmarks, and for
// tests whether a model can learn it by heart. It is a [pipeline.Source] whose
// cursors tell positions.
type RingSource[T any] struct {
	src pipeline.Source[T]
	n   int // elements of src in the ring; 0 is all, and they are in memory
	ringConfig
}

// Ring returns the source of items, again and again. They are not copied. An epoch does
// not end unless [WithLaps] says so, or there are no items. The error wraps
// [ErrOption].
func Ring[T any](items []T, opts ...RingOption) (*RingSource[T], error) {
	return newRing[T](Memory(items), len(items), opts)
}

// RingOf returns the source of the first n elements of src, again and again; n from 1 to
// 2³¹−1. They are read in the first lap of an epoch and kept in memory; errors about elements are
// passed on then, and those elements do not count and do not come again. Every
// epoch, and every resumed pipeline, reads them as in epoch 0. The error wraps
// [ErrOption].
func RingOf[T any](src pipeline.Source[T], n int, opts ...RingOption) (*RingSource[T], error) {
	if src == nil || n < 1 || int64(n) > 1<<31-1 {
		return nil, fmt.Errorf("%w: RingOf the first %d elements of %s", ErrOption, n, nameOf(src))
	}
	return newRing(src, n, opts)
}

func newRing[T any](src pipeline.Source[T], n int, opts []RingOption) (*RingSource[T], error) {
	r := &RingSource[T]{src: src, n: n}
	for _, o := range opts {
		o(&r.ringConfig)
	}
	if r.laps < 0 {
		return nil, fmt.Errorf("%w: WithLaps(%d) is negative", ErrOption, r.laps)
	}
	return r, nil
}

// ringPosition is where a ringCursor stands. Read and Items are of the first lap
// of a ring of another source.
type ringPosition struct {
	Lap   int64 `json:"lap,omitempty"`
	Index int64 `json:"index,omitempty"` // of the next element in the lap
	Read  int64 `json:"read,omitempty"`  // elements read, and errors about elements
	Items int64 `json:"items,omitempty"` // elements read
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition], or is that of the source
// within.
func (r *RingSource[T]) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	var p ringPosition
	if at.Position != nil {
		if err := decodePosition(at.Position, &p); err != nil {
			return nil, err
		}
	}
	c := &ringCursor[T]{ring: r, lap: p.Lap}
	if m, ok := r.src.(*MemorySource[T]); ok && r.n >= len(m.items) {
		c.items, c.whole = m.items, true
		p.Items += int64(len(m.items)) // more is refused below
	} else {
		in, err := openNested(ctx, r.src, pipeline.Start{Seed: at.Seed}, nestedPosition{})
		if err != nil {
			return nil, err
		}
		c.in = in
	}
	if err := c.seek(ctx, p); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Count implements [pipeline.Counter]. The error wraps [ErrNoCount] if the ring is
// endless, or made of a source that does not count.
func (r *RingSource[T]) Count(ctx context.Context) (int64, error) {
	n, err := countAll(ctx, []pipeline.Source[T]{r.src})
	n = min(n, int64(r.n))
	switch {
	case err != nil || n == 0:
		return 0, err
	case r.laps == 0:
		return 0, fmt.Errorf("%w: an endless ring; see WithLaps", ErrNoCount)
	case n*r.laps/r.laps != n:
		return 0, fmt.Errorf("%w: %d laps of %d", ErrNoCount, r.laps, n)
	}
	return n * r.laps, nil
}

// Describe implements [pipeline.Describer].
func (r *RingSource[T]) Describe() string {
	return fmt.Sprintf("ring of %d, %d laps, of %s", r.n, r.laps, describe(r.src))
}

// Name implements [pipeline.Named].
func (r *RingSource[T]) Name() string { return "ring" }

type ringCursor[T any] struct {
	ring  *RingSource[T]
	in    *nested[T] // in the first lap
	items []T
	whole bool // items are all there are
	lap   int64
	at    int // in items
}

// seek reads what is needed to stand at p.
func (c *ringCursor[T]) seek(ctx context.Context, p ringPosition) error {
	var last error
	for c.in != nil && c.in.read < p.Read && !c.whole {
		if _, err := c.fill(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			last = err
		}
	}
	if c.in != nil && c.in.read != p.Read || int64(len(c.items)) != p.Items {
		return errors.Join(fmt.Errorf("%w: the ring had %d elements of the first %d, now %d", ErrPosition, p.Items, p.Read, len(c.items)), last)
	}
	laps := c.ring.laps
	switch {
	case p.Lap < 0, p.Lap > 0 && p.Items == 0, laps > 0 && p.Lap > laps,
		p.Index < 0, p.Index > p.Items, laps > 0 && p.Lap == laps && p.Index > 0,
		p.Lap == 0 && c.in != nil && p.Index != p.Items:
		return fmt.Errorf("%w: element %d of %d in lap %d of %d", ErrPosition, p.Index, p.Items, p.Lap, laps)
	}
	c.at = int(p.Index)
	c.whole = c.whole || p.Lap > 0
	return nil
}

// fill reads the next element of the first lap into items.
func (c *ringCursor[T]) fill(ctx context.Context) (v T, err error) {
	if len(c.items) == c.ring.n {
		err = io.EOF
	} else if v, err = c.in.next(ctx); err == nil {
		c.items = append(c.items, v)
	}
	c.whole = c.whole || err == io.EOF
	return v, err
}

func (c *ringCursor[T]) Next(ctx context.Context) (v T, err error) {
	if !c.whole {
		v, err = c.fill(ctx)
		c.at = len(c.items)
		if err != io.EOF {
			return v, err
		}
	}
	if c.at == len(c.items) && c.at > 0 && !c.done() {
		c.lap++
		c.at = 0
	}
	if len(c.items) == 0 || c.done() {
		return v, io.EOF
	}
	v = c.items[c.at]
	c.at++
	return v, nil
}

// done reports whether all laps are over.
func (c *ringCursor[T]) done() bool { return c.ring.laps > 0 && c.lap >= c.ring.laps }

func (c *ringCursor[T]) Position() any {
	p := ringPosition{Lap: c.lap, Index: int64(c.at)}
	if c.in != nil {
		p.Read, p.Items = c.in.read, int64(len(c.items))
	}
	return p
}

// Close implements [pipeline.Cursor].
func (c *ringCursor[T]) Close() error { return c.in.close() }
