package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shardRun runs one rank and returns its output, rejects, report and messages.
func shardRun(t *testing.T, in string, rank, world int, mode string, args ...string) (out, rejects []string, rep report, messages string) {
	dir := t.TempDir()
	path, reportPath := filepath.Join(dir, "rejects.jsonl"), filepath.Join(dir, "report.json")
	r := inProcess(t, "", append([]string{"run", in, "--dedup", "off", "--stages", "clean,quality,dedup", "--on-error", "skip", "--rejects", path,
		"--report", reportPath, "--shard", fmt.Sprintf("%d/%d", rank, world), "--shard-mode", mode}, args...)...)
	require.Equal(t, exitDone, r.code, r.err)
	require.NoError(t, json.Unmarshal([]byte(read(t, reportPath)), &rep))
	return slices.Collect(strings.Lines(r.out)), slices.Collect(strings.Lines(read(t, path))), rep, r.err
}

// TestShardsAreAllOfTheInput: together the ranks give what one run gives, each line
// to the rank of its position among those that are not blank.
func TestShardsAreAllOfTheInput(t *testing.T) {
	var in strings.Builder
	for i := range 150 {
		switch {
		case i%13 == 5:
			in.WriteString("\n")
		case i%17 == 3:
			in.WriteString("{broken\n")
		case i%11 == 7:
			in.WriteString(record(fmt.Sprint(i), "short"))
		default:
			in.WriteString(record(fmt.Sprint(i), prose(i%20)))
		}
	}
	dir := t.TempDir()
	write(t, dir, "a.jsonl", in.String())
	write(t, dir, "b.jsonl", proseRecords(10))
	allOut, allRejects, all, _ := shardRun(t, dir, 0, 1, "uneven")
	require.NotEmpty(t, allRejects)
	for _, world := range []int{2, 3, 8, 40} {
		var out, rejects []string
		var sum totals
		for rank := range world {
			o, r, rep, _ := shardRun(t, dir, rank, world, "uneven", "--batch", "5")
			out, rejects = append(out, o...), append(rejects, r...)
			sum.Records.In += rep.Records.In
			sum.Source.Lines += rep.Source.Lines
			sum.Source.Blank += rep.Source.Blank
			require.Zero(t, rep.Records.Padded)
		}
		slices.Sort(out)
		slices.Sort(rejects)
		require.Equal(t, slices.Sorted(slices.Values(allOut)), out, "world %d", world)
		require.Equal(t, slices.Sorted(slices.Values(allRejects)), rejects, "world %d", world)
		require.Equal(t, all.Records.In, sum.Records.In)
		require.Equal(t, all.Source.Lines, sum.Source.Lines)
		require.Equal(t, all.Source.Blank, sum.Source.Blank)
	}
}

// TestShardModes lists the ids that each rank gets; + marks padding.
func TestShardModes(t *testing.T) {
	for _, c := range []struct {
		n, world int
		mode     string
		want     string // of all ranks
	}{
		{10, 4, "uneven", "0 4 8|1 5 9|2 6|3 7"},
		{10, 4, "pad", "0 4 8|1 5 9|2 6 0+|3 7 1+"},
		{10, 4, "drop", "0 4|1 5|2 6|3 7"},
		{3, 8, "uneven", "0|1|2|||||"},
		{3, 8, "pad", "0|1|2|0+|1+|2+|0+|1+"},
		{3, 8, "drop", "|||||||"},
		{8, 4, "pad", "0 4|1 5|2 6|3 7"},
		{0, 2, "pad", "|"},
		{0, 2, "drop", "|"},
		{5, 1, "pad", "0 1 2 3 4"},
	} {
		t.Run(fmt.Sprintf("%d of %d %s", c.n, c.world, c.mode), func(t *testing.T) {
			in := write(t, t.TempDir(), "in.jsonl", proseRecords(c.n))
			for _, shuffle := range []string{"0", "1"} { // 1 leaves the order as it is
				var ranks []string
				left := c.n
				for rank := range c.world {
					out, _, rep, messages := shardRun(t, in, rank, c.world, c.mode, "--shuffle", shuffle)
					var ids []string
					padded := 0
					for _, l := range out {
						var got struct {
							ID, Text string
							Padded   bool
						}
						require.NoError(t, json.Unmarshal([]byte(l), &got))
						if got.Padded {
							padded++
							got.ID += "+"
							require.Contains(t, l, `,"padded":true}`)
						} else {
							require.NotContains(t, l, "padded")
						}
						ids = append(ids, got.ID)
					}
					ranks = append(ranks, strings.Join(ids, " "))
					require.EqualValues(t, len(out), rep.Records.In)
					require.EqualValues(t, padded, rep.Records.Padded)
					require.Equal(t, padded > 0, regexp.MustCompile(`padding +1\n`).MatchString(messages), messages)
					require.Equal(t, rep.Source.LeftOut > 0, strings.Contains(messages, "left out"), messages)
					left -= len(out) - padded + int(rep.Source.LeftOut)
				}
				require.Equal(t, c.want, strings.Join(ranks, "|"))
				require.Zero(t, left, "lines are given out or counted as left out")
			}
		})
	}
}

// TestPaddedRejects: a line that is repeated and dropped is marked too.
func TestPaddedRejects(t *testing.T) {
	in := write(t, t.TempDir(), "in.jsonl", record("a", "short")+record("b", prose(1))+"{broken\n")
	for _, shuffle := range []string{"0", "1"} {
		_, rejects, rep, _ := shardRun(t, in, 3, 4, "pad", "--shuffle", shuffle)
		require.Equal(t, []string{`{"id":"a","stage":"quality","reason":"min_chars","value":5,"bound":20,"padded":true}` + "\n"}, rejects)
		require.EqualValues(t, 1, rep.Records.Padded)
		_, rejects, _, _ = shardRun(t, in, 5, 8, "pad", "--shuffle", shuffle)
		require.Equal(t, []string{`{"id":"` + in + `:3","stage":"source","reason":"bad_json","value":0,"bound":0,"padded":true}` + "\n"}, rejects)
	}
}

// TestShardedOutputDoesNotDependOnTheEngine runs one rank in several ways.
func TestShardedOutputDoesNotDependOnTheEngine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.jsonl", proseRecords(101))
	write(t, dir, "b.jsonl", proseRecords(55))
	for _, mode := range []string{"uneven", "pad", "drop"} {
		for _, shuffle := range []string{"0", "20"} {
			args := []string{dir, "--shard", "4/5", "--shard-mode", mode, "--epochs", "2", "--shuffle", shuffle}
			out, rejects := runDelayed(t, "", append(args, "--workers", "1", "--batch", "1")...)
			require.NotEmpty(t, out)
			for _, workers := range []string{"2", "3", "7"} {
				gotOut, gotRejects := runDelayed(t, "", append(args, "--workers", workers, "--batch", "9", "--prefetch", "2")...)
				require.Equal(t, out, gotOut)
				require.Equal(t, rejects, gotRejects)
			}
		}
	}
}
