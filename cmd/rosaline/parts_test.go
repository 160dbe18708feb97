package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/inspection"
)

// outputRecord is a record of the output, of any format.
type outputRecord struct {
	ID     json.RawMessage `json:"id"`
	Text   string          `json:"text"`
	Tokens []int           `json:"tokens"`
	Padded bool            `json:"padded"`
}

// readOutput reads a file of the output, which must be sound, back by other means than
// those that wrote it.
func readOutput(t require.TestingT, path, format string) []outputRecord {
	data := []byte(read(t, path))
	if format == "jsonl" {
		var out []outputRecord
		for l := range bytes.Lines(data) {
			out = append(out, records1(t, l))
		}
		return out
	}
	r, err := inspection.File(context.Background(), path)
	require.NoError(t, err)
	require.True(t, r.Sound, "%s: %v", path, r.Fault)
	var batches []arrow.RecordBatch
	if format == "parquet" {
		f, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(t, err)
		p, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, arrowmem.DefaultAllocator)
		require.NoError(t, err)
		table, err := p.ReadTable(context.Background())
		require.NoError(t, err)
		rows := array.NewTableReader(table, 0)
		for rows.Next() {
			rows.RecordBatch().Retain()
			batches = append(batches, rows.RecordBatch())
		}
	} else {
		f, err := ipc.NewFileReader(bytes.NewReader(data))
		require.NoError(t, err)
		for i := range f.NumRecords() {
			b, err := f.RecordBatchAt(i)
			require.NoError(t, err)
			batches = append(batches, b)
		}
	}
	var out []outputRecord
	for _, b := range batches {
		list, err := b.MarshalJSON()
		require.NoError(t, err)
		var some []outputRecord
		require.NoError(t, json.Unmarshal(list, &some))
		out = append(out, some...)
	}
	return out
}

func records1(t require.TestingT, l []byte) (r outputRecord) {
	require.NoError(t, json.Unmarshal(l, &r))
	return r
}

// readParts reads the parts of a folder in their order.
func readParts(t require.TestingT, dir, format string) (all []outputRecord, sizes []int) {
	parts, err := filepath.Glob(filepath.Join(dir, "part-*"))
	require.NoError(t, err)
	for _, p := range parts {
		require.Equal(t, "."+format, filepath.Ext(p))
		some := readOutput(t, p, format)
		all = append(all, some...)
		sizes = append(sizes, len(some))
	}
	return all, sizes
}

var outFormats = []string{"jsonl", "arrow", "parquet"}

func TestFormatsHoldTheSame(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.jsonl", record("1", "")+record("ü", "日本語のテキスト")+record("2", "twelve bytes")+
		record("3", "thirteen byte")+record("4", "line\nbreak \"quoted\" \\")+record("5", strings.Repeat("long ", 1000)))
	args := []string{"run", in, "--stages", "none", "--tokenizer", "bytes", "--shard", "0/4", "--shard-mode", "pad"}
	r := inProcess(t, "", append(args, "-o", filepath.Join(dir, "out.jsonl"))...)
	require.Equal(t, exitDone, r.code, r.err)
	want := readOutput(t, filepath.Join(dir, "out.jsonl"), "jsonl")
	require.Len(t, want, 2)
	for _, format := range outFormats[1:] {
		for name, more := range map[string][]string{"out." + format: nil, "out": {"--out-format", format}} {
			path := filepath.Join(dir, name)
			r := inProcess(t, "", append(append(args, "-o", path), more...)...)
			require.Equal(t, exitDone, r.code, r.err)
			require.Equal(t, want, readOutput(t, path, format))
		}
	}
}

// TestStandardOutputIsAStream: Arrow on standard output can be read as it comes.
func TestStandardOutputIsAStream(t *testing.T) {
	r := inProcess(t, proseRecords(5), "run", "-", "--out-format", "arrow")
	require.Equal(t, exitDone, r.code, r.err)
	s, err := ipc.NewReader(strings.NewReader(r.out))
	require.NoError(t, err)
	require.True(t, s.Next())
	require.EqualValues(t, 5, s.RecordBatch().NumRows())
	require.False(t, s.Next())
	require.NoError(t, s.Err())

	r = inProcess(t, proseRecords(5), "run", "-", "--out-format", "parquet")
	require.Equal(t, exitDone, r.code, r.err)
	f, err := file.NewParquetReader(strings.NewReader(r.out))
	require.NoError(t, err)
	require.EqualValues(t, 5, f.NumRows())
}

// TestBytesDoNotDependOnTheEngine: nor does the place where a part ends.
func TestBytesDoNotDependOnTheEngine(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.jsonl", proseRecords(20_000))
	content := func(folder string) map[string]string {
		out := map[string]string{}
		paths, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		for _, p := range paths {
			out[filepath.Base(p)] = read(t, p)
		}
		return out
	}
	for _, format := range outFormats {
		t.Run(format, func(t *testing.T) {
			var want map[string]string
			for i, engine := range [][]string{{"--workers", "1", "--batch", "64"}, {"--workers", "3", "--batch", "1000"}, {"--batch", "7777", "--prefetch", "1"}} {
				folder := filepath.Join(dir, fmt.Sprint(format, i)) + "/"
				r := inProcess(t, "", append([]string{"run", in, "-o", folder, "--out-format", format, "--shard-size", "1MiB"}, engine...)...)
				require.Equal(t, exitDone, r.code, r.err)
				got := content(folder)
				require.Greater(t, len(got), 1)
				if want == nil {
					want = got
				}
				require.Equal(t, want, got)
			}
		})
	}
}

