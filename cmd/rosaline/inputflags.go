package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// inputFlags are the flags of every command that reads records.
type inputFlags struct {
	textKey, idKey          string
	format                  formatValue
	csvHeader               bool
	metadata                metadataValue
	maxLine, maxWindow      sizeValue
	maxBlock                sizeValue
	invalidUTF8, surrogates policyValue
	onError                 choiceValue
	engineFlags
	progress choiceValue

	strict bool // chunks are the same whenever they are read; set by those who need it
}

func (f *inputFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.textKey, "text-key", "text", "find the text of a record at the dotted `PATH`; digits index arrays; in a table, the column or field of a struct")
	flags.StringVar(&f.idKey, "id-key", "id", "find its id at the dotted `PATH`; numbers stay numbers, a record without one has file:line")
	flags.Var(&f.format, "format", "what the inputs hold: auto (by extension), jsonl, text, csv, tsv, arrow, parquet or warc")
	flags.BoolVar(&f.csvHeader, "csv-header", true, "the first row of csv and tsv has the names of the columns; else they are col_0, col_1, …")
	f.maxLine = sizeValue{n: 16 << 20, low: 1, high: 1 << 30}
	flags.Var(&f.maxLine, "max-line", "longest line or row that is read; a longer one is a bad record")
	f.maxWindow = sizeValue{n: 128 << 20, low: 1 << 10, high: 1 << 30}
	flags.Var(&f.maxWindow, "max-window", "most memory that a zstd input may ask for to be read")
	f.maxBlock = sizeValue{n: 1 << 30, low: 1 << 10, high: 1 << 40}
	flags.Var(&f.maxBlock, "max-block", "most memory that a batch of arrow or a page of parquet may ask for to be read")
	f.onError = choice("fail", "fail", "skip")
	flags.Var(&f.onError, "on-error", "what a bad record does: fail ends the run, skip drops and counts it")
	f.invalidUTF8.choiceValue = choice("reject", "reject", "replace")
	flags.Var(&f.invalidUTF8, "invalid-utf8", "bytes that are not UTF-8: reject (a bad record) or replace (by U+FFFD)")
	f.surrogates.choiceValue = choice("reject", "reject", "replace")
	flags.Var(&f.surrogates, "surrogates", "\\u escapes of half a surrogate pair: reject or replace, as above")
	f.engineFlags.add(flags)
	f.progress = choice("auto", "auto", "on", "off")
	flags.Var(&f.progress, "progress", "progress bar on standard error: auto (if a terminal), on or off")
}

// inputArgs makes an INPUT argument required.
func inputArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("INPUT is missing: name a file, a folder, a pattern or - for standard input")
	}
	stdin := 0
	for _, a := range args {
		if a == source.Stdin {
			stdin++
		}
	}
	if stdin > 1 {
		return usagef("INPUT - is given %d times; standard input can be read once", stdin)
	}
	return nil
}

// skip reports whether bad records are dropped rather than ending the run.
func (f *inputFlags) skip() bool { return f.onError.value == "skip" }

// expand finds the inputs that args stand for.
func (c *command) expand(f *inputFlags, args []string) ([]source.Input, error) {
	files, err := source.Expand(args, f.format.format)
	for _, file := range files {
		if len(file.Also) > 0 {
			c.log.Warn("file is read once though it has several names", "file", file.Path, "also", file.Also)
		}
	}
	if err != nil {
		return nil, inputError(err)
	}
	return files, f.engineFlags.validate(files)
}

// carryColumns makes all the default of --metadata if one of files has columns, for an
// output that has columns too.
func (f *inputFlags) carryColumns(files []source.Input) {
	if f.metadata.set {
		return
	}
	for _, file := range files {
		if file.Format.IsTable() {
			f.metadata.names = []string{source.AllMetadata}
			return
		}
	}
}

// newDecoder makes what decodes the inputs.
func (f *inputFlags) newDecoder() (*source.Decoder, error) {
	if f.textKey == "" {
		return nil, usagef("--text-key is empty; use . for the whole record")
	}
	d, err := source.NewDecoder(source.WithTextKey(f.textKey), source.WithIDKey(f.idKey), source.WithMetadata(f.metadata.names...),
		source.WithSurrogates(f.surrogates.policy()), source.WithInvalidUTF8(f.invalidUTF8.policy()))
	if err != nil {
		return nil, &usageError{err}
	}
	return d, nil
}

// formatValue is the flag --format.
type formatValue struct{ format source.Format }

func (v *formatValue) String() string { return v.format.String() }
func (v *formatValue) Type() string   { return "FORMAT" }
func (v *formatValue) Set(s string) error {
	f, err := source.ParseFormat(s)
	if err != nil {
		return errors.New("must be auto, jsonl, text, csv, tsv, arrow, parquet or warc")
	}
	v.format = f
	return nil
}

// policyValue is a flag that says what becomes of text that is not Unicode.
type policyValue struct{ choiceValue }

func (v *policyValue) policy() source.Policy {
	if v.value == "replace" {
		return source.Replace
	}
	return source.Reject
}
