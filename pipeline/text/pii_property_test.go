package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// piiPieces are what generated documents are made of: whole data of every kind, what
// looks like it, and the characters that borders and joints are made of.
var piiPieces = []string{
	// keys
	"hf_abcdefghijklmnopqrst", "ghp_0123456789abcdef0123", "sk-aaaaaaaaaaaaaaa", "sk-proj-Ab3dEf6hIj9kLm2n", "sk-", "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
	"glpat-", "AKIAIOSFODNN7EXAMPLE", "ASIA", "AIzaSyA-1234567890abcdefghijklmnopqrstuv", "xoxb-123456789012-abcdef", "npm_", "skateboarding-is-so-much-fun",
	"Bearer abcdefghijklmnopqrstuvwxyz", "Bearer ", "Bearer", "bearer ", "eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxIn0x.", "SG.abcdefghijklmnopqrstuv.", "ya29.",
	"api_key=", "API-KEY: ", "secret", "token: \"", "Authorization: Basic ", "access_key => '", ":=", "a1b2c3d4e5f6a7b8c9d0", "dXNlcjpwYXNzd29yZDEyMzQ1Njc4OQ==",
	"token=12abcdef/ghijklm+nopqrs", "Bearer 34abcdef~ghijklm/nopqrs",
	"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n", "-----END RSA PRIVATE KEY-----", "-----",
	// mail
	"bob@example.com", "a@b.co", "a@b.c", "x+y%z@sub.d-om.org", "@", "see...bob@x.org", "foo@bar..com", "@x.xn--p1ai", "xn--a-b", "a.b.c.", ".com",
	// cards
	"4111 1111 1111 1111", "4111111111111111", "4111-1111-1111-1111", "3782 822463 10005", "378282246310005", "30569309025904", "3056 930902 5904",
	"6011000990139424", "2223003122003222", "5555 5555 5555 4444", "4222222222222", "4222 2222 2222 2", "6304 0000 0000 0000", "1748503543012", "6212 3412 3412 3412 123",
	// addresses
	"10.0.0.1", "255.255.255.255", "256.1.1.1", "01.2.3.4", "1.2.3.4.5", "v1.2.3.4", "version ", "Version: ", "Section\u00a0", "ver=\"", "==", ">=", "::1", "fe80::1", "fe80::1%eth0", "::ffff:1.2.3.4",
	"2001:db8::", "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "1:2:3:4:5:6:7:8", "12:30:45", "aa:bb:cc:dd:ee:ff", "00:11:22:33:44:55:66:77", "std::string", "a::b", "x[1::2]", "::2", "1::8", "2a::", "/16", "[", "]", ":80", "/24",
	// phones
	"(555) 123-4567", "555-123-4567", "555.123.4567", "555 123 4567", "+1 (555) 123-4567", "1-555-123-4567", "+44 20 7946 0958", "+33 1 23 45 67 89", "+49 30 1234567-0", "+44 (0)20 7946 0958", "+", "(", ")",
	// between
	" ", "  ", ".", "..", "-", ":", "::", "_", "=", ",", "/", "~", "[", "'", "\"", "\n", "\t", "é", "日本", "\xff", "\u00a0", "a", "Z", "7", "0", "12", "word", "2024-01-15T12:00:00",
}

const piiAlphabet = "0123456789999 ...---:::@@__==++()/abcfxyzABCFé\xff\n"

// piiDocument glues pieces together, mutates some, and sometimes cuts into them.
func piiDocument(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(9) {
		p := piiPieces[r.IntN(len(piiPieces))]
		switch i := r.IntN(len(p)); r.IntN(8) {
		case 0:
			p = p[:i] + p[i+1:]
		case 1:
			p = p[:i] + string(piiAlphabet[r.IntN(len(piiAlphabet))]) + p[i:]
		case 2:
			p = p[:i] + string(piiAlphabet[r.IntN(len(piiAlphabet))]) + p[i+1:]
		case 3:
			p = p[i:] + p[:i]
		}
		b.WriteString(p)
		if r.IntN(3) == 0 {
			b.WriteByte(" .,-:@/+("[r.IntN(9)])
		}
	}
	return b.String()
}

