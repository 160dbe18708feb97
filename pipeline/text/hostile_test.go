package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/internal/lineartime"
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

// requireLinear requires that f takes linear time on hostile texts of n bytes and more.
func requireLinear(t *testing.T, n int, f func(s []byte)) {
	t.Helper()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			lineartime.Require(t, n, func(n int) func() {
				s := text(n)
				return func() { f(s) }
			})
		})
	}
}
