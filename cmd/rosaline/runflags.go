package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// runFlags are the flags of rosaline run.
type runFlags struct {
	inputFlags
	stages listValue[text.Stage]

	trim, newlines     bool
	minBytes, maxBytes sizeValue
	truncate           bool

	quality                                   choiceValue
	minChars, minWords                        boundValue
	minEntropy, maxRepetition, maxSymbolRatio boundValue

	dedup choiceValue
	pii   listValue[text.Kind]

	out, rejects, report string
	outFormat            choiceValue
	tokenizer            choiceValue
	device, check        choiceValue
}

// add defines the flags. The order is that of the help.
func (f *runFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.inputFlags.add(flags)

	f.stages = listValue[text.Stage]{text.DefaultStages(), "LIST", text.ParseStages}
	flags.Var(&f.stages, "stages", "stages in their order, any of clean,quality,dedup,pii, or none")
	flags.BoolVar(&f.trim, "trim", true, "clean: remove white space from both ends")
	flags.BoolVar(&f.newlines, "normalize-newlines", true, "clean: make CR LF and CR into LF")
	off := sizeValue{n: -1, high: 1<<31 - 1, canBeOff: true}
	f.minBytes, f.maxBytes = off, off
	flags.Var(&f.minBytes, "min-bytes", "clean: drop shorter texts")
	flags.Var(&f.maxBytes, "max-bytes", "clean: drop longer texts; 0 is off")
	flags.BoolVar(&f.truncate, "truncate", false, "clean: cut texts longer than --max-bytes at a character instead of dropping them")

	f.quality = choice(text.PresetPretraining, text.PresetPretraining, text.PresetNone).
		notYet("use pretraining or none", text.PresetGopher)
	flags.Var(&f.quality, "quality", "bounds of quality: pretraining or none")
	f.minChars, f.minWords = boundValue{whole: true}, boundValue{whole: true}
	f.maxRepetition, f.maxSymbolRatio = boundValue{high: 1}, boundValue{high: 1}
	flags.Var(&f.minChars, "min-chars", "quality: fewest characters; 0 switches the bound off")
	flags.Var(&f.minWords, "min-words", "quality: fewest words; 0 switches the bound off")
	flags.Var(&f.minEntropy, "min-entropy", "quality: least entropy in bits a character; 0 switches the bound off")
	flags.Var(&f.maxRepetition, "max-repetition", "quality: largest share of repeated word triples; 1 switches the bound off")
	flags.Var(&f.maxSymbolRatio, "max-symbol-ratio", "quality: largest share of symbols; 1 switches the bound off")

	f.dedup = choice("exact", "exact", "off").notYet("use exact or off", "near")
	flags.Var(&f.dedup, "dedup", "drop duplicates: exact or off")
	f.pii = listValue[text.Kind]{text.DefaultKinds(), "KINDS", text.ParseKinds}
	flags.Var(&f.pii, "pii", "what is masked, any of key,email,card,ip,phone, or all, or none")

	flags.StringVarP(&f.out, "output", "o", output.Stdout, "write the output to `PATH`, - for standard output; .gz and .zst are compressed")
	f.outFormat = choice("jsonl", "jsonl").notYet("use jsonl", "arrow", "parquet")
	flags.Var(&f.outFormat, "out-format", "what the output holds: jsonl")
	flags.StringVar(&f.rejects, "rejects", "", "write dropped records to `PATH`, one JSON object a line")
	flags.StringVar(&f.report, "report", "", "write a report of the run to `PATH`, as JSON")
	f.tokenizer = choice("none", "none", "bytes")
	flags.Var(&f.tokenizer, "tokenizer", "add tokens to each record: none or bytes")
	f.device = choice("auto", "auto", "cpu", "cuda")
	flags.Var(&f.device, "device", "where the stages run: auto, cpu or cuda")
	f.check = choice("sampled", "always", "sampled", "never")
	flags.Var(&f.check, "check", "how results of a device are checked: always, sampled or never")

	f.addOrder(flags)

	const later = " (not yet)"
	for _, l := range []struct {
		name, help string
		laterValue
	}{
		{"state", "folder that makes the run resumable",
			laterValue{"", "DIR", nil, "a run that was stopped begins again"}},
		{"commit-every", "batches between commits of the state",
			laterValue{"1", "N", checkNumber(1), "there is no state to commit"}},
	} {
		v := l.laterValue
		flags.Var(&v, l.name, l.help+later)
	}
}

