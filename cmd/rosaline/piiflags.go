package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// What becomes of a piece of personal data.
const (
	piiReplace = "replace"
	piiHash    = "hash"
	piiSpans   = "spans"
)

// piiKeyVariable is the environment variable of the key of pseudonyms. The key has no
// flag: the command line is seen by every user of the machine, and by the report.
const piiKeyVariable = "ROSALINE_PII_KEY"

// maxPIIFile is the largest size in bytes of a file of rules or of a key.
const maxPIIFile = 1 << 20

// piiFlags say what masking does besides the kinds.
type piiFlags struct {
	modes        piiModeValue
	replacements pairsValue
	rules        pairsValue
	rulesFile    string
	keyFile      string
}

func (f *piiFlags) add(flags *pflag.FlagSet) {
	flags.Var(&f.modes, "pii-mode", "pii: what becomes of it: replace, hash (pseudonyms by a key), or spans (the text stays, places are listed); or NAME=replace|hash for some kinds and rules")
	f.replacements.typ = "NAME=TEXT"
	flags.Var(&f.replacements, "pii-replace", "pii: text in place of a kind or of what a rule finds; may be given again")
	f.rules.typ = "NAME=PATTERN"
	flags.Var(&f.rules, "pii-rule", "pii: also find what a pattern of RE2 matches, or its group (?P<mask>…); may be given again")
	flags.StringVar(&f.rulesFile, "pii-rules", "", "pii: read rules from `FILE`, a NAME=PATTERN a line")
	flags.StringVar(&f.keyFile, "pii-key-file", "", "pii: read the key of pseudonyms from `FILE`; without it, it is in "+piiKeyVariable)
}

// names lists the flags.
func (*piiFlags) names() []string {
	return []string{"pii", "pii-mode", "pii-replace", "pii-rule", "pii-rules", "pii-key-file"}
}

// hasRules says whether anything is found besides the kinds.
// files are those that are read besides the inputs.
func (f *piiFlags) files() (paths []string) {
	for _, path := range []string{f.rulesFile, f.keyFile} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func (f *piiFlags) hasRules() bool { return len(f.rules.pairs) > 0 || f.rulesFile != "" }

// newMasker makes the masker that looks for kinds. format is that of the output.
func (f *piiFlags) newMasker(kinds []text.Kind, format output.Format) (*text.PIIMasker, error) {
	rules, err := f.allRules()
	if err != nil {
		return nil, err
	}
	opts := []text.PIIOption{text.WithKinds(kinds...), text.WithRules(rules...)}
	kindOf := func(flag, name string) (text.Kind, error) {
		if i := slices.IndexFunc(rules, func(r text.Rule) bool { return r.Name == name }); i >= 0 {
			return text.RuleKind(i), nil
		}
		known := slices.IndexFunc(text.AllKinds(), func(k text.Kind) bool { return k.String() == name })
		switch {
		case known < 0:
			return 0, fmt.Errorf("--%s %s: there is no kind and no rule of this name", flag, name)
		case !slices.Contains(kinds, text.AllKinds()[known]):
			return 0, fmt.Errorf("--%s %s: nothing looks for this kind; add it to --pii", flag, name)
		}
		return text.AllKinds()[known], nil
	}

	var hashed []text.Kind
	for _, p := range f.modes.byName {
		k, err := kindOf("pii-mode", p.name)
		if err != nil {
			return nil, err
		}
		if p.value == piiHash {
			hashed = append(hashed, k)
		}
	}
	if f.modes.all == piiHash {
		for _, k := range append(slices.Clone(kinds), ruleKinds(rules)...) {
			if !slices.ContainsFunc(f.modes.byName, func(p pair) bool { kind, _ := kindOf("", p.name); return kind == k }) {
				hashed = append(hashed, k)
			}
		}
	}
	if len(hashed) > 0 {
		key, err := f.key()
		if err != nil {
			return nil, err
		}
		opts = append(opts, text.WithPseudonyms(key, hashed...))
	} else if f.keyFile != "" {
		return nil, errors.New("--pii-key-file has no effect without --pii-mode hash")
	}

	for i, p := range f.replacements.pairs {
		k, err := kindOf("pii-replace", p.name)
		switch {
		case err != nil:
			return nil, err
		case f.modes.all == piiSpans || slices.Contains(hashed, k):
			return nil, fmt.Errorf("--pii-replace %s has no effect: --pii-mode does not replace it", p.name)
		case slices.ContainsFunc(f.replacements.pairs[:i], func(q pair) bool { return q.name == p.name }):
			return nil, fmt.Errorf("--pii-replace %s is given twice", p.name)
		}
		opts = append(opts, text.WithReplacement(k, p.value))
	}
	if f.modes.all == piiSpans {
		if format != output.JSONL {
			return nil, fmt.Errorf("--pii-mode spans needs --out-format jsonl, not %s", format)
		}
		opts = append(opts, text.WithSpansOnly(true))
	}
	return text.NewPIIMasker(opts...)
}

func ruleKinds(rules []text.Rule) []text.Kind {
	kinds := make([]text.Kind, len(rules))
	for i := range kinds {
		kinds[i] = text.RuleKind(i)
	}
	return kinds
}

// allRules returns the rules of the command line and, behind them, those of the file.
func (f *piiFlags) allRules() ([]text.Rule, error) {
	var rules []text.Rule
	for _, p := range f.rules.pairs {
		rules = append(rules, text.Rule{Name: p.name, Pattern: p.value})
	}
	if f.rulesFile == "" {
		return rules, nil
	}
	data, err := readSmallFile(f.rulesFile)
	if err != nil {
		return nil, fmt.Errorf("--pii-rules: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p, err := parsePair(line)
		if err != nil {
			return nil, fmt.Errorf("--pii-rules %s:%d: %w", f.rulesFile, n, err)
		}
		rules = append(rules, text.Rule{Name: p.name, Pattern: p.value})
	}
	return rules, nil
}

// key returns the key of pseudonyms: the file or the variable but for a line end behind it.
func (f *piiFlags) key() ([]byte, error) {
	if f.keyFile == "" {
		if key := os.Getenv(piiKeyVariable); key != "" {
			return []byte(key), nil
		}
		return nil, fmt.Errorf("--pii-mode hash needs a key, 16 bytes or more from a source of randomness: name a file that holds it with --pii-key-file, or set %s", piiKeyVariable)
	}
	key, err := readSmallFile(f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--pii-key-file: %w", err)
	}
	return []byte(strings.TrimSuffix(strings.TrimSuffix(string(key), "\n"), "\r")), nil
}

// readSmallFile reads a file of at most maxPIIFile bytes.
func readSmallFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPIIFile+1))
	if err == nil && len(data) > maxPIIFile {
		err = fmt.Errorf("%s has more than %d bytes; name another file", path, maxPIIFile)
	}
	return data, err
}

