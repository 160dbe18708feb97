package main

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
func counted(runs *int, rows ...string) work {
	return work{
		run: func() error { *runs++; return nil },
		rows: func() (iter.Seq[[]byte], error) {
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

func measured(t *testing.T, l limits, w work) line {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, l.measure(line{Job: "pack", Data: "docs", Form: "column"}, w, json.NewEncoder(&out)))
	var got line
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	return got
}

func TestMeasureRepeatsUpToTheMost(t *testing.T) {
	runs := 0
	got := measured(t, limits{minTime: time.Hour, maxReps: 5}, counted(&runs))
	require.Len(t, got.Seconds, 5)
	require.Equal(t, 6, runs, "the first run does not count")
}

func TestMeasureCountsAFirstRunThatFillsTheTime(t *testing.T) {
	runs := 0
	got := measured(t, limits{minTime: 0, maxReps: 5}, counted(&runs))
	require.Len(t, got.Seconds, 1)
	require.Equal(t, 1, runs)
}

func TestMeasureWritesChecks(t *testing.T) {
	runs, dir := 0, t.TempDir()
	// The published check value of CRC-32, and that of nothing.
	measured(t, limits{checks: dir}, counted(&runs, "123456789", ""))
	got, err := os.ReadFile(filepath.Join(dir, "pack@docs@column"))
	require.NoError(t, err)
	require.Equal(t, []byte{0x26, 0x39, 0xF4, 0xCB, 0, 0, 0, 0}, got)
}

func TestMeasureWritesAProfile(t *testing.T) {
	runs := 0
	path := filepath.Join(t.TempDir(), "cpu.prof")
	measured(t, limits{maxReps: 1, minTime: time.Hour, profile: path}, counted(&runs))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, slices.Equal(got[:2], []byte{0x1f, 0x8b}), "a profile is gzip")
}

func TestMeasureReportsTheJobThatFailed(t *testing.T) {
	bad := errors.New("bad")
	err := limits{maxReps: 1}.measure(line{Job: "pack", Data: "docs", Form: "column"},
		work{run: func() error { return bad }}, json.NewEncoder(&bytes.Buffer{}))
	require.ErrorIs(t, err, bad)
	require.ErrorContains(t, err, "pack@docs@column")
}
