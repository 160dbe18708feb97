package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"a file é日😀\n\tat line 1":           "a file é日😀\n\tat line 1",
		"\x1b[31mred\a\r\x00\x7f":           `\x1b[31mred\a\r\x00\x7f`,
		"\u009b31m":                         `\u009b31m`,
		"\xff\xc3":                          `\xff\xc3`,
		`"quoted" \ and ` + "\uFFFD itself": `"quoted" \ and ` + "\uFFFD itself",
	} {
		require.Equal(t, want, printable(in))
	}
}

// TestMessageIsPrintable names a file that does not exist.
func TestMessageIsPrintable(t *testing.T) {
	r := inProcess(t, "", "run", "\x1b[2Jgone.jsonl")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, `\x1b[2Jgone.jsonl`)
	require.NotContains(t, r.err, "\x1b")
}
