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

	"github.com/rosaline-go/rosaline/cpu"
)

// naiveMetrics is the definition of the metrics, with maps of runes and of
// strings and with package unicode.
func naiveMetrics(s string) (m Metrics) {
	count := map[rune]int{}
	visible, symbols := 0, 0
	for _, r := range s {
		m.Chars++
		count[r]++
		if unicode.IsSpace(r) {
			continue
		}
		visible++
		if !unicode.In(r, unicode.L, unicode.N, unicode.Other_Alphabetic, unicode.Other_Lowercase, unicode.Other_Uppercase) {
			symbols++
		}
	}
	for _, n := range count {
		p := float64(n) / float64(m.Chars)
		m.Entropy -= p * math.Log2(p)
	}
	if visible > 0 {
		m.SymbolRatio = float64(symbols) / float64(visible)
	}
	words := strings.Fields(s)
	m.Words = len(words)
	if len(words) >= 4 {
		m.Repetition = 1 - float64(naiveTriples(words))/float64(len(words)-2)
	}
	return m
}

// naiveTriples counts distinct word triples.
func naiveTriples(words []string) int {
	triples := map[[3]string]bool{}
	for i := 2; i < len(words); i++ {
		triples[[3]string(words[i-2:i+1])] = true
	}
	return len(triples)
}

// requireMetrics compares metrics: counts exactly, floats to 1e-12.
func requireMetrics(t require.TestingT, want, got Metrics, in string) {
	label := in[:min(len(in), 200)]
	require.Equal(t, want.Chars, got.Chars, "chars of %q", label)
	require.Equal(t, want.Words, got.Words, "words of %q", label)
	require.InDelta(t, want.Entropy, got.Entropy, 1e-12, "entropy of %q", label)
	require.InDelta(t, want.Repetition, got.Repetition, 1e-12, "repetition of %q", label)
	require.InDelta(t, want.SymbolRatio, got.SymbolRatio, 1e-12, "symbol ratio of %q", label)
}

func TestMetricsGoldens(t *testing.T) {
	type golden struct {
		ID, In      string
		Chars       int
		Words       int
		Entropy     float64
		Repetition  float64
		Symbol      float64
		Pretraining bool `json:"pretraining_pass"`
	}
	deviations := readDeviations(t)
	q := newQuality(t, WithPreset(PresetPretraining))
	m := NewMeasurer()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }
	for _, g := range readGoldens[golden](t, "quality_metrics.jsonl") {
		got := m.Measure([]byte(g.In))
		equal := got.Chars == g.Chars && got.Words == g.Words && near(got.Entropy, g.Entropy) &&
			near(got.Repetition, g.Repetition) && near(got.SymbolRatio, g.Symbol) &&
			q.Judge(got).Kept() == g.Pretraining
		requireGolden(t, deviations, g.ID, equal, "%+v, want %+v", got, g)
	}
}

// TestMetricsEdges are texts on which others divide by zero or miscount.
func TestMetricsEdges(t *testing.T) {
	m := NewMeasurer()
	for _, s := range []string{
		"", " ", "   ", "!!!", "\n", "\u3000\u3000", "a", "\xff", "\x00", strings.Repeat("a", 3), strings.Repeat("é", 3),
		strings.Repeat("日本語の文章です。", 200), "a b c", "a b c d", "a a a a", "\ufffd\xff", "\xf0\x9d\x84", "\xed\xa0\x80",
	} {
		got := m.Measure([]byte(s))
		requireMetrics(t, naiveMetrics(s), got, s)
		for _, x := range []float64{got.Entropy, got.Repetition, got.SymbolRatio} {
			require.False(t, math.IsNaN(x) || math.IsInf(x, 0) || x < 0, "%q", s)
		}
	}
	require.Zero(t, m.Measure([]byte(strings.Repeat("z", 1000))).Entropy, "one kind of character has no entropy at all")
	require.Equal(t, Metrics{Chars: 1, Words: 1, SymbolRatio: 1}, m.Measure([]byte("\xff")))
}

// TestMetricsAtBlockBorders moves each piece over the borders of the 64-byte
// blocks.
func TestMetricsAtBlockBorders(t *testing.T) {
	m := NewMeasurer()
	for _, piece := range []string{
		" ", "\u0085", "\u3000", "𝄞", "é", "x", "!", "\xff", "\xe6\x97", "\xf0\x9d\x84", "\u2028\u2028", "a\u00a0b",
		"eightchr", "sixteencharacter", "  日 本 ",
	} {
		for at := range 130 {
			for _, fill := range []string{"w", "w ", "é"} {
				s := strings.Repeat(fill, at/len(fill)) + strings.Repeat("-", at%len(fill)) + piece
				requireMetrics(t, naiveMetrics(s), m.Measure([]byte(s)), s)
				s += " the end of it the end of it"
				requireMetrics(t, naiveMetrics(s), m.Measure([]byte(s)), s)
			}
		}
	}
}

