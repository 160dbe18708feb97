package main

import (
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// runFlags are the flags of rosaline run.
type runFlags struct {
	inputFlags
	stages listValue[text.Stage]

	trim, newlines     bool
	minBytes, maxBytes sizeValue
	truncate           bool
	repairs            repairsValue

	quality qualityFlags

	dedup choiceValue
	pii   listValue[text.Kind]
	piiFlags

	outputFlags
	tokenizer     choiceValue
	device, check choiceValue
	stateFlags
}

// add defines the flags. The order is that of the help.
func (f *runFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.inputFlags.add(flags)
	flags.Var(&f.metadata, "metadata", "columns of tables, or paths in JSONL, that are carried along: names with commas, all or none")

	f.stages = listValue[text.Stage]{text.DefaultStages(), "LIST", text.ParseStages}
	flags.Var(&f.stages, "stages", "stages in their order, any of clean,quality,dedup,pii, or none")
	flags.BoolVar(&f.trim, "trim", true, "clean: remove white space from both ends")
	flags.BoolVar(&f.newlines, "normalize-newlines", true, "clean: make CR LF and CR into LF")
	off := sizeValue{n: -1, high: 1<<31 - 1, canBeOff: true}
	f.minBytes, f.maxBytes = off, off
	flags.Var(&f.minBytes, "min-bytes", "clean: drop shorter texts")
	flags.Var(&f.maxBytes, "max-bytes", "clean: drop longer texts; 0 is off")
	flags.Var(&f.repairs, "repair", "clean: repair Unicode: any of mojibake,control,zero-width,nfc,width,ligatures, or all, or none")
	flags.BoolVar(&f.truncate, "truncate", false, "clean: cut texts longer than --max-bytes at a character instead of dropping them")

	f.quality.add(flags)

	f.dedup = choice("exact", "exact", "off").notYet("use exact or off", "near")
	flags.Var(&f.dedup, "dedup", "drop duplicates: exact or off")
	f.pii = listValue[text.Kind]{text.DefaultKinds(), "KINDS", text.ParseKinds}
	flags.Var(&f.pii, "pii", "what is masked, any of key,email,card,ip,phone, or all, or none")
	f.piiFlags.add(flags)

	f.outputFlags.add(flags)
	f.tokenizer = choice("none", "none", "bytes")
	flags.Var(&f.tokenizer, "tokenizer", "add tokens to each record: none or bytes")
	f.device = choice("auto", "auto", "cpu", "cuda")
	flags.Var(&f.device, "device", "where the stages run: auto, cpu or cuda")
	f.check = choice("sampled", "always", "sampled", "never")
	flags.Var(&f.check, "check", "how results of a device are checked: always, sampled or never")

	f.addOrder(flags)
	f.stateFlags.add(flags)
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
	if err := f.outputFlags.validate(); err != nil {
		return err
	}
	return f.validateState()
}

// columns are those of the output besides the metadata.
func (f *runFlags) columns() table.Columns {
	return table.Columns{Tokens: f.tokenizer.value == "bytes", Padded: f.mode() == pipeline.Pad}
}

// activeStages are the stages that will run: those listed, but for what another
// flag switches off.
func (f *runFlags) activeStages() []text.Stage {
	var out []text.Stage
	for _, s := range f.stages.items {
		if s == text.StageDedup && f.dedup.value == "off" || s == text.StagePII && len(f.pii.items) == 0 && !f.hasRules() {
			continue
		}
		out = append(out, s)
	}
	return out
}

// warnUnused tells of flags that have no effect because their stage is left out.
func (f *runFlags) warnUnused(log *slog.Logger, flags *pflag.FlagSet) {
	byStage := map[text.Stage][]string{
		text.StageClean:   {"trim", "normalize-newlines", "min-bytes", "max-bytes", "truncate", "repair"},
		text.StageQuality: qualityFlagNames,
		text.StageDedup:   {"dedup"},
		text.StagePII:     f.piiFlags.names(),
	}
	for _, s := range f.stages.items {
		delete(byStage, s)
	}
	f.engineFlags.warnUnused(log, flags)
	if flags.Changed("commit-every") && f.state == "" {
		log.Warn("flag has no effect: nothing is committed without --state", "flag", "--commit-every")
	}
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
			q, err := f.quality.newFilter()
			if err != nil {
				return nil, err
			}
			opts = append(opts, text.WithQuality(q))
		case text.StagePII:
			m, err := f.newMasker(f.pii.items, f.fileFormat)
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
		text.WithTruncate(f.truncate), text.WithRepairs(text.Repairs(f.repairs)))
}
