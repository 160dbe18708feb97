package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decoded is all that came of a stream; a null text is nil.
type decoded struct {
	texts  []*string
	ids    []string
	pos    []Position
	bad    []BadRecord
	before []int // records before each bad one
	stats  Stats
}

func (d decoded) strings() []string {
	out := []string{}
	for _, s := range d.texts {
		if s == nil {
			out = append(out, "<null>")
			continue
		}
		out = append(out, *s)
	}
	return out
}

func (d decoded) reasons() []string {
	out := []string{}
	for _, b := range d.bad {
		out = append(out, b.Reason.String())
	}
	return out
}

func decodeAll(t testing.TB, r *Reader, d *Decoder) decoded {
	t.Helper()
	var out decoded
	for {
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		records, err := d.Decode(c)
		c.Release()
		require.NoError(t, err)
		require.Equal(t, records.Len(), records.Text.Len())
		require.Equal(t, records.Len(), records.ID.Len())
		require.Zero(t, records.ID.NullCount())
		s := records.Stats
		require.Equal(t, s.Lines, s.Records+s.Blank+s.Rejected)
		require.Equal(t, int64(records.Len()), s.Records)
		require.Equal(t, int64(len(records.Bad)), s.Rejected)
		require.Equal(t, int64(records.Text.NullCount()), s.Nulls)
		for _, b := range records.Bad {
			out.before = append(out.before, len(out.texts)+b.Index)
			require.ErrorIs(t, b.Err, badReasons[b.Reason].err)
			require.Contains(t, b.Err.Error(), b.Pos.String())
		}
		for i := range records.Len() {
			if records.Text.IsNull(i) {
				out.texts = append(out.texts, nil)
			} else {
				s := strings.Clone(records.Text.At(i))
				out.texts = append(out.texts, &s)
			}
			out.ids = append(out.ids, records.ID.At(i))
			out.pos = append(out.pos, records.Pos(i))
		}
		out.bad = append(out.bad, records.Bad...)
		out.stats.Add(s)
	}
	require.NoError(t, r.Close())
	return out
}

func newDecoder(t testing.TB, opts ...DecoderOption) *Decoder {
	d, err := NewDecoder(opts...)
	require.NoError(t, err)
	return d
}

func decodeString(t testing.TB, in string, opts ...DecoderOption) decoded {
	return decodeAll(t, stdin(strings.NewReader(in)), newDecoder(t, opts...))
}

func TestFieldGoldens(t *testing.T) {
	type golden struct {
		ID, Key, In string
		Out         *string
	}
	readGolden(t, "clean_json.jsonl", func(g golden) {
		got := decodeString(t, g.In, WithTextKey(g.Key))
		if g.Out != nil {
			require.Equal(t, []string{*g.Out}, got.strings(), g.ID)
			return
		}
		// null there stands for all that is told apart here.
		require.LessOrEqual(t, len(got.texts), 1, g.ID)
		for _, s := range got.texts {
			require.Nil(t, s, g.ID)
		}
	})
}

