package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

var shardModes = []pipeline.ShardMode{pipeline.Uneven, pipeline.Pad, pipeline.Drop}

// modelShard is which of n positions a rank sees.
func modelShard(n, rank, world int, mode pipeline.ShardMode) (positions []int, padded bool) {
	for p := rank; p < n; p += world {
		positions = append(positions, p)
	}
	switch {
	case mode == pipeline.Drop:
		positions = positions[:n/world]
	case mode == pipeline.Pad && n > 0 && len(positions) < (n+world-1)/world:
		positions = append(positions, (rank+len(positions)*world)%n)
		padded = true
	}
	return positions, padded
}

func TestShardsOfLines(t *testing.T) {
	for _, c := range []struct{ n, world int }{{10, 4}, {3, 8}, {0, 3}, {8, 4}, {1, 2}, {5, 2}, {7, 7}, {2, 1000}} {
		m := &memoryFiles{}
		var all []string
		for i := range c.n { // as files of one, two, three … lines
			all = append(all, fmt.Sprintf("line %d", i))
		}
		for from, size := 0, 1; from < c.n; from, size = from+size, size+1 {
			m.add(fmt.Sprintf("%d.txt", from), []byte("\n"+strings.Join(all[from:min(c.n, from+size)], "\n\n")+"\n"))
		}
		m.add("z.txt", nil)
		for _, mode := range shardModes {
			for rank := range min(c.world, 12) {
				for _, size := range chunkSizes {
					positions, padded := modelShard(c.n, rank, c.world, mode)
					want := []string{}
					for _, p := range positions {
						want = append(want, all[p])
					}
					g := gather(t, newReader(m.inputs(), WithOpen(m.open), WithShard(rank, c.world, mode), size))
					require.Empty(t, g.errs)
					require.Equal(t, want, g.texts(), "%+v, rank %d, %v", c, rank, mode)
					for i, l := range g.lines {
						require.Equal(t, padded && i == len(g.lines)-1, l.Padded)
					}
				}
			}
		}
	}
}

// All ranks together see what one reader sees, and count what it counts.
func TestShardsAddUp(t *testing.T) {
	m := severalInputs()
	d := newDecoder(t)
	whole, _ := straight(t, m.inputs(), d, WithOpen(m.open), WithMaxLine(100))
	var lines []string // those that are not blank
	for _, l := range whole.Lines {
		if blank := strings.Contains(l, `txt`) && strings.Contains(l, ` "" 0 `) ||
			strings.Contains(l, "jsonl") && (strings.Contains(l, ` "" 0 `) || strings.Contains(l, `" " 1 `) || strings.Contains(l, `"  " 2 `) || strings.Contains(l, `"\t" 1 `)); !blank {
			lines = append(lines, l)
		}
	}
	require.Equal(t, int(whole.Stats.Lines-whole.Stats.Blank), len(lines))
	for world := 1; world <= 7; world++ {
		for _, mode := range shardModes {
			var sum Stats
			dropped := 0
			for rank := range world {
				a, _ := straight(t, m.inputs(), d, WithOpen(m.open), WithMaxLine(100), WithShard(rank, world, mode), WithChunkLines(rank+1))
				require.Equal(t, whole.Errs, a.Errs)
				positions, padded := modelShard(len(lines), rank, world, mode)
				var want []string
				for i, p := range positions {
					l := lines[p]
					if padded && i == len(positions)-1 {
						l = strings.TrimSuffix(l, "false") + "true"
					}
					want = append(want, l)
				}
				if world == 1 {
					want = whole.Lines
				}
				require.Equal(t, want, a.Lines, "world %d, rank %d, %v", world, rank, mode)
				require.Equal(t, padded, a.Stats.Padded == 1)
				require.Equal(t, a.Stats.Lines, a.Stats.Records+a.Stats.Rejected+a.Stats.Blank)
				require.Equal(t, len(a.Records)+len(a.Bad), int(a.Stats.Records+a.Stats.Rejected+a.Stats.Padded))
				dropped += int(a.Stats.Dropped)
				sum.Add(a.Stats)
			}
			want := whole.Stats
			if mode == pipeline.Drop {
				require.Equal(t, len(lines)%world, dropped)
				require.Equal(t, want.Lines-int64(dropped), sum.Lines)
				require.Equal(t, [3]int64{want.Blank, want.BOMs, want.Bytes}, [3]int64{sum.Blank, sum.BOMs, sum.Bytes})
				continue
			}
			sum.Padded = 0
			require.Equal(t, want, sum, "world %d, %v", world, mode)
		}
	}
}

func TestShardedReadingGoesOnWhereItStopped(t *testing.T) {
	m := severalInputs()
	for _, mode := range shardModes {
		for _, world := range []int{2, 5, 100} {
			for rank := range min(world, 5) {
				for i, size := range []ReaderOption{WithChunkLines(2), WithChunkBytes(1)} {
					requireResumable(t, fmt.Sprintf("rank %d of %d, %v, size %d", rank, world, mode, i), m.inputs(),
						WithOpen(m.open), WithMaxLine(100), WithShard(rank, world, mode), size)
				}
			}
		}
	}
}

