package text

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var testKey = []byte("sixteen bytes or more")

// modelPseudonym is docs/pii.md, section "Pseudonyms", once more.
func modelPseudonym(label, kind, normal string) string {
	mac := hmac.New(sha256.New, testKey)
	mac.Write([]byte(kind + "\x00" + normal))
	digits := hex.EncodeToString(mac.Sum(nil))[:16]
	first := strings.IndexByte("0123456789abcdef", digits[0])
	return "[" + label + ":" + string("abcdef"[first%6]) + digits[1:] + "]"
}

func TestPseudonyms(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...), WithRules(Rule{"emp-no", `EMP-\d+`}), WithPseudonyms(testKey))
	for _, c := range []struct{ in, label, kind, normal string }{
		{"Bob@Example.COM", "EMAIL", "email", "bob@example.com"},
		{"bob@example.com", "EMAIL", "email", "bob@example.com"},
		{"4111 1111 1111 1111", "CARD", "card", "4111111111111111"},
		{"4111-1111-1111-1111", "CARD", "card", "4111111111111111"},
		{"10.0.0.1", "IP", "ip", "10.0.0.1"},
		{"2001:0DB8:0::0001", "IP", "ip", "2001:db8::1"},
		{"::ffff:10.0.0.1", "IP", "ip", "::ffff:10.0.0.1"},
		{"(555) 123-4567", "PHONE", "phone", "15551234567"},
		{"1-555-123-4567", "PHONE", "phone", "15551234567"},
		{"+1 555 123 4567", "PHONE", "phone", "15551234567"},
		{"+33 1 23 45 67 89", "PHONE", "phone", "33123456789"},
		{"ghp_0123456789abcdef0123", "API_KEY", "key", "ghp_0123456789abcdef0123"},
		{"Bearer \t0123456789abcdefghij0123", "API_KEY", "key", "0123456789abcdefghij0123"},
		{"EMP-0042", "EMP-NO", "emp-no", "EMP-0042"},
	} {
		got, _ := m.MaskString(c.in)
		require.Equal(t, modelPseudonym(c.label, c.kind, c.normal), got, c.in)
	}
	require.Equal(t, "", m.Replacement(KindEmail))
}

// TestPseudonymVector pins one value, so that pseudonyms of different versions agree. It
// is that of openssl dgst -sha256 -hmac, ca9b2a1a7a729d26…, with its first digit made a
// letter.
func TestPseudonymVector(t *testing.T) {
	m := newTestMasker(t, WithPseudonyms([]byte("0123456789abcdef"), KindEmail))
	got, _ := m.MaskString("<a@b.org> 10.0.0.1")
	require.Equal(t, "<[EMAIL:aa9b2a1a7a729d26]> [IP]", got)
}

func TestPseudonymOptions(t *testing.T) {
	for _, opts := range [][]PIIOption{
		{WithPseudonyms(nil)},
		{WithPseudonyms(testKey[:15])},
		{WithPseudonyms(testKey, RuleKind(0))},
		{WithPseudonyms(testKey, Kind(200))},
		{WithPseudonyms(testKey), WithPseudonyms([]byte("another key of some length"))},
	} {
		_, err := NewPIIMasker(opts...)
		require.ErrorIs(t, err, ErrOption)
		require.NotContains(t, err.Error(), string(testKey[:15]), "a key must not be told")
	}
	m := newTestMasker(t, WithPseudonyms(testKey), WithReplacement(KindIP, "<ip>"))
	got, _ := m.MaskString("a@b.org 10.0.0.1")
	require.Equal(t, modelPseudonym("EMAIL", "email", "a@b.org")+" <ip>", got)
	a, _ := newTestMasker(t, WithPseudonyms([]byte("key number one, 16+"))).MaskString("a@b.org")
	b, _ := newTestMasker(t, WithPseudonyms([]byte("key number two, 16+"))).MaskString("a@b.org")
	require.NotEqual(t, a, b)
}

// TestPseudonymsAreNotFound masks twice, with the default kinds and with all.
func TestPseudonymsAreNotFound(t *testing.T) {
	hashed := newTestMasker(t, WithKinds(AllKinds()...), WithPseudonyms(testKey))
	all, usual := newTestMasker(t, WithKinds(AllKinds()...)), newTestMasker(t)
	r := rand.New(rand.NewPCG(8, 9))
	shape := regexp.MustCompile(`\[(?:API_KEY|EMAIL|CARD|IP|PHONE):[a-f][0-9a-f]{15}\]`)
	documents := 6000
	if testing.Short() {
		documents = 500
	}
	for range documents {
		s := piiDocument(r)
		once, spans := hashed.MaskString(s)
		require.Equal(t, len(once), hashed.maskedLen(len(s), spans))
		require.Len(t, shape.FindAllString(once, -1), len(spans), "%q", once)
		twice, again := hashed.MaskString(once)
		require.Empty(t, again, "%q gives %q and then %q", s, once, twice)
		require.Empty(t, all.Find([]byte(once)), once)
		require.Empty(t, usual.Find([]byte(once)), once)
	}
}

func TestPseudonymAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, under which -short is used, allocates")
	}
	m := newTestMasker(t, WithKinds(AllKinds()...), WithPseudonyms(testKey))
	s := []byte(strings.Join(piiPieces, " "))
	spans := m.AppendSpans(nil, s)
	dst := m.appendMasked(nil, s, spans)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		spans = m.AppendSpans(spans[:0], s)
		dst = m.appendMasked(dst[:0], s, spans)
	}))
}
