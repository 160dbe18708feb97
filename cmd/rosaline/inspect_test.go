package main

import (
	"bufio"
	"bytes"
	"context"
	bin "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// count is a source of 0, 1, 2 …
type count int

func (n count) Describe() string { return "numbers" }

func (n count) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[int], error) {
	c := &countCursor{end: int(n)}
	if at.Position == nil {
		return c, nil
	}
	return c, json.Unmarshal(at.Position, &c.at)
}

type countCursor struct{ at, end int }

func (c *countCursor) Next(context.Context) (int, error) {
	if c.at == c.end {
		return 0, io.EOF
	}
	c.at++
	return c.at - 1, nil
}

func (c *countCursor) Position() (json.RawMessage, error) { return json.Marshal(c.at) }
func (c *countCursor) Close() error                       { return nil }

// inspectedRun makes the folder of a run of the numbers below 200, of which each third is a
// duplicate, in batches of twenty; it commits each of so many, and the end behind the last.
func inspectedRun(t require.TestingT, dir string, batches int) {
	r, err := resume.OpenPipeline(context.Background(), dir, func(s resume.Start) (*pipeline.Pipeline[[]int], error) {
		return pipeline.BatchRaw(resume.Deduplicate(pipeline.From[int](count(200)), s.Dedup,
			func(set *text.StreamDeduplicator, v int) (bool, error) {
				if v%3 == 2 {
					v = 0
				}
				return set.IsUnique(fmt.Append(nil, v)), nil
			}), 20).ChunkSize(4), nil
	}, resume.WithConfig(map[string]string{"--batch": "20", "--output": "a\x1b[31mb"}), resume.WithBeforeCommit(func() (any, error) {
		return map[string]int{"outputs": 3}, nil
	}))
	require.NoError(t, err)
	for range batches {
		_, err := r.Next(context.Background())
		if err != io.EOF {
			require.NoError(t, err)
		}
		require.NoError(t, r.Commit())
	}
	require.NoError(t, r.Close())
}

// inspectJSON inspects a path with --json, which must print what is not sound as well.
func inspectJSON(t require.TestingT, code int, path string, args ...string) map[string]any {
	r := inProcess(t, "", append([]string{"inspect", "--json", path}, args...)...)
	require.Equal(t, code, r.code, r.err)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	require.Equal(t, path, got["path"])
	require.Equal(t, code == exitDone, got["sound"])
	if code == exitDone {
		require.Empty(t, r.err)
	} else {
		require.Contains(t, r.err, "not sound")
		require.NotContains(t, r.err, "resume:")
	}
	return got
}

// untouched returns what fails if bytes or times of files were changed since, or files made.
func untouched(t *testing.T, dir string) (check func()) {
	look := func() map[string]string {
		files := tree(t, dir)
		for name, content := range files {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			files[name] = info.ModTime().String() + content
		}
		return files
	}
	before := look()
	return func() { require.True(t, maps.Equal(before, look()), "files were changed") }
}

// oneSpace makes columns one blank wide.
func oneSpace(s string) string { return regexp.MustCompile(" +").ReplaceAllString(s, " ") }

func TestInspectRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	inspectedRun(t, dir, 3)
	require.NoError(t, os.Remove(filepath.Join(dir, "tracker.lock"))) // as in a copy
	past := time.Unix(1e9, 0)
	for name := range tree(t, dir) {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), past, past))
	}
	check := untouched(t, dir)
	log := read(t, filepath.Join(dir, "log"))

	got := inspectJSON(t, exitDone, dir)
	require.Equal(t, "rosaline run", got["kind"])
	require.EqualValues(t, 4, got["generation"])
	require.EqualValues(t, 3, got["batch"])
	at := got["coordinate"].(map[string]any)
	require.Len(t, at, 5)
	for _, name := range []string{"shard", "byte_offset", "row_group", "page"} {
		require.Zero(t, at[name])
	}
	tracker := []byte(read(t, filepath.Join(dir, "tracker")))
	hashes := float64(bin.LittleEndian.Uint32(tracker[6:]))
	require.Positive(t, hashes)
	require.Equal(t, hashes, got["hashes"])
	require.EqualValues(t, 0, got["epoch"])
	require.Equal(t, false, got["ended"])
	require.Equal(t, map[string]any{"--batch": "20", "--output": "a\x1b[31mb"}, got["config"])
	require.Equal(t, map[string]any{"outputs": 3.0}, got["extra"])
	require.NotContains(t, got, "faults")
	require.NotContains(t, got, "repaired")
	require.NotContains(t, got, "error")
	slots := got["slots"].([]any)
	for i, generation := range []float64{4, 3} {
		s := slots[i].(map[string]any)
		require.Equal(t, string(rune('A'+i)), s["slot"])
		require.EqualValues(t, 4096*i, s["offset"])
		require.Equal(t, generation, s["generation"])
		require.Equal(t, generation-1, s["batch"])
		require.Equal(t, i == 0, s["counts"])
		require.Equal(t, fmt.Sprintf("%08x", resume.ConfigOf([]byte(read(t, filepath.Join(dir, "config"))))), s["config_hash"])
		require.NotContains(t, s, "error")
	}
	require.Equal(t, map[string]any{
		"bytes": float64(len(log)), "frames": 3.0, "hashes": hashes, "states": 3.0, "first_generation": 2.0, "last_generation": 4.0,
		"committed_bytes": float64(len(log)), "uncommitted_frames": 0.0,
	}, got["log"])

	r := inProcess(t, "", "inspect", dir)
	require.Equal(t, exitDone, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, dir+": rosaline run\ngeneration 4, 3 batches delivered, "), r.out)
	require.Contains(t, r.out, "\nepoch 0, ended: no\n")
	require.Contains(t, r.out, fmt.Sprintf("slot A: generation 4, batch 3, %v hashes, counts\n", hashes))
	require.Contains(t, r.out, `= "a\x1b[31mb"`)
	require.NotContains(t, r.out, "repair")
	require.True(t, strings.HasSuffix(r.out, "\n\nsound\n"), r.out)

	// Its files alone.
	got = inspectJSON(t, exitDone, filepath.Join(dir, "tracker"))
	require.Equal(t, "rosaline tracker", got["kind"])
	require.EqualValues(t, 4, got["generation"])
	require.Equal(t, slots, got["slots"])
	got = inspectJSON(t, exitDone, filepath.Join(dir, "log"))
	require.Equal(t, "rosaline log", got["kind"])
	require.EqualValues(t, 3, got["frames"])
	require.NotContains(t, got, "committed_bytes")
	for _, name := range []string{"tracker", "log"} {
		r = inProcess(t, "", "inspect", filepath.Join(dir, name))
		require.Equal(t, exitDone, r.code, r.err)
		require.Contains(t, r.out, ": rosaline "+name+"\n")
		r = inProcess(t, "", "inspect", "--repair", filepath.Join(dir, name))
		require.Equal(t, exitUsage, r.code)
		require.Contains(t, r.err, "--repair")
	}
	check()
}

func TestInspectRunsEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	inspectedRun(t, dir, 0)
	got := inspectJSON(t, exitDone, dir)
	require.EqualValues(t, 1, got["generation"])
	require.NotContains(t, got, "ended")
	require.NoError(t, os.Remove(filepath.Join(dir, "log")))
	got = inspectJSON(t, exitDone, dir, "--repair")
	require.NotContains(t, got, "log")
	require.NoFileExists(t, filepath.Join(dir, "log"))
	require.Contains(t, inProcess(t, "", "inspect", dir).out, "there is none")
	// 134 texts: 0 1 3 4 6 7 … 198 199
	inspectedRun(t, dir, 8)
	got = inspectJSON(t, exitDone, dir)
	require.EqualValues(t, 7, got["batch"])
	require.EqualValues(t, 134, got["hashes"])
	require.Equal(t, true, got["ended"])
	require.Contains(t, inProcess(t, "", "inspect", dir).out, "ended: yes")
}

