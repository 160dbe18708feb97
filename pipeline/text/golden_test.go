package text

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readGoldens decodes testdata/name, one JSON object a line. The answers were
// recorded from luminamoon 1.0.6.post1.
func readGoldens[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	var out []T
	for dec := json.NewDecoder(f); dec.More(); {
		var g T
		require.NoError(t, dec.Decode(&g), "%s, object %d", name, len(out)+1)
		out = append(out, g)
	}
	require.NotEmpty(t, out)
	return out
}

// readDeviations reads the table of goldens that we differ from on purpose.
func readDeviations(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "deviations.md"))
	require.NoError(t, err)
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		cell := strings.Split(line, "|")
		if len(cell) != 4 {
			continue
		}
		id, reason := strings.TrimSpace(cell[1]), strings.TrimSpace(cell[2])
		if id == "id" || strings.Trim(id, "-: ") == "" {
			continue
		}
		require.NotContains(t, out, id, "listed twice")
		require.NotEmpty(t, reason, "%s has no reason", id)
		out[id] = reason
	}
	return out
}

// requireGolden holds one answer to its golden: equal, unless the table of
// deviations says that it differs.
func requireGolden(t *testing.T, deviations map[string]string, id string, equal bool, format string, args ...any) {
	t.Helper()
	if reason, listed := deviations[id]; listed {
		require.False(t, equal, "%s equals its golden but is listed as a deviation (%s)", id, reason)
		return
	}
	require.Truef(t, equal, "%s: "+format, append([]any{id}, args...)...)
}

// TestDeviationsNameGoldens finds rows of the table that no golden has.
func TestDeviationsNameGoldens(t *testing.T) {
	known := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	require.NoError(t, err)
	for _, f := range files {
		for _, g := range readGoldens[struct{ ID string }](t, filepath.Base(f)) {
			known[g.ID] = true
		}
	}
	for id := range readDeviations(t) {
		require.True(t, known[id] || strings.HasPrefix(id, "U+"), "no golden is called %s", id)
	}
}
