package text

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// hostile are texts that could make some step of a text stage slow.
var hostile = map[string]func(n int) []byte{
	"CR":             func(n int) []byte { return []byte(strings.Repeat("\r", n)) },
	"spaces":         func(n int) []byte { return []byte(strings.Repeat(" ", n)) },
	"wide spaces":    func(n int) []byte { return []byte(strings.Repeat("\u3000", n/3)) },
	"one word":       func(n int) []byte { return []byte(strings.Repeat("w", n)) },
	"letters":        func(n int) []byte { return []byte(strings.Repeat("a ", n/2)) },
	"two letters":    func(n int) []byte { return []byte(strings.Repeat("a b b ", n/6)) },
	"same words":     func(n int) []byte { return []byte(strings.Repeat("the same ", n/9)) },
	"CJK":            func(n int) []byte { return []byte(strings.Repeat("日本語の文章です。", n/27)) },
	"not UTF-8":      func(n int) []byte { return []byte(strings.Repeat("\x80", n)) },
	"planes":         func(n int) []byte { return allPlanes(n) },
	"distinct words": func(n int) []byte { return distinctWords(n) },
}

func distinctWords(n int) []byte {
	b := make([]byte, 0, n+16)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%d ", i)
	}
	return b
}

func allPlanes(n int) []byte {
	b := make([]byte, 0, n+4)
	for r := rune(0x80); len(b) < n; r = (r + 257) % (unicode.MaxRune + 1) {
		b = utf8.AppendRune(b, r)
	}
	return b
}

// requireLinear runs f on hostile texts of n and of 4n bytes. Linear work takes
// 4 times as long, quadratic 16 times; the limit leaves room for cold caches
// and a busy machine. Times too short to tell anything count as 50 µs.
func requireLinear(t *testing.T, n int, f func(s []byte)) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes times")
	}
	const shortest = 50 * time.Microsecond
	for name, text := range hostile {
		small, large := text(n), text(4*n)
		ratio := math.Inf(1)
		for range 20 { // a busy machine spoils many
			a, b := fastest(small, f), fastest(large, f)
			if ratio = min(ratio, float64(b)/float64(max(a, shortest))); ratio < 12 {
				break
			}
		}
		require.Less(t, ratio, 12.0, "%s: four times the text takes %.1f times as long", name, ratio)
	}
}

// fastest returns the least time of three runs.
func fastest(s []byte, f func([]byte)) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		f(s)
		best = min(best, time.Since(start))
	}
	return best
}
