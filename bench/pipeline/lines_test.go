package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesAreJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, lines(&b, 234))
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	for i := range 234 {
		var l struct {
			ID, Label int
			Text      string
			X         []float32
		}
		require.NoError(t, dec.Decode(&l))
		require.Equal(t, i, l.ID)
		require.Equal(t, i%10, l.Label)
		require.Equal(t, fmt.Sprintf("the quick brown fox %d jumps over the lazy dog", i), l.Text)
		require.Equal(t, []float32{float32(i%100) + 0.5, 1.25, -3, 400}, l.X)
	}
	require.False(t, dec.More())
}

func TestMakeLinesLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeLines(dir, 3))
	require.NoError(t, makeLines(dir, 3))
	data, err := os.ReadFile(filepath.Join(dir, "lines-3.jsonl"))
	require.NoError(t, err)
	require.Equal(t, 3, bytes.Count(data, []byte{'\n'}))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestLinesTellAFailedWrite(t *testing.T) {
	full := errors.New("full")
	require.ErrorIs(t, lines(brokenWriter{full}, 1), full)
}
