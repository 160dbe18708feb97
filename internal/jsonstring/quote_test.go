package jsonstring

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// quoted is what encoding/json writes, but for U+2028 and U+2029, which it escapes.
func quoted(t require.TestingT, s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(s))
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029", `\\`, `\\`).Replace(strings.TrimSuffix(b.String(), "\n"))
}

func TestQuotedIsThatOfEncodingJSON(t *testing.T) {
	pieces := []string{
		"a", `"`, `\`, "\n", "\x00", "\x1f", "\x7f", "é", "\u2028", "<&>", "日本語", "😀", strings.Repeat("x", block-1),
		strings.Repeat("y", block+1), strings.Repeat("z", quoteWindow), strings.Repeat("\x01", quoteWindow/2),
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		require.Equal(t, "x"+quoted(t, s), string(AppendQuoted([]byte("x"), []byte(s))))
		require.Equal(t, "x"+quoted(t, s), string(AppendQuotedUTF8([]byte("x"), []byte(s))))
	})
	require.Equal(t, `"\b\f\n\r\t\u0000\u001f\"\\`+"/\x7f\u2028<>&é"+`"`, string(AppendQuoted(nil, []byte("\b\f\n\r\t\x00\x1f\"\\/\x7f\u2028<>&é"))))
}

func TestQuotedBytesThatAreNotUTF8(t *testing.T) {
	require.Equal(t, "\"\xff\\n\xed\xa0\x80\"", string(AppendQuoted(nil, []byte("\xff\n\xed\xa0\x80"))))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOf(rapid.SampledFrom([]byte("a\"\n\x80\xbf\xc3\xe6\x97\xa5\xed\xa0\xf0\x9f\x98\x80\xf4\xff"))).Draw(t, "s")
		got := AppendQuotedUTF8(nil, s)
		require.True(t, utf8.Valid(got))
		require.Equal(t, quoted(t, string([]rune(string(s)))), string(got))
	})
}

func TestQuotingAllocatesNothing(t *testing.T) {
	s := []byte(strings.Repeat("a \"quote\"\n and é, ", 200))
	dst := make([]byte, 0, 8*len(s))
	inside := AppendQuoted(nil, s)
	inside = inside[1 : len(inside)-1]
	require.Zero(t, testing.AllocsPerRun(20, func() {
		dst = AppendQuotedUTF8(dst[:0], s)
		dst, _ = AppendUnquoted(dst[:0], inside)
	}))
}

func BenchmarkAppendQuotedUTF8(b *testing.B) {
	for name, s := range map[string]string{
		"prose":    strings.Repeat("The quick brown fox jumps over the lazy dog, and \"so on\".\n", 9),
		"cjk":      strings.Repeat("日本語の文章です。", 20),
		"controls": strings.Repeat("\x01", 500),
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 8*len(s))
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendQuotedUTF8(dst[:0], []byte(s))
			}
		})
	}
}

func BenchmarkAppendUnquoted(b *testing.B) {
	s := []byte(strings.Repeat(`The quick brown fox jumps over the lazy dog, and \"so on\".\n`, 9))
	dst := make([]byte, 0, 2*len(s))
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = AppendUnquoted(dst[:0], s)
	}
}