func TestTextOfARecord(t *testing.T) {
	for _, c := range []struct{ line, want, reason string }{
		{`{"text":"a"}`, "a", ""},
		{`{"text":""}`, "", ""},
		{`{"text":"a","text":"b"}`, "b", ""},
		{`{"text":"a","text":null}`, "<null>", ""},
		{`{"text":null}`, "<null>", ""},
		{`{"text":5}`, "5", ""},
		{`{"text":-1.50e1}`, "-15.0", ""},
		{`{"text":true}`, "true", ""},
		{`{"text":["b",{"z":1,"a":[]}]}`, `["b",{"a":[],"z":1}]`, ""},
		{`{"\u0074ext":"\u0061\n\ud83d\ude00"}`, "a\n😀", ""},
		{` {"text":"a"} `, "a", ""},
		{`{"text":"é日😀"}`, "é日😀", ""},
		{`{"text":"a\u0000b"}`, "a\x00b", ""},
		{`{"text":1e400}`, "", "bad_number"},
		{`{"text":[1e400]}`, "", "bad_number"},
		{`{"text":"a","n":1e400}`, "a", ""},
		{`{"text":NaN}`, "", "bad_json"},
		{`{"text":"a"} x`, "", "bad_json"},
		{"{\"text\":\"\x01\"}", "", "bad_json"},
		{`{"other":"a"}`, "", "missing_key"},
		{`"text"`, "", "missing_key"},
		{`{"text":"` + "\xff" + `"}`, "", "bad_utf8"},
		{`{"text":"a","other":"` + "\xff" + `\ud800"}`, "a", ""},
		{`{"text":"\ud800"}`, "", "bad_surrogate"},
		{`{"text":{"a":"\ud800"}}`, "", "bad_surrogate"},
		{`{"text":{"\ud800":1}}`, "", "bad_surrogate"},
		{`{"text":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "", "too_deep"},
	} {
		got := decodeString(t, c.line+"\n")
		if c.reason != "" {
			require.Equal(t, []string{c.reason}, got.reasons(), c.line)
			require.Empty(t, got.texts, c.line)
			continue
		}
		require.Empty(t, got.bad, c.line)
		require.Equal(t, []string{c.want}, got.strings(), c.line)
	}
}

// Lone surrogates and bytes that are not UTF-8, by policy.
func TestBrokenUnicodeByPolicy(t *testing.T) {
	const replaced = "\ufffd"
	for _, c := range []struct {
		in, want, reason string
		n                int64
	}{
		{`\ud800`, replaced, "bad_surrogate", 1},
		{`\udc49\u0430`, replaced + "а", "bad_surrogate", 1},
		{`a\udc49b\ud800`, "a" + replaced + "b" + replaced, "bad_surrogate", 2},
		{`\ud83d\ud83d\ude00`, replaced + "😀", "bad_surrogate", 1},
		{"\xed\xa0\x80", replaced + replaced + replaced, "bad_utf8", 3},
		{"a\xffb", "a" + replaced + "b", "bad_utf8", 1},
		{"\xff\\n", replaced + "\n", "bad_utf8", 1},
		{"\xff and enough plain text after it", replaced + " and enough plain text after it", "bad_utf8", 1},
		{"\xe6\x97", replaced + replaced, "bad_utf8", 2},
		{`\ufffd`, replaced, "", 0},
	} {
		line := `{"text":"` + c.in + `"}` + "\n"
		got := decodeString(t, line)
		if c.reason != "" {
			require.Equal(t, []string{c.reason}, got.reasons(), c.in)
		} else {
			require.Equal(t, []string{c.want}, got.strings(), c.in)
		}
		require.Zero(t, got.stats.Replaced)
		got = decodeString(t, line, WithSurrogates(Replace), WithInvalidUTF8(Replace))
		require.Equal(t, []string{c.want}, got.strings(), c.in)
		require.Equal(t, c.n, got.stats.Replaced, c.in)
	}
	// One policy does not stand for the other.
	require.Equal(t, []string{"bad_utf8"}, decodeString(t, "{\"text\":\"\xff\"}", WithSurrogates(Replace)).reasons())
	require.Equal(t, []string{"bad_surrogate"}, decodeString(t, `{"text":"\ud800"}`, WithInvalidUTF8(Replace)).reasons())
	// Lines of text have no escapes.
	for _, opts := range [][]DecoderOption{nil, {WithInvalidUTF8(Replace)}} {
		r := newReader([]Input{{Path: Stdin, Format: FormatText}}, WithStdin(strings.NewReader("\\ud800\n\xed\xa0\x80\n")))
		got := decodeAll(t, r, newDecoder(t, opts...))
		if opts == nil {
			require.Equal(t, []string{`\ud800`}, got.strings())
			require.Equal(t, []string{"bad_utf8"}, got.reasons())
			require.Equal(t, "-:2", got.bad[0].ID)
		} else {
			require.Equal(t, []string{`\ud800`, replaced + replaced + replaced}, got.strings())
			require.Equal(t, int64(3), got.stats.Replaced)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"id":"a","text":"t"}`, "a"},
		{`{"text":"t","id":"a much longer id \u00e9"}`, "a much longer id é"},
		{`{"id":"","text":"t"}`, ""},
		{`{"id":7,"text":"t"}`, "7"},
		{`{"id":1.50,"text":"t"}`, "1.50"},
		{`{"id":12345678901234567890123,"text":"t"}`, "12345678901234567890123"},
		{`{"id":1e400,"text":"t"}`, "1e400"},
		{`{"id":true,"text":"t"}`, "true"},
		{`{"id":{"b":1,"a":2},"text":"t"}`, `{"a":2,"b":1}`},
		{`{"id":null,"text":"t"}`, "-:1"},
		{`{"text":"t"}`, "-:1"},
		{`{"id":1,"id":2,"text":"t"}`, "2"},
		{`{"id":"i","text":null}`, "i"},
	} {
		got := decodeString(t, c.line)
		require.Equal(t, []string{c.want}, got.ids, c.line)
	}
	got := decodeString(t, `{"meta":{"key":["x","y"]},"text":"t"}`, WithIDKey("meta.key.1"))
	require.Equal(t, []string{"y"}, got.ids)
	got = decodeString(t, `{"id":"a","text":"t"}`, WithIDKey(""))
	require.Equal(t, []string{"-:1"}, got.ids)
	got = decodeString(t, `{"text":"t"}`, WithIDKey("text"))
	require.Equal(t, []string{"t"}, got.ids)
	require.Equal(t, []string{"t"}, got.strings())

	got = decodeString(t, `{"id":"a\ud800","text":"t"}`)
	require.Equal(t, []string{"bad_surrogate"}, got.reasons())
	require.Equal(t, "-:1", got.bad[0].ID)
	got = decodeString(t, `{"id":"a\ud800","text":"t"}`, WithSurrogates(Replace))
	require.Equal(t, []string{"a\ufffd"}, got.ids)
	require.Equal(t, int64(1), got.stats.Replaced)
}

