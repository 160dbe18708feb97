package main

import (
	"context"
	"io"
	"time"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/sample"
)

// xySample is sample i: x is f32 of so many times i, y is i64 of i modulo 10.
func xySample(i, floats int) sample.Sample {
	x := make([]float32, floats)
	for j := range x {
		x[j] = float32(i)
	}
	return sample.New(
		sample.Field{Name: "x", Tensor: sample.Vector(x)},
		sample.Field{Name: "y", Tensor: sample.Vector([]int64{int64(i % 10)})})
}

// memory is a data set that is kept from one run to the next.
type memory struct {
	samples []sample.Sample
	floats  int
}

// get returns the samples from 0 to n-1.
func (m *memory) get(n, floats int) []sample.Sample {
	if len(m.samples) != n || m.floats != floats {
		m.samples, m.floats = make([]sample.Sample, n), floats
		for i := range m.samples {
			m.samples[i] = xySample(i, floats)
		}
	}
	return m.samples
}

// slow is a source of the samples from 1 to n that takes pause for each.
type slow struct {
	n     int
	pause time.Duration
}

func (s slow) Open(context.Context, pipeline.Start) (pipeline.Cursor[sample.Sample], error) {
	return &slowCursor{slow: s}, nil
}

type slowCursor struct {
	slow
	at int
}

func (c *slowCursor) Next(ctx context.Context) (sample.Sample, error) {
	if c.at == c.n {
		return sample.Sample{}, io.EOF
	}
	c.at++
	// Slept in one piece like on the other side; it is short.
	time.Sleep(c.pause)
	return xySample(c.at, floats), ctx.Err()
}

func (c *slowCursor) Close() error { return nil }
