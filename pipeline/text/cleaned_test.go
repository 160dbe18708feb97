package text

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// TestCleanColumnIsClean compares a column with its rows cleaned one by one, for
// slices of columns too.
func TestCleanColumnIsClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCleaner(t, WithTrim(rapid.Bool().Draw(t, "trim")), WithNewlines(rapid.Bool().Draw(t, "newlines")),
			WithMinBytes(rapid.IntRange(0, 4).Draw(t, "min")), WithMaxBytes(rapid.IntRange(10, 60).Draw(t, "max")), WithTruncate(rapid.Bool().Draw(t, "cut")),
			WithRepairs(rapid.SampledFrom([]Repairs{0, RepairNFC, repairEnd - 1}).Draw(t, "repairs")))
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				return nil
			case 1, 2:
				return rapid.SampledFrom([]string{"", " a short one\r\n", "no reason to change this one", "  cut at both of the ends \t", "line\r\nends\rwithin\n", "\r\n begins with\rline ends", "\r\nbegins and ends with them \r"}).Draw(t, "fixed")
			}
			return drawText(t, "text")
		}), 0, 20).Draw(t, "rows")
		skip := rapid.IntRange(0, len(rows)).Draw(t, "skip")
		col, err := columnWithNulls(t, rows...).Slice(skip, len(rows))
		require.NoError(t, err)

		got, err := c.CleanColumn(col)
		require.NoError(t, err)
		require.NoError(t, got.Column.Validate())
		kept, drops := 0, 0
		for i, row := range rows[skip:] {
			s, isText := row.(string)
			want, verdict := c.CleanString(s)
			if isText && !verdict.Kept() {
				require.Equal(t, Drop{i, StageClean, verdict}, got.Drops[drops])
				drops++
				continue
			}
			require.EqualValues(t, i, got.Rows[kept])
			require.Equal(t, !isText, got.Column.IsNull(kept))
			if isText {
				require.Equal(t, want, got.Column.At(kept))
			}
			kept++
		}
		require.Equal(t, kept, got.Column.Len())
		require.Len(t, got.Drops, drops)
	})
}

// TestCleanColumnInAnyOrder cleans rows that share a buffer, in any order, some of them
// more than once.
func TestCleanColumnInAnyOrder(t *testing.T) {
	c := newCleaner(t)
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Custom(func(t *rapid.T) string {
			s := strings.Repeat("words ", rapid.IntRange(3, 400).Draw(t, "words"))
			return rapid.SampledFrom([]string{"", "\r\n", " \r"}).Draw(t, "start") + s + rapid.SampledFrom([]string{"", ".", "\r\n", "\rx", "\u3000"}).Draw(t, "end")
		})
		rows := rapid.SliceOfN(row, 1, 12).Draw(t, "rows")
		order := rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(rows)-1)), 0, 30).Draw(t, "order")
		col, err := column(t, rows...).Take(order)
		require.NoError(t, err)
		got, err := c.CleanColumn(col)
		require.NoError(t, err)
		require.NoError(t, got.Column.Validate())
		for i, n := range order {
			require.Equal(t, naiveClean(rows[n], true, true), got.Column.At(i))
		}
	})
}

// TestReturnSearchLooksTwiceAtMost adds up what is searched for texts that lie anywhere.
func TestReturnSearchLooksTwiceAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := make([]byte, 1<<17)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(data)-1), 0, 5).Draw(t, "returns") {
			data[i] = '\r'
		}
		var x returnSearch
		texts, searched, lo := 0, 0, 0
		for range rapid.IntRange(1, 60).Draw(t, "texts") {
			if rapid.IntRange(0, 2).Draw(t, "jump") == 0 {
				lo = rapid.IntRange(0, len(data)-1).Draw(t, "place")
			}
			hi := min(lo+rapid.IntRange(1, 2000).Draw(t, "size"), len(data))
			before := x
			cr := x.first(0, data, lo, hi)
			if want := bytes.IndexByte(data[lo:hi], '\r'); want >= 0 {
				require.Equal(t, lo+want, cr)
			} else {
				require.GreaterOrEqual(t, cr, hi)
			}
			texts += hi - lo
			if lo > before.to || lo < before.from {
				before.to = lo // it began anew
			}
			searched += x.to - before.to
			if lo = hi; lo == len(data) {
				lo = 0
			}
		}
		require.LessOrEqual(t, searched, 2*texts)
	})
}

// TestCleanColumnCopiesLittle: the payload of texts that are only trimmed is that of
// the input.
func TestCleanColumnCopiesLittle(t *testing.T) {
	long := strings.Repeat("words and words ", 100)
	for name, x := range map[string]struct {
		rows   []string
		buffer int // of the first row
	}{
		"nothing to do": {[]string{"a" + long + "z", "short"}, 0},
		"trimmed":       {[]string{long, "short", " " + long}, 0},
		"rewritten":     {[]string{"line\r\n" + long, "short", " " + long}, 1},
	} {
		col := column(t, x.rows...)
		got, err := newCleaner(t).CleanColumn(col)
		require.NoError(t, err)
		require.Equal(t, x.buffer, got.Column.View(0).Buffer(), name)
		require.Same(t, col.Buffers()[0], got.Column.Buffers()[0], name)
	}
}

// TestCleanColumnHoldsBorrowedMemory: the result keeps what it shares alive.
func TestCleanColumnHoldsBorrowedMemory(t *testing.T) {
	for _, row := range []string{"nothing to change in this text", " something to trim in this text", "x"} {
		released := false
		payload := []byte(row)
		col, err := stringtensor.FromOffsets([]int64{0, int64(len(payload))}, payload, stringtensor.WithRelease(func() { released = true }))
		require.NoError(t, err)
		got, err := newCleaner(t).CleanColumn(col)
		require.NoError(t, err)
		col.Release()
		require.Equal(t, strings.TrimSpace(row), got.Column.At(0))
		if len(row) > stringtensor.MaxInline {
			require.False(t, released, row)
		}
		got.Column.Release()
		require.True(t, released, row)
	}
}

func BenchmarkCleanColumn(b *testing.B) {
	for name, end := range map[string]string{"unchanged": "z", "trimmed": " \r\n", "rewritten": "\r\nz"} {
		b.Run(name, func(b *testing.B) {
			rows := make([]string, 1024)
			for i := range rows {
				rows[i] = string(distinctWords(500)[:500]) + end
			}
			col, c := column(b, rows...), newCleaner(b)
			b.SetBytes(col.PayloadBytes())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CleanColumn(col); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
