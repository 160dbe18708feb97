package text

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func newRuleMasker(t require.TestingT, rules ...Rule) *PIIMasker {
	m, err := NewPIIMasker(WithKinds(), WithRules(rules...))
	require.NoError(t, err)
	return m
}

func TestRules(t *testing.T) {
	for _, c := range []struct{ pattern, in, out string }{
		{`EMP-\d{6}`, "EMP-123456, EMP-12345, xEMP-000000", "[X], EMP-12345, x[X]"},
		{`\bEMP-\d{6}\b`, "EMP-123456 xEMP-000000 EMP-0000000", "[X] xEMP-000000 EMP-0000000"},
		{`(?i)patient (?P<mask>\w+)`, "Patient Smith and PATIENT Jones", "Patient [X] and PATIENT [X]"},
		{`a(?P<mask>b)?c`, "ac abc ac", "ac a[X]c ac"},
		{`(?:ghij|klmn)\d`, "ghij1klmn2 ghij", "[X][X] ghij"},
		{`[0-9]{3}-[0-9]{2}-[0-9]{4}`, "123-45-6789.", "[X]."},
		{`日本\p{Han}*`, "in 日本語 or 日本", "in [X] or [X]"},
		{`\x{FFFD}+`, "a\xff\xfeb", "a[X]b"}, // a byte that is not UTF-8 is U+FFFD to package regexp
		{`^go`, "gogo go", "[X][X] go"},      // behind a match the text starts anew
		{`(?m)^#.*$`, "# a\n b\n#c", "[X]\n b\n[X]"},
	} {
		m := newRuleMasker(t, Rule{"x", c.pattern})
		got, spans := m.MaskString(c.in)
		require.Equal(t, c.out, got, "%s in %q", c.pattern, c.in)
		requireRule(t, c.pattern, c.in)
		for _, s := range spans {
			require.Equal(t, RuleKind(0), s.Kind)
		}
	}
}

func TestRuleOrder(t *testing.T) {
	m, err := NewPIIMasker(WithRules(Rule{"first", `b+@`}, Rule{"second", `ab+|@x`}), WithReplacement(RuleKind(1), "2"))
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second"}, m.Rules())
	require.Equal(t, "second", m.Name(RuleKind(1)))
	require.Equal(t, "email", m.Name(KindEmail))
	require.Equal(t, "rule(2)", m.Name(RuleKind(2)))
	got, spans := m.MaskString("abb@xy.org abbb a@x.org ann@y.org")
	require.Equal(t, "a[FIRST]xy.org 2 a2.org [EMAIL]", got)
	require.Equal(t, []Span{{1, 4, RuleKind(0)}, {11, 15, RuleKind(1)}, {17, 19, RuleKind(1)}, {24, 33, KindEmail}}, spans)
}

func TestRuleRefused(t *testing.T) {
	many := make([]Rule, MaxRules+1)
	for i := range many {
		many[i] = Rule{fmt.Sprintf("r%d", i), "x"}
	}
	for _, c := range []struct {
		rules []Rule
		says  string
	}{
		{[]Rule{{"", "x"}}, "a name is"},
		{[]Rule{{"Name", "x"}}, "a name is"},
		{[]Rule{{"a name", "x"}}, "a name is"},
		{[]Rule{{"abcdefghijklmnopqrst", "x"}}, "a name is"},
		{[]Rule{{"email", "x"}}, "built in"},
		{[]Rule{{"all", "x"}}, "built in"},
		{[]Rule{{"a", "x"}, {"a", "y"}}, "two rules"},
		{[]Rule{{"a", "("}}, "missing closing"},
		{[]Rule{{"a", `(?=x)`}}, "invalid"},
		{[]Rule{{"a", `(?:(?:a{100}){10}b){0,1000}`}}, "a"},
		{[]Rule{{"a", `[^a]{1000}\pL{1000}`}}, "too large"},
		{[]Rule{{"a", ""}}, "empty text"},
		{[]Rule{{"a", "x*"}}, "empty text"},
		{[]Rule{{"a", `\b`}}, "empty text"},
		{[]Rule{{"a", `x|y?`}}, "empty text"},
		{[]Rule{{"a", `(?:x*){3,}`}}, "empty text"},
		{[]Rule{{"a", `^$`}}, "empty text"},
		{many, "one too many"},
	} {
		_, err := NewPIIMasker(WithRules(c.rules...))
		require.ErrorIs(t, err, ErrOption, "%v", c.rules)
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, c.rules[len(c.rules)-1].Name)
	}
	_, err := NewPIIMasker(WithRules(many[:MaxRules]...), WithReplacement(RuleKind(MaxRules-1), "last"))
	require.NoError(t, err)
	_, err = NewPIIMasker(WithRules(many[0]), WithReplacement(RuleKind(1), "none"))
	require.ErrorIs(t, err, ErrOption)
}

