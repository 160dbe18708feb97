package source

import (
	"context"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Indexed is a data set whose elements can be had by their index.
type Indexed[T any] interface {
	Len() int64
	// At returns element i, from 0 to Len()−1. It may be called by several
	// goroutines at once. Its error is about the one element, unless marked by
	// [pipeline.Fatal].
	At(i int64) (T, error)
}

// SamplerOption changes a [DistributedSampler].
type SamplerOption func(*samplerConfig)

type samplerConfig struct {
	shuffle bool
	mode    pipeline.ShardMode
}

// WithShuffle says whether the data set is shuffled as a whole, anew each epoch; default
// true.
func WithShuffle(on bool) SamplerOption { return func(c *samplerConfig) { c.shuffle = on } }

// WithShardMode says what happens when the elements do not divide by the number
// of ranks; default [pipeline.Pad].
func WithShardMode(m pipeline.ShardMode) SamplerOption {
	return func(c *samplerConfig) { c.mode = m }
}

// SamplerSource is the part of an [Indexed] data set that one rank sees: a
// [pipeline.Source] that counts. Its cursors tell positions, and are opened there
// in constant time.
type SamplerSource[T any] struct {
	src         Indexed[T]
	rank, world int64
	samplerConfig
}

// DistributedSampler returns the part of src that rank of world sees. All elements are
// put in an order that is random over the whole data set, the same on every rank and another
// each epoch: a function of [pipeline.Start] that takes constant memory, not a list. Rank r
// takes the places r, r+world, r+2·world, … of it.
//
//	n = 10, world = 4     rank 0   rank 1   rank 2   rank 3
//	                      p(0)     p(1)     p(2)     p(3)
//	                      p(4)     p(5)     p(6)     p(7)
//	                      p(8)     p(9)     p(0)*    p(1)*     Pad
//	                      p(8)     p(9)                        Uneven
//	                                                           Drop
//
// Under [pipeline.Pad] the order is begun again where a row lacks elements; those (*) are
// marked if they implement [pipeline.PadMarker]. Only elements of the rank are
// asked for. Do not shard the pipeline once more.
//
// The error wraps [ErrOption].
func DistributedSampler[T any](src Indexed[T], rank, world int, opts ...SamplerOption) (*SamplerSource[T], error) {
	s := &SamplerSource[T]{src: src, rank: int64(rank), world: int64(world)}
	s.samplerConfig = samplerConfig{shuffle: true, mode: pipeline.Pad}
	for _, o := range opts {
		o(&s.samplerConfig)
	}
	if src == nil {
		return nil, fmt.Errorf("%w: DistributedSampler of nil", ErrOption)
	}
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	switch s.mode {
	case pipeline.Uneven, pipeline.Pad, pipeline.Drop:
	default:
		return nil, fmt.Errorf("%w: WithShardMode(%v) is not Uneven, Pad or Drop", ErrOption, s.mode)
	}
	return s, nil
}

// Len returns how many elements the rank sees in an epoch, padding included.
func (s *SamplerSource[T]) Len() int64 {
	n := max(s.src.Len(), 0)
	length := n / s.world
	switch rest := n % s.world; {
	case s.mode == pipeline.Drop:
	case s.mode == pipeline.Pad && rest > 0, s.rank < rest:
		length++
	}
	return length
}

// Padded returns how many of them are padding: 0 or 1.
func (s *SamplerSource[T]) Padded() int64 {
	rest := max(s.src.Len(), 0) % s.world
	if s.mode == pipeline.Pad && rest > 0 && s.rank >= rest {
		return 1
	}
	return 0
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition].
func (s *SamplerSource[T]) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	c := &samplerCursor[T]{src: s, n: max(s.src.Len(), 0), length: s.Len()}
	var err error
	if c.at, err = openIndex(at, c.length); err != nil {
		return nil, err
	}
	if s.shuffle {
		c.order = newPermutation(c.n, at.Seed, at.Epoch)
	}
	return c, nil
}

// Count implements [pipeline.Counter].
func (s *SamplerSource[T]) Count(context.Context) (int64, error) { return s.Len(), nil }

// Describe implements [pipeline.Describer].
func (s *SamplerSource[T]) Describe() string {
	return fmt.Sprintf("rank %d of %d (%v, shuffle %t) of %s", s.rank, s.world, s.mode, s.shuffle, describe(s.src))
}

// Name implements [pipeline.Named].
func (s *SamplerSource[T]) Name() string { return "distributed" }

type samplerCursor[T any] struct {
	src    *SamplerSource[T]
	order  *permutation // nil: as they are
	n      int64
	length int64
	at     int64
}

func (c *samplerCursor[T]) Next(context.Context) (T, error) {
	if c.at == c.length {
		var none T
		return none, io.EOF
	}
	// The last place of a padded row may be beyond the largest int64.
	place := uint64(c.at)*uint64(c.src.world) + uint64(c.src.rank)
	c.at++
	padded := place >= uint64(c.n)
	if padded {
		place %= uint64(c.n)
	}
	if c.order != nil {
		place = c.order.at(place)
	}
	v, err := c.src.src.At(int64(place))
	if err != nil || !padded {
		return v, err
	}
	if m, ok := any(v).(pipeline.PadMarker[T]); ok {
		v = m.AsPadding()
	}
	return v, nil
}

func (c *samplerCursor[T]) Position() any { return indexPosition{c.at} }
func (c *samplerCursor[T]) Close() error  { return nil }
