package source

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Inputs made to be slow: eight times as much must take about eight times as
// long. The best of several runs keeps other load on the machine out.
func TestHostileInputsTakeLinearTime(t *testing.T) {
	repeat := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	wrap := func(s string) string { return `{"text":` + s + `}` }
	for name, build := range map[string]func(n int) string{
		"backslashes":     func(n int) string { return wrap(`"` + repeat(`\\`, n) + `"`) },
		"escaped quotes":  func(n int) string { return wrap(`"` + repeat(`\"`, n) + `"`) },
		"lone surrogates": func(n int) string { return wrap(`"` + repeat(`\ud800`, n) + `"`) },
		"invalid bytes":   func(n int) string { return wrap(`"` + repeat("\xff", n) + `"`) },
		"equal names":     func(n int) string { return wrap(`{` + repeat(`"a":0,`, n) + `"a":1}`) },
		"equal text keys": func(n int) string { return `{` + repeat(`"text":"a",`, n) + `"text":"b"}` },
		"other names":     func(n int) string { return `{` + repeat(`"texx":"a",`, n) + `"b":"b"}` },
		"escaped twice":   func(n int) string { return `{` + repeat(`"text":"\n",`, n) + `"text":"\t"}` },
		"long name":       func(n int) string { return `{"` + repeat("x", n) + `":0,"text":"b"}` },
		"escaped name":    func(n int) string { return `{"` + repeat(`\u0041`, n) + `":0,"text":"b"}` },
		"control bytes":   func(n int) string { return wrap(`["` + repeat(`\u0001`, n) + `\n"]`) },
		"array":           func(n int) string { return wrap(`[` + repeat(`[],`, n) + `0]`) },
		"deep objects": func(n int) string {
			return wrap(`[` + repeat(strings.Repeat(`{"a":`, 900)+`0`+strings.Repeat(`}`, 900)+`,`, n) + `0]`)
		},
		"deep, wide objects": func(n int) string {
			d := n / 3000
			return wrap(strings.Repeat(`{"b":"`+strings.Repeat("x", 3000)+`","a":`, d) + `0` + strings.Repeat(`}`, d))
		},
		"digits":       func(n int) string { return wrap(repeat("1", n) + ".5") },
		"short lines":  func(n int) string { return repeat("\n", n/2) },
		"bad lines":    func(n int) string { return repeat("{\n", n/32) },
		"missing keys": func(n int) string { return repeat(`{"txet":1,"tetx":2}`+"\n", n/16) },
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(data string) time.Duration {
				start := time.Now()
				// A decoder each time: one that is kept has its scratch memory for
				// the small size at hand, and for the large one not.
				d := newDecoder(t, WithSurrogates(Replace), WithInvalidUTF8(Replace))
				r := stdin(strings.NewReader(data))
				for {
					c, err := r.Next(context.Background())
					if err == io.EOF {
						break
					}
					require.NoError(t, err)
					_, err = d.Decode(c)
					require.NoError(t, err)
					c.Release()
				}
				require.NoError(t, r.Close())
				return time.Since(start)
			}
			const n, factor = 300_000, 8
			small, large := build(n), build(factor*n)
			bestSmall, bestLarge := time.Hour, time.Hour
			for try := 0; ; try++ {
				bestSmall = min(bestSmall, cost(small), cost(small))
				bestLarge = min(bestLarge, cost(large))
				ratio := float64(bestLarge) / float64(bestSmall)
				if ratio < 6*factor { // factor if linear, more where caches overflow, factor² if quadratic
					return
				}
				require.Less(t, try, 60, "%d times the input takes %.0f times as long: %v and %v", factor, ratio, bestSmall, bestLarge)
			}
		})
	}
}