func TestPartsByRows(t *testing.T) {
	in := proseRecords(30)
	for _, format := range outFormats {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			require.NoError(t, os.Mkdir(dir, 0o755))
			r := inProcess(t, in, "run", "-", "-o", dir, "--out-format", format, "--shard-rows", "7", "--batch", "4")
			require.Equal(t, exitDone, r.code, r.err)
			all, sizes := readParts(t, dir, format)
			require.Equal(t, []int{7, 7, 7, 7, 2}, sizes)
			for i, one := range all {
				require.Equal(t, prose(i), one.Text)
			}
			require.FileExists(t, filepath.Join(dir, "part-00004."+format))

			r = inProcess(t, in, "run", "-", "-o", dir, "--out-format", format)
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "part-00000."+format)
			require.Contains(t, r.err, "--overwrite")
			r = inProcess(t, in, "run", "-", "-o", dir, "--out-format", format, "--overwrite")
			require.Equal(t, exitDone, r.code, r.err)
			_, sizes = readParts(t, dir, format)
			require.Equal(t, []int{30}, sizes)
		})
	}
}

// TestPartsOfRecordsThatFit: no part is empty when the records end with a part.
func TestPartsOfRecordsThatFit(t *testing.T) {
	dir := t.TempDir()
	r := inProcess(t, proseRecords(6), "run", "-", "-o", dir, "--shard-rows", "3")
	require.Equal(t, exitDone, r.code, r.err)
	_, sizes := readParts(t, dir, "jsonl")
	require.Equal(t, []int{3, 3}, sizes)
}

func TestPartsBySize(t *testing.T) {
	dir := t.TempDir()
	r := inProcess(t, proseRecords(100), "run", "-", "-o", dir, "--shard-size", "500", "--batch", "9")
	require.Equal(t, exitDone, r.code, r.err)
	parts, err := filepath.Glob(filepath.Join(dir, "part-*.jsonl"))
	require.NoError(t, err)
	var all strings.Builder
	for i, p := range parts {
		content := read(t, p)
		all.WriteString(content)
		last := strings.LastIndexByte(content[:len(content)-1], '\n') + 1
		require.Less(t, last, 500)
		if i < len(parts)-1 {
			require.GreaterOrEqual(t, len(content), 500)
		}
	}
	require.Equal(t, proseRecords(100), all.String())
}

func TestPartsOfRanks(t *testing.T) {
	dir := t.TempDir()
	for rank := range 2 {
		r := inProcess(t, proseRecords(9), "run", "-", "-o", dir, "--out-format", "arrow", "--shard", fmt.Sprintf("%d/2", rank), "--shard-rows", "3")
		require.Equal(t, exitDone, r.code, r.err)
	}
	all, sizes := readParts(t, dir, "arrow")
	require.Equal(t, []int{3, 2, 3, 1}, sizes)
	require.Len(t, all, 9)
	require.FileExists(t, filepath.Join(dir, "part-00001-00001.arrow"))
}

func TestEmptyOutput(t *testing.T) {
	for _, format := range outFormats {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			r := inProcess(t, "", "run", "-", "-o", dir, "--out-format", format)
			require.Equal(t, exitDone, r.code, r.err)
			_, sizes := readParts(t, dir, format)
			require.Equal(t, []int{0}, sizes)
			path := filepath.Join(dir, "one."+format)
			r = inProcess(t, record("short", "short"), "run", "-", "-o", path)
			require.Equal(t, exitDone, r.code, r.err)
			require.Empty(t, readOutput(t, path, format))
		})
	}
}

// TestFailedRunLeavesWhatCanBeRead: a run that ends at a bad record.
func TestFailedRunLeavesWhatCanBeRead(t *testing.T) {
	for _, format := range outFormats {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "one."+format)
			r := inProcess(t, proseRecords(10)+"{bad\n", "run", "-", "-o", path)
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "what was written before is in "+path+".partial")
			require.NoFileExists(t, path)
			require.Len(t, readOutput(t, path+".partial", format), 10)

			r = inProcess(t, proseRecords(10)+"{bad\n", "run", "-", "-o", dir+"/parts/", "--out-format", format, "--shard-rows", "4")
			require.Equal(t, exitFailed, r.code)
			partial := filepath.Join(dir, "parts", "part-00002."+format+".partial")
			require.Contains(t, r.err, "what was written before is in "+partial)
			require.Len(t, readOutput(t, partial, format), 2)
			require.NoError(t, os.Remove(partial))
			_, sizes := readParts(t, filepath.Join(dir, "parts"), format)
			require.Equal(t, []int{4, 4}, sizes)

			r = inProcess(t, "{bad\n", "run", "-", "-o", path+"2", "--out-format", format)
			require.Equal(t, exitFailed, r.code)
			require.NoFileExists(t, path+"2.partial", "nothing was written")
		})
	}
}

// TestFullDevice: the disk is full.
func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	for _, format := range outFormats {
		r := inProcess(t, proseRecords(10), "run", "-", "-o", "/dev/full", "--out-format", format)
		require.Equal(t, exitFailed, r.code)
		require.Contains(t, r.err, "/dev/full: cannot write: ")
		require.Contains(t, r.err, "no space left")
	}
}
