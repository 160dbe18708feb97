package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExitCodes holds the process to the codes that scripts depend on. {dir} in
// an argument is the folder of the test.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good.jsonl", proseRecords(3))
	write(t, dir, "bad.jsonl", record("1", prose(1))+"{not json\n"+record("2", prose(2)))
	write(t, dir, "cut.jsonl.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
	write(t, dir, "cut.parquet", "PAR1\x00")
	write(t, dir, "lines.parquet", "{}\n")
	write(t, dir, "empty.arrow.partial", "")
	write(t, dir, "blank.jsonl", "\n \n")
	write(t, dir, "empty.jsonl", "")
	write(t, dir, "words.csv", "a,b\n")
	write(t, dir, "unknown.xyz", "text\n")
	write(t, dir, "target", "")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))

	for _, c := range []struct {
		args   []string
		code   int
		stderr string // must be in what is said
	}{
		// Done.
		{[]string{"--help"}, 0, ""},
		{[]string{"run", "--help"}, 0, ""},
		{[]string{"help", "quality"}, 0, ""},
		{[]string{"--version"}, 0, ""},
		{[]string{"devices"}, 0, ""},
		{[]string{"run", "good.jsonl"}, 0, "done after"},
		{[]string{"run", "-"}, 0, ""},
		{[]string{"run", "--on-error", "skip", "bad.jsonl"}, 0, "bad_json 1"},
		{[]string{"run", "--format", "text", "unknown.xyz"}, 0, ""},
		{[]string{"run", "*.jsonl", "--on-error=skip"}, 0, ""},
		{[]string{"run", "--trim=false", "--normalize-newlines=false", "good.jsonl"}, 0, ""},
		{[]string{"run", "--stages", "none", "good.jsonl"}, 0, ""},
		{[]string{"run", "--device", "cpu", "--check", "never", "good.jsonl"}, 0, "--device cpu"},
		{[]string{"run", "--shuffle", "0", "--seed", "0", "--epochs", "1", "--unordered=false", "--shard-mode", "uneven",
			"--commit-every", "1", "--state", "", "--shard", "off", "good.jsonl"}, 0, ""},
		{[]string{"run", "--min-chars", "0", "--max-repetition", "1", "good.jsonl"}, 0, ""},
		{[]string{"run", "--stages", "clean", "--min-chars", "3", "good.jsonl"}, 0, "no effect"},
		{[]string{"run", "--shuffle", "100", "--seed", "7", "--epochs", "2", "--unordered", "--shard", "0/2", "--shard-mode", "drop", "good.jsonl"}, 0, ""},
		{[]string{"run", "--seed", "7", "good.jsonl"}, 0, "no effect"},
		{[]string{"run", "--epochs", "2", "blank.jsonl"}, 0, ""},
		{[]string{"quality", "good.jsonl"}, 0, ""},
		{[]string{"run", "--out-format", "arrow", "good.jsonl"}, 0, ""},
		{[]string{"run", "--out-format", "parquet", "good.jsonl"}, 0, ""},
		{[]string{"run", "-o", "x.parquet", "good.jsonl"}, 0, ""},
		{[]string{"run", "-o", "folder", "good.jsonl"}, 0, ""},
		{[]string{"run", "-o", "new/", "good.jsonl"}, 0, ""},

		// Failed.
		{[]string{"run", "bad.jsonl"}, 1, "bad.jsonl:2: "},
		{[]string{"run", "cut.jsonl.gz"}, 1, "cut.jsonl.gz"},
		{[]string{"run", "--on-error", "skip", "cut.jsonl.gz"}, 1, "cut.jsonl.gz"},
		{[]string{"run", "--epochs", "0", "blank.jsonl"}, 1, "the inputs hold no records"},
		{[]string{"run", "--epochs", "0", "empty.jsonl"}, 1, "the inputs hold no records"},
		{[]string{"run", "--epochs", "0", "--shard", "3/8", "good.jsonl"}, 1, "the inputs hold no records"},
		{[]string{"run", "--metrics", "no such host:0", "good.jsonl"}, 1, "--metrics no such host:0: "},
		{[]string{"run", "missing.jsonl"}, 1, "missing.jsonl"},
		{[]string{"run", ""}, 1, "an argument is empty"},
		{[]string{"run", "nothing*.jsonl"}, 1, "nothing*.jsonl"},
		{[]string{"run", "folder"}, 1, "folder"},
		{[]string{"run", "good.jsonl", "-o", "no/such/out.jsonl"}, 1, "no/such/out.jsonl"},
		{[]string{"run", "good.jsonl", "--rejects", "no/such/r.jsonl"}, 1, "--rejects"},
		{[]string{"run", "good.jsonl", "--report", "no/such/r.json"}, 1, "--report"},
		{[]string{"run", "--device", "cuda", "good.jsonl"}, 1, "--device cuda: this build has no device support"},
		{[]string{"quality", "bad.jsonl"}, 1, "bad.jsonl:2: "},
		{[]string{"inspect", "missing.arrow"}, 1, "missing.arrow"},
		{[]string{"inspect", "cut.parquet"}, 1, "not sound"},
		{[]string{"inspect", "lines.parquet"}, 1, "not sound"},
		{[]string{"inspect", "empty.arrow.partial"}, 1, "not sound"},
		{[]string{"inspect", "folder", "--json"}, 1, "not the folder of a run"},
		{[]string{"run", "--format", "parquet", "good.jsonl"}, 1, "good.jsonl"},

		// Wrong usage.
		{nil, 2, "no command"},
		{[]string{"rum"}, 2, `unknown command "rum"; did you mean run?`},
		{[]string{"help", "rum"}, 2, `unknown command "rum"`},
		{[]string{"--no-such"}, 2, "--no-such"},
		{[]string{"run"}, 2, "INPUT is missing"},
		{[]string{"quality"}, 2, "INPUT is missing"},
		{[]string{"run", "-", "-"}, 2, "given 2 times"},
		{[]string{"devices", "x"}, 2, "no arguments"},
		{[]string{"run", "--no-such", "good.jsonl"}, 2, "--no-such"},
		{[]string{"run", "good.jsonl", "-o"}, 2, "-o"},
		{[]string{"run", "unknown.xyz"}, 2, "--format"},
		{[]string{"--log-level", "loud", "devices"}, 2, "--log-level"},
		{[]string{"--log-format", "xml", "devices"}, 2, "--log-format"},
		{[]string{"run", "--format", "xml", "good.jsonl"}, 2, "--format"},
		{[]string{"run", "--text-key", "", "good.jsonl"}, 2, "--text-key"},
		{[]string{"run", "--stages", "clean,polish", "good.jsonl"}, 2, "--stages"},
		{[]string{"run", "--stages", "clean,clean", "good.jsonl"}, 2, "--stages"},
		{[]string{"run", "--trim=perhaps", "good.jsonl"}, 2, `--trim: "perhaps": must be true or false`},
		{[]string{"run", "--min-bytes", "-1", "good.jsonl"}, 2, "--min-bytes"},
		{[]string{"run", "--min-bytes", "10", "--max-bytes", "9", "good.jsonl"}, 2, "--min-bytes 10 is more than --max-bytes 9"},
		{[]string{"run", "--truncate", "good.jsonl"}, 2, "--truncate needs --max-bytes"},
		{[]string{"run", "--quality", "best", "good.jsonl"}, 2, "--quality"},
		{[]string{"run", "--min-words", "2.5", "good.jsonl"}, 2, "--min-words"},
		{[]string{"run", "--min-entropy", "NaN", "good.jsonl"}, 2, "--min-entropy"},
		{[]string{"run", "--max-repetition", "35", "good.jsonl"}, 2, "--max-repetition"},
		{[]string{"run", "--dedup", "fuzzy", "good.jsonl"}, 2, "--dedup"},
		{[]string{"run", "--pii", "key,name", "good.jsonl"}, 2, "--pii"},
		{[]string{"run", "--out-format", "xml", "good.jsonl"}, 2, "--out-format"},
		{[]string{"run", "--batch", "0", "good.jsonl"}, 2, "--batch"},
		{[]string{"run", "--workers", "0", "good.jsonl"}, 2, "--workers"},
		{[]string{"run", "--metrics", "9090", "good.jsonl"}, 2, `--metrics: "9090": must be HOST:PORT`},
		{[]string{"quality", "--metrics", "localhost:99999", "good.jsonl"}, 2, "--metrics"},
		{[]string{"run", "--workers", "many", "good.jsonl"}, 2, "--workers"},
		{[]string{"run", "--prefetch", "-1", "good.jsonl"}, 2, "--prefetch"},
		{[]string{"run", "--tokenizer", "bpe", "good.jsonl"}, 2, "--tokenizer"},
		{[]string{"run", "--device", "tpu", "good.jsonl"}, 2, "--device"},
		{[]string{"run", "--check", "maybe", "good.jsonl"}, 2, "--check"},
		{[]string{"run", "--on-error", "ignore", "good.jsonl"}, 2, "--on-error"},
		{[]string{"run", "--progress", "maybe", "good.jsonl"}, 2, "--progress"},
		{[]string{"run", "--max-line", "0", "good.jsonl"}, 2, "--max-line"},
		{[]string{"run", "--epochs", "-1", "good.jsonl"}, 2, "--epochs"},
		{[]string{"run", "--epochs", "2", "-"}, 2, "--epochs 2: standard input can be read once"},
		{[]string{"run", "--epochs", "0", "-"}, 2, "--epochs 0: standard input can be read once"},
		{[]string{"run", "--shard", "off", "--shard-mode", "pad", "good.jsonl"}, 2, "--shard-mode pad needs --shard"},
		{[]string{"run", "--shard-mode", "drop", "good.jsonl"}, 2, "--shard-mode drop needs --shard"},
		{[]string{"run", "--shard-mode", "even", "--shard", "0/2", "good.jsonl"}, 2, "--shard-mode"},
		{[]string{"run", "--shard", "0/2", "--shard-mode", "pad", "-"}, 2, "--shard-mode pad: standard input can be read once"},
		{[]string{"run", "--shuffle", "-1", "good.jsonl"}, 2, "--shuffle"},
		{[]string{"run", "--seed", "-7", "good.jsonl"}, 2, "--seed"},
		{[]string{"run", "--unordered=perhaps", "good.jsonl"}, 2, "--unordered"},
		{[]string{"run", "--shard", "2/2", "good.jsonl"}, 2, "--shard"},
		{[]string{"run", "-o", "good.jsonl", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "-o", "{dir}/good.jsonl", "*.jsonl"}, 2, "overwrite"},
		{[]string{"run", "-o", "x", "--rejects", "x", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "-o", "x", "--report", "./x", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "--rejects", "-", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "--pii-mode", "hash", "--pii-key-file", "target", "-o", "target", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "--pii-rules", "target", "--report", "./target", "good.jsonl"}, 2, "overwrite"},
		{[]string{"quality", "--metadata", "all", "good.jsonl"}, 2, "--metadata"},
		{[]string{"run", "--rejects", "folder", "good.jsonl"}, 2, "folder"},
		{[]string{"run", "-o", "", "good.jsonl"}, 2, "--output"},
		{[]string{"run", "-o", "x.parquet", "--out-format", "arrow", "good.jsonl"}, 2, "x.parquet promises parquet, --out-format is arrow"},
		{[]string{"run", "-o", "x.jsonl", "--out-format", "parquet", "good.jsonl"}, 2, "x.jsonl promises jsonl"},
		{[]string{"run", "-o", "x.arrow.gz", "good.jsonl"}, 2, "leave .gz out"},
		{[]string{"run", "-o", "x.csv", "good.jsonl"}, 2, "x.csv promises csv, which is not written"},
		{[]string{"run", "-o", "x.tsv.gz", "good.jsonl"}, 2, "x.tsv.gz promises tsv"},
		{[]string{"run", "-o", "x.arrows", "--out-format", "arrow", "good.jsonl"}, 2, "x.arrows promises arrows"},
		{[]string{"run", "--rejects", "x.parquet", "good.jsonl"}, 2, "--rejects x.parquet"},
		{[]string{"run", "-o", ".", "--rejects", "part-00000.jsonl", "good.jsonl"}, 2, "overwrite"},
		{[]string{"run", "--shard-size", "0", "good.jsonl"}, 2, "--shard-size"},
		{[]string{"run", "--shard-rows", "0", "good.jsonl"}, 2, "--shard-rows"},
		{[]string{"inspect"}, 2, "PATH is missing"},
		{[]string{"inspect", "good.jsonl"}, 2, "neither Arrow nor Parquet"},
		{[]string{"inspect", "--repair", "good.jsonl"}, 2, "--repair: good.jsonl is no folder"},
		{[]string{"inspect", "--repair", "folder"}, 2, "not the folder of a run"},

		// Not yet.
		{[]string{"rosa", "--algorithm", "rlbwt", "--text", "good.jsonl"}, 2, "--algorithm: not yet"},
		{[]string{"run", "--dedup", "near", "good.jsonl"}, 2, "--dedup: not yet"},
		{[]string{"run", "--commit-every", "0", "good.jsonl"}, 2, "--commit-every"},
		{[]string{"run", "--state", "good.jsonl", "good.jsonl"}, 2, "is no folder"},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			t.Parallel()
			args := make([]string, len(c.args))
			for i, a := range c.args {
				if len(a) > 5 && a[:5] == "{dir}" {
					a = dir + a[5:]
				}
				args[i] = a
			}
			r := process(t, dir, "", args...)
			require.Equal(t, c.code, r.code, "stderr: %s", r.err)
			require.Contains(t, r.err, c.stderr)
			if c.code == 2 {
				require.Empty(t, r.out, "data of a command that was used wrongly")
				require.NotContains(t, r.err, "done after")
			}
			require.NotContains(t, r.err, "goroutine ", "a stack trace")
		})
	}
}

