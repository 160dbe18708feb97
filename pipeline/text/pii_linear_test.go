package text

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func TestPIILinear(t *testing.T) {
	m := newTestMasker(t, WithKinds(AllKinds()...))
	var c classes
	var spans []Span
	find := func(s []byte) {
		c.classify(s)
		spans = m.find(spans[:0], s, &c)
	}
	for _, unit := range []string{
		"a@a.", "a.", "a@", "@", "a.a@", "%", "-a", "a@a-", "a@xn--a-", "bob@example.com ", "a@b.co 10.0.0.1 ",
		"1.1.1.", "1.", "1.1.1.1 ", "1.1.1.1.", "1.1.1.1-", "version 1.1.1.1 ", "::", ":", "a:", "1:", "a::", "fe80::1 ", "::1.1.1.1", "::1:1.1.", "1:1:1:1:1:1:1:",
		"1234 ", "1234-", "1", "4111 1111 1111 1111 ", "4111111111111111,", "4", "1234 123456 ",
		"k", "a1", "a-", "_", "-", "sk-", "sk-aaaaaaaaaaaaaaa.", "AKIAIOSFODNN7EXAMPLE-", "-sk-", "eyJ", "eyJaaaaaaaaaaaaa.", "eyJaaaaaaaaaaaaa.a.", "SG.", "SG.aaaaaaaaaaaaaaaa.", "ya29.", "hf_aaaaaaaaaaaaaaaa-",
		"Bearer", "Bearer ", "Bearer a", "Bearer aaaaaaaaaaaaaaaaaaaa/", " ", "=", "token", "token=", "token:", "token: Token ", "token=a1b2c3d4e5f6a7b8c9d0 ", "token:=\"",
		"-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----a-----END ", "-----",
		"((((", "(555) 123-4567 ", "(555) ", "k1234567/", "/k1234567", "a1234567 ", "k1234567=", "-----a", "+1 ", "+1 2 3 4 ", "+", "+1(1)", "555-", "555 123 ", "é", "\xff", "日本@",
	} {
		t.Run(unit, func(t *testing.T) {
			lineartime.Require(t, 1<<12, func(n int) func() {
				s := []byte(strings.Repeat(unit, n/len(unit)))
				return func() { find(s) }
			})
		})
	}
	// Two halves that wait for each other: many spans of a late kind before many of an
	// early one, and a long run before many anchors.
	for _, text := range []string{
		strings.Repeat("1.1.1.1 ", 1<<16) + strings.Repeat("a@b.co ", 1<<16),
		strings.Repeat("x", 1<<19) + strings.Repeat("@", 1<<19),
		strings.Repeat("1", 1<<19) + strings.Repeat(".1", 1<<18),
		// One run with an anchor in each block, and runs that are parts of one.
		strings.Repeat("k", 1<<20),
		strings.Repeat("k1", 1<<19) + "=",
		strings.Repeat("k1234567/", 1<<17),
		"Bearer " + strings.Repeat("k1234567/", 1<<17),
		"token=" + strings.Repeat("k1234567+", 1<<17),
		strings.Repeat("-", 1<<20),
		strings.Repeat("1:", 1<<19),
	} {
		began := time.Now()
		find([]byte(text))
		require.Less(t, time.Since(began), 10*time.Second, "%q…", text[:20])
	}
}
