package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTemplateChangesNothing: what a scanner makes of a line does not depend on the lines
// before it, which only a scanner that is new for each line is sure of.
func TestTemplateChangesNothing(t *testing.T) {
	piece := func(choices ...string) *rapid.Generator[string] { return rapid.SampledFrom(choices) }
	good := piece(`"a"`, `""`, `"\n"`, `"é\u00e9\ud800"`, `"`+strings.Repeat("long ", 600)+`\n"`)
	any := piece(`"x`, `"\x"`, "\"\x01\"", `1`, `-0.5e3`, `01`, `null`, `nul`, `{"text":"b"}`, `[1,{"id":"\""}]`, `[`, strings.Repeat("[", 12)+strings.Repeat("]", 12))
	value := func(t *rapid.T) string {
		if rapid.IntRange(0, 4).Draw(t, "good") > 0 {
			return good.Draw(t, "value")
		}
		return any.Draw(t, "value")
	}
	name := piece(`"text"`, `"id"`, `"url"`, `"a.b"`, `"t\u0065xt"`, `"a very long name of a member"`, `"a very long name of another"`, `""`, `"member1"`, `"member2"`)
	alike := map[string]string{`"member1"`: `"member2"`, `"a very long name of a member"`: `"a very long name of another"`, `"id"`: `"ib"`}
	opens, betweens, colons, ends := piece(`{`, ` { `), piece(`,`, `, `, "\t,"), piece(`:`, `: `), piece(`}`, ` } `, `}x`, ``)
	for _, paths := range [][]string{{"text", "id"}, {"text"}, {"id", "id"}, {"a.b", "text"}, {"member1", "a very long name of a member"}, {"."}, {}} {
		rapid.Check(t, func(t *rapid.T) {
			all := make([]jsonPath, len(paths))
			for i, p := range paths {
				all[i] = parsePath(p)
			}
			old := jsonScanner{maxDepth: 10, paths: all}
			var lines []string
			members := rapid.SliceOfN(name, 0, 5).Draw(t, "names")
			open, between, colon, end := opens.Draw(t, "open"), betweens.Draw(t, "between"), colons.Draw(t, "colon"), ends.Draw(t, "end")
			for range rapid.IntRange(1, 4).Draw(t, "kinds") {
				switch rapid.IntRange(0, 9).Draw(t, "changed") { // one thing is written otherwise
				case 0:
					open = opens.Draw(t, "open")
				case 1:
					between = betweens.Draw(t, "between")
				case 2:
					colon = colons.Draw(t, "colon")
				case 3:
					end = ends.Draw(t, "end")
				default:
					if len(members) > 0 {
						members = slices.Clone(members)
						k := rapid.IntRange(0, len(members)-1).Draw(t, "member")
						if like := alike[members[k]]; like != "" {
							members[k] = like
						} else {
							members[k] = name.Draw(t, "name")
						}
					}
				}
				for range rapid.IntRange(1, 5).Draw(t, "lines") {
					line := open
					for i, m := range members {
						if i > 0 {
							line += between
						}
						line += m + colon + value(t)
					}
					line += end
					if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
						line = line[:rapid.IntRange(0, len(line)).Draw(t, "at")]
					}
					lines = append(lines, line)
				}
			}
			for range 20 {
				line := []byte(rapid.SampledFrom(lines).Draw(t, "line"))
				fresh := jsonScanner{maxDepth: 10, paths: all}
				var want, got [maxPaths]jsonRef
				wantErr, gotErr := fresh.scan(line, &want), old.scan(line, &got)
				require.Equal(t, wantErr, gotErr, "%q", line)
				if wantErr != nil {
					continue
				}
				for k := range paths {
					w, g := &want[k], &got[k]
					require.Equal(t, [2]int{w.start, w.end}, [2]int{g.start, g.end}, "%q", line)
					require.Equal(t, w.lone, g.lone, "%q", line)
					require.Equal(t, w.escaped(), g.escaped(), "%q", line)
					require.Equal(t, string(fresh.text[w.from:w.to]), string(old.text[g.from:g.to]), "%q", line)
				}
			}
		})
	}
}

// TestTemplateHolds: lines written alike are compared, others are left alone after a while.
func TestTemplateHolds(t *testing.T) {
	p := jsonScanner{maxDepth: 10, paths: []jsonPath{parsePath("text"), parsePath("id")}}
	var found [maxPaths]jsonRef
	scan := func(line string) { require.NoError(t, p.scan([]byte(line), &found)) }
	for range 3 {
		scan(`{"id": "1", "n": 5, "text": "a\n"}`)
	}
	require.Zero(t, p.template.pause)
	require.Len(t, p.template.members, 3)
	p.reset([]byte(`{"id": "other", "n": {"n": [6]}, "text": "\"quoted\""}`))
	require.True(t, p.compare(&found))
	require.Equal(t, `"quoted"`, string(p.text[found[0].from:found[0].to]))
	for range 10_000 {
		scan(`{"id": "1"}`)
		scan(`{"text": "1"}`)
	}
	require.Equal(t, maxPause, p.template.pause)
	for range 2 * maxPause {
		scan(`{"id": "1"}`)
	}
	require.Zero(t, p.template.pause)
}
