package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
	"github.com/rosaline-go/rosaline/pipeline"
)

// consumer takes a stream of T.
type consumer[T any] struct {
	take  func(T) error // counts an element
	spin  time.Duration // how long it is busy with one, take included
	first bool          // it leaves after the first
}

// drain runs a pipeline to the end of its stream, and returns the seconds from the
// start to there.
func (c consumer[T]) drain(ctx context.Context, p *pipeline.Pipeline[T]) (seconds float64, err error) {
	start := time.Now()
	it, err := p.Start(ctx)
	if err != nil {
		return 0, err
	}
	// What an iterator leaves behind is outside of the time on both sides.
	defer func() { err = errors.Join(err, it.Close()) }()
	for {
		v, err := it.Next(ctx)
		if err == io.EOF {
			return time.Since(start).Seconds(), nil
		}
		if err != nil {
			return 0, err
		}
		if err := c.spend(v); err != nil {
			return 0, err
		}
		if c.first {
			return time.Since(start).Seconds(), nil
		}
	}
}

// spend takes an element and is busy for as long as wanted.
func (c consumer[T]) spend(v T) error {
	if c.spin == 0 {
		return c.take(v)
	}
	arrived := time.Now()
	err := c.take(v)
	for time.Since(arrived) < c.spin {
	}
	return err
}

// measure drains a pipeline, counting into t.
func measure[T any](ctx context.Context, t *tally, c consumer[T], p *pipeline.Pipeline[T]) (protocol.Run, error) {
	seconds, err := c.drain(ctx, p)
	return protocol.Run{Samples: t.samples, Seconds: seconds, Fold: t.fold}, err
}