// TestInspectDamagedRun: what a crash leaves is sound and told, what was committed and is damaged
// is not, with the offset.
func TestInspectDamagedRun(t *testing.T) {
	root := t.TempDir()
	dir, later := filepath.Join(root, "state"), filepath.Join(root, "later")
	inspectedRun(t, dir, 2)
	inspectedRun(t, later, 3)
	sound := tree(t, dir)
	log := sound["log"]
	next := strings.TrimPrefix(read(t, filepath.Join(later, "log")), log)
	require.Less(t, len(next), len(log))
	second := strings.LastIndex(log, "RSDF")
	flip := func(s string, i int) string {
		b := []byte(s)
		b[i] ^= 4
		return string(b)
	}
	for _, c := range []struct {
		file, content string
		sound         bool
		says          string // in the text, or the message
	}{
		{"log", log + next, true, fmt.Sprintf("byte %d 1 frame of no commit, cut away", len(log))},
		{"log", log + next[:50], true, fmt.Sprintf("byte %d torn, 50 bytes, cut away", len(log))},
		{"log", log + next + "x", true, fmt.Sprintf("byte %d torn, 1 byte, cut away", len(log+next))},
		{"log", log[:len(log)-1], false, fmt.Sprintf("log, byte %d: damaged log", second)},
		{"log", flip(log, second+50), false, fmt.Sprintf("log, byte %d: damaged log", second)},
		{"log", flip(log, 60), false, "log, byte 16: damaged log"},
		{"log", "", false, "log, byte 0: wrong size"},
		{"log", "-", false, "log: missing log"},
		{"tracker", flip(sound["tracker"], 10), true, "byte 0 slot A at offset 0: wrong checksum"},
		{"tracker", flip(sound["tracker"], 4096+60), true, "byte 4096 slot B at offset 4096: wrong checksum"},
		{"tracker", flip(flip(sound["tracker"], 3), 4096), false, "slot B at offset 4096: wrong magic"},
		{"tracker", sound["tracker"][:100], false, "tracker, byte 0: wrong size"},
		{"config", "{}\n", false, "config, byte 0: state of another configuration"},
		{"config", "-", false, "config: no sound state"},
	} {
		t.Run(c.says, func(t *testing.T) {
			path := filepath.Join(dir, c.file)
			t.Cleanup(func() { write(t, dir, c.file, sound[c.file]) })
			if write(t, dir, c.file, c.content); c.content == "-" {
				require.NoError(t, os.Remove(path))
			}
			check := untouched(t, dir)
			r := inProcess(t, "", "inspect", dir)
			if c.sound {
				require.Equal(t, exitDone, r.code, r.err)
				require.Contains(t, oneSpace(r.out), c.says)
				inspectJSON(t, exitDone, dir)
				check()
				return
			}
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, c.says)
			require.Contains(t, r.out, "\nnot sound: ")
			got := inspectJSON(t, exitFailed, dir)
			check()
			require.Equal(t, c.file, got["faults"].([]any)[0].(map[string]any)["file"])
			if c.file == "config" {
				return // a repair of the log does not need it
			}
			r = inProcess(t, "", "inspect", "--repair", dir)
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "--repair: ")
		})
	}

	// Files alone, by what is left of them.
	for _, c := range []struct{ file, content, kind, says string }{
		{"log", log + "torn", "rosaline log", fmt.Sprintf("byte %d: ", len(log))},
		{"log", flip(log, 60), "rosaline log", "byte 16: "},
		{"log", flip(log, 0), "rosaline log", "byte 0: "},
		{"log", log[:9], "rosaline log", "byte 0: "},
		{"tracker", flip(flip(sound["tracker"], 3), 4096+7), "rosaline tracker", "slot A at offset 0"},
		{"tracker", sound["tracker"][:8000], "rosaline tracker", "8000 bytes"},
	} {
		got := inspectJSON(t, exitFailed, write(t, root, c.file, c.content))
		require.Equal(t, c.kind, got["kind"])
		require.Contains(t, got["error"], c.says)
		r := inProcess(t, "", "inspect", filepath.Join(root, c.file))
		require.Contains(t, r.err, c.says)
		require.Contains(t, r.out, c.says)
	}
	got := inspectJSON(t, exitDone, write(t, root, "tracker", flip(sound["tracker"], 2)))
	require.Contains(t, got["slots"].([]any)[0].(map[string]any)["error"], "wrong magic")

	// A log without its tracker.
	require.NoError(t, os.Remove(filepath.Join(dir, "tracker")))
	r := inProcess(t, "", "inspect", dir)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "though there is a log")
}

func TestInspectRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	inspectedRun(t, dir, 2)
	sound := tree(t, dir)
	write(t, dir, "log", sound["log"]+"RSDFtorn")

	r := inProcess(t, "", "inspect", dir)
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, sound["log"]+"RSDFtorn", read(t, filepath.Join(dir, "log")), "without --repair")

	lock, err := fsys.OS{}.Lock(filepath.Join(dir, "tracker.lock"), "the test")
	require.NoError(t, err)
	r = inProcess(t, "", "inspect", "--repair", dir)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "--repair: ")
	require.Contains(t, r.err, "by the test")
	require.Equal(t, exitDone, inProcess(t, "", "inspect", dir).code, "no lock is taken")
	require.NoError(t, lock.Close())

	got := inspectJSON(t, exitDone, dir, "--repair")
	require.Equal(t, map[string]any{"offset": float64(len(sound["log"])), "bytes": 8.0}, got["repaired"])
	require.NotContains(t, got["log"], "torn")
	require.Equal(t, sound["log"], read(t, filepath.Join(dir, "log")))
	got = inspectJSON(t, exitDone, dir, "--repair")
	require.Equal(t, map[string]any{"offset": float64(len(sound["log"])), "bytes": 0.0}, got["repaired"])
	r = inProcess(t, "", "inspect", "--repair", dir)
	require.Contains(t, r.out, "\nnothing to repair\n")
	write(t, dir, "log", sound["log"]+"x")
	r = inProcess(t, "", "inspect", "--repair", dir)
	require.Contains(t, r.out, fmt.Sprintf("\nrepaired: 1 byte cut off the log at byte %d\n", len(sound["log"])))
	after := tree(t, dir)
	delete(after, "tracker.lock")
	delete(sound, "tracker.lock")
	require.Equal(t, sound, after)
	inspectedRun(t, dir, 3)
}

// TestInspectInterrupted: a signal ends the reading of a long log.
func TestInspectInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	inspectedRun(t, dir, 2)
	for _, path := range []string{dir, filepath.Join(dir, "log"), filepath.Join(dir, "tracker")} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(&interruptError{os.Interrupt})
		var out, errOut bytes.Buffer
		code := execute(ctx, []string{"inspect", path}, streams{strings.NewReader(""), &out, &errOut})
		require.Equal(t, exitInterrupted, code, errOut.String())
		require.Empty(t, out.String())
	}
}

// goldensOf are what luminamoon has written and read.
func goldensOf[T any](t *testing.T, name string) (out []T) {
	f, err := os.Open(filepath.Join("..", "..", "pipeline", "resume", "testdata", name))
	require.NoError(t, err)
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var g T
		require.NoError(t, dec.Decode(&g))
		out = append(out, g)
	}
	require.NotEmpty(t, out)
	return out
}

var luminamoonFields = []string{"shard", "byte_offset", "row_group", "page", "row_in_page", "global_row"}

// inspectLuminamoon inspects a file of luminamoon and returns its numbers as text, as JSON has
// them.
func inspectLuminamoon(t *testing.T, file string) (r result, kind string, fields []string, batch json.Number, slots []map[string]any) {
	path := write(t, t.TempDir(), "ck", file)
	defer untouched(t, filepath.Dir(path))()
	r = inProcess(t, "", "inspect", "--json", path)
	var got struct {
		Kind       string
		Sound      bool
		Batch      json.Number
		Coordinate map[string]json.Number
		Slots      []map[string]any
	}
	dec := json.NewDecoder(strings.NewReader(r.out))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&got))
	require.Equal(t, r.code == exitDone, got.Sound)
	for _, name := range luminamoonFields {
		fields = append(fields, got.Coordinate[name].String())
	}
	text := inProcess(t, "", "inspect", path)
	require.Equal(t, r.code, text.code)
	require.Equal(t, r.err, text.err)
	require.Equal(t, got.Sound, strings.HasSuffix(text.out, "\nsound\n"))
	return r, got.Kind, fields, got.Batch, got.Slots
}

