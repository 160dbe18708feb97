package text

import (
	"bytes"
	"fmt"
	"sync"
)

// Kind is one kind of personal data.
type Kind uint8

// The kinds, in the order they are searched: where two would overlap, the one
// searched first wins.
const (
	KindKey   Kind = iota // keys and tokens of programs
	KindEmail             // mail addresses
	KindCard              // numbers of payment cards
	KindIP                // addresses of IP versions 4 and 6
	KindPhone             // telephone numbers
	kindCount
)

var kindNames = [kindCount]string{"key", "email", "card", "ip", "phone"}

var defaultReplacements = [kindCount]string{"[API_KEY]", "[EMAIL]", "[CARD]", "[IP]", "[PHONE]"}

// String returns the name used on the command line and in reports.
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// DefaultKinds returns the kinds a masker looks for unless told otherwise: all
// but phone, whose shape is common in tables of numbers.
func DefaultKinds() []Kind { return []Kind{KindKey, KindEmail, KindCard, KindIP} }

// AllKinds returns every kind.
func AllKinds() []Kind { return append(DefaultKinds(), KindPhone) }

// ParseKinds reads a comma-separated list of kinds, "all" or "none". A name that
// is unknown or comes twice is an error that wraps [ErrOption].
func ParseKinds(list string) ([]Kind, error) {
	switch list {
	case "all":
		return AllKinds(), nil
	case "none":
		return []Kind{}, nil
	}
	return parseNames(list, "kind of personal data", kindNames[:], Kind(0), "all", "none")
}

// Span is one piece of personal data: bytes Start to End, End not included.
type Span struct {
	Start, End int
	Kind       Kind
}

// PIIMasker finds personal data by its shape and puts a fixed text in its place.
// The rules are those of docs/pii.md: a span depends on its own text and a few
// characters beside it, never on its position. Find and Mask take time linear in
// the text, whatever the text is. A masker does not change and may be used by any
// number of goroutines at once.
type PIIMasker struct {
	on           [kindCount]bool
	replacements [kindCount]string
}

// PIIOption sets up a [PIIMasker].
type PIIOption func(*PIIMasker) error

// WithKinds sets the kinds to look for. Default: [DefaultKinds]. No kind at all is
// allowed and masks nothing.
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

// WithReplacement sets the text that takes the place of one kind. Default:
// [API_KEY], [EMAIL], [CARD], [IP] or [PHONE]. Any text is allowed, and the empty
// one deletes; but masking twice is masking once only with the defaults, because
// another text may be found itself.
func WithReplacement(k Kind, text string) PIIOption {
	return func(m *PIIMasker) error {
		if k >= kindCount {
			return fmt.Errorf("%w: no kind of personal data has the number %d", ErrOption, k)
		}
		m.replacements[k] = text
		return nil
	}
}

// NewPIIMasker returns a masker. An option out of range is an error that wraps
// [ErrOption].
func NewPIIMasker(opts ...PIIOption) (*PIIMasker, error) {
	m := &PIIMasker{replacements: defaultReplacements}
	opts = append([]PIIOption{WithKinds(DefaultKinds()...)}, opts...)
	for _, o := range opts {
		if err := o(m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// mayFind reports whether s can have a span at all, where that is known for less
// than it costs to classify s: an address needs its @.
func (m *PIIMasker) mayFind(s []byte) bool {
	return m.on != [kindCount]bool{KindEmail: true} || bytes.IndexByte(s, '@') >= 0
}

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

// Replacement returns the text that takes the place of k, "" for a kind that does
// not exist.
func (m *PIIMasker) Replacement(k Kind) string {
	if k >= kindCount {
		return ""
	}
	return m.replacements[k]
}

var classesPool = sync.Pool{New: func() any { return new(classes) }}

// Find returns the spans of s, sorted and disjoint, nil if there are none.
func (m *PIIMasker) Find(s []byte) []Span {
	if !m.mayFind(s) {
		return nil
	}
	c := classesPool.Get().(*classes)
	c.classify(s)
	spans := m.find(nil, s, c)
	if cap(c.blocks) <= keepBlocks { // a pool of larger ones would hold much memory
		classesPool.Put(c)
	}
	return spans
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
	if len(spans) == 0 {
		return s, nil
	}
	return string(m.appendMasked(make([]byte, 0, m.maskedLen(len(s), spans)), text, spans)), spans
}

// maskedLen returns the length of a text of n bytes once its spans are replaced.
func (m *PIIMasker) maskedLen(n int, spans []Span) int {
	for _, x := range spans {
		n += len(m.replacements[x.Kind]) - (x.End - x.Start)
	}
	return n
}

// appendMasked appends s to dst with its spans replaced.
func (m *PIIMasker) appendMasked(dst, s []byte, spans []Span) []byte {
	p := 0
	for _, x := range spans {
		dst = append(dst, s[p:x.Start]...)
		dst = append(dst, m.replacements[x.Kind]...)
		p = x.End
	}
	return append(dst, s[p:]...)
}

// find appends the spans of s to dst, sorted and disjoint. c holds the classes of
// s. It allocates only to make dst longer.
func (m *PIIMasker) find(dst []Span, s []byte, c *classes) []Span {
	base := len(dst)
	if m.on[KindKey] {
		dst = searchGaps(dst, base, s, c, findKeyBlocks)
		dst = searchGaps(dst, base, s, c, findBearers)
		dst = searchGaps(dst, base, s, c, findTokens)
		dst = searchGaps(dst, base, s, c, findNamedValues)
	}
	if m.on[KindEmail] && c.union.At != 0 {
		dst = searchGaps(dst, base, s, c, findEmails)
	}
	if c.union.Digit == 0 {
		return dst // what follows has a digit somewhere
	}
	if m.on[KindCard] {
		dst = searchGaps(dst, base, s, c, findCards)
	}
	if m.on[KindIP] && c.union.Dot|c.union.Colon != 0 {
		dst = searchGaps(dst, base, s, c, findIPs)
	}
	if m.on[KindPhone] {
		dst = searchGaps(dst, base, s, c, findPhones)
	}
	return dst
}
