package text

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// QualityFilter holds the metrics of a text to bounds. A bound acts when it is
// given. Bounds are inclusive. They are looked at in the order chars, words,
// entropy, repetition, symbols, and the first that fails is the reason. A filter
// is immutable and safe for concurrent use.
type QualityFilter struct {
	minChars, maxChars, minWords              int
	minEntropy, maxRepetition, maxSymbolRatio float64
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
// space: scripts that write none between words have few.
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

// The presets of [WithPreset].
const (
	// PresetNone has no bounds.
	PresetNone = "none"
	// PresetPretraining asks for 20 characters, 3 words, 2.5 bits of entropy,
	// at most 0.35 repetition and at most 0.30 symbols.
	PresetPretraining = "pretraining"
	// PresetGopher is reserved for the rules of Rae et al. 2021 (Gopher),
	// table A1. It needs words that fit the script and is refused for now.
	PresetGopher = "gopher"
)

// WithPreset sets all bounds to those of a preset, undoing the options before
// it; options after it change single bounds. The default is [PresetNone].
func WithPreset(name string) QualityOption {
	return func(q *QualityFilter) {
		err := q.err
		*q = unbounded
		q.err = err
		switch name {
		case PresetNone:
		case PresetPretraining:
			q.minChars, q.minWords, q.minEntropy = 20, 3, 2.5
			q.maxRepetition, q.maxSymbolRatio = 0.35, 0.30
		case PresetGopher:
			q.err = fmt.Errorf("%w: quality preset %q is not available yet (%w); use %s or %s",
				ErrOption, name, errors.ErrUnsupported, PresetPretraining, PresetNone)
		default:
			q.err = fmt.Errorf("%w: quality preset %q is not one of %s", ErrOption, name,
				strings.Join([]string{PresetPretraining, PresetGopher, PresetNone}, ", "))
		}
	}
}

// unbounded keeps every text.
var unbounded = QualityFilter{maxChars: math.MaxInt, maxRepetition: math.Inf(1), maxSymbolRatio: math.Inf(1)}

// NewQualityFilter returns a filter. Without options it keeps everything. The
// error is [ErrOption]; for a preset that is planned it wraps
// [errors.ErrUnsupported] too.
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

// Check measures s as far as the bounds need and judges it: the verdict of
// Judge(m.Measure(s)), for less work.
func (q *QualityFilter) Check(m *Measurer, s []byte) Verdict {
	defer m.release()
	m.classes.classify(s)
	return q.check(m, s, &m.classes)
}

// check is Check of a text that is classified already.
func (q *QualityFilter) check(m *Measurer, s []byte, c *classes) Verdict {
	n := m.count(s, c)
	out := n.metrics()
	v := q.judgeCounts(out)
	if v.Kept() && q.minEntropy > 0 {
		out.Entropy = m.hist.entropy(n.chars)
	}
	m.hist.reset()
	if !v.Kept() {
		return v
	}
	if q.maxRepetition < 1 && !q.tooRegular(out.Entropy) {
		out.Repetition = m.repetition(s, n.words)
	}
	return q.Judge(out)
}
