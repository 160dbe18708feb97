package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/kernels"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// pair is an operation on the device and its twin.
type pair struct {
	name string
	gpu  func(*Column) (*Selection, error)
	cpu  func(*stringtensor.Column) stringtensor.Selection
}

// ofPattern returns the predicates that take a pattern.
func ofPattern(p string) []pair {
	return []pair{
		{fmt.Sprintf("prefix %.20q", p), func(d *Column) (*Selection, error) { return d.WherePrefix(p) }, func(c *stringtensor.Column) stringtensor.Selection { return c.WherePrefix(p) }},
		{fmt.Sprintf("suffix %.20q", p), func(d *Column) (*Selection, error) { return d.WhereSuffix(p) }, func(c *stringtensor.Column) stringtensor.Selection { return c.WhereSuffix(p) }},
		{fmt.Sprintf("equal %.20q", p), func(d *Column) (*Selection, error) { return d.WhereEqual(p) }, func(c *stringtensor.Column) stringtensor.Selection { return c.WhereEqual(p) }},
		{fmt.Sprintf("contains %.20q", p), func(d *Column) (*Selection, error) { return d.WhereContains(p) }, func(c *stringtensor.Column) stringtensor.Selection { return c.WhereContains(p) }},
	}
}

func ofLength(lo, hi int) pair {
	return pair{fmt.Sprintf("length %d to %d", lo, hi), func(d *Column) (*Selection, error) { return d.WhereLength(lo, hi) }, func(c *stringtensor.Column) stringtensor.Selection { return c.WhereLength(lo, hi) }}
}

func ofValid() pair {
	return pair{"valid", func(d *Column) (*Selection, error) { return d.WhereValid() }, func(c *stringtensor.Column) stringtensor.Selection { return c.WhereValid() }}
}

// compare runs pairs on a column and its copy on the device.
func compare(t require.TestingT, e *Engine, c *stringtensor.Column, pairs []pair) {
	d, err := e.Upload(c)
	require.NoError(t, err)
	require.Equal(t, c.Len(), d.Len())
	require.Equal(t, c.PayloadBytes(), d.PayloadBytes())
	for _, p := range pairs {
		s, err := p.gpu(d)
		require.NoError(t, err)
		require.Equal(t, c.Len(), s.Len())
		got, err := s.Fetch()
		require.NoError(t, err)
		want := p.cpu(c)
		if len(got)+len(want) > 0 {
			require.Equal(t, want, got, "%s of %d rows", p.name, c.Len())
		}
		require.NoError(t, s.Release())
	}
	require.NoError(t, d.Release())
	require.Empty(t, e.regions)
	require.Empty(t, e.pinned)
}

// TestWhereKnown: answers written by hand.
func TestWhereKnown(t *testing.T) {
	e := device(t)
	b := stringtensor.NewBuilder()
	for _, s := range []string{"rose", "rosaline", "", "", "line", "Zürich", "rosalines"} {
		require.NoError(t, b.AppendString(s))
		if s == "line" {
			b.AppendNull() // row 5
		}
	}
	d, err := e.Upload(b.Finish())
	require.NoError(t, err)
	for _, w := range []struct {
		name string
		call func() (*Selection, error)
		want stringtensor.Selection
	}{
		{"prefix", func() (*Selection, error) { return d.WherePrefix("rosa") }, stringtensor.Selection{1, 7}},
		{"suffix", func() (*Selection, error) { return d.WhereSuffix("line") }, stringtensor.Selection{1, 4}},
		{"equal", func() (*Selection, error) { return d.WhereEqual("rosaline") }, stringtensor.Selection{1}},
		{"empty", func() (*Selection, error) { return d.WhereEqual("") }, stringtensor.Selection{2, 3}},
		{"contains", func() (*Selection, error) { return d.WhereContains("line") }, stringtensor.Selection{1, 4, 7}},
		{"across rows", func() (*Selection, error) { return d.WhereContains("linelin") }, nil},
		{"bytes", func() (*Selection, error) { return d.WhereContains("\xbc") }, stringtensor.Selection{6}},
		{"length", func() (*Selection, error) { return d.WhereLength(5, 8) }, stringtensor.Selection{1, 6}},
		{"valid", func() (*Selection, error) { return d.WhereValid() }, stringtensor.Selection{0, 1, 2, 3, 4, 6, 7}},
	} {
		s, err := w.call()
		require.NoError(t, err)
		got, err := s.Fetch()
		require.NoError(t, err)
		require.ElementsMatch(t, w.want, got, w.name)
	}
}

// words are rows whose beginnings, ends and insides come again in one another, up to the 12
// bytes of an inline view and beyond.
var words = []string{"", "a", "ab", "abc", "ba", "rose", "rosaline", "saline", "line", "é", "éa", "aé", "日本語", "twelve bytes", "thirteen byte", "a string that has more than an inline view holds"}

