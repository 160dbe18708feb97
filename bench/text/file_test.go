package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileRows(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(out, []byte(`{"id":"7","text":"a\tb"}`+"\n"+`{"id":"8","text":""}`+"\n"), 0o644))
	rows, err := files{out: out}.rows()
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("7\ta\tb"), []byte("8\t")}, slices.Collect(rows))
}

func TestFileRowsOfABrokenOutput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(out, []byte(`{"id":"7","te`), 0o644))
	_, err := files{out: out}.rows()
	require.ErrorContains(t, err, out)
}

func TestFileSize(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.jsonl")
	// A line longer than the buffer of the reader counts once.
	data := strings.Repeat("x", 10_000) + "\n\nlast\n"
	require.NoError(t, os.WriteFile(in, []byte(data), 0o644))
	lines, size, err := files{in: in}.size()
	require.NoError(t, err)
	require.Equal(t, 3, lines)
	require.Equal(t, int64(len(data)), size)
}

// A command that fails must fail the job and show what it said. Here the go
// command plays its part: it has a run, too, but not with these flags.
func TestFileWorkReportsTheCommand(t *testing.T) {
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command in the path")
	}
	err = files{command: command, in: "in", out: "out"}.work(1, nil).Run()
	require.ErrorContains(t, err, "flag provided but not defined: -workers")
}

func TestFilesHasFlag(t *testing.T) {
	_, err := files{command: filepath.Join(t.TempDir(), "none")}.hasFlag("repair")
	require.ErrorContains(t, err, "run --help")
	command, err := exec.LookPath("echo")
	if err != nil {
		t.Skip("no echo command in the path")
	}
	has, err := files{command: command}.hasFlag("repair")
	require.NoError(t, err)
	require.False(t, has)
}
