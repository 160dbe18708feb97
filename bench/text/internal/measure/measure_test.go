package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is work that counts its runs and has fixed rows.
func counted(runs *int, rows ...string) Work {
	return Work{
		Run: func() error { *runs++; return nil },
		Rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) {
				for _, r := range rows {
					if !yield([]byte(r)) {
						return
					}
				}
			}, nil
		},
	}
}

func measured(t *testing.T, l Limits, w Work) Line {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, l.Measure(Line{Job: "pack", Data: "docs", Form: "column"}, w, json.NewEncoder(&out)))
	var got Line
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	return got
}

func TestMeasureRepeatsUpToTheMost(t *testing.T) {
	runs := 0
	got := measured(t, Limits{MinTime: time.Hour, MaxReps: 5}, counted(&runs))
	require.Len(t, got.Seconds, 5)
	require.Equal(t, 6, runs, "the first run does not count")
}

func TestMeasureCountsAFirstRunThatFillsTheTime(t *testing.T) {
	runs := 0
	got := measured(t, Limits{MinTime: 0, MaxReps: 5}, counted(&runs))
	require.Len(t, got.Seconds, 1)
	require.Equal(t, 1, runs)
}

func TestMeasureWritesChecks(t *testing.T) {
	runs, dir := 0, t.TempDir()
	// The published check value of CRC-32, and that of nothing.
	measured(t, Limits{Checks: dir}, counted(&runs, "123456789", ""))
	got, err := os.ReadFile(filepath.Join(dir, "pack@docs@column"))
	require.NoError(t, err)
	require.Equal(t, []byte{0x26, 0x39, 0xF4, 0xCB, 0, 0, 0, 0}, got)
}

func TestMeasureWritesAProfile(t *testing.T) {
	runs := 0
	path := filepath.Join(t.TempDir(), "cpu.prof")
	measured(t, Limits{MaxReps: 1, MinTime: time.Hour, Profile: path}, counted(&runs))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, slices.Equal(got[:2], []byte{0x1f, 0x8b}), "a profile is gzip")
}

func TestMeasureReportsTheJobThatFailed(t *testing.T) {
	bad := errors.New("bad")
	err := Limits{MaxReps: 1}.Measure(Line{Job: "pack", Data: "docs", Form: "column"},
		Work{Run: func() error { return bad }}, json.NewEncoder(&bytes.Buffer{}))
	require.ErrorIs(t, err, bad)
	require.ErrorContains(t, err, "pack@docs@column")
}

func TestMeasureReportsFigures(t *testing.T) {
	runs := 0
	w := counted(&runs)
	w.Figures = func() (map[string]float64, error) { return map[string]float64{"runs": float64(runs)}, nil }
	w.Items, w.Bytes = 3, 12
	got := measured(t, Limits{MaxReps: 2, MinTime: time.Hour}, w)
	require.Equal(t, map[string]float64{"runs": 3}, got.Figures)
	require.Equal(t, 3, got.Items)
	require.Equal(t, int64(12), got.Bytes)
}
