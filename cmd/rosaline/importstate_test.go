package main

import (
	"bytes"
	"compress/gzip"
	"context"
	endian "encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
)

// packageFolder is where the tests began; some of them leave it.
var packageFolder, _ = os.Getwd()

// trackerGoldens are files that luminamoon 1.0.6.post1 wrote, with the rows in them.
func trackerGoldens(t require.TestingT) (files [][]byte, rows []string) {
	for line := range strings.Lines(read(t, filepath.Join(packageFolder, "..", "..", "pipeline", "resume", "testdata", "tracker_files.jsonl"))) {
		var g struct{ Log [][3]json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &g))
		for _, step := range g.Log {
			var file string
			commit := struct{ Fields []string }{make([]string, 6)}
			require.NoError(t, json.Unmarshal(step[1], &commit))
			require.NoError(t, json.Unmarshal(step[2], &file))
			raw, err := hex.DecodeString(file)
			require.NoError(t, err)
			files, rows = append(files, raw), append(rows, commit.Fields[4])
		}
	}
	return files, rows
}

// luminamoonCheckpoint is a recorded file, with rows that were taken and texts that were delivered in
// both of its slots, one of which is older.
func luminamoonCheckpoint(golden []byte, rows, delivered int) string {
	file := bytes.Clone(golden)
	for at, older := range map[int]uint64{0: 0, 64: 1} {
		slot := file[at : at+64]
		endian.LittleEndian.PutUint64(slot[8:], 9-older)
		endian.LittleEndian.PutUint64(slot[16:], 4)
		endian.LittleEndian.PutUint32(slot[44:], uint32(rows-int(older)))
		endian.LittleEndian.PutUint64(slot[48:], uint64(delivered))
		endian.LittleEndian.PutUint32(slot[60:], crc32.ChecksumIEEE(slot[:60]))
	}
	return string(file)
}

// corpusRow is a row of a corpus that luminamoon and rosaline both read.
type corpusRow struct {
	text string
	bad  bool // it is no record
}

// importCorpus are rows with duplicates of all distances, white space to be cleaned away, and, if
// the format may have them, rows that are no records.
func importCorpus(bad bool) []corpusRow {
	var rows []corpusRow
	for i := range 100 {
		switch {
		case bad && i%29 == 7:
			rows = append(rows, corpusRow{bad: true})
		case i%5 == 3:
			rows = append(rows, corpusRow{text: " " + prose(i/2) + "\r\n"})
		case i%7 == 2:
			rows = append(rows, corpusRow{text: "the same each time "})
		default:
			rows = append(rows, corpusRow{text: prose(i) + "\r\nand more\n"})
		}
	}
	return rows
}

// jsonRows are rows as lines, with blank ones among them and behind them.
func jsonRows(rows []corpusRow, first int) string {
	var s strings.Builder
	for i, r := range rows {
		if i%6 == 1 {
			s.WriteString("\n \t\r\n")
		}
		if r.bad {
			s.WriteString("{broken\n")
		} else {
			s.WriteString(record(fmt.Sprint(first+i), r.text))
		}
	}
	return s.String() + "\n\n"
}

