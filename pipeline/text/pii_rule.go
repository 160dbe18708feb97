package text

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
)

// Rule is a kind of personal data that the user describes: an employee number, say.
type Rule struct {
	// Name is what counts and spans call it: a small letter, then small letters, digits,
	// _ and -, 19 characters at most, and none of the names of kinds. In capitals and in
	// brackets it is what takes the place of a match, see [WithReplacement].
	Name string

	// Pattern is in the syntax of package regexp, which is that of RE2 but for \C. It must
	// not match the empty text. Of a pattern with a group named mask, (?P<mask>…), only
	// what the group matched is masked; the rest is what must stand beside it.
	Pattern string
}

// Bounds of a rule: of its name, so that no replacement is as long as a key, and of the
// program that its pattern becomes.
const (
	maxRuleName = 19
	maxRuleProg = 2000
)

// maskGroup is the name of the group that is masked in place of the whole match.
const maskGroup = "mask"

// WithRules adds rules. They are searched before all kinds, in their order, and what
// they find is a wall to what is searched later. Finding takes O(text × pattern), whatever
// both are; a rule whose pattern must have some literal text in it costs next to nothing
// where that does not occur.
//
// A rule that is not valid is an error that wraps [ErrOption] and names it.
func WithRules(rules ...Rule) PIIOption {
	return func(m *PIIMasker) error {
		for _, x := range rules {
			if len(m.rules) == MaxRules {
				return fmt.Errorf("%w: rule %q is one too many, a masker has %d at most; join patterns with |", ErrOption, x.Name, MaxRules)
			}
			if slices.ContainsFunc(m.rules, func(r rule) bool { return r.name == x.Name }) {
				return fmt.Errorf("%w: there are two rules named %q; rename one", ErrOption, x.Name)
			}
			r, err := newRule(x)
			if err != nil {
				return err
			}
			r.kind = RuleKind(len(m.rules))
			m.rules = append(m.rules, r)
		}
		return nil
	}
}

// Rules returns the names of the rules in their order.
func (m *PIIMasker) Rules() []string { return slices.Clone(m.names[kindCount:]) }

// rule is a [Rule] made ready.
type rule struct {
	name   string
	kind   Kind
	re     *regexp.Regexp
	group  int // that is masked; 0 is the whole match
	needs  prefilter
	greedy *greedy
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func newRule(x Rule) (rule, error) {
	refuse := func(why string) (rule, error) {
		return rule{}, fmt.Errorf("%w: rule %q: %s", ErrOption, x.Name, why)
	}
	switch {
	case !ruleName.MatchString(x.Name) || len(x.Name) > maxRuleName:
		return refuse(fmt.Sprintf("a name is a small letter and then small letters, digits, _ and -, %d characters at most", maxRuleName))
	case slices.Contains(kindNames[:], x.Name) || x.Name == "all" || x.Name == "none":
		return refuse("the name stands for kinds that are built in; choose another")
	}
	re, err := regexp.Compile(x.Pattern)
	if err != nil {
		return refuse(err.Error())
	}
	tree, err := syntax.Parse(x.Pattern, syntax.Perl)
	if err != nil {
		return refuse(err.Error())
	}
	tree = tree.Simplify()
	if minRunes(tree) == 0 {
		return refuse(fmt.Sprintf("the pattern %#q can match the empty text; let it need a character at least, with + in place of * say", x.Pattern))
	}
	prog, err := syntax.Compile(tree)
	if err != nil {
		return refuse(err.Error())
	}
	if len(prog.Inst) > maxRuleProg {
		return refuse(fmt.Sprintf("the pattern is too large, a program of %d steps and not of %d at most; repeat less", len(prog.Inst), maxRuleProg))
	}
	r := rule{name: x.Name, re: re, needs: newPrefilter(tree), greedy: newGreedy(prog)}
	for i, name := range re.SubexpNames() {
		if name == maskGroup {
			r.group = i
		}
	}
	return r, nil
}

// label is the word in brackets that takes the place of what the rule finds.
func (x *rule) label() string { return strings.ToUpper(x.name) }

// minRunes returns 0 if a match can be empty, else some lower bound of the code points in
// it.
func minRunes(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return minRunes(re.Sub[0])
	case syntax.OpRepeat:
		return min(re.Min, 1) * minRunes(re.Sub[0])
	case syntax.OpConcat:
		n := 0
		for _, sub := range re.Sub {
			n += minRunes(sub)
		}
		return n
	case syntax.OpAlternate:
		n := minRunes(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, minRunes(sub))
		}
		return n
	}
	return 0 // borders, and what may be left out
}

