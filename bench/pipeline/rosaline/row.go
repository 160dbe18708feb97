package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/sample"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// The fields of a line, and how many numbers the array has.
const (
	xPath, labelPath = "x", "label"
	xLen             = 4
)

// rows makes a sample of each line of a chunk, all of which it checks, and releases the
// chunk.
type rows struct{ fields sync.Pool } // one is used by one worker at a time

var _ pipeline.Transform[*source.Chunk, sample.Sample] = (*rows)(nil)

func newRows() (*rows, error) {
	if _, err := source.NewFields(xPath, labelPath); err != nil {
		return nil, err
	}
	return &rows{sync.Pool{New: func() any {
		f, _ := source.NewFields(xPath, labelPath) // went well above
		return f
	}}}, nil
}

// Apply implements [pipeline.Transform].
func (r *rows) Apply(_ context.Context, c *source.Chunk, emit func(sample.Sample)) error {
	defer c.Release()
	f := r.fields.Get().(*source.Fields)
	defer r.fields.Put(f)
	// The numbers of all lines lie behind each other.
	xs, labels := make([]float32, 0, xLen*c.Len()), make([]int64, c.Len())
	for i := range labels {
		l := c.Line(i)
		if err := f.Scan(l.Data); err != nil {
			return fmt.Errorf("%v: %w", l.Pos, err)
		}
		before := len(xs)
		var err error
		if xs, err = source.ParseFloat32s(f.Raw(0), xs); err != nil {
			return fmt.Errorf("%v: %s: %w", l.Pos, xPath, err)
		}
		if labels[i], err = source.ParseInt64(f.Raw(1)); err != nil {
			return fmt.Errorf("%v: %s: %w", l.Pos, labelPath, err)
		}
		emit(sample.New(
			sample.Field{Name: "x", Tensor: sample.Vector(xs[before:len(xs):len(xs)])},
			sample.Field{Name: "label", Tensor: sample.Vector(labels[i : i+1 : i+1])}))
	}
	return nil
}
