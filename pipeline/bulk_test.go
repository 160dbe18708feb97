package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// bulky is a source that counts, and gives some at a time; Next is not to be called but
// for what is dropped.
type bulky struct {
	n     int
	fails func(i int) bool
	lie   int // added to the number of elements
}

type bulkyCursor struct {
	bulky
	at, failed int
}

func (b bulky) Open(context.Context, pipeline.Start) (pipeline.Cursor[int], error) {
	return &bulkyCursor{bulky: b, failed: -1}, nil
}

func (c *bulkyCursor) Next(ctx context.Context) (int, error) {
	var one [1]int
	_, err := c.NextBulk(ctx, one[:])
	return one[0], err
}

func (c *bulkyCursor) NextBulk(_ context.Context, dst []int) (int, error) {
	if c.at >= c.n {
		return 0, io.EOF
	}
	if c.fails != nil && c.fails(c.at) && c.failed != c.at {
		c.failed = c.at
		c.at++
		return 0, fmt.Errorf("element %d: %w", c.at-1, errBulk)
	}
	n := 0
	for n < min(len(dst), 1+c.at%5) && c.at < c.n && (c.fails == nil || !c.fails(c.at)) {
		dst[n] = c.at
		n++
		c.at++
	}
	return n + c.lie, nil
}

func (c *bulkyCursor) Close() error { return nil }

var errBulk = errors.New("bad")

// A cursor that gives many at once gives the same stream, errors and rest.
func TestBulkCursor(t *testing.T) {
	ctx := context.Background()
	fails := func(i int) bool { return i%13 == 5 }
	var want []int
	for i := range 150 {
		if !fails(i) {
			want = append(want, i)
		}
	}
	for _, chunk := range []int{1, 4, 64} {
		p := pipeline.From(bulky{n: 150, fails: fails}).OnError(pipeline.Skip).ChunkSize(chunk)
		got, err := end(t, p)
		require.Equal(t, io.EOF, err)
		require.Equal(t, want, got)

		batches := pipeline.BatchRaw(p.Shuffle(9), 4)
		all, err := end(t, batches)
		require.Equal(t, io.EOF, err)
		for k := range all {
			it, err := batches.Start(ctx)
			require.NoError(t, err)
			for range k {
				_, err := it.Next(ctx)
				require.NoError(t, err)
			}
			state, err := it.State()
			require.NoError(t, err)
			require.NoError(t, it.Close())
			it, err = batches.Resume(ctx, state)
			require.NoError(t, err)
			for _, batch := range all[k:] {
				v, err := it.Next(ctx)
				require.NoError(t, err)
				require.Equal(t, batch, v)
			}
			require.NoError(t, it.Close())
		}
		got, err = end(t, pipeline.From(bulky{n: 150, fails: fails}).ChunkSize(chunk))
		require.ErrorIs(t, err, errBulk)
		require.Equal(t, want[:5], got)
	}
}

func TestBulkCursorThatLies(t *testing.T) {
	for _, lie := range []int{-100, 1000} {
		_, err := end(t, pipeline.From(bulky{n: 150, lie: lie}).OnError(pipeline.Skip))
		require.ErrorContains(t, err, "NextBulk returned")
	}
}
