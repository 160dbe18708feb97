package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ShardMode says what happens when the elements of an epoch do not divide by
// the number of ranks.
type ShardMode uint8

const (
	// Uneven gives the first ranks one element more.
	Uneven ShardMode = iota
	// Pad gives the last ranks an element from the beginning again, marked by
	// [PadMarker], so that all have as many as the first.
	Pad
	// Drop leaves the last elements out, so that all have as many as the last.
	Drop
	shardModeCount
)

func (m ShardMode) String() string {
	if m < shardModeCount {
		return [shardModeCount]string{"uneven", "pad", "drop"}[m]
	}
	return fmt.Sprintf("shardmode(%d)", uint8(m))
}

// Sharding is one rank's part of a data set: the elements whose position in the
// epoch is rank modulo world.
type Sharding struct {
	Rank, World int
	Mode        ShardMode
}

func (s Sharding) validate() error {
	switch {
	case s.World < 1:
		return fmt.Errorf("%w: a world of %d ranks; it needs at least 1", ErrConfig, s.World)
	case s.Rank < 0 || s.Rank >= s.World:
		return fmt.Errorf("%w: rank %d in a world of %d; ranks go from 0 to %d", ErrConfig, s.Rank, s.World, s.World-1)
	case s.Mode >= shardModeCount:
		return fmt.Errorf("%w: %v; use Uneven, Pad or Drop", ErrConfig, s.Mode)
	}
	return nil
}

// Sharded is the part of src that one rank sees, as [Pipeline.Shard] makes it. All of
// src is read and the elements of other ranks are dropped. Elements that cannot be
// read have no position, so that all ranks agree on those of the others; the rank that the
// position would have had reports the error.
//
// Under [Drop] an element is held back until its row of World elements is
// complete. Under [Pad] src is opened again at the end for the element that is
// repeated, the position modulo the length. Memory is one element.
func Sharded[T any](src Source[T], s Sharding) Source[T] { return &shardSource[T]{src, s} }

type shardSource[T any] struct {
	src Source[T]
	Sharding
}

// shardPosition is where a shardCursor stands: before a row, or before the part of a row
// that follows this rank's element.
type shardPosition struct {
	Inner json.RawMessage `json:"inner,omitempty"` // nil: from the beginning, by count
	Count uint64          `json:"count"`           // elements of src before it
	Given bool            `json:"given,omitempty"` // the row's element was given out as padding: nothing follows
}

func (s *shardSource[T]) Open(ctx context.Context, at Start) (Cursor[T], error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	c := &shardCursor[T]{shardSource: s, at: at}
	var from shardPosition
	if at.Position != nil {
		if err := json.Unmarshal(at.Position, &from); err != nil {
			return nil, fmt.Errorf("%w: position of a shard: %w", ErrState, err)
		}
		if from.Given {
			c.count, c.ended = from.Count, true
			return c, nil
		}
	}
	from.Inner = told(from.Inner)
	at.Position = from.Inner
	inner, err := s.src.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	c.in = inner
	if from.Inner == nil {
		if err := discard(ctx, s.src, inner, from.Count); err != nil {
			return nil, errors.Join(err, inner.Close())
		}
	}
	c.count = from.Count
	return c, nil
}

// failures counts errors that are passed over because another rank reports them, or
// has reported them before.
type failures int

// pass passes an error over, unless there are too many in a row or ctx is done.
func (f *failures) pass(ctx context.Context, src any, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if *f++; *f >= defaultErrorsInRow {
		return Fatal(fmt.Errorf("%w: %d at %s; the last: %w", ErrTooManyErrors, *f, nameOf(src), err))
	}
	return nil
}

// discard reads n elements of src and drops them; elements that cannot be read do not
// count.
func discard[T any](ctx context.Context, src any, c Cursor[T], n uint64) error {
	var failed failures
	for n > 0 {
		switch _, err := c.Next(ctx); {
		case err == nil:
			n--
			failed = 0
		case err == io.EOF:
			return fmt.Errorf("%w: the source is shorter than when the state was taken: %d elements are missing", ErrStateMismatch, n)
		case isFatal(ctx, err):
			return err
		default:
			if err := failed.pass(ctx, src, err); err != nil {
				return err
			}
		}
	}
	return nil
}

