package source

import (
	"context"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

func TestMemoryDoesNotCopy(t *testing.T) {
	items := []int{1, 2, 3}
	src := Memory(items)
	items[1] = 7
	v, err := src.At(1)
	require.NoError(t, err)
	require.Equal(t, 7, v)
	require.Equal(t, int64(3), src.Len())
	for _, i := range []int64{-1, 3, 1 << 40} {
		_, err := src.At(i)
		require.ErrorIs(t, err, ErrIndex)
	}
}

// Going through memory allocates nothing for an element.
func TestMemoryAllocations(t *testing.T) {
	type wide [6]string
	ctx := context.Background()
	c, err := Memory(make([]wide, 5000)).Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = c.Next(ctx) }))
	g, err := Generate(5000, func(i int64) (wide, error) { return wide{}, nil }).Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = g.Next(ctx) }))
}

func TestGenerateErrors(t *testing.T) {
	ctx := context.Background()
	for _, src := range []*GenerateSource[int]{Generate(-1, func(int64) (int, error) { return 0, nil }), Generate[int](1, nil)} {
		_, err := src.Open(ctx, pipeline.Start{})
		require.ErrorIs(t, err, ErrOption)
		_, err = src.At(0)
		require.ErrorIs(t, err, ErrOption)
		_, err = src.Count(ctx)
		require.ErrorIs(t, err, ErrOption)
	}
	src := Generate(3, func(i int64) (int64, error) { return i * i, nil })
	for _, i := range []int64{-1, 3} {
		_, err := src.At(i)
		require.ErrorIs(t, err, ErrIndex)
	}
	v, err := src.At(2)
	require.NoError(t, err)
	require.Equal(t, int64(4), v)
}