// validate finds contradictions between flags.
func (f *runFlags) validate() error {
	if f.maxBytes.n == 0 {
		f.maxBytes.n = -1
	}
	if f.truncate && f.maxBytes.n < 0 {
		return usagef("--truncate needs --max-bytes, the length to cut to")
	}
	if f.maxBytes.n >= 0 && f.minBytes.n > f.maxBytes.n {
		return usagef("--min-bytes %s is more than --max-bytes %s: no record could pass", &f.minBytes, &f.maxBytes)
	}
	for _, p := range []struct{ flag, path string }{{"--output", f.out}, {"--rejects", f.rejects}, {"--report", f.report}} {
		if err := checkOutputPath(p.flag, p.path); err != nil {
			return err
		}
	}
	return nil
}

// checkOutputPath refuses folders, and names that promise another format.
func checkOutputPath(flag, path string) error {
	if path == "" {
		if flag == "--output" {
			return usagef("%s is empty; leave it out or use - for standard output", flag)
		}
		return nil
	}
	if path == output.Stdout {
		return nil
	}
	info, err := os.Stat(path)
	folder := err == nil && info.IsDir() || os.IsPathSeparator(path[len(path)-1])
	switch {
	case folder && flag == "--output":
		return &notYetError{flag, path + " is a folder; numbered shards come with a later version, name a file"}
	case folder:
		return usagef("%s %s is a folder; name a file", flag, path)
	}
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")))
	if ext == ".arrow" || ext == ".parquet" {
		return &notYetError{flag, path + " promises another format than JSONL; use the extension .jsonl"}
	}
	return nil
}

// outputs lists the files that the run writes.
func (f *runFlags) outputs() []output.Use {
	return []output.Use{{Role: "--output", Path: f.out}, {Role: "--rejects", Path: f.rejects}, {Role: "--report", Path: f.report}}
}

// activeStages are the stages that will run: those listed, but for what another
// flag switches off.
func (f *runFlags) activeStages() []text.Stage {
	var out []text.Stage
	for _, s := range f.stages.items {
		if s == text.StageDedup && f.dedup.value == "off" || s == text.StagePII && len(f.pii.items) == 0 {
			continue
		}
		out = append(out, s)
	}
	return out
}

// warnUnused tells of flags that have no effect because their stage is left out.
func (f *runFlags) warnUnused(log *slog.Logger, flags *pflag.FlagSet) {
	byStage := map[text.Stage][]string{
		text.StageClean:   {"trim", "normalize-newlines", "min-bytes", "max-bytes", "truncate"},
		text.StageQuality: {"quality", "min-chars", "min-words", "min-entropy", "max-repetition", "max-symbol-ratio"},
		text.StageDedup:   {"dedup"},
		text.StagePII:     {"pii"},
	}
	for _, s := range f.stages.items {
		delete(byStage, s)
	}
	f.engineFlags.warnUnused(log, flags)
	flags.Visit(func(flag *pflag.Flag) {
		for stage, names := range byStage {
			for _, name := range names {
				switch v := flag.Value.String(); {
				case name != flag.Name, v == "none", v == "off", v == "false":
				default:
					log.Warn("flag has no effect: --stages leaves its stage out", "flag", "--"+name, "stage", stage.String())
				}
			}
		}
	})
}

// newPipeline makes the stages that will run.
func (f *runFlags) newPipeline() (*text.FusedPipeline, error) {
	stages := f.activeStages()
	opts := []text.FusedOption{text.WithStages(stages...)}
	for _, stage := range stages {
		switch stage {
		case text.StageClean:
			c, err := f.newCleaner()
			if err != nil {
				return nil, err
			}
			opts = append(opts, text.WithCleaner(c))
		case text.StageQuality:
			q, err := f.newQualityFilter()
			if err != nil {
				return nil, err
			}
			opts = append(opts, text.WithQuality(q))
		case text.StagePII:
			m, err := text.NewPIIMasker(text.WithKinds(f.pii.items...))
			if err != nil {
				return nil, err
			}
			opts = append(opts, text.WithPII(m))
		}
	}
	return text.NewFusedPipeline(opts...)
}

func (f *runFlags) newCleaner() (*text.TextCleaner, error) {
	return text.NewTextCleaner(text.WithTrim(f.trim), text.WithNewlines(f.newlines),
		text.WithMinBytes(int(max(f.minBytes.n, 0))), text.WithMaxBytes(int(max(f.maxBytes.n, 0))),
		text.WithTruncate(f.truncate))
}

func (f *runFlags) newQualityFilter() (*text.QualityFilter, error) {
	opts := []text.QualityOption{text.WithPreset(f.quality.value)}
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
