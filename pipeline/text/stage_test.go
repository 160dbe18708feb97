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
		"min_entropy", "max_repetition", "max_symbol_ratio", "duplicate", "reason(11)",
	} {
		require.Equal(t, want, Reason(r).String())
	}
	for k, want := range []string{"key", "email", "card", "ip", "phone", "kind(5)"} {
		require.Equal(t, want, Kind(k).String())
	}
}
