package main

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testDataset makes a data set of rows, which needs at least six for the prefix.
func testDataset(t *testing.T, rows ...string) *dataset {
	t.Helper()
	offsets := []uint32{0}
	for _, r := range rows {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(len(r)))
	}
	d, err := parseDataset(columnFile(uint32(len(rows)), offsets, strings.Join(rows, "")))
	require.NoError(t, err)
	return d
}

// resultOf runs the job of a spec twice, as a repetition must not see what the
// one before it left, and returns the rows of the result.
func resultOf(t *testing.T, s spec, d *dataset) []string {
	t.Helper()
	w, err := s.bind(d)
	require.NoError(t, err)
	require.NoError(t, w.run())
	require.NoError(t, w.run())
	rows, err := w.rows()
	require.NoError(t, err)
	out := []string{}
	for r := range rows {
		out = append(out, string(r))
	}
	return out
}

func TestColumnJobs(t *testing.T) {
	rows := []string{"", "a", "日本", "twelve bytes", "thirteen byte", "abc and more", "abc", "ab", "abcd, which is long"}
	matches := []string{"abc and more", "abc", "abcd, which is long"}
	want := map[string][]string{
		"from strings": rows, "from offsets": rows, "pack": rows, "pack into": rows,
		"equal": {"\x01"}, "prefix": matches, "prefix select": matches,
	}
	d := testDataset(t, rows...)
	for _, s := range columnSpecs() {
		if s.job != "hash" {
			require.Equal(t, want[s.job], resultOf(t, s, d), s.job)
		}
	}
}

func TestHashJob(t *testing.T) {
	// XXH3-64 with seed 0 of the empty string, as its authors publish it.
	const empty = 0x2d06800538d394c2
	for _, s := range columnSpecs() {
		if s.job == "hash" {
			got := resultOf(t, s, testDataset(t, "", "a"))
			require.Len(t, got, 2)
			require.Equal(t, uint64(empty), binary.LittleEndian.Uint64([]byte(got[0])))
		}
	}
}
