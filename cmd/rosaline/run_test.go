package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRunStages(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.jsonl", strings.Join([]string{
		record("keep", "  "+prose(1)+"\r\n"),
		record("again", prose(1)),
		record("short", "too short"),
		`{"id":"null","text":null}` + "\n",
		"\n",
		record("mail", "Please write to jane.doe@example.com about the quick brown fox, thank you."),
		"{broken\n",
		`{"id":7,"text":"` + prose(7) + `"}` + "\n",
		`{"text":"` + prose(8) + `"}` + "\n",
		`{"id":"no text"}` + "\n",
	}, ""))
	out, rejects, rep := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "rejects.jsonl"), filepath.Join(dir, "report.json")
	r := inProcess(t, "", "run", in, "-o", out, "--rejects", rejects, "--report", rep, "--on-error", "skip")
	require.Equal(t, exitDone, r.code, r.err)
	require.Empty(t, r.out)
	require.Equal(t, []line{
		{ID: "keep", Text: prose(1)},
		{ID: "mail", Text: "Please write to [EMAIL] about the quick brown fox, thank you."},
		{ID: 7.0, Text: prose(7)},
		{ID: in + ":9", Text: prose(8)},
	}, lines(t, read(t, out)))
	require.Equal(t, []line{
		{ID: "again", Stage: "dedup", Reason: "duplicate", Value: 1},
		{ID: "short", Stage: "quality", Reason: "min_chars", Value: 9, Bound: 20},
		{ID: "null", Stage: "source", Reason: "null"},
		{ID: in + ":7", Stage: "source", Reason: "bad_json"},
		{ID: "no text", Stage: "source", Reason: "missing_key"},
	}, lines(t, read(t, rejects)))
	require.Contains(t, read(t, rejects), `{"id":"short","stage":"quality","reason":"min_chars","value":9,"bound":20}`+"\n")

	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, rep)), &got))
	require.Equal(t, "done", got["state"])
	require.NotContains(t, got, "error")
	require.Equal(t, map[string]any{"in": 9.0, "out": 4.0, "dropped": 5.0}, got["records"])
	require.Equal(t, []any{
		map[string]any{"name": "source", "in": 9.0, "out": 6.0, "dropped": map[string]any{"null": 1.0, "bad_json": 1.0, "missing_key": 1.0}},
		map[string]any{"name": "clean", "in": 6.0, "out": 6.0, "dropped": map[string]any{}},
		map[string]any{"name": "quality", "in": 6.0, "out": 5.0, "dropped": map[string]any{"min_chars": 1.0}},
		map[string]any{"name": "dedup", "in": 5.0, "out": 4.0, "dropped": map[string]any{"duplicate": 1.0}},
		map[string]any{"name": "pii", "in": 4.0, "out": 4.0, "dropped": map[string]any{}, "masked": map[string]any{"email": 1.0}},
	}, got["stages"])
	require.Equal(t, map[string]any{"files": 1.0, "lines": 10.0, "blank": 1.0, "boms": 0.0, "replaced": 0.0}, got["source"])
	info, err := os.Stat(in)
	require.NoError(t, err)
	require.Equal(t, float64(info.Size()), got["bytes"].(map[string]any)["read"])
	require.Equal(t, float64(len(read(t, out))), got["bytes"].(map[string]any)["written"])
	require.Equal(t, map[string]any{"entries": 4.0, "bytes": got["dedup"].(map[string]any)["bytes"]}, got["dedup"])
	require.Equal(t, map[string]any{"requested": "auto", "used": "cpu", "reason": noDevice}, got["device"])
	require.Equal(t, "skip", got["flags"].(map[string]any)["on-error"])
	require.Equal(t, []any{in}, got["inputs"])

	for _, want := range []string{"done after", "records", "duplicate 1", "min_chars 1", "email masked 1", "MB/s"} {
		require.Contains(t, r.err, want)
	}
}

