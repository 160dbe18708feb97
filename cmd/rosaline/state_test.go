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
			name, len(got[name]), len(content), common(content, got[name]), args)
	}
}

// common is how many bytes two strings begin with that are the same.
func common(a, b string) int {
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