// TestWhereSizes: numbers of rows around those of a word, a warp and a block, with null rows and
// without, whole and sliced.
func TestWhereSizes(t *testing.T) {
	e := device(t)
	var pairs []pair
	for _, p := range []string{"", "a", "ab", "rosa", "line", "saline", "\xa9", "twelve bytes", "twelve bytes ", "thirteen byte", words[len(words)-1], "absent"} {
		pairs = append(pairs, ofPattern(p)...)
	}
	for _, l := range [][2]int{{0, 0}, {0, 1}, {1, 4}, {2, stringtensor.NoBound}, {-3, 3}, {4, 3}, {12, 13}, {13, 13}, {0, math.MaxInt}, {math.MaxInt, stringtensor.NoBound}} {
		pairs = append(pairs, ofLength(l[0], l[1]))
	}
	pairs = append(pairs, ofValid())
	sizes := []int{0, 1, 31, 32, 33, 63, 64, 65, kernels.Block - 1, kernels.Block, kernels.Block + 1, 3*kernels.Block + 17}
	if testing.Short() {
		sizes = []int{0, 1, 33, kernels.Block + 1}
	}
	for _, n := range sizes {
		for _, nulls := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			b := stringtensor.NewBuilder()
			for range n + 7 {
				if nulls && r.IntN(5) == 0 {
					b.AppendNull()
				} else {
					require.NoError(t, b.AppendString(words[r.IntN(len(words))]))
				}
			}
			c, err := b.Finish().Slice(3, 3+n)
			require.NoError(t, err)
			compare(t, e, c, pairs)
		}
	}
}

// TestWhereLast: matches only in the first and the last row, so that each end is looked at.
func TestWhereLast(t *testing.T) {
	e := device(t)
	for _, n := range []int{1, 2, 32, 33, kernels.Block, kernels.Block + 1} {
		for _, at := range []int{0, n - 1} {
			rows := make([]string, n)
			rows[at] = "needle"
			compare(t, e, column(t, rows...), append(ofPattern("needle"), ofLength(6, 6)))
			for i := range rows {
				rows[i] = "needl"
			}
			rows[at] = "needle"
			compare(t, e, column(t, rows...), append(ofPattern("needle"), ofLength(6, 6)))
		}
	}
}

// TestWhereLong: patterns around the part that is kept in shared memory, and rows that differ
// from them only at some place.
func TestWhereLong(t *testing.T) {
	e := device(t)
	r := rand.New(rand.NewPCG(2, 2))
	text := make([]byte, 700)
	for i := range text {
		text[i] = byte('a' + r.IntN(26))
	}
	for _, m := range []int{31, 32, 33, 255, 256, 257, 300, 511, 513, 600} {
		p := string(text[:m])
		rows := []string{p, p[:m-1], p + "x", "x" + p, p[1:], "y" + p + "y", ""}
		for _, at := range []int{0, 1, 30, 31, 32, 254, 255, 256, 257, m - 2, m - 1} {
			if at < m {
				rows = append(rows, p[:at]+"X"+p[at+1:])
			}
		}
		compare(t, e, column(t, rows...), append(ofPattern(p), ofLength(m, m)))
	}
}

// TestWhereHuge: a row of several chunks among tiny ones, with what is looked for at the borders
// of chunks, of rows, and nowhere.
func TestWhereHuge(t *testing.T) {
	e := device(t)
	const needle = "needle"
	for _, before := range []int{0, 1, 100} {
		for _, at := range []int{0, kernels.ContainsChunk - before - 3, kernels.ContainsChunk - before, 2*kernels.ContainsChunk - before - 1, 2*kernels.ContainsChunk + 994} {
			huge := []byte(strings.Repeat("hay ", (2*kernels.ContainsChunk+1000)/4))
			copy(huge[at:], needle)
			rows := make([]string, 0, before+300)
			for range before {
				rows = append(rows, "x")
			}
			rows = append(rows, string(huge))
			for range 40 {
				rows = append(rows, "", "need", "le", "needle")
			}
			compare(t, e, column(t, rows...), append(ofPattern(needle), ofPattern("eedl")[3], ofPattern(string(huge))[2], ofPattern("lene")[3]))
		}
	}
	// Many rows in each chunk, most of them empty.
	rows := make([]string, 9000)
	for i := range rows {
		if i%3 == 0 {
			rows[i] = fmt.Sprintf("row %d", i)
		}
	}
	compare(t, e, column(t, rows...), append(ofPattern("row 1"), ofPattern("5")...))
	// All payload in one block, and matches that overlap.
	compare(t, e, column(t, strings.Repeat("a", 1000), "aa", "a", ""), append(ofPattern("aa"), ofPattern("aaa")...))
}

// TestWhereRandom: columns and patterns of a small alphabet, so that much almost matches.
func TestWhereRandom(t *testing.T) {
	e := device(t)
	letters := rapid.SampledFrom([]string{"a", "b", "é", "ab", "aab"})
	text := rapid.Map(rapid.SliceOfN(letters, 0, 6), func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(t *rapid.T) {
		b := stringtensor.NewBuilder()
		for range rapid.IntRange(0, 80).Draw(t, "rows") {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendString(text.Draw(t, "row")))
			}
		}
		lo := rapid.IntRange(0, 8).Draw(t, "shortest")
		pairs := append(ofPattern(text.Draw(t, "pattern")), ofLength(lo, lo+rapid.IntRange(-1, 4).Draw(t, "more")), ofValid())
		compare(t, e, b.Finish(), pairs)
	})
}

// TestUploadRefused: too much payload is refused before any memory is taken. The twin's limit
// takes 4 GiB to reach, so one huge row is taken many times.
func TestUploadRefused(t *testing.T) {
	e := device(t)
	c := column(t, strings.Repeat("x", 1<<20))
	rows := make([]uint32, 1<<12)
	big, err := c.Take(rows)
	require.NoError(t, err)
	require.Greater(t, big.PayloadBytes(), int64(stringtensor.MaxDeviceBytes))
	_, err = e.Upload(big)
	require.ErrorIs(t, err, stringtensor.ErrOffsetOverflow)
	require.Empty(t, e.regions)
	require.Empty(t, e.pinned)
}