// csvRows are rows as CSV, with blank ones.
func csvRows(t require.TestingT, rows []corpusRow) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	require.NoError(t, w.Write([]string{"text"}))
	for i, r := range rows {
		require.NoError(t, w.Write([]string{r.text}))
		w.Flush()
		if i%9 == 4 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// gzipped is s in members of so many bytes.
func gzipped(t require.TestingT, s string, member int) string {
	var b bytes.Buffer
	for piece := range slices.Chunk([]byte(s), member) {
		w := gzip.NewWriter(&b)
		_, err := w.Write(piece)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return b.String()
}

// tableOf writes rows as a table.
func tableOf(t require.TestingT, rows []corpusRow, path string) {
	r := inProcess(t, jsonRows(rows, 0), "run", "-", "--stages", "none", "-o", path, "--batch", "11")
	require.Equal(t, exitDone, r.code, r.err)
}

// importInputs are the corpus in several forms; each makes files in the folder.
var importInputs = []struct {
	name string
	bad  bool
	// So many rows come in row groups of so many that are read as a whole.
	grouped, group int
	make           func(t require.TestingT, dir string, rows []corpusRow)
}{
	{"jsonl", true, 0, 0, func(t require.TestingT, dir string, rows []corpusRow) {
		write(t, dir, "a.jsonl", jsonRows(rows, 0))
	}},
	{"two files, gzip", true, 0, 0, func(t require.TestingT, dir string, rows []corpusRow) {
		write(t, dir, "a.jsonl.gz", gzipped(t, jsonRows(rows[:40], 0), 1<<20))
		write(t, dir, "b.jsonl.gz", gzipped(t, jsonRows(rows[40:], 40), 700))
	}},
	{"csv", false, 0, 0, func(t require.TestingT, dir string, rows []corpusRow) {
		write(t, dir, "a.csv", csvRows(t, rows))
	}},
	{"csv, gzip", false, 0, 0, func(t require.TestingT, dir string, rows []corpusRow) {
		write(t, dir, "a.csv.gz", gzipped(t, csvRows(t, rows), 900))
	}},
	{"arrow", false, 0, 0, func(t require.TestingT, dir string, rows []corpusRow) { tableOf(t, rows, dir+"/a.arrow") }},
	{"parquet", false, 100, 10, func(t require.TestingT, dir string, rows []corpusRow) {
		for i := 0; i < len(rows); i += 10 {
			tableOf(t, rows[i:i+10], fmt.Sprintf("%s/%02d.parquet", dir, i))
		}
	}},
	{"mixed", false, 30, 30, func(t require.TestingT, dir string, rows []corpusRow) {
		tableOf(t, rows[:30], dir+"/a.parquet")
		write(t, dir, "b.jsonl", jsonRows(rows[30:50], 30))
		write(t, dir, "c.csv", csvRows(t, rows[50:80]))
		tableOf(t, rows[80:], dir+"/d.arrow")
	}},
}

// luminamoonRun does what luminamoon does with the rows that it takes: it trims texts, makes CR LF
// into LF, delivers those that did not come before, and keeps their hashes.
func luminamoonRun(rows []corpusRow) (delivered []string, dedup string) {
	var hashes []byte
	for _, r := range rows {
		if s := strings.TrimSpace(strings.ReplaceAll(r.text, "\r\n", "\n")); !r.bad && !slices.Contains(delivered, s) {
			delivered = append(delivered, s)
			hashes = endian.LittleEndian.AppendUint64(hashes, xxh3.HashString(s))
		}
	}
	// A set has no order.
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(delivered), func(i, j int) {
		a, b := hashes[8*i:8*i+8], hashes[8*j:8*j+8]
		for k := range a {
			a[k], b[k] = b[k], a[k]
		}
	})
	return delivered, string(hashes)
}

// textsIn are those of a file of output.
func textsIn(t require.TestingT, path string) []string {
	texts := []string{}
	for _, l := range lines(t, read(t, path)) {
		texts = append(texts, l.Text)
	}
	return texts
}

// requireTexts holds texts to what they must be, without all of them in the message.
func requireTexts(t require.TestingT, want, got []string, args ...any) {
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	require.True(t, slices.Equal(want, got), "%d texts, want %d; they differ from %d on: %q, want %q %v",
		len(got), len(want), same, got[same:min(same+1, len(got))], want[same:min(same+1, len(want))], args)
}

// importTest is a corpus, of which luminamoon may have taken a part.
type importTest struct {
	t      *testing.T
	rows   []corpusRow
	golden []byte
}

func newImportTest(t *testing.T, input int) *importTest {
	files, _ := trackerGoldens(t)
	c := &importTest{t, importCorpus(importInputs[input].bad), files[len(files)-1]}
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("in", 0o755))
	importInputs[input].make(t, "in", c.rows)
	return c
}

// luminamoon leaves the files of a run that took n rows.
func (c *importTest) luminamoon(n int) (delivered []string) {
	delivered, dedup := luminamoonRun(c.rows[:min(n, len(c.rows))])
	require.NoError(c.t, os.RemoveAll("out"))
	require.NoError(c.t, os.RemoveAll("state"))
	write(c.t, ".", "lm/ck", luminamoonCheckpoint(c.golden, n, len(delivered)))
	write(c.t, ".", "lm/ck.dedup", dedup)
	require.NoError(c.t, os.MkdirAll("out", 0o755))
	return delivered
}

