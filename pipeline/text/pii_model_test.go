package text

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The model is docs/pii.md once more, written with the stdlib's regexp and netip and
// no thought of speed: every rule is tried at every byte.

// modelForm is one search. At each position that before allows, the patterns are tried
// in order, and the first that check accepts is the match.
type modelForm struct {
	kind   Kind
	starts string // the bytes a match may start with, to save time; "" for any
	before func(text string, i int) bool
	res    []*regexp.Regexp
	// check gets the submatches as positions in text, and returns the span.
	check func(text string, m []int) (start, end int, ok bool)
}

func modelWord(r rune, n int) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return n > 1 && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r))
}

func modelWordBefore(text string, i int) bool {
	r, n := utf8.DecodeLastRuneInString(text[:i])
	return n > 0 && modelWord(r, n)
}

func modelWordAt(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	return modelWord(r, n)
}

// modelByte returns the byte at i, a space outside of the text.
func modelByte(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

func res(patterns ...string) []*regexp.Regexp {
	out := []*regexp.Regexp{}
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(`^(?:`+p+`)`))
	}
	return out
}

var (
	modelSegment = regexp.MustCompile(`[A-Za-z0-9]{8,}`)
	modelDigit   = regexp.MustCompile(`[0-9]`)
	modelLetter  = regexp.MustCompile(`[A-Za-z]`)
)

func modelKeyLike(s string) bool {
	for _, run := range modelSegment.FindAllString(s, -1) {
		if len(run) >= 15 || modelLetter.MatchString(run) && len(modelDigit.FindAllString(run, -1)) >= 2 {
			return true
		}
	}
	return false
}

const modelToken = `[A-Za-z0-9_-]`

var modelKeyBlocks = modelForm{
	kind:   KindKey,
	starts: "-",
	res: res(`-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY-----(?:-{0,4}[A-Za-z0-9+/=:,\\ \t\r\n\f\v])*` +
		`-----END [A-Z0-9 ]{0,32}PRIVATE KEY-----`),
	check: func(_ string, m []int) (int, int, bool) { return m[0], m[1], true },
}

var modelBearers = modelForm{
	kind:   KindKey,
	starts: "B",
	before: func(text string, i int) bool { return !modelWordBefore(text, i) },
	res:    res(`Bearer[ \t]+([A-Za-z0-9._~+/-]+)(={0,2})`),
	check: func(text string, m []int) (int, int, bool) {
		run, end := text[m[2]:m[3]], m[5]
		if m[4] == m[5] {
			run = strings.TrimRight(run, "._~+/-")
			end = m[2] + len(run)
		}
		return m[0], end, !modelWordAt(text, m[3]) && len(run) >= 20 && modelKeyLike(run)
	},
}

// modelRunBefore is (?<![\w-])(?!(?<=\])[_-]).
func modelRunBefore(text string, i int) bool {
	b := modelByte(text, i-1)
	return !modelWordBefore(text, i) && b != '-' && (b != ']' || text[i] != '-' && text[i] != '_')
}

// modelRunEnds is (?![\w-]).
func modelRunEnds(text string, i int) bool {
	return !modelWordAt(text, i) && modelByte(text, i) != '-'
}

var modelDotted = modelForm{
	kind:   KindKey,
	starts: "eSy_-",
	before: modelRunBefore,
	res: res(
		`[_-]*(eyJ`+modelToken+`{10,}(?:\.`+modelToken+`{10,}){4})`,
		`[_-]*(eyJ`+modelToken+`{10,}(?:\.`+modelToken+`{10,}){3})`,
		`[_-]*(eyJ`+modelToken+`{10,}(?:\.`+modelToken+`{10,}){2})`,
		`[_-]*(SG\.`+modelToken+`{16,}\.`+modelToken+`{16,})`,
		`[_-]*(ya29\.`+modelToken+`{20,})`,
	),
	check: func(text string, m []int) (int, int, bool) { return m[2], m[3], modelRunEnds(text, m[3]) },
}

var (
	modelAWS    = regexp.MustCompile(`^(?:AKIA|ASIA)[A-Z0-9]{16}`)
	modelGoogle = regexp.MustCompile(`^AIza(.{35,})$`)
	modelOther  = regexp.MustCompile(`^(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|[rsp]k_(?:live|test)_|whsec_|npm_|pypi-|` +
		`xox[abeprs]-|xapp-|nvapi-|gsk_|xai-|shpat_|dop_v1_|lin_api_)(.{15,})$`)
)

