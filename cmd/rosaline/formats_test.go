package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tableFile is the path of a file that pyarrow or polars has written.
func tableFile(name string) string {
	return filepath.Join("..", "..", "pipeline", "source", "testdata", "tables", name)
}

const tableRecords = `{"id":"r0","text":"plain"}
{"id":"r1","text":""}
{"id":"r3","text":"thirteen byte"}
{"id":"r4","text":"日本語のテキスト"}
{"id":"r5","text":"quo\"ted, with\nlines"}
{"id":"r6","text":"fourteen bytes"}
`

func TestFormats(t *testing.T) {
	for _, name := range []string{"pyarrow.arrow", "polars.arrow", "pyarrow-lz4.arrows", "pyarrow-zstd.parquet", "polars.parquet"} {
		r := inProcess(t, "", "run", "--stages", "none", tableFile(name))
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, tableRecords, r.out, name)
	}
	data, err := os.ReadFile(tableFile("pyarrow.csv"))
	require.NoError(t, err)
	r := inProcess(t, string(data), "run", "--stages", "none", "--format", "csv", "-")
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, strings.Replace(tableRecords, `{"id":"r3"`, `{"id":"r2","text":""}`+"\n"+`{"id":"r3"`, 1), r.out)
	r = inProcess(t, "PAR1", "run", "--format", "parquet", "-")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "pipe")
	r = inProcess(t, "", "quality", tableFile("polars.parquet"), "--text-key", "large")
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, 6, strings.Count(r.out, "\n"))
	require.Contains(t, r.err, "records without a text left out")
}

// TestFormatsMixed: the rows of a folder do not depend on workers, shards add up, and metadata
// follow their records through a shuffle.
func TestFormatsMixed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pyarrow.arrow", "polars.parquet", "pyarrow.csv"} {
		data, err := os.ReadFile(tableFile(name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	write(t, dir, "a.jsonl", `{"text":"first","id":1,"n":10}`+"\n{broken\n")
	args := []string{"run", "--stages", "none", "--on-error", "skip", "--metadata", "n"}
	one := inProcess(t, "", append(args, dir, "--workers", "1")...)
	require.Equal(t, exitDone, one.code, one.err)
	require.Equal(t, 20, strings.Count(one.out, "\n"))
	for _, more := range [][]string{{"--workers", "3"}, {"--batch", "1"}, {"--batch", "5", "--workers", "2"}} {
		require.Equal(t, one.out, inProcess(t, "", append(append(args, dir), more...)...).out)
	}
	parts := ""
	for _, shard := range []string{"0/3", "1/3", "2/3"} {
		parts += inProcess(t, "", append(args, dir, "--shard", shard)...).out
	}
	require.ElementsMatch(t, strings.Split(one.out, "\n"), strings.Split(parts, "\n"))
	shuffled := inProcess(t, "", append(args, dir, "--shuffle", "7", "--batch", "3")...)
	require.Equal(t, exitDone, shuffled.code, shuffled.err)
	require.NotEqual(t, one.out, shuffled.out)
	require.ElementsMatch(t, strings.Split(one.out, "\n"), strings.Split(shuffled.out, "\n"))
}

func TestFormatErrors(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "a.csv", "id,text\n1,one\n2,\"x\"y\n3,three,more\n4,four\n")
	r := inProcess(t, "", "run", "--stages", "none", in)
	require.Equal(t, exitFailed, r.code)
	require.Equal(t, "{\"id\":\"1\",\"text\":\"one\"}\n", r.out)
	require.Contains(t, r.err, in+":2: at byte 14: source: invalid CSV")
	rejects := filepath.Join(dir, "rejects.jsonl")
	r = inProcess(t, "", "run", "--stages", "none", "--on-error", "skip", "--rejects", rejects, in)
	require.Equal(t, exitDone, r.code, r.err)
	require.Contains(t, read(t, rejects), `"reason":"bad_csv"`)
	require.Contains(t, read(t, rejects), `"reason":"field_count","value":3`)
	r = inProcess(t, "", "run", in, "--text-key", "txt")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, `did you mean "text"?`)
	r = inProcess(t, "", "run", write(t, dir, "a.parquet.gz", ""))
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "decompress the file first")
}

// TestPythonReadsTheSame writes tables with the script of the test files anew and compares.
func TestPythonReadsTheSame(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = filepath.Join("..", "..", ".venv", "bin", "python")
	}
	if err := exec.Command(python, "-c", "import pyarrow, polars").Run(); err != nil {
		t.Skipf("%s with pyarrow and polars is not there: %v", python, err)
	}
	script, err := os.ReadFile(tableFile("write.py"))
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "write.py")
	require.NoError(t, os.WriteFile(path, script, 0o600))
	out, err := exec.Command(python, path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	require.NoError(t, err)
	for _, file := range files {
		name := filepath.Base(file)
		if name == "write.py" || name == "pyarrow-empty.parquet" {
			continue
		}
		r := inProcess(t, "", "run", "--stages", "none", file)
		require.Equal(t, exitDone, r.code, r.err)
		for line := range strings.Lines(tableRecords) {
			require.Contains(t, r.out, line, name)
		}
	}
}

// TestWARCReport: what is passed over is counted.
func TestWARCReport(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "a.warc", "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 1\r\n\r\nx\r\n\r\nWARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <u:1>\r\nContent-Length: 4\r\n\r\ntext\r\n\r\n")
	rep := filepath.Join(dir, "report.json")
	r := inProcess(t, "", "run", "--stages", "none", in, "--report", rep)
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, "{\"id\":\"u:1\",\"text\":\"text\"}\n", r.out)
	var got report
	require.NoError(t, json.Unmarshal([]byte(read(t, rep)), &got))
	require.Equal(t, int64(1), got.Source.Skipped)
	require.Equal(t, int64(1), got.Source.Lines)
}
