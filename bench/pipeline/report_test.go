package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	b := bench{"batch", "batch of 32", []int{1, 2}, 1000, false, faster(4), rate}
	o := measuredAt("batch", 1, map[string][]float64{theirs: {0.002, 0.004}, ours: {0.0005, 0.0007}})
	o.put("batch", 2, map[string][]float64{theirs: {0.002}, ours: {0.001}})
	lines := strings.Split(strings.TrimSpace(table([]bench{b}, o)), "\n")
	require.Equal(t, []string{
		"| batch of 32 | 1 | 1000 | 333 k/s (500 k/s) | 1.67 M/s (2.00 M/s) | 5.00× (4.00) | ≥ 4× | 5.00×, met |",
		"| batch of 32 | 2 | 1000 | 500 k/s (500 k/s) | 1.00 M/s (1.00 M/s) | 2.00× (2.00) | ≥ 4× | **2.00×, MISSED** |",
	}, lines[2:])
	require.Equal(t, strings.Count(lines[0], "|"), strings.Count(lines[1], "|"), "head and rule")
	require.Equal(t, strings.Count(lines[0], "|"), strings.Count(lines[2], "|"), "head and rows")
}

func TestTableLeavesOutWhatWasNotMeasured(t *testing.T) {
	b := bench{"batch", "batch of 32", []int{1, 2}, 1000, false, faster(4), rate}
	o := measuredAt("batch", 1, map[string][]float64{ours: {0.0005}})
	require.Equal(t, 1, strings.Count(table([]bench{b}, o), "batch of 32"))
}