// flags are those of import and run.
func (c *importTest) flags(more ...string) []string {
	return append([]string{"in", "--state", "state", "-o", "out/clean.jsonl", "--stages", "clean,dedup", "--on-error", "skip", "--batch", "7", "--progress", "off"}, more...)
}

func (c *importTest) imports(flags []string) result {
	before := tree(c.t, "lm")
	r := inProcess(c.t, "", append([]string{"import-state", "--from", "lm/ck"}, flags...)...)
	requireTree(c.t, before, "lm")
	return r
}

func (c *importTest) mustImport(flags []string, args ...any) {
	r := c.imports(flags)
	require.Equal(c.t, exitDone, r.code, "%s%v", r.err, args)
	require.Empty(c.t, r.out)
}

func (c *importTest) run(flags []string, args ...any) {
	r := inProcess(c.t, "", append([]string{"run"}, flags...)...)
	require.Equal(c.t, exitDone, r.code, "%s%v", r.err, args)
}

// whole are the texts of a run from the beginning.
func (c *importTest) whole(more ...string) []string {
	args := append([]string{"run", "in", "-o", "whole.jsonl", "--stages", "clean,dedup", "--on-error", "skip"}, more...)
	r := inProcess(c.t, "", args...)
	require.Equal(c.t, exitDone, r.code, r.err)
	return textsIn(c.t, "whole.jsonl")
}

// TestImportState: wherever luminamoon stopped, what it has delivered and what comes after the import
// is what one run writes.
func TestImportState(t *testing.T) {
	for i, input := range importInputs {
		t.Run(input.name, func(t *testing.T) {
			c := newImportTest(t, i)
			whole := c.whole()
			all, _ := luminamoonRun(c.rows)
			requireTexts(t, all, whole)
			for n := range len(c.rows) + 1 {
				if (i > 0 || testing.Short()) && !slices.Contains([]int{0, 1, 29, 30, 31, 40, 50, 77, 80, 99, 100}, n) {
					continue
				}
				delivered := c.luminamoon(n)
				if begin := n / max(1, input.group) * input.group; n < input.grouped && begin != n {
					// It is read again, and told by its hashes.
					r := c.imports(c.flags())
					require.Equal(t, exitFailed, r.code, r.err)
					require.Contains(t, r.err, fmt.Sprintf("; --from-rows %d begins with it", begin))
					require.NoDirExists(t, "state")
					c.mustImport(c.flags("--from-rows", fmt.Sprint(begin)))
				} else {
					c.mustImport(c.flags(), n)
				}
				c.run(c.flags(), n)
				requireTexts(t, whole, append(delivered, textsIn(t, "out/clean.jsonl")...), "%d rows", n)
			}
		})
	}
}

// TestImportStateTooMany: more rows than there are is told, with both numbers, and nothing is made.
func TestImportStateTooMany(t *testing.T) {
	for i, input := range importInputs {
		t.Run(input.name, func(t *testing.T) {
			c := newImportTest(t, i)
			for _, n := range []int{101, 4196, 5000, 1<<32 - 1} {
				c.luminamoon(n)
				before := tree(t, ".")
				r := c.imports(c.flags())
				require.Equal(t, exitFailed, r.code, r.err)
				require.Contains(t, r.err, "--from lm/ck: ")
				require.Contains(t, r.err, fmt.Sprintf("100, and %d were taken", n))
				requireTree(t, before, ".")
				require.NoDirExists(t, "state")
			}
			r := c.imports(c.flags("--from-rows", "101"))
			require.Equal(t, exitFailed, r.code, r.err)
			require.Contains(t, r.err, "--from-rows: ")
			require.NoDirExists(t, "state")
		})
	}
}