// A chunk has the numbers of lines that do not follow one another.
func TestRecordsOfAShardHaveTheirPlaces(t *testing.T) {
	var in strings.Builder
	for i := range 100 {
		fmt.Fprintf(&in, "%d\n", i+1)
	}
	r := stdin(strings.NewReader(in.String()), WithShard(3, 7, pipeline.Uneven))
	got := decodeAll(t, r, newDecoder(t, WithTextKey(".")))
	require.Len(t, got.texts, 14)
	for i, text := range got.strings() {
		require.Equal(t, fmt.Sprint(i*7+4), text)
		require.Equal(t, int64(i*7+4), got.pos[i].Line)
		require.Equal(t, int64(strings.Index("\n"+in.String(), "\n"+text+"\n")), got.pos[i].Offset)
		require.Equal(t, "-:"+text, got.ids[i])
	}
}

// Lines of other ranks take no memory, however many and long they are.
func TestLinesOfOtherRanksAreNotKept(t *testing.T) {
	data := strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000)
	for _, mode := range []pipeline.ShardMode{pipeline.Uneven, pipeline.Drop} {
		r := stdin(strings.NewReader(data+"end\n"+strings.Repeat("\n", 200_000)), WithShard(0, 100_000, mode), WithMaxLine(100_000))
		c, err := r.Next(context.Background())
		require.NoError(t, err)
		if mode == pipeline.Uneven {
			require.Equal(t, 2, c.Len())
		} else {
			require.Equal(t, 1, c.Len())
		}
		require.LessOrEqual(t, cap(c.data), 1<<20)
		require.Less(t, cap(c.spans), 100)
		require.NoError(t, r.Close())
	}
}

func TestPadOpensItsInputsAgain(t *testing.T) {
	opens := map[string]int{}
	open := func(path string) (io.ReadCloser, error) {
		if opens[path]++; path == "b.txt" {
			return nil, io.ErrClosedPipe
		}
		if opens[path] > 1 && path == "c.txt" {
			return io.NopCloser(strings.NewReader("")), nil // it has become shorter
		}
		return io.NopCloser(strings.NewReader("1 of " + path + "\n\n2 of " + path)), nil
	}
	inputs := []Input{{Path: "a.txt"}, {Path: "b.txt"}, {Path: "c.txt"}}
	// n is 4. Rank 5 of 6 lacks a line, and gets the one at 5 mod 4.
	g := gather(t, newReader(inputs, WithOpen(open), WithShard(5, 6, pipeline.Pad)))
	require.Equal(t, []string{"2 of a.txt"}, g.texts())
	require.True(t, g.lines[0].Padded)
	require.Equal(t, Position{"a.txt", 3, 12}, g.lines[0].Pos)
	require.Len(t, g.errs, 1, "the error of b.txt is not repeated")
	require.Zero(t, g.bytes, "bytes that other ranks count")

	// Rank 6 of 7 gets the one at 6 mod 4, which is not there any more.
	opens["c.txt"] = 0
	r := newReader(inputs, WithOpen(open), WithShard(6, 7, pipeline.Pad))
	var last error
	for range 2 {
		_, last = r.Next(context.Background())
	}
	require.ErrorIs(t, last, ErrPosition)
	require.NoError(t, r.Close())
}

func TestShardOptions(t *testing.T) {
	for _, o := range []ReaderOption{
		WithShard(0, 0, pipeline.Uneven), WithShard(-1, 2, pipeline.Uneven), WithShard(2, 2, pipeline.Uneven), WithShard(0, 1, pipeline.Drop+1),
	} {
		_, err := NewReader(nil, o)
		require.ErrorIs(t, err, ErrOption)
	}
	_, err := NewReader([]Input{{Path: Stdin}}, WithShard(0, 2, pipeline.Pad))
	require.ErrorIs(t, err, ErrOption, "standard input cannot be read twice")
	_, err = NewReader([]Input{{Path: Stdin}}, WithShard(0, 1, pipeline.Pad))
	require.NoError(t, err)
}

func TestShardInputs(t *testing.T) {
	var inputs []Input
	for i := range 5 {
		inputs = append(inputs, Input{Path: fmt.Sprint(i)})
	}
	for rank, want := range []string{"[0 3]", "[1 4]", "[2]"} {
		got, err := ShardInputs(inputs, rank, 3)
		require.NoError(t, err)
		var paths []string
		for _, in := range got {
			paths = append(paths, in.Path)
		}
		require.Equal(t, want, fmt.Sprint(paths))
	}
	got, err := ShardInputs(inputs, 6, 9)
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = ShardInputs(inputs, 3, 3)
	require.ErrorIs(t, err, ErrOption)
}

// Random text against the model: every world-th line of those that are not blank.
func TestShardsEqualEveryNthLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "a", "bb", "\r", "ccc\r", " ", strings.Repeat("d", 20)})
		lines := rapid.SliceOfN(line, 0, 40).Draw(t, "lines")
		data := []byte(strings.Join(lines, "\n"))
		n := 0
		var want []string
		world := rapid.IntRange(2, 6).Draw(t, "world")
		rank := rapid.IntRange(0, world-1).Draw(t, "rank")
		for _, l := range lines {
			if l = strings.TrimSuffix(l, "\r"); l == "" {
				continue
			}
			if n%world == rank {
				want = append(want, l)
			}
			n++
		}
		r := newReader([]Input{{Path: Stdin, Format: FormatText}}, WithStdin(bytes.NewReader(data)), WithShard(rank, world, pipeline.Uneven),
			WithChunkBytes(rapid.IntRange(1, 50).Draw(t, "bytes")))
		var got []string
		for {
			c, err := r.Next(context.Background())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			for i := range c.Len() {
				got = append(got, string(c.Line(i).Data))
			}
		}
		require.Equal(t, want, got)
	})
}
