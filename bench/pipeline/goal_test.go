package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGoals(t *testing.T) {
	// Of 64 samples the consumer alone takes 1 ms.
	b := bench{name: "x", n: 64}
	alone := map[string][]float64{ours: {2}}
	for _, c := range []struct {
		name     string
		goal     goal
		workers  int
		o        *outcome
		measured string // "" where there is nothing to say
		met      bool
	}{
		{"four times as fast", faster(4), 2, measuredAt("x", 2, map[string][]float64{theirs: {8}, ours: {2}}), "4.00×", true},
		{"not quite", faster(4), 2, measuredAt("x", 2, map[string][]float64{theirs: {7.9}, ours: {2}}), "3.95×", false},
		{"no other side", faster(4), 2, measuredAt("x", 2, alone), "", false},
		{"other workers", faster(4), 1, measuredAt("x", 2, map[string][]float64{theirs: {8}, ours: {2}}), "", false},
		{"scales", scales(1.85), 2, ofBoth(1.85, 1), "1.85×", true},
		{"scales less", scales(1.85), 2, ofBoth(1.8, 1), "1.80×", false},
		{"one worker has nothing to scale", scales(1.85), 1, ofBoth(3, 1), "", false},
		{"two workers alone", scales(1.85), 2, measuredAt("x", 2, alone), "", false},
		{"over the consumer", over(0.05), 1, measuredAt("x", 1, map[string][]float64{ours: {0.00104}}), "4.0 %", true},
		{"too much over it", over(0.05), 1, measuredAt("x", 1, map[string][]float64{ours: {0.00106}}), "6.0 %", false},
		{"consumer not measured", over(0.05), 1, measuredAt("x", 2, alone), "", false},
		{"in time", within(25 * time.Millisecond), 1, measuredAt("x", 1, map[string][]float64{ours: {0.025}}), "25.0 ms", true},
		{"late", within(25 * time.Millisecond), 1, measuredAt("x", 1, map[string][]float64{ours: {0.0251}}), "25.1 ms", false},
		{"time not measured", within(time.Second), 1, measuredAt("x", 2, alone), "", false},
	} {
		measured, met, ok := c.goal.judge(c.o, b, c.workers)
		require.Equal(t, c.measured != "", ok, c.name)
		require.Equal(t, c.met, met, c.name)
		require.Equal(t, c.measured, measured, c.name)
	}
}

// ofBoth has the times of ours with one and with two workers.
func ofBoth(one, two float64) *outcome {
	o := measuredAt("x", 1, map[string][]float64{ours: {one}})
	o.put("x", 2, map[string][]float64{ours: {two}})
	return o
}

func TestGoalTexts(t *testing.T) {
	require.Equal(t, "≥ 50×", faster(50).text)
	require.Equal(t, "two workers ≥ 1.85× one", scales(1.85).text)
	require.Equal(t, "≤ 5 % over the consumer", over(0.05).text)
	require.Equal(t, "≤ 25 ms", within(25*time.Millisecond).text)
}

func TestShow(t *testing.T) {
	b := bench{n: 1000}
	require.Equal(t, "2.00 k/s", rate(b, 0.5))
	require.Equal(t, "1.00 M/s", rate(b, 0.001))
	require.Equal(t, "0.0200 k/s", rate(bench{n: 1000, first: true}, 0.05))
	require.Equal(t, "668 ms", latency(b, 0.668))
	// 32 batches of 500 µs take 16 ms.
	require.Equal(t, "+25.0 %", excess(b, 0.020))
}
