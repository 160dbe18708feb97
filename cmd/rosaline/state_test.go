package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// interruptedAt runs the command inside the test, with a signal at the k-th step of its run.
func interruptedAt(t require.TestingT, k int64, args ...string) result {
	var out, errOut bytes.Buffer
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var steps atomic.Int64
	c := newCommand(streams{strings.NewReader(""), &out, &errOut})
	c.pause = func() {
		if steps.Add(1) == k {
			cancel(&interruptError{syscall.SIGINT})
		}
	}
	code := c.execute(ctx, args)
	return result{code, out.String(), errOut.String()}
}

// tree is what is in a folder, by name.
func tree(t require.TestingT, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = read(t, path)
		return err
	}))
	return files
}

// requireTree holds what is in a folder to what must be, without all of it in the message.
func requireTree(t require.TestingT, want map[string]string, dir string, args ...any) {
	got := tree(t, dir)
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), args...)
	for name, content := range want {
		require.True(t, content == got[name], "%s has %d bytes, want %d; they differ from byte %d on: %v",
			name, len(got[name]), len(content), prefixLen(content, got[name]), args)
	}
}

// prefixLen is how many bytes two strings begin with that are the same.
func prefixLen(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// stateInput makes inputs with duplicates, blank lines, short texts and lines that are none.
func stateInput(t require.TestingT, dir string) {
	var in strings.Builder
	for i := range 300 {
		switch {
		case i%11 == 3:
			in.WriteString(record(fmt.Sprint(i), prose(i/2)+" mail jo@example.org"))
		case i%13 == 5:
			in.WriteString("\n" + record(fmt.Sprint(i), "short"))
		case i%29 == 7:
			in.WriteString("{broken\n")
		default:
			in.WriteString(record(fmt.Sprint(i), prose(i)+" mail jo@example.org"))
		}
	}
	all := in.String()
	half := len(all)/2 + strings.IndexByte(all[len(all)/2:], '\n') + 1
	write(t, dir, "in/a.jsonl", all[:half])
	write(t, dir, "in/b.jsonl", all[half:])
}

// stateRuns are runs that differ in what must survive.
var stateRuns = []struct {
	name string
	args []string
	same bool // as the bytes of a run without a state
}{
	{"file", []string{"-o", "out/clean.jsonl"}, true},
	{"gzip", []string{"-o", "out/clean.jsonl.gz", "--rejects", "out/rejects.jsonl.zst"}, false},
	{"zstd", []string{"-o", "out/clean.jsonl.zst", "--commit-every", "3"}, false},
	{"parts", []string{"-o", "out/parts/", "--shard-rows", "40"}, true},
	{"parts by size", []string{"-o", "out/parts/", "--shard-size", "2000", "--commit-every", "4"}, true},
	{"arrow", []string{"-o", "out/parts/", "--out-format", "arrow", "--shard-rows", "30"}, false},
	{"parquet", []string{"-o", "out/parts/", "--out-format", "parquet", "--shard-rows", "30"}, false},
	{"shuffle", []string{"-o", "out/clean.jsonl", "--shuffle", "50", "--seed", "7"}, true},
	{"epochs", []string{"-o", "out/clean.jsonl", "--shuffle", "20", "--epochs", "3"}, true},
	{"rank", []string{"-o", "out/parts/", "--shard", "1/3", "--shard-mode", "pad", "--shard-rows", "20"}, true},
	{"no dedup", []string{"-o", "out/clean.jsonl", "--stages", "clean,pii", "--tokenizer", "bytes"}, true},
}

// TestStateGoesOn: whatever step a run is stopped at, the same command goes on, and what is
// left in the end is what a run that was never stopped leaves, reports included.
func TestStateGoesOn(t *testing.T) {
	dir := t.TempDir()
	stateInput(t, dir)
	t.Chdir(dir)
	for _, c := range stateRuns {
		t.Run(c.name, func(t *testing.T) {
			run := func(state string) []string {
				args := []string{"run", "in", "--batch", "5", "--on-error", "skip", "--rejects", "out/rejects.jsonl", "--report", "report.json", "--progress", "off"}
				if state != "" {
					args = append(args, "--state", state)
				}
				return append(args, c.args...)
			}
			clean := func() {
				require.NoError(t, os.RemoveAll("out"))
				require.NoError(t, os.MkdirAll("out", 0o755))
			}
			clean()
			r := inProcess(t, "", run("")...)
			require.Equal(t, exitDone, r.code, r.err)
			plain, plainReport := tree(t, "out"), totalsOf(t, "report.json")

			clean()
			r = inProcess(t, "", run(filepath.Join(t.TempDir(), "whole"))...)
			require.Equal(t, exitDone, r.code, r.err)
			whole := tree(t, "out")
			require.Equal(t, plainReport, totalsOf(t, "report.json"))
			require.Equal(t, plain["rejects.jsonl"], whole["rejects.jsonl"])
			if c.same {
				requireTree(t, plain, "out")
			}

			seeds := uint64(3)
			if testing.Short() {
				seeds = 1
			}
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(seed, 1))
				clean()
				state, stops := filepath.Join(t.TempDir(), "state"), 0
				for ; ; stops++ {
					args := append(run(state), "--workers", fmt.Sprint(1+rng.IntN(4)), "--prefetch", fmt.Sprint(1+rng.IntN(6)))
					r = interruptedAt(t, 1+rng.Int64N(300), args...)
					if r.code == exitDone {
						break
					}
					require.Equal(t, exitInterrupted, r.code, r.err)
					require.Less(t, stops, 1000)
				}
				requireTree(t, whole, "out", "seed %d", seed)
				require.Equal(t, plainReport, totalsOf(t, "report.json"), "seed %d", seed)
				if seed == 0 {
					require.Positive(t, stops)
				}
				r = inProcess(t, "", run(state)...)
				require.Equal(t, exitDone, r.code, r.err)
				require.Contains(t, r.err, "complete")
				requireTree(t, whole, "out", "once more")
				require.Equal(t, plainReport, totalsOf(t, "report.json"), "once more")
			}
		})
	}
}

