package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// numbers are n lines of input whose ids and texts are their numbers.
func numbers(n int) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(record(fmt.Sprint(i), fmt.Sprintf("text number %d", i)))
	}
	return s.String()
}

// sorted returns the lines of s in ascending order.
func sorted(s string) []string { return slices.Sorted(strings.Lines(s)) }

// TestShuffleMovesRecordsWithinItsBuffer: with n records held back, what leaves at
// position k has come at k+n or before.
func TestShuffleMovesRecordsWithinItsBuffer(t *testing.T) {
	in := numbers(1000)
	for _, buffer := range []int{1, 2, 10, 300, 1000, 5000} {
		r := inProcess(t, in, "run", "-", "--stages", "none", "--shuffle", fmt.Sprint(buffer))
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, sorted(in), sorted(r.out), "the same records")
		require.Equal(t, buffer == 1, in == r.out, "buffer %d", buffer)
		for k, l := range lines(t, r.out) {
			var came int
			_, err := fmt.Sscan(l.ID.(string), &came)
			require.NoError(t, err)
			require.LessOrEqual(t, came, k+buffer)
		}
	}
}

func TestShuffleDependsOnSeedAndEpoch(t *testing.T) {
	in := write(t, t.TempDir(), "in.jsonl", numbers(200))
	run := func(args ...string) string {
		r := inProcess(t, "", append([]string{"run", in, "--stages", "none", "--shuffle", "50"}, args...)...)
		require.Equal(t, exitDone, r.code, r.err)
		return r.out
	}
	zero := run()
	require.Equal(t, zero, run("--seed", "0"))
	require.NotEqual(t, zero, run("--seed", "1"))
	require.Equal(t, run("--seed", "18446744073709551615"), run("--seed", "18446744073709551615"))

	two := run("--epochs", "2")
	first, second := two[:len(zero)], two[len(zero):]
	require.Equal(t, zero, first)
	require.NotEqual(t, first, second)
	require.Equal(t, sorted(first), sorted(second))
}

// TestShuffledOutputDoesNotDependOnTheEngine: nor on batches, the shuffle sees
// records. Duplicates, nulls and lines that are no records are among them.
func TestShuffledOutputDoesNotDependOnTheEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		for i := range rapid.IntRange(0, 80).Draw(t, "records") {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				in.WriteString("\n")
			case 1:
				in.WriteString("{broken\n")
			case 2:
				fmt.Fprintf(&in, `{"id":%d,"text":null}`+"\n", i)
			case 3:
				fmt.Fprintf(&in, `{"id":%d,"text":"  the same  "}`+"\n", i)
			default:
				in.WriteString(record(fmt.Sprint(i), fmt.Sprintf("a long enough text, number %d", i)))
			}
		}
		args := []string{"--stages", "clean,dedup", "--on-error", "skip",
			"--shuffle", fmt.Sprint(rapid.IntRange(1, 200).Draw(t, "buffer")),
			"--seed", fmt.Sprint(rapid.Uint64().Draw(t, "seed"))}
		out, rejects := runDelayed(t, in.String(), append(args, "--workers", "1", "--batch", "1", "--prefetch", "1")...)
		gotOut, gotRejects := runDelayed(t, in.String(), append(args,
			"--workers", fmt.Sprint(rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(t, "workers")),
			"--batch", fmt.Sprint(rapid.IntRange(1, 70).Draw(t, "batch")),
			"--prefetch", fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "prefetch")))...)
		require.Equal(t, out, gotOut)
		require.Equal(t, rejects, gotRejects)
		// Without the shuffle the same records come in and the same texts are kept.
		straight, straightRejects := runDelayed(t, in.String(), "--stages", "clean,dedup", "--on-error", "skip")
		texts := func(s string) (out []string) {
			for _, l := range lines(t, s) {
				out = append(out, l.Text)
			}
			slices.Sort(out)
			return out
		}
		reasons := func(s string) map[string]int {
			out := map[string]int{}
			for _, l := range lines(t, s) {
				out[l.Stage+" "+l.Reason]++
			}
			return out
		}
		require.Equal(t, texts(straight), texts(out))
		require.Equal(t, reasons(straightRejects), reasons(rejects))
	})
}

// TestShuffleKeepsWhatARecordIs checks ids, nulls, texts of all lengths and places.
func TestShuffleKeepsWhatARecordIs(t *testing.T) {
	in := `{"id":-1.50e3,"text":"a"}
{"id":"7","text":""}
{"text":"` + strings.Repeat("long ", 100) + `"}
{"id":8}
{"id":9,"text":null}

{"id":"","text":"é\u0000"}
`
	dir := t.TempDir()
	file := write(t, dir, "in.jsonl", in)
	run := func(args ...string) (out, rejects string) {
		path := filepath.Join(dir, "rejects.jsonl")
		r := inProcess(t, "", append([]string{"run", file, "--stages", "none", "--on-error", "skip", "--rejects", path}, args...)...)
		require.Equal(t, exitDone, r.code, r.err)
		return r.out, read(t, path)
	}
	out, rejects := run()
	require.Contains(t, out, `{"id":-1.50e3,`)
	for _, batch := range []string{"1", "3", "64"} {
		gotOut, gotRejects := run("--shuffle", "4", "--batch", batch)
		require.Equal(t, sorted(out), sorted(gotOut))
		require.Equal(t, sorted(rejects), sorted(gotRejects))
	}
	one, oneRejects := run("--shuffle", "1", "--batch", "2") // no other order
	require.Equal(t, out, one)
	require.Equal(t, rejects, oneRejects)
}

// TestShuffleFailsAtFirstBadRecord: all before it come out, nothing after.
func TestShuffleFailsAtFirstBadRecord(t *testing.T) {
	good := numbers(100)
	in := good + "{broken\n" + numbers(50) + "{broken too\n"
	for _, workers := range []string{"1", "2", "7"} {
		for _, batch := range []string{"1", "7", "64", "1000"} {
			for _, buffer := range []string{"10", "1000"} {
				r := inProcess(t, in, "run", "-", "--stages", "none", "--shuffle", buffer, "--workers", workers, "--batch", batch)
				require.Equal(t, exitFailed, r.code)
				require.Contains(t, r.err, "rosaline: -:101: ")
				require.Equal(t, sorted(good), sorted(r.out))
			}
		}
	}
}
