package text

import (
	"bytes"
	"encoding/binary"
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

// TestCleanColumnOfManyRows cleans rows that lie end to end and are mostly alike, as those
// of a source are.
func TestCleanColumnOfManyRows(t *testing.T) {
	ends := []string{"", "", "", " ", "\r\n", "\r", "\n", "\u3000", "\u00a0\n", "。", "é", "\xc2", strings.Repeat(" \r\n", 5)}
	insides := []string{"", "", "", "", "\r", "\r\n", "\u2028"}
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(ends[:rapid.IntRange(1, len(ends)).Draw(t, "starts")])
		end := rapid.SampledFrom(ends[:rapid.IntRange(1, len(ends)).Draw(t, "ends")])
		inside := rapid.SampledFrom(insides[:rapid.IntRange(1, len(insides)).Draw(t, "insides")])
		word := strings.Repeat("words ", rapid.SampledFrom([]int{0, 2, 30, 1000}).Draw(t, "words"))
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			if rapid.IntRange(0, 30).Draw(t, "null") == 0 {
				return nil
			}
			return start.Draw(t, "start") + word + inside.Draw(t, "inside") + word + "." + end.Draw(t, "end")
		}), 0, 80).Draw(t, "rows")
		col := columnWithNulls(t, rows...)
		trim, newlines := rapid.Bool().Draw(t, "trim"), rapid.Bool().Draw(t, "newlines")
		got, err := newCleaner(t, WithTrim(trim), WithNewlines(newlines)).CleanColumn(col)
		require.NoError(t, err)
		require.NoError(t, got.Column.Validate())
		require.Empty(t, got.Drops)
		require.Equal(t, len(rows), got.Column.Len())
		for i, row := range rows {
			require.EqualValues(t, i, got.Rows[i])
			require.Equal(t, row == nil, got.Column.IsNull(i))
			if s, ok := row.(string); ok {
				require.Equal(t, naiveClean(s, trim, newlines), got.Column.At(i))
			}
		}
	})
}

// TestReturnMarks compares the marks of a stretch with a search of each part of it.
func TestReturnMarks(t *testing.T) {
	var m returnMarks
	rapid.Check(t, func(t *rapid.T) {
		data := make([]byte, rapid.IntRange(1, returnBytes).Draw(t, "size"))
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(data)-1), 0, 5).Draw(t, "returns") {
			data[i] = '\r'
		}
		marked := m.mark(data, 2)
		require.Equal(t, bytes.IndexByte(data, '\r') >= 0, marked)
		for range 20 {
			lo := rapid.IntRange(0, len(data)).Draw(t, "lo")
			hi := min(lo+rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, returnBytes)).Draw(t, "length"), len(data))
			has := bytes.IndexByte(data[lo:hi], '\r') >= 0
			if hi-lo <= 64*64 || has {
				require.Equal(t, has, m.within(lo, hi), "%d to %d", lo, hi)
			}
		}
	})
}

// TestReturnMarksOfFarWords: one CR in each place, and texts of every number of words
// before and behind it.
func TestReturnMarksOfFarWords(t *testing.T) {
	var m returnMarks
	data := make([]byte, returnBytes)
	for _, at := range []int{0, 63, 64, 4095, 4096, 4150, 8191, 8192, 8242, 12288, len(data) - 1} {
		data[at] = '\r'
		require.True(t, m.mark(data, 2))
		for k := 0; k < len(data); k += 16 {
			if k <= at {
				require.True(t, m.within(k, len(data)))
				require.True(t, m.within(k, at+1))
			}
			if k <= at && at-k <= 64*64 {
				require.False(t, m.within(k, at), "%d to %d", k, at)
			}
			if k > at {
				require.True(t, m.within(0, k))
				require.True(t, m.within(at, k))
			}
		}
		data[at] = 0
	}
	require.False(t, m.mark(data, 2))
	require.True(t, m.mark(data, 1), "a single row is not searched")
	require.True(t, m.within(0, 1))
}

// TestStretchesLookTwiceAtMost adds up what is looked through for texts that lie anywhere.
func TestStretchesLookTwiceAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := bytes.Repeat([]byte("text "), 1<<14)
		var views []stringtensor.StringView16
		texts, lo := 0, 0
		gap := rapid.SampledFrom([]int{0, 0, 0, 1, 12, 13, 60, 500}[rapid.IntRange(0, 7).Draw(t, "gaps"):])
		size := rapid.SampledFrom([]int{13, 30, 700, 8192, 8193, 20000}[:rapid.IntRange(1, 6).Draw(t, "sizes")])
		for range rapid.IntRange(1, 60).Draw(t, "texts") {
			lo += gap.Draw(t, "gap")
			if rapid.IntRange(0, 9).Draw(t, "jump") == 0 {
				lo = rapid.IntRange(0, len(payload)).Draw(t, "place")
			}
			n := size.Draw(t, "size")
			if lo+n > len(payload) {
				lo = 0
			}
			var v [stringtensor.ViewSize]byte
			binary.LittleEndian.PutUint32(v[:], uint32(n))
			copy(v[4:8], payload[lo:])
			binary.LittleEndian.PutUint32(v[12:], uint32(lo))
			views = append(views, stringtensor.ViewFromBytes(v))
			texts += n
			lo += n
		}
		col, err := stringtensor.FromViews(views, []*stringtensor.Buffer{stringtensor.NewBuffer(payload, nil)})
		require.NoError(t, err)
		o := columnCleaning{col: col, data: [][]byte{payload}}
		looked := 0
		for i := 0; i < col.Len(); {
			x := o.stretch(i)
			require.Greater(t, x.next, i)
			if x.next > i+1 {
				require.LessOrEqual(t, x.hi-x.lo, returnBytes)
			}
			for ; i < x.next; i++ {
				v := col.View(i)
				require.True(t, x.lo <= v.Offset() && v.Offset()+v.Len() <= x.hi)
			}
			looked += x.hi - x.lo
		}
		require.LessOrEqual(t, looked, 2*texts)
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
