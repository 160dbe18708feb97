package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// binary is the command, built once for the tests that need a process.
var binary string

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "rosaline-test-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "rosaline")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-o", binary, "-ldflags", "-X main.version=v0.0.0-test -X main.commit=c0ffee", ".")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w\n%s", err, out)
	}
	code := m.Run()
	return code, goleak.Find()
}

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// process runs the binary.
func process(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// inProcess runs the command inside the test.
func inProcess(t require.TestingT, stdin string, args ...string) result {
	var out, errOut bytes.Buffer
	code := execute(context.Background(), args, streams{strings.NewReader(stdin), &out, &errOut})
	return result{code, out.String(), errOut.String()}
}

// write writes a file of a test and returns its path.
func write(t require.TestingT, dir, name, content string) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func read(t require.TestingT, path string) string {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// line is a line of output or of rejects.
type line struct {
	ID     any     `json:"id"`
	Text   string  `json:"text"`
	Tokens []int   `json:"tokens"`
	Stage  string  `json:"stage"`
	Reason string  `json:"reason"`
	Value  float64 `json:"value"`
	Bound  float64 `json:"bound"`
}

// lines parses JSONL; every line must end.
func lines(t require.TestingT, s string) []line {
	var out []line
	for l := range strings.Lines(s) {
		require.True(t, strings.HasSuffix(l, "\n"), "cut line %q", l)
		var x line
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&x), "%q", l)
		out = append(out, x)
	}
	return out
}

// prose is a text that the default bounds keep, different for each n.
func prose(n int) string {
	return fmt.Sprintf("Record number %d tells of a quick brown fox that jumps over %d lazy dogs.", n, n+2)
}

// record is a line of input.
func record(id, text string) string {
	b, err := json.Marshal(map[string]string{"id": id, "text": text})
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// proseRecords are n lines of input that the default bounds keep.
func proseRecords(n int) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(record(fmt.Sprint(i), prose(i)))
	}
	return s.String()
}
