package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEpochs: each is deduplicated on its own.
func TestEpochs(t *testing.T) {
	dir := t.TempDir()
	content := proseRecords(9) + proseRecords(3) + "\n" + record("short", "short")
	in, rep := write(t, dir, "in.jsonl", content), filepath.Join(dir, "report.json")
	for _, workers := range []string{"1", "2", "7"} {
		for _, batch := range []string{"1", "4", "64"} {
			r := inProcess(t, "", "run", in, "--epochs", "3", "--workers", workers, "--batch", batch, "--report", rep)
			require.Equal(t, exitDone, r.code, r.err)
			require.Equal(t, strings.Repeat(proseRecords(9), 3), r.out)
			var got report
			require.NoError(t, json.Unmarshal([]byte(read(t, rep)), &got))
			require.Equal(t, recordTotals{In: 39, Out: 27, Dropped: 12}, got.Records)
			require.EqualValues(t, 3*len(content), got.Bytes.Read)
			require.EqualValues(t, 3, got.Engine.Epochs)
			require.Equal(t, 9, got.Dedup.Entries, "of the last epoch")
			require.Equal(t, sourceTotals{Files: 1, Lines: 42, Blank: 3}, got.Source)
		}
	}
}

func TestEpochsWithoutDedup(t *testing.T) {
	in := write(t, t.TempDir(), "in.jsonl", numbers(70))
	r := inProcess(t, "", "run", in, "--epochs", "4", "--stages", "none")
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, strings.Repeat(numbers(70), 4), r.out)
}

func TestEpochsOfNothing(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "\n\n"} {
		in := write(t, dir, "in.jsonl", content)
		r := inProcess(t, "", "run", in, "--epochs", "3")
		require.Equal(t, exitDone, r.code, r.err)
		require.Empty(t, r.out)
		for _, more := range [][]string{nil, {"--shuffle", "9"}} {
			r = inProcess(t, "", append([]string{"run", in, "--epochs", "0"}, more...)...)
			require.Equal(t, exitFailed, r.code)
			require.Contains(t, r.err, "rosaline: the inputs hold no records, and --epochs 0")
		}
	}
}

// TestEpochsEndAtABadRecord: an endless run does not hide it.
func TestEpochsEndAtABadRecord(t *testing.T) {
	in := write(t, t.TempDir(), "in.jsonl", numbers(5)+"{broken\n")
	r := inProcess(t, "", "run", in, "--epochs", "0", "--stages", "none")
	require.Equal(t, exitFailed, r.code)
	require.Equal(t, numbers(5), r.out)
	require.Contains(t, r.err, fmt.Sprintf("rosaline: %s:6: ", in))
}
