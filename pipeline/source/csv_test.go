package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// csvFile writes data to a file of that name.
func csvFile(t testing.TB, name, data string) string {
	return filepath.Join(writeFiles(t, map[string]string{name: data}), name)
}

// readRows reads rows until the end or an error that ends the stream, which is the
// last of errs then.
func readRows(t testing.TB, src pipeline.Source[Row]) (rows []Row, errs []error) {
	t.Helper()
	ctx := context.Background()
	c, err := src.Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	for {
		row, err := c.Next(ctx)
		switch {
		case err == io.EOF:
			return rows, errs
		case err == nil:
			rows = append(rows, row)
			continue
		}
		if errs = append(errs, err); isFatal(err) {
			_, again := c.Next(ctx)
			require.EqualError(t, again, err.Error(), "an error that ends the stream does not last")
			return rows, errs
		}
		require.Less(t, len(errs), 1000, "the source does not come to an end")
	}
}

// isFatal reports whether an error was marked.
func isFatal(err error) bool {
	mark := fmt.Sprintf("%T", pipeline.Fatal(io.EOF))
	for err != nil {
		if fmt.Sprintf("%T", err) == mark {
			return true
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = u.Unwrap()
	}
	return false
}

// places returns lines and fields of rows.
func places(rows []Row) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%d@%d %q", r.Pos.Line, r.Pos.Offset, r.Fields))
	}
	return out
}

func TestCSVKeepsText(t *testing.T) {
	path := csvFile(t, "a.csv", "id,big,word,empty\n007,9007199254740993,nan,\n+1, 2 ,INF,\"\"\n")
	rows, errs := readRows(t, must(CSV([]string{path})))
	require.Empty(t, errs)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"007", "9007199254740993", "nan", ""}, rows[0].Fields)
	require.Equal(t, []string{"+1", " 2 ", "INF", ""}, rows[1].Fields)
	require.Equal(t, []string{"id", "big", "word", "empty"}, rows[0].Header())
	id, ok := rows[0].Get("id")
	require.True(t, ok)
	require.Equal(t, "007", id)
	_, ok = rows[0].Get("ID")
	require.False(t, ok)
	big, err := rows[0].Int("big")
	require.NoError(t, err)
	require.Equal(t, int64(1<<53+1), big)
}

func TestCSVLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		opts     []CSVOption
		want     []string
		errs     []string // each a part of an error, in their order
	}{
		{name: "empty"},
		{name: "blank", in: "\n\r\n\n"},
		{name: "only a header", in: "a,b"},
		{name: "no end", in: "a,b\n1,2", want: []string{`2@4 ["1" "2"]`}},
		{name: "CRLF", in: "a,b\r\n1,2\r\n\r\n3,4\r\n", want: []string{`2@5 ["1" "2"]`, `4@12 ["3" "4"]`}},
		{name: "BOM", in: "\xef\xbb\xbfa,b\n1,2\n", want: []string{`2@7 ["1" "2"]`}},
		{name: "BOM only", in: "\xef\xbb\xbf"},
		{name: "BOM later", in: "a,b\n\xef\xbb\xbf1,2\n", want: []string{`2@4 ["\ufeff1" "2"]`}},
		{name: "blank before the header", in: "\n\na,b\n1,2\n", want: []string{`4@6 ["1" "2"]`}},
		{name: "quoted ends of line", in: "a,b\n\"1\n\n\r\n\",2\n3,4", want: []string{`2@4 ["1\n\n\n" "2"]`, `6@14 ["3" "4"]`}},
		{name: "blank lines count", in: "a\n\n\n1\n\n2,2\n", want: []string{`4@4 ["1"]`}, errs: []string{":6: source: wrong number of fields: 2, the header has 1"}},
		{name: "errors go on", in: "a,b\n1\n1,2,3\nx\"y,1\n\"p\"q,2\n5,6\n", want: []string{`6@25 ["5" "6"]`}, errs: []string{
			":2: source: wrong number of fields: 1", ":3: source: wrong number of fields: 3",
			":4: source: invalid CSV: column 2: ", ":5: source: invalid CSV: column 3: ",
		}},
		{name: "the line of an error", in: "a,b\n\n\"1\n2\n3\"x,4\n5,6\n", want: []string{`6@16 ["5" "6"]`}, errs: []string{
			":5: source: invalid CSV: column 2 of the row that begins in line 3: ",
		}},
		{name: "quote not closed", in: "a\n1\n\"2\n3\n", want: []string{`2@2 ["1"]`}, errs: []string{"begins in line 3"}},
		{name: "lazy quotes", in: "a,b\nx\"y,\"p\"q\"\n", opts: []CSVOption{WithLazyQuotes(true)}, want: []string{`2@4 ["x\"y" "p\"q"]`}},
		{name: "delimiter", in: "a\tb\n1,1\t2\n", opts: []CSVOption{WithDelimiter('\t')}, want: []string{`2@4 ["1,1" "2"]`}},
		{name: "long delimiter", in: "a→b\n1→2\n", opts: []CSVOption{WithDelimiter('→')}, want: []string{`2@6 ["1" "2"]`}},
		{name: "invalid UTF-8 and NUL", in: "a,b\n\xff\xfe,\x00\n", want: []string{`2@4 ["\xff\xfe" "\x00"]`}},
		{name: "carriage returns", in: "a,b\n1\r,2\r\r\n3,4\r", want: []string{`2@4 ["1\r" "2\r"]`, `3@11 ["3" "4"]`}},
		{name: "without header", in: "1,2\n3\n4,5\n", opts: []CSVOption{WithHeader(false)}, want: []string{`1@0 ["1" "2"]`, `3@6 ["4" "5"]`},
			errs: []string{":2: source: wrong number of fields: 1, the first row has 2"}},
		{name: "without header, bad at first", in: "\"a\"b\n3,4\n5,6\n", opts: []CSVOption{WithHeader(false)}, want: []string{`2@5 ["3" "4"]`, `3@9 ["5" "6"]`},
			errs: []string{":1: source: invalid CSV"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := must(CSV([]string{csvFile(t, "a.csv", c.in)}, c.opts...))
			rows, errs := readRows(t, src)
			if c.want == nil {
				c.want = []string{}
			}
			require.Equal(t, c.want, places(rows))
			for _, r := range rows {
				require.Equal(t, r.Pos.Line, int64(1+strings.Count(c.in[:r.Pos.Offset], "\n")), "line and offset")
			}
			require.Len(t, errs, len(c.errs))
			for i, want := range c.errs {
				require.ErrorContains(t, errs[i], want)
				require.False(t, isFatal(errs[i]))
			}
		})
	}
}