func TestRunFlags(t *testing.T) {
	text := func(ls []line) (out []string) {
		for _, l := range ls {
			out = append(out, l.Text)
		}
		return out
	}
	for _, c := range []struct {
		name, in string
		args     []string
		want     []string
	}{
		{"copy", record("1", " a\r\n ") + record("2", "") + record("3", ""), []string{"--stages", "none"}, []string{" a\r\n ", "", ""}},
		{"trim off", record("1", " a\r\n "), []string{"--stages", "clean", "--trim=false"}, []string{" a\n "}},
		{"newlines off", record("1", " a\r\nb "), []string{"--stages", "clean", "--normalize-newlines=false"}, []string{"a\r\nb"}},
		{"min bytes", record("1", "é") + record("2", "a"), []string{"--stages", "clean", "--min-bytes", "2"}, []string{"é"}},
		{"max bytes", record("1", "éé") + record("2", "a"), []string{"--stages", "clean", "--max-bytes", "3"}, []string{"a"}},
		{"max bytes off", record("1", "éé"), []string{"--stages", "clean", "--max-bytes", "0"}, []string{"éé"}},
		{"truncate", record("1", "éé"), []string{"--stages", "clean", "--max-bytes", "3", "--truncate"}, []string{"é"}},
		{"quality none", record("1", "!!!"), []string{"--quality", "none"}, []string{"!!!"}},
		{"quality none and a bound", record("1", "!!!") + record("2", "!!!!"), []string{"--quality", "none", "--min-chars", "4"}, []string{"!!!!"}},
		{"one bound off", record("1", "one two three four!"), []string{"--min-chars", "0"}, []string{"one two three four!"}},
		{"min words", record("1", prose(1)), []string{"--min-words", "99"}, nil},
		{"min entropy", record("1", prose(1)), []string{"--min-entropy", "6"}, nil},
		{"max repetition", record("1", strings.Repeat("one two three ", 9)), []string{"--max-repetition", "1"},
			[]string{strings.TrimSpace(strings.Repeat("one two three ", 9))}},
		{"max repetition on", record("1", strings.Repeat("one two three ", 9)), nil, nil},
		{"max symbols", record("1", "a one two three four five six #"), []string{"--max-symbol-ratio", "0"}, nil},
		{"dedup off", record("1", prose(1)) + record("2", prose(1)), []string{"--dedup", "off"}, []string{prose(1), prose(1)}},
		{"dedup before clean", record("1", "a") + record("2", "a "), []string{"--stages", "dedup,clean"}, []string{"a", "a"}},
		{"pii none", record("1", "a@example.com"), []string{"--stages", "pii", "--pii", "none"}, []string{"a@example.com"}},
		{"pii one kind", record("1", "a@example.com 192.0.2.1"), []string{"--stages", "pii", "--pii", "ip"}, []string{"a@example.com [IP]"}},
		{"pii first", record("1", "a@example.com") + record("2", "b@example.com"), []string{"--stages", "pii,dedup"}, []string{"[EMAIL]"}},
		{"text key", `{"a":[{"b":"x"}]}` + "\n", []string{"--stages", "none", "--text-key", "a.0.b"}, []string{"x"}},
		{"text lines", "one\r\n\ntwo", []string{"--stages", "none", "--format", "text"}, []string{"one", "two"}},
		{"escapes", `{"text":"\u2028\ud83d\ude00\u0000\"\\<&>"}`, []string{"--stages", "none"}, []string{"\u2028😀\x00\"\\<&>"}},
		{"surrogates", `{"text":"a\ud800b"}`, []string{"--stages", "none", "--surrogates", "replace"}, []string{"a\uFFFDb"}},
		{"invalid UTF-8", "{\"text\":\"a\xffb\"}", []string{"--stages", "none", "--invalid-utf8", "replace"}, []string{"a\uFFFDb"}},
		{"byte order mark", "\xef\xbb\xbf" + record("1", "x"), []string{"--stages", "none"}, []string{"x"}},
		{"long line", record("1", strings.Repeat("x", 1000)) + record("2", "y"), []string{"--stages", "none", "--max-line", "1000", "--on-error", "skip"}, []string{"y"}},
		{"nothing", "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := inProcess(t, c.in, append([]string{"run", "-"}, c.args...)...)
			require.Equal(t, exitDone, r.code, r.err)
			require.Equal(t, c.want, text(lines(t, r.out)))
		})
	}
}

func TestRunIDs(t *testing.T) {
	in := `{"id":"s","text":"a"}
{"id":12345678901234567890,"text":"b"}
{"id":null,"text":"c"}
{"meta":{"id":"m"},"text":"d"}
`
	require.Equal(t, `{"id":"s","text":"a"}
{"id":12345678901234567890,"text":"b"}
{"id":"-:3","text":"c"}
{"id":"-:4","text":"d"}
`, inProcess(t, in, "run", "-", "--stages", "none").out)
	require.Contains(t, inProcess(t, in, "run", "-", "--stages", "none", "--id-key", "meta.id").out, `{"id":"m","text":"d"}`)

	// A number stays what it was, digit for digit, in whatever is written.
	in = `{"id":-1.50e3,"text":"a"}
{"id":"7","text":"b"}
{"id":true,"text":"c"}
{"id":[1,{"b":2,"a":"x"}],"text":"d"}
{"id":8}
{"text":"e"}
`
	want := `{"id":-1.50e3,"text":"a"}
{"id":"7","text":"b"}
{"id":"true","text":"c"}
{"id":"[1,{\"a\":\"x\",\"b\":2}]","text":"d"}
{"id":"-:6","text":"e"}
`
	rejects := filepath.Join(t.TempDir(), "rejects.jsonl")
	r := inProcess(t, in, "run", "-", "--stages", "none", "--on-error", "skip", "--rejects", rejects)
	require.Equal(t, want, r.out)
	require.Equal(t, `{"id":8,"stage":"source","reason":"missing_key","value":0,"bound":0}`+"\n", read(t, rejects))
	r = inProcess(t, in, "run", "-", "--stages", "quality", "--on-error", "skip", "--rejects", rejects)
	require.Contains(t, read(t, rejects), `{"id":-1.50e3,"stage":"quality","reason":"min_chars","value":1,"bound":20}`)
	require.Contains(t, inProcess(t, in, "quality", "-", "--on-error", "skip").out, `{"id":-1.50e3,"chars":1,`)
}