// totalsOf is what a report counts.
func totalsOf(t require.TestingT, path string) totals {
	var r report
	require.NoError(t, json.Unmarshal([]byte(read(t, path)), &r))
	r.totals.Bytes.Read, r.totals.Bytes.Written = 0, 0
	return r.totals
}

// TestStateRefuses: what cannot go on says why, and changes nothing.
func TestStateRefuses(t *testing.T) {
	dir := t.TempDir()
	stateInput(t, dir)
	t.Chdir(dir)
	base := []string{"run", "in", "--on-error", "skip", "-o", "out.jsonl", "--batch", "5"}
	with := func(args ...string) []string { return append(base[:len(base):len(base)], args...) }
	r := interruptedAt(t, 100, with("--state", "state")...)
	require.Equal(t, exitInterrupted, r.code, r.err)
	write(t, dir, "more.jsonl", record("more", prose(999)))
	before := tree(t, ".")

	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{with("--state", "state", "--batch", "6"), exitUsage, "--batch was 5 and is 6"},
		{with("--state", "state", "--seed", "9"), exitUsage, "--seed was 0 and is 9"},
		{with("--state", "state", "-o", "other.jsonl"), exitUsage, "--output was out.jsonl and is other.jsonl"},
		{append(with("--state", "state"), "more.jsonl"), exitUsage, "input 3 is more.jsonl, "},
		{with("--state", "new", "--unordered"), exitUsage, "--unordered"},
		{with("--state", "new", "-o", "x.parquet"), exitUsage, "name a folder"},
		{with("--state", "new", "--out-format", "arrow", "-o", "-"), exitUsage, "name a folder"},
		{with("--state", "in"), exitUsage, "holds the input"},
		{with("--state", "."), exitUsage, "holds --output"},
		{with("--state", "out.jsonl.partial"), exitUsage, "is no folder"},
		{with("--state", "new", "--commit-every", "0"), exitUsage, "--commit-every"},
	} {
		r := inProcess(t, "", c.args...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.err)
		require.Contains(t, r.err, c.says)
		requireTree(t, before, ".", "%v", c.args)
	}

	// An input that has grown is another one.
	in := read(t, "in/b.jsonl")
	write(t, dir, "in/b.jsonl", in+record("more", prose(999)))
	r = inProcess(t, "", with("--state", "state")...)
	require.Equal(t, exitUsage, r.code, r.err)
	require.Contains(t, r.err, "input 2 was in/b.jsonl, ")
	write(t, dir, "in/b.jsonl", in)

	// The output is gone.
	require.NoError(t, os.Rename("out.jsonl.partial", "elsewhere"))
	r = inProcess(t, "", with("--state", "state")...)
	require.Equal(t, exitFailed, r.code, r.err)
	require.Contains(t, r.err, "out.jsonl")
	require.NoError(t, os.Rename("elsewhere", "out.jsonl.partial"))

	r = inProcess(t, "", with("--state", "state")...)
	require.Equal(t, exitDone, r.code, r.err)
	require.NoError(t, os.Remove("out.jsonl"))
	r = inProcess(t, "", with("--state", "state")...)
	require.Equal(t, exitFailed, r.code, r.err)
	require.Contains(t, r.err, "out.jsonl")
}

