package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// rosaFlags are the flags of rosaline rosa.
type rosaFlags struct {
	inputFlags
	algorithm     choiceValue
	candidates    candidatesValue
	text          bool
	device, check choiceValue
	out           string
}

// add defines the flags. The order is that of the help.
func (f *rosaFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.algorithm = choice("automaton", "automaton").notYet("use automaton", "rlbwt", "rlbwt-compact", "rlbwt-mc")
	flags.Var(&f.algorithm, "algorithm", "how matches are found: automaton")
	flags.Var(&f.candidates, "candidates", "also write up to R occurrences of each of the K longest suffixes, or off")
	flags.BoolVar(&f.text, "text", false, "lines are raw text, whose bytes are the tokens")
	f.device = choice("auto", "auto", "cpu", "cuda")
	flags.Var(&f.device, "device", "where matches are found: auto, cpu or cuda")
	f.check = choice("sampled", "always", "sampled", "never")
	flags.Var(&f.check, "check", "how results of a device are checked: always, sampled or never")

	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.inputFlags.add(shared)
	flags.Var(&f.workers, "threads", "lines that are worked on at once; auto is one a CPU")
	flags.StringVarP(&f.out, "output", "o", output.Stdout, "write the output to `PATH`, - for standard output; .gz and .zst are compressed")
	flags.AddFlag(shared.Lookup("id-key"))
	// A stream is a line, and a book is one stream.
	f.maxLine.n = 64 << 20
	flags.Var(&f.maxLine, "max-line", "longest line that is read; a longer one is a bad record")
	for _, name := range []string{"max-window", "invalid-utf8", "surrogates", "on-error", "batch", "prefetch", "metrics", "progress"} {
		flags.AddFlag(shared.Lookup(name))
	}
}

// validate finds contradictions, and says what the input holds.
func (f *rosaFlags) validate(path string) error {
	f.textKey = "tokens"
	f.format.format = source.FormatJSONL
	if f.text {
		f.format.format = source.FormatText
	}
	switch {
	case path != source.Stdin && isDirectory(path):
		return usagef("FILE %s is a folder; name a file", path)
	case f.out == "":
		return usagef("--output is empty; leave it out or use - for standard output")
	}
	return checkOutputPath("-o", f.out)
}

// candidatesValue is the flag --candidates: K,R, or off.
type candidatesValue struct{ suffixes, occurrences int }

// maxCandidates is the largest K, and the largest R; maxSlots of K·R.
const (
	maxCandidates = 1 << 12
	maxSlots      = 1 << 16
)

func (v *candidatesValue) Type() string { return "K,R" }
func (v *candidatesValue) String() string {
	if !v.on() {
		return "off"
	}
	return fmt.Sprintf("%d,%d", v.suffixes, v.occurrences)
}
func (v *candidatesValue) Set(s string) error {
	if s == "off" {
		*v = candidatesValue{}
		return nil
	}
	k, r, both := strings.Cut(s, ",")
	suffixes, err := strconv.Atoi(k)
	occurrences, failed := strconv.Atoi(r)
	if !both || err != nil || failed != nil || min(suffixes, occurrences) < 1 || max(suffixes, occurrences) > maxCandidates ||
		suffixes*occurrences > maxSlots {
		return fmt.Errorf("must be K,R, two whole numbers from 1 to %d, of a product of %d at most, such as 16,4, or off", maxCandidates, maxSlots)
	}
	*v = candidatesValue{suffixes, occurrences}
	return nil
}

// on reports whether candidates are asked for.
func (v *candidatesValue) on() bool { return v.suffixes > 0 }
