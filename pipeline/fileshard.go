package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// fileSharded is the part of a source that one rank has by file. Under Pad and
// Drop the elements of all ranks are counted first, so that all have as many.
type fileSharded[T any] struct {
	src FileSharder[T]
	Sharding

	mu      sync.Mutex
	counted bool
	goalIs  int64 // once counted
	fromIs  int
}

// fileShardPosition is where a fileShardCursor stands.
type fileShardPosition struct {
	Inner json.RawMessage `json:"inner,omitempty"` // nil: from the beginning, by count
	Taken uint64          `json:"taken"`           // elements of the files read since their beginning
	Given int64           `json:"given"`           // elements in all
	Goal  int64           `json:"goal"`            // elements of an epoch; −1 is as many as there are
	Rank  int             `json:"rank"`            // whose files are read: another's where this rank has none
	Again bool            `json:"again,omitempty"` // the files are read again, for padding
}

func (s *fileSharded[T]) Open(ctx context.Context, at Start) (Cursor[T], error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	c := &fileShardCursor[T]{fileSharded: s, at: at}
	switch {
	case at.Position != nil:
		if err := json.Unmarshal(at.Position, &c.fileShardPosition); err != nil {
			return nil, fmt.Errorf("%w: position of a shard: %w", ErrState, err)
		}
	case s.Mode == Uneven:
		c.Goal, c.Rank = -1, s.Sharding.Rank
	default:
		var err error
		if c.Goal, c.Rank, err = s.goal(ctx); err != nil {
			return nil, err
		}
	}
	inner := told(c.Inner)
	if err := c.open(ctx, inner); err != nil {
		return nil, err
	}
	if inner == nil {
		if err := discard(ctx, s.src, c.in, c.Taken); err != nil {
			return nil, errors.Join(err, c.in.Close())
		}
	}
	return c, nil
}

// goal counts the elements of all ranks. from is the rank whose files stand in for
// those of a rank that has none.
func (s *fileSharded[T]) goal(ctx context.Context) (goal int64, from int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counted {
		return s.goalIs, s.fromIs, nil
	}
	defer func() { s.counted, s.goalIs, s.fromIs = err == nil, goal, from }()
	counts := make([]int64, s.World)
	for rank := range counts {
		part, err := s.src.ShardFiles(rank, s.World)
		if err != nil {
			return 0, 0, err
		}
		counter, ok := part.(Counter)
		if !ok {
			return 0, 0, fmt.Errorf("%w: %v by file needs a source that counts its elements, %s does not; shard by record, or use Uneven",
				ErrConfig, s.Mode, nameOf(s.src))
		}
		if counts[rank], err = counter.Count(ctx); err != nil {
			return 0, 0, err
		}
	}
	from = s.Rank
	goal = counts[0]
	for _, n := range counts {
		if s.Mode == Pad {
			goal = max(goal, n)
		} else {
			goal = min(goal, n)
		}
	}
	for i := 0; i < s.World && counts[from] == 0; i++ {
		from = (s.Rank + i) % s.World
	}
	return goal, from, nil
}

type fileShardCursor[T any] struct {
	*fileSharded[T]
	fileShardPosition
	at     Start
	in     Cursor[T]
	padded bool
}

// open opens the files of c.Rank.
func (c *fileShardCursor[T]) open(ctx context.Context, inner json.RawMessage) error {
	part, err := c.src.ShardFiles(c.fileShardPosition.Rank, c.World)
	if err != nil {
		return err
	}
	at := c.at
	at.Position = inner
	c.in, err = part.Open(ctx, at)
	return err
}

func (c *fileShardCursor[T]) Next(ctx context.Context) (T, error) {
	var none T
	for {
		if c.Given == c.Goal {
			return none, io.EOF
		}
		if c.in == nil {
			return none, Fatal(fmt.Errorf("%s: the files could not be opened again", nameOf(c.src)))
		}
		v, err := c.in.Next(ctx)
		switch {
		case err == nil:
			c.Taken++
			c.Given++
			if c.padded = c.Again || c.fileShardPosition.Rank != c.Sharding.Rank; c.padded {
				if m, ok := any(v).(PadMarker[T]); ok {
					v = m.AsPadding()
				}
			}
			return v, nil
		case err != io.EOF:
			return none, err
		case c.Goal < 0 || c.Mode == Drop:
			return none, io.EOF
		case c.Taken == 0:
			return none, Fatal(fmt.Errorf("%s: nothing can be read that could be repeated for padding", nameOf(c.src)))
		}
		err = c.Close()
		c.Again, c.Taken = true, 0
		if err = errors.Join(err, c.open(ctx, nil)); err != nil {
			return none, Fatal(err)
		}
	}
}

func (c *fileShardCursor[T]) Close() error {
	in := c.in
	if c.in = nil; in == nil {
		return nil
	}
	return in.Close()
}

func (c *fileShardCursor[T]) Position() any {
	p := c.fileShardPosition
	p.Inner = nil
	if at, ok := c.in.(Positioner); ok {
		p.Inner, _ = json.Marshal(at.Position())
	}
	return p
}

// ordinal implements [placed]: positions are those of this rank alone.
func (c *fileShardCursor[T]) ordinal() (uint64, bool) { return uint64(c.Given - 1), c.padded }

// upcoming implements [placed].
func (c *fileShardCursor[T]) upcoming() uint64 { return uint64(c.Given) }

func (s *fileSharded[T]) Describe() string { return describe(s.src) }
func (s *fileSharded[T]) Name() string     { return nameOf(s.src) }
