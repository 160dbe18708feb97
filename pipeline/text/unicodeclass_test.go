package text

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestClassesAreTheRelease holds the tables to package unicode where it is of
// the same version.
func TestClassesAreTheRelease(t *testing.T) {
	if unicode.Version != unicodeVersion {
		t.Skipf("the tables are of Unicode %s, this Go has %s", unicodeVersion, unicode.Version)
	}
	for r := range rune(unicode.MaxRune + 1) {
		alphabetic := unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic, unicode.Other_Lowercase, unicode.Other_Uppercase)
		if (alphabetic || unicode.IsNumber(r)) != isAlnum(r) || unicode.IsSpace(r) != isSpace(r) {
			require.Fail(t, "the tables differ from package unicode", "%U: alphanumeric %v, space %v", r, isAlnum(r), isSpace(r))
		}
	}
}

// TestClassesGolden compares with the classes recorded from luminamoon, which
// are of a later Unicode. Code points that differ must be in the ranges that
// deviations.md lists, and nothing else may be.
func TestClassesGolden(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "char_classes.json"))
	require.NoError(t, err)
	var g struct{ Whitespace, Alphanumeric [][2]rune }
	require.NoError(t, json.Unmarshal(b, &g))
	space, alnum := set(g.Whitespace), set(g.Alphanumeric)
	require.Len(t, space, 25)

	var listed [][2]rune
	for id := range readDeviations(t) {
		if rest, ok := strings.CutPrefix(id, "U+"); ok {
			var r [2]rune
			_, err := fmt.Sscanf(rest, "%X–%X", &r[0], &r[1])
			require.NoError(t, err, id)
			listed = append(listed, r)
		}
	}
	differs := set(listed)
	for r := range rune(unicode.MaxRune + 1) {
		if space[r] != isSpace(r) || differs[r] != (alnum[r] != isAlnum(r)) {
			require.Fail(t, "the tables differ from the golden", "%U: alphanumeric %v, space %v", r, isAlnum(r), isSpace(r))
		}
	}
}

// set returns the code points of the ranges, both ends included.
func set(ranges [][2]rune) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range ranges {
		for c := r[0]; c <= r[1]; c++ {
			m[c] = true
		}
	}
	return m
}