func TestNumberIDs(t *testing.T) {
	const in = `{"id":7,"text":"t"}
{"id":"7","text":"t"}
{"id":-1e9,"text":"t"}
{"text":"t"}
{"id":true,"text":"t"}
{"id":[1],"text":"t"}
{"id":8}
{"id":"8"}
`
	c, err := stdin(strings.NewReader(in)).Next(context.Background())
	require.NoError(t, err)
	d, err := NewDecoder()
	require.NoError(t, err)
	got, err := d.Decode(c)
	require.NoError(t, err)
	var numbers []bool
	for i := range got.Len() {
		numbers = append(numbers, got.NumberID(i))
	}
	require.Equal(t, []bool{true, false, true, false, false, false}, numbers)
	require.Len(t, got.Bad, 2)
	require.True(t, got.Bad[0].NumberID)
	require.False(t, got.Bad[1].NumberID)
}

func TestBadRecords(t *testing.T) {
	in := strings.Join([]string{
		`{"id":"a","text":"one"}`,
		`not json`,
		``,
		`{"id":"c","body":"x"}`,
		`{"id":"d","text":"two"}`,
		`{"id":"long","text":"` + strings.Repeat("x", 100) + `"}`,
		`{"id":"e","text":"\ud800"}`,
		`{"id":"f","text":"three"`,
	}, "\n")
	for _, lines := range []int{1, 2, 3, 100} {
		r := stdin(strings.NewReader(in), WithMaxLine(60), WithChunkLines(lines))
		got := decodeAll(t, r, newDecoder(t))
		require.Equal(t, []string{"one", "two"}, got.strings())
		require.Equal(t, []string{"bad_json", "missing_key", "line_too_long", "bad_surrogate", "bad_json"}, got.reasons())
		require.Equal(t, []int{1, 1, 2, 2, 2}, got.before)
		var ids []string
		var at []int64
		for _, b := range got.bad {
			ids, at = append(ids, b.ID), append(at, b.Pos.Line)
		}
		require.Equal(t, []string{"-:2", "c", "-:6", "e", "-:8"}, ids)
		require.Equal(t, []int64{2, 4, 6, 7, 8}, at)
		require.Equal(t, []float64{float64(len(strings.Split(in, "\n")[5])), 60}, []float64{got.bad[2].Value, got.bad[2].Bound})
		require.Equal(t, Stats{Lines: 8, Records: 2, Blank: 1, Rejected: 5, Bytes: int64(len(in))}, got.stats)
		require.ErrorContains(t, got.bad[1].Err, `keys: "id", "body"`)
		require.ErrorContains(t, got.bad[4].Err, "one line")
	}
}

func TestBlankLines(t *testing.T) {
	in := "\xef\xbb\xbf\r\n{\"text\":\"a\"}\r\n\n \t \n{\"text\":\"b\"}"
	got := decodeString(t, in)
	require.Equal(t, []string{"a", "b"}, got.strings())
	require.Equal(t, Stats{Lines: 5, Records: 2, Blank: 3, BOMs: 1, Bytes: int64(len(in))}, got.stats)
	require.Equal(t, []int64{2, 5}, []int64{got.pos[0].Line, got.pos[1].Line})

	r := newReader([]Input{{Path: Stdin, Format: FormatText}}, WithStdin(strings.NewReader("a\r\n\r\n \nb")))
	got = decodeAll(t, r, newDecoder(t))
	require.Equal(t, []string{"a", " ", "b"}, got.strings())
	require.Equal(t, int64(1), got.stats.Blank)
	require.Equal(t, []string{"-:1", "-:3", "-:4"}, got.ids)
}

