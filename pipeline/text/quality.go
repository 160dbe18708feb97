package text

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// QualityFilter holds the metrics of a text to bounds. A bound acts when it is
// given. Bounds are inclusive. They are looked at in the order chars, words,
// entropy, repetition, symbols, and the first that fails is the reason. Rule sets,
// see [WithGopher], [WithC4] and [WithFineweb], come after them, in the order they
// were given, each on what the one before left of the text. A filter is immutable and
// safe for concurrent use.
type QualityFilter struct {
	minChars, maxChars, minWords              int
	minEntropy, maxRepetition, maxSymbolRatio float64
	rules                                     []ruleSet
	words                                     Words
	err                                       error // of an option
}

// QualityOption sets bounds of a [QualityFilter]; by default it has none. Every
// metric is 0 or more, and so are the bounds: a negative one counts as 0, but for
// [WithMaxChars], where it would drop everything and is refused. So is NaN.
type QualityOption func(*QualityFilter)

// WithMinChars drops texts of fewer than n code points.
func WithMinChars(n int) QualityOption { return func(q *QualityFilter) { q.minChars = n } }

// WithMaxChars drops texts of more than n code points. Range n ≥ 0.
func WithMaxChars(n int) QualityOption { return func(q *QualityFilter) { q.maxChars = n } }

// WithMinWords drops texts of fewer than n words. Words are divided by white
// space, and [WordsByScript] counts more where a script writes none between words;
// with [WordsBySpace] they are the Words of [Metrics].
func WithMinWords(n int) QualityOption { return func(q *QualityFilter) { q.minWords = n } }

// WithMinEntropy drops texts of less than x bits a code point, give or take the
// 10⁻¹² that rounding may cost.
func WithMinEntropy(x float64) QualityOption { return func(q *QualityFilter) { q.minEntropy = x } }

// WithMaxRepetition drops texts of which more than the share x of word triples
// occurred before. From 1 on nothing is dropped.
func WithMaxRepetition(x float64) QualityOption {
	return func(q *QualityFilter) { q.maxRepetition = x }
}

// WithMaxSymbolRatio drops texts of which more than the share x of visible code
// points are symbols. From 1 on nothing is dropped.
func WithMaxSymbolRatio(x float64) QualityOption {
	return func(q *QualityFilter) { q.maxSymbolRatio = x }
}

// WithWords sets what a word is, also for [WithMinWords]. The [Metrics] of a text do not
// depend on it: their words are divided by white space. Default [WordsByScript].
func WithWords(w Words) QualityOption { return func(q *QualityFilter) { q.words = w } }

// The presets of [WithPreset].
const (
	// PresetNone has no bounds.
	PresetNone = "none"
	// PresetPretraining asks for 20 characters, 3 words, 2.5 bits of entropy,
	// at most 0.35 repetition and at most 0.30 symbols.
	PresetPretraining = "pretraining"
	// PresetGopher has the rules of [DefaultGopherBounds].
	PresetGopher = "gopher"
	// PresetC4 has the rules of [DefaultC4Bounds], which remove lines.
	PresetC4 = "c4"
	// PresetFineweb has the rules of [DefaultFinewebBounds].
	PresetFineweb = "fineweb"
)

// Presets returns the names of all presets.
func Presets() []string {
	return []string{PresetPretraining, PresetGopher, PresetC4, PresetFineweb, PresetNone}
}

// WithPreset sets all bounds and rule sets to those of a preset, undoing the options
// before it but [WithWords]; options after it change single bounds. More presets than
// one are joined by +, such as gopher+c4, and act in that order, pretraining always
// first. The default is [PresetNone].
func WithPreset(names string) QualityOption {
	return func(q *QualityFilter) {
		words, err := q.words, q.err
		*q = unbounded
		q.words, q.err = words, err
		var before []string
		for name := range strings.SplitSeq(names, "+") {
			if slices.Contains(before, name) {
				q.err = fmt.Errorf("%w: quality preset %s is listed twice", ErrOption, name)
			}
			before = append(before, name)
			q.addPreset(name)
		}
	}
}

