package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

func TestDrainEndsWithTheFirstError(t *testing.T) {
	full := errors.New("full")
	taken := 0
	c := consumer[int]{take: func(int) error { taken++; return full }}
	_, err := c.drain(t.Context(), pipeline.From[int](source.Memory([]int{1, 2, 3})))
	require.ErrorIs(t, err, full)
	require.Equal(t, 1, taken)
	_, err = c.drain(t.Context(), pipeline.From[int](nil))
	require.ErrorIs(t, err, pipeline.ErrConfig)
}

func TestConsumerIsBusy(t *testing.T) {
	var r runner
	got, err := r.run(t.Context(), protocol.Command{Case: "consumer", Workers: 1, N: 10*batchSize - 1})
	require.NoError(t, err)
	require.GreaterOrEqual(t, got.Seconds, (10 * consumerTime).Seconds())
}
