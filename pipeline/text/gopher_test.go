package text

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestGopherVerdictIsThatOfMetrics holds texts to bounds at their own metrics and right
// beside them, where a verdict that looks at less than all metrics must be the same.
func TestGopherVerdictIsThatOfMetrics(t *testing.T) {
	m, measuring := NewMeasurer(), newQuality(t)
	reasons := map[Reason]bool{}
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"the ", "be ", "with ", "thee ", "x ", "a-b ", "it's ", "l’été ", "日本語 ", "3.14 ", "# ", "… ", "... ", "...\n", "…\r", "\n- ", "\n• ", "\r\n", "\n\n",
			"one line of these\n", "one paragraph\n\n", "a much longer phrase of ten words that comes again ", "_ ", "\u00a0",
		})
		s := []byte(strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "text"), ""))
		x := measuring.MeasureGopher(m, s)
		p := m.rules.pieces.paragraphs(s)
		require.Equal(t, []float64{p.share(), ratio(p.chars, utf8.RuneCount(s))}, []float64{x.DuplicateParagraphs, x.DuplicateParagraphChars}, "%q", s)
		least := func(v float64) float64 {
			return rapid.SampledFrom([]float64{0, 0, v, math.Nextafter(v, 9e9)}).Draw(t, "least")
		}
		most := func(v float64) float64 {
			return rapid.SampledFrom([]float64{9e9, 9e9, v, max(0, math.Nextafter(v, -1))}).Draw(t, "most")
		}
		b := GopherBounds{
			MinWords: int(math.Ceil(least(float64(x.Words)))), MaxWords: int(most(float64(x.Words))),
			MinMeanWordLength: least(x.MeanWordLength), MaxMeanWordLength: most(x.MeanWordLength),
			MaxHashRatio: most(x.HashRatio), MaxEllipsisRatio: most(x.EllipsisRatio),
			MaxBulletLines: most(x.BulletLines), MaxEllipsisLines: most(x.EllipsisLines),
			MinAlphabeticWords: least(x.AlphabeticWords),
			MinStopWords:       int(math.Ceil(least(float64(x.StopWords)))), StopWords: defaultGopher.StopWords,
			MaxDuplicateParagraphs: most(x.DuplicateParagraphs), MaxDuplicateParagraphChars: most(x.DuplicateParagraphChars),
			MaxDuplicateLines: most(x.DuplicateLines), MaxDuplicateLineChars: most(x.DuplicateLineChars),
		}
		for i, v := range x.TopGrams {
			b.MaxTopGrams[i] = most(v)
		}
		for i, v := range x.DuplicateGrams {
			b.MaxDuplicateGrams[i] = most(v)
		}
		q, err := NewQualityFilter(WithGopher(b))
		require.NoError(t, err)
		want := b.Judge(&x)
		require.Equal(t, want, q.Check(m, s), "%q", s)
		reasons[want.Reason] = true
	})
	require.Greater(t, len(reasons), 2, "few rules drop a text")
}

// TestGopherTrimmedParagraphs has paragraphs that are equal without the white space at the
// ends of the text, and whose lines are not.
func TestGopherTrimmedParagraphs(t *testing.T) {
	x := newQuality(t).MeasureGopher(NewMeasurer(), []byte(" one paragraph\n\none paragraph"))
	require.Equal(t, 0.5, x.DuplicateParagraphs)
	require.Zero(t, x.DuplicateLines)
}
