package main

import (
	"testing"

	"github.com/stretchr/testify/require"
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
		"clean":   {plain, plain, mail, short, plain, mail},
		"quality": {"\x01", "\x01", "\x01", "\x00", "\x01", "\x01"},
		"dedup":   {plain, spaced, mail, short},
		"pii": {plain, spaced, "write to [EMAIL] or to [IP] today", short, plain,
			"write to [EMAIL] or to [IP] today"},
		"pii email": {plain, spaced, "write to [EMAIL] or to 192.0.2.7 today", short, plain,
			"write to [EMAIL] or to 192.0.2.7 today"},
		"fused":       {plain, mail},
		"fused + pii": {plain, "write to [EMAIL] or to [IP] today"},
	}
	d := testDataset(t, input...)
	for _, s := range textSpecs() {
		require.Equal(t, want[s.job], resultOf(t, s, d), "%s, %s", s.job, s.form)
	}
}

// Batches must not change what a pass keeps.
func TestFusedJobsAcrossBatches(t *testing.T) {
	rows := make([]string, 2*batchRows+1)
	for i := range rows {
		rows[i] = "the quick brown fox jumps over the lazy dog, again and again"
	}
	d := testDataset(t, rows...)
	for _, s := range textSpecs() {
		switch s.job {
		case "fused", "fused + pii":
			require.Equal(t, rows[:1], resultOf(t, s, d), "%s, %s", s.job, s.form)
		case "clean":
			require.Equal(t, rows, resultOf(t, s, d), "%s, %s", s.job, s.form)
		}
	}
}