func (q *QualityFilter) addPreset(name string) {
	switch name {
	case PresetNone:
	case PresetPretraining:
		q.minChars, q.minWords, q.minEntropy = 20, 3, 2.5
		q.maxRepetition, q.maxSymbolRatio = 0.35, 0.30
	case PresetGopher:
		WithGopher(DefaultGopherBounds())(q)
	case PresetC4:
		WithC4(DefaultC4Bounds())(q)
	case PresetFineweb:
		WithFineweb(DefaultFinewebBounds())(q)
	default:
		q.err = fmt.Errorf("%w: quality preset %q is not one of %s", ErrOption, name, strings.Join(Presets(), ", "))
	}
}

// addRules adds a rule set, in the place of one of the same name if there is one.
func (q *QualityFilter) addRules(r ruleSet) {
	for i, old := range q.rules {
		if old.name() == r.name() {
			q.rules[i] = r
			return
		}
	}
	q.rules = append(q.rules, r)
}

// unbounded keeps every text.
var unbounded = QualityFilter{maxChars: math.MaxInt, maxRepetition: math.Inf(1), maxSymbolRatio: math.Inf(1)}

// NewQualityFilter returns a filter. Without options it keeps everything. The
// error is [ErrOption].
func NewQualityFilter(opts ...QualityOption) (*QualityFilter, error) {
	q := unbounded
	for _, o := range opts {
		o(&q)
	}
	if q.err != nil {
		return nil, q.err
	}
	q.minChars, q.minWords = max(q.minChars, 0), max(q.minWords, 0)
	q.minEntropy = max(q.minEntropy, 0) // NaN stays NaN
	q.maxRepetition, q.maxSymbolRatio = max(q.maxRepetition, 0), max(q.maxSymbolRatio, 0)
	switch {
	case q.maxChars < 0:
		return nil, fmt.Errorf("%w: quality bound %s is %d, want 0 or more", ErrOption, ReasonMaxChars, q.maxChars)
	case math.IsNaN(q.minEntropy) || math.IsNaN(q.maxRepetition) || math.IsNaN(q.maxSymbolRatio):
		return nil, fmt.Errorf("%w: a quality bound is not a number", ErrOption)
	case q.words > WordsBySpace:
		return nil, fmt.Errorf("%w: words %d are neither by script nor by space", ErrOption, q.words)
	}
	for i, r := range q.rules {
		var err error
		if q.rules[i], err = r.ready(q.words); err != nil {
			return nil, err
		}
	}
	return &q, nil
}

// Judge holds metrics to the bounds. A metric that is NaN fails.
func (q *QualityFilter) Judge(m Metrics) Verdict {
	v := q.judgeCounts(m)
	switch {
	case !v.Kept():
	case q.tooRegular(m.Entropy):
		v = Verdict{ReasonMinEntropy, m.Entropy, q.minEntropy}
	case !(m.Repetition <= q.maxRepetition):
		v = Verdict{ReasonMaxRepetition, m.Repetition, q.maxRepetition}
	case !(m.SymbolRatio <= q.maxSymbolRatio):
		v = Verdict{ReasonMaxSymbolRatio, m.SymbolRatio, q.maxSymbolRatio}
	}
	return v
}

// entropySlack is how far an entropy may be below its bound. A sum of logarithms
// depends on the order of its terms in the last bits; a bound that was measured
// elsewhere must hold for the text it was measured on.
const entropySlack = 1e-12

func (q *QualityFilter) tooRegular(entropy float64) bool {
	return !(entropy >= q.minEntropy-entropySlack)
}

func (q *QualityFilter) judgeCounts(m Metrics) Verdict {
	switch {
	case m.Chars < q.minChars:
		return Verdict{ReasonMinChars, float64(m.Chars), float64(q.minChars)}
	case m.Chars > q.maxChars:
		return Verdict{ReasonMaxChars, float64(m.Chars), float64(q.maxChars)}
	case m.Words < q.minWords:
		return Verdict{ReasonMinWords, float64(m.Words), float64(q.minWords)}
	}
	return Verdict{}
}