func TestInspectLuminamoon(t *testing.T) {
	for _, g := range goldensOf[struct {
		ID  string
		Log [][3]json.RawMessage
	}](t, "tracker_files.jsonl")[:20] {
		step := g.Log[len(g.Log)-1]
		var commit struct {
			BatchID json.Number `json:"batch_id"`
			Fields  []string
		}
		var file string
		require.NoError(t, json.Unmarshal(step[1], &commit))
		require.NoError(t, json.Unmarshal(step[2], &file))
		raw, err := hex.DecodeString(file)
		require.NoError(t, err)
		r, kind, fields, batch, slots := inspectLuminamoon(t, string(raw))
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, "luminamoon checkpoint", kind)
		require.Equal(t, commit.Fields, fields, g.ID)
		require.Equal(t, commit.BatchID, batch, g.ID)
		require.Len(t, slots, 2)
	}
	for _, g := range goldensOf[struct {
		ID, Kind string
		FileHex  string `json:"file_hex"`
		Result   struct {
			Fields  []string
			BatchID json.Number `json:"batch_id"`
			Error   string
		}
	}](t, "tracker_recover.jsonl") {
		raw, err := hex.DecodeString(g.FileHex)
		require.NoError(t, err)
		r, kind, fields, batch, slots := inspectLuminamoon(t, string(raw))
		require.Equal(t, "luminamoon checkpoint", kind, g.ID)
		for i, s := range slots {
			slot := raw[64*i:][:64]
			ok := string(slot[:8]) == "LMDL\x01\x00\x00\x00" && bin.LittleEndian.Uint32(slot[60:]) == crc32.ChecksumIEEE(slot[:60])
			require.Equal(t, ok, s["error"] == nil, "%s, slot %d: %v", g.ID, i, s)
			require.Equal(t, ok, s["batch"] != nil)
		}
		if g.Result.Error != "" {
			require.Equal(t, exitFailed, r.code, g.ID)
			require.Contains(t, r.err, "offset 64")
			continue
		}
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, g.Result.Fields, fields, g.ID)
		require.Equal(t, g.Result.BatchID, batch, g.ID)
	}
	r, kind, _, _, _ := inspectLuminamoon(t, "LMDL"+strings.Repeat("\x00", 123))
	require.Equal(t, exitFailed, r.code)
	require.Equal(t, "luminamoon checkpoint", kind)
	require.Contains(t, r.err, "127 bytes")
}

func TestInspectLuminamoonDedup(t *testing.T) {
	dir := t.TempDir()
	for _, g := range goldensOf[struct {
		ID        string
		Words     []string `json:"words_sorted_le_u64"`
		Exists    *bool    `json:"file_exists"`
		FileHex   string   `json:"file_hex"`
		ErrorType string   `json:"error_type"`
	}](t, "dedup_wal.jsonl") {
		name := g.ID + ".dedup"
		if g.ErrorType != "" {
			raw, err := hex.DecodeString(g.FileHex)
			require.NoError(t, err)
			got := inspectJSON(t, exitFailed, write(t, dir, name, string(raw)))
			require.Equal(t, "luminamoon dedup file", got["kind"])
			require.Contains(t, got["error"], fmt.Sprintf("%d bytes, no multiple of 8", len(raw)))
			continue
		}
		if !*g.Exists {
			continue
		}
		var file strings.Builder
		for _, w := range g.Words {
			var n uint64
			require.NoError(t, json.Unmarshal([]byte(w), &n))
			file.Write(bin.LittleEndian.AppendUint64(nil, n))
		}
		for _, name := range []string{name, g.ID + ".WAL"} {
			got := inspectJSON(t, exitDone, write(t, dir, name, file.String()))
			require.Equal(t, "luminamoon dedup file", got["kind"])
			require.EqualValues(t, len(g.Words), got["hashes"], g.ID)
		}
	}
	path := write(t, dir, "a.wal", strings.Repeat("\x01\x02\x03\x04\x05\x06\x07\x08", 3))
	r := inProcess(t, "", "inspect", path)
	require.Equal(t, exitDone, r.code, r.err)
	require.Contains(t, r.out, ": luminamoon dedup file\n3 hashes of 64 bits; it has no checksum\n")
	r = inProcess(t, "", "inspect", write(t, dir, "a.words", strings.Repeat("x", 16)))
	require.Equal(t, exitUsage, r.code)
}

// TestInspectStateOfRun: the folder of a run that was stopped, and of the same at its end.
func TestInspectStateOfRun(t *testing.T) {
	dir := t.TempDir()
	stateInput(t, dir)
	t.Chdir(dir)
	args := []string{"run", "in", "-o", "out.jsonl", "--batch", "5", "--on-error", "skip", "--state", "state"}
	r := interruptedAt(t, 100, args...)
	require.Equal(t, exitInterrupted, r.code, r.err)
	got := inspectJSON(t, exitDone, "state")
	require.Equal(t, false, got["ended"])
	require.Equal(t, "out.jsonl", got["config"].(map[string]any)["--output"])
	require.Contains(t, got["extra"], "output")
	require.Equal(t, exitDone, inProcess(t, "", args...).code)
	done := inspectJSON(t, exitDone, "state")
	require.Equal(t, true, done["ended"])
	require.Greater(t, done["batch"], got["batch"])
	require.Greater(t, done["hashes"], got["hashes"])
}
