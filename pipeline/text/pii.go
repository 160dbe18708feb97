package text

import (
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/cpu"
)

// PIIMasker finds personal data by its shape and puts another text in its place: a
// fixed one, or a pseudonym ([WithPseudonyms]). The rules are those of docs/pii.md: a
// span depends on its own text and a few characters beside it, never on its position.
// Find and Mask take time linear in the text, whatever the text is. A masker does not
// change and may be used by any number of goroutines at once.
type PIIMasker struct {
	on          [kindCount]bool
	emailsAlone bool // nothing else is searched
	rules       []rule
	spansOnly   bool

	// By kind, those of the rules behind the others.
	names, labels []string
	replacements  [maskedKinds]replacement
	pseudonyms    *pseudonyms // nil if there are none
}

// replacement is what takes the place of a kind.
type replacement struct {
	text      string
	given     bool // by an option
	pseudonym bool // in place of the text
}

// PIIOption sets up a [PIIMasker].
type PIIOption func(*PIIMasker) error

// WithKinds sets the kinds to look for. Default: [DefaultKinds]. No kind at all is
// allowed and leaves the rules of [WithRules], if there are any.
func WithKinds(kinds ...Kind) PIIOption {
	return func(m *PIIMasker) error {
		m.on = [kindCount]bool{}
		for _, k := range kinds {
			if k >= kindCount {
				return fmt.Errorf("%w: no kind of personal data has the number %d", ErrOption, k)
			}
			m.on[k] = true
		}
		return nil
	}
}

// WithReplacement sets the text that takes the place of one kind, or of what a rule finds
// ([RuleKind]). Default: [API_KEY], [EMAIL], [CARD], [IP], [PHONE], or the name of the
// rule in the same form. Any text is allowed, and the empty one deletes; but masking
// twice is masking once only with the defaults, because another text may be found
// itself.
func WithReplacement(k Kind, text string) PIIOption {
	return func(m *PIIMasker) error {
		if int(k) >= maskedKinds {
			return fmt.Errorf("%w: no kind of personal data has the number %d", ErrOption, k)
		}
		m.replacements[k] = replacement{text: text, given: true}
		return nil
	}
}

// WithSpansOnly sets whether spans are only reported and the text stays as it is: by
// Mask, which then copies, and by a [FusedPipeline] in the Spans of its results.
// Default false.
func WithSpansOnly(on bool) PIIOption {
	return func(m *PIIMasker) error {
		m.spansOnly = on
		return nil
	}
}

// NewPIIMasker returns a masker. An option out of range is an error that wraps
// [ErrOption].
func NewPIIMasker(opts ...PIIOption) (*PIIMasker, error) {
	m := &PIIMasker{}
	opts = append([]PIIOption{WithKinds(DefaultKinds()...)}, opts...)
	for _, o := range opts {
		if err := o(m); err != nil {
			return nil, err
		}
	}
	m.names = append(m.names, kindNames[:]...)
	m.labels = append(m.labels, kindLabels[:]...)
	for i := range m.rules {
		m.names = append(m.names, m.rules[i].name)
		m.labels = append(m.labels, m.rules[i].label())
	}
	for k := range m.replacements {
		x := &m.replacements[k]
		switch {
		case k < len(m.labels):
			if !x.given {
				x.text = "[" + m.labels[k] + "]"
			}
		case x.given:
			return nil, fmt.Errorf("%w: there is no rule %d to replace what it finds; the masker has %d rules", ErrOption, k-int(kindCount), len(m.rules))
		}
	}
	m.emailsAlone = m.on == [kindCount]bool{KindEmail: true} && len(m.rules) == 0
	return m, nil
}

// needsClasses says whether find looks at the classes of s. A text without ASCII letters
// and digits, such as one in Chinese, is told for less than it costs to classify it: no
// kind does without them.
func (m *PIIMasker) needsClasses(s []byte) bool {
	return !m.emailsAlone && m.on != [kindCount]bool{} &&
		(len(s) > 0 && isIn(s[0], charAlnum) || cpu.IndexAny(s, asciiAlnum) < len(s))
}

