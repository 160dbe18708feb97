package text

import (
	"bytes"
	"math"
	"slices"
)

// GopherBounds are the bounds of the rules of Gopher: J. W. Rae et al., Scaling Language
// Models: Methods, Analysis & Insights from Training Gopher (2021), section A1.1 and
// table A1. Bounds are inclusive. What is least is off at 0, what is most at +Inf or
// math.MaxInt. See [GopherMetrics] for what they bound.
type GopherBounds struct {
	MinWords, MaxWords                   int
	MinMeanWordLength, MaxMeanWordLength float64
	MaxHashRatio, MaxEllipsisRatio       float64
	MaxBulletLines, MaxEllipsisLines     float64
	MinAlphabeticWords                   float64
	MinStopWords                         int
	StopWords                            []string // case counts
	MaxDuplicateParagraphs               float64
	MaxDuplicateParagraphChars           float64
	MaxDuplicateLines                    float64
	MaxDuplicateLineChars                float64
	MaxTopGrams                          [3]float64 // of 2, 3, 4 words
	MaxDuplicateGrams                    [6]float64 // of 5, 6 … 10 words
}

// DefaultGopherBounds returns the bounds of the paper.
func DefaultGopherBounds() GopherBounds {
	return GopherBounds{
		MinWords: 50, MaxWords: 100_000,
		MinMeanWordLength: 3, MaxMeanWordLength: 10,
		MaxHashRatio: 0.1, MaxEllipsisRatio: 0.1,
		MaxBulletLines: 0.9, MaxEllipsisLines: 0.3,
		MinAlphabeticWords:         0.8,
		MinStopWords:               2,
		StopWords:                  []string{"the", "be", "to", "of", "and", "that", "have", "with"},
		MaxDuplicateParagraphs:     0.3,
		MaxDuplicateParagraphChars: 0.2,
		MaxDuplicateLines:          0.3,
		MaxDuplicateLineChars:      0.2,
		MaxTopGrams:                [3]float64{0.20, 0.18, 0.16},
		MaxDuplicateGrams:          [6]float64{0.15, 0.14, 0.13, 0.12, 0.11, 0.10},
	}
}

// defaultGopher has one list of stop words for all filters.
var defaultGopher = DefaultGopherBounds()

// GopherMetrics are the numbers that the rules of Gopher judge by. Words are those of
// [Words]. None is ever NaN or infinite: a share of nothing is 0.
type GopherMetrics struct {
	// Words is the number of words that are not punctuation.
	Words int `json:"words"`
	// MeanWordLength is the code points of these words divided by their number.
	MeanWordLength float64 `json:"mean_word_length"`
	// HashRatio and EllipsisRatio are the number of # and of … or ... divided by
	// that of all words, punctuation included.
	HashRatio     float64 `json:"hash_ratio"`
	EllipsisRatio float64 `json:"ellipsis_ratio"`
	// BulletLines is the share of lines that begin with • or - behind white
	// space, EllipsisLines of those that end with … or ... before it.
	BulletLines   float64 `json:"bullet_lines"`
	EllipsisLines float64 `json:"ellipsis_lines"`
	// AlphabeticWords is the share of all words that have a letter.
	AlphabeticWords float64 `json:"alphabetic_words"`
	// StopWords is how many words of the list of stop words occur.
	StopWords int `json:"stop_words"`
	// DuplicateParagraphs is the share of paragraphs that came before in the
	// text, DuplicateParagraphChars the share of its code points in them, and so
	// for lines that are not empty.
	DuplicateParagraphs     float64 `json:"duplicate_paragraphs"`
	DuplicateParagraphChars float64 `json:"duplicate_paragraph_chars"`
	DuplicateLines          float64 `json:"duplicate_lines"`
	DuplicateLineChars      float64 `json:"duplicate_line_chars"`
	// TopGrams are the code points of the n-gram that occurs most often, a space
	// between its words, times how often it does, divided by those of the text:
	// for n = 2, 3, 4. Where it overlaps itself that may be more than 1.
	TopGrams [3]float64 `json:"top_grams"`
	// DuplicateGrams is the share of code points of the text in words of n-grams
	// that came before, those in several counted once: for n = 5, 6 … 10.
	DuplicateGrams [6]float64 `json:"duplicate_grams"`

	// unspaced tells that most words are of scripts that write no spaces. Such a
	// text is not held to the bounds of mean word length and stop words: its
	// words are as long as WordsByScript makes them, and not English.
	unspaced bool
}

