package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// cleanKw are the arguments of the cleaner in the goldens.
type cleanKw struct {
	Trim     *bool `json:"trim_whitespace"`
	Newlines *bool `json:"normalize_newlines"`
	Min      int   `json:"min_byte_len"`
	Max      int   `json:"max_byte_len"`
	Truncate bool  `json:"truncate_over_max"`
}

func (k cleanKw) options() []CleanOption {
	return []CleanOption{
		WithTrim(k.Trim == nil || *k.Trim), WithNewlines(k.Newlines == nil || *k.Newlines),
		WithMinBytes(k.Min), WithMaxBytes(k.Max), WithTruncate(k.Truncate),
	}
}

func newCleaner(t require.TestingT, opts ...CleanOption) *TextCleaner {
	c, err := NewTextCleaner(opts...)
	require.NoError(t, err)
	return c
}

func TestCleanGoldens(t *testing.T) {
	type golden struct {
		ID  string
		Kw  cleanKw
		In  string
		Out *string
	}
	deviations := readDeviations(t)
	for _, g := range readGoldens[golden](t, "clean_text.jsonl") {
		out, v := newCleaner(t, g.Kw.options()...).CleanString(g.In)
		equal := v.Kept() == (g.Out != nil) && (g.Out == nil || *g.Out == out)
		requireGolden(t, deviations, g.ID, equal, "%q became %q, %v", g.In, out, v)
	}
}

func TestCleanBatchGoldens(t *testing.T) {
	type golden struct {
		ID  string
		Kw  cleanKw
		In  []string
		Out []string
	}
	deviations := readDeviations(t)
	for _, g := range readGoldens[golden](t, "clean_batch.jsonl") {
		c, out := newCleaner(t, g.Kw.options()...), []string{}
		for _, s := range g.In {
			if s, v := c.CleanString(s); v.Kept() {
				out = append(out, s)
			}
		}
		requireGolden(t, deviations, g.ID, equalStrings(out, g.Out), "%q became %q, want %q", g.In, out, g.Out)
	}
}

func equalStrings(a, b []string) bool {
	return strings.Join(a, "\x00|") == strings.Join(b, "\x00|") && len(a) == len(b)
}

// TestCleanKeeps holds the cleaner to what it must not touch: width, ligatures,
// combining marks, and what only looks like a space.
func TestCleanKeeps(t *testing.T) {
	c := newCleaner(t)
	for _, s := range []string{
		"，。１", "\ufa67", "ﬁ", "u\u0308", "\ufeffa\ufeff", "\u200ba\u200b", "\x1ca\x1f", "\u180ea",
		"a\x00b", "a  b\tc", "\xff\xfe", "a\xed\xa0\x80b", "\xc2",
	} {
		out, v := c.CleanString(s)
		require.True(t, v.Kept())
		require.Equal(t, s, out)
	}
}

// TestCleanAliases checks that nothing is copied where nothing inside changes.
func TestCleanAliases(t *testing.T) {
	c := newCleaner(t, WithMaxBytes(6), WithTruncate(true))
	s := []byte("\r\n  abcdefgh \r")
	var scratch []byte
	out, _ := c.Clean(&scratch, s)
	require.Equal(t, "abcdef", string(out))
	require.Same(t, &s[4], &out[0])
	require.Nil(t, scratch)
}

func TestCleanVerdicts(t *testing.T) {
	c := newCleaner(t, WithMinBytes(3), WithMaxBytes(5))
	for in, want := range map[string]Verdict{
		" ab ":     {ReasonMinBytes, 2, 3},
		"abcdef\n": {ReasonMaxBytes, 6, 5},
		"abc":      {},
		"abcde":    {},
		"  é ":     {ReasonMinBytes, 2, 3},
	} {
		_, v := c.CleanString(in)
		require.Equal(t, want, v, in)
	}
}

// TestCutPoint cuts at every length and compares with a scan over the code
// points from the front.
func TestCutPoint(t *testing.T) {
	for _, s := range []string{
		"a𝄞b日é", "日本語", "\x80\x80\x80\x80\x80", "\xf0\x9d\x84x\xf0\x9d", "é\xe6\x97日", strings.Repeat("\x9d", 40),
	} {
		for n := range len(s) {
			want := 0
			for i := 0; i <= n; {
				want = i
				_, size := utf8.DecodeRuneInString(s[i:])
				i += size
			}
			require.Equal(t, want, cutPoint([]byte(s), n), "%q at %d", s, n)
		}
	}
}

func TestCleanerOptions(t *testing.T) {
	for _, opts := range [][]CleanOption{
		{WithMinBytes(-1)}, {WithMaxBytes(-1)}, {WithTruncate(true)},
	} {
		_, err := NewTextCleaner(opts...)
		require.ErrorIs(t, err, ErrOption)
	}
}

// drawText draws texts of what trips text code: line ends, spaces of all
// widths, words that repeat, marks, and bytes that are not UTF-8.
func drawText(t *rapid.T, label string) string {
	piece := rapid.SampledFrom([]string{
		"\r", "\n", "\r\n", " ", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "a", "b", "the", "and", "eightchr",
		"sixteencharacter", "seventeen-letters", "é", "日本", "語。", "𝄞", "😀", "u\u0308", "\u200b", "\ufeff", "\x00", "!",
		"?!", "42", "٣", "\xff", "\x80", "\xe6\x97", "\xed\xa0\x80", "\xf0\x9d", "a@b.example", "10.1.2.3", "x.y:z",
	})
	parts := rapid.SliceOfN(piece, 0, 80).Draw(t, label)
	return strings.Join(parts, "")
}

