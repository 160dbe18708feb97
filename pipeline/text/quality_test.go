package text

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newQuality(t require.TestingT, opts ...QualityOption) *QualityFilter {
	q, err := NewQualityFilter(opts...)
	require.NoError(t, err)
	return q
}

// qualityKw are the bounds in the goldens.
type qualityKw struct {
	MinChars   *int     `json:"min_chars"`
	MaxChars   *int     `json:"max_chars"`
	MinWords   *int     `json:"min_words"`
	Entropy    *float64 `json:"min_entropy"`
	Repetition *float64 `json:"max_repetition_ratio"`
	Symbols    *float64 `json:"max_symbol_ratio"`
}

func (k qualityKw) options() (opts []QualityOption) {
	if k.MinChars != nil {
		opts = append(opts, WithMinChars(*k.MinChars))
	}
	if k.MaxChars != nil {
		opts = append(opts, WithMaxChars(*k.MaxChars))
	}
	if k.MinWords != nil {
		opts = append(opts, WithMinWords(*k.MinWords))
	}
	if k.Entropy != nil {
		opts = append(opts, WithMinEntropy(*k.Entropy))
	}
	if k.Repetition != nil {
		opts = append(opts, WithMaxRepetition(*k.Repetition))
	}
	if k.Symbols != nil {
		opts = append(opts, WithMaxSymbolRatio(*k.Symbols))
	}
	return opts
}

func TestQualityThresholdGoldens(t *testing.T) {
	type golden struct {
		ID   string
		Kw   qualityKw
		In   string
		Pass bool
	}
	deviations := readDeviations(t)
	m := NewMeasurer()
	for _, g := range readGoldens[golden](t, "quality_threshold.jsonl") {
		q, err := NewQualityFilter(g.Kw.options()...)
		equal := err == nil && q.Check(m, []byte(g.In)).Kept() == g.Pass
		requireGolden(t, deviations, g.ID, equal, "error %v, want pass = %v", err, g.Pass)
	}
}

// TestQualityVerdicts checks each bound from both sides, and that the first
// bound that fails is the one reported.
func TestQualityVerdicts(t *testing.T) {
	good := Metrics{Chars: 100, Words: 20, Entropy: 4, Repetition: 0.25, SymbolRatio: 0.125}
	bad := Metrics{Chars: 99, Words: 19, Entropy: 3.5, Repetition: 0.5, SymbolRatio: 0.25}
	q := newQuality(t, WithMinChars(100), WithMaxChars(100), WithMinWords(20), WithMinEntropy(4), WithMaxRepetition(0.25), WithMaxSymbolRatio(0.125))
	require.Equal(t, Verdict{}, q.Judge(good))
	for _, step := range []struct {
		want Verdict
		cure func()
	}{
		{Verdict{ReasonMinChars, 99, 100}, func() { bad.Chars = 101 }},
		{Verdict{ReasonMaxChars, 101, 100}, func() { bad.Chars = 100 }},
		{Verdict{ReasonMinWords, 19, 20}, func() { bad.Words = 20 }},
		{Verdict{ReasonMinEntropy, 3.5, 4}, func() { bad.Entropy = 4 }},
		{Verdict{ReasonMaxRepetition, 0.5, 0.25}, func() { bad.Repetition = 0.25 }},
		{Verdict{ReasonMaxSymbolRatio, 0.25, 0.125}, func() { bad.SymbolRatio = 0.125 }},
		{Verdict{}, func() {}},
	} {
		require.Equal(t, step.want, q.Judge(bad))
		step.cure()
	}
	good.Entropy = math.NaN()
	require.Equal(t, ReasonMinEntropy, q.Judge(good).Reason)
}

// TestCheckIsJudge compares the short way with measuring everything.
func TestCheckIsJudge(t *testing.T) {
	m := NewMeasurer()
	for _, x := range []float64{0, 0.3, 0.5, 0.7, 0.9, 0.99, 1, 2} { // around every step that is left out
		for _, s := range []string{"", "!", "a b c", "a b c d e", "a a a a a", strings.Repeat("x y ", 200), "w! ? ? ? ?"} {
			for _, o := range []QualityOption{WithMinEntropy(x), WithMaxRepetition(x), WithMaxSymbolRatio(x)} {
				q := newQuality(t, o)
				require.Equal(t, q.Judge(m.Measure([]byte(s))), q.Check(m, []byte(s)), "%q, bound %v", s, x)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var opts []QualityOption
		add := func(o QualityOption) {
			if rapid.Bool().Draw(t, "given") {
				opts = append(opts, o)
			}
		}
		ratio := rapid.Float64Range(0, 1.2)
		add(WithPreset(PresetPretraining))
		add(WithMinChars(rapid.IntRange(0, 60).Draw(t, "min chars")))
		add(WithMaxChars(rapid.IntRange(0, 200).Draw(t, "max chars")))
		add(WithMinWords(rapid.IntRange(0, 12).Draw(t, "words")))
		add(WithMinEntropy(rapid.Float64Range(0, 5).Draw(t, "entropy")))
		add(WithMaxRepetition(ratio.Draw(t, "repetition")))
		add(WithMaxSymbolRatio(ratio.Draw(t, "symbols")))
		q := newQuality(t, append(opts, WithWords(WordsBySpace))...) // as metrics count them
		s := []byte(strings.Repeat(drawText(t, "text"), rapid.IntRange(1, 5).Draw(t, "times")))
		require.Equal(t, q.Judge(m.Measure(s)), q.Check(m, s))
	})
}

func TestQualityPresets(t *testing.T) {
	require.Equal(t, newQuality(t), newQuality(t, WithMinChars(5), WithPreset(PresetNone)))
	require.Equal(t,
		newQuality(t, WithMinChars(20), WithMinWords(1), WithMinEntropy(2.5), WithMaxRepetition(0.35), WithMaxSymbolRatio(0.30)),
		newQuality(t, WithPreset(PresetPretraining), WithMinWords(1)))

	require.Equal(t, newQuality(t, WithGopher(DefaultGopherBounds())), newQuality(t, WithMinChars(5), WithPreset(PresetGopher)))
	for _, name := range Presets() {
		newQuality(t, WithPreset(name))
	}
	_, err := NewQualityFilter(WithPreset("best"), WithMinChars(1))
	require.ErrorIs(t, err, ErrOption)
}

func TestQualityOptions(t *testing.T) {
	for _, o := range []QualityOption{
		WithMaxChars(-1), WithMinEntropy(math.NaN()), WithMaxRepetition(math.NaN()), WithMaxSymbolRatio(math.NaN()),
	} {
		_, err := NewQualityFilter(o)
		require.ErrorIs(t, err, ErrOption)
	}
	// A negative bound is 0: the least bounds then keep all, the greatest drop
	// what has any of what they bound.
	least := newQuality(t, WithMinChars(-1), WithMinWords(-1), WithMinEntropy(-0.5))
	require.Equal(t, Verdict{}, least.Judge(Metrics{}))
	none := newQuality(t, WithMaxRepetition(-0.1), WithMaxSymbolRatio(-0.1))
	require.Equal(t, Verdict{}, none.Judge(Metrics{}))
	require.Equal(t, Verdict{ReasonMaxRepetition, 0.1, 0}, none.Judge(Metrics{Repetition: 0.1}))
	require.Equal(t, Verdict{ReasonMaxSymbolRatio, 0.1, 0}, none.Judge(Metrics{SymbolRatio: 0.1}))
}
