package source

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// csvTableRows reads CSV through a table. Of a bad row there is its reason.
func csvTableRows(t require.TestingT, text string, delimiter rune, maxRow, blockRows, blockBytes int) (rows [][]string, err error) {
	in := TableInput{
		Input: Input{Path: "a.csv", Format: FormatCSV}, File: strings.NewReader(text), MaxRow: maxRow, MaxWindow: 1 << 20,
		BlockRows: blockRows, BlockBytes: blockBytes, Header: false,
	}
	if delimiter == '\t' {
		in.Format = FormatTSV
	}
	table, err := openCSVTable(context.Background(), in)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	all := &Projection{meta: metadataNames{all: true}}
	for {
		b, err := table.Next(context.Background())
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, err
		}
		read, err := b.Read(all)
		require.NoError(t, err)
		bad, at := read.Bad, 0
		for number := range b.Len() {
			if len(bad) > 0 && bad[0].Row == number {
				rows = append(rows, []string{bad[0].Reason.String()})
				bad = bad[1:]
				continue
			}
			row := []string{}
			for _, c := range read.Batch.Columns() {
				row = append(row, c.(*array.String).Value(at))
			}
			rows = append(rows, row)
			at++
		}
		require.Empty(t, bad)
		b.Release()
		read.Batch.Release()
	}
}

// csvRows reads CSV by the standard library. fields is the number that rows must have.
func csvRows(text string, delimiter rune) (rows [][]string) {
	text = strings.TrimPrefix(text, string(byteOrderMark))
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = delimiter, -1
	fields := 0
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return rows
		case err != nil:
			rows = append(rows, []string{"bad_csv"})
			continue
		}
		if fields == 0 {
			fields = len(row)
		}
		if len(row) != fields {
			row = []string{"field_count"}
		}
		for i, cell := range row {
			row[i] = string(appendValid(nil, []byte(cell)))
		}
		rows = append(rows, row)
	}
}

// checkCSV compares both. What they differ in is what a first row that is bad, or has more
// fields than columns may be called, does.
func checkCSV(t require.TestingT, text string, delimiter rune, blockRows, blockBytes int) {
	got, err := csvTableRows(t, text, delimiter, 1<<20, blockRows, blockBytes)
	want := csvRows(text, delimiter)
	if errors.Is(err, ErrHeader) {
		require.NotEmpty(t, want)
		require.Equal(t, []string{"bad_csv"}, want[0], "%q", text)
		return
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, want, got, "%q", text)
}

func TestCSVTableLikeTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		"", "\n", "\r\n\r\n", "a", "a,b", "a,b\n", "a,b\r\n1,2\r\n", "a\r", "a\n\r", "a\n\"b\"\r", "a,b\n1\n1,2,3\n1,2\n",
		"a\n\"x\"\"y\"\n\"\"\n\"\"\"\"\n", "a,b\n\"1\n2\",\"3\r\n4\"\n", "a\nx\"y\nz\n", "a\n\"x\"y\nz\n", "a\n\"x\nz\n", "a\n\"x\" ,\nz\n",
		"a\n\"x\"\r\ny\n", "a\n\"x\"\ry\nz\n", "a\r\r\nb\r\r\n", "a\n\"x\r\"\n", "\xef\xbb\xbfa,b\n1,2\n", "a,b\n,\n\"\",\n", "a\n\xff\n", "a,\"b,c\"\n\"1,\",2\n",
	} {
		for _, size := range []int{1, 2, 3, 5, 1 << 16} {
			checkCSV(t, text, ',', 1, size)
			checkCSV(t, text, ',', 100, size)
			checkCSV(t, strings.ReplaceAll(text, ",", "\t"), '\t', 100, size)
		}
	}
}

func TestCSVTableAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", ",", "\"", "\"\"", "\n", "\r\n", "\r", "é", "bc", "\",\"", "\"\n"})).Draw(t, "pieces")
		checkCSV(t, strings.Join(pieces, ""), ',', rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "bytes"))
	})
}

func FuzzCSVTable(f *testing.F) {
	f.Add("a,b\n1,\"2\n\"\r\n", uint8(3))
	f.Add("a\nx\"y\n\"z", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		checkCSV(t, text, ',', int(size%7)+1, int(size)+1)
	})
}

// TestCSVTableLongRows: rows over the cap are passed over, whatever is in them and
// wherever reads cut them.
func TestCSVTableLongRows(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, row := range []string{long, "\"" + long + "\n\"\"" + long + "\"", "\"" + strings.Repeat("a\"\"", 99) + "\"", long + "\"y", "\"" + long + "\"y"} {
		for _, size := range []int{1, 7, 64, 1 << 12} {
			for _, end := range []string{"\n", "\r\n"} {
				got, err := csvTableRows(t, "a"+end+row+end+"b"+end, ',', 100, 10, size)
				require.NoError(t, err)
				require.Equal(t, [][]string{{"a"}, {"row_too_long"}, {"b"}}, got, "%q", row)
			}
		}
	}
	got, err := csvTableRows(t, "a\n\""+long, ',', 100, 10, 16)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a"}, {"row_too_long"}}, got)
}