// rulePattern draws a pattern of every construct that package regexp has.
func rulePattern(t *rapid.T, depth int) string {
	leaves := []string{"a", "b", "ab", ".", `[^a]`, `[ab]`, `\w`, `\d`, "é", `\b`, "^", "$", `\B`, `(?:)`, `(?i:A)`, `(?s:.)`, `(?m:^)`, `(?m:$)`, `\x{FFFD}`}
	if depth == 0 {
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	}
	sub := func() string { return rulePattern(t, depth-1) }
	switch rapid.IntRange(0, 9).Draw(t, "node") {
	case 0, 1, 2:
		return sub() + sub()
	case 3, 4:
		return "(?:" + sub() + "|" + sub() + ")"
	case 5:
		return "(?:" + sub() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"}).Draw(t, "repeat")
	case 6:
		return "(" + sub() + ")"
	}
	return rapid.SampledFrom(leaves).Draw(t, "leaf")
}

// modelRule is what a rule finds: the matches of package regexp, each in what is left
// behind the one before.
func modelRule(pattern, s string) (spans []Span) {
	re := regexp.MustCompile(pattern)
	group := max(re.SubexpIndex(maskGroup), 0)
	for p := 0; p < len(s); {
		m := re.FindStringSubmatchIndex(s[p:])
		if m == nil {
			break
		}
		if m[2*group+1] > m[2*group] {
			spans = append(spans, Span{p + m[2*group], p + m[2*group+1], RuleKind(0)})
		}
		p += m[1]
	}
	return spans
}

// requireRule holds a rule to the model, and the algorithm that takes over in hostile
// texts to the same.
func requireRule(t require.TestingT, pattern, s string) {
	m, err := NewPIIMasker(WithKinds(), WithRules(Rule{"x", pattern}))
	if err != nil { // it can match the empty text, say
		require.ErrorIs(t, err, ErrOption)
		return
	}
	want := modelRule(pattern, s)
	require.Equal(t, want, m.Find([]byte(s)), "%s in %q", pattern, s)
	x := &m.rules[0]
	require.Equal(t, want, x.greedy.search(nil, []byte(s), 0, x), "greedy, %s in %q", pattern, s)
}

func TestRuleAgainstRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rulePattern(t, 3)
		if rapid.Bool().Draw(t, "group") {
			pattern = rulePattern(t, 1) + "(?P<mask>" + rulePattern(t, 2) + ")" + rulePattern(t, 1)
		}
		letters := rapid.SampledFrom([]string{"a", "b", "A", "1", " ", "\n", "é", "\xff", "\xc3"})
		for range 5 {
			requireRule(t, pattern, strings.Join(rapid.SliceOfN(letters, 0, 12).Draw(t, "text"), ""))
		}
	})
}

// TestRuleSegments runs the same over texts longer than what is remembered at a time.
func TestRuleSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{`a+`, `é+b`, `a.*?b|é`, `\bab\b`, `(?s)b.{900}b`, `a(?P<mask>b+)`, `ab|(?:éa)+`}).Draw(t, "pattern")
		piece := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", " ", "é", "\xff", "\n"}), 1, 9).Draw(t, "piece"), "")
		fill := rapid.SampledFrom([]string{"x", "é", "日", "a"}).Draw(t, "fill")
		s := strings.Repeat(fill, rapid.IntRange(0, 2*greedySegment).Draw(t, "before")) + piece +
			strings.Repeat(fill, rapid.IntRange(0, greedySegment).Draw(t, "between")) + strings.Repeat(piece, 20)
		requireRule(t, pattern, s)
	})
}

