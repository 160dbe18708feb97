package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// csvWhole reads rows by encoding/csv in one go, in the words of [outcome] for rows and
// as "error LINE" for what is not CSV.
func csvWhole(data []byte, comma rune, lazy bool) []string {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, lazy, -1
	out := []string{}
	width := -1
	for {
		fields, err := r.Read()
		var at *csv.ParseError
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &at):
			out = append(out, fmt.Sprintf("error %d %v", at.Line, at.Err))
			continue
		}
		line, _ := r.FieldPos(0)
		if width < 0 {
			width = len(fields)
		}
		if len(fields) != width {
			out = append(out, fmt.Sprintf("error %d %d fields", line, len(fields)))
			continue
		}
		out = append(out, fmt.Sprintf("%d %q", line, fields))
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\xef\xbb\xbfa\r\n\r\n\"b\r\n\"\"c\"\r\n", "a\"b\n\"c\"d,\n\"e", "\n\n,\n,,\n", "a,\"b\n\nc\",d\r", "\"\"\"\n\"\"\n\"\n", "\r\r\n\r", "\x00,\xff\n",
	} {
		f.Add([]byte(seed), byte(1), false)
		f.Add([]byte(seed), byte(0), true)
	}
	path := filepath.Join(f.TempDir(), "fuzz.csv")
	f.Fuzz(func(t *testing.T, data []byte, pick byte, lazy bool) {
		// What looks compressed is another test's.
		if bytes.HasPrefix(data, gzipMagic) || len(data) >= 4 && (string(data[:4]) == zstdMagic || isSkippable(data[:4])) {
			return
		}
		comma := []rune{',', '\t', ';', '→'}[pick%4]
		require.NoError(t, os.WriteFile(path, data, 0o600))
		src, err := CSV([]string{path}, WithHeader(false), WithDelimiter(comma), WithLazyQuotes(lazy))
		require.NoError(t, err)
		want := csvWhole(data, comma, lazy)
		got, positions := replay[Row](t, src, pipeline.Start{}, len(data)+1)
		require.Len(t, got, len(want))
		for i, w := range want {
			var line int
			if n, _ := fmt.Sscanf(w, "error %d", &line); n == 1 {
				require.Regexp(t, fmt.Sprintf(`:%d: source: (invalid CSV|wrong number of fields)`, line), got[i])
				continue
			}
			require.Equal(t, w, got[i])
		}
		k := int(pick) % len(positions)
		rest, _ := replay[Row](t, src, pipeline.Start{Position: positions[k]}, len(data)+1)
		require.Equal(t, got[k:], rest)
	})
}
