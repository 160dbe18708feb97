package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Test numbers that the issuers publish, and numbers at the ends of their ranges whose
// check digit was computed outside of this package.
func TestCards(t *testing.T) {
	var cases []maskCase
	for _, s := range []string{
		"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4222222222222", "4222 2222 2222 2", "4000000000000000006", "4111 1111 1111 1110 005",
		"5555555555554444", "5105 1051 0510 5100", "2221000000000009", "2720999999999996",
		"378282246310005", "3714 496353 98431", "3782-822463-10005",
		"30569309025904", "3056 930902 5904", "38520000023237", "309500000000007",
		"3566002020360505", "3589000000000003", "35290000000000005",
		"2200123456789019", "6011577631711174", "6011000990139424", "6440000000000005", "6490000000000004",
		"6200000000000005", "6212 3412 3412 3412 17", "6304000000000000", "6759649826438453", "5019717010103742", "5000000000005",
	} {
		cases = append(cases, maskCase{s, "[CARD]"}, maskCase{"card:" + s + ".", "card:[CARD]."}, maskCase{"1, " + s + ", 12/26", "1, [CARD], 12/26"})
	}
	requireMasked(t, KindCard, append(cases,
		maskCase{"4111 1111 1111 1111 123", "[CARD] 123"}, // with a security code
		maskCase{"1234 4111 1111 1111 1111", "1234 [CARD]"},
		maskCase{"4111 1111 1111 1111 5555 5555 5555 4444", "[CARD] [CARD]"},
		maskCase{"4111 1111 1111 1111-", "[CARD]-"},
	))
}

func TestCardsLeftAlone(t *testing.T) {
	for _, s := range []string{
		"1748503543012",                                           // milliseconds since 1970
		"47223179-9330-4259-b66c-0123456789ab",                    // UUID
		"4111111111111112",                                        // check digit
		"2220000000000000", "2721000000000004", "220412345678909", // outside of the ranges
		"8111111111111112", "9111111111111110", "1111111111111117", // no issuer
		"411111111111", "41111111111111111111", // length
		"378282246310005 "[:14], "55555555555544440", // not the issuer's length
		"4111 1111-1111 1111", "4111  1111 1111 1111", "41111 111 1111 1111", "4111.1111.1111.1111", "411111111111 1111", // grouping
		"4111-1111-1111-1111-1111", "X-4111-1111-1111-1111", "4111-1111-1111-1111-ab", // longer serial numbers
		"0.4111111111111111", "4111111111111111.5", "+4111111111111111", "-4111111111111111", // numbers
		"a4111111111111111", "4111111111111111a", "_4111111111111111", "4111111111111111_",
	} {
		got, _ := newTestMasker(t, WithKinds(KindCard)).MaskString(s)
		require.Equal(t, s, got)
	}
}

// TestMillisecondsAreNotCards: every timestamp of today has 13 digits, and one in ten
// passes the Luhn sum.
func TestMillisecondsAreNotCards(t *testing.T) {
	m := newTestMasker(t, WithKinds(KindCard))
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "%d\n", 1600000000000+int64(i)*9999999)
	}
	require.Empty(t, m.Find([]byte(b.String())))
}
