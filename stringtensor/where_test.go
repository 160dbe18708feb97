package stringtensor

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

// needleGen draws what to look for: a piece of a row, or any string.
func needleGen(m model, piece func(s string, k int) string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if len(m) > 0 && rapid.Bool().Draw(t, "of a row") {
			s, _ := m.get(rapid.IntRange(0, len(m)-1).Draw(t, "row"))
			return piece(s, rapid.IntRange(0, len(s)).Draw(t, "cut"))
		}
		return textGen().Draw(t, "needle")
	})
}

func TestPredicatesAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		dst := make(Selection, 3) // what it holds does not matter

		p := needleGen(m, func(s string, k int) string { return s[:k] }).Draw(t, "prefix")
		want := m.where(func(s string) bool { return strings.HasPrefix(s, p) })
		requireSelection(t, want, c.WherePrefix(p))
		requireSelection(t, want, c.WherePrefixInto(dst, p))
		requireRows(t, m.take(want), c.FilterByPrefix(p))

		p = needleGen(m, func(s string, k int) string { return s[k:] }).Draw(t, "suffix")
		want = m.where(func(s string) bool { return strings.HasSuffix(s, p) })
		requireSelection(t, want, c.WhereSuffix(p))
		requireSelection(t, want, c.WhereSuffixInto(dst, p))

		p = needleGen(m, func(s string, k int) string { return s[k/2 : k] }).Draw(t, "substring")
		want = m.where(func(s string) bool { return strings.Contains(s, p) })
		requireSelection(t, want, c.WhereContains(p))
		requireSelection(t, want, c.WhereContainsInto(dst, p))

		p = needleGen(m, func(s string, _ int) string { return s }).Draw(t, "equal")
		want = m.where(func(s string) bool { return s == p })
		requireSelection(t, want, c.WhereEqual(p))
		requireSelection(t, want, c.WhereEqualInto(dst, p))

		lo := rapid.IntRange(-2, 20).Draw(t, "shortest")
		hi := rapid.IntRange(-2, 20).Draw(t, "longest")
		want = m.where(func(s string) bool { return len(s) >= lo && (hi < 0 || len(s) <= hi) })
		requireSelection(t, want, c.WhereLength(lo, hi))
		requireSelection(t, want, c.WhereLengthInto(dst, lo, hi))
		requireRows(t, m.take(want), c.FilterByLength(lo, hi))

		want = m.where(func(string) bool { return true })
		requireSelection(t, want, c.WhereValid())
		requireSelection(t, want.Not(len(m)), c.WhereNull())
		requireSelection(t, want, c.WhereValidInto(dst))
		requireSelection(t, want.Not(len(m)), c.WhereNullInto(dst))
	})
}

// A null row is not "", so no predicate takes it, not even one that "" meets.
func TestNullRowsNeverMatch(t *testing.T) {
	empty := ""
	c := model{nil, &empty, nil}.build(t, MaxStringLen)
	for name, s := range map[string]Selection{
		"prefix":    c.WherePrefix(""),
		"suffix":    c.WhereSuffix(""),
		"substring": c.WhereContains(""),
		"equal":     c.WhereEqual(""),
		"in":        c.WhereIn(NewSet("", "x")),
		"length":    c.WhereLength(0, 0),
		"any":       c.WhereLength(-1, NoBound),
		"valid":     c.WhereValid(),
	} {
		requireSelection(t, Selection{1}, s)
		require.Len(t, s, 1, name)
	}
	requireSelection(t, Selection{0, 2}, c.WhereNull())
}

// Rows of one length and prefix that differ after it, inside the view and not.
func TestWhereEqualReadsTheRest(t *testing.T) {
	rows := []string{"abcdef", "abcdeg", "abcdefghijkl", "abcdefghijkm", "abcdefghijklm", "abcdefghijkln"}
	c := modelOf(rows...).build(t, MaxStringLen)
	for i, s := range rows {
		requireSelection(t, Selection{uint32(i)}, c.WhereEqual(s))
		requireSelection(t, Selection{uint32(i)}, c.WhereIn(NewSet(s)))
		requireSelection(t, Selection{uint32(i)}, c.WherePrefix(s).AndNot(c.WhereLength(len(s)+1, NoBound)))
	}
}

