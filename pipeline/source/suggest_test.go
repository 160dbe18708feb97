package source

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// readGolden calls each with every line of a file in testdata.
func readGolden[T any](t *testing.T, name string, each func(T)) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		var g T
		require.NoError(t, json.Unmarshal(s.Bytes(), &g))
		each(g)
	}
	require.NotZero(t, n)
}

func TestSuggestGoldens(t *testing.T) {
	type golden struct {
		ID, Target      string
		Candidates, Out []string
	}
	readGolden(t, "suggest.jsonl", func(g golden) {
		require.Equal(t, g.Out, append([]string{}, closestNames(g.Target, g.Candidates)...), g.ID)
	})
}

// editDistance is the definition of the distance, by recursion.
func editDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	d := editDistance(a[1:], b[1:])
	if a[0] != b[0] {
		d++
	}
	d = min(d, editDistance(a[1:], b)+1, editDistance(a, b[1:])+1)
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, editDistance(a[2:], b[2:])+1)
	}
	return d
}

func TestAlignmentDistance(t *testing.T) {
	words := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		require.Equal(t, editDistance(a, b), alignmentDistance([]rune(a), []rune(b)), "%s %s", a, b)
	})
}

func TestSuggestIgnoresLongNames(t *testing.T) {
	long := strings.Repeat("a", 65)
	require.Empty(t, closestNames(long, []string{long}))
	require.Empty(t, closestNames("text", []string{long}))
}