// TestImportStateManyRows: places behind more rows than are passed over at once.
func TestImportStateManyRows(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("in", 0o755))
	rows := make([]corpusRow, 2*passChunk+100)
	for i := range rows {
		rows[i].text = prose(i)
	}
	files, _ := trackerGoldens(t)
	c := &importTest{t, rows, files[0]}
	tableOf(t, rows, "in/a.arrow")
	write(t, ".", "in/b.jsonl.gz", gzipped(t, jsonRows(rows, 0), 1<<30))
	write(t, ".", "lm/ck.dedup", "")
	for _, n := range []int{1, passChunk - 1, passChunk, passChunk + 1, 2 * passChunk, len(rows) - 1, len(rows), len(rows) + passChunk, 2*len(rows) - 3} {
		require.NoError(t, os.RemoveAll("state"))
		require.NoError(t, os.RemoveAll("out"))
		require.NoError(t, os.Mkdir("out", 0o755))
		write(t, ".", "lm/ck", luminamoonCheckpoint(c.golden, n, n))
		flags := c.flags("--batch", "2000", "--dedup", "off")
		c.mustImport(flags)
		c.run(flags)
		texts := textsIn(t, "out/clean.jsonl")
		require.Len(t, texts, 2*len(rows)-n)
		require.Equal(t, rows[n%len(rows)].text, texts[0])
	}
}

// TestImportStateLargeGroup: a row group that is not read as a whole is begun at any row.
func TestImportStateLargeGroup(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := make([]corpusRow, 40)
	for i := range rows {
		rows[i].text = prose(i) + strings.Repeat(" and more", 60_000)
	}
	files, _ := trackerGoldens(t)
	c := &importTest{t, rows, files[0]}
	require.NoError(t, os.Mkdir("in", 0o755))
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	for _, r := range rows {
		texts.Append(r.text)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{texts.NewArray()}, int64(len(rows)))
	var file bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &file, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	write(t, ".", "in/a.parquet", file.String())
	for _, n := range []int{0, 13, 39, 40} {
		delivered := c.luminamoon(n)
		c.mustImport(c.flags())
		c.run(c.flags())
		all, _ := luminamoonRun(rows)
		require.True(t, slices.Equal(all, append(delivered, textsIn(t, "out/clean.jsonl")...)), "%d rows", n)
	}
}

// TestImportStateGoesOn: a run after an import is stopped at any step, and nothing is lost.
func TestImportStateGoesOn(t *testing.T) {
	for i, v := range []struct {
		name  string
		input int
		args  []string
	}{
		{"file", 0, nil},
		{"gzip", 1, []string{"-o", "out/clean.jsonl.gz", "--rejects", "out/rejects.jsonl"}},
		{"parts", 6, []string{"-o", "out/parts/", "--shard-rows", "10"}},
		{"parquet", 5, []string{"-o", "out/parts/", "--out-format", "parquet", "--shard-rows", "15"}},
		{"shuffle", 2, []string{"--shuffle", "20", "--seed", "5"}},
		{"epochs", 0, []string{"--epochs", "2", "--shuffle", "9"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			c := newImportTest(t, v.input)
			flags := c.flags(append([]string{"--batch", "3", "--commit-every", "2", "--report", "report.json"}, v.args...)...)
			taken := 44
			if v.input == 5 {
				taken = 40
			}
			c.luminamoon(taken)
			c.mustImport(flags)
			require.NoFileExists(t, "report.json")
			require.NoFileExists(t, "report.json.partial")
			c.run(flags)
			want, counts := tree(t, "out"), totalsOf(t, "report.json")
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for round := range 3 {
				c.luminamoon(taken)
				c.mustImport(flags)
				stops := 0
				for ; ; stops++ {
					k := 1 + rng.Int64N(int64(40+10*stops))
					if stops < 4 {
						k = int64(stops + round + 1) // before anything is written
					}
					r := interruptedAt(t, k, append([]string{"run", "--workers", "2"}, flags...)...)
					if r.code == exitDone {
						break
					}
					require.Equal(t, exitInterrupted, r.code, r.err)
					require.Less(t, stops, 1000)
				}
				require.Positive(t, stops)
				requireTree(t, want, "out", "round %d", round)
				got := totalsOf(t, "report.json")
				if slices.Contains(v.args, "--shuffle") {
					got.Source = counts.Source // it counts what has been read, blank lines too
				}
				require.Equal(t, counts, got)
			}
			found, err := resume.InspectFolder("state")
			require.NoError(t, err)
			require.True(t, found.Sound(), found.Faults)
			var mark runMark
			require.NoError(t, json.Unmarshal(found.Checkpoint.Extra, &mark))
			delivered, dedup := luminamoonRun(c.rows[:taken])
			var place struct{ Index int }
			require.NoError(t, json.Unmarshal(mark.Import.Position, &place))
			require.Equal(t, taken, place.Index)
			mark.Import.Position = nil
			require.Equal(t, &importMark{From: "lm/ck", Batch: 4, Row: uint64(len(delivered)), Rows: int64(taken), Hashes: len(dedup) / 8}, mark.Import)
			require.Equal(t, len(dedup)/8, found.Known)
		})
	}
}

