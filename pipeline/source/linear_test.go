package source

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

// Inputs made to be slow.
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
			lineartime.Require(t, 150_000, func(n int) func() {
				data := build(n)
				return func() {
					// A decoder each time: one that is kept has its scratch memory for
					// the small size at hand, and for the large one not.
					d := newDecoder(t, WithSurrogates(Replace), WithInvalidUTF8(Replace))
					decodeAll(t, stdin(strings.NewReader(data)), d)
				}
			})
		})
	}
}

func TestHeadersTakeLinearTime(t *testing.T) {
	lineartime.Require(t, 2000, func(n int) func() {
		var names []string
		for i := range n {
			names = append(names, strconv.Itoa(i))
		}
		names = append(names, names...)
		return func() {
			if _, err := newCSVHeader(names, nil); err == nil {
				t.Error("no name stands there twice")
			}
		}
	})
}
