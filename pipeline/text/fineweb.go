package text

import (
	"bytes"
)

// FinewebBounds are the bounds of the rules of FineWeb: G. Penedo et al., The FineWeb
// Datasets: Decanting the Web for the Finest Text Data at Scale (2024). Bounds are
// inclusive. The least is off at 0, what is most at +Inf. See [FinewebMetrics] for
// what they bound.
type FinewebBounds struct {
	MinPunctuatedLines    float64
	MaxShortLines         float64
	ShortLine             int // code points of a line that is still short
	MaxDuplicateLineChars float64
	MaxNewlineRatio       float64
}

// DefaultFinewebBounds returns the bounds of the paper.
func DefaultFinewebBounds() FinewebBounds {
	return FinewebBounds{MinPunctuatedLines: 0.12, MaxShortLines: 0.67, ShortLine: 30, MaxDuplicateLineChars: 0.01, MaxNewlineRatio: 0.3}
}

// FinewebMetrics are the numbers that the rules of FineWeb judge by. Lines are those that
// are not white space only. None is ever NaN or infinite: a share of nothing is 0.
type FinewebMetrics struct {
	// PunctuatedLines is the share of lines that end with a code point of the
	// property Sentence_Terminal: . ? ! 。 and their like.
	PunctuatedLines float64 `json:"punctuated_lines"`
	// ShortLines is the share of lines that are short.
	ShortLines float64 `json:"short_lines"`
	// DuplicateLineChars is the share of code points, ends of lines aside, that
	// are in lines that came before.
	DuplicateLineChars float64 `json:"duplicate_line_chars"`
	// NewlineRatio is the number of ends of lines divided by that of words,
	// punctuation included, see [Words].
	NewlineRatio float64 `json:"newline_ratio"`
}

// finewebRules are the rules with their bounds.
type finewebRules struct {
	bounds FinewebBounds
	words  Words
}

// WithFineweb adds the rules of FineWeb, or changes their bounds if they are there.
func WithFineweb(b FinewebBounds) QualityOption {
	return func(q *QualityFilter) { q.addRules(&finewebRules{bounds: b}) }
}

func (f *finewebRules) name() string { return PresetFineweb }

func (f *finewebRules) ready(w Words) (ruleSet, error) {
	b := &f.bounds
	return &finewebRules{f.bounds, w}, checkBounds(PresetFineweb, []float64{
		b.MinPunctuatedLines, b.MaxShortLines, float64(b.ShortLine), b.MaxDuplicateLineChars, b.MaxNewlineRatio})
}

// apply implements ruleSet.
func (f *finewebRules) apply(m *ruleMemory, s []byte, _ room) ([]byte, Verdict) {
	out, newlines := f.measureLines(m, s)
	v := f.judgeLines(&out)
	if v.Kept() && !f.surelyFew(m, s, newlines) {
		f.measureWords(m, s, newlines, &out)
		v = f.bounds.Judge(&out)
	}
	return s, v
}

// surelyFew reports whether there are few enough ends of lines for the words that s has
// at least: that of most texts is soon known.
func (f *finewebRules) surelyFew(m *ruleMemory, s []byte, newlines int) bool {
	if newlines == 0 {
		return true
	}
	words := m.words.atLeast(s)
	return words > 0 && ratio(newlines, words) <= f.bounds.MaxNewlineRatio
}

// measure returns all metrics.
func (f *finewebRules) measure(m *ruleMemory, s []byte) FinewebMetrics {
	out, newlines := f.measureLines(m, s)
	f.measureWords(m, s, newlines, &out)
	return out
}

// measureLines returns the metrics of lines, and the number of ends of lines.
func (f *finewebRules) measureLines(m *ruleMemory, s []byte) (out FinewebMetrics, newlines int) {
	t := kinds()
	m.pieces.reset()
	lines, chars, punctuated, short := 0, 0, 0, 0
	for c := cutLines(s); c.more(); {
		line := c.next()
		n := countChars(line)
		chars += n
		if len(trimSpace(line)) == 0 {
			continue
		}
		lines++
		if k, _ := t.decodeLast(line); k&kindTerminal != 0 {
			punctuated++
		}
		if n <= f.bounds.ShortLine {
			short++
		}
		m.pieces.add(line)
	}
	newlines = bytes.Count(s, []byte("\n"))
	if cr := bytes.Count(s, []byte("\r")); cr > 0 {
		newlines += cr - bytes.Count(s, []byte("\r\n"))
	}
	return FinewebMetrics{
		PunctuatedLines:    ratio(punctuated, lines),
		ShortLines:         ratio(short, lines),
		DuplicateLineChars: ratio(m.pieces.chars, chars),
	}, newlines
}

func (f *finewebRules) measureWords(m *ruleMemory, s []byte, newlines int, out *FinewebMetrics) {
	m.words.fill(s, f.words)
	out.NewlineRatio = ratio(newlines, m.words.words)
}

// Judge holds metrics to the bounds; the first that fails is the reason, in the order
// of [FinewebMetrics].
func (b *FinewebBounds) Judge(m *FinewebMetrics) Verdict {
	f := finewebRules{bounds: *b}
	return firstVerdict(f.judgeLines(m),
		atMost(ReasonFinewebMaxNewlineRatio, m.NewlineRatio, b.MaxNewlineRatio))
}

func (f *finewebRules) judgeLines(m *FinewebMetrics) Verdict {
	b := &f.bounds
	return firstVerdict(
		atLeast(ReasonFinewebMinPunctuatedLines, m.PunctuatedLines, b.MinPunctuatedLines),
		atMost(ReasonFinewebMaxShortLines, m.ShortLines, b.MaxShortLines),
		atMost(ReasonFinewebMaxDuplicateLineChars, m.DuplicateLineChars, b.MaxDuplicateLineChars),
	)
}