var modelPrefixed = modelForm{
	kind:   KindKey,
	before: modelRunBefore,
	res:    res(modelToken + `+`),
	check: func(text string, m []int) (int, int, bool) {
		key := strings.TrimLeft(text[m[0]:m[1]], "-_")
		start := m[1] - len(key)
		if modelAWS.MatchString(key) && !modelWordAt(text, start+20) {
			return start, start + 20, true
		}
		key = strings.TrimRight(key, "-_")
		ok := false
		for _, re := range []*regexp.Regexp{modelGoogle, modelOther} {
			if sub := re.FindStringSubmatch(key); sub != nil {
				ok = ok || modelKeyLike(sub[1])
			}
		}
		return start, start + len(key), ok && modelRunEnds(text, m[1])
	},
}

var modelNamed = modelForm{
	kind:   KindKey,
	starts: "asptASPT",
	res: res("(?:(?i:(?:api|access|secret|private|account)[_-]?key|secret|token|authorization))[\"']?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}" +
		"(?:(?:Basic|Token|ApiKey)[ \t]{1,4})?[\"'`]?([A-Za-z0-9][A-Za-z0-9_+/-]{19,})(={0,2})"),
	check: func(text string, m []int) (int, int, bool) {
		run := text[m[2]:m[3]]
		next := modelByte(text, m[3])
		ok := modelKeyLike(run)
		switch len(modelDigit.FindAllString(run, -1)) {
		case 0:
			ok = false
		case 1:
			ok = ok && strings.ToLower(run) != run && strings.ToUpper(run) != run
		default:
			ok = ok && modelLetter.MatchString(run)
		}
		return m[2], m[5], ok && !modelWordAt(text, m[3]) && next != '(' && next != '['
	},
}

var modelDomain = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+` +
	`(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])$`)

var modelEmails = modelForm{
	kind:   KindEmail,
	before: func(text string, i int) bool { return !modelWordBefore(text, i) },
	res:    res(`([A-Za-z0-9_][A-Za-z0-9._%+-]{0,63})@`),
	check: func(text string, m []int) (int, int, bool) {
		local := text[m[2]:m[3]]
		if strings.Contains(local, "..") || strings.HasSuffix(local, ".") {
			return 0, 0, false
		}
		for e := min(len(text), m[1]+255); e > m[1]; e-- {
			if !modelWordAt(text, e) && modelDomain.MatchString(text[m[1]:e]) {
				return m[0], e, true
			}
		}
		return 0, 0, false
	},
}

var modelIssuer = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`4(?:.{12}|.{15}|.{18})`,
	`5[1-5].{14}`, `(?:222[1-9]|22[3-9].|2[3-6]..|27[01].|2720).{12}`,
	`3[47].{13}`,
	`30[0-5].{11,16}`, `3095.{10,15}`, `3[689].{12,17}`,
	`35(?:2[89]|[3-8].).{12,15}`,
	`220[0-4].{12,15}`,
	`6011.{12,15}`, `64[4-9].{13,16}`, `65.{14,17}`, `62.{14,17}`,
	`(?:50|5[6-9]|6.).{11,17}`,
}, "|") + `)$`)

// modelLuhn sums the digits by the table of doubled ones.
func modelLuhn(digits string) bool {
	const doubled = "0246813579"
	sum := 0
	for i := range len(digits) {
		d := digits[i] - '0'
		if (len(digits)-i)%2 == 0 {
			d = doubled[d] - '0'
		}
		sum += int(d)
	}
	return sum%10 == 0
}

var modelCards = modelForm{
	kind:   KindCard,
	starts: "0123456789",
	before: func(text string, i int) bool {
		return !modelWordBefore(text, i) && !strings.ContainsRune(".+-", rune(modelByte(text, i-1)))
	},
	res: res(
		`[0-9]{13,19}`,
		`[0-9]{4}(?: [0-9]{4}){3} [0-9]{3}`, `[0-9]{4}(?:-[0-9]{4}){3}-[0-9]{3}`,
		`[0-9]{4}(?: [0-9]{4}){3} [0-9]{2}`, `[0-9]{4}(?:-[0-9]{4}){3}-[0-9]{2}`,
		`[0-9]{4}(?: [0-9]{4}){3} [0-9]`, `[0-9]{4}(?:-[0-9]{4}){3}-[0-9]`,
		`[0-9]{4}(?: [0-9]{4}){3}`, `[0-9]{4}(?:-[0-9]{4}){3}`,
		`[0-9]{4} [0-9]{6} [0-9]{5}`, `[0-9]{4}-[0-9]{6}-[0-9]{5}`,
		`[0-9]{4} [0-9]{6} [0-9]{4}`, `[0-9]{4}-[0-9]{6}-[0-9]{4}`,
		`[0-9]{4} [0-9]{4} [0-9]{4} [0-9]`, `[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]`,
	),
	check: func(text string, m []int) (int, int, bool) {
		next, after := modelByte(text, m[1]), modelByte(text, m[1]+1)
		if modelWordAt(text, m[1]) || next == '.' && after >= '0' && after <= '9' || next == '-' && modelWordAt(text, m[1]+1) {
			return 0, 0, false
		}
		digits := strings.NewReplacer(" ", "", "-", "").Replace(text[m[0]:m[1]])
		return m[0], m[1], modelIssuer.MatchString(digits) && modelLuhn(digits)
	},
}

const modelOctet = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`

