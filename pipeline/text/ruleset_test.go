package text

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// vocabulary returns n different words of five letters, other ones for each from.
func vocabulary(from, n int) []string {
	out := make([]string, n)
	for i := range out {
		x := from + i
		out[i] = string([]byte{'q', byte('a' + x/17576%26), byte('a' + x/676%26), byte('a' + x/26%26), byte('a' + x%26)})
	}
	return out
}

// sentence returns n words, other ones for each from, two of them stop words.
func sentence(from, n int) string { return "the of " + strings.Join(vocabulary(from, n-2), " ") }

// each joins n pieces, other ones for each number.
func each(n int, separator string, piece func(i int) string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = piece(i)
	}
	return strings.Join(out, separator)
}

// TestGopherRules has for each rule a text that just passes and one that just fails.
func TestGopherRules(t *testing.T) {
	off := GopherBounds{
		MaxWords: math.MaxInt, MaxMeanWordLength: math.Inf(1), MaxHashRatio: math.Inf(1), MaxEllipsisRatio: math.Inf(1),
		MaxBulletLines: 1, MaxEllipsisLines: 1, MaxDuplicateParagraphs: 1, MaxDuplicateParagraphChars: 1,
		MaxDuplicateLines: 1, MaxDuplicateLineChars: 1,
	}
	for i := range off.MaxTopGrams {
		off.MaxTopGrams[i] = math.Inf(1)
	}
	for i := range off.MaxDuplicateGrams {
		off.MaxDuplicateGrams[i] = 1
	}
	paper := DefaultGopherBounds()
	lines := func(n int, mark string) string { // ten, n of which are marked
		return each(10, "\n", func(i int) string {
			if i < n {
				return strings.Replace(mark, "x", sentence(100*i, 9), 1)
			}
			return sentence(100*i, 9)
		})
	}
	repeated := func(n, of int, separator, piece string) string {
		return each(of, separator, func(i int) string {
			if i < n {
				return piece
			}
			return vocabulary(i, 1)[0]
		})
	}
	grams := func(n int) func(k int) string { // n words, k times among 900 characters
		gram := strings.Join(vocabulary(9000, n), " ")
		return func(k int) string {
			s := each(k, " ", func(i int) string { return gram + " " + vocabulary(i, 1)[0] })
			for i := 500; len(s)+6 <= 900; i++ {
				s += " " + vocabulary(i, 1)[0]
			}
			return s + strings.Repeat(" ", 900-len(s))
		}
	}
	type rule struct {
		set        func(*GopherBounds)
		text       func(n int) string
		pass, fail int
	}
	rules := map[Reason]rule{
		ReasonGopherMinWords:          {func(b *GopherBounds) { b.MinWords = paper.MinWords }, func(n int) string { return sentence(0, n) }, 50, 49},
		ReasonGopherMaxWords:          {func(b *GopherBounds) { b.MaxWords = paper.MaxWords }, func(n int) string { return strings.Repeat("a ", n) }, 100_000, 100_001},
		ReasonGopherMinMeanWordLength: {func(b *GopherBounds) { b.MinMeanWordLength = paper.MinMeanWordLength }, func(n int) string { return "abc abcd " + strings.Repeat("a", n) }, 2, 1},
		ReasonGopherMaxMeanWordLength: {func(b *GopherBounds) { b.MaxMeanWordLength = paper.MaxMeanWordLength }, func(n int) string { return "abcdefghij " + strings.Repeat("a", n) }, 10, 11},
		ReasonGopherMaxHashRatio:      {func(b *GopherBounds) { b.MaxHashRatio = paper.MaxHashRatio }, func(n int) string { return strings.Repeat("a ", 90) + strings.Repeat("# ", n) }, 10, 11},
		ReasonGopherMaxEllipsisRatio:  {func(b *GopherBounds) { b.MaxEllipsisRatio = paper.MaxEllipsisRatio }, func(n int) string { return strings.Repeat("a ", 90) + strings.Repeat("... … ", n/2) }, 10, 12},
		ReasonGopherMaxBulletLines:    {func(b *GopherBounds) { b.MaxBulletLines = paper.MaxBulletLines }, func(n int) string { return lines(n, " • x") }, 9, 10},
		ReasonGopherMaxEllipsisLines:  {func(b *GopherBounds) { b.MaxEllipsisLines = paper.MaxEllipsisLines }, func(n int) string { return lines(n, "x… ") }, 3, 4},
		ReasonGopherMinAlphabeticWords: {func(b *GopherBounds) { b.MinAlphabeticWords = paper.MinAlphabeticWords },
			func(n int) string { return strings.Repeat("a ", n) + strings.Repeat("7 ", 100-n) }, 80, 79},
		ReasonGopherMinStopWords: {func(b *GopherBounds) { b.MinStopWords, b.StopWords = 2, paper.StopWords },
			func(n int) string { return strings.Join(paper.StopWords[:n], " ") + " The the," }, 2, 1},
		ReasonGopherMaxDuplicateParagraphs: {func(b *GopherBounds) { b.MaxDuplicateParagraphs = paper.MaxDuplicateParagraphs },
			func(n int) string { return repeated(n+1, 10, "\n\n", "a") }, 3, 4},
		ReasonGopherMaxDuplicateParagraphChars: {func(b *GopherBounds) { b.MaxDuplicateParagraphChars = paper.MaxDuplicateParagraphChars },
			func(n int) string {
				s := strings.Repeat("a", n) + "\n\n" + strings.Repeat("a", n) + "\n\n"
				return s + strings.Repeat("b", 100-len(s))
			}, 20, 21},
		ReasonGopherMaxDuplicateLines: {func(b *GopherBounds) { b.MaxDuplicateLines = paper.MaxDuplicateLines },
			func(n int) string { return repeated(n+1, 10, "\n", "a") }, 3, 4},
		ReasonGopherMaxDuplicateLineChars: {func(b *GopherBounds) { b.MaxDuplicateLineChars = paper.MaxDuplicateLineChars },
			func(n int) string {
				s := strings.Repeat("é", n) + "\n" + strings.Repeat("é", n) + "\n"
				return s + strings.Repeat("b", 100-2*n-2)
			}, 20, 21},
	}
	// Of 900 characters a row of n words of 5 letters, k times, is k·(6n−1), or of
	// their letters, the first time aside, (k−1)·5n.
	for i, n := range []int{2, 3, 4} {
		pass := int(paper.MaxTopGrams[i] * 900 / float64(6*n-1))
		rules[ReasonGopherMaxTop2Grams+Reason(i)] = rule{func(b *GopherBounds) { b.MaxTopGrams[i] = paper.MaxTopGrams[i] }, grams(n), pass, pass + 1}
	}
	for i, n := range []int{5, 6, 7, 8, 9, 10} {
		pass := int(paper.MaxDuplicateGrams[i]*900/float64(5*n)) + 1
		rules[ReasonGopherMaxDuplicate5Grams+Reason(i)] = rule{func(b *GopherBounds) { b.MaxDuplicateGrams[i] = paper.MaxDuplicateGrams[i] }, grams(n), pass, pass + 1}
	}
	m := NewMeasurer()
	for r := ReasonGopherMinWords; r <= ReasonGopherMaxDuplicate10Grams; r++ {
		x := rules[r]
		b := off
		x.set(&b)
		q := newQuality(t, WithGopher(b))
		pass, fail := []byte(x.text(x.pass)), []byte(x.text(x.fail))
		require.Equal(t, Verdict{}, q.Check(m, pass), "%s", r)
		v := q.Check(m, fail)
		require.Equal(t, r, v.Reason, "%s", r)
		all := q.MeasureGopher(m, fail)
		require.Equal(t, v, b.Judge(&all))
		all = q.MeasureGopher(m, pass)
		require.Equal(t, Verdict{}, b.Judge(&all))
	}
}