// TestCSVTableLinear: time grows with the input, not faster, also for a row that comes in
// many pieces.
func TestCSVTableLinear(t *testing.T) {
	for _, unit := range []string{"a,b\n", "\"", "\"\"", "\"\n", "\n", "\"a\"b", ",", "x"} {
		work := func(n int) int {
			scan := csvScan{delimiter: []byte{','}}
			data, looked := []byte(strings.Repeat(unit, n)), 0
			for from, to := 0, 0; to < len(data); {
				to = min(to+7, len(data))
				before := scan.pos
				if end := scan.row(data[from:to], to == len(data)); end > 0 {
					from += end
					looked += end - before
					scan.begin()
					to = from
					continue
				}
				looked += scan.pos - before
			}
			return looked
		}
		require.LessOrEqual(t, work(4000), 2*work(2000)+64, "%q", unit)
	}
}

func TestCSVTableColumns(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.csv": "doc,\"the \"\"text\"\"\",n\n1,x,2\n", "twice.csv": "a,b,a\n1,2,3\n", "bad.csv": "a,b\"\n1,2\n", "utf8.csv": "text,\xff\n",
	})
	read := func(name string, opts ...DecoderOption) *took {
		return takeChunks(t, []Input{{Path: dir + "/" + name, Format: FormatCSV}}, nil, newDecoder(t, opts...))
	}
	got := read("a.csv", WithTextKey("the \"text\""), WithIDKey("doc"))
	require.Equal(t, []string{"1 x"}, got.rows)
	got = read("a.csv", WithTextKey("texts"))
	require.ErrorIs(t, got.err, ErrColumn)
	require.ErrorContains(t, got.err, "a.csv")
	require.ErrorContains(t, got.err, `columns: "doc", "the \"text\"", "n"`)
	require.ErrorContains(t, read("a.csv", WithTextKey("dock")).err, `did you mean "doc"?`)
	for _, name := range []string{"twice.csv", "bad.csv", "utf8.csv"} {
		got = read(name, WithTextKey("a"))
		require.ErrorIs(t, got.err, ErrHeader)
		require.ErrorContains(t, got.err, name)
	}
	inputs := []Input{{Path: dir + "/a.csv"}}
	got = takeChunks(t, inputs, nil, newDecoder(t, WithTextKey("col_1"), WithIDKey("")), WithCSVHeader(false))
	require.Equal(t, []string{`the "text"`, "x"}, got.texts)
	require.Equal(t, []string{inputs[0].Path + ":1", inputs[0].Path + ":2"}, got.ids)
}

// TestCSVTableUTF8 holds cells against the policies; of columns that are metadata bytes are
// replaced and counted.
func TestCSVTableUTF8(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "text,id,more\na,1,x\xff\nb\xfe,2,y\nc,\xfd,z\n"})
	inputs := []Input{{Path: dir + "/a.csv"}}
	got := takeChunks(t, inputs, nil, newDecoder(t, WithMetadata(AllMetadata)))
	require.NoError(t, got.err)
	require.Equal(t, []string{"1 a", inputs[0].Path + ":2 bad_utf8", inputs[0].Path + ":3 bad_utf8"}, got.rows)
	require.Equal(t, int64(1), got.stats.Replaced)
	got = takeChunks(t, inputs, nil, newDecoder(t, WithInvalidUTF8(Replace), WithMetadata("more")))
	require.Equal(t, []string{"1 a", "2 b\ufffd", "\ufffd c"}, got.rows)
	require.Equal(t, int64(3), got.stats.Replaced)
}

// TestCSVTableTruncated: whole rows come before the error, which says what was lost.
func TestCSVTableTruncated(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("text\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "row number %d %x\n", i, i*i)
	}
	packed := zip(t, text.String())
	dir := writeFiles(t, map[string]string{"a.csv.gz": packed[:len(packed)/2], "b.csv.gz": packed[:len(packed)-8] + "xxxxxxxx"})
	for _, name := range []string{"a.csv.gz", "b.csv.gz"} {
		got := takeChunks(t, []Input{{Path: dir + "/" + name}}, nil, newDecoder(t))
		require.Error(t, got.err)
		require.ErrorContains(t, got.err, name)
		require.NotEmpty(t, got.texts)
		for i, s := range got.texts {
			require.Equal(t, fmt.Sprintf("row number %d %x", i, i*i), s)
		}
	}
}