// TestInputsSurvive runs after what could have overwritten an input.
func TestInputsSurvive(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.jsonl", proseRecords(2))
	for _, flag := range []string{"-o", "--rejects", "--report"} {
		require.Equal(t, exitUsage, inProcess(t, "", "run", in, flag, in).code)
		require.Equal(t, proseRecords(2), read(t, in))
	}
}

func TestDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no /dev/full here")
	}
	dir := t.TempDir()
	write(t, dir, "in.jsonl", proseRecords(3)+record("short", "short"))
	for _, flag := range []string{"-o", "--rejects", "--report"} {
		out := []string{"-o", "out.jsonl"}
		if flag == "-o" {
			out = nil
		}
		r := process(t, dir, "", append([]string{"run", "in.jsonl", flag, "/dev/full"}, out...)...)
		require.Equal(t, exitFailed, r.code, r.err)
		require.Contains(t, r.err, "/dev/full: cannot write")
		require.Contains(t, r.err, "no space left")
		require.NotContains(t, r.err, "goroutine ")
		if flag == "--rejects" {
			require.Contains(t, r.err, "failed after")
			require.Contains(t, r.err, "out.jsonl.partial")
		}
	}
}

// TestFailureOutranksInterrupt has an output that cannot be completed after a
// signal: the run did not end at a clean border.
func TestFailureOutranksInterrupt(t *testing.T) {
	interrupt := &interruptError{os.Interrupt}
	full := errors.New("full")
	require.Equal(t, exitInterrupted, exitCode(alsoFailed(interrupt, nil)))
	require.Equal(t, exitFailed, exitCode(alsoFailed(interrupt, full)))
	require.ErrorContains(t, alsoFailed(interrupt, full), "interrupt")
	require.Equal(t, exitFailed, exitCode(alsoFailed(errors.New("bad"), full)))
	require.Equal(t, exitDone, exitCode(both(nil, nil)))
	require.EqualError(t, both(fmt.Errorf("while writing: %w", full), full), "while writing: full")
}