// TestStateBehindABadRecord: a run that a bad record has ended goes on once it may be skipped.
func TestStateBehindABadRecord(t *testing.T) {
	for _, shuffle := range []string{"0", "10"} {
		dir := t.TempDir()
		stateInput(t, dir)
		args := []string{"run", dir + "/in", "-o", dir + "/out.jsonl", "--batch", "5", "--shuffle", shuffle}
		r := inProcess(t, "", append(args, "--on-error", "skip")...)
		require.Equal(t, exitDone, r.code, r.err)
		want := read(t, dir+"/out.jsonl")
		require.NoError(t, os.Remove(dir+"/out.jsonl"))

		args = append(args, "--state", dir+"/state")
		for range 2 {
			r = inProcess(t, "", args...)
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "a.jsonl:")
			require.NoFileExists(t, dir+"/out.jsonl")
			require.True(t, strings.HasPrefix(want, read(t, dir+"/out.jsonl.partial")))
		}
		r = inProcess(t, "", append(args, "--on-error", "skip")...)
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, want, read(t, dir+"/out.jsonl"))
	}
}

// TestStateOfTables: rows of tables that are larger than a buffer, and uneven, are cut alike
// wherever a run goes on.
func TestStateOfTables(t *testing.T) {
	dir := t.TempDir()
	rows := 3000
	if testing.Short() {
		rows = 1500
	}
	var csv strings.Builder
	csv.WriteString("id,text\n")
	for i := range rows {
		fmt.Fprintf(&csv, "%d,%q\n", i, strings.Repeat(prose(i)+" ", 1+i/150%2*45))
	}
	write(t, dir, "in.csv", csv.String())
	for _, format := range []string{"arrow", "parquet"} {
		r := inProcess(t, "", "run", dir+"/in.csv", "--stages", "none", "-o", dir+"/in."+format, "--progress", "off")
		require.Equal(t, exitDone, r.code, r.err)
	}
	for _, in := range []string{"in.csv", "in.arrow", "in.parquet"} {
		args := []string{"run", dir + "/" + in, "--stages", "none", "--batch", "256", "--progress", "off", "-o"}
		r := inProcess(t, "", append(args, dir+"/whole.jsonl")...)
		require.Equal(t, exitDone, r.code, r.err)
		rng := rand.New(rand.NewPCG(5, 5))
		for round := range 5 {
			state, out := fmt.Sprintf("%s/%s-%d", dir, in, round), fmt.Sprintf("%s/%s-%d.jsonl", dir, in, round)
			for {
				r = interruptedAt(t, 1+rng.Int64N(100), append(args, out, "--state", state)...)
				if r.code == exitDone {
					break
				}
				require.Equal(t, exitInterrupted, r.code, r.err)
			}
			require.True(t, read(t, dir+"/whole.jsonl") == read(t, out), "%s, round %d", in, round)
		}
	}
}

