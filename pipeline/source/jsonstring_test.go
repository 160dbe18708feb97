package source

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// unescaped returns what encoding/json makes of the string line, which is that of
// both policies set to Replace.
func unescaped(line string) (string, bool) {
	var s string
	err := json.Unmarshal([]byte(line), &s)
	return s, err == nil
}

var stringPieces = []string{
	"a", "long plain text of some length ", "é", "日本", "😀", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`,
	`\u0041`, `\u00e9`, `\u65E5`, `\u0000`, `\ufffd`, `\uD83D\uDE00`, `\ud800`, `\udc49`, `\udbff`, `\ud800\u0041`, `\ud800\ud83d\ude00`, `\udc49\u0430`,
	"\xff", "\xed\xa0\x80", "\xc3", "\xf0\x9f\x98", "\xe6\x97", "\x7f",
}

func TestStringsAgreeWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line []byte
		line = append(line, '"')
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(stringPieces), 0, 10).Draw(t, "pieces") {
			line = append(line, p...)
		}
		line = append(line, '"')
		want, ok := unescaped(string(line))
		require.True(t, ok)
		out, _ := appendUnescaped(nil, line[1:len(line)-1])
		require.LessOrEqual(t, len(out), len(line)-2)
		require.Equal(t, want, string(appendValid(nil, out)), "%q", line)
		n, first := invalidBytes(out)
		require.Equal(t, n > 0, first >= 0)
		require.Equal(t, bytes.Count(appendValid(nil, out), []byte("\ufffd")), n+bytes.Count(out, []byte("\ufffd")))
	})
}

func TestLoneSurrogates(t *testing.T) {
	for raw, want := range map[string]int{
		``: 0, `\u0041`: 0, `\ud83d\ude00`: 0, `\ufffd`: 0, `\ud800`: 1, `\udfff`: 1, `\ud800\ud800`: 2, `\udc49\u0430`: 1,
		`\ud83d\ud83d\ude00`: 1, `\ude00\ud83d`: 2, `\ud83dx\ude00`: 2, `\ud83d\n`: 1, `\ud83d\ndc00`: 1, `\ud7ff\ue000`: 0,
	} {
		_, lone := appendUnescaped(nil, []byte(raw))
		require.Equal(t, want, lone, raw)
	}
}

func TestQuotedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got, ok := unescaped(string(appendQuoted(nil, []byte(s))))
		require.True(t, ok)
		require.Equal(t, s, got)
	})
	require.Equal(t, `"\b\f\n\r\t\u0000\u001f\"\\`+"/\x7f\u2028<>&é"+`"`, string(appendQuoted(nil, []byte("\b\f\n\r\t\x00\x1f\"\\/\x7f\u2028<>&é"))))
}