// pair is a name and what belongs to it.
type pair struct{ name, value string }

func parsePair(s string) (pair, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return pair{}, fmt.Errorf("%q must be a name, = and what belongs to it", s)
	}
	return pair{name, value}, nil
}

// pairsValue is a flag that takes a pair each time that it is given.
type pairsValue struct {
	pairs []pair
	typ   string
}

func (v *pairsValue) Type() string { return v.typ }
func (v *pairsValue) String() string {
	list := make([]string, len(v.pairs))
	for i, p := range v.pairs {
		list[i] = p.name + "=" + p.value
	}
	return strings.Join(list, " ")
}
func (v *pairsValue) Set(s string) error {
	p, err := parsePair(s)
	if err != nil {
		return err
	}
	v.pairs = append(v.pairs, p)
	return nil
}

// piiModeValue is the flag --pii-mode.
type piiModeValue struct {
	all    string // for what byName does not name
	byName []pair
}

func (v *piiModeValue) Type() string { return "MODE" }
func (v *piiModeValue) String() string {
	list := []string{v.all}
	if v.all == "" {
		list[0] = piiReplace
	}
	for _, p := range v.byName {
		list = append(list, p.name+"="+p.value)
	}
	return strings.Join(list, ",")
}
func (v *piiModeValue) Set(s string) error {
	next := piiModeValue{}
	for i, word := range strings.Split(s, ",") {
		p := pair{value: word}
		if strings.Contains(word, "=") {
			var err error
			if p, err = parsePair(word); err != nil {
				return err
			}
		}
		switch {
		case p.name == "" && i > 0:
			return fmt.Errorf("%q must come first, then those of single kinds, such as email=hash", word)
		case p.value == piiSpans && (p.name != "" || strings.Contains(s, ",")):
			return errors.New("spans is for all kinds together")
		case p.value != piiReplace && p.value != piiHash && p.value != piiSpans:
			return fmt.Errorf("%q is not one of %s, %s, %s", p.value, piiReplace, piiHash, piiSpans)
		case slices.ContainsFunc(next.byName, func(q pair) bool { return q.name == p.name }):
			return fmt.Errorf("%s is listed twice", p.name)
		case p.name == "":
			next.all = p.value
		default:
			next.byName = append(next.byName, p)
		}
	}
	*v = next
	return nil
}