// TestStateKnowsItsFiles: what another run has written, or a user keeps, is neither taken over nor
// removed.
func TestStateKnowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	stateInput(t, dir)
	t.Chdir(dir)
	run := func(k int64, args ...string) result {
		return interruptedAt(t, k, append([]string{"run", "in", "--on-error", "skip", "--batch", "5", "--progress", "off"}, args...)...)
	}
	refused := func(r result, code int, says string) {
		t.Helper()
		require.Equal(t, code, r.code, r.err)
		require.Contains(t, r.err, says)
	}

	// Another run has gone on with the file.
	require.Equal(t, exitInterrupted, run(60, "-o", "o.jsonl", "--state", "sa").code)
	require.Equal(t, exitInterrupted, run(150, "-o", "o.jsonl", "--state", "sb", "--stages", "clean").code)
	before := tree(t, ".")
	refused(run(0, "-o", "o.jsonl", "--state", "sa"), exitFailed, "another run has written it")
	requireTree(t, before, ".")
	require.Equal(t, exitDone, run(0, "-o", "o.jsonl", "--state", "sb", "--stages", "clean").code)

	// What lies at the name is older, and the run's own file is gone.
	write(t, dir, "old.jsonl", strings.Repeat("old\n", 50_000))
	require.Equal(t, exitInterrupted, run(100, "-o", "old.jsonl", "--state", "sc").code)
	require.NoError(t, os.Remove("old.jsonl.partial"))
	before = tree(t, ".")
	refused(run(0, "-o", "old.jsonl", "--state", "sc"), exitFailed, "another run has written it")
	requireTree(t, before, ".")

	// Another run has filled the folder; notes that look like parts stay.
	require.Equal(t, exitInterrupted, run(8, "-o", "parts/", "--state", "sd", "--shard-rows", "30").code)
	write(t, dir, "parts/part-00099.notes.txt", "mine")
	require.Equal(t, exitInterrupted, run(60, "-o", "parts/", "--state", "sd", "--shard-rows", "30").code)
	require.FileExists(t, "parts/part-00099.notes.txt")
	require.NoError(t, os.Remove("parts/part-00099.notes.txt"))
	require.Equal(t, exitDone, run(0, "-o", "parts/", "--shard-rows", "30", "--overwrite").code)
	before = tree(t, ".")
	refused(run(0, "-o", "parts/", "--state", "sd", "--shard-rows", "30"), exitFailed, "another run has written into")
	requireTree(t, before, ".")

	// A folder of the user's.
	for _, name := range []string{"config", "known", "log", "tracker"} {
		write(t, dir, "mine/"+name, "Host x\n")
		before := tree(t, "mine")
		r := run(0, "-o", "m.jsonl", "--state", "mine")
		require.Equal(t, exitFailed, r.code, r.err)
		require.Equal(t, before[name], read(t, "mine/"+name))
		require.NoError(t, os.RemoveAll("mine"))
	}
	require.NoFileExists(t, "m.jsonl")
}

// TestStateDetails: an output keeps its mode, an empty one that is compressed can be read, a run
// that has committed nothing takes other options, a key that has changed is seen, and parts are
// not removed for a run that cannot begin.
func TestStateDetails(t *testing.T) {
	dir := t.TempDir()
	stateInput(t, dir)
	t.Chdir(dir)
	run := func(args ...string) result {
		return inProcess(t, "", append([]string{"run", "in", "--on-error", "skip", "--progress", "off"}, args...)...)
	}
	write(t, dir, "o.jsonl", "")
	require.NoError(t, os.Chmod("o.jsonl", 0o600))
	r := run("-o", "o.jsonl", "--state", "s1", "--rejects", "none.jsonl.gz", "--stages", "none", "--invalid-utf8", "replace", "--max-line", "64KiB")
	require.Equal(t, exitDone, r.code, r.err)
	info, err := os.Stat("o.jsonl")
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	write(t, dir, "good/a.jsonl", record("1", prose(1)))
	r = inProcess(t, "", "run", "good", "-o", "g.jsonl.zst", "--rejects", "g.jsonl.gz", "--state", "s2", "--progress", "off")
	require.Equal(t, exitDone, r.code, r.err)
	require.Positive(t, len(read(t, "g.jsonl.gz")))
	r = inProcess(t, "", "run", "g.jsonl.gz", "--progress", "off")
	require.Equal(t, exitDone, r.code, r.err)

	r = run("-o", "missing/o.jsonl", "--state", "s3")
	require.Equal(t, exitFailed, r.code)
	r = run("-o", "here.jsonl", "--state", "s3", "--seed", "4")
	require.Equal(t, exitDone, r.code, r.err)

	write(t, dir, "key", strings.Repeat("k", 32))
	hashed := []string{"-o", "h.jsonl", "--state", "s4", "--pii", "none", "--pii-rule", "no=number [0-9]+", "--pii-mode", "hash", "--pii-key-file", "key"}
	r = interruptedAt(t, 60, append([]string{"run", "in", "--on-error", "skip", "--batch", "5"}, hashed...)...)
	require.Equal(t, exitInterrupted, r.code, r.err)
	write(t, dir, "key", strings.Repeat("K", 32))
	r = run(append(hashed, "--batch", "5")...)
	require.Equal(t, exitUsage, r.code, r.err)
	require.Contains(t, r.err, "key of --pii-mode hash")

	r = run("-o", "p/", "--shard-rows", "50")
	require.Equal(t, exitDone, r.code, r.err)
	before := tree(t, "p")
	for _, state := range [][]string{{"--state", "s5"}, nil} {
		r = run(append([]string{"-o", "p/", "--overwrite", "--rejects", "missing/r.jsonl"}, state...)...)
		require.Equal(t, exitFailed, r.code, r.err)
		requireTree(t, before, "p")
	}
}