// TestImportStateRuns: the import counts as no run, and the first one as the first. Its tracker
// has the place.
func TestImportStateRuns(t *testing.T) {
	c := newImportTest(t, 0)
	c.luminamoon(10)
	flags := c.flags("--report", "report.json")
	c.mustImport(flags)
	found, err := resume.InspectFolder("state")
	require.NoError(t, err)
	state, _ := found.State()
	before := strings.TrimSuffix(jsonRows(c.rows[:10], 0), "\n\n")
	require.Equal(t, resume.Coordinate{Offset: uint64(len(before)), Row: uint64(strings.Count(before, "\n"))}, state.Coordinate)
	c.run(flags)
	var r report
	require.NoError(t, json.Unmarshal([]byte(read(t, "report.json")), &r))
	require.Equal(t, 1, r.Resumable.Runs)
	require.EqualValues(t, 90, r.Records.In)
}

// TestImportStateEpochs: the first epoch begins at the place, the second at the first row, without
// what luminamoon knew.
func TestImportStateEpochs(t *testing.T) {
	for _, epochs := range []string{"2", "3"} {
		c := newImportTest(t, 1)
		whole := c.whole("--epochs", epochs)
		for _, n := range []int{0, 41, 99, 100} {
			delivered := c.luminamoon(n)
			c.mustImport(c.flags("--epochs", epochs))
			c.run(c.flags("--epochs", epochs))
			requireTexts(t, whole, append(delivered, textsIn(t, "out/clean.jsonl")...), "%d rows", n)
		}
	}
}

// TestImportStateEndless: what is left in a row group that is read as a whole is enough for an endless
// run to begin.
func TestImportStateEndless(t *testing.T) {
	c := newImportTest(t, 5)
	c.luminamoon(40)
	c.mustImport(c.flags("--epochs", "0"))
}

// TestImportStateShuffled: the rest is shuffled, and nothing of it is lost.
func TestImportStateShuffled(t *testing.T) {
	c := newImportTest(t, 4)
	whole := c.whole()
	slices.Sort(whole)
	delivered := c.luminamoon(33)
	c.mustImport(c.flags("--shuffle", "30"))
	c.run(c.flags("--shuffle", "30"))
	rest := textsIn(t, "out/clean.jsonl")
	require.False(t, slices.Equal(whole[len(delivered):], rest))
	got := append(delivered, rest...)
	slices.Sort(got)
	requireTexts(t, whole, got)
}