func TestDecoderOptions(t *testing.T) {
	for _, o := range []DecoderOption{WithTextKey(""), WithSurrogates(2), WithInvalidUTF8(2), WithMaxDepth(0), WithMaxDepth(10_001)} {
		_, err := NewDecoder(o)
		require.ErrorIs(t, err, ErrOption)
	}
	got := decodeString(t, `{"text":[1]}`, WithMaxDepth(1))
	require.Equal(t, []string{"too_deep"}, got.reasons())
	require.Equal(t, []float64{2, 1}, []float64{got.bad[0].Value, got.bad[0].Bound})
	require.Equal(t, `{"text":[1]}`, decodeString(t, `{"text":[1]}`, WithTextKey("."), WithMaxDepth(2)).strings()[0])
}

func TestReasonCodes(t *testing.T) {
	seen := map[string]bool{}
	for r := range badReasonCount {
		require.NotEmpty(t, r.String())
		require.False(t, seen[r.String()])
		seen[r.String()] = true
		require.Equal(t, r == BadNone, badReasons[r].err == nil)
	}
}

// record is one made by the model; its text may be null.
type record struct {
	ID   string  `json:"id"`
	Text *string `json:"text"`
}

// Any records, written by encoding/json, compressed and cut in any way, arrive
// as they were.
func TestRecordsArriveAsTheyWere(t *testing.T) {
	strs := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\u2028\x00\"\\\n", "😀é日本", strings.Repeat("long é text ", 50)}))
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record {
			r := record{ID: strs.Draw(t, "id")}
			if rapid.IntRange(0, 4).Draw(t, "null") > 0 {
				s := strs.Draw(t, "text")
				r.Text = &s
			}
			return r
		}), 0, 12).Draw(t, "records")
		ends := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"})
		var parts []string
		var part strings.Builder
		boms := 0
		for i, r := range records {
			b, err := json.Marshal(r)
			require.NoError(t, err)
			if part.Len() == 0 && rapid.Bool().Draw(t, "mark") {
				part.WriteString("\xef\xbb\xbf")
				boms++
			}
			part.Write(b)
			if i < len(records)-1 || rapid.Bool().Draw(t, "final newline") {
				part.WriteString(ends.Draw(t, "end"))
				if rapid.Bool().Draw(t, "new member") {
					parts = append(parts, part.String())
					part.Reset()
				}
			}
		}
		parts = append(parts, part.String())
		var data []byte
		switch rapid.SampledFrom([]string{"plain", "gzip", "zstd"}).Draw(t, "compression") {
		case "gzip":
			data = gzipped(parts...)
		case "zstd":
			data = zstded(parts...)
		default:
			// Only the first mark of a plain stream is one.
			for i := range parts {
				if i > 0 {
					parts[i] = strings.TrimPrefix(parts[i], "\xef\xbb\xbf")
				}
			}
			data = []byte(strings.Join(parts, ""))
			boms = bytes.Count(data[:min(3, len(data))], byteOrderMark)
		}
		var names []string
		for name := range splitReaders {
			names = append(names, name)
		}
		in := splitReaders[rapid.SampledFrom(names).Draw(t, "split")](bytes.NewReader(data))
		r := stdin(in, WithChunkBytes(rapid.IntRange(1, 300).Draw(t, "chunk")), WithChunkLines(rapid.IntRange(1, 5).Draw(t, "lines")))
		d, err := NewDecoder()
		require.NoError(t, err)
		var got []record
		var stats Stats
		for {
			c, err := r.Next(context.Background())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			out, err := d.Decode(c)
			require.NoError(t, err)
			c.Release()
			require.Empty(t, out.Bad)
			for i := range out.Len() {
				rec := record{ID: out.ID.At(i)}
				if !out.Text.IsNull(i) {
					s := out.Text.At(i)
					rec.Text = &s
				}
				got = append(got, rec)
			}
			stats.Add(out.Stats)
		}
		require.NoError(t, r.Close())
		require.Equal(t, len(records), len(got))
		for i := range records {
			require.Equal(t, records[i], got[i])
		}
		require.Equal(t, int64(boms), stats.BOMs)
	})
}