// gopherRules are the rules with their bounds.
type gopherRules struct {
	bounds GopherBounds
	words  Words
}

// WithGopher adds the rules of Gopher, or changes their bounds if they are there.
func WithGopher(b GopherBounds) QualityOption {
	return func(q *QualityFilter) {
		b.StopWords = slices.Clone(b.StopWords)
		q.addRules(&gopherRules{bounds: b})
	}
}

func (g *gopherRules) name() string { return PresetGopher }

func (g *gopherRules) ready(w Words) (ruleSet, error) {
	b := &g.bounds
	bounds := append([]float64{
		b.MinMeanWordLength, b.MaxMeanWordLength, b.MaxHashRatio, b.MaxEllipsisRatio,
		b.MaxBulletLines, b.MaxEllipsisLines, b.MinAlphabeticWords,
		b.MaxDuplicateParagraphs, b.MaxDuplicateParagraphChars, b.MaxDuplicateLines, b.MaxDuplicateLineChars,
		float64(b.MinWords), float64(b.MaxWords), float64(b.MinStopWords),
	}, b.MaxTopGrams[:]...)
	out := *g
	out.words = w
	return &out, checkBounds(PresetGopher, append(bounds, b.MaxDuplicateGrams[:]...))
}

// apply implements ruleSet.
func (g *gopherRules) apply(m *ruleMemory, s []byte, _ room) ([]byte, Verdict) {
	var out GopherMetrics
	g.measureWords(m, s, &out)
	v := g.judgeWords(&out)
	if !v.Kept() {
		return s, v
	}
	out.StopWords = m.words.stop.count(s, &m.words.bounds, g.bounds.StopWords, g.minStopWords(&out))
	if v = g.judgeStopWords(&out); !v.Kept() {
		return s, v
	}
	g.measureRepeats(m, s, &out)
	if v = g.judgeRepeats(&out); !v.Kept() {
		return s, v
	}
	m.grams.start(m.words.hash())
	for n := 2; n <= 10 && v.Kept() && !m.grams.done(); n++ {
		g.measureGrams(m, n, &out)
		v = g.judgeGrams(&out, n)
	}
	return s, v
}

// measure returns all metrics.
func (g *gopherRules) measure(m *ruleMemory, s []byte) (out GopherMetrics) {
	g.measureWords(m, s, &out)
	out.StopWords = m.words.stop.count(s, &m.words.bounds, g.bounds.StopWords, math.MaxInt)
	g.measureRepeats(m, s, &out)
	m.grams.start(m.words.hash())
	for n := 2; n <= 10; n++ {
		g.measureGrams(m, n, &out)
	}
	return out
}

// measureWords fills in what the words and lines are like, but for stop words.
func (g *gopherRules) measureWords(m *ruleMemory, s []byte, out *GopherMetrics) {
	l := &m.words
	l.fill(s, g.words)
	out.Words = l.plain
	out.MeanWordLength = ratio(l.plainChars, l.plain)
	out.HashRatio = ratio(bytes.Count(s, []byte("#")), l.words)
	ellipses := l.ellipses
	if l.bounds.dots {
		ellipses += bytes.Count(s, []byte("..."))
	}
	out.EllipsisRatio = ratio(ellipses, l.words)
	out.AlphabeticWords = ratio(l.alpha, l.words)
	out.unspaced = 2*l.unspaced > l.words
	if ellipses > 0 || l.bounds.bullets {
		out.BulletLines, out.EllipsisLines = markedLines(s)
	}
}

// markedLines returns the share of lines that begin with a bullet, and of those that end
// with an ellipsis.
func markedLines(s []byte) (bulleted, elliptic float64) {
	lines, bullets, ellipses := 0, 0, 0
	for c := cutLines(s); c.more(); lines++ {
		line := trimSpace(c.next())
		if bytes.HasPrefix(line, []byte("-")) || bytes.HasPrefix(line, []byte("•")) {
			bullets++
		}
		if bytes.HasSuffix(line, []byte("...")) || bytes.HasSuffix(line, []byte("…")) {
			ellipses++
		}
	}
	return ratio(bullets, lines), ratio(ellipses, lines)
}

