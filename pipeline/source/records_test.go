package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

func showRecord(r Record) string {
	return fmt.Sprintf("%s@%d %s %t", r.ID(), r.Pos.Offset, r.Data, r.Padded)
}

func recordsOf(t require.TestingT, in string, opts ...ReaderOption) []string {
	c, err := JSONL([]Input{{Path: Stdin}}, append(opts, WithStdin(strings.NewReader(in)))...).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	got := drain(t, c, showRecord)
	require.NoError(t, c.Close())
	return got
}

func TestJSONL(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", []string{}},
		{"\n \n\t\r\n", []string{}},
		{"1\n \"a\" \r\n\n{\"b\": [ ]}", []string{"-:1@0 1 false", `-:2@2 "a" false`, `-:4@10 {"b": [ ]} false`}},
		{"{\n2\n", []string{"error: -:1: at byte 0: source: invalid JSON: byte 2: the line ends early; a record must be on one line", "-:2@2 2 false"}},
		{"12345678901\n3", []string{"error: -:1: at byte 0: source: line too long: 11 bytes, the cap is 10", "-:2@12 3 false"}},
		{bomText + "1\n", []string{"-:1@0 1 false"}},
	} {
		require.Equal(t, c.want, recordsOf(t, c.in, WithMaxLine(10)), "%q", c.in)
	}
	got := recordsOf(t, strings.Repeat("[", 1001)+"\n1")
	require.Len(t, got, 2)
	require.Contains(t, got[0], ErrDepth.Error())
}

// Bad lines of JSONL are errors about one element; encoding/json says which are.
func TestJSONLChecksItsLines(t *testing.T) {
	token := rapid.SampledFrom([]string{"{", "}", "[", "]", ",", ":", `"a"`, "1", "-2.5e3", "tru", "true", "null", " ", `"\x"`})
	line := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(token, 0, 6).Draw(t, "tokens"), "") })
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 10).Draw(t, "lines")
		var want []string
		for _, l := range lines {
			switch l = strings.TrimSpace(l); {
			case l == "":
			case json.Valid([]byte(l)):
				want = append(want, l)
			default:
				want = append(want, "error")
			}
		}
		var got []string
		for _, s := range recordsOf(t, strings.Join(lines, "\n"), WithChunkLines(3)) {
			if strings.HasPrefix(s, "error: ") {
				got = append(got, "error")
				continue
			}
			_, data, _ := strings.Cut(s, " ")
			got = append(got, strings.TrimSuffix(data, " false"))
		}
		require.Equal(t, want, got)
	})
}

func TestRecordsResume(t *testing.T) {
	m := goodInputs()
	for _, size := range chunkSizes {
		got := requireCursorResumes(t, JSONL(m.inputs(), WithOpen(m.open), WithMaxLine(100), size), showRecord)
		require.Contains(t, strings.Join(got, "\n"), "error")
	}
	for _, mode := range shardModes {
		for rank := range 4 {
			requireCursorResumes(t, JSONL(m.inputs(), WithOpen(m.open), WithShard(rank, 4, mode), WithMaxLine(100), WithChunkLines(3)), showRecord)
		}
	}
}

// The place does not depend on how lines fall into chunks.
func TestRecordsResumeInOtherChunks(t *testing.T) {
	m := goodInputs()
	open := func(at json.RawMessage, lines int) pipeline.Cursor[Record] {
		c, err := JSONL(m.inputs(), WithOpen(m.open), WithMaxLine(100), WithChunkLines(lines)).Open(context.Background(), pipeline.Start{Position: at})
		require.NoError(t, err)
		return c
	}
	c := open(nil, 1000)
	want := drain(t, c, showRecord)
	require.NoError(t, c.Close())
	for _, lines := range []int{1, 2, 3, 1000} {
		for stop := range len(want) {
			c := open(nil, 1000)
			for range stop {
				_, _ = c.Next(context.Background())
			}
			at := positionOf(t, c)
			require.NoError(t, c.Close())
			// Once more in between.
			c = open(at, lines)
			_, _ = c.Next(context.Background())
			at = positionOf(t, c)
			require.NoError(t, c.Close())
			c = open(at, 2)
			require.Equal(t, want[min(len(want), stop+1):], drain(t, c, showRecord), "after %d, chunks of %d", stop, lines)
			require.NoError(t, c.Close())
		}
	}
}

