package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/sample"
)

// xy is a sample of so many floats and a number.
func xy(x []float32, y int64) sample.Sample {
	return sample.New(sample.Field{Name: "x", Tensor: sample.Vector(x)},
		sample.Field{Name: "y", Tensor: sample.Vector([]int64{y})})
}

func TestTallyIsTheSameInEveryForm(t *testing.T) {
	items := []sample.Sample{
		xy([]float32{1.5, 9}, 7),
		xy([]float32{-2, 9}, -1),
		xy([]float32{0, 9}, 1<<40),
	}
	want := uint64(math.Float32bits(1.5)) + uint64(math.Float32bits(-2)) + 7 - 1 + 1<<40

	batch, err := sample.DefaultCollate(items)
	require.NoError(t, err)
	collated := tally{second: "y"}
	require.NoError(t, collated.collated(batch))
	require.Equal(t, tally{"y", 3, want}, collated)

	each := tally{second: "y"}
	require.NoError(t, each.each(items))
	require.Equal(t, tally{"y", 3, want}, each)

	ones := tally{second: "y"}
	for i := range items {
		require.NoError(t, ones.one(items[len(items)-1-i]))
	}
	require.Equal(t, tally{"y", 3, want}, ones)
}

func TestTallyRefusesWhatIsNoSample(t *testing.T) {
	a := tally{second: "y"}
	require.Error(t, a.one(sample.New()))
	require.Error(t, a.one(xy(nil, 1)))
	require.Error(t, a.collated(xy([]float32{1}, 1)), "not collated")
	none, err := sample.NewTensor([]float32{}, 0, 2)
	require.NoError(t, err)
	require.Error(t, a.collated(sample.New(sample.Field{Name: "x", Tensor: none}, sample.Field{Name: "y", Tensor: sample.Vector([]int64{})})), "no rows")
	require.Error(t, (&tally{second: "z"}).each([]sample.Sample{xy([]float32{1}, 1)}))
	require.Zero(t, a.samples)
}