func TestRunTokens(t *testing.T) {
	r := inProcess(t, record("1", " aé "), "run", "-", "--stages", "clean", "--tokenizer", "bytes")
	require.Equal(t, `{"id":"1","text":"aé","tokens":[97,195,169]}`+"\n", r.out)
}

// TestRunFailsAtFirstBadRecord checks that all before it is written, and nothing
// after, whatever the batches.
func TestRunFailsAtFirstBadRecord(t *testing.T) {
	good, after := proseRecords(100), proseRecords(150)[len(proseRecords(100)):]
	in := good + "{broken\n" + after + "{broken too\n"
	for _, workers := range []int{1, 2, 3, 7} {
		for _, batch := range []int{1, 7, 64, 1000} {
			dir := t.TempDir()
			out := filepath.Join(dir, "out.jsonl")
			r := inProcess(t, in, "run", "-", "-o", out, "--workers", fmt.Sprint(workers), "--batch", fmt.Sprint(batch),
				"--report", filepath.Join(dir, "report.json"), "--rejects", filepath.Join(dir, "rejects.jsonl"))
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "rosaline: -:101: ")
			require.Contains(t, r.err, "--on-error skip")
			require.Contains(t, r.err, out+".partial")
			require.Contains(t, r.err, "failed after")
			require.NoFileExists(t, out)
			require.Equal(t, good, read(t, out+".partial"))
			var rep report
			require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(dir, "report.json"))), &rep))
			require.Equal(t, stateFailed, rep.State)
			require.Contains(t, rep.Error, "-:101: ")
			require.Equal(t, recordTotals{In: 100, Out: 100}, rep.Records, "the bad record is not dropped, it ends the run")
			require.NoFileExists(t, filepath.Join(dir, "rejects.jsonl.partial"), "there was none")

			r = inProcess(t, in, "run", "-", "--workers", fmt.Sprint(workers), "--batch", fmt.Sprint(batch))
			require.Equal(t, exitFailed, r.code)
			require.Equal(t, good, r.out)
		}
	}
}

func TestRunFinishesPartialOfEarlierRun(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.jsonl")
	require.Equal(t, exitFailed, inProcess(t, proseRecords(9)+"x\n", "run", "-", "-o", out).code)
	require.FileExists(t, out+".partial")
	require.Equal(t, exitDone, inProcess(t, proseRecords(2), "run", "-", "-o", out).code)
	require.NoFileExists(t, out+".partial")
	require.Equal(t, proseRecords(2), read(t, out))
}

func TestRunCompressed(t *testing.T) {
	dir := t.TempDir()
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	for i := range 2 { // two members
		_, err := g.Write([]byte(record(fmt.Sprint("gz", i), prose(i))))
		require.NoError(t, err)
		require.NoError(t, g.Close())
		g.Reset(&gz)
	}
	z, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	_, err = z.Write([]byte(record("zst", prose(3))))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	write(t, dir, "a.jsonl.gz", gz.String())
	write(t, dir, "b.jsonl.zst", zst.String())
	write(t, dir, "c.txt", prose(4)+"\n")
	c := filepath.Join(dir, "c.txt")
	want := record("gz0", prose(0)) + record("gz1", prose(1)) + record("zst", prose(3)) + record(c+":1", prose(4))
	for _, name := range []string{"out.jsonl.gz", "out.jsonl.zst"} {
		out := filepath.Join(t.TempDir(), name)
		r := inProcess(t, "", "run", dir, "-o", out)
		require.Equal(t, exitDone, r.code, r.err)
		f, err := os.Open(out)
		require.NoError(t, err)
		defer f.Close()
		var unpacked io.Reader
		if strings.HasSuffix(name, ".gz") {
			unpacked, err = gzip.NewReader(f)
			require.NoError(t, err)
		} else {
			d, err := zstd.NewReader(f)
			require.NoError(t, err)
			defer d.Close()
			unpacked = d
		}
		b, err := io.ReadAll(unpacked)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	// Standard input is recognised by its first bytes.
	require.Equal(t, record("zst", prose(3)), inProcess(t, zst.String(), "run", "-").out)
}

// TestRunZstdWindow: memory for a frame is bounded by a flag, and the error says
// which.
func TestRunZstdWindow(t *testing.T) {
	// A frame of no bytes that asks for a window of 2²⁸ (RFC 8878, section 3.1.1).
	in := write(t, t.TempDir(), "in.jsonl.zst", "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00")
	r := inProcess(t, "", "run", in)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "the flag is --max-window")
	r = inProcess(t, "", "run", in, "--max-window", "256MiB")
	require.Equal(t, exitDone, r.code, r.err)
}