// TestImportStateHashes: hashes come from where the flags say, and what does not fit is told.
func TestImportStateHashes(t *testing.T) {
	const (
		ahead = "may be ahead"
		more  = "never delivered"
		again = "are read again"
		fewer = "fewer texts"
		empty = "is empty"
		none  = "no effect"
		masks = "before masking"
	)
	c := newImportTest(t, 0)
	rest, _ := luminamoonRun(c.rows[50:]) // without hashes
	delivered := c.luminamoon(50)
	_, dedup := luminamoonRun(c.rows[:50])
	_, further := luminamoonRun(c.rows[:56])
	other := write(t, ".", "lm/copy", dedup)
	longer := write(t, ".", "lm/longer", further+dedup[:80]) // a hash may be there twice
	shorter := write(t, ".", "lm/shorter", dedup[:8*20])
	nothing := write(t, ".", "lm/nothing", "")
	known := func(n int) string { return fmt.Sprintf("hashes taken      %d\n", n) }
	for _, v := range []struct {
		name  string
		flags []string
		file  string // ck.dedup; "" for none
		texts []string
		told  []string
		says  string
	}{
		{"beside it", nil, dedup, c.whole()[len(delivered):], nil, known(len(dedup) / 8)},
		{"named", []string{"--from-dedup", other}, "", c.whole()[len(delivered):], nil, known(len(dedup) / 8)},
		{"named, the other does not count", []string{"--from-dedup", other}, "abc", c.whole()[len(delivered):], nil, ""},
		{"none", []string{"--from-dedup", ""}, dedup, rest, []string{ahead}, known(0)},
		{"none there", nil, "", rest, []string{ahead}, known(0)},
		{"ahead", []string{"--from-dedup", longer}, "", nil, []string{ahead, more}, known(len(further) / 8)},
		{"put back", []string{"--from-dedup", other, "--from-rows", "45"}, "", c.whole()[len(delivered):], []string{again}, "rows passed over  45, up to "},
		{"lost", []string{"--from-dedup", shorter}, "", nil, []string{ahead, fewer}, known(20)},
		{"emptied", []string{"--from-dedup", nothing}, "", rest, []string{ahead, empty}, known(0)},
		{"no stage", []string{"--from-dedup", other, "--stages", "clean"}, "", nil, []string{ahead, none}, known(0)},
		{"no stage, by itself", []string{"--dedup", "off"}, dedup, nil, []string{ahead}, known(0)},
		{"masks first", []string{"--stages", "clean,pii,dedup"}, dedup, nil, []string{masks}, known(len(dedup) / 8)},
		{"masks later", []string{"--stages", "clean,dedup,pii"}, dedup, nil, nil, known(len(dedup) / 8)},
		{"masks only", []string{"--stages", "clean,pii"}, dedup, nil, []string{ahead}, known(0)},
	} {
		t.Run(v.name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll("state"))
			require.NoError(t, os.RemoveAll("out"))
			require.NoError(t, os.Mkdir("out", 0o755))
			require.NoError(t, os.Remove("lm/ck.dedup"))
			if v.file != "" {
				write(t, ".", "lm/ck.dedup", v.file)
			}
			r := c.imports(c.flags(v.flags...))
			if v.file == "" {
				write(t, ".", "lm/ck.dedup", "")
			}
			require.Equal(t, exitDone, r.code, r.err)
			require.Contains(t, r.err, v.says)
			for _, message := range []string{ahead, more, again, fewer, empty, none, masks} {
				require.Equal(t, slices.Contains(v.told, message), strings.Contains(r.err, message), "%q in %s", message, r.err)
			}
			if v.texts != nil {
				flags := c.flags(v.flags...)
				if i := slices.Index(flags, "--from-dedup"); i >= 0 {
					flags = slices.Delete(flags, i, i+2)
				}
				if i := slices.Index(flags, "--from-rows"); i >= 0 {
					flags = slices.Delete(flags, i, i+2)
				}
				c.run(flags)
				requireTexts(t, v.texts, textsIn(t, "out/clean.jsonl"))
			}
		})
	}
}

// TestImportStateGoldens: the number of rows is the one that luminamoon was told to write.
func TestImportStateGoldens(t *testing.T) {
	files, rows := trackerGoldens(t)
	c := newImportTest(t, 0)
	c.luminamoon(0)
	tooMany := 0
	for i, file := range files {
		write(t, ".", "lm/ck", string(file))
		r := c.imports(c.flags())
		switch want := rows[i]; want {
		case "", "0", "1":
			require.Equal(t, exitDone, r.code, r.err)
			require.Contains(t, r.err, "rows passed over  "+map[string]string{"": "0", "0": "0", "1": "1"}[want]+", up to ")
			require.NoError(t, os.RemoveAll("state"))
		default:
			require.Equal(t, exitFailed, r.code, r.err)
			require.Contains(t, r.err, ": 100, and "+want+" were taken;")
			require.NoDirExists(t, "state")
			tooMany++
		}
	}
	require.Positive(t, tooMany)
	require.Less(t, tooMany, len(files))
}