// Several goroutines share a decoder; the results are those of one.
func TestDecoderIsShared(t *testing.T) {
	var in strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&in, `{"id":%d,"text":"line\n%d \u00e9 %s","more":{"b":[%d],"a":"x"}}`+"\n", i, i, strings.Repeat("x", i%40), i)
	}
	want := decodeString(t, in.String())
	d := newDecoder(t)
	r := stdin(strings.NewReader(in.String()), WithChunkLines(100))
	var chunks []*Chunk
	for {
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		chunks = append(chunks, c)
	}
	require.NoError(t, r.Close())
	results := make([]*Records, len(chunks))
	var wait sync.WaitGroup
	for i, c := range chunks {
		wait.Go(func() {
			results[i], _ = d.Decode(c)
			c.Release()
		})
	}
	wait.Wait()
	at := 0
	for _, records := range results {
		for i := range records.Len() {
			require.Equal(t, *want.texts[at], records.Text.At(i))
			require.Equal(t, want.ids[at], records.ID.At(i))
			require.Equal(t, want.pos[at], records.Pos(i))
			at++
		}
	}
	require.Equal(t, 3000, at)
}

func chunkOf(t testing.TB, data []byte, format Format) *Chunk {
	r := newReader([]Input{{Path: Stdin, Format: format}}, WithStdin(bytes.NewReader(data)),
		WithChunkBytes(len(data)+1), WithChunkLines(1<<24), WithMaxLine(1<<30))
	c, err := r.Next(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return c
}

// What Decode allocates does not grow with the number of records.
func TestDecodeAllocatesPerChunk(t *testing.T) {
	for _, format := range []Format{FormatJSONL, FormatText} {
		var counts []float64
		for _, n := range []int{100, 200} {
			data := bytes.Repeat([]byte(`{"id":"0123456789abcdef","text":"some text\nwith \u00e9 and \"more\"","n":[1,{"b":1,"a":2}]}`+"\n"), n)
			c := chunkOf(t, data, format)
			d := newDecoder(t)
			counts = append(counts, testing.AllocsPerRun(20, func() {
				_, err := d.Decode(c)
				require.NoError(t, err)
			}))
		}
		require.InDelta(t, counts[0], counts[1], 3, "%s", format)
		require.Less(t, counts[0], 40.0)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, line := range jsonLines {
		f.Add([]byte(line), "a.0.b", true)
		f.Add([]byte(`{"a":`+line+`}`), "a", false)
	}
	f.Fuzz(func(t *testing.T, line []byte, path string, replace bool) {
		policy := Reject
		if replace {
			policy = Replace
		}
		d, err := NewDecoder(WithTextKey(path), WithIDKey("a"), WithSurrogates(policy), WithInvalidUTF8(policy))
		if err != nil {
			return
		}
		got := decodeAll(t, stdin(bytes.NewReader(line)), d)
		for _, s := range got.texts {
			require.True(t, s == nil || utf8.ValidString(*s))
		}
		for _, s := range got.ids {
			require.True(t, utf8.ValidString(s))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var jsonl, escaped, text bytes.Buffer
	for i := 0; text.Len() < 1<<18; i++ {
		words := make([]string, 100)
		for k := range words {
			words[k] = fmt.Sprintf("%x", r.Uint32()>>r.IntN(28))
		}
		s := strings.Join(words, " ")
		fmt.Fprintf(&text, "%s\n", s)
		fmt.Fprintf(&jsonl, `{"id":%d,"text":"%s"}`+"\n", i, s)
		fmt.Fprintf(&escaped, `{"id":%d,"text":"%s"}`+"\n", i, strings.ReplaceAll(s, " ", `\n`))
	}
	for _, c := range []struct {
		name   string
		data   []byte
		format Format
	}{{"jsonl", jsonl.Bytes(), FormatJSONL}, {"escapes", escaped.Bytes(), FormatJSONL}, {"text", text.Bytes(), FormatText}} {
		b.Run(c.name, func(b *testing.B) {
			chunk, d := chunkOf(b, c.data, c.format), newDecoder(b)
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(chunk); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(chunk.Len())*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkReader(b *testing.B) {
	line := strings.Repeat("some text of a line ", 25) + "\n"
	plain := strings.Repeat(line, (4<<20)/len(line))
	for _, c := range []struct {
		name string
		data []byte
	}{{"plain", []byte(plain)}, {"gzip", gzipped(plain)}, {"zstd", zstded(plain)}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				r := stdin(bytes.NewReader(c.data))
				for {
					chunk, err := r.Next(context.Background())
					if err != nil {
						break
					}
					chunk.Release()
				}
				r.Close()
			}
		})
	}
}
