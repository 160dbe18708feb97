package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bruteTop finds the n-gram that occurs most often, the first of them, by a map.
func bruteTop(words []string, n int) (at, count int) {
	seen := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		seen[strings.Join(words[i:i+n], " ")]++
	}
	for i := 0; i+n <= len(words); i++ {
		if c := seen[strings.Join(words[i:i+n], " ")]; c > count {
			at, count = i, c
		}
	}
	return at, count
}

// bruteDuplicates adds up the lengths of n-grams that a walk over the words met before;
// it steps over those.
func bruteDuplicates(words []string, n int) (chars int) {
	seen := map[string]bool{}
	for i := 0; i+n <= len(words); {
		gram := strings.Join(words[i:i+n], " ")
		if !seen[gram] {
			seen[gram] = true
			i++
			continue
		}
		chars += len([]rune(gram)) - (n - 1)
		i += n
	}
	return chars
}

func TestGramsLikeBruteForce(t *testing.T) {
	var l wordList
	var g grams
	rapid.Check(t, func(t *rapid.T) {
		alphabet := []string{"a", "b", "ccc", "日本", "é"}[:rapid.IntRange(1, 5).Draw(t, "alphabet")]
		words := rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 60).Draw(t, "words")
		if rapid.Bool().Draw(t, "doubled") {
			words = append(words, words...)
		}
		l.fill([]byte(strings.Join(words, " ")), WordsBySpace)
		require.Len(t, l.hash(), len(words))
		g.start(l.hash())
		for n := 2; n <= 10; n++ {
			if n > 2 {
				g.longer()
			}
			at, count := g.top()
			wantAt, wantCount := bruteTop(words, n)
			require.Equal(t, wantCount, count, "n = %d", n)
			require.Equal(t, wantAt, at, "n = %d", n)
			require.Equal(t, bruteDuplicates(words, n), g.duplicates(&l), "n = %d", n)
		}
	})
}

// TestRepeatsLikeBruteForce splits texts by the standard library.
func TestRepeatsLikeBruteForce(t *testing.T) {
	count := func(pieces []string) (r repeats) {
		seen := map[string]bool{}
		for _, p := range pieces {
			if p == "" {
				continue
			}
			r.pieces++
			if seen[p] {
				r.duplicates++
				r.chars += len([]rune(p))
			}
			seen[p] = true
		}
		return r
	}
	var set repeatSet
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", " ", "\n", "\n", "\n\n"}), 0, 40).Draw(t, "text"), "")
		for _, end := range []string{"\n", "\r\n", "\r"} {
			in := []byte(strings.ReplaceAll(s, "\n", end))
			require.Equal(t, count(strings.Split(s, "\n")), set.lines(in))
			if end != "\n" {
				continue
			}
			var paragraphs []string
			for _, p := range strings.Split(strings.TrimSpace(s), "\n\n") {
				paragraphs = append(paragraphs, strings.Trim(p, "\n"))
			}
			require.Equal(t, count(paragraphs), set.paragraphs(in), "%q", in)
		}
	})
}

// TestGrowingTable holds the table to a map over keys that make it grow.
func TestGrowingTable(t *testing.T) {
	var table gramTable
	for range 2 { // the second time with memory of the first
		table.reset(10)
		first := map[uint64]uint32{}
		for i := range uint32(200_000) {
			key := uint64(i%70_000) * 0x100000001
			want, ok := first[key]
			if !ok {
				want, first[key] = i, i
			}
			require.Equal(t, want, table.first(key, i))
		}
		require.Equal(t, len(first), table.count)
	}
}
