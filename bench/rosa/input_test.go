package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/rosa"
)

func named(t *testing.T, name string) input {
	for _, in := range inputs {
		if in.name == name {
			return in
		}
	}
	t.Fatal(name)
	return input{}
}

// letters writes tokens as a, b, c …
func letters(x []int64) string {
	var s strings.Builder
	for _, t := range x {
		s.WriteByte(byte('a' + t))
	}
	return s.String()
}

func TestInputs(t *testing.T) {
	for name, want := range map[string]string{
		"unary":      "aaaaaaaa",
		"stairs":     "abaabaaabaaaab",
		"Fibonacci":  "abaababaabaab",
		"Thue–Morse": "abbabaabbaababba",
		"a^n b":      "aaaaabaaaa",
		"period 16":  "abejfddfjebabejfab",
	} {
		x, err := named(t, name).tokens(len(want))
		require.NoError(t, err)
		require.Equal(t, want, letters(x), name)
	}
	x, err := named(t, "a^k c_j").tokens(4000)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, []int64{x[1999], x[3999]})
	x, err = named(t, "combs").tokens(50_000)
	require.NoError(t, err)
	teeth := 0
	for _, token := range x {
		require.Less(t, token, int64(256))
		if token > 0 {
			teeth++
		}
	}
	require.InDelta(t, 25, teeth, 20)
}

func TestComments(t *testing.T) {
	src := "// Copyright X.\n\n// Package p does\n// a thing.\npackage p\n\n//go:generate x\n/* and more */ var s = \"// no\"\n"
	require.Equal(t, "Package p does\na thing.\nand more\n", string(comments([]byte(src))))
}

// TestTwice has a match of half of the tokens that breaks.
func TestTwice(t *testing.T) {
	x, err := twice(each(func(i, _ int) int64 { return int64(i + 1) }))(11)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 0}, x)
	x, err = twice(each(func(i, _ int) int64 { return int64(i + 1) }))(8)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 1, 2, 3, 0}, x)
}

// TestLibrary has more text than the comparison takes.
func TestLibrary(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	t.Setenv("GOROOT", strings.TrimSpace(string(root)))
	for _, name := range []string{"English", "source code"} {
		x, err := named(t, name).tokens(lengths[0])
		if err != nil {
			t.Skip("no sources here: ", err)
		}
		for _, token := range x {
			require.Less(t, uint64(token), uint64(256))
		}
	}
}

// TestCheck compares with what zlib.crc32 of Python says of the same bytes.
func TestCheck(t *testing.T) {
	squares := make([]int64, 70_000)
	for i := range squares {
		squares[i] = int64(i)*int64(i) - 5
	}
	check, err := checkOf(squares, []int32{1, -2, 3})
	require.NoError(t, err)
	require.Equal(t, "1ebd493a", check)
	_, err = checkOf([]string{"a"})
	require.Error(t, err)
}

// TestJobs does each job on a file, and asks the same of a state.
func TestJobs(t *testing.T) {
	dir := t.TempDir()
	in := named(t, "random 1-bit")
	require.NoError(t, in.write(dir, 640))
	path := filepath.Join(dir, in.fileName(640))
	x, err := readTokens(path)
	require.NoError(t, err)
	matches, err := rosa.NewState().Prefill(x)
	require.NoError(t, err)
	top, err := checkOf(nexts(matches))
	require.NoError(t, err)
	rows, err := rosa.NewCandidates(rosa.WithSuffixes(2), rosa.WithOccurrences(3)).Prefill(x)
	require.NoError(t, err)
	candidates, err := checkOf(rows.Source, rows.Length, rows.State, rows.Frequency, rows.Count)
	require.NoError(t, err)
	want := map[string]string{
		"step": top, "prefill": top, "prefill into": top, "abi1 step": top,
		"candidates step": candidates, "candidates prefill": candidates,
		"candidates prefill into": candidates, "abi1 candidates step": candidates,
	}
	for name := range jobs {
		if name == "memory" && runtime.GOOS != "linux" {
			continue
		}
		var out bytes.Buffer
		require.NoError(t, run([]string{"-job", name, "-input", path, "-check", "-k", "2", "-r", "3", "-rows", "64",
			"-min-time", time.Microsecond.String()}, &out), name)
		var r result
		require.NoError(t, json.Unmarshal(out.Bytes(), &r))
		require.NotEmpty(t, r.Seconds)
		if want[name] != "" {
			require.Equal(t, want[name], r.Check, name)
		}
	}
	require.Error(t, run([]string{"-job", "dance", "-input", path}, &bytes.Buffer{}))
	require.Error(t, run([]string{"-job", "step", "-input", path, "-n", "641"}, &bytes.Buffer{}))
	require.Error(t, run([]string{"-job", "batch step", "-input", path, "-rows", "7"}, &bytes.Buffer{}))
}