var (
	modelPrefixLength = regexp.MustCompile(`^/[0-9]`)

	modelHexRun  = regexp.MustCompile(`^[0-9A-Fa-f:]+`)
	modelQuad    = regexp.MustCompile(`^` + modelOctet + `(?:\.` + modelOctet + `){3}`)
	modelVersion = regexp.MustCompile(`([A-Za-z]+)["']?[.:=]?[ \t\x{a0}]{0,2}["']?$`)
)

func modelAddressBefore(text string, i int) bool {
	b := modelByte(text, i-1)
	return !modelWordBefore(text, i) && b != '.' &&
		(!strings.ContainsRune("-/+~", rune(b)) || !modelWordBefore(text, i-1) && modelByte(text, i-2) != ']')
}

func modelIP4(text string, m []int) (int, int, bool) {
	if !modelAddressBefore(text, m[0]) || modelWordAt(text, m[1]) {
		return 0, 0, false
	}
	next := modelByte(text, m[1])
	if next == '.' && modelWordAt(text, m[1]+1) {
		return 0, 0, false
	}
	if strings.ContainsRune("-+~", rune(next)) && m[1]+1 < len(text) {
		r, n := utf8.DecodeRuneInString(text[m[1]+1:])
		if modelWord(r, n) && r != '_' && (r < '0' || r > '9') {
			return 0, 0, false
		}
	}
	before := text[:m[0]]
	for _, operator := range []string{"==", "<=", ">=", "~=", "!="} {
		if strings.HasSuffix(before, operator) {
			return 0, 0, false
		}
	}
	if v := modelVersion.FindStringSubmatchIndex(before); v != nil {
		word := strings.ToLower(before[v[2]:v[3]])
		words := strings.Fields("v ver version release build rev revision firmware section chapter")
		if slices.Contains(words, word) && (!modelWordBefore(before, v[2]) || modelByte(before, v[2]-1) == '_') {
			return 0, 0, false
		}
	}
	return m[0], m[1], true
}

func modelIP6(text string, m []int) (int, int, bool) {
	start, end := m[0], m[1]
	if start > 0 && modelHexRun.MatchString(text[start-1:]) || strings.Count(text[start:end], ":") < 2 {
		return 0, 0, false
	}
	if text[start] == ':' && modelByte(text, start-1) == ']' || text[end-1] == ':' && modelByte(text, end) == '[' {
		return 0, 0, false
	}
	if text[start] == ':' && text[start+1] != ':' {
		start++
	}
	embedded := false
	if modelByte(text, end) == '.' {
		last := strings.LastIndexByte(text[:end], ':')
		if q := modelQuad.FindStringIndex(text[last+1:]); q != nil {
			end = last + 1 + q[1]
			embedded = true
		}
	} else if strings.HasSuffix(text[start:end], ":") && !strings.HasSuffix(text[start:end], "::") {
		end--
	}
	if !modelAddressBefore(text, start) || modelWordAt(text, end) ||
		modelByte(text, end) == '.' && modelWordAt(text, end+1) {
		return 0, 0, false
	}
	s := text[start:end]
	if a, err := netip.ParseAddr(s); err != nil || !a.Is6() {
		return 0, 0, false
	}
	if embedded || s == "::1" {
		return start, end, true
	}
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == ':' })
	of := func(n int) (count int) {
		for _, g := range groups {
			if len(g) == n {
				count++
			}
		}
		return count
	}
	if !strings.Contains(s, "::") {
		return start, end, of(2) != 8 && modelDigit.MatchString(s)
	}
	code := modelByte(text, start-1) == '[' || modelByte(text, end) == ']' ||
		strings.HasSuffix(s, "::") && !modelPrefixLength.MatchString(text[end:])
	return start, end, modelDigit.MatchString(s) && (len(groups) >= 3 || of(4) > 0 || !code)
}

var modelIPs = modelForm{
	kind:   KindIP,
	starts: "0123456789abcdefABCDEF:",
	res:    res(modelHexRun.String(), modelQuad.String()),
	check: func(text string, m []int) (int, int, bool) {
		if modelQuad.MatchString(text[m[0]:m[1]]) {
			return modelIP4(text, m)
		}
		return modelIP6(text, m)
	},
}

