package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// took is what a run over chunks gave.
type took struct {
	ids, texts []string // null is "<null>"
	padded     []bool
	bad        []string // place and reason
	rows       []string // all of them in their order: text, id and padding, or place and reason
	stats      Stats
	positions  []json.RawMessage // before each chunk, and at the end
	after      []int             // rows before each of them
	err        error
}

// takeChunks reads inputs from a position on, nil for the beginning.
func takeChunks(t require.TestingT, inputs []Input, at json.RawMessage, d *Decoder, opts ...ReaderOption) *took {
	src, err := Chunks(inputs, opts...)
	require.NoError(t, err)
	ctx := context.Background()
	c, err := src.Open(ctx, pipeline.Start{Position: at})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	out := &took{}
	for {
		b, err := json.Marshal(c.(pipeline.Positioner).Position())
		require.NoError(t, err)
		out.positions, out.after = append(out.positions, b), append(out.after, len(out.rows))
		chunk, err := c.Next(ctx)
		if err == io.EOF {
			return out
		}
		if err == nil {
			var r *Records
			if r, err = d.Decode(chunk); err == nil {
				out.add(r)
			}
			chunk.Release()
		}
		if err != nil {
			out.err = err
			return out
		}
	}
}

func (o *took) add(r *Records) {
	bad := r.Bad
	for i := range r.Len() + 1 {
		for ; len(bad) > 0 && bad[0].Index <= i; bad = bad[1:] {
			b := fmt.Sprintf("%s %v", bad[0].Pos, bad[0].Reason)
			o.bad, o.rows = append(o.bad, b), append(o.rows, b)
		}
		if i == r.Len() {
			break
		}
		text := r.Text.At(i)
		if r.Text.IsNull(i) {
			text = "<null>"
		}
		o.ids, o.texts, o.padded = append(o.ids, r.ID.At(i)), append(o.texts, text), append(o.padded, r.Padded(i))
		o.rows = append(o.rows, fmt.Sprintf("%s %s", r.ID.At(i), text))
	}
	o.stats.Add(r.Stats)
	if r.Meta != nil {
		r.Meta.Release()
	}
}

// zip compresses each piece as a gzip member.
func zip(t require.TestingT, pieces ...string) string {
	var b bytes.Buffer
	for _, p := range pieces {
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(p))
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return b.String()
}

// mixedInputs are six inputs of four formats, with 20 rows and lines of which 3 are bad.
func mixedInputs(t testing.TB) []Input {
	arrow, err := os.ReadFile(filepath.Join("testdata", "tables", "pyarrow.arrow"))
	require.NoError(t, err)
	dir := writeFiles(t, map[string]string{
		"a.jsonl":     "{\"text\":\"a1\"}\n\n{\"text\":\"a2\",\"id\":7}\n{broken\n",
		"b.csv":       "id,text\n1,b1\n\n2,\"b\n2\"\n3,b3,extra\n4,b4\n",
		"c.arrow":     string(arrow),
		"d.wet.gz":    zip(t, warcOf("warcinfo", "", "x"), warcOf("conversion", "d1", "text of d1"), warcOf("conversion", "d2", "text of d2")),
		"e.tsv.gz":    zip(t, "text\tid\r\n", "\"e\"1\tbad\r\ne2\tsecond\r\n"),
		"f.txt":       "f1\n",
		"empty.csv":   "",
		"headers.csv": "text,id\n",
	})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	return inputs
}

func warcOf(kind, id, text string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <%s>\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, id, len(text), text)
}

func TestMixedInputs(t *testing.T) {
	inputs := mixedInputs(t)
	got := takeChunks(t, inputs, nil, newDecoder(t))
	require.NoError(t, got.err)
	require.Equal(t, []string{
		"a1", "a2", "b1", "b\n2", "b4", "plain", "", "<null>", "thirteen byte", "日本語のテキスト", "quo\"ted, with\nlines", "fourteen bytes",
		"text of d1", "text of d2", "e2", "f1",
	}, got.texts)
	a, f := inputs[0].Path, inputs[6].Path
	require.Equal(t, []string{
		a + ":1", "7", "1", "2", "4", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "d1", "d2", "second", f + ":1",
	}, got.ids)
	require.Equal(t, []string{a + ":4 bad_json", inputs[1].Path + ":3 field_count", inputs[4].Path + ":1 bad_csv"}, got.bad)
	require.Equal(t, int64(20), got.stats.Lines)
	require.Equal(t, int64(1), got.stats.Blank)
	require.Equal(t, int64(1), got.stats.Nulls)
	require.Equal(t, int64(1), got.stats.Skipped)
}

// TestMixedShards: what ranks get adds up to all, row by row.
func TestMixedShards(t *testing.T) {
	inputs := mixedInputs(t)
	d := newDecoder(t)
	all := takeChunks(t, inputs, nil, d).rows
	require.Len(t, all, 19)
	for _, mode := range []pipeline.ShardMode{pipeline.Uneven, pipeline.Pad, pipeline.Drop} {
		for _, world := range []int{1, 2, 3, 5, 19, 20, 40} {
			for rank := range world {
				var want []string
				n := (len(all) + world - 1 - rank) / world
				switch mode {
				case pipeline.Pad:
					n = (len(all) + world - 1) / world
				case pipeline.Drop:
					n = len(all) / world
				}
				for i := range n {
					want = append(want, all[(rank+i*world)%len(all)])
				}
				got := takeChunks(t, inputs, nil, d, WithShard(rank, world, mode), WithChunkLines(2))
				require.NoError(t, got.err)
				require.Equal(t, want, got.rows, "rank %d of %d, %v", rank, world, mode)
			}
		}
	}
}