type shardCursor[T any] struct {
	*shardSource[T]
	at     Start
	in     Cursor[T] // nil if ended from the start
	count  uint64    // elements of src taken
	ended  bool
	failed failures

	lastOrdinal uint64 // position of the element that Next returned
	lastPadded  bool
}

// Next returns the element of the next row. The rest of a row is read by the
// next call, except under Drop.
func (c *shardCursor[T]) Next(ctx context.Context) (T, error) {
	var none, own T
	if c.ended {
		return none, io.EOF
	}
	world, rank := uint64(c.World), uint64(c.Rank)
	have := false // own is this rank's element of the row
	for {
		v, err := c.in.Next(ctx)
		switch {
		case err == io.EOF:
			c.ended = true
			return c.end(ctx, have)
		case err != nil && !isFatal(ctx, err) && c.count%world != rank:
			if err := c.failed.pass(ctx, c.src, err); err != nil { // another rank reports it
				return none, err
			}
			continue
		case err != nil:
			return none, err
		}
		c.failed = 0
		p := c.count
		c.count++
		if p%world == rank {
			own, have = v, true
			if c.Mode != Drop {
				c.lastOrdinal, c.lastPadded = p, false
				return own, nil
			}
		}
		if have && c.count%world == 0 { // the row is complete
			c.lastOrdinal, c.lastPadded = c.count-world+rank, false
			return own, nil
		}
	}
}

// end pads the last row if this rank has no element in it.
func (c *shardCursor[T]) end(ctx context.Context, have bool) (T, error) {
	var none T
	world, rank := uint64(c.World), uint64(c.Rank)
	in := c.count % world // elements of src in the last row
	if c.Mode != Pad || have || in == 0 || rank < in {
		return none, io.EOF
	}
	p := c.count - in + rank
	at := c.at
	at.Position = nil
	again, err := c.src.Open(ctx, at)
	if err != nil {
		return none, Fatal(err)
	}
	defer again.Close()
	if err := discard(ctx, c.src, again, p%c.count); err != nil {
		return none, Fatal(err)
	}
	var failed failures
	v, err := again.Next(ctx)
	for err != nil && err != io.EOF && !isFatal(ctx, err) {
		if err = failed.pass(ctx, c.src, err); err == nil {
			v, err = again.Next(ctx)
		}
	}
	if err != nil {
		return none, Fatal(fmt.Errorf("element %d for padding: %w", p%c.count, err))
	}
	c.lastOrdinal, c.lastPadded = p, true
	if m, ok := any(v).(PadMarker[T]); ok {
		v = m.AsPadding()
	}
	return v, nil
}

func (c *shardCursor[T]) Close() error {
	if c.in == nil {
		return nil
	}
	return c.in.Close()
}

func (c *shardCursor[T]) Position() any {
	p := shardPosition{Count: c.count, Given: c.ended}
	if at, ok := c.in.(Positioner); ok && !c.ended {
		p.Inner, _ = json.Marshal(at.Position())
	}
	return p
}

// ordinal implements [placed].
func (c *shardCursor[T]) ordinal() (uint64, bool) { return c.lastOrdinal, c.lastPadded }

// upcoming implements [placed].
func (c *shardCursor[T]) upcoming() uint64 { return c.count }

// placed is a cursor that tells the positions of elements in the epoch, all ranks
// counted.
type placed interface {
	// ordinal is the position of the element that was returned last; padded says that
	// it was there before.
	ordinal() (position uint64, padded bool)
	// upcoming is the position that an element would have had instead of an error.
	upcoming() uint64
}

func (s *shardSource[T]) Describe() string { return describe(s.src) }
func (s *shardSource[T]) Name() string     { return nameOf(s.src) }

// Count implements [Counter] if the source does.
func (s *shardSource[T]) Count(ctx context.Context) (int64, error) {
	c, ok := s.src.(Counter)
	if !ok {
		return 0, fmt.Errorf("%w: the source %s cannot count its elements", ErrConfig, nameOf(s.src))
	}
	n, err := c.Count(ctx)
	world, rank := int64(s.World), int64(s.Rank)
	switch {
	case s.Mode == Drop:
		return n / world, err
	case s.Mode == Pad:
		return (n + world - 1) / world, err
	}
	return (n - rank + world - 1) / world, err
}
