package jsonstring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var stringPieces = []string{
	"a", "long plain text of some length ", "é", "日本", "😀", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`,
	`\u0041`, `\u00e9`, `\u65E5`, `\u0000`, `\ufffd`, `\uD83D\uDE00`, `\ud800`, `\udc49`, `\udbff`, `\ud800\u0041`, `\ud800\ud83d\ude00`, `\udc49\u0430`,
	"\xff", "\xed\xa0\x80", "\xc3", "\xf0\x9f\x98", "\xe6\x97", "\x7f",
	strings.Repeat("x", block), strings.Repeat("y", 2*block+1), strings.Repeat("z", scanWindow-2), strings.Repeat(`\\`, scanWindow/4),
}

var faultyPieces = []string{`\x`, `\u12`, `\u123g`, `\`, "\n", "\x00", "\x1f", `\ud83d\u`, `\ud83d\u12x4`, `"`}

// requireReads reads s from the inside of a string on, and holds what comes of it against
// encoding/json.
func requireReads(t require.TestingT, s []byte) {
	var c Scanner
	c.Reset(s)
	end, fault := c.Skip(c.Next())
	c.Reset(s)
	out, lone, same, sameFault := c.Append([]byte("before"), 0, c.Next())
	require.Equal(t, []any{end, fault}, []any{same, sameFault}, "%q", s)
	require.True(t, bytes.HasPrefix(out, []byte("before")))
	out = out[len("before"):]
	quoted := append(append([]byte{'"'}, s[:end]...), '"')
	var want string
	if err := json.Unmarshal(quoted, &want); err != nil {
		if fault == "" {
			// The end of the text is the end of an escape that is not whole.
			require.Equal(t, len(s), end, "%q", s)
		}
		return
	}
	// What is right up to the fault: the fault is the next byte.
	if fault != "" {
		require.False(t, json.Valid(append(append([]byte{'"'}, s[:end+1]...), '"')), "%q: %s", s, fault)
	} else if end < len(s) {
		require.Equal(t, byte('"'), s[end])
	}
	require.LessOrEqual(t, len(out), end)
	require.Equal(t, want, string([]rune(string(out))), "%q", s)
	require.LessOrEqual(t, lone, strings.Count(want, "\ufffd"))
	if fault == "" {
		unquoted, again := AppendUnquoted(nil, s[:end])
		require.Equal(t, string(out), string(unquoted))
		require.Equal(t, lone, again)
	}
}

func TestStringsAgreeWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s []byte
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(stringPieces), 0, 10).Draw(t, "pieces") {
			s = append(s, p...)
		}
		if rapid.Bool().Draw(t, "closed") {
			s = append(append(s, '"'), rapid.SampledFrom(stringPieces).Draw(t, "behind")...)
		} else {
			s = append(s, rapid.SampledFrom(faultyPieces).Draw(t, "fault")...)
		}
		requireReads(t, s)
	})
}

func TestStringsCutAnywhere(t *testing.T) {
	s := strings.Join(stringPieces[:len(stringPieces)-4], "") + `"`
	for i := range s {
		requireReads(t, []byte(s[:i]))
		for _, f := range faultyPieces {
			requireReads(t, []byte(s[:i]+f+s[i:]))
		}
	}
}

// Every place of a special byte in a window, and every distance to the next.
func TestNextFindsEverySpecialByte(t *testing.T) {
	plain := bytes.Repeat([]byte("é~ "), scanWindow)[:scanWindow+300]
	for i := 0; i < len(plain); i += 7 {
		for _, gap := range []int{1, 2, 63, 64, 65, 127, 128, 129, 200} {
			if i+gap >= len(plain) {
				continue
			}
			s := bytes.Clone(plain)
			s[i], s[i+gap] = '"', 0x1f
			var c Scanner
			c.Reset(s)
			require.Equal(t, i, c.Next())
			require.Equal(t, i+gap, c.Next())
			require.Equal(t, len(s), c.Next())
		}
	}
	for b := range 256 {
		var c Scanner
		c.Reset([]byte{byte(b)})
		valid := json.Valid([]byte{'"', byte(b), '"'}) || b >= 0x80
		require.Equal(t, valid, c.Next() == 1, "%#x", b)
	}
}

func TestLoneSurrogates(t *testing.T) {
	for raw, want := range map[string]int{
		``: 0, `\u0041`: 0, `\ud83d\ude00`: 0, `\ufffd`: 0, `\ud800`: 1, `\udfff`: 1, `\ud800\ud800`: 2, `\udc49\u0430`: 1,
		`\ud83d\ud83d\ude00`: 1, `\ude00\ud83d`: 2, `\ud83dx\ude00`: 2, `\ud83d\n`: 1, `\ud83d\ndc00`: 1, `\ud7ff\ue000`: 0,
	} {
		_, lone := AppendUnquoted(nil, []byte(raw))
		require.Equal(t, want, lone, raw)
	}
}

func TestFaults(t *testing.T) {
	for s, want := range map[string]string{
		"ab\tc\"":      "2 " + faultControl,
		`ab\x"`:        "3 " + faultEscape,
		`ab\u12x4"`:    "6 " + faultHex,
		`\ud83d\u12x4`: "10 " + faultHex,
		`abc`:          "3 ",
		`abc"d`:        "3 ",
	} {
		var c Scanner
		c.Reset([]byte(s))
		end, fault := c.Skip(c.Next())
		require.Equal(t, want, fmt.Sprintf("%d %s", end, fault), s)
	}
}

func FuzzScanner(f *testing.F) {
	for _, p := range append(stringPieces[:len(stringPieces)-4], faultyPieces...) {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, s []byte) { requireReads(t, s) })
}