// findRules appends the spans of all rules.
func (m *PIIMasker) findRules(dst []Span, s []byte) []Span {
	base := len(dst)
	for i := range m.rules {
		x := &m.rules[i]
		if !x.needs.mayMatch(s) {
			continue
		}
		old, lo := len(dst), 0
		for j := base; j < old; j++ {
			dst = x.search(dst, s[lo:dst[j].Start], lo)
			lo = dst[j].End
		}
		dst = x.search(dst, s[lo:], lo)
		if old > base && len(dst) > old {
			dst = mergeSpans(dst, base, old)
		}
	}
	return dst
}

// maxSearches bounds the time that searches of package regexp take in one text: as much as
// that many that read all of it.
const maxSearches = 16

// search appends the spans of the rule in s, which lies at offset in its text. One search
// of package regexp is linear, but it may read far beyond the match that it returns,
// as `a.*b|a` does in a text of many a; so that there is a bound, and the rest is left to an
// algorithm that never reads on.
func (x *rule) search(dst []Span, s []byte, offset int) []Span {
	budget := maxSearches * int64(len(s))
	for p := 0; p < len(s); {
		if budget -= int64(len(s) - p); budget < 0 {
			return x.greedy.search(dst, s[p:], offset+p, x)
		}
		var start, end, behind int
		if x.group == 0 {
			match := x.re.Find(s[p:])
			if match == nil {
				return dst
			}
			// FindIndex would allocate.
			start = int(uintptr(unsafe.Pointer(unsafe.SliceData(match))) - uintptr(unsafe.Pointer(unsafe.SliceData(s))))
			end = start + len(match)
			behind = end
		} else {
			match := x.re.FindSubmatchIndex(s[p:])
			if match == nil {
				return dst
			}
			start, end, behind = p+match[2*x.group], p+match[2*x.group+1], p+match[1]
			if match[2*x.group] < 0 {
				start, end = 0, 0
			}
		}
		if end > start {
			dst = append(dst, Span{offset + start, offset + end, x.kind})
		}
		p = behind
	}
	return dst
}

// prefilter tells for little that a pattern cannot match.
type prefilter struct {
	literals [][]byte     // of which one at least is in every match; none if nothing is known
	set      *cpu.ByteSet // of which a byte is in every match; nil if nothing is known
}

func (f *prefilter) mayMatch(s []byte) bool {
	for _, l := range f.literals {
		if bytes.Contains(s, l) {
			return true
		}
	}
	if f.set != nil {
		return cpu.IndexAny(s, f.set) < len(s)
	}
	return len(f.literals) == 0
}

// Bounds beyond which a prefilter costs more than it spares.
const (
	maxLiterals = 8
	maxSetBytes = 16
)

func newPrefilter(re *syntax.Regexp) (f prefilter) {
	for _, l := range requiredLiterals(re) {
		f.literals = append(f.literals, []byte(l))
	}
	if f.literals == nil {
		if set := requiredSet(re); len(set) > 0 {
			f.set = cpu.NewByteSet(set...)
		}
	}
	return f
}

// requiredLiterals returns texts of which one at least is in every match, nil if there are
// none or too many.
func requiredLiterals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		// U+FFFD matches a byte that is not UTF-8, which is another text.
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, '\uFFFD') {
			return nil
		}
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiterals(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if l := requiredLiterals(sub); l != nil && (best == nil || shortest(l) > shortest(best)) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := requiredLiterals(sub)
			if l == nil || len(all)+len(l) > maxLiterals {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list[1:] {
		n = min(n, len(s))
	}
	return n
}

// requiredSet returns ASCII bytes of which one at least is in every match, nil if there
// are none or too many.
func requiredSet(re *syntax.Regexp) []byte {
	switch re.Op {
	case syntax.OpCharClass:
		var set []byte
		for i := 0; i < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			if hi >= 0x80 || len(set)+int(hi-lo)+1 > maxSetBytes {
				return nil
			}
			for c := lo; c <= hi; c++ {
				set = append(set, byte(c))
			}
		}
		return set
	case syntax.OpCapture, syntax.OpPlus:
		return requiredSet(re.Sub[0])
	case syntax.OpConcat:
		var best []byte
		for _, sub := range re.Sub {
			if set := requiredSet(sub); set != nil && (best == nil || len(set) < len(best)) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []byte
		for _, sub := range re.Sub {
			set := requiredSet(sub)
			if set == nil || len(all)+len(set) > maxSetBytes {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}