func TestMetricsProperties(t *testing.T) {
	m := NewMeasurer() // one for all, so that what a text leaves behind shows
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, "text")
		requireMetrics(t, naiveMetrics(s), m.Measure([]byte(s)), s)
		s = string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes"))
		requireMetrics(t, naiveMetrics(s), m.Measure([]byte(s)), s)
	})
}

func FuzzMeasure(f *testing.F) {
	for _, s := range []string{"", "a b a b a b", "日本 語。\u3000x", "\xff\xfe \x80", "!!!", strings.Repeat("word ", 30), "é\u2028é"} {
		f.Add([]byte(s))
	}
	m := NewMeasurer()
	f.Fuzz(func(t *testing.T, s []byte) {
		requireMetrics(t, naiveMetrics(string(s)), m.Measure(s), string(s))
	})
}

// TestTriplesAgainstMap compares the count of distinct triples, by 64-bit hash,
// with a map of string triples: words of every length around the loads of eight
// and sixteen bytes, words that differ in one bit, in length only, in order.
func TestTriplesAgainstMap(t *testing.T) {
	m := NewMeasurer()
	check := func(words []string) {
		t.Helper()
		s := strings.Join(words, " ")
		want := 1 - float64(naiveTriples(words))/float64(len(words)-2)
		require.InDelta(t, want, m.Measure([]byte(s)).Repetition, 1e-12, "%.80q", s)
	}
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 64, 200} {
		base := strings.Repeat("k", n)
		var words []string
		for i := range n { // one byte differs
			for _, c := range "jlKz0" {
				words = append(words, base[:i]+string(c)+base[i+1:])
			}
		}
		check(append(words, base, base, base, base))
		for i := range words { // every triple has the same two words beside it
			words[i] += " same pair"
		}
		check(strings.Fields(strings.Join(words, " ")))
	}
	var lengths []string
	for n := 1; n < 300; n++ {
		lengths = append(lengths, strings.Repeat("\x01", n))
	}
	check(lengths)
	var counters []string
	for i := range 20000 {
		counters = append(counters, fmt.Sprintf("%08d", i), fmt.Sprintf("%016d", i%700))
	}
	check(counters)
	// All orders of the same words: sums of hashes would be equal.
	var orders []string
	for i := range 8 {
		for j := range 8 {
			for k := range 8 {
				orders = append(orders, fmt.Sprint("w", i), fmt.Sprint("w", j), fmt.Sprint("w", k))
			}
		}
	}
	check(orders)
}

func TestTriplesProperty(t *testing.T) {
	m := NewMeasurer()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("ab"))
		vocabulary := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			n := rapid.SampledFrom([]int{1, 2, 7, 8, 9, 15, 16, 17, 33}).Draw(t, "length")
			return string(rapid.SliceOfN(letters, n, n).Draw(t, "word"))
		}), 1, 5).Draw(t, "vocabulary")
		words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 4, 200).Draw(t, "words")
		want := 1 - float64(naiveTriples(words))/float64(len(words)-2)
		require.InDelta(t, want, m.Measure([]byte(strings.Join(words, " "))).Repetition, 1e-12)
	})
}

// TestLargeDistinct makes the triple set grow, twice with the same memory.
func TestLargeDistinct(t *testing.T) {
	var b strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&b, "%d ", i)
	}
	m := NewMeasurer()
	for range 3 {
		require.Zero(t, m.Measure([]byte(b.String())).Repetition)
		require.Equal(t, 0.5, m.Measure([]byte("a b c a b c")).Repetition+0.25)
	}
}

// TestMeasurerGivesUpMemory: one long text must not leave its scratch behind.
func TestMeasurerGivesUpMemory(t *testing.T) {
	m := NewMeasurer()
	m.Measure(distinctWords(8 << 20))
	require.LessOrEqual(t, cap(m.classes.blocks), keepBlocks)
	require.LessOrEqual(t, cap(m.edges), keepBlocks)
	require.LessOrEqual(t, cap(m.runes), keepBlocks)
	require.LessOrEqual(t, cap(m.triples.slots), keepTripleSlots)
	require.LessOrEqual(t, cap(m.triples.spare), keepTripleSlots)
	require.Equal(t, 4, m.Measure([]byte("still good for more")).Words)
}

func TestMeasureIsLinear(t *testing.T) {
	m := NewMeasurer()
	requireLinear(t, 16<<10, func(s []byte) { m.Measure(s) })
}

