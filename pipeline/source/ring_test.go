package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

func TestRingIsEndless(t *testing.T) {
	c, err := must(Ring([]int{0, 1, 2})).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	for i := range 100_000 {
		v, err := c.Next(context.Background())
		if err != nil || v != i%3 {
			t.Fatalf("element %d is %d, %v", i, v, err)
		}
	}
	require.NoError(t, c.Close())
}

// All epochs have the elements of epoch 0, and its source is read only in the first lap.
func TestRingOfReadsOnce(t *testing.T) {
	made := 0
	src := Generate(9, func(i int64) (int64, error) { made++; return i, nil })
	ring := must(RingOf[int64](src, 4, WithLaps(5)))
	got, _ := replay(t, pipeline.Source[int64](ring), pipeline.Start{Epoch: 3}, 100)
	require.Len(t, got, 20)
	for i, g := range got {
		require.Equal(t, fmt.Sprint(i%4), g)
	}
	require.Equal(t, 4, made)

	shuffled := must(RingOf[int64](must(DistributedSampler[int64](Memory([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 0, 1)), 4, WithLaps(1)))
	first, _ := replay[int64](t, shuffled, pipeline.Start{Seed: 1}, 100)
	later, _ := replay[int64](t, shuffled, pipeline.Start{Seed: 1, Epoch: 5}, 100)
	require.Equal(t, first, later)
}

// A resumed ring must not become a smaller one.
func TestRingOfAnotherSource(t *testing.T) {
	bad := []int64{}
	src := Generate(4, func(i int64) (int64, error) {
		for _, b := range bad {
			if b == i {
				return 0, errors.New("broken")
			}
		}
		return i, nil
	})
	ring := must(RingOf[int64](src, 4))
	_, positions := replay[int64](t, ring, pipeline.Start{}, 11)
	bad = []int64{2}
	for _, p := range positions[3:] {
		_, err := ring.Open(context.Background(), pipeline.Start{Position: p})
		require.ErrorIs(t, err, ErrPosition, string(p))
		require.ErrorContains(t, err, "broken")
	}
}

func TestRingOptions(t *testing.T) {
	_, err := Ring([]int{1}, WithLaps(-1))
	require.ErrorIs(t, err, ErrOption)
	for _, n := range []int{0, -1} {
		_, err = RingOf(numbers(0, 3), n)
		require.ErrorIs(t, err, ErrOption)
	}
	_, err = RingOf[int64](nil, 1)
	require.ErrorIs(t, err, ErrOption)
	_, err = Ring([]int{1}, WithLaps(math.MaxInt64))
	require.NoError(t, err)
}
