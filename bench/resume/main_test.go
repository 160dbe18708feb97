package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// ask has one process answer commands.
func ask(t *testing.T, commands ...command) []map[string]any {
	var in, out bytes.Buffer
	for _, c := range commands {
		require.NoError(t, json.NewEncoder(&in).Encode(c))
	}
	require.NoError(t, serve(&in, &out))
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var a map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		answers = append(answers, a)
	}
	require.Len(t, answers, len(commands))
	return answers
}

// do1 has one thing done that must not fail.
func do1(t *testing.T, c command) map[string]any {
	a := ask(t, c)[0]
	require.NotContains(t, a, "error", c.Do)
	return a
}

// committed is the state of the tracker of a run.
func committed(t *testing.T, dir string) resume.State {
	r, err := resume.InspectTracker(trackerName(dir))
	require.NoError(t, err)
	require.NoError(t, r.Err)
	return r.Slots[r.Current].State
}

func inspected(t *testing.T, dir string) resume.LogReport {
	r, err := resume.InspectLog(logName(dir))
	require.NoError(t, err)
	require.True(t, r.Sound())
	return r
}

func TestFill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	do1(t, command{Do: "fill", Dir: dir, Hashes: 2500})
	at, r := committed(t, dir), inspected(t, dir)
	require.EqualValues(t, 3, at.Batch)
	require.EqualValues(t, 2500, at.Hashes)
	require.EqualValues(t, 2500, r.Hashes)
	require.Equal(t, 3, r.Frames)
	require.Equal(t, 3, r.States)
	require.Equal(t, at.Generation, r.Last)

	seen := map[text.Hash128]bool{}
	log, err := resume.OpenLog(logName(dir), at, func(hashes []text.Hash128) error {
		for _, h := range hashes {
			seen[h] = true
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.Len(t, seen, 2500)
}

func TestReopen(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("resident memory is not known here")
	}
	dir := filepath.Join(t.TempDir(), "run")
	do1(t, command{Do: "fill", Dir: dir, Hashes: 100_000})
	a := do1(t, command{Do: "reopen", Dir: dir})
	require.EqualValues(t, 100_000, a["hashes"])
	require.Greater(t, a["heap"], 16.0*100_000) // the hashes themselves
	require.Less(t, a["heap"], 64.0*100_000)
	require.Greater(t, a["seconds"], 0.0)
}

func TestCommits(t *testing.T) {
	for kind, want := range map[string]struct{ batches, hashes, frames uint64 }{
		"tracker": {7, 0, 0},
		"log":     {0, 7, 7},
		"both":    {7, 7, 7},
	} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			do1(t, command{Do: "fill", Dir: dir, Hashes: 10})
			before := inspected(t, dir)
			answers := ask(t,
				command{Do: "open", Lane: "a", Kind: kind, Dir: dir, State: 100},
				command{Do: "commit", Lane: "a", Commits: 3},
				command{Do: "commit", Lane: "a", Commits: 4},
			)
			require.Len(t, answers[1]["nanoseconds"], 3)
			require.Len(t, answers[2]["nanoseconds"], 4)
			at, r := committed(t, dir), inspected(t, dir)
			require.Equal(t, 1+want.batches, at.Batch)
			require.Equal(t, 10+want.hashes, r.Hashes)
			require.EqualValues(t, 1+want.frames, r.Frames)
			require.EqualValues(t, want.frames*(40+16+100), r.Size-before.Size)
			if kind == "both" {
				require.Equal(t, r.Hashes, at.Hashes)
				require.Equal(t, r.Last, at.Generation)
			}
		})
	}
}

func TestText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.jsonl")
	a := do1(t, command{Do: "text", Path: path, Bytes: 1 << 20})
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.EqualValues(t, len(data), a["bytes"])
	require.InDelta(t, 1<<20, len(data), 2000)
	n := 0
	for line := range bytes.Lines(data) {
		var row struct {
			ID   int
			Text string
		}
		require.NoError(t, json.Unmarshal(line, &row))
		require.Equal(t, n, row.ID)
		require.True(t, strings.HasPrefix(row.Text, fmt.Sprintf("row %d ", n)), row.Text)
		n++
	}
	require.EqualValues(t, n, a["rows"])
	require.EqualValues(t, n, do1(t, command{Do: "scan", Path: path})["rows"])
}

func TestRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text.jsonl")
	rows := int(do1(t, command{Do: "text", Path: path, Bytes: 1 << 20})["rows"].(float64))
	for _, form := range []string{"records", "dedup"} {
		run := filepath.Join(dir, form)
		a := do1(t, command{Do: "run", Form: form, Path: path, Dir: run, Rows: 1000})
		require.EqualValues(t, 1024, a["rows"], "whole batches")
		for range 2 {
			a = do1(t, command{Do: "first", Form: form, Path: path, Dir: run})
			require.EqualValues(t, 1024, a["first"])
			require.EqualValues(t, 256, a["rows"])
		}
		if form == "dedup" {
			// Those of the last rows come again, from where the stage goes on.
			require.Positive(t, committed(t, run).Hashes)
			require.LessOrEqual(t, committed(t, run).Hashes, uint64(1024))
		}
		far := command{Do: "run", Form: form, Path: path, Dir: filepath.Join(dir, "far"+form), Rows: rows + 1}
		require.Contains(t, ask(t, far)[0]["error"], "EOF")
	}
}

func TestCommandsThatCannotBeDone(t *testing.T) {
	dir := t.TempDir()
	for want, c := range map[string]command{
		`unknown command "fly"`:            {Do: "fly"},
		`no lane "a"`:                      {Do: "commit", Lane: "a"},
		`unknown kind "odd" of a lane`:     {Do: "open", Lane: "a", Kind: "odd", Dir: dir},
		`unknown form "odd" of a pipeline`: {Do: "first", Form: "odd", Dir: dir},
	} {
		require.Equal(t, want, ask(t, c)[0]["error"])
	}
	twice := command{Do: "open", Lane: "a", Kind: "tracker", Dir: dir}
	require.Equal(t, `lane "a" is open`, ask(t, twice, twice)[1]["error"])
	require.Error(t, serve(strings.NewReader("open the door\n"), new(bytes.Buffer)))
}
