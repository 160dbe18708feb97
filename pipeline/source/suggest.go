package source

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSuggestRunes is the length in code points up to which names are compared;
// longer ones are not typing errors of a key.
const maxSuggestRunes = 64

// closestNames returns those of names that target may have been meant for,
// closest first, equally close ones by name. Case does not count; one edit in
// three code points is allowed, and always one. Edits are insertions, deletions,
// substitutions and swaps of neighbours (optimal string alignment distance).
func closestNames(target string, names []string) []string {
	want := []rune(strings.ToLower(target))
	if len(want) > maxSuggestRunes {
		return nil
	}
	limit := max(1, len(want)/3)
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, name := range names {
		if n := utf8.RuneCountInString(name); n > maxSuggestRunes || n > len(want)+limit || n < len(want)-limit {
			continue
		}
		if d := alignmentDistance(want, []rune(strings.ToLower(name))); d <= limit {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range near {
		out = append(out, c.name)
	}
	return out
}

// alignmentDistance is the optimal string alignment distance of a and b, in
// O(len(a)·len(b)).
func alignmentDistance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := last[j-1]
			if a[i-1] != b[j-1] {
				substitute++
			}
			row[j] = min(substitute, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
