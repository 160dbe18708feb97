package source

import (
	"context"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/pipeline"
)

// MemorySource is a data set in memory: a [pipeline.Source] that counts, and an
// [Indexed]. Its cursors tell positions, and are opened there in constant time.
type MemorySource[T any] struct{ items []T }

// Memory returns the source of items. They are not copied: the caller must not change
// them afterwards.
func Memory[T any](items []T) *MemorySource[T] { return &MemorySource[T]{items} }

// Len returns the number of items.
func (m *MemorySource[T]) Len() int64 { return int64(len(m.items)) }

// At returns item i. The error wraps [ErrIndex].
func (m *MemorySource[T]) At(i int64) (T, error) { return itemAt(m.items, i) }

// Open implements [pipeline.Source]. The error wraps [ErrPosition].
func (m *MemorySource[T]) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	return openSlice(m.items, at)
}

// Count implements [pipeline.Counter].
func (m *MemorySource[T]) Count(context.Context) (int64, error) { return m.Len(), nil }

// Describe implements [pipeline.Describer].
func (m *MemorySource[T]) Describe() string { return fmt.Sprintf("memory of %d", len(m.items)) }

// Name implements [pipeline.Named].
func (m *MemorySource[T]) Name() string { return "memory" }

// itemAt returns item i of a list.
func itemAt[T any](items []T, i int64) (v T, err error) {
	if i < 0 || i >= int64(len(items)) {
		return v, fmt.Errorf("%w: %d of %d", ErrIndex, i, len(items))
	}
	return items[i], nil
}

// indexPosition is where a cursor over numbered elements stands.
type indexPosition struct {
	Index int64 `json:"index"` // of the next element
}

// openIndex returns the index at which a data set of n elements is opened.
func openIndex(at pipeline.Start, n int64) (int64, error) {
	if at.Position == nil {
		return 0, nil
	}
	var p indexPosition
	if err := decodePosition(at.Position, &p); err != nil {
		return 0, err
	}
	if p.Index < 0 || p.Index > n {
		return 0, fmt.Errorf("%w: element %d of %d", ErrPosition, p.Index, n)
	}
	return p.Index, nil
}

// openSlice opens a list.
func openSlice[T any](items []T, at pipeline.Start) (pipeline.Cursor[T], error) {
	i, err := openIndex(at, int64(len(items)))
	if err != nil {
		return nil, err
	}
	return &sliceCursor[T]{items, int(i)}, nil
}

type sliceCursor[T any] struct {
	items []T
	at    int
}

// NextBulk implements [pipeline.BulkCursor].
func (c *sliceCursor[T]) NextBulk(_ context.Context, dst []T) (int, error) {
	if c.at == len(c.items) {
		return 0, io.EOF
	}
	n := copy(dst, c.items[c.at:])
	c.at += n
	return n, nil
}

func (c *sliceCursor[T]) Next(context.Context) (T, error) {
	if c.at == len(c.items) {
		var none T
		return none, io.EOF
	}
	v := c.items[c.at]
	c.at++
	return v, nil
}

func (c *sliceCursor[T]) Position() any { return indexPosition{int64(c.at)} }
func (c *sliceCursor[T]) Close() error  { return nil }