// measureRepeats fills in how much is repeated of lines and paragraphs.
func (g *gopherRules) measureRepeats(m *ruleMemory, s []byte, out *GopherMetrics) {
	lines := m.pieces.lines(s)
	out.DuplicateLines, out.DuplicateLineChars = lines.share(), ratio(lines.chars, m.words.chars)
	if lines.duplicates == 0 && len(trimSpace(s)) == len(s) {
		return // paragraphs are lines, and the first and the last of them are not cut short
	}
	p := m.pieces.paragraphs(s)
	out.DuplicateParagraphs, out.DuplicateParagraphChars = p.share(), ratio(p.chars, m.words.chars)
}

// measureGrams fills in how much is repeated of n-grams, n being one more than at the
// last call, 2 at the first.
func (g *gopherRules) measureGrams(m *ruleMemory, n int, out *GopherMetrics) {
	if n > 2 {
		m.grams.longer()
	}
	if n > 4 {
		out.DuplicateGrams[n-5] = ratio(m.grams.duplicates(&m.words), m.words.chars)
		return
	}
	if at, count := m.grams.top(); count > 0 {
		out.TopGrams[n-2] = ratio((m.words.gramChars(at, n)+n-1)*count, m.words.chars)
	}
}

// Judge holds metrics to the bounds; the first that fails is the reason, in the order
// of [GopherMetrics], each least before its most.
func (b *GopherBounds) Judge(m *GopherMetrics) Verdict {
	g := gopherRules{bounds: *b}
	v := firstVerdict(g.judgeWords(m), g.judgeStopWords(m), g.judgeRepeats(m))
	for n := 2; n <= 10 && v.Kept(); n++ {
		v = g.judgeGrams(m, n)
	}
	return v
}

func (g *gopherRules) judgeWords(m *GopherMetrics) Verdict {
	b := &g.bounds
	minMean, maxMean := b.MinMeanWordLength, b.MaxMeanWordLength
	if m.unspaced {
		minMean, maxMean = 0, math.Inf(1)
	}
	return firstVerdict(
		atLeast(ReasonGopherMinWords, float64(m.Words), float64(b.MinWords)),
		atMost(ReasonGopherMaxWords, float64(m.Words), float64(b.MaxWords)),
		atLeast(ReasonGopherMinMeanWordLength, m.MeanWordLength, minMean),
		atMost(ReasonGopherMaxMeanWordLength, m.MeanWordLength, maxMean),
		atMost(ReasonGopherMaxHashRatio, m.HashRatio, b.MaxHashRatio),
		atMost(ReasonGopherMaxEllipsisRatio, m.EllipsisRatio, b.MaxEllipsisRatio),
		atMost(ReasonGopherMaxBulletLines, m.BulletLines, b.MaxBulletLines),
		atMost(ReasonGopherMaxEllipsisLines, m.EllipsisLines, b.MaxEllipsisLines),
		atLeast(ReasonGopherMinAlphabeticWords, m.AlphabeticWords, b.MinAlphabeticWords),
	)
}

// minStopWords returns how many stop words a text of such words must have.
func (g *gopherRules) minStopWords(m *GopherMetrics) int {
	if m.unspaced {
		return 0
	}
	return g.bounds.MinStopWords
}

func (g *gopherRules) judgeStopWords(m *GopherMetrics) Verdict {
	return atLeast(ReasonGopherMinStopWords, float64(m.StopWords), float64(g.minStopWords(m)))
}

func (g *gopherRules) judgeRepeats(m *GopherMetrics) Verdict {
	b := &g.bounds
	return firstVerdict(
		atMost(ReasonGopherMaxDuplicateParagraphs, m.DuplicateParagraphs, b.MaxDuplicateParagraphs),
		atMost(ReasonGopherMaxDuplicateParagraphChars, m.DuplicateParagraphChars, b.MaxDuplicateParagraphChars),
		atMost(ReasonGopherMaxDuplicateLines, m.DuplicateLines, b.MaxDuplicateLines),
		atMost(ReasonGopherMaxDuplicateLineChars, m.DuplicateLineChars, b.MaxDuplicateLineChars),
	)
}

func (g *gopherRules) judgeGrams(m *GopherMetrics, n int) Verdict {
	if n > 4 {
		return atMost(ReasonGopherMaxDuplicate5Grams+Reason(n-5), m.DuplicateGrams[n-5], g.bounds.MaxDuplicateGrams[n-5])
	}
	return atMost(ReasonGopherMaxTop2Grams+Reason(n-2), m.TopGrams[n-2], g.bounds.MaxTopGrams[n-2])
}
