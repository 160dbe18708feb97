package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
	"github.com/rosaline-go/rosaline/pipeline/sample"
)

// made makes a folder with n lines, every one of another shape.
func made(t *testing.T, n int, line func(i int) string) string {
	t.Helper()
	dir := t.TempDir()
	var text []byte
	for i := range n {
		text = append(append(text, line(i)...), '\n')
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("lines-%d.jsonl", n)), text, 0o600))
	return dir
}

func bits(v int) uint64 { return uint64(math.Float32bits(float32(v))) }

func TestCasesTakeEverySample(t *testing.T) {
	const n = 1000
	dir := made(t, n, func(i int) string {
		return fmt.Sprintf(`{"label":%d,"x":[%d,2],"nested":{"x":[7]}}`, -i, i)
	})
	var plain, lines, summed uint64
	for i := range n {
		plain += bits(i) + uint64(i%10)
		lines += bits(i) - uint64(i)
		x := make([]byte, 0, 1024)
		for range 256 {
			x = binary.LittleEndian.AppendUint32(x, uint32(bits(i)))
		}
		sum := uint32(0)
		for range 10 {
			sum = crc32.Update(sum, crc32.IEEETable, x)
		}
		summed += bits(i) + uint64(sum)
	}
	for name, fold := range map[string]uint64{
		"passthrough": plain, "map": plain, "batch": plain, "shuffle": plain, "consumer": plain,
		"jsonl": lines, "jsonl-tree": lines, "cpu": summed,
	} {
		r := runner{dir: dir}
		for workers := 1; workers < 4; workers++ {
			got, err := r.run(t.Context(), protocol.Command{Case: name, Workers: workers, N: n})
			require.NoError(t, err, name)
			require.Equal(t, n, got.Samples, name)
			require.Equal(t, fold, got.Fold, "%s with %d workers", name, workers)
			require.Positive(t, got.Seconds, name)
		}
	}
}

func TestLatencyTakesTheFirst(t *testing.T) {
	var r runner
	got, err := r.run(t.Context(), protocol.Command{Case: "latency", Workers: 2, N: 10_000})
	require.NoError(t, err)
	require.Equal(t, 1, got.Samples)
	require.Equal(t, bits(1)+1, got.Fold)
	require.GreaterOrEqual(t, got.Seconds, sourceTime.Seconds())
	goleak.VerifyNone(t) // the rest would take minutes
}

func TestCasesReportWhatIsWrong(t *testing.T) {
	r := runner{dir: t.TempDir()}
	_, err := r.run(t.Context(), protocol.Command{Case: "jsonl", Workers: 1, N: 3})
	require.ErrorContains(t, err, "lines-3.jsonl")
	_, err = r.run(t.Context(), protocol.Command{Case: "unheard-of", Workers: 1, N: 3})
	require.ErrorContains(t, err, "unheard-of")
	_, err = summed(sample.New())
	require.ErrorContains(t, err, "no x")
}