func TestFinewebRules(t *testing.T) {
	m := NewMeasurer()
	off := FinewebBounds{MaxShortLines: 1, MaxDuplicateLineChars: 1, MaxNewlineRatio: math.Inf(1)}
	paper := DefaultFinewebBounds()
	lines := func(n, of int, mark string) string {
		return each(of, "\n", func(i int) string {
			if i < n {
				return fmt.Sprint(i) + mark
			}
			return fmt.Sprint(i) + strings.Repeat("x", 40)
		})
	}
	for r, x := range map[Reason]struct {
		set        func(*FinewebBounds)
		text       func(n int) string
		pass, fail int
	}{
		ReasonFinewebMinPunctuatedLines: {func(b *FinewebBounds) { b.MinPunctuatedLines = paper.MinPunctuatedLines },
			func(n int) string { return lines(n, 100, "。") + "\n\n \n" }, 12, 11},
		ReasonFinewebMaxShortLines: {func(b *FinewebBounds) { b.MaxShortLines, b.ShortLine = paper.MaxShortLines, paper.ShortLine },
			func(n int) string { return lines(n, 100, "x") }, 67, 68},
		ReasonFinewebMaxDuplicateLineChars: {func(b *FinewebBounds) { b.MaxDuplicateLineChars = paper.MaxDuplicateLineChars },
			func(n int) string {
				return strings.Repeat("é", n) + "\n" + strings.Repeat("é", n) + "\n" + strings.Repeat("b", 1000-2*n)
			}, 10, 11},
		ReasonFinewebMaxNewlineRatio: {func(b *FinewebBounds) { b.MaxNewlineRatio = paper.MaxNewlineRatio },
			func(n int) string { return strings.Repeat("a ", 100) + strings.Repeat("\n", n) }, 30, 31},
	} {
		b := off
		x.set(&b)
		q := newQuality(t, WithFineweb(b))
		require.Equal(t, Verdict{}, q.Check(m, []byte(x.text(x.pass))), "%s", r)
		v := q.Check(m, []byte(x.text(x.fail)))
		require.Equal(t, r, v.Reason, "%s", r)
		all := q.MeasureFineweb(m, []byte(x.text(x.fail)))
		require.Equal(t, v, b.Judge(&all))
	}
	short := newQuality(t, WithFineweb(FinewebBounds{ShortLine: 30, MaxDuplicateLineChars: 1, MaxNewlineRatio: 1}))
	require.Equal(t, ReasonFinewebMaxShortLines, short.Check(m, []byte(strings.Repeat("語", 30))).Reason)
	require.True(t, short.Check(m, []byte(strings.Repeat("語", 31))).Kept())
}