var (
	modelPlus        = regexp.MustCompile(`^\+([1-9][0-9]*)`)
	modelArea        = regexp.MustCompile(`^[ .-]?\(([0-9]{1,4})\)[ .-]?([0-9]+)`)
	modelGroup       = regexp.MustCompile(`^([ .-])([0-9]+)`)
	modelPhoneBehind = regexp.MustCompile(`^[.-][0-9]`)
	modelListed      = regexp.MustCompile(`[0-9] $`)
)

func modelInternational(text string, start int) (end int, ok bool) {
	m := modelPlus.FindStringSubmatch(text[start:])
	most := 15
	if m[1][0] == '1' {
		most = 11
	}
	total, e := len(m[1]), start+len(m[0])
	if total > most {
		return 0, false
	}
	area, joints := false, ""
	if total <= 3 {
		if a := modelArea.FindStringSubmatch(text[e:]); a != nil && total+len(a[1])+len(a[2]) <= most {
			total += len(a[1]) + len(a[2])
			e += len(a[0])
			area = true
		}
	}
	for {
		enough := total >= 7 && (most == 15 || total == 11)
		if enough && (area || joints != ".") && !modelWordAt(text, e) && !modelPhoneBehind.MatchString(text[e:]) {
			end, ok = e, true
		}
		g := modelGroup.FindStringSubmatch(text[e:])
		if g == nil || total+len(g[2]) > most || len(g[2]) == 1 && g[1] != "-" && (area || joints != "") {
			return end, ok
		}
		total += len(g[2])
		e += len(g[0])
		joints += g[1]
	}
}

var modelPhones = modelForm{
	kind:   KindPhone,
	starts: "+(0123456789",
	before: func(text string, i int) bool {
		return !modelWordBefore(text, i) && modelByte(text, i-1) != '+'
	},
	res: res(
		`\+[1-9]`,
		`(?:1[ .-]?)?\([2-9][0-9]{2}\)[ .-]?[0-9]{3}[ .-][0-9]{4}`,
		`(?:1[ .-])?[2-9][0-9]{2}\.[0-9]{3}\.[0-9]{4}`,
		`(?:1[ .-])?[2-9][0-9]{2}-[0-9]{3}-[0-9]{4}`,
		`(?:1[ .-])?[2-9][0-9]{2} [0-9]{3}-[0-9]{4}`,
		`(?:1[ .-])?[2-9][0-9]{2} [0-9]{3} [0-9]{4}`,
	),
	check: func(text string, m []int) (int, int, bool) {
		end := m[1]
		if text[m[0]] == '+' {
			var ok bool
			if end, ok = modelInternational(text, m[0]); !ok {
				return 0, 0, false
			}
		} else if b := modelByte(text, m[0]-1); b == '.' || b == '-' {
			return 0, 0, false
		} else if s := text[m[0]:end]; strings.Count(s, " ") == 2 && s[3] == ' ' && modelListed.MatchString(text[:m[0]]) {
			return 0, 0, false
		}
		ok := !modelWordAt(text, end) && !modelPhoneBehind.MatchString(text[end:])
		return m[0], end, ok
	},
}

// modelFind is the masker of the model.
func modelFind(text string, kinds ...Kind) []Span {
	forms := []modelForm{}
	for _, k := range AllKinds() {
		if !slices.Contains(kinds, k) {
			continue
		}
		switch k {
		case KindKey:
			forms = append(forms, modelKeyBlocks, modelBearers, modelDotted, modelPrefixed, modelNamed)
		case KindEmail:
			forms = append(forms, modelEmails)
		case KindCard:
			forms = append(forms, modelCards)
		case KindIP:
			forms = append(forms, modelIPs)
		case KindPhone:
			forms = append(forms, modelPhones)
		}
	}
	var spans []Span
	for _, f := range forms {
		var found []Span
		lo := 0
		for _, wall := range append(slices.Clone(spans), Span{Start: len(text), End: len(text)}) {
			found = append(found, f.findAll(text[lo:wall.Start], lo)...)
			lo = wall.End
		}
		spans = append(spans, found...)
		slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	}
	return spans
}

// findAll returns the matches in a text that starts at position base of another.
func (f *modelForm) findAll(text string, base int) []Span {
	var out []Span
	for i := 0; i < len(text); i++ {
		if f.starts != "" && strings.IndexByte(f.starts, text[i]) < 0 || f.before != nil && !f.before(text, i) {
			continue
		}
		for _, re := range f.res {
			m := re.FindStringSubmatchIndex(text[i:])
			if m == nil {
				continue
			}
			for k := range m {
				m[k] += i
			}
			if start, end, ok := f.check(text, m); ok {
				out = append(out, Span{base + start, base + end, f.kind})
				text, base = text[end:], base+end // the text starts anew behind a match
				i = -1
				break
			}
		}
	}
	return out
}
