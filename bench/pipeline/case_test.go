package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBenchesAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, b := range benches() {
		require.False(t, names[b.name], b.name)
		names[b.name] = true
		require.Equal(t, []int{1, 2}, b.workers, b.name)
		require.NotNil(t, b.goal.judge, b.name)
		require.NotNil(t, b.show, b.name)
	}
}

func TestShrunk(t *testing.T) {
	require.Equal(t, 40_000, bench{n: 400_000}.shrunk(10).n)
	require.Equal(t, 2_000, bench{n: 20_000}.shrunk(1000).n)
	require.Equal(t, 200, bench{n: 200, first: true}.shrunk(10).n, "a chunk of the other side must fit")
}

func TestConsumedRoundsUpToBatches(t *testing.T) {
	require.Equal(t, time.Millisecond, bench{n: 33}.consumed())
	require.Equal(t, time.Second, bench{n: 64_000}.consumed())
}
