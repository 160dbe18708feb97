//go:build !race

// The race detector makes pools forget, so that the numbers mean nothing.

package pipeline_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// allocations is how many objects are made for an element of the source, in all
// goroutines, once the run is warm; per is how many of these make one of the consumer.
func allocations[T any](t *testing.T, p *pipeline.Pipeline[T], per int) float64 {
	t.Helper()
	it := begin(t, p)
	take := func(n int) {
		for range n / per {
			_, err := it.Next(t.Context())
			require.NoError(t, err)
		}
	}
	take(20_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 100_000
	take(n)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / n
}

// column is a group of elements that is one itself, and needs no memory to be made.
type column struct{ first, n int }

func TestAllocations(t *testing.T) {
	from := func() *pipeline.Pipeline[int] { return pipeline.From(&series{n: -1}) }
	identity := func(v int) (int, error) { return v, nil }
	for name, c := range map[string]struct {
		got  float64
		most float64
	}{
		"pass through":              {allocations(t, from(), 1), 0.1},
		"pass through, one by one":  {allocations(t, from().ChunkSize(1), 1), 1},
		"map":                       {allocations(t, from().Map(identity), 1), 0.1},
		"map to another type":       {allocations(t, pipeline.Map(from(), func(v int) (int64, error) { return int64(v), nil }), 1), 0.1},
		"map with random numbers":   {allocations(t, from().MapRand(func(_ *rand.Rand, v int) (int, error) { return v, nil }), 1), 0.1},
		"filter":                    {allocations(t, from().Filter(func(v int) bool { return v%2 == 0 }), 2), 0.1},
		"shuffle":                   {allocations(t, from().Shuffle(1000), 1), 0.15},
		"batch":                     {allocations(t, pipeline.BatchRaw(from(), 32), 32), 0.1},
		"batch of shuffled, mapped": {allocations(t, pipeline.BatchRaw(from().Map(identity).Shuffle(1000), 32), 32), 0.25},
		"columns": {allocations(t, pipeline.Map(pipeline.From(&series{n: -1}), func(v int) (column, error) { return column{v, 1000}, nil }).
			Map(func(c column) (column, error) { return c, nil }), 1), 0.1},
	} {
		require.LessOrEqual(t, c.got, c.most, name)
	}
}

// A column of strings goes through stages, and is cut and put together again, for a few
// objects a column: none for a string.
func TestAllocationsOfColumnsOfStrings(t *testing.T) {
	const rows = 1000
	texts := make([]string, rows)
	for i := range texts {
		texts[i] = "a string that is longer than twelve bytes"
	}
	col, err := stringtensor.FromStrings(texts)
	require.NoError(t, err)
	halves := pipeline.FlatMap(pipeline.Map(pipeline.From(&series{n: -1}),
		func(int) (*stringtensor.Column, error) { return col, nil }),
		func(c *stringtensor.Column) ([]*stringtensor.Column, error) {
			first, err := c.Slice(0, rows/2)
			if err != nil {
				return nil, err
			}
			second, err := c.Slice(rows/2, rows)
			return []*stringtensor.Column{first, second}, err
		})
	whole := pipeline.Collate(pipeline.BatchRaw(halves, 2), func(b []*stringtensor.Column) (int, error) {
		return b[0].Len() + b[1].Len(), nil
	})
	perColumn := allocations(t, whole, 1)
	require.LessOrEqual(t, perColumn, 10.0)
	require.Less(t, perColumn/rows, 0.01, "for a string")
}
