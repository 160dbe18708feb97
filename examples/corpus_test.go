package examples_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rosaline is the path of the command, built once for all tests.
var rosaline string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "rosaline-examples-")
		if err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(dir)
		rosaline = filepath.Join(dir, "rosaline")
		if runtime.GOOS == "windows" {
			rosaline += ".exe"
		}
		build := exec.Command("go", "build", "-o", rosaline, "../cmd/rosaline")
		if out, err := build.CombinedOutput(); err != nil {
			log.Printf("build: %v\n%s", err, out)
			return 1
		}
		if err := lookAtSources(); err != nil {
			log.Print(err)
			return 1
		}
		return m.Run()
	}())
}

// lookAtSources reads the folders that the command is built from. The go command
// remembers which folders a test has read: without this it would give a stored
// result although the command has changed.
func lookAtSources() error {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", "../cmd/rosaline").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); dir == "" {
			continue
		}
		if _, err := os.ReadDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// outcome is what must become of one record, a line of expected/*.jsonl.gz.
type outcome struct {
	File string
	Line int64
	ID   any // a string or a number

	// Of a record that is kept: its text, or only the hash of it.
	Text   *string
	SHA256 string

	// Of a record that is dropped. A stage without a number has no Value.
	Stage, Reason string
	Value, Bound  *float64
}

// totals are the counts over all records: expected/*.json has these fields, a
// report has more (docs/report.md).
type totals struct {
	State   string // of a report only
	Records struct{ In, Out, Dropped int64 }
	Bytes   struct {
		TextIn  int64 `json:"text_in"`
		TextOut int64 `json:"text_out"`
	}
	Stages []struct {
		Name    string
		In, Out int64
		Dropped map[string]int64
		Masked  map[string]int64
	}
	Source map[string]int64
}

func expectation(t *testing.T, name string) ([]outcome, totals) {
	t.Helper()
	f, err := os.Open(filepath.Join("expected", name+".jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var all []outcome
	for d := json.NewDecoder(z); ; {
		var o outcome
		if err := d.Decode(&o); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		all = append(all, o)
	}
	var sum totals
	data, err := os.ReadFile(filepath.Join("expected", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &sum))
	return all, sum
}

// result is what one run left behind.
type result struct {
	exit                 int
	out, rejects, report []byte
	partial              []byte // output of a run that failed
	stderr               string
}

// run runs the command on a folder beside this file, with any further flags.
func run(t *testing.T, input string, flags ...string) result {
	t.Helper()
	dir := t.TempDir()
	out, rejects, report := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "rejects.jsonl"), filepath.Join(dir, "report.json")
	args := append([]string{"run", input, "-o", out, "--rejects", rejects, "--report", report, "--progress", "off"}, flags...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, rosaline, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r := result{}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", stderr.String())
		r.exit = exit.ExitCode()
	}
	r.stderr = stderr.String()
	for path, dst := range map[string]*[]byte{
		out: &r.out, out + ".partial": &r.partial, rejects: &r.rejects, report: &r.report,
	} {
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		*dst = data
	}
	return r
}

// lines decodes JSON lines into values of type T, refusing fields it lacks.
func lines[T any](t *testing.T, data []byte) []T {
	t.Helper()
	var all []T
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v T
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&v), "%s", s.Text())
		all = append(all, v)
	}
	require.NoError(t, s.Err())
	return all
}

type keptLine struct {
	ID   any
	Text string
}

type rejectLine struct {
	ID            any
	Stage, Reason string
	Value, Bound  float64
}

// check holds a run to what is expected of each record, in order.
func check(t *testing.T, want []outcome, r result) {
	t.Helper()
	kept, rejects := lines[keptLine](t, r.out), lines[rejectLine](t, r.rejects)
	wrong := 0
	fail := func(o outcome, format string, args ...any) {
		t.Helper()
		if wrong++; wrong <= 20 {
			t.Errorf("%s:%d (id %v): %s", o.File, o.Line, o.ID, fmt.Sprintf(format, args...))
		}
	}
	for _, o := range want {
		if o.Stage == "" {
			if len(kept) == 0 || kept[0].ID != o.ID {
				fail(o, "should be kept, is not in the output at its place")
				continue
			}
			text := kept[0].Text
			kept = kept[1:]
			if sum := sha256.Sum256([]byte(text)); o.Text != nil && text != *o.Text {
				fail(o, "text is\n%q, want\n%q", text, *o.Text)
			} else if o.Text == nil && hex.EncodeToString(sum[:]) != o.SHA256 {
				fail(o, "text has another hash: %.300q", text)
			}
			continue
		}
		if len(rejects) == 0 || rejects[0].ID != o.ID {
			fail(o, "should be dropped by %s (%s), is not in the rejects at its place", o.Stage, o.Reason)
			continue
		}
		got := rejects[0]
		rejects = rejects[1:]
		if got.Stage != o.Stage || got.Reason != o.Reason {
			fail(o, "dropped by %s (%s, %v), want %s (%s)", got.Stage, got.Reason, got.Value, o.Stage, o.Reason)
		} else if o.Value != nil && (!near(got.Value, *o.Value) || !near(got.Bound, *o.Bound)) {
			fail(o, "%s: value %v bound %v, want %v and %v", o.Reason, got.Value, got.Bound, *o.Value, *o.Bound)
		}
	}
	if wrong > 0 {
		t.Fatalf("%d of %d records have another outcome", wrong, len(want))
	}
	require.Empty(t, kept, "more in the output than expected")
	require.Empty(t, rejects, "more rejects than expected")
}

