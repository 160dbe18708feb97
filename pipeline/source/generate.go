package source

import (
	"context"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/pipeline"
)

// GenerateSource is a data set whose elements are made from their index: a
// [pipeline.Source] that counts, and an [Indexed]. Its cursors tell positions,
// and are opened there in constant time.
type GenerateSource[T any] struct {
	n    int64
	make func(i int64) (T, error)
}

// Generate returns the source of f(0) to f(n−1). f must return the same for the same
// index, and may be called by several goroutines at once. Its errors are about the one
// element, unless marked by [pipeline.Fatal]. Open and At return an error that wraps [ErrOption] if n is
// negative or f nil.
func Generate[T any](n int64, f func(i int64) (T, error)) *GenerateSource[T] {
	return &GenerateSource[T]{n, f}
}

func (g *GenerateSource[T]) validate() error {
	switch {
	case g.n < 0:
		return fmt.Errorf("%w: Generate of %d elements", ErrOption, g.n)
	case g.make == nil:
		return fmt.Errorf("%w: Generate by a function that is nil", ErrOption)
	}
	return nil
}

// Len returns n.
func (g *GenerateSource[T]) Len() int64 { return g.n }

// At returns f(i). The error wraps [ErrIndex] if i is not below n, and that of f
// otherwise.
func (g *GenerateSource[T]) At(i int64) (v T, err error) {
	if err := g.validate(); err != nil {
		return v, err
	}
	if i < 0 || i >= g.n {
		return v, fmt.Errorf("%w: %d of %d", ErrIndex, i, g.n)
	}
	if v, err = g.make(i); err != nil {
		return v, fmt.Errorf("source: element %d: %w", i, err)
	}
	return v, nil
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition] or [ErrOption].
func (g *GenerateSource[T]) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	i, err := openIndex(at, g.n)
	if err != nil {
		return nil, err
	}
	return &generateCursor[T]{g, i}, nil
}

// Count implements [pipeline.Counter]. Elements that f cannot make count, as it is not
// called.
func (g *GenerateSource[T]) Count(context.Context) (int64, error) { return g.n, g.validate() }

// Describe implements [pipeline.Describer].
func (g *GenerateSource[T]) Describe() string { return fmt.Sprintf("generate %d", g.n) }

// Name implements [pipeline.Named].
func (g *GenerateSource[T]) Name() string { return "generate" }

type generateCursor[T any] struct {
	src *GenerateSource[T]
	at  int64
}

func (c *generateCursor[T]) Next(context.Context) (T, error) {
	if c.at == c.src.n {
		var none T
		return none, io.EOF
	}
	i := c.at
	c.at++
	return c.src.At(i)
}

func (c *generateCursor[T]) Position() any { return indexPosition{c.at} }
func (c *generateCursor[T]) Close() error  { return nil }
