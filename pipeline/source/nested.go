package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
)

// nested is the cursor of a source inside another. It can always be opened again where
// it stood: a cursor that has no position is read again by count.
type nested[T any] struct {
	cursor     pipeline.Cursor[T]
	positioner pipeline.Positioner // nil: by count
	read       int64               // calls of next that gave an element or an error about one
}

// nestedPosition is where a nested cursor stands. The zero value is the beginning.
type nestedPosition struct {
	At   any   `json:"at,omitempty"`   // as the cursor says; json.RawMessage when it comes back
	Read int64 `json:"read,omitempty"` // without At: how many were read
}

// UnmarshalJSON keeps At as it stands: it is for the source to read.
func (p *nestedPosition) UnmarshalJSON(raw []byte) error {
	var from struct {
		At   json.RawMessage `json:"at"`
		Read int64           `json:"read"`
	}
	if err := decodeStrict(raw, &from); err != nil {
		return err
	}
	*p = nestedPosition{Read: from.Read}
	if from.At != nil {
		p.At = from.At
	}
	return nil
}

// openNested opens src as start says, at p instead of start.Position.
func openNested[T any](ctx context.Context, src pipeline.Source[T], start pipeline.Start, p nestedPosition) (*nested[T], error) {
	at, positioned := p.At.(json.RawMessage)
	switch {
	case p.Read < 0:
		return nil, fmt.Errorf("%w: %d elements read", ErrPosition, p.Read)
	case positioned && p.Read > 0:
		return nil, fmt.Errorf("%w: %s has both a position and a count", ErrPosition, nameOf(src))
	}
	start.Position = at
	cursor, err := src.Open(ctx, start)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", nameOf(src), err)
	case cursor == nil:
		return nil, fmt.Errorf("%s: Open returned neither a cursor nor an error", nameOf(src))
	}
	n := &nested[T]{cursor: cursor}
	n.positioner, _ = cursor.(pipeline.Positioner)
	if positioned && n.positioner == nil {
		return nil, errors.Join(fmt.Errorf("%w: %s cannot be opened at a position", ErrPosition, nameOf(src)), n.close())
	}
	for n.read < p.Read {
		switch _, err := n.next(ctx); {
		case err == io.EOF:
			return nil, errors.Join(fmt.Errorf("%w: %s ends after %d elements, %d had been read", ErrPosition, nameOf(src), n.read, p.Read), n.close())
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), n.close())
		}
	}
	return n, nil
}

func (n *nested[T]) next(ctx context.Context) (T, error) {
	v, err := n.cursor.Next(ctx)
	if err != io.EOF {
		n.read++
	}
	return v, err
}

func (n *nested[T]) position() nestedPosition {
	if n.positioner == nil {
		return nestedPosition{Read: n.read}
	}
	at := n.positioner.Position()
	if at == nil {
		at = json.RawMessage("null") // the cursor's word, not the beginning
	}
	return nestedPosition{At: at}
}

func (n *nested[T]) close() error {
	if n == nil || n.cursor == nil {
		return nil
	}
	c := n.cursor
	n.cursor = nil
	return c.Close()
}

// decodePosition reads what a cursor told as its position. Anything that such a
// cursor cannot have told is an [ErrPosition].
func decodePosition(raw json.RawMessage, into any) error {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return fmt.Errorf("%w: not a JSON object", ErrPosition)
	}
	if err := decodeStrict(raw, into); err != nil {
		return fmt.Errorf("%w: %w", ErrPosition, err)
	}
	return nil
}

// decodeStrict reads one JSON value with no fields that are not known.
func decodeStrict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// nameOf is the name of a source, for errors.
func nameOf(src any) string {
	if n, ok := src.(pipeline.Named); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", src)
}

// describe says which data set a source is.
func describe(src any) string {
	if d, ok := src.(pipeline.Describer); ok {
		return d.Describe()
	}
	return nameOf(src)
}

// describeAll describes sources, each with what stands before it.
func describeAll[T any](sources []pipeline.Source[T], before func(i int) string) string {
	var b strings.Builder
	for i, src := range sources {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(before(i))
		b.WriteString(describe(src))
	}
	return b.String()
}

// countAll adds up what the sources count.
func countAll[T any](ctx context.Context, sources []pipeline.Source[T]) (int64, error) {
	var sum int64
	for _, src := range sources {
		c, ok := src.(pipeline.Counter)
		if !ok {
			return 0, fmt.Errorf("%w: %s does not count its elements", ErrNoCount, nameOf(src))
		}
		n, err := c.Count(ctx)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", nameOf(src), err)
		}
		sum += n
	}
	return sum, nil
}

// checkSources returns an error that names the first source that is nil.
func checkSources[T any](of string, sources []pipeline.Source[T]) error {
	for i, src := range sources {
		if src == nil {
			return fmt.Errorf("%w: %s: source %d is nil", ErrOption, of, i)
		}
	}
	return nil
}

// checkRank returns an error if rank is not one of world.
func checkRank(rank, world int) error {
	if world < 1 || rank < 0 || rank >= world {
		return fmt.Errorf("%w: rank %d of a world of %d; ranks go from 0 to world−1", ErrOption, rank, world)
	}
	return nil
}

// shardOf returns every world-th item from rank on.
func shardOf[T any](items []T, rank, world int) []T {
	var out []T
	for i := rank; i < len(items); i += world {
		out = append(out, items[i])
	}
	return out
}