// TestImportStateRefuses: what cannot be imported says why, and changes nothing.
func TestImportStateRefuses(t *testing.T) {
	c := newImportTest(t, 0)
	c.luminamoon(40)
	ck := read(t, "lm/ck")
	write(t, ".", "lm/short", ck[:100])
	write(t, ".", "lm/bad", strings.Replace(ck, "\x04\x00\x00\x00\x00\x00\x00\x00", "\x05\x00\x00\x00\x00\x00\x00\x00", 2))
	write(t, ".", "lm/odd", ck[:63])
	write(t, ".", "full/file", "")
	write(t, ".", "parts/part-00000.jsonl", "")
	write(t, ".", "cut/a.jsonl.gz", gzipped(t, jsonRows(c.rows, 0), 1<<20)[:400])
	write(t, ".", "in.jsonl", jsonRows(c.rows, 0))
	before := tree(t, ".")
	base := []string{"import-state", "in.jsonl", "--state", "state", "-o", "out/clean.jsonl"}
	from := append(base[:len(base):len(base)], "--from", "lm/ck")
	with := func(args ...string) []string { return append(from[:len(from):len(from)], args...) }
	for _, v := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"import-state", "in", "--from", "lm/ck"}, exitUsage, "--state is missing"},
		{base, exitUsage, "--from is missing"},
		{[]string{"import-state", "--from", "lm/ck", "--state", "state"}, exitUsage, "INPUT is missing"},
		{[]string{"import-state", "-", "--from", "lm/ck", "--state", "state"}, exitUsage, "can be read once"},
		{with("--shard", "0/2"), exitUsage, "--shard"},
		{with("--unordered"), exitUsage, "--unordered"},
		{with("--from-rows", "-1"), exitUsage, "--from-rows"},
		{with("--from-rows", "x"), exitUsage, "--from-rows"},
		{with("--state", "full"), exitUsage, "is not empty"},
		{with("--state", "lm/ck"), exitUsage, "is no folder"},
		{with("-o", "lm/ck"), exitUsage, "would overwrite the input lm/ck"},
		{with("--rejects", "lm/ck.dedup"), exitUsage, "would overwrite the input lm/ck.dedup"},
		{with("--rejects", "lm/odd", "--from-dedup", "lm/odd"), exitUsage, "would overwrite the input lm/odd"},
		{with("-o", "x.parquet"), exitUsage, "name a folder"},
		{with("-o", "parts"), exitFailed, "parts of an earlier run"},
		{with("--from", "lm/short"), exitFailed, "has 100 bytes, want 128"},
		{with("--from", "lm/bad"), exitFailed, "slot B at offset 64"},
		{with("--from", "lm/none"), exitFailed, "lm/none"},
		{with("--from-dedup", "lm/odd"), exitFailed, "no multiple of 8"},
		{with("--from-dedup", "lm/none"), exitFailed, "--from-dedup: "},
		{[]string{"import-state", "cut", "--state", "state", "-o", "out/clean.jsonl", "--from", "lm/ck", "--from-rows", "90"}, exitFailed, "a.jsonl.gz"},
		{with("--epochs", "0", "--from-rows", "100"), exitUsage, "--epochs 0: all 100 rows were taken"},
	} {
		r := inProcess(t, "", v.args...)
		require.Equal(t, v.code, r.code, "%v: %s", v.args, r.err)
		require.Contains(t, r.err, v.says)
		requireTree(t, before, ".", "%v", v.args)
		require.NoDirExists(t, "state")
	}

	// An endless run begins where something is left, blank lines apart.
	r := inProcess(t, "", with("--epochs", "0", "--from-rows", "99")...)
	require.Equal(t, exitDone, r.code, r.err)

	// The run that goes on must be the one that was imported.
	run := []string{"run", "in.jsonl", "--state", "state", "-o", "out/clean.jsonl"}
	r = inProcess(t, "", run...)
	require.Equal(t, exitUsage, r.code, r.err)
	require.Contains(t, r.err, "--epochs was 0 and is 1")
}

// TestImportStateUnfinished: a folder whose import was killed is not taken for a new one.
func TestImportStateUnfinished(t *testing.T) {
	for _, hashes := range [][]uint64{{}, {1, 2}} {
		c := newImportTest(t, 0)
		c.luminamoon(40)
		c.mustImport(c.flags())
		found, err := resume.InspectFolder("state")
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll("state"))
		killed := errors.New("killed")
		_, err = resume.OpenPipeline(context.Background(), "state", func(resume.Start) (*pipeline.Pipeline[int], error) { return nil, killed },
			resume.WithConfig(found.Config), resume.WithKnown(hashes))
		require.ErrorIs(t, err, killed)
		before := tree(t, ".")
		r := inProcess(t, "", append([]string{"run"}, c.flags()...)...)
		require.Equal(t, exitFailed, r.code, r.err)
		require.Contains(t, r.err, "the import into state came to no end; remove the folder")
		requireTree(t, before, ".")
		r = c.imports(c.flags())
		require.Equal(t, exitUsage, r.code, r.err)
		require.Contains(t, r.err, "is not empty")

		// Killed before there was a tracker.
		require.NoError(t, os.Remove("state/tracker"))
		require.NoError(t, os.Remove("state/log"))
		r = inProcess(t, "", append([]string{"run"}, c.flags()...)...)
		require.Equal(t, exitFailed, r.code, r.err)
		require.Contains(t, r.err, "came to no end")
	}
}