// TestTableShardsAddUp: the counts of all ranks are those of one, whichever of them read
// a block.
func TestTableShardsAddUp(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.csv": "id,text,more\n1,a,\xff\n2,b,x\xff\xff\n3,c\n4,d,\n",
		"b.wet": warcOf("warcinfo", "", "x") + warcOf("conversion", "b1", "text") + warcOf("request", "", "y") +
			warcOf("conversion", "b2", "text") + warcOf("conversion", "b3", "text") + warcOf("warcinfo", "", "z"),
	})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	d := newDecoder(t, WithMetadata(AllMetadata))
	for _, rows := range []int{1, 2, 100} {
		all := takeChunks(t, inputs, nil, d, WithChunkLines(rows))
		require.NoError(t, all.err)
		require.EqualValues(t, 3, all.stats.Replaced)
		require.EqualValues(t, 3, all.stats.Skipped)
		for world := 2; world <= 9; world++ {
			var sum Stats
			for rank := range world {
				got := takeChunks(t, inputs, nil, d, WithChunkLines(rows), WithShard(rank, world, pipeline.Uneven))
				require.NoError(t, got.err)
				sum.Add(got.stats)
			}
			require.Equal(t, all.stats, sum, "%d ranks, %d rows a block", world, rows)
		}
	}
}

// TestMixedResume: from each position the rest follows.
func TestMixedResume(t *testing.T) {
	inputs := mixedInputs(t)
	d := newDecoder(t)
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.IntRange(1, 4).Draw(t, "world")
		opts := []ReaderOption{
			WithChunkLines(rapid.IntRange(1, 4).Draw(t, "rows")), WithChunkBytes(rapid.SampledFrom([]int{1, 40, 1 << 16}).Draw(t, "bytes")),
			WithShard(rapid.IntRange(0, world-1).Draw(t, "rank"), world, rapid.SampledFrom([]pipeline.ShardMode{pipeline.Uneven, pipeline.Pad, pipeline.Drop}).Draw(t, "mode")),
		}
		whole := takeChunks(t, inputs, nil, d, opts...)
		require.NoError(t, whole.err)
		i := rapid.IntRange(0, len(whole.positions)-1).Draw(t, "at")
		rest := takeChunks(t, inputs, whole.positions[i], d, opts...)
		require.NoError(t, rest.err)
		require.Equal(t, append([]string{}, whole.rows[whole.after[i]:]...), append([]string{}, rest.rows...), "%s", whole.positions[i])
		n := len(whole.padded) - len(rest.padded)
		require.Equal(t, append([]bool{}, whole.padded[n:]...), append([]bool{}, rest.padded...))
	})
}

// TestChunksOfLines is the source of lines by another name.
func TestChunksOfLines(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.jsonl": "{\"text\":\"a\"}\n", "b.txt": "b\n"})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	src, err := Chunks(inputs)
	require.NoError(t, err)
	require.Equal(t, Lines(inputs).Describe(), src.Describe())
	require.Equal(t, []string{"a", "b"}, takeChunks(t, inputs, nil, newDecoder(t)).texts)
}

func TestChunksPositionErrors(t *testing.T) {
	inputs := mixedInputs(t)
	src, err := Chunks(inputs)
	require.NoError(t, err)
	for _, p := range []chunksPosition{
		{Input: -1}, {Input: 99}, {Input: 0}, {Input: 0, Path: "x"}, {Input: 0, Path: inputs[0].Path, Index: -1},
		{Input: 0, Path: inputs[0].Path, Table: &TablePosition{}}, {Input: 1, Path: inputs[1].Path, Lines: &ReaderPosition{}},
		{Input: 1, Path: inputs[1].Path, Table: &TablePosition{Row: 1, Skip: 2}}, {Input: 1, Path: inputs[1].Path, Padded: true},
	} {
		b, err := json.Marshal(p)
		require.NoError(t, err)
		_, err = src.Open(context.Background(), pipeline.Start{Position: b})
		require.ErrorIs(t, err, ErrPosition, "%s", b)
	}
}

// TestChunksDropBeforeAnError: what is kept back for its row comes before the error.
func TestChunksDropBeforeAnError(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "text\n1\n", "b.csv.gz": zip(t, "text\n2\n3\n")[:20]})
	inputs, err := Expand([]string{dir}, FormatAuto)
	require.NoError(t, err)
	got := takeChunks(t, inputs, nil, newDecoder(t), WithShard(0, 2, pipeline.Drop))
	require.Equal(t, []string{"1"}, got.texts)
	require.ErrorIs(t, got.err, ErrTruncated)
	require.ErrorContains(t, got.err, "b.csv.gz")
}

func TestChunksErrors(t *testing.T) {
	_, err := Chunks([]Input{{Path: "a.parquet"}})
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "import the package pipeline/source/parquet")
	_, err = Chunks([]Input{{Path: "a.xyz"}})
	require.ErrorIs(t, err, ErrFormat)
	_, err = Chunks([]Input{{Path: "a.csv"}}, WithMaxBlock(1))
	require.ErrorIs(t, err, ErrOption)
	got := takeChunks(t, []Input{{Path: filepath.Join(t.TempDir(), "gone.csv")}}, nil, newDecoder(t))
	require.True(t, errors.Is(got.err, os.ErrNotExist))
}