// TestC4Lines says of each line what becomes of it.
func TestC4Lines(t *testing.T) {
	open := DefaultC4Bounds()
	open.MinSentences = 0
	q := newQuality(t, WithC4(open))
	m := NewMeasurer()
	long := strings.Repeat("x", 1000)
	for in, want := range map[string]string{
		"It is a line.":                      "It is a line.",
		"  It is a line?\t":                  "It is a line?",
		"It is a line":                       "",
		"It is a line...":                    "",
		"It is a line!...":                   "",
		"Two words.":                         "",
		"日本語の文章です。":                          "日本語の文章です。",
		`He "said it"`:                       `He "said it"`,
		"We see it[12] and[edit] go[ 3].":    "We see it and go[ 3].",
		"It ends in a citation.[1]":          "It ends in a citation.",
		"It ends in a citation. [1]":         "",
		"Enable JavaScript to go on.":        "",
		"Read our PRIVACY policy here.":      "",
		"We tell of the use of cookies.":     "",
		"It has a " + long + " word.":        "It has a " + long + " word.",
		"It has a " + long + "x word.":       "",
		"one two three." + "\n\n" + "no":     "one two three.",
		"one two three.\r\nfour five six.":   "one two three.\nfour five six.",
		"one two three.\rno\rfour five six.": "one two three.\nfour five six.",
		"":                                   "",
	} {
		scratch := []byte("old")
		out, v := q.Filter(m, &scratch, []byte(in))
		require.True(t, v.Kept(), in)
		require.Equal(t, want, string(out), in)
		again, _ := q.Filter(m, new([]byte), out)
		require.Equal(t, want, string(again), in)
	}
	keep := open
	keep.KeepUnpunctuated, keep.KeepJavascript, keep.KeepPolicies, keep.KeepCitations, keep.KeepLoremIpsum, keep.KeepCurly = true, true, true, true, true, true
	keep.MinLineWords, keep.MaxWordLength = 0, 0
	all := "no\n" + long + "x\njavascript\nuse cookies[1]\nlorem ipsum {"
	out, v := newQuality(t, WithC4(keep)).Filter(m, new([]byte), []byte(all))
	require.True(t, v.Kept())
	require.Equal(t, all, string(out))

	for in, want := range map[string]Verdict{
		"It has LOREM ipsum in it.":              {ReasonC4LoremIpsum, 1, 0},
		"It has lorem ipsum in it":               {},
		"It has a { in it.":                      {ReasonC4CurlyBracket, 1, 0},
		"A b {.\nIt has lorem ipsum in it.":      {ReasonC4CurlyBracket, 1, 0},
		"It has lorem ipsum.\nIt has a { in it.": {ReasonC4LoremIpsum, 1, 0},
	} {
		require.Equal(t, want, q.Check(m, []byte(in)), in)
	}
}