// TestImportStateInterrupted: an import that is interrupted leaves nothing, or all.
func TestImportStateInterrupted(t *testing.T) {
	c := newImportTest(t, 1)
	whole := c.whole()
	delivered := c.luminamoon(70)
	before := tree(t, ".")
	for k := int64(1); ; k++ {
		require.Less(t, k, int64(1000))
		r := interruptedAt(t, k, append([]string{"import-state", "--from", "lm/ck"}, c.flags()...)...)
		if r.code == exitDone {
			require.Greater(t, k, int64(30))
			break
		}
		require.Equal(t, exitInterrupted, r.code, r.err)
		requireTree(t, before, ".", "step %d", k)
		require.NoDirExists(t, "state")
	}
	c.run(c.flags())
	requireTexts(t, whole, append(delivered, textsIn(t, "out/clean.jsonl")...))
}

// TestImportStateCommand: the command that an import prints is the one that goes on.
func TestImportStateCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	c := newImportTest(t, 0)
	whole := c.whole()
	delivered := c.luminamoon(61)
	require.NoError(t, os.Rename("in/a.jsonl", "in/it's a $file.jsonl"))
	r := inProcess(t, "", "--log-level=error", "import-state", "--from=lm/ck", "--from-dedup", "lm/ck.dedup", "--state", "a state", "--from-rows", "61",
		"-o", "out/clean.jsonl", "--stages=clean,dedup", "--on-error=skip", "--pii-replace", "email=it's", "--pii-replace", "ip=", "--", "in/it's a $file.jsonl")
	require.Equal(t, exitDone, r.code, r.err)
	_, line, found := strings.Cut(r.err, "go on with        rosaline ")
	require.True(t, found, r.err)
	require.NotContains(t, line, "--from")
	cmd := exec.Command("sh", "-c", "'"+binary+"' "+line)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	requireTexts(t, whole, append(delivered, textsIn(t, "out/clean.jsonl")...))
}

// TestImportStateOfLuminamoon: luminamoon itself takes a part of the rows.
func TestImportStateOfLuminamoon(t *testing.T) {
	program := python(t, "luminamoon")
	program, err := filepath.Abs(program)
	require.NoError(t, err)
	script, err := filepath.Abs(filepath.Join("testdata", "importstate.py"))
	require.NoError(t, err)
	c := newImportTest(t, 2)
	require.NoError(t, os.RemoveAll("in"))
	write(t, ".", "in/a.jsonl", jsonRows(c.rows, 0))
	whole := c.whole()
	for _, batches := range []string{"0", "1", "9", "1000"} {
		require.NoError(t, os.RemoveAll("lm"))
		c.luminamoon(0)
		require.NoError(t, os.RemoveAll("lm"))
		require.NoError(t, os.Mkdir("lm", 0o755))
		out, err := exec.Command(program, script, "in/a.jsonl", "lm", batches, "0").CombinedOutput()
		require.NoError(t, err, "%s", out)
		flags := []string{"--from-dedup", "lm/ck.hashes"}
		if _, err := os.Stat("lm/ck.hashes"); err != nil {
			flags = nil
		}
		r := c.imports(c.flags(flags...))
		require.Equal(t, exitDone, r.code, r.err)
		require.NotContains(t, r.err, "may be ahead")
		c.run(c.flags())
		requireTexts(t, whole, append(textsIn(t, "lm/out.jsonl"), textsIn(t, "out/clean.jsonl")...), "%s batches", batches)
	}
	// What it has read ahead is in its dedup file, and that is told.
	require.NoError(t, os.RemoveAll("lm"))
	c.luminamoon(0)
	out, err := exec.Command(program, script, "in/a.jsonl", "lm", "4", "5").CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := c.imports(c.flags("--from-dedup", "lm/ck.hashes"))
	require.Equal(t, exitDone, r.code, r.err)
	require.Contains(t, r.err, "never delivered")
}