// TestCheckAtTheBounds holds texts to bounds that they just meet, just miss, or meet by
// far, where what is surely met is not measured.
func TestCheckAtTheBounds(t *testing.T) {
	m := NewMeasurer()
	kept, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"the", "of", "seldom", "sixteencharacter", "seventeen-letters", "日本語", "文章", "naïve", "Ω", "42", "?!", "😀", "x\u3000y", "b\xff",
		})
		vocabulary := rapid.SliceOfNDistinct(piece, 2, 12, rapid.ID[string]).Draw(t, "vocabulary")
		words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 4, 400).Draw(t, "words")
		s := []byte(strings.Join(words, rapid.SampledFrom([]string{" ", "", "\n "}).Draw(t, "between")))
		got := m.Measure(s)
		steps := rapid.SampledFrom([]float64{-1, -0.01, -1e-6, -1e-9, 0, 1e-9, 1e-6, 0.01})
		for range 4 {
			step := steps.Draw(t, "step")
			for _, o := range []QualityOption{
				WithMinEntropy(got.Entropy + step), WithMinEntropy(got.Entropy * rapid.Float64Range(0.3, 1.1).Draw(t, "share")),
				WithMaxRepetition(got.Repetition + step), WithMaxSymbolRatio(got.SymbolRatio + step),
			} {
				q := newQuality(t, o)
				want := q.Judge(got)
				require.Equal(t, want, q.Check(m, s), "%+v", got)
				if want.Kept() {
					kept++
				} else {
					dropped++
				}
			}
		}
	})
	require.Greater(t, min(kept, dropped), 20, "the bounds are not met and missed")
}

// TestBoundsWithoutCounting compares what is known of entropy and repetition without
// counting code points and triples with what counting finds, in texts of one block and of
// many, of which words lie across where blocks are looked up.
func TestBoundsWithoutCounting(t *testing.T) {
	m, naive := NewMeasurer(), NewMeasurer()
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(drawText(t, "text"))
		distinct := rapid.SampledFrom([]int{0, 10, 900, 5000}).Draw(t, "distinct")
		for i := range distinct {
			s = fmt.Appendf(s, " %d%s", i, strings.Repeat("é", i%7))
		}
		s = append(s, bytes.Repeat([]byte(" once again"), rapid.SampledFrom([]int{0, 10, 1000}).Draw(t, "repeated"))...)
		want := naive.Measure(s)
		m.classes.classify(s)
		n := m.count(s, &m.classes)
		if utf8.Valid(s) {
			require.LessOrEqual(t, lowEntropy(cpu.CountLowBits(s), n.chars), want.Entropy+boundSlack)
		}
		bound := rapid.Float64Range(0, 1).Draw(t, "bound")
		if m.repetitionWithin(bound, s, n.words) {
			require.LessOrEqual(t, want.Repetition, bound)
		} else if n.words >= 4 {
			require.Greater(t, want.Repetition, 0.8*bound-0.2, "the marks should have decided")
		}
	})
}

func TestCheckIsLinear(t *testing.T) {
	m, q := NewMeasurer(), newQuality(t, WithPreset(PresetPretraining))
	requireLinear(t, 16<<10, func(s []byte) { q.Check(m, s) })
}

// TestMeasureOneLargeText measures 64 MB of one word, whose counters do not fit 16 bits.
func TestMeasureOneLargeText(t *testing.T) {
	const n = 64_000_000
	s := make([]byte, n)
	m, q := NewMeasurer(), newQuality(t, WithPreset(PresetPretraining))
	for i := range s {
		s[i] = "ab"[i>>2&1]
	}
	require.Equal(t, Metrics{Chars: n, Words: 1, Entropy: 1}, m.Measure(s))
	require.Equal(t, Verdict{ReasonMinWords, 1, 3}, q.Check(m, s))
}

// TestMeasureAllocatesNothing measures texts of all kinds with one measurer.
func TestMeasureAllocatesNothing(t *testing.T) {
	m := NewMeasurer()
	var texts [][]byte
	for _, text := range hostile {
		texts = append(texts, text(3000))
	}
	run := func() {
		for _, s := range texts {
			m.Measure(s)
		}
	}
	run()
	require.Zero(t, testing.AllocsPerRun(10, run))
}

func BenchmarkMeasure(b *testing.B) {
	english := []byte("It was the best of times, it was the worst of times, it was")
	words := distinctWords(2048)
	for name, s := range map[string][]byte{
		"short": english, "words": words, "CJK": hostile["CJK"](2048), "mixed": []byte(strings.Repeat("café naïve 42 ", 140)),
	} {
		b.Run(name, func(b *testing.B) {
			m := NewMeasurer()
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				m.Measure(s)
			}
		})
	}
}
