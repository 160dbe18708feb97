package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// measuredAt fills an outcome with the seconds of a case.
func measuredAt(name string, workers int, times map[string][]float64) *outcome {
	o := newOutcome()
	o.put(name, workers, times)
	return o
}

func (o *outcome) put(name string, workers int, times map[string][]float64) {
	for system, seconds := range times {
		for _, s := range seconds {
			o.add(system, protocol.Answer{Case: name, Workers: workers, Seconds: s})
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		want   float64
		values []float64
	}{
		{3, []float64{3}},
		{2, []float64{3, 1}},
		{2, []float64{9, 2, 1}},
		{2.5, []float64{4, 1, 2, 3}},
	} {
		in := append([]float64(nil), c.values...)
		require.InDelta(t, c.want, median(in), 0)
		require.Equal(t, c.values, in, "the order of the rounds stays")
	}
}

func TestRatioIsTheirsOverOurs(t *testing.T) {
	o := measuredAt("batch", 2, map[string][]float64{theirs: {9, 4, 8}, ours: {4, 1, 2}})
	r, ok := o.ratio(row{"batch", 2})
	require.True(t, ok)
	require.InDelta(t, 4, r, 0, "8 over 2")
	r, ok = o.ratioOf(row{"batch", 2}, best)
	require.True(t, ok)
	require.InDelta(t, 4, r, 0, "4 over 1")
	_, ok = o.ratio(row{"batch", 1})
	require.False(t, ok, "not measured")
	_, ok = measuredAt("batch", 2, map[string][]float64{ours: {1}}).ratio(row{"batch", 2})
	require.False(t, ok, "ours alone")
}

func TestCheckRefusesOtherWork(t *testing.T) {
	o := newOutcome()
	b := bench{name: "batch", n: 10}
	require.NoError(t, o.check(b, theirs, protocol.Answer{Workers: 1, Samples: 10, Fold: 5}))
	require.NoError(t, o.check(b, ours, protocol.Answer{Workers: 2, Samples: 10, Fold: 5}))
	err := o.check(b, ours, protocol.Answer{Workers: 1, Samples: 10, Fold: 6})
	require.ErrorIs(t, err, errDiffer)
	require.ErrorContains(t, err, "fold 5 of tenshift-core with 1 workers, 6 of Rosaline with 1 workers")
	err = o.check(b, ours, protocol.Answer{Workers: 1, Samples: 9, Fold: 5})
	require.ErrorIs(t, err, errDiffer)
	require.ErrorContains(t, err, "took 9 samples of 10")
	require.NoError(t, o.check(bench{name: "map", n: 10}, ours, protocol.Answer{Samples: 10, Fold: 6}), "another case")
	require.NoError(t, o.check(bench{name: "latency", n: 10, first: true}, ours, protocol.Answer{Samples: 1}), "only the first is taken")
}