func newTestMasker(t testing.TB, opts ...PIIOption) *PIIMasker {
	t.Helper()
	m, err := NewPIIMasker(opts...)
	require.NoError(t, err)
	return m
}

// requireSpans holds the masker to the model, for the usual kinds, for all, and for each
// kind alone, and masking twice to masking once.
func requireSpans(t require.TestingT, maskers map[string]*PIIMasker, s string) {
	for name, m := range maskers {
		spans := m.Find([]byte(s))
		require.Equal(t, modelFind(s, m.Kinds()...), spans, "kinds %s of %q", name, s)
		once, _ := m.MaskString(s)
		twice, again := m.MaskString(once)
		require.Empty(t, again, "kinds %s of %q: masked once %q, twice %q", name, s, once, twice)
	}
}

func piiMaskers(t testing.TB) map[string]*PIIMasker {
	out := map[string]*PIIMasker{"default": newTestMasker(t), "all": newTestMasker(t, WithKinds(AllKinds()...))}
	for _, k := range AllKinds() {
		out[k.String()] = newTestMasker(t, WithKinds(k))
	}
	return out
}

func TestPIIAgainstRegexp(t *testing.T) {
	all := piiMaskers(t)
	usual := map[string]*PIIMasker{"default": all["default"], "all": all["all"]}
	documents := 12000
	if testing.Short() {
		documents = 1000
	}
	r := rand.New(rand.NewPCG(7, 11))
	found := [kindCount]int{}
	for i := range documents {
		s := piiDocument(r)
		maskers := usual
		if i%8 == 0 {
			maskers = all
		}
		requireSpans(t, maskers, s)
		for _, x := range all["all"].Find([]byte(s)) {
			found[x.Kind]++
		}
	}
	for k, n := range found {
		require.Greater(t, n, documents/50, "the documents hold too few spans of kind %s to show anything", Kind(k))
	}
}

func TestPIIRandomBytes(t *testing.T) {
	maskers := piiMaskers(t)
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom([]byte(piiAlphabet)), 0, 80).Draw(t, "text"))
		requireSpans(t, maskers, s)
	})
}

// TestPIIPosition moves a text through every place of a block and of the border between
// two: the spans must move with it.
func TestPIIPosition(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...))
	r := rand.New(rand.NewPCG(1, 2))
	texts := append([]string{}, piiPieces...)
	for range 60 {
		texts = append(texts, piiDocument(r))
	}
	for _, s := range texts {
		want := m.Find([]byte(s))
		for at := range 131 {
			got := m.Find([]byte(strings.Repeat(" ", at) + s + strings.Repeat(" ", (at*7)%67)))
			for i := range got {
				got[i].Start -= at
				got[i].End -= at
			}
			require.Equal(t, want, got, "%q at %d", s, at)
		}
	}
}

// TestPIIAppends shows that find leaves what is in dst, whatever room there is.
func TestPIIAppends(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...))
	r := rand.New(rand.NewPCG(3, 4))
	sentinel := Span{-3, -2, KindPhone}
	var c classes
	for range 500 {
		s := []byte(piiDocument(r))
		c.classify(s)
		dst := append(make([]Span, 0, 1+r.IntN(9)), sentinel)
		require.Equal(t, append([]Span{sentinel}, m.Find(s)...), m.find(dst, s, &c))
	}
}

func TestMergeSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfDistinct(rapid.IntRange(0, 99), rapid.ID).Draw(t, "starts")
		mid := rapid.IntRange(0, len(in)).Draw(t, "mid")
		spans := make([]Span, len(in))
		for i, x := range in {
			spans[i] = Span{Start: x, End: x + 1}
		}
		want := fmt.Sprint(sortedSpans(spans))
		copy(spans, append(sortedSpans(spans[:mid]), sortedSpans(spans[mid:])...))
		require.Equal(t, want, fmt.Sprint(mergeSpans(spans, 0, mid)))
	})
}
