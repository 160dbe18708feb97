package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// asSide makes this test program a side instead, that takes so many seconds.
const asSide = "ROSALINE_TEST_SIDE"

func TestMain(m *testing.M) {
	if os.Getenv(asSide) != "" {
		err := protocol.Serve(os.Stdin, os.Stdout, protocol.Hello{System: "fake", Version: "7.8.9"}, fake)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// fake answers every case like a side that does the work, in 100 ms.
func fake(c protocol.Command) (protocol.Run, error) {
	r := protocol.Run{Samples: c.N, Seconds: 0.1, Fold: uint64(c.N)}
	switch {
	case c.Case == "latency":
		r.Samples = 1
	case strings.HasPrefix(c.Case, "jsonl"):
		// The lines must be there; many are not counted, which takes long.
		path := filepath.Join(os.Args[1], fmt.Sprintf("lines-%d.jsonl", c.N))
		if c.N > 10_000 {
			_, err := os.Stat(path)
			return r, err
		}
		data, err := os.ReadFile(path)
		if n := bytes.Count(data, []byte{'\n'}); err == nil && n != c.N {
			err = fmt.Errorf("%d lines", n)
		}
		return r, err
	}
	return r, nil
}

// driven runs the driver with this program as the sides that the flags name.
func driven(t *testing.T, args ...string) (out, log string, err error) {
	t.Helper()
	t.Setenv(asSide, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the sides exit at once
	exe, err := os.Executable()
	require.NoError(t, err)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "SIDE", exe)
	}
	var o, l bytes.Buffer
	err = run(t.Context(), append([]string{"-scratch", t.TempDir()}, args...), &o, &l)
	return o.String(), l.String(), err
}

func TestRunWritesTheReportOfAWholeRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	out, log, err := driven(t, "-rosaline", "SIDE", "-tenshift", "SIDE", "-rounds", "1", "-out", path, "-command", "a|b")
	require.NoError(t, err)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, out, string(written))
	for _, b := range benches() {
		require.Equal(t, len(b.workers), strings.Count(out, "\n| "+b.title+" |"), b.title)
		require.Contains(t, log, "  "+b.name+", workers 2: ")
	}
	require.Contains(t, out, "| tenshift-core | 7.8.9 |\n| Rosaline | 7.8.9 |")
	require.Contains(t, out, `| command | `+"`a\\|b`"+` |`)
	require.Contains(t, out, "| memory, unbatched | 1 | 200000 | 2.00 M/s (2.00 M/s) | 2.00 M/s (2.00 M/s) | 1.00× (1.00) | ≥ 50× | **1.00×, MISSED** |")
}

func TestRunMeasuresOursAlone(t *testing.T) {
	out, log, err := driven(t, "-rosaline", "SIDE", "-without", "cargo is away", "-rounds", "1", "-cases", "^batch$")
	require.NoError(t, err)
	require.Contains(t, log, "tenshift-core is not measured: cargo is away")
	require.Contains(t, out, "| tenshift-core | not measured: cargo is away |")
	require.Contains(t, out, "| 1 | 400000 | – | 4.00 M/s (4.00 M/s) | – | – | – |")
}

func TestRunOfAPartWritesNoReport(t *testing.T) {
	for samples, flags := range map[string][]string{"400000": {"-cases", "^batch$"}, "4000": {"-shrink", "100"}} {
		path := filepath.Join(t.TempDir(), "RESULTS.md")
		out, _, err := driven(t, append([]string{"-rosaline", "SIDE", "-rounds", "1", "-out", path}, flags...)...)
		require.NoError(t, err)
		require.Contains(t, out, "| batch of 32, collated | 2 | "+samples+" |")
		require.NoFileExists(t, path)
	}
}

func TestRunReportsASideThatFails(t *testing.T) {
	_, _, err := driven(t, "-rosaline", "SIDE", "-tenshift", "./no such program")
	require.ErrorContains(t, err, "no such program")
}

func TestRunRefusesFlags(t *testing.T) {
	for _, c := range []struct{ want, flags string }{
		{"-rosaline", "-scratch x"},
		{"-scratch", "-rosaline x"},
		{"-rounds", "-rosaline x -scratch x -rounds 0"},
		{"-shrink", "-rosaline x -scratch x -shrink 0"},
		{"-limit", "-rosaline x -scratch x -limit 0s"},
		{"matches none", "-rosaline x -scratch x -cases nothing"},
		{"missing closing", "-rosaline x -scratch x -cases ("},
		{`"extra"`, "-rosaline x -scratch x extra"},
		{"not defined", "-nothing"},
	} {
		err := run(t.Context(), strings.Fields(c.flags), io.Discard, io.Discard)
		require.ErrorContains(t, err, c.want, c.flags)
	}
	require.NoError(t, run(t.Context(), []string{"-help"}, io.Discard, io.Discard))
}
