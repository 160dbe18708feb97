package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// dataFolder makes the data sets without the prose, small ones.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"short", "med", "docs", "cjk", "pii"} {
		data := columnFile(6, []uint32{0, 3, 6, 9, 12, 15, 18}, "abcabdabeabcabdabe")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".col"), data, 0o644))
	}
	return dir
}

// printed runs the program and returns its lines.
func printed(t *testing.T, args ...string) []line {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(args, &out))
	var lines []line
	for dec := json.NewDecoder(&out); ; {
		var l line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		lines = append(lines, l)
	}
}

func TestRunTimesEveryJobOnEachOfItsSets(t *testing.T) {
	lines := printed(t, "-data", dataFolder(t), "-min-time", "0")
	require.Len(t, lines, 1+3*len(columnSpecs())+3*len(textSpecs()))
	for _, l := range lines[1:] {
		require.NotEmpty(t, l.Seconds, l.key())
		require.Equal(t, 6, l.Items, l.key())
		require.Equal(t, int64(18), l.Bytes, l.key())
	}
}

func TestRunSelectsJobs(t *testing.T) {
	lines := printed(t, "-data", dataFolder(t), "-min-time", "0", "-jobs", "^pack@med")
	require.Len(t, lines, 2)
	require.Equal(t, "pack@med@GPUBuffers", lines[1].key())
}

func TestRunNeedsItsData(t *testing.T) {
	dir := dataFolder(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "cjk.col")))
	require.ErrorIs(t, run([]string{"-data", dir, "-min-time", "0"}, io.Discard), fs.ErrNotExist)
	require.ErrorContains(t, run(nil, io.Discard), "-data")
	require.ErrorContains(t, run([]string{"-data", dir, "-max-reps", "0"}, io.Discard), "-max-reps")
}