var asciiAlnum = cpu.NewByteSet([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")...)

// Kinds returns the kinds the masker looks for, in the order it does.
func (m *PIIMasker) Kinds() []Kind {
	kinds := []Kind{}
	for k, on := range m.on {
		if on {
			kinds = append(kinds, Kind(k))
		}
	}
	return kinds
}

// Name returns the name of k used in reports: that of a kind or of a rule of the masker,
// [Kind.String] for others.
func (m *PIIMasker) Name(k Kind) string {
	if int(k) < len(m.names) {
		return m.names[k]
	}
	return k.String()
}

// Replacement returns the text that takes the place of k, "" for a kind that does
// not exist or gets pseudonyms.
func (m *PIIMasker) Replacement(k Kind) string {
	if int(k) >= maskedKinds || m.replacements[k].pseudonym {
		return ""
	}
	return m.replacements[k].text
}

// SpansOnly says whether the texts are left as they are.
func (m *PIIMasker) SpansOnly() bool { return m.spansOnly }

var classesPool = sync.Pool{New: func() any { return new(classes) }}

// Find returns the spans of s, sorted and disjoint, nil if there are none.
func (m *PIIMasker) Find(s []byte) []Span { return m.AppendSpans(nil, s) }

// AppendSpans appends the spans of s to dst, sorted and disjoint. It allocates nothing if
// dst has room, but for the spans of rules that have a group.
func (m *PIIMasker) AppendSpans(dst []Span, s []byte) []Span {
	if !m.needsClasses(s) {
		return m.find(dst, s, nil)
	}
	c := classesPool.Get().(*classes)
	c.classify(s)
	dst = m.find(dst, s, c)
	if cap(c.blocks) <= keepBlocks { // a pool of larger ones would hold much memory
		classesPool.Put(c)
	}
	return dst
}

// Mask appends s to dst with every span replaced, and returns the extended slice
// and the spans, which are positions in s. dst must not overlap s.
func (m *PIIMasker) Mask(dst, s []byte) ([]byte, []Span) {
	spans := m.Find(s)
	return m.appendMasked(dst, s, spans), spans
}

// MaskString is [PIIMasker.Mask] for a string. A text without spans is returned as
// it is.
func (m *PIIMasker) MaskString(s string) (string, []Span) {
	text := []byte(s)
	spans := m.Find(text)
	if len(spans) == 0 || m.spansOnly {
		return s, spans
	}
	return string(m.appendMasked(make([]byte, 0, m.maskedLen(len(s), spans)), text, spans)), spans
}

// maskedLen returns the length of a text of n bytes once its spans are replaced.
func (m *PIIMasker) maskedLen(n int, spans []Span) int {
	if m.spansOnly {
		return n
	}
	for _, x := range spans {
		by := &m.replacements[x.Kind]
		n -= x.End - x.Start
		if by.pseudonym {
			n += pseudonymLen(m.labels[x.Kind])
		} else {
			n += len(by.text)
		}
	}
	return n
}

// appendMasked appends s to dst with its spans replaced.
func (m *PIIMasker) appendMasked(dst, s []byte, spans []Span) []byte {
	if m.spansOnly {
		return append(dst, s...)
	}
	p := 0
	for _, x := range spans {
		dst = append(dst, s[p:x.Start]...)
		if by := &m.replacements[x.Kind]; by.pseudonym {
			dst = m.pseudonyms.append(dst, m, x.Kind, s[x.Start:x.End])
		} else {
			dst = append(dst, by.text...)
		}
		p = x.End
	}
	return append(dst, s[p:]...)
}

// find appends the spans of s to dst, sorted and disjoint. c holds the classes of
// s, or is nil if they are not needed. It allocates only to make dst and the scratch in c
// longer.
func (m *PIIMasker) find(dst []Span, s []byte, c *classes) []Span {
	if m.emailsAlone {
		return findEmailsAlone(dst, s)
	}
	base := len(dst)
	dst = m.findRules(dst, s)
	if c == nil {
		return dst
	}
	c.anchors = findAnchors(c.anchors[:0], c, &m.on)
	if len(c.anchors) > 0 {
		dst = findAnchored(dst, base, s, c)
	}
	if cap(c.anchors) > keepBlocks { // of an unusually long text
		c.anchors = nil
	}
	return dst
}

// findAnchored searches the kinds that s has anchors of, one after the other.
func findAnchored(dst []Span, base int, s []byte, c *classes) []Span {
	var any anchorBlock
	for i := range c.anchors {
		a := &c.anchors[i]
		any.dashes |= a.dashes
		any.key |= a.key
		any.at |= a.at
		any.card |= a.card
		any.ip |= a.ip
		any.phone |= a.phone
	}
	if any.dashes != 0 {
		dst = searchGaps(dst, base, s, c, searchKeyBlocks)
	}
	if any.key != 0 {
		dst = findKeys(dst, base, s, c)
	}
	if any.at != 0 {
		dst = searchGaps(dst, base, s, c, searchEmails)
	}
	if any.card != 0 {
		dst = searchGaps(dst, base, s, c, searchCards)
	}
	if any.ip != 0 {
		dst = searchGaps(dst, base, s, c, searchIPs)
	}
	if any.phone != 0 {
		dst = searchGaps(dst, base, s, c, searchPhones)
	}
	return dst
}

// findKeys searches the keys in one piece: those forms that the text may hold.
func findKeys(dst []Span, base int, s []byte, c *classes) []Span {
	forms := screenKeys(s, c)
	if forms&formBearer != 0 {
		dst = searchGaps(dst, base, s, c, searchBearers)
	}
	if forms&formToken != 0 || cutsRun(s, dst[base:]) {
		dst = searchGaps(dst, base, s, c, searchTokens)
	}
	if forms&formNamed != 0 {
		dst = searchGaps(dst, base, s, c, searchNamedValues)
	}
	return dst
}

// cutsRun says whether a span ends within a run, so that a token may begin behind it.
func cutsRun(s []byte, spans []Span) bool {
	for _, x := range spans {
		if x.End < len(s) && isIn(s[x.End], charToken) {
			return true
		}
	}
	return false
}
