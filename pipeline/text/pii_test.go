package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func sortedSpans(spans []Span) []Span {
	return slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return a.Start - b.Start })
}

// maskCase is a text and what must become of it.
type maskCase struct{ in, out string }

// requireMasked runs the cases with one kind only, so that no other can help or hide it.
func requireMasked(t *testing.T, k Kind, cases []maskCase) {
	t.Helper()
	m := newTestMasker(t, WithKinds(k))
	for _, c := range cases {
		got, _ := m.MaskString(c.in)
		require.Equal(t, c.out, got, "%q", c.in)
	}
}

// requireLeft runs texts that no kind may touch.
func requireLeft(t *testing.T, texts ...string) {
	t.Helper()
	m := newTestMasker(t, WithKinds(AllKinds()...))
	for _, s := range texts {
		got, spans := m.MaskString(s)
		require.Equal(t, s, got)
		require.Empty(t, spans)
	}
}

func TestParseKinds(t *testing.T) {
	for _, c := range []struct {
		list string
		want []Kind
	}{
		{"all", []Kind{KindKey, KindEmail, KindCard, KindIP, KindPhone}},
		{"none", []Kind{}},
		{"key,email,card,ip", DefaultKinds()},
		{" phone , ip", []Kind{KindPhone, KindIP}},
	} {
		got, err := ParseKinds(c.list)
		require.NoError(t, err, c.list)
		require.Equal(t, c.want, got, c.list)
	}
	for _, bad := range []string{"", "email,", "mail", "ip,ip", "all,ip", "Email"} {
		_, err := ParseKinds(bad)
		require.ErrorIs(t, err, ErrOption, bad)
	}
	require.Equal(t, "rule(4)", RuleKind(4).String())
	require.Equal(t, "kind(200)", Kind(200).String())
}

func TestPIIOptions(t *testing.T) {
	for _, o := range []PIIOption{WithKinds(KindKey, kindCount), WithReplacement(kindCount, "x")} {
		_, err := NewPIIMasker(o)
		require.ErrorIs(t, err, ErrOption)
	}
	m := newTestMasker(t)
	require.Equal(t, DefaultKinds(), m.Kinds())
	require.Equal(t, "[PHONE]", m.Replacement(KindPhone))
	require.Equal(t, "", m.Replacement(kindCount))

	const in = "sk-aaaaaaaaaaaaaaa a@b.co 4111111111111111 10.0.0.1 555-123-4567"
	got, _ := newTestMasker(t, WithKinds()).MaskString(in)
	require.Equal(t, in, got)
	got, _ = newTestMasker(t, WithKinds(AllKinds()...), WithReplacement(KindKey, "K"), WithReplacement(KindEmail, ""),
		WithReplacement(KindCard, "<card number>"), WithReplacement(KindIP, "0.0.0.0"), WithReplacement(KindPhone, "☎")).MaskString(in)
	require.Equal(t, "K  <card number> 0.0.0.0 ☎", got)
}

func TestMaskReportsSpans(t *testing.T) {
	m := newTestMasker(t)
	in := []byte("x 4111 1111 1111 1111 y 10.1.2.3 z me@x.org")
	out, spans := m.Mask([]byte("before: "), in)
	require.Equal(t, "before: x [CARD] y [IP] z [EMAIL]", string(out))
	require.Equal(t, []Span{{2, 21, KindCard}, {24, 32, KindIP}, {35, 43, KindEmail}}, spans)
	require.Equal(t, len(out)-len("before: "), m.maskedLen(len(in), spans))
	out, spans = m.Mask(nil, []byte("nothing here"))
	require.Equal(t, "nothing here", string(out))
	require.Nil(t, spans)
	require.Empty(t, m.Find(nil))
}