// TestC4Phrases compares with a search of package bytes in the lower case.
func TestC4Phrases(t *testing.T) {
	var l lineMemory
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"lorem ipsum", "Java", "script", "javascript", "TERMS of Use", "terms", " of use", "Privacy Policy", "cookie", " policy",
			"uses ", "use ", "use of ", "cookies", "\u212aookies", "policİ", " ", "x", "é", strings.Repeat("-", 50),
		})
		ahead := rapid.IntRange(55, 63).Draw(t, "ahead") // a phrase across the first blocks, often
		s := []byte(strings.Repeat("-", ahead) + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "text"), ""))
		var want phrase
		lower := bytes.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return unicode.ToLower(r)
			}
			return r
		}, s)
		for _, p := range phraseTexts {
			if bytes.Contains(lower, []byte(p.text)) {
				want |= p.phrase
			}
		}
		require.Equal(t, want, l.phrases(s), "%q", s)
	})
}

// TestC4SentencesCodePointByCodePoint compares with a walk that looks at each.
func TestC4SentencesCodePointByCodePoint(t *testing.T) {
	k := kinds()
	walk := func(line string) int {
		n, ended, letters := 1, false, 0
		var last kind
		for i, r := range line {
			is, dotted := k.of(r), i+1 < len(line) && line[i+1] == '.' || i > 0 && line[i-1] == '.'
			switch {
			case is&kindWord != 0:
				letters++
				last = is
				if ended {
					n++
					ended = false
				}
				continue
			case r == '.' && k.joins([]byte(line[i:]), last, letters):
				letters = 0
				continue
			}
			letters = 0
			ended = ended || is&kindTerminal != 0 && !(r == '.' && dotted)
			if ended && is&(kindSpace|kindPunct) == 0 {
				n++
				ended = false
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			".", ".", ". ", "..", "!", "?", "\"", ")", "J", "e", "g", "The", "end", "3", "_", "é", "É", "文", "。", "\u0308", " ", "$", "\xe6", strings.Repeat("word ", 9),
		})
		line := strings.Join(rapid.SliceOfN(piece, 1, 30).Draw(t, "line"), "")
		require.Equal(t, walk(line), sentences([]byte(line), k), "%q", line)
	})
}

func TestC4Sentences(t *testing.T) {
	for in, want := range map[string]int{
		"One.": 1, "One. Two.": 2, "What?! Yes. ": 2, "One... two.": 1, "J. Smith met e.g. Bob.": 1, "It is 3.5 or a.b here.": 1,
		"One. ___": 2, `He said "no." She went.`: 2, "One (two.) Three.": 2, "文。文！文": 3, "no end": 1, "end.Next": 2,
	} {
		require.Equal(t, want, sentences([]byte(in), kinds()), in)
	}
	q, m := newQuality(t, WithPreset(PresetC4)), NewMeasurer()
	four := "It is one. It is two. It is three. It is four."
	require.Equal(t, Verdict{ReasonC4MinSentences, 4, 5}, q.Check(m, []byte(four)))
	require.Equal(t, Verdict{}, q.Check(m, []byte(four+"\nIt is five.\nNot counted")))

	keep := newQuality(t, WithC4(C4Bounds{KeepUnpunctuated: true}))
	require.Equal(t, 2, keep.MeasureC4(m, []byte("one\n\n \ntwo")).Sentences, "lines of nothing have none")
}