func TestRecordsOfShorterInputs(t *testing.T) {
	src := func(in string) *RecordsSource { return JSONL([]Input{{Path: Stdin}}, WithStdin(strings.NewReader(in))) }
	c, err := src("1\n2\n3\n").Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	for range 3 {
		_, err := c.Next(context.Background())
		require.NoError(t, err)
	}
	at := positionOf(t, c)
	require.NoError(t, c.Close())
	c, err = src("1\n2\n").Open(context.Background(), pipeline.Start{Position: at})
	require.NoError(t, err)
	_, err = c.Next(context.Background())
	require.ErrorIs(t, err, ErrPosition)
	require.True(t, endsStream(err))
	require.NoError(t, c.Close())
}

// A folder, or a disk that fails for ever, ends the stream.
func TestReadErrorsEndTheRecords(t *testing.T) {
	broken := errors.New("disk on fire")
	for name, src := range map[string]*RecordsSource{
		"folder": JSONL([]Input{{Path: t.TempDir()}}),
		"disk": JSONL([]Input{{Path: "a"}}, WithOpen(func(string) (io.ReadCloser, error) {
			return io.NopCloser(failing{broken}), nil
		})),
	} {
		c, err := src.Open(context.Background(), pipeline.Start{})
		require.NoError(t, err)
		_, err = c.Next(context.Background())
		require.True(t, endsStream(err), name)
		_, err = c.Next(context.Background())
		require.Equal(t, io.EOF, err, name)
		require.NoError(t, c.Close())
		_, err = src.Count(context.Background())
		require.Error(t, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestManyBlankLines(t *testing.T) {
	require.Equal(t, []string{"-:2000001@2000000 1 false"}, recordsOf(t, strings.Repeat("\n", 2_000_000)+"1"))
}

func TestCountOfRecords(t *testing.T) {
	n, err := JSONL([]Input{{Path: Stdin}}, WithStdin(strings.NewReader("1\n\n{\n2\n123456\n3")), WithMaxLine(5)).Count(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(3), n)
	_, err = JSONL(nil, WithMaxLine(0)).Count(context.Background())
	require.ErrorIs(t, err, ErrOption)
}

// Records stay as they are while others are read, and keep little memory.
func TestRecordsAreTheReceivers(t *testing.T) {
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&in, "[%d,%q]\n", i, strings.Repeat("x", i%1500))
	}
	c, err := JSONL([]Input{{Path: Stdin}}, WithStdin(strings.NewReader(in.String())), WithChunkBytes(10_000)).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	var kept []Record
	for {
		r, err := c.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		kept = append(kept, r)
	}
	require.NoError(t, c.Close())
	for i, r := range kept {
		require.Equal(t, fmt.Sprintf("[%d,%q]", i, strings.Repeat("x", i%1500)), string(r.Data))
		require.Equal(t, len(r.Data), cap(r.Data), "appending must not reach a neighbour")
		require.Equal(t, int64(len(r.Data)+recordOverhead), r.Size())
		require.True(t, r.AsPadding().Padded)
		require.False(t, r.Padded)
	}
}

func TestAllocationsOfRecords(t *testing.T) {
	line := `{"id":1,"label":1,"text":"the quick brown fox","x":[1.5,1.25,-3.0,4e2]}` + "\n"
	c, err := JSONL([]Input{{Path: Stdin}}, WithStdin(strings.NewReader(strings.Repeat(line, 20_000)))).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	perRecord := testing.AllocsPerRun(50, func() {
		for range 300 {
			if _, err := c.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}) / 300
	require.Less(t, perRecord, 0.05, "a slab for about a hundred records")
	require.NoError(t, c.Close())
}

func BenchmarkJSONL(b *testing.B) {
	line := `{"id":1,"label":1,"text":"the quick brown fox jumps over the lazy dog","x":[1.5,1.25,-3.0,4e2]}` + "\n"
	data := strings.Repeat(line, 20_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		c, err := JSONL([]Input{{Path: Stdin}}, WithStdin(strings.NewReader(data))).Open(context.Background(), pipeline.Start{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			_, err := c.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		c.Close()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}
