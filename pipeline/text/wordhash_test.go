package text

import (
	"bytes"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWordHashTellsWordsApart hashes words of every length around one and two loads
// of eight bytes, where memory ends behind the word and where it goes on.
func TestWordHashTellsWordsApart(t *testing.T) {
	words := map[uint64]string{}
	check := func(w string) {
		h := wordKeys.any([]byte(w))
		if len(w) <= shortWord {
			p := append([]byte(w), "and what comes after"...)
			require.Equal(t, h, wordKeys.short(p, uint(len(w))), "what is behind %q counts", w)
		}
		if other, ok := words[h]; ok {
			require.Equal(t, w, other, "one hash for two words")
		}
		words[h] = w
	}
	for n := 1; n <= 40; n++ {
		for _, fill := range []string{"a", "\x00", "\xff"} {
			base := strings.Repeat(fill, n)
			check(base)
			for i := range n {
				for _, c := range "bz\x01" {
					check(base[:i] + string(c) + base[i+1:])
				}
			}
		}
	}
}

// TestTripleKeyIsNotLinear: no change of one word is made up for by a change of another
// as it is where the key is a sum of rotated hashes.
func TestTripleKeyIsNotLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Nobody chooses hashes of words that are near 0, so these are not.
		hash := rapid.Uint64Range(1<<40, 1<<63)
		a, b, c, d := hash.Draw(t, "a"), hash.Draw(t, "b"), hash.Draw(t, "c"), rapid.Uint64Min(1).Draw(t, "d")
		key := tripleKey(a, b, c)
		for by := range 64 {
			r := bits.RotateLeft64(d, by)
			for _, other := range [][3]uint64{
				{a + d, b - r, c}, {a + d, b, c - r}, {a, b + d, c - r},
				{a ^ d, b ^ r, c}, {a ^ d, b, c ^ r}, {a, b ^ d, c ^ r},
			} {
				require.NotEqual(t, key, tripleKey(other[0], other[1], other[2]))
			}
		}
	})
}

// TestWordCursor compares the hashes of words, fetched some at a time, with those of
// what package bytes takes for words.
func TestWordCursor(t *testing.T) {
	m := NewMeasurer()
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(drawText(t, "text"))
		s = bytes.Repeat(s, rapid.SampledFrom([]int{1, 2, 30}).Draw(t, "times"))
		var want []uint64
		for _, w := range bytes.Fields(s) {
			want = append(want, wordKeys.any(w))
		}
		m.classes.classify(s)
		n := m.count(s, &m.classes)
		require.Equal(t, len(want), n.words)
		m.cursor.begin(s, m.edges)
		var got []uint64
		for {
			some := make([]uint64, rapid.IntRange(1, 70).Draw(t, "some"))
			k := m.cursor.hashes(some)
			got = append(got, some[:k]...)
			if k < len(some) {
				break
			}
		}
		require.Equal(t, want, got)
	})
}

// TestTripleMarksBound: there are never more marks than distinct triples, and not many
// fewer where words differ in their beginnings.
func TestTripleMarksBound(t *testing.T) {
	var marks tripleMarks
	rapid.Check(t, func(t *rapid.T) {
		differ := rapid.Bool().Draw(t, "differ")
		numbers := rapid.SliceOfN(rapid.IntRange(1, 30), 3, 400).Draw(t, "words")
		var s []byte
		var words []string
		var places []uint32
		distinct := map[[3]string]bool{}
		for i, n := range numbers {
			w := strings.Repeat(string(rune('@'+n)), 1+n*n/10)
			if !differ {
				w = strings.Repeat("x", n) + strconv.Itoa(n)
			}
			words = append(words, w)
			if i >= 2 {
				distinct[[3]string(words[i-2:])] = true
			}
			s = append(s, "\n\t "[n%3])
			places = append(places, uint32(len(s)), uint32(len(s)+len(w)))
			s = append(s, w...)
		}
		require.True(t, marks.reset(len(words)-2))
		for len(places) > 0 {
			some := 2 * rapid.IntRange(1, len(places)/2).Draw(t, "some")
			marks.addWords(s, places[:some])
			places = places[some:]
		}
		require.LessOrEqual(t, marks.count, len(distinct))
		if differ {
			require.Greater(t, marks.count, len(distinct)*3/4-4)
		}
	})
	require.False(t, marks.reset(maxMarks), "too many triples for the marks")
}
