package main

import (
	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// qualityFlags are the flags of the stage quality.
type qualityFlags struct {
	preset                                    presetValue
	words                                     wordsValue
	minChars, minWords                        boundValue
	minEntropy, maxRepetition, maxSymbolRatio boundValue
}

// qualityFlagNames are those that have no effect without the stage.
var qualityFlagNames = []string{"quality", "words", "min-chars", "min-words", "min-entropy", "max-repetition", "max-symbol-ratio"}

// add defines the flags. The order is that of the help.
func (f *qualityFlags) add(flags *pflag.FlagSet) {
	f.preset = presetValue(text.PresetPretraining)
	flags.Var(&f.preset, "quality", "rules of quality: pretraining, gopher, c4, fineweb, some of them joined by +, or none")
	f.words.add(flags)
	f.minChars, f.minWords = boundValue{whole: true}, boundValue{whole: true}
	f.maxRepetition, f.maxSymbolRatio = boundValue{high: 1}, boundValue{high: 1}
	flags.Var(&f.minChars, "min-chars", "quality: fewest characters; 0 switches the bound off")
	flags.Var(&f.minWords, "min-words", "quality: fewest words; 0 switches the bound off")
	flags.Var(&f.minEntropy, "min-entropy", "quality: least entropy in bits a character; 0 switches the bound off")
	flags.Var(&f.maxRepetition, "max-repetition", "quality: largest share of repeated word triples; 1 switches the bound off")
	flags.Var(&f.maxSymbolRatio, "max-symbol-ratio", "quality: largest share of symbols; 1 switches the bound off")
}

func (f *qualityFlags) newFilter() (*text.QualityFilter, error) {
	opts := []text.QualityOption{text.WithPreset(string(f.preset)), text.WithWords(f.words.rule())}
	for _, b := range []struct {
		flag   *boundValue
		option text.QualityOption
	}{
		{&f.minChars, text.WithMinChars(int(f.minChars.value))},
		{&f.minWords, text.WithMinWords(int(f.minWords.value))},
		{&f.minEntropy, text.WithMinEntropy(f.minEntropy.value)},
		{&f.maxRepetition, text.WithMaxRepetition(f.maxRepetition.value)},
		{&f.maxSymbolRatio, text.WithMaxSymbolRatio(f.maxSymbolRatio.value)},
	} {
		if b.flag.set {
			opts = append(opts, b.option)
		}
	}
	return text.NewQualityFilter(opts...)
}

// presetValue is a flag that takes presets of quality joined by +.
type presetValue string

func (v *presetValue) String() string { return string(*v) }
func (v *presetValue) Type() string   { return "NAMES" }
func (v *presetValue) Set(s string) error {
	if _, err := text.NewQualityFilter(text.WithPreset(s)); err != nil {
		return err
	}
	*v = presetValue(s)
	return nil
}

// wordsValue is the flag that says what a word is.
type wordsValue struct{ choiceValue }

func (v *wordsValue) add(flags *pflag.FlagSet) {
	v.choiceValue = choice("script", "script", "space")
	flags.Var(v, "words", "quality: divide words as their script does, or by white space only: script or space")
}

func (v *wordsValue) rule() text.Words {
	if v.value == "space" {
		return text.WordsBySpace
	}
	return text.WordsByScript
}
