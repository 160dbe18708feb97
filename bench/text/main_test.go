package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/cpu"
)

// dataFolder makes the data sets without the prose, small ones.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"short", "med", "docs", "plain", "cjk", "pii"} {
		data := columnFile(6, []uint32{0, 3, 6, 9, 12, 15, 18}, "abcabdabeabcabdabe")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".col"), data, 0o644))
		line := strings.Repeat(`{"id":"7","text":"a\tb"}`+"\n", 6)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(line), 0o644))
	}
	return dir
}

// printed runs the program and returns its lines.
func printed(t *testing.T, args ...string) []measure.Line {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(args, &out))
	var lines []measure.Line
	for dec := json.NewDecoder(&out); ; {
		var l measure.Line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		lines = append(lines, l)
	}
}

func TestRunTimesEveryJobOnEachOfItsSets(t *testing.T) {
	lines := printed(t, "-data", dataFolder(t), "-min-time", "0", "-jobs", "^([^d]|d[^e]|dedup@)")
	// The prose is not there; the million is left out, as it takes long.
	require.Len(t, lines, 1+3*len(columnSpecs())+4*len(textSpecs())+len(fieldSpecs()))
	for _, l := range lines[1:] {
		require.NotEmpty(t, l.Seconds, l.Key())
		require.Equal(t, 6, l.Items, l.Key())
		if l.Job != "field" {
			require.Equal(t, int64(18), l.Bytes, l.Key())
		}
	}
}

func TestRunTimesTheJobsOfACrew(t *testing.T) {
	lines := printed(t, "-data", dataFolder(t), "-min-time", "0", "-workers", "2")
	require.Len(t, lines, 1+3*len(crew(2).columnSpecs())+4*len(crew(2).textSpecs()))
}

func TestRunPrintsTheLevels(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"-levels"}, &out))
	levels := strings.Fields(out.String())
	require.Equal(t, "generic", levels[0])
	require.Equal(t, cpu.Best().String(), levels[len(levels)-1])
}

func TestFieldJob(t *testing.T) {
	d, err := measure.ReadDataset(filepath.Join(dataFolder(t), "docs.col"))
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]string{"7\ta\tb"}, 6), resultOf(t, fieldSpecs()[0], d))
}

func TestRunSelectsJobs(t *testing.T) {
	lines := printed(t, "-data", dataFolder(t), "-min-time", "0", "-jobs", "^pack@med")
	require.Len(t, lines, 2)
	require.Equal(t, "pack@med@GPUBuffers", lines[1].Key())
}

func TestRunNeedsItsData(t *testing.T) {
	dir := dataFolder(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "cjk.col")))
	require.ErrorIs(t, run([]string{"-data", dir, "-min-time", "0"}, io.Discard), fs.ErrNotExist)
	require.ErrorContains(t, run(nil, io.Discard), "-data")
	require.ErrorContains(t, run([]string{"-data", dir, "-max-reps", "0"}, io.Discard), "-max-reps")
}
