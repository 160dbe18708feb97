package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// TestQualityLines derives the metrics of short texts by hand.
func TestQualityLines(t *testing.T) {
	in := record("plain", "a b c d") + // 7 characters, 4 of them spaces and letters each once
		`{"id":"spaces are kept","text":"  x  "}` + "\n" +
		`{"text":"!!"}` + "\n" +
		`{"id":"none","text":null}` + "\n" +
		record("again", "a b c a b c")
	r := inProcess(t, in, "quality", "-")
	require.Equal(t, exitDone, r.code, r.err)
	type metrics struct {
		ID                             string
		Chars, Words                   int
		Entropy, Repetition, SymbolRat float64
	}
	var got []metrics
	for l := range strings.Lines(r.out) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(l), &m))
		require.Len(t, m, 6)
		got = append(got, metrics{m["id"].(string), int(m["chars"].(float64)), int(m["words"].(float64)),
			m["entropy"].(float64), m["repetition"].(float64), m["symbol_ratio"].(float64)})
	}
	log := func(n, of float64) float64 { return -n / of * math.Log2(n/of) }
	want := []metrics{
		{"plain", 7, 4, 4*log(1, 7) + log(3, 7), 0, 0},
		{"spaces are kept", 5, 1, log(1, 5) + log(4, 5), 0, 0},
		{"-:3", 2, 1, 0, 0, 1},
		{"again", 11, 6, 3*log(2, 11) + log(5, 11), 0.25, 0}, // abc bca cab abc
	}
	require.Len(t, got, len(want))
	for i := range want {
		require.InDelta(t, want[i].Entropy, got[i].Entropy, 1e-12)
		got[i].Entropy = want[i].Entropy
		require.Equal(t, want[i], got[i])
	}
	require.Contains(t, r.err, "records without a text left out")
}

func TestQualityIsInOrder(t *testing.T) {
	var in strings.Builder
	for i := range 700 {
		in.WriteString(record(fmt.Sprint(i), strings.Repeat(prose(i)+" ", 1+rand.IntN(20))))
	}
	first := inProcess(t, in.String(), "quality", "-", "--workers", "1", "--batch", "1")
	require.Equal(t, exitDone, first.code, first.err)
	require.Equal(t, 700, strings.Count(first.out, "\n"))
	for _, workers := range []string{"2", "3", "7"} {
		for _, batch := range []string{"5", "64"} {
			require.Equal(t, first.out, inProcess(t, in.String(), "quality", "-", "--workers", workers, "--batch", batch).out)
		}
	}
}

func TestQualityBadRecords(t *testing.T) {
	in := record("1", "a") + "{broken\n" + record("2", "b")
	r := inProcess(t, in, "quality", "-")
	require.Equal(t, exitFailed, r.code)
	require.Equal(t, 1, strings.Count(r.out, "\n"))
	require.Contains(t, r.err, "-:2: ")
	r = inProcess(t, in, "quality", "-", "--on-error", "skip")
	require.Equal(t, exitDone, r.code)
	require.Equal(t, 2, strings.Count(r.out, "\n"))
	require.Contains(t, r.err, "bad records skipped")
}

// TestMetricsLikeEncodingJSON compares the line with what encoding/json makes of
// the same numbers: every digit of a float is there.
func TestMetricsLikeEncodingJSON(t *testing.T) {
	m := text.Metrics{Chars: 12, Words: 3, Entropy: 1 / 3.0, Repetition: 1e-7, SymbolRatio: 2.0 / 3}
	want, err := json.Marshal(m)
	require.NoError(t, err)
	require.Equal(t, `{"id":"x",`+string(want[1:])+"\n", string(appendMetrics([]byte(`{"id":"x"`), m)))
}

// TestPresetLines derives the metrics of a short text by hand.
func TestPresetLines(t *testing.T) {
	in := record("x", "- the cat saw the cat...\n#1 of 2.") + `{"id":"empty","text":""}` + "\n"
	for preset, want := range map[string]string{
		// Words by script: - the cat saw the cat ... # 1 of 2 .
		"gopher": `{"id":"x","words":8,"mean_word_length":2.375,"hash_ratio":` + digits(1/12.0) + `,"ellipsis_ratio":` + digits(1/12.0) +
			`,"bullet_lines":0.5,"ellipsis_lines":0.5,"alphabetic_words":0.5,"stop_words":2` +
			`,"duplicate_paragraphs":0,"duplicate_paragraph_chars":0,"duplicate_lines":0,"duplicate_line_chars":0` +
			`,"top_2_grams":` + digits(14/33.0) + `,"top_3_grams":` + digits(9/33.0) + `,"top_4_grams":` + digits(13/33.0) +
			`,"duplicate_5_grams":0,"duplicate_6_grams":0,"duplicate_7_grams":0,"duplicate_8_grams":0,"duplicate_9_grams":0,"duplicate_10_grams":0}`,
		"c4": `{"id":"x","lines":2,"kept_lines":1,"long_word_lines":0,"unpunctuated_lines":1,"short_lines":0,"javascript_lines":0` +
			`,"policy_lines":0,"lorem_ipsum_lines":0,"curly_lines":0,"sentences":1}`,
		"fineweb": `{"id":"x","punctuated_lines":1,"short_lines":1,"duplicate_line_chars":0,"newline_ratio":` + digits(1/12.0) + `}`,
	} {
		r := inProcess(t, in, "quality", "-", "--preset", preset)
		require.Equal(t, exitDone, r.code, r.err)
		lines := strings.Split(r.out, "\n")
		require.Equal(t, want, lines[0])
		require.True(t, json.Valid([]byte(lines[1])), lines[1])
	}
	r := inProcess(t, in, "quality", "-", "--preset", "gopher", "--words", "space")
	require.Contains(t, r.out, `{"id":"x","words":8,"mean_word_length":3`)
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// TestRunWithRules rewrites and drops by several sets of rules.
func TestRunWithRules(t *testing.T) {
	var good strings.Builder
	for i := range 6 {
		fmt.Fprintf(&good, "The sentence of number %d is one that we want to keep with all of it.\n", i)
	}
	in := record("kept", "Menu\n"+good.String()+"Please enable JavaScript.\n") +
		record("short", "Too short. Too short. A. B. C. D. E. F.") +
		record("curly", good.String()+"It has a { in it.")
	r := inProcess(t, in, "run", "-", "--quality", "c4+fineweb")
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, 1, strings.Count(r.out, "\n"), r.out)
	require.Contains(t, r.out, `"kept"`)
	require.NotContains(t, r.out, "Menu")
	require.NotContains(t, r.out, "JavaScript")
	require.Contains(t, r.out, "number 5")
}

// TestWordsFlag drops Japanese as too few words by white space only.
func TestWordsFlag(t *testing.T) {
	in := record("ja", strings.Repeat("日本語の文章です。", 200))
	for words, kept := range map[string]int{"script": 1, "space": 0} {
		r := inProcess(t, in, "run", "-", "--words", words)
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, kept, strings.Count(r.out, "\n"))
	}
}
