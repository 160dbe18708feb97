package pipeline_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

var errBad = errors.New("bad element")

// series is a source of the numbers 0 … n−1 of each epoch, to which 1000 is added for
// each epoch before; n = −1 is endless. What the functions do happens where
// they are called.
type series struct {
	n      int
	open   func(ctx context.Context, at pipeline.Start) error
	next   func(ctx context.Context, v int) error // before v comes; with an error v does not come
	close  func() error
	pulled atomic.Int64
	opened atomic.Int64
	closed atomic.Int64
}

func (s *series) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[int], error) {
	if s.open != nil {
		if err := s.open(ctx, at); err != nil {
			return nil, err
		}
	}
	s.opened.Add(1)
	return &seriesCursor{series: s, first: 1000 * int(at.Epoch)}, nil
}

type seriesCursor struct {
	*series
	first, at int
}

func (c *seriesCursor) Next(ctx context.Context) (int, error) {
	if c.at == c.n {
		return 0, io.EOF
	}
	v := c.first + c.at
	c.at++
	if c.next != nil {
		if err := c.next(ctx, v); err != nil {
			return 0, err
		}
	}
	c.pulled.Add(1)
	return v, nil
}

func (c *seriesCursor) Close() error {
	c.closed.Add(1)
	if c.close != nil {
		return c.close()
	}
	return nil
}

// quiet blocks until ctx is done.
func quiet(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// nap waits, or until ctx is done.
func nap(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gather takes elements up to an error, which may be io.EOF.
func gather[T any](t testing.TB, it *pipeline.Iterator[T]) ([]T, error) {
	t.Helper()
	var out []T
	for {
		v, err := it.Next(t.Context())
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

// begin starts a pipeline that is closed at the end of the test.
func begin[T any](t testing.TB, p *pipeline.Pipeline[T]) *pipeline.Iterator[T] {
	t.Helper()
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, it.Close()) })
	return it
}

// play runs a pipeline to its end.
func play[T any](t testing.TB, p *pipeline.Pipeline[T]) ([]T, pipeline.Stats, error) {
	t.Helper()
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	out, end := gather(t, it)
	require.NoError(t, it.Close())
	return out, it.Stats(), end
}

// upTo returns from, from+1, … to−1.
func upTo(from, to int) []int {
	out := make([]int, 0, to-from)
	for v := from; v < to; v++ {
		out = append(out, v)
	}
	return out
}

// statsOf returns the numbers of a stage.
func statsOf(t testing.TB, s pipeline.Stats, stage string) pipeline.StageStats {
	t.Helper()
	for _, st := range s.Stages {
		if st.Name == stage {
			return st
		}
	}
	require.Fail(t, "there is no such stage", "%s in %v", stage, s)
	return pipeline.StageStats{}
}

// complaints collects what an error sink is told.
type complaints struct {
	mu   sync.Mutex
	told []*pipeline.StageError
}

func (c *complaints) sink(err *pipeline.StageError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, err)
}

// soon waits until cond holds.
func soon(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !cond(); {
		require.True(t, time.Now().Before(deadline), "not within 10 s: %s", what)
		time.Sleep(time.Millisecond)
	}
}