// checkReport holds the counts of a run to what is expected.
func checkReport(t *testing.T, want totals, report []byte) {
	t.Helper()
	var got totals
	require.NoError(t, json.Unmarshal(report, &got))
	require.Equal(t, "done", got.State)
	got.State = ""
	require.Equal(t, want, got)
}

// near allows for the order in which an entropy is added up.
func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestCorpus holds the command to the outcome of every record, whatever the
// number of workers and the size of a batch.
func TestCorpus(t *testing.T) {
	want, sum := expectation(t, "corpus")
	require.Len(t, want, int(sum.Records.In))
	first := run(t, "corpus", "--workers", "1")
	require.Zero(t, first.exit, first.stderr)
	check(t, want, first)
	checkReport(t, sum, first.report)

	for _, workers := range []string{"1", "2", "4"} {
		for _, batch := range []string{"1", "64", "1000"} {
			t.Run("workers="+workers+"/batch="+batch, func(t *testing.T) {
				r := run(t, "corpus", "--workers", workers, "--batch", batch)
				require.Zero(t, r.exit, r.stderr)
				require.True(t, bytes.Equal(first.out, r.out), "output differs from that of one worker")
				require.True(t, bytes.Equal(first.rejects, r.rejects), "rejects differ from those of one worker")
				checkReport(t, sum, r.report)
			})
		}
	}
}

// TestReadmeShowsTheRun compares the table in the README with that of the run it
// shows.
func TestReadmeShowsTheRun(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	printed := map[string]bool{}
	for line := range strings.Lines(run(t, "corpus").stderr) {
		printed[strings.Join(strings.Fields(line), " ")] = true
	}
	rows := regexp.MustCompile(`(?m)^ +(records|text bytes|source|clean|quality|dedup|pii) +[0-9,]+ .*$`).FindAllString(string(readme), -1)
	require.Len(t, rows, 7)
	for _, row := range rows {
		require.Contains(t, printed, strings.Join(strings.Fields(row), " "))
	}
}

// TestMaskingFirst moves deduplication behind masking, so that texts which differ
// only in what is masked become copies.
func TestMaskingFirst(t *testing.T) {
	want, _ := expectation(t, "corpus")
	one, none := 1.0, 0.0
	seen, alike := map[string]bool{}, 0
	for i, o := range want {
		if o.Stage != "" {
			continue
		}
		hash := o.SHA256
		if o.Text != nil {
			sum := sha256.Sum256([]byte(*o.Text))
			hash = hex.EncodeToString(sum[:])
		}
		if seen[hash] {
			want[i] = outcome{File: o.File, Line: o.Line, ID: o.ID, Stage: "dedup", Reason: "duplicate", Value: &one, Bound: &none}
			alike++
		}
		seen[hash] = true
	}
	require.Positive(t, alike)
	r := run(t, "corpus", "--stages", "clean,quality,pii,dedup", "--workers", "4")
	require.Zero(t, r.exit, r.stderr)
	check(t, want, r)
}

// TestBroken runs over lines that are not records: skipped one by one, each with
// its reason, or the end of the run at the first, with
// what precedes it written.
func TestBroken(t *testing.T) {
	want, sum := expectation(t, "broken")
	for _, workers := range []string{"1", "4"} {
		r := run(t, "broken", "--on-error", "skip", "--max-line", "65536", "--workers", workers)
		require.Zero(t, r.exit, r.stderr)
		check(t, want, r)
		checkReport(t, sum, r.report)

		first := slices.IndexFunc(want, func(o outcome) bool { return o.Stage != "" })
		r = run(t, "broken", "--max-line", "65536", "--workers", workers)
		require.Equal(t, 1, r.exit, r.stderr)
		require.Contains(t, r.stderr, fmt.Sprintf("%s:%d", want[first].File, want[first].Line), "the first bad line is not named")
		require.Nil(t, r.out, "an output that is not complete has the name of one that is")
		check(t, want[:first], result{out: r.partial})
	}
}

// TestCorpusIsBigEnough counts what the corpus promises to hold.
func TestCorpusIsBigEnough(t *testing.T) {
	want, _ := expectation(t, "corpus")
	prose, languages := 0, map[string]bool{}
	for _, o := range want {
		source, rest, _ := strings.Cut(fmt.Sprint(o.ID), "/")
		switch source {
		case "gnome-help", "debian-handbook":
			language, _, _ := strings.Cut(rest, "/")
			languages[language[:min(2, len(language))]] = true
			prose++
		case "jargon", "licence":
			prose++
		default:
			if strings.Contains(o.File, ".txt") {
				prose++
			}
		}
	}
	require.GreaterOrEqual(t, prose, 3000)
	require.GreaterOrEqual(t, len(languages), 20)

	size := int64(0)
	for _, folder := range []string{"corpus", "broken", "expected"} {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range entries {
			info, err := e.Info()
			require.NoError(t, err)
			if info.Mode().IsRegular() {
				size += info.Size()
			}
		}
	}
	require.LessOrEqual(t, size, int64(2<<20), "bytes in the folders")
}

// TestExpectationIsCurrent makes the expectation anew where Python can.
func TestExpectationIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of Python")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	if exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
		t.Skip("python3 is older than 3.11")
	}
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("no command zstd")
	}
	_, err = os.ReadDir(filepath.Join("corpus", "maker")) // see lookAtSources
	require.NoError(t, err)
	out, err := exec.Command(python, filepath.Join("corpus", "make_corpus.py"), "check").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
