package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

func TestTextJobs(t *testing.T) {
	const (
		plain  = "the quick brown fox jumps over the lazy dog"
		spaced = " the quick brown fox jumps over the lazy dog\r\n"
		mail   = "write to bob@example.com or to 192.0.2.7 today"
		short  = "too short"
	)
	input := []string{plain, spaced, mail, short, plain, mail}
	want := map[string][]string{
		"clean":             {plain, plain, mail, short, plain, mail},
		"quality":           {"\x01", "\x01", "\x01", "\x00", "\x01", "\x01"},
		"quality by script": {"\x01", "\x01", "\x01", "\x00", "\x01", "\x01"},
		"dedup":             {plain, spaced, mail, short},
		"pii": {plain, spaced, "write to [EMAIL] or to [IP] today", short, plain,
			"write to [EMAIL] or to [IP] today"},
		"pii email": {plain, spaced, "write to [EMAIL] or to 192.0.2.7 today", short, plain,
			"write to [EMAIL] or to 192.0.2.7 today"},
		"utf8":        {"\x01"},
		"fused":       {plain, mail},
		"fused + pii": {plain, "write to [EMAIL] or to [IP] today"},
	}
	d := testDataset(t, input...)
	for _, s := range slices.Concat(textSpecs(), crew(2).textSpecs()) {
		require.Equal(t, want[s.Job], resultOf(t, s, d), "%s, %s", s.Job, s.Form)
	}
}

func TestDedupOfAMillion(t *testing.T) {
	w, err := bindMillion(nil)
	require.NoError(t, err)
	require.NoError(t, w.Run())
	require.Equal(t, million, w.Items)
	figures, err := w.Figures()
	require.NoError(t, err)
	// A hash has 16 bytes, and what finds it some.
	require.Greater(t, figures["bytes an entry"], 16.0)
	require.Less(t, figures["bytes an entry"], 100.0)
}

func TestPackedJobsCountAllocations(t *testing.T) {
	d := testDataset(t, "a", "b", "c", "d", "e", "abcdef")
	w, err := bindPacked(d, fusedJob{"", text.DefaultStages(), text.DefaultKinds()})
	require.NoError(t, err)
	require.NoError(t, w.Run())
	figures, err := w.Figures()
	require.NoError(t, err)
	require.Contains(t, figures, "allocations")
}

// Batches must not change what a pass keeps.
func TestFusedJobsAcrossBatches(t *testing.T) {
	rows := make([]string, 2*batchRows+1)
	for i := range rows {
		rows[i] = "the quick brown fox jumps over the lazy dog, again and again"
	}
	d := testDataset(t, rows...)
	for _, s := range slices.Concat(textSpecs(), crew(3).textSpecs()) {
		switch s.Job {
		case "fused", "fused + pii":
			require.Equal(t, rows[:1], resultOf(t, s, d), "%s, %s", s.Job, s.Form)
		case "clean":
			require.Equal(t, rows, resultOf(t, s, d), "%s, %s", s.Job, s.Form)
		}
	}
}