func TestSameFileTwice(t *testing.T) {
	in := write(t, t.TempDir(), "in.jsonl", proseRecords(2))
	r := inProcess(t, "", "run", in, in, "--dedup", "off")
	require.Equal(t, exitDone, r.code)
	require.Equal(t, proseRecords(2), r.out)
	require.Contains(t, r.err, "read once")
}

// TestRunIsAPureFunctionOfItsInput compares output and rejects with those of a
// model that knows nothing of batches: white space trimmed and line ends made
// uniform by package strings, first occurrences by a map, JSON by encoding/json.
func TestRunIsAPureFunctionOfItsInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "  ", "\r\n", "é", "\"", "\u2029x", "long enough to be in a buffer"})
		var in, want, rejects strings.Builder
		seen := map[string]bool{}
		n := rapid.IntRange(0, 120).Draw(t, "records")
		for i := range n {
			id := fmt.Sprint(i)
			switch rapid.IntRange(0, 12).Draw(t, "kind") {
			case 0:
				in.WriteString("\n")
				continue
			case 1:
				fmt.Fprintf(&in, "{broken\n")
				// Blank lines count too.
				fmt.Fprintf(&rejects, `{"id":"-:%d","stage":"source","reason":"bad_json","value":0,"bound":0}`+"\n", i+1)
				continue
			case 2:
				fmt.Fprintf(&in, `{"id":"%s","text":null}`+"\n", id)
				fmt.Fprintf(&rejects, `{"id":"%s","stage":"source","reason":"null","value":0,"bound":0}`+"\n", id)
				continue
			}
			text := strings.Join(rapid.SliceOfN(word, 0, 3).Draw(t, "text"), "")
			in.WriteString(record(id, text))
			text = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
			if seen[text] {
				fmt.Fprintf(&rejects, `{"id":"%s","stage":"dedup","reason":"duplicate","value":1,"bound":0}`+"\n", id)
				continue
			}
			seen[text] = true
			want.WriteString(strings.ReplaceAll(record(id, text), `\u2029`, "\u2029"))
		}
		got, gotRejects := runDelayed(t, in.String(),
			"--workers", fmt.Sprint(rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(t, "workers")),
			"--batch", fmt.Sprint(rapid.SampledFrom([]int{1, 2, 5, 64}).Draw(t, "batch")),
			"--prefetch", fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "prefetch")),
			"--stages", "clean,dedup", "--on-error", "skip")
		require.Equal(t, want.String(), got)
		require.Equal(t, rejects.String(), gotRejects)
	})
}

// TestRunOutputDoesNotDependOnTheEngine runs all stages on more records.
func TestRunOutputDoesNotDependOnTheEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var in strings.Builder
	for i := range 1500 {
		text := prose(r.IntN(900))
		switch r.IntN(6) {
		case 0:
			text += " Mail to jane.doe@example.com or call 192.0.2.7."
		case 1:
			text = "short"
		case 2:
			text = strings.Repeat(" "+text, 50)
		}
		in.WriteString(record(fmt.Sprint(i), text))
	}
	out, rejects := runDelayed(t, in.String(), "--workers", "1", "--batch", "1")
	require.Greater(t, len(lines(t, out)), 300)
	require.Greater(t, len(lines(t, rejects)), 300)
	require.Equal(t, 1500, len(lines(t, out))+len(lines(t, rejects)))
	for _, workers := range []string{"1", "2", "3", "7"} {
		for _, batch := range []string{"3", "64", "1000"} {
			prefetch := fmt.Sprint(1 + r.IntN(9))
			gotOut, gotRejects := runDelayed(t, in.String(), "--workers", workers, "--batch", batch, "--prefetch", prefetch)
			require.True(t, out == gotOut, "output differs with %s workers, batch %s", workers, batch)
			require.True(t, rejects == gotRejects, "rejects differ with %s workers, batch %s", workers, batch)
		}
	}
}
