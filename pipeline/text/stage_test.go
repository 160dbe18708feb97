package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStages(t *testing.T) {
	for list, want := range map[string][]Stage{
		"none":                    {},
		"clean,quality,dedup,pii": DefaultStages(),
		"pii, dedup":              {StagePII, StageDedup},
		"quality":                 {StageQuality},
	} {
		got, err := ParseStages(list)
		require.NoError(t, err, list)
		require.Equal(t, want, got, list)
	}
	for list, says := range map[string]string{
		"":            `stage "" is not one of clean, quality, dedup, pii, none`,
		"clean,":      `stage ""`,
		"source":      `stage "source"`,
		"Clean":       `stage "Clean"`,
		"none,clean":  `stage "none"`,
		"pii,pii":     "stage pii is listed twice",
		"clean,x,pii": `stage "x"`,
	} {
		_, err := ParseStages(list)
		require.ErrorIs(t, err, ErrOption, list)
		require.ErrorContains(t, err, says, list)
	}
}

// TestNames: scripts depend on these words.
func TestNames(t *testing.T) {
	for s, want := range []string{"source", "clean", "quality", "dedup", "pii", "stage(5)"} {
		require.Equal(t, want, Stage(s).String())
	}
	for r, want := range []string{
		"none", "null", "min_bytes", "max_bytes", "min_chars", "max_chars", "min_words",
		"min_entropy", "max_repetition", "max_symbol_ratio", "duplicate",
		"gopher_min_words",
		"gopher_max_words",
		"gopher_min_mean_word_length",
		"gopher_max_mean_word_length",
		"gopher_max_hash_ratio",
		"gopher_max_ellipsis_ratio",
		"gopher_max_bullet_lines",
		"gopher_max_ellipsis_lines",
		"gopher_min_alphabetic_words",
		"gopher_min_stop_words",
		"gopher_max_duplicate_paragraphs",
		"gopher_max_duplicate_paragraph_chars",
		"gopher_max_duplicate_lines",
		"gopher_max_duplicate_line_chars",
		"gopher_max_top_2_grams",
		"gopher_max_top_3_grams",
		"gopher_max_top_4_grams",
		"gopher_max_duplicate_5_grams",
		"gopher_max_duplicate_6_grams",
		"gopher_max_duplicate_7_grams",
		"gopher_max_duplicate_8_grams",
		"gopher_max_duplicate_9_grams",
		"gopher_max_duplicate_10_grams",
		"c4_lorem_ipsum",
		"c4_curly_bracket",
		"c4_min_sentences",
		"fineweb_min_punctuated_lines",
		"fineweb_max_short_lines",
		"fineweb_max_duplicate_line_chars",
		"fineweb_max_newline_ratio",
		"reason(41)",
	} {
		require.Equal(t, want, Reason(r).String())
	}
	for k, want := range []string{"key", "email", "card", "ip", "phone", "rule(0)"} {
		require.Equal(t, want, Kind(k).String())
	}
}