func TestWhereLengthBounds(t *testing.T) {
	c := modelOf("", "a", strings.Repeat("x", 12), strings.Repeat("x", 13)).build(t, MaxStringLen)
	requireSelection(t, Selection{0}, c.WhereLength(0, 0))
	requireSelection(t, Selection{2, 3}, c.WhereLength(12, NoBound))
	requireSelection(t, Selection{2, 3}, c.WhereLength(12, math.MaxInt))
	requireSelection(t, nil, c.WhereLength(math.MaxInt, NoBound))
	requireSelection(t, nil, c.WhereLength(5, 4))
}

// Payload that the first word of a view rules out is not read: the views point to
// a buffer that is not there.
func TestPayloadIsNotTouchedAfterTheFirstWord(t *testing.T) {
	var views []StringView16
	for range 10 {
		views = append(views, pooledView([]byte("some row of more than twelve"), 7, 0))
	}
	c := &Column{views: views}
	require.Empty(t, c.WherePrefix("soME row"))
	require.Len(t, c.WherePrefix("some"), 10)
	require.Empty(t, c.WherePrefix(strings.Repeat("some", 100)))
	require.Empty(t, c.WhereEqual("soME row of more than twelve"))
	require.Empty(t, c.WhereEqual("some row of more than twelve bytes"))
	require.Empty(t, c.WhereIn(NewSet("soME row of more than twelve", "some row of more than twelve bytes")))
	require.Empty(t, c.WhereSuffix(strings.Repeat("some", 100)))
	require.Empty(t, c.WhereContains(strings.Repeat("some", 100)))
	other := &Column{views: []StringView16{pooledView([]byte("something else altogether   "), 7, 0), pooledView([]byte("soma"+"                        "), 7, 0)}}
	require.False(t, c.FastEq(0, other, 1))
	require.Equal(t, 1, c.Compare(0, other, 1))
}

func TestPredicatesAllocateNothing(t *testing.T) {
	c := modelOf("", "abcd", "abcdefgh", "abcd and more than twelve bytes", "another row, more than twelve").build(t, MaxStringLen)
	set := NewSet("abcd", "abcd and more than twelve bytes")
	many := modelOf(strings.Split(strings.Repeat("ab,abcde,", blockRows), ",")...).build(t, 1000)
	twin := c.Compact()
	wide := make(Selection, 0, many.Len())
	offsets, payload := make([]uint32, many.Len()+1), make([]byte, many.PayloadBytes())
	dst, and, or := make(Selection, 0, 8), make(Selection, 0, 8), make(Selection, 0, 16)
	lengths, hashes := make([]uint32, 0, 8), make([]uint64, 0, 8)
	for name, f := range map[string]func(){
		"prefix":       func() { dst = c.WherePrefixInto(dst, "abc") },
		"long prefix":  func() { dst = c.WherePrefixInto(dst, "abcd and more") },
		"suffix":       func() { dst = c.WhereSuffixInto(dst, "bytes") },
		"substring":    func() { dst = c.WhereContainsInto(dst, "more") },
		"equal inline": func() { dst = c.WhereEqualInto(dst, "abcdefgh") },
		"equal long":   func() { dst = c.WhereEqualInto(dst, "abcd and more than twelve bytes") },
		"in":           func() { dst = c.WhereInInto(dst, set) },
		"length":       func() { dst = c.WhereLengthInto(dst, 3, 9) },
		"null":         func() { dst = c.WhereNullInto(dst) },
		"valid":        func() { dst = c.WhereValidInto(dst) },
		"and, or, not": func() {
			dst = c.WherePrefixInto(dst, "a")
			and = dst.AndInto(and, dst)
			or = dst.OrInto(or, and)
			and = or.NotInto(and, c.Len())
			or = and.AndNotInto(or, dst)
		},
		"many rows": func() {
			wide = many.WherePrefixInto(wide, "a")
			wide = many.WhereEqualInto(wide, "abcde")
			wide = many.WhereLengthInto(wide, 2, 4)
			wide = many.WhereValidInto(wide)
		},
		"pack": func() {
			if _, _, err := many.GPUBuffersInto(offsets, payload); err != nil {
				panic(err)
			}
		},
		"lengths": func() { lengths = c.LengthsInto(lengths) },
		"hashes":  func() { hashes = c.HashAllInto(hashes) },
		"compare": func() {
			if c.FastEq(3, c, 4) || c.Compare(3, c, 4) > 0 || !c.Equal(c) || !c.Equal(twin) {
				panic("wrong")
			}
		},
	} {
		require.Zero(t, testing.AllocsPerRun(50, f), name)
	}
}