func TestRulePrefilter(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		literals []string
		set      string
	}{
		{`EMP-\d{6}`, []string{"EMP-"}, ""},
		{`\d+-ACCT`, []string{"-ACCT"}, ""},
		{`(?:foo|bar+)x?`, []string{"foo", "ba"}, ""},
		{`(?i)emp\d+`, nil, "0123456789"},
		{`[A-Z]{2}[xyz]`, nil, "xyz"},
		{`[a-z]+`, nil, ""},
		{`foo?|x`, []string{"fo", "x"}, ""},
		{`(?:a|b?)c*d`, []string{"d"}, ""},
		{`\x{FFFD}`, nil, ""},
	} {
		f := newRuleMasker(t, Rule{"x", c.pattern}).rules[0].needs
		var literals []string
		for _, l := range f.literals {
			literals = append(literals, string(l))
		}
		require.Equal(t, c.literals, literals, c.pattern)
		set := ""
		if f.set != nil {
			for b := range 256 {
				if f.set.Contains(byte(b)) {
					set += string(rune(b))
				}
			}
		}
		require.Equal(t, c.set, set, c.pattern)
	}
}

// TestRuleLinear searches texts in which every match reads to the end before it is found.
func TestRuleLinear(t *testing.T) {
	for _, c := range []struct{ pattern, unit string }{
		{`a.*b|a`, "a"}, {`(?s)a(?:.*b)?`, "a "}, {`ID-\d+(?:-.*END)?`, "ID-1 "}, {`(a+)+b|a`, "a"}, {`a(?P<mask>a)(?:.*b)?`, "a"},
		{`(?:a|aa)+$|a`, "a"}, {`\w+@(?:\w+\.)+\w+|\w`, "a"}, {`x*?a`, "a"}, {`(?:a?){20}a{20}`, "a"}, {`b.*b`, "a"},
	} {
		m := newRuleMasker(t, Rule{"x", c.pattern})
		var spans []Span
		t.Run(c.pattern, func(t *testing.T) {
			// Package regexp takes a faster way where a text is shorter.
			lineartime.Require(t, 1<<12, func(n int) func() {
				s := []byte(strings.Repeat(c.unit, n/len(c.unit)))
				return func() { spans = m.AppendSpans(spans[:0], s) }
			})
		})
	}
}

// TestRuleWalls puts rules and kinds together: the spans are disjoint and in order, and
// kinds are found in what the rules left.
func TestRuleWalls(t *testing.T) {
	m, err := NewPIIMasker(WithKinds(AllKinds()...), WithRules(Rule{"at", `@|\d\d`}, Rule{"dot", `[.:]\w`}))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(5, 6))
	kinds := map[Kind]int{}
	for range 3000 {
		s := piiDocument(r)
		spans := m.Find([]byte(s))
		var want []Span
		lo := 0
		for _, x := range append(spans, Span{Start: len(s), End: len(s)}) {
			require.LessOrEqual(t, lo, x.Start, "%q", s)
			if x.Kind >= kindCount {
				kinds[x.Kind]++
				continue
			}
			lo = x.End
		}
		lo = 0
		for _, x := range ruleSpans(spans, len(s)) {
			for _, y := range modelFind(s[lo:x.Start], AllKinds()...) {
				want = append(want, Span{y.Start + lo, y.End + lo, y.Kind})
			}
			if x.End > x.Start {
				want = append(want, x)
			}
			lo = x.End
		}
		require.Equal(t, want, spans, "%q", s)
	}
	require.Len(t, kinds, 2)
}

// ruleSpans returns those of spans that rules found, and an empty one at the end.
func ruleSpans(spans []Span, end int) (out []Span) {
	for _, x := range spans {
		if x.Kind >= kindCount {
			out = append(out, x)
		}
	}
	return append(out, Span{Start: end, End: end})
}