// Check measures s as far as the bounds need and judges it. Without rule sets, and but
// for words counted by script, that is Judge(m.Measure(s)), for less work.
func (q *QualityFilter) Check(m *Measurer, s []byte) Verdict {
	_, v := q.Filter(m, &m.scratch, s)
	return v
}

// Filter is Check that returns what rules left of the text as well. It is a part of s
// where nothing inside it was removed; else it is in *scratch, which is grown as needed
// and overwritten by the next call. Time is O(len(s)).
func (q *QualityFilter) Filter(m *Measurer, scratch *[]byte, s []byte) ([]byte, Verdict) {
	defer m.release()
	if q.bounded() {
		m.classes.classify(s)
	}
	return q.filter(m, s, &m.classes, (*ownRoom)(scratch))
}

// ownRoom is the room of one text.
type ownRoom []byte

func (o *ownRoom) alloc(n int) []byte {
	*o = slices.Grow((*o)[:0], n)[:n]
	return *o
}

// filter is Filter of a text that is classified already, if there are bounds outside
// rule sets.
func (q *QualityFilter) filter(m *Measurer, s []byte, c *classes, r room) ([]byte, Verdict) {
	v := q.check(m, s, c)
	m.rules.words.text = nil
	for i := 0; i < len(q.rules) && v.Kept(); i++ {
		s, v = q.rules[i].apply(&m.rules, s, r)
	}
	return s, v
}

// check holds a text that is classified to the bounds outside rule sets.
func (q *QualityFilter) check(m *Measurer, s []byte, c *classes) Verdict {
	if !q.bounded() {
		return Verdict{}
	}
	n := m.count(s, c)
	out := n.metrics()
	if out.Words < q.minWords && q.words == WordsByScript && c.union.NonASCII != 0 {
		out.Words, _ = kinds().spacedWords(s, q.words, q.minWords)
	}
	v := q.judgeCounts(out)
	if !v.Kept() {
		return v
	}
	if q.minEntropy > 0 {
		out.Entropy = m.entropyOrBound(q.minEntropy, s, c, n.chars)
	}
	if q.maxRepetition < 1 && !q.tooRegular(out.Entropy) && !m.repetitionWithin(q.maxRepetition, s, n.words) {
		out.Repetition = m.repetition(s, n.words)
	}
	return q.Judge(out)
}

// bounded reports whether a bound outside rule sets can drop a text.
func (q *QualityFilter) bounded() bool {
	return q.minChars > 0 || q.maxChars < math.MaxInt || q.minWords > 0 || q.minEntropy > 0 ||
		q.maxRepetition < 1 || q.maxSymbolRatio < 1
}

// MeasureGopher returns what the rules of Gopher judge s by, with the stop words and
// words of the filter, or those of the paper where it has no such rules. O(len(s))
// expected time, whatever s holds.
func (q *QualityFilter) MeasureGopher(m *Measurer, s []byte) GopherMetrics {
	defer m.release()
	g := &gopherRules{bounds: defaultGopher, words: q.words}
	for _, r := range q.rules {
		if x, ok := r.(*gopherRules); ok {
			g = x
		}
	}
	return g.measure(&m.rules, s)
}

// MeasureC4 returns what the rules of C4 find in s, with the bounds and words of the
// filter, or those of the paper where it has no such rules. O(len(s)).
func (q *QualityFilter) MeasureC4(m *Measurer, s []byte) C4Metrics {
	defer m.release()
	c := &c4Rules{DefaultC4Bounds(), q.words}
	for _, r := range q.rules {
		if x, ok := r.(*c4Rules); ok {
			c = x
		}
	}
	return c.measure(&m.rules, s)
}

// MeasureFineweb returns what the rules of FineWeb judge s by, with the length of short
// lines and words of the filter, or those of the paper where it has no such rules.
// O(len(s)).
func (q *QualityFilter) MeasureFineweb(m *Measurer, s []byte) FinewebMetrics {
	defer m.release()
	f := &finewebRules{DefaultFinewebBounds(), q.words}
	for _, r := range q.rules {
		if x, ok := r.(*finewebRules); ok {
			f = x
		}
	}
	return f.measure(&m.rules, s)
}