func TestPIIPriority(t *testing.T) {
	for _, c := range []struct {
		kinds []Kind
		maskCase
	}{
		{DefaultKinds(), maskCase{"10.0.0.1@mail.com", "[EMAIL]"}},
		{[]Kind{KindIP}, maskCase{"10.0.0.1@mail.com", "[IP]@mail.com"}},
		{DefaultKinds(), maskCase{"sk-aaaaaaaaaaaaaaaa@mail.com", "[API_KEY]@mail.com"}},
		{[]Kind{KindEmail}, maskCase{"sk-aaaaaaaaaaaaaaaa@mail.com", "[EMAIL]"}},
		{DefaultKinds(), maskCase{"4111111111111111@mail.com", "[EMAIL]"}},
		{AllKinds(), maskCase{"+4111111111111", "[PHONE]"}},
		{AllKinds(), maskCase{"fe80::1@x.com", "[IP][EMAIL]"}},
		{AllKinds(), maskCase{"4111 1111 1111 1111 555-123-4567", "[CARD] [PHONE]"}},
	} {
		got, _ := newTestMasker(t, WithKinds(c.kinds...)).MaskString(c.in)
		require.Equal(t, c.out, got, "%q", c.in)
	}
}

// TestPIIUnicodeBorders: a letter of any script is part of the word, a byte that is not
// UTF-8 is not, and only ASCII digits are digits.
func TestPIIUnicodeBorders(t *testing.T) {
	requireLeft(t, "ébob@example.com", "bob@example.comé", "日本10.0.0.1", "10.0.0.1日本", "é4111111111111111", "ghp_0123456789abcdef0123é",
		"éghp_0123456789abcdef0123", "٤١١١١١١١١١١١١١١١", "４１１１１１１１１１１１１１１１", "１０.0.0.1", "é555-123-4567", "éfe80::1")
	requireMasked(t, KindEmail, []maskCase{
		{"日本 bob@example.com 東京", "日本 [EMAIL] 東京"},
		{"\xffbob@example.com\xfe", "\xff[EMAIL]\xfe"},
		{"“bob@example.com”", "“[EMAIL]”"},
		{"\u00a0bob@example.com\u3000", "\u00a0[EMAIL]\u3000"},
	})
}

// TestPIIConcurrent shares one masker between goroutines: run it with -race.
func TestPIIConcurrent(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...))
	in := strings.Join(piiPieces, " ")
	want, spans := m.MaskString(in)
	require.NotEmpty(t, spans)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, _ := m.MaskString(in); got != want {
					t.Error("another goroutine's text")
				}
			}
		})
	}
	wg.Wait()
}

func TestPIIAllocations(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...))
	s := bytes.Repeat([]byte(strings.Join(piiPieces, " ")), 20)
	var c classes
	c.classify(s)
	spans := m.find(nil, s, &c)
	spans = m.find(spans[:0], s, &c)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		c.classify(s)
		spans = m.find(spans[:0], s, &c)
	}))
}

// BenchmarkPIIMask masks documents of 500 bytes into reused memory.
func BenchmarkPIIMask(b *testing.B) {
	words := strings.Repeat("the quick brown fox jumps over a lazy dog and ", 11)
	clean, mails := words, words[:100]+"bob.smith@mail.example.com "+words[:400]
	hits := words[:100] + "bob.smith@mail.example.com " + words[:300] + " 192.0.2.17 " + words[:60]
	rule := func(pattern string) []PIIOption {
		return []PIIOption{WithKinds(), WithRules(Rule{"emp", pattern})}
	}
	for _, x := range []struct {
		name, text string
		opts       []PIIOption
	}{
		{"default kinds, no hits", clean, nil},
		{"default kinds, two hits", hits, nil},
		{"default kinds, pieces of all", strings.Join(piiPieces, " "), nil},
		{"email, no hits", clean, []PIIOption{WithKinds(KindEmail)}},
		{"email, one hit", mails, []PIIOption{WithKinds(KindEmail)}},
		{"pseudonyms, two hits", hits, []PIIOption{WithPseudonyms(testKey)}},
		{"rule with a literal, no hits", clean, rule(`EMP-\d{6}`)},
		{"rule with a set, no hits", clean, rule(`\d{3}-?\d{6}`)},
		{"rule with neither, no hits", clean, rule(`(?i)\bemp\w{9}`)},
		{"rule with a literal, one hit", clean + "EMP-123456", rule(`EMP-\d{6}`)},
	} {
		b.Run(x.name, func(b *testing.B) {
			m := newTestMasker(b, x.opts...)
			s := []byte(x.text)
			dst, spans := make([]byte, 0, 2*len(s)), make([]Span, 0, 1000)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if spans = m.AppendSpans(spans[:0], s); len(spans) > 0 {
					dst = m.appendMasked(dst[:0], s, spans)
				}
			}
		})
	}
}