// TestRuleSetsInOrder lets a set see what the one before left, alone and fused.
func TestRuleSetsInOrder(t *testing.T) {
	good := each(6, "\n", func(i int) string { return sentence(100*i, 12) + "." })
	in := good + "\n" + each(40, "\n", func(i int) string { return "menu" })
	m := NewMeasurer()
	require.Equal(t, ReasonGopherMaxDuplicateLines, newQuality(t, WithPreset("gopher+c4")).Check(m, []byte(in)).Reason)
	q := newQuality(t, WithPreset("c4+gopher+fineweb"))
	out, v := q.Filter(m, new([]byte), []byte(in))
	require.Equal(t, Verdict{}, v)
	require.Equal(t, good, string(out))

	var b stringtensor.Builder
	for _, s := range []string{in, good, good + " Write to bob@example.org.", "short"} {
		b.AppendString(s)
	}
	f, err := NewFusedPipeline(WithQuality(q))
	require.NoError(t, err)
	r, err := f.Process(b.Finish())
	require.NoError(t, err)
	require.Equal(t, stringtensor.Selection{0, 2}, r.Rows)
	require.Equal(t, good, string(r.Column.Bytes(0)))
	require.Equal(t, good+" Write to [EMAIL].", string(r.Column.Bytes(1)))
	require.Equal(t, []Drop{{1, StageDedup, Verdict{ReasonDuplicate, 1, 0}}, {3, StageQuality, Verdict{ReasonC4MinSentences, 0, 5}}}, r.Drops)
}

func TestRuleSetOptions(t *testing.T) {
	for _, o := range []QualityOption{
		WithPreset("gopher+"), WithPreset("c4+c4"), WithWords(7), WithC4(C4Bounds{MinSentences: -1}),
		WithGopher(GopherBounds{MaxHashRatio: math.NaN()}), WithGopher(GopherBounds{MinWords: -1}), WithFineweb(FinewebBounds{MaxShortLines: -0.1}),
	} {
		_, err := NewQualityFilter(o)
		require.ErrorIs(t, err, ErrOption)
	}
	// Bounds given later change those of the preset, in their place.
	b := DefaultGopherBounds()
	b.MinWords = 1
	q := newQuality(t, WithPreset("gopher+c4"), WithGopher(b))
	require.Equal(t, newQuality(t, WithGopher(b), WithC4(DefaultC4Bounds())), q)
	b.StopWords[0] = "changed"
	require.Equal(t, 1, q.MeasureGopher(NewMeasurer(), []byte("the")).StopWords)
}

// TestRuleSetsAreLinear runs all rules on hostile texts.
func TestRuleSetsAreLinear(t *testing.T) {
	open := DefaultC4Bounds()
	open.MinSentences, open.KeepUnpunctuated = 0, true
	q := newQuality(t, WithC4(open))
	m := NewMeasurer()
	requireLinear(t, 1<<13, func(s []byte) {
		q.MeasureGopher(m, s)
		q.MeasureFineweb(m, s)
		q.Filter(m, new([]byte), s)
	})
}

// TestRuleSetsAllocateNothing once they have seen a text of the kind.
func TestRuleSetsAllocateNothing(t *testing.T) {
	q, m := newQuality(t, WithPreset("gopher+c4+fineweb")), NewMeasurer()
	texts := [][]byte{
		[]byte(each(20, "\n", func(i int) string { return sentence(100*i, 12) + "." }) + "\nmenu"),
		[]byte(strings.Repeat("日本語の文章です。\n", 50)),
	}
	var scratch []byte
	run := func() {
		for _, s := range texts {
			q.Filter(m, &scratch, s)
		}
	}
	run()
	require.Zero(t, testing.AllocsPerRun(10, run))
}
