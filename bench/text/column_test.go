package main

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

// columnFile makes a column file by hand.
func columnFile(n uint32, offsets []uint32, payload string) []byte {
	data := binary.LittleEndian.AppendUint32(nil, n)
	for _, o := range offsets {
		data = binary.LittleEndian.AppendUint32(data, o)
	}
	return append(data, payload...)
}

// testDataset makes a data set of rows, which needs at least six for the prefix.
func testDataset(t *testing.T, rows ...string) *measure.Dataset {
	t.Helper()
	offsets := []uint32{0}
	for _, r := range rows {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(len(r)))
	}
	d, err := measure.ParseDataset(columnFile(uint32(len(rows)), offsets, strings.Join(rows, "")))
	require.NoError(t, err)
	return d
}

// resultOf runs the job of a spec twice, as a repetition must not see what the
// one before it left, and returns the rows of the result.
func resultOf(t *testing.T, s measure.Spec, d *measure.Dataset) []string {
	t.Helper()
	w, err := s.Bind(d)
	require.NoError(t, err)
	require.NoError(t, w.Run())
	require.NoError(t, w.Run())
	rows, err := w.Rows()
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
		"memcpy": rows, "memcpy into": rows,
		"equal": {"\x01"}, "prefix": matches, "prefix select": matches,
	}
	d := testDataset(t, rows...)
	for _, s := range slices.Concat(columnSpecs(), crew(2).columnSpecs(), crew(20).columnSpecs()) {
		if s.Job != "hash" {
			require.Equal(t, want[s.Job], resultOf(t, s, d), "%s, %s", s.Job, s.Form)
		}
	}
}

func TestHashJob(t *testing.T) {
	// XXH3-64 with seed 0 of the empty string, as its authors publish it.
	const empty = 0x2d06800538d394c2
	for _, s := range columnSpecs() {
		if s.Job == "hash" {
			got := resultOf(t, s, testDataset(t, "", "a"))
			require.Len(t, got, 2)
			require.Equal(t, uint64(empty), binary.LittleEndian.Uint64([]byte(got[0])))
		}
	}
}
