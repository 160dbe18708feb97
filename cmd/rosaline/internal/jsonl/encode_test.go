package jsonl

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// std encodes as encoding/json does, but for U+2028 and U+2029 that it escapes.
// The text of a valid string never holds the sequence \u2028 itself: its
// backslash would be doubled.
func std(t require.TestingT, v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

func requireSameString(t require.TestingT, s string) {
	got := AppendString([]byte("x"), s)
	require.Equal(t, got, AppendString([]byte("x"), []byte(s)))
	require.True(t, utf8.Valid(got))
	require.True(t, json.Valid(got[1:]), "%q", got)
	// Two escapes of encoding/json differ: line separators, and U+FFFD for a
	// byte that is not UTF-8. Both are undone by decoding.
	var back, want string
	require.NoError(t, json.Unmarshal(got[1:], &back))
	require.NoError(t, json.Unmarshal([]byte(std(t, s)), &want))
	require.Equal(t, want, back)
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\u2028\u2029") {
		require.Equal(t, std(t, s), string(got[1:]))
	}
}

func TestAppendStringEachByte(t *testing.T) {
	for c := range 256 {
		requireSameString(t, string([]byte{byte(c)}))
		requireSameString(t, "a"+string([]byte{byte(c)})+"b")
		requireSameString(t, string(rune(c)))
	}
}

func TestAppendStringTable(t *testing.T) {
	for in, want := range map[string]string{
		"":                     `""`,
		`a"b\c`:                `"a\"b\\c"`,
		"\b\f\n\r\t\x00\x1f":   `"\b\f\n\r\t\u0000\u001f"`,
		"<a href='x'>&</a>":    `"<a href='x'>&</a>"`,
		"\u2028 \u2029 \x7f":   "\"\u2028 \u2029 \x7f\"",
		"\xff\xed\xa0\x80é":    "\"\uFFFD\uFFFD\uFFFD\uFFFDé\"",
		"日本語 \U0001F600":       "\"日本語 \U0001F600\"",
		"cut \xf0\x9f\x98":     "\"cut \uFFFD\uFFFD\uFFFD\"",
		"\uFFFD is itself":     "\"\uFFFD is itself\"",
		strings.Repeat("x", 9): `"xxxxxxxxx"`,
	} {
		require.Equal(t, want, string(AppendString(nil, in)), "%q", in)
	}
}

func TestAppendStringLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireSameString(t, rapid.String().Draw(t, "text"))
		requireSameString(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\\n\x00\u2028<>&")
	f.Add("\xed\xa0\x80\xf4\x90\x80\x80")
	f.Fuzz(func(t *testing.T, s string) { requireSameString(t, s) })
}

func TestAppendFloatLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		require.Equal(t, std(t, f), string(AppendFloat(nil, f)))
	})
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1.0 / 3, 3, 1e6, 1e-6, 9.99e-7, 1e-7, 1e20, 1e21, 1e22, 1e100,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxInt64,
	} {
		require.Equal(t, std(t, f), string(AppendFloat(nil, f)))
	}
}

func TestAppendFloatWithoutNumber(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		require.Equal(t, "null", string(AppendFloat(nil, f)))
	}
}

func TestAppendBytesLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		numbers := make([]int, len(s)) // encoding/json writes a []byte as base64
		for i, c := range s {
			numbers[i] = int(c)
		}
		require.Equal(t, std(t, numbers), string(AppendBytes(nil, s)))
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 1<<10)
	text := "quote \" é \u2028 \xff end"
	require.Zero(t, testing.AllocsPerRun(100, func() {
		dst = AppendFloat(AppendBytes(AppendString(dst[:0], text), text), 1.5)
	}))
}

func BenchmarkAppendString(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40),
		"cjk":   strings.Repeat("日本語の文章です。", 60),
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 1<<13)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendString(dst[:0], text)
			}
		})
	}
}