// naiveClean is the cleaner written with package strings, without a bound of
// the greatest length.
func naiveClean(s string, trim, newlines bool) string {
	if newlines {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if trim {
		s = strings.TrimSpace(s)
	}
	return s
}

// TestTextEndsAreThoseOfStrings compares with package strings, for each code point of
// White_Space and what is written like one.
func TestTextEndsAreThoseOfStrings(t *testing.T) {
	check := func(t require.TestingT, s string) {
		from, to := textEnds([]byte(s))
		require.Equal(t, strings.TrimSpace(s), s[from:to], "%q", s)
	}
	for r := rune(0); r <= 0x3100; r++ {
		for _, x := range []string{string(r), "\n" + string(r), string(r) + "\n", string(rune(r&0xff)) + string(r)} {
			check(t, "text of some bytes"+x)
			check(t, x+"text of some bytes")
		}
	}
	for b := range 256 {
		for n := range 10 {
			x := strings.Repeat(string([]byte{byte(b)}), n)
			check(t, "text of some bytes"+x)
			check(t, x+"text of some bytes")
			check(t, "123456 "+x+" 123456")
		}
	}
	for n := 13; n < 40; n++ {
		check(t, strings.Repeat(" ", n))
		check(t, strings.Repeat("\n", n/2)+"x"+strings.Repeat("\t", n-n/2-1))
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := drawText(t, "text"); len(s) >= 13 {
			check(t, s)
		}
	})
}

func TestCleanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trim, newlines := rapid.Bool().Draw(t, "trim"), rapid.Bool().Draw(t, "newlines")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		s := drawText(t, "text")
		plain := newCleaner(t, WithTrim(trim), WithNewlines(newlines))
		checkClean(t, plain, s, naiveClean(s, trim, newlines))

		opts := []CleanOption{WithTrim(trim), WithNewlines(newlines), WithMaxBytes(limit), WithTruncate(limit > 0)}
		cut := newCleaner(t, opts...)
		once, v := cut.CleanString(s)
		require.True(t, v.Kept())
		whole, _ := plain.CleanString(s)
		require.True(t, strings.HasPrefix(whole, once))
		if limit > 0 {
			require.LessOrEqual(t, len(once), limit)
			require.Greater(t, len(once)+utf8.UTFMax, min(limit, len(whole)))
		}
		// The one exception to idempotence: a cut behind white space.
		twice, _ := cut.CleanString(once)
		require.Equal(t, naiveClean(once, trim, false), twice)
	})
}

// checkClean compares with the model and cleans twice.
func checkClean(t require.TestingT, c *TextCleaner, s, want string) {
	in := []byte(s)
	scratch := []byte("left from before")
	once, v := c.Clean(&scratch, in)
	require.True(t, v.Kept())
	require.Equal(t, want, string(once))
	require.Equal(t, s, string(in), "the input was changed")
	twice, v := c.Clean(&scratch, bytes.Clone(once))
	require.True(t, v.Kept())
	require.Equal(t, want, string(twice), "not idempotent")
}

func TestCleanIsLinear(t *testing.T) {
	c := newCleaner(t)
	var scratch []byte
	requireLinear(t, 64<<10, func(s []byte) { c.Clean(&scratch, s) })
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", " a ", "a\r\nb\r", "\r\r\n", "\u00a0x\u3000", "\xe3\x80", "\xff \xc2\x85", "日本\r語"} {
		f.Add(s, true, true)
		f.Add(s, false, true)
		f.Add(s, true, false)
	}
	f.Fuzz(func(t *testing.T, s string, trim, newlines bool) {
		checkClean(t, newCleaner(t, WithTrim(trim), WithNewlines(newlines)), s, naiveClean(s, trim, newlines))
	})
}

func TestCleanRepairs(t *testing.T) {
	c, err := NewTextCleaner(WithRepairs(RepairMojibake|RepairControl|RepairZeroWidth|RepairNFC), WithMaxBytes(40))
	require.NoError(t, err)
	texts := []string{"plain", "\u200b  cafÃ©\r\n\x00au lait\u00a0", "e\u0301\rx", " nothing inside ", "\x00\x00", "Ã©" + strings.Repeat("x", 50), ""}
	want := []string{"plain", "café\nau lait", "é\nx", "nothing inside", "", "", ""}
	dropped := 5
	var scratch []byte
	for i, s := range texts {
		got, v := c.Clean(&scratch, []byte(s))
		require.Equal(t, i != dropped, v.Kept(), "%q", s)
		if v.Kept() {
			require.Equal(t, want[i], string(got))
		}
	}
	col, err := stringtensor.FromStrings(texts)
	require.NoError(t, err)
	cleaned, err := c.CleanColumn(col)
	require.NoError(t, err)
	require.NoError(t, cleaned.Column.ValidateUTF8())
	f, err := NewFusedPipeline(WithStages(StageClean), WithCleaner(c))
	require.NoError(t, err)
	fused, err := f.Process(col)
	require.NoError(t, err)
	kept := append(append([]string{}, want[:dropped]...), want[dropped+1:]...)
	require.Equal(t, kept, cleaned.Column.Strings())
	require.Equal(t, kept, fused.Column.Strings())
	require.Equal(t, fused.Drops, cleaned.Drops)

	_, err = NewTextCleaner(WithRepairs(repairEnd))
	require.ErrorIs(t, err, ErrOption)
}

// TestRepairsAreOff holds what cleaning leaves alone unless it is asked.
func TestRepairsAreOff(t *testing.T) {
	for _, s := range []string{"cafÃ©", "a\x00b", "a\u200bb", "e\u0301", "，。１", "\ufa67", "ﬁ", "u\u0308"} {
		var scratch []byte
		got, v := newCleaner(t).Clean(&scratch, []byte(s))
		require.True(t, v.Kept())
		require.Equal(t, s, string(got))
	}
}