func TestCSVHeaders(t *testing.T) {
	for _, c := range []struct {
		name, in string
		opts     []CSVOption
		say      string
	}{
		{"twice", "id,text,id,b,text\n1,2,3,4,5\n", nil, `a.csv:1: source: invalid header: columns that stand there twice: "id", "text"`},
		{"empty twice", "\n,a,\n1,2,3\n", nil, `a.csv:2: source: invalid header: columns that stand there twice: ""`},
		{"many twice", "1,2,3,4,5,6,7,8,9,9,8,7,6,5,4,3,2,1\n", nil, `twice: "9", "8", "7", "6", "5", "4", "3", "2", …; rename them`},
		{"long, twice", strings.Repeat("é", 50) + "," + strings.Repeat("é", 50) + "\n", nil, `twice: "` + strings.Repeat("é", 40) + `…"; rename them`},
		{"long", strings.Repeat("é", 50) + "\n1\n", []CSVOption{WithColumn("text", ColumnText)}, `; columns: "` + strings.Repeat("é", 40) + `…"`},
		{"not CSV", "a\"b,c\n1,2\n", nil, "invalid header: " /* place, and what encoding/csv says */},
		{"too long", "abcdef\n1\n", []CSVOption{WithMaxRow(5)}, "row too long: 6 bytes"},
		{"lacks a column", "id,txet\n1,2\n", []CSVOption{WithColumn("text", ColumnText)}, `no column "text"; did you mean "txet"? columns: "id", "txet"`},
		{"lacks a numbered column", "1,2\n", []CSVOption{WithHeader(false), WithColumn("col_2", ColumnInt)}, `no column "col_2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, errs := readRows(t, must(CSV([]string{csvFile(t, "a.csv", c.in)}, c.opts...)))
			require.Empty(t, rows)
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], ErrHeader)
			require.ErrorContains(t, errs[0], c.say)
			require.True(t, isFatal(errs[0]))
		})
	}
	t.Run("another one in each file", func(t *testing.T) {
		dir := writeFiles(t, map[string]string{"b.csv": "text,id\nx,1\n", "a.csv": "id,text\n2,y\n", "c.csv": "", "d.csv": "id\n3\n"})
		rows, errs := readRows(t, must(CSV([]string{dir})))
		require.Empty(t, errs)
		var got []string
		for _, r := range rows {
			id, _ := r.Get("id")
			text, ok := r.Get("text")
			got = append(got, fmt.Sprint(id, text, ok))
		}
		require.Equal(t, []string{"2ytrue", "1xtrue", "3false"}, got)
	})
}

func TestCSVTypes(t *testing.T) {
	path := csvFile(t, "a.csv", "i,f,b,s\n1,1.5,true,x\n007,-2e3,0,nan\n1.0,1,1,x\n1,nan,1,x\n1,0x1p4,1,x\n1,1e999,1,x\n1,1,yes,x\n,1,1,x\n9223372036854775808,1,1,x\n1,1_0,1,x\n-9223372036854775808,.5,TRUE,\n")
	src := must(CSV([]string{path}, WithColumn("i", ColumnInt), WithColumn("f", ColumnFloat), WithColumn("b", ColumnBool), WithColumn("s", ColumnText)))
	rows, errs := readRows(t, src)
	require.Len(t, rows, 3)
	for i, want := range []struct {
		i int64
		f float64
		b bool
	}{{1, 1.5, true}, {7, -2000, false}, {math.MinInt64, 0.5, true}} {
		n, err := rows[i].Int("i")
		require.NoError(t, err)
		require.Equal(t, want.i, n)
		f, err := rows[i].Float("f")
		require.NoError(t, err)
		require.Equal(t, want.f, f)
		b, err := rows[i].Bool("b")
		require.NoError(t, err)
		require.Equal(t, want.b, b)
	}
	text, _ := rows[1].Get("i")
	require.Equal(t, "007", text, "a type must not change the text")
	require.Len(t, errs, 8)
	for i, want := range []string{
		`:4: source: value of another type: column "i": "1.0" is not an integer`, `:5: source: value of another type: column "f": "nan" is not a number`,
		`:6: source: value of another type: column "f": "0x1p4"`, `:7: source: value of another type: column "f": "1e999" is not a number: value out of range`,
		`:8: source: value of another type: column "b": "yes" is not a truth value`, `:9: source: value of another type: column "i": ""`,
		`:10: source: value of another type: column "i": "9223372036854775808" is not an integer: value out of range`, `:11: source: value of another type: column "f": "1_0"`,
	} {
		require.ErrorIs(t, errs[i], ErrValue)
		require.ErrorContains(t, errs[i], want)
		require.False(t, isFatal(errs[i]))
	}
	_, err := rows[0].Int("s")
	require.ErrorIs(t, err, ErrValue)
	_, err = rows[0].Float("g")
	require.ErrorIs(t, err, ErrColumn)
	require.ErrorContains(t, err, `columns: "i", "f", "b", "s"`)
	_, err = Row{}.Bool("b")
	require.ErrorIs(t, err, ErrColumn)
}

func TestCSVMaxRow(t *testing.T) {
	long := strings.Repeat("x", 3*readBuffer)
	for _, c := range []struct {
		name, in string
		max      int
		want     []string
		lengths  []int
	}{
		{"at the cap", "a\n12345\n1234567\n123456\n2", 6, []string{`2@2 ["12345"]`, `4@16 ["123456"]`, `5@23 ["2"]`}, []int{7}},
		{"CRLF at the cap", "a\r\n123456\r\n1234567\r\n2", 6, []string{`2@3 ["123456"]`, `4@20 ["2"]`}, []int{7}},
		{"quoted", "a\n\"12\n4\"\n\"12\n45\"\n3\n", 6, []string{`2@2 ["12\n4"]`, `6@17 ["3"]`}, []int{7}},
		{"goes on behind its last line", "a\n\"1234567\n\"\"x\n\ny\"\n3\n", 6, []string{`6@19 ["3"]`}, []int{16}},
		{"many blank lines", "a\n" + strings.Repeat("\n", 1000) + "1\n", 6, []string{`1002@1002 ["1"]`}, nil},
		{"longer than the buffer", "a\n" + long + "\r\n1\n" + long + long, 6, []string{fmt.Sprintf(`3@%d ["1"]`, len(long)+4)}, []int{len(long), 2 * len(long)}},
		{"quote not closed", "a\n1\n\"2\n" + long + "\n3\n", 100, []string{`2@2 ["1"]`}, []int{len(long) + 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, errs := readRows(t, must(CSV([]string{csvFile(t, "a.csv", c.in)}, WithMaxRow(c.max))))
			require.Equal(t, c.want, places(rows))
			require.Len(t, errs, len(c.lengths))
			for i, n := range c.lengths {
				require.ErrorIs(t, errs[i], ErrRowTooLong)
				require.ErrorContains(t, errs[i], fmt.Sprintf(": %d bytes, the cap is %d;", n, c.max))
				require.False(t, isFatal(errs[i]))
			}
		})
	}
}

// Lines that end around the end of a buffer.
func TestCSVBuffers(t *testing.T) {
	for n := readBuffer - 4; n <= readBuffer+4; n++ {
		for _, end := range []string{"\n", "\r\n"} {
			cell := strings.Repeat("x", n)
			path := csvFile(t, "a.csv", "a"+end+cell+end+"b"+end)
			rows, errs := readRows(t, must(CSV([]string{path}, WithMaxRow(n))))
			require.Empty(t, errs, "%d %q", n, end)
			require.Len(t, rows, 2)
			require.Equal(t, cell, rows[0].Fields[0])
			require.Equal(t, []string{"b"}, rows[1].Fields)
			rows, errs = readRows(t, must(CSV([]string{path}, WithMaxRow(n-1))))
			require.Len(t, errs, 1, "%d %q", n, end)
			require.Len(t, rows, 1)
			require.Equal(t, Position{path, 3, int64(1 + n + 2*len(end))}, rows[0].Pos)
		}
	}
}

func TestCSVLargeInputs(t *testing.T) {
	cell := strings.Repeat("0123456789abcde\n", 10<<20/16)
	path := csvFile(t, "a.csv", "a,b\n\""+cell+"\",1\n2,3\n")
	rows, errs := readRows(t, must(CSV([]string{path})))
	require.Empty(t, errs)
	require.Len(t, rows, 2)
	require.True(t, rows[0].Fields[0] == cell)
	require.Equal(t, int64(10<<20/16+3), rows[1].Pos.Line)

	path = csvFile(t, "a.csv", "a\n"+strings.Repeat("\n", 2_000_000)+"1\n")
	rows, errs = readRows(t, must(CSV([]string{path}, WithMaxRow(1))))
	require.Empty(t, errs)
	require.Equal(t, []string{`2000002@2000002 ["1"]`}, places(rows))
}

func TestCSVCompressed(t *testing.T) {
	var plain strings.Builder
	plain.WriteString("\xef\xbb\xbfid,text\r\n")
	for i := range 5000 {
		fmt.Fprintf(&plain, "%d,\"text %d\n\"\r\n", i, i*i)
	}
	all := plain.String()
	want, errs := readRows(t, must(CSV([]string{csvFile(t, "a.csv", all)})))
	require.Empty(t, errs)
	require.Len(t, want, 5000)
	for name, data := range map[string]string{
		"a.csv.gz": string(gzipped(all[:30_000], all[30_000:])), "a.csv.zst": string(zstded(all[:30_000], all[30_000:])), "any.csv": string(gzipped(all)),
	} {
		t.Run(name, func(t *testing.T) {
			src := must(CSV([]string{csvFile(t, name, data)}))
			rows, errs := readRows(t, src)
			require.Empty(t, errs)
			require.Equal(t, places(want), places(rows))
			// Every 500th row is a place to go on from.
			_, positions := replay[Row](t, src, pipeline.Start{}, endless)
			require.NotEmpty(t, positions)
			for k := 0; k < len(positions); k += 13 {
				rest, _ := replay[Row](t, src, pipeline.Start{Position: positions[k]}, 3)
				require.Equal(t, outcome(want[k], nil), rest[0])
			}
		})
		t.Run(name+" cut off", func(t *testing.T) {
			rows, errs := readRows(t, must(CSV([]string{csvFile(t, name, data[:len(data)*2/3])})))
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], ErrTruncated)
			require.True(t, isFatal(errs[0]))
			require.Greater(t, len(rows), 1000)
			require.Equal(t, places(want[:len(rows)]), places(rows))
		})
		t.Run(name+" damaged", func(t *testing.T) {
			damaged := []byte(data)
			damaged[len(data)-5] ^= 0xff // a checksum
			_, errs := readRows(t, must(CSV([]string{csvFile(t, name, string(damaged))})))
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], ErrCorrupt)
			require.True(t, isFatal(errs[0]))
		})
	}
	t.Run("not what the name says", func(t *testing.T) {
		for _, name := range []string{"a.csv.gz", "a.csv.zst"} {
			rows, errs := readRows(t, must(CSV([]string{csvFile(t, name, "a,b\n1,2\n")})))
			require.Empty(t, rows)
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], ErrCorrupt)
			rows, errs = readRows(t, must(CSV([]string{csvFile(t, name, "")})))
			require.Empty(t, rows)
			require.Empty(t, errs)
		}
	})
}

// What lies between the header and the position is not read.
func TestCSVSeeks(t *testing.T) {
	head, tail := "a,b\n", "5,6\n7,8\n"
	path := csvFile(t, "a.csv", head+strings.Repeat("1,2\n", 100_000)+tail)
	src := must(CSV([]string{path}))
	at := csvPosition{Path: path, Offset: int64(len(head) + 400_000), Line: 100_001}
	raw := must(json.Marshal(at))
	// An unclosed quote would take everything behind it.
	require.NoError(t, os.WriteFile(path, []byte(head+"\""+strings.Repeat("x", 399_998)+"\n"+tail), 0o644))
	got, _ := replay[Row](t, src, pipeline.Start{Position: raw}, 9)
	require.Equal(t, []string{`100002 ["5" "6"]`, `100003 ["7" "8"]`}, got)

	// A file that was rewritten has no line there.
	require.NoError(t, os.WriteFile(path, []byte(head+strings.Repeat("x", 400_000)+tail), 0o644))
	_, err := src.Open(context.Background(), pipeline.Start{Position: raw})
	require.ErrorIs(t, err, ErrPosition)
}

func TestCSVStops(t *testing.T) {
	path := csvFile(t, "a.csv", "a\n1\n2\n")
	src := must(CSV([]string{path}))
	t.Run("when the context is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		c, err := src.Open(ctx, pipeline.Start{})
		require.NoError(t, err)
		_, err = c.Next(ctx)
		require.NoError(t, err)
		cancel()
		_, err = c.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, c.Close())
	})
	t.Run("when the context is done in a long row", func(t *testing.T) {
		long := must(CSV([]string{csvFile(t, "a.csv", "a\n\""+strings.Repeat("x", 4*readBuffer))}, WithMaxRow(10)))
		ctx, cancel := context.WithCancel(context.Background())
		c := &csvCursor{src: long, ctx: ctx}
		require.NoError(t, c.open())
		cancel()
		_, fatal, err := c.next()
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, fatal)
		require.NoError(t, c.Close())
	})
	t.Run("when a file has vanished", func(t *testing.T) {
		require.NoError(t, os.Remove(path))
		rows, errs := readRows(t, src)
		require.Empty(t, rows)
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], fs.ErrNotExist)
		require.ErrorContains(t, errs[0], path)
		require.True(t, isFatal(errs[0]))
		_, err := src.Count(context.Background())
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("when it is a folder now", func(t *testing.T) {
		require.NoError(t, os.Mkdir(path, 0o755))
		_, errs := readRows(t, src)
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], path)
		require.True(t, isFatal(errs[0]))
	})
}

func TestCSVOptions(t *testing.T) {
	path := csvFile(t, "a.csv", "a\n")
	for name, opt := range map[string]CSVOption{
		"quote": WithDelimiter('"'), "newline": WithDelimiter('\n'), "CR": WithDelimiter('\r'), "NUL": WithDelimiter(0),
		"U+FFFD": WithDelimiter('\uFFFD'), "surrogate": WithDelimiter(0xd800), "negative": WithDelimiter(-1),
		"no row": WithMaxRow(0), "too large a row": WithMaxRow(1<<30 + 1), "type": WithColumn("a", columnTypeCount),
	} {
		_, err := CSV([]string{path}, opt)
		require.ErrorIs(t, err, ErrOption, name)
	}
	_, err := CSV([]string{path}, WithColumn("a", ColumnInt), WithColumn("a", ColumnText))
	require.ErrorIs(t, err, ErrOption)
	_, err = CSV([]string{filepath.Dir(path) + "/none"})
	require.ErrorIs(t, err, ErrNoInput)
	_, err = CSV([]string{Stdin})
	require.ErrorIs(t, err, ErrNoInput)
}

func TestCSVDescription(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "a\n", "b.csv": "a\n"})
	seen := map[string]bool{}
	for _, opts := range [][]CSVOption{
		nil, {WithHeader(false)}, {WithDelimiter('\t')}, {WithLazyQuotes(true)}, {WithMaxRow(7)}, {WithColumn("a", ColumnInt)}, {WithColumn("a", ColumnFloat)},
	} {
		d := must(CSV([]string{dir}, opts...)).Describe()
		require.NotContains(t, d, "\n")
		require.Contains(t, d, "b.csv")
		require.False(t, seen[d], "two data sets are called %s", d)
		seen[d] = true
	}
	part, err := must(CSV([]string{dir})).ShardFiles(1, 2)
	require.NoError(t, err)
	require.False(t, seen[describe(part)])
}