// A needle that matches almost everywhere, in one long row: quadratic for a
// search that starts anew at each byte.
func TestWhereContainsIsLinear(t *testing.T) {
	for name, needle := range map[string]func(n int) string{
		"differs in the last byte":  func(n int) string { return strings.Repeat("a", n) + "b" },
		"differs in the first byte": func(n int) string { return "b" + strings.Repeat("a", n) },
		"differs in the middle":     func(n int) string { return strings.Repeat("a", n/2) + "b" + strings.Repeat("a", n/2) },
	} {
		t.Run(name, func(t *testing.T) {
			lineartime.Require(t, 1<<15, func(n int) func() {
				c := modelOf(strings.Repeat("a", 2*n)).build(t, MaxStringLen)
				sub := needle(n)
				return func() {
					if len(c.WhereContains(sub)) != 0 {
						panic("found what is not there")
					}
				}
			})
		})
	}
}

// Prefixes that padding could be taken for: of NUL, or that end with it.
func TestPrefixesOfNUL(t *testing.T) {
	texts := []string{""}
	for i := 0; len(texts[i]) < 6; i++ {
		texts = append(texts, texts[i]+"a", texts[i]+"\x00")
	}
	m := model{nil}
	for i := range texts {
		long := texts[i] + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		m = append(m, &texts[i], &long)
	}
	c := m.build(t, MaxStringLen)
	for _, p := range texts {
		requireSelection(t, m.where(func(s string) bool { return strings.HasPrefix(s, p) }), c.WherePrefix(p))
		requireSelection(t, m.where(func(s string) bool { return s == p }), c.WhereEqual(p))
	}
}

// Rows are marked block by block: columns that end before, at and after a border, with
// matches in all places, in dst that grows and that does not.
func TestPredicatesAcrossBlocks(t *testing.T) {
	for _, n := range []int{63, 64, 65, blockRows - 1, blockRows, blockRows + 1, 2*blockRows + 65} {
		m := make(model, n)
		for i := range m {
			// Any order, so that no two blocks are alike; a seventh are null.
			if k := i * 7919 % 99991; k%7 != 0 {
				s := strings.Repeat("ab\x00", k%6) + strings.Repeat("c", k%5)
				m[i] = &s
			}
		}
		c := m.build(t, MaxStringLen)
		dst := make(Selection, 5, 50)
		for _, p := range []string{"a", "ab\x00", "ab\x00a", "ab\x00ab", "ab\x00ab\x00ab\x00ab\x00ab\x00", "cc", "\x00"} {
			want := m.where(func(s string) bool { return strings.HasPrefix(s, p) })
			requireSelection(t, want, c.WherePrefixInto(dst, p))
			requireRows(t, m.take(want), c.FilterByPrefix(p))
			requireSelection(t, m.where(func(s string) bool { return s == p }), c.WhereEqualInto(dst, p))
		}
		for _, b := range [][2]int{{0, 0}, {3, 3}, {1, 7}, {0, 12}, {13, NoBound}, {18, 18}, {90, NoBound}} {
			want := m.where(func(s string) bool { return len(s) >= b[0] && (b[1] < 0 || len(s) <= b[1]) })
			requireSelection(t, want, c.WhereLengthInto(dst, b[0], b[1]))
		}
		valid := m.where(func(string) bool { return true })
		requireSelection(t, valid, c.WhereValidInto(dst))
		requireSelection(t, valid.Not(n), c.WhereNullInto(dst))
		require.Equal(t, n-len(valid), len(c.WhereNull()))
		part, err := c.Slice(n/3, n)
		require.NoError(t, err)
		requireSelection(t, m[n/3:].where(func(string) bool { return true }), part.WhereValid())
		require.Equal(t, part.Len()-part.NullCount(), len(part.WhereValid()))
	}
}
