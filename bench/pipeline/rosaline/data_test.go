package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

func TestSlowSourceEnds(t *testing.T) {
	c, err := slow{n: 2}.Open(t.Context(), pipeline.Start{})
	require.NoError(t, err)
	for range 2 {
		_, err = c.Next(t.Context())
		require.NoError(t, err)
	}
	_, err = c.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, c.Close())
}

func TestMemoryIsMadeAnewForAnotherSize(t *testing.T) {
	var m memory
	require.Len(t, m.get(3, 2), 3)
	first := &m.get(3, 2)[0]
	require.Same(t, first, &m.get(3, 2)[0], "kept")
	require.Len(t, m.get(4, 2), 4)
	x, ok := m.get(4, 5)[3].Get("x")
	require.True(t, ok)
	require.Equal(t, 5, x.NumElements())
}
