package source

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// lookUp is the model of a path: encoding/json and a walk through what it made.
func lookUp(t require.TestingT, line, path string) (value any, found bool) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	require.NoError(t, d.Decode(&value))
	for rest, first := path, true; ; first = false {
		whole := rest // as written; leading dots count where the path begins
		rest = strings.TrimLeft(rest, ".")
		if rest == "" {
			return value, true
		}
		if !first {
			whole = rest
		}
		var segment string
		segment, rest, _ = strings.Cut(rest, ".")
		switch v := value.(type) {
		case map[string]any:
			if w, ok := v[whole]; ok {
				return w, true
			}
			next, ok := v[segment]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i := strings.Index("0123456789", segment)
			if len(segment) != 1 || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
}

// randomJSON draws a value whose names collide often.
func randomJSON(t *rapid.T, depth int) string {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	space := rapid.SampledFrom([]string{"", "", " ", "\t\r "})
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
	case 1:
		return rapid.SampledFrom([]string{"0", "-1", "12345678901234567890"}).Draw(t, "number")
	case 2, 3:
		s, err := json.Marshal(rapid.String().Draw(t, "string"))
		require.NoError(t, err)
		return string(s)
	case 4:
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return randomJSON(t, depth-1) }), 0, 3).Draw(t, "array")
		return "[" + space.Draw(t, "space") + strings.Join(list, space.Draw(t, "space")+",") + "]"
	}
	names := rapid.SampledFrom([]string{`"a"`, `"b"`, `"0"`, `"a.b"`, `"b.a"`, `"a.0"`, `"\u0061"`, `""`, `"."`, `"x"`})
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return space.Draw(t, "space") + names.Draw(t, "name") + space.Draw(t, "space") + ":" + randomJSON(t, depth-1)
	}), 0, 4).Draw(t, "object")
	return "{" + strings.Join(list, ",") + "}"
}

func TestPathsAgreeWithTheModel(t *testing.T) {
	paths := rapid.SampledFrom([]string{".", "a", "a.b", "b.a", "a.0", "0", "a.b.0", "a.0.b", "a..b", ".a", "a.", "x.y", "a.b.a.b"})
	rapid.Check(t, func(t *rapid.T) {
		line := randomJSON(t, 4)
		two := []string{paths.Draw(t, "path"), paths.Draw(t, "path")}
		p := jsonScanner{maxDepth: 100, paths: []jsonPath{parsePath(two[0]), parsePath(two[1])}}
		var refs [maxPaths]jsonRef
		err := p.scan([]byte(line), &refs)
		require.NoError(t, err, line)
		for k, path := range two {
			want, found := lookUp(t, line, path)
			if refs[k].found() != found {
				t.Fatalf("%s in %s: want found %v", path, line, found)
			}
			if !found {
				require.NotEmpty(t, p.missing([]byte(line), p.paths[k]))
				continue
			}
			var got any
			d := json.NewDecoder(bytes.NewReader([]byte(line)[refs[k].start:refs[k].end]))
			d.UseNumber()
			require.NoError(t, d.Decode(&got))
			require.Equal(t, want, got, "%s in %s", path, line)
		}
	})
}

func TestWhichMemberWins(t *testing.T) {
	for _, c := range []struct{ line, path, want string }{
		{`{"a":{"b":1},"a.b":2}`, "a.b", "2"},
		{`{"a.b":2,"a":{"b":1}}`, "a.b", "2"},
		{`{"a.b":1,"a":{"b":2},"a.b":3}`, "a.b", "3"},
		{`{"a":{"b":1},"a":{"b":2}}`, "a.b", "2"},
		{`{"a":{"b":1},"a":{}}`, "a.b", ""},
		{`{"a":{"b":1},"a":7}`, "a.b", ""},
		{`{"a":{"b":{"c":1},"b.c":2}}`, "a.b.c", "2"},
		{`{"a":{"b":{"c":1}},"a.b":{"c":2}}`, "a.b.c", "1"},
		{`{"a":[0,{"0":5}]}`, "a.1.0", "5"},
		{`{"a":[0,1]}`, "a.01", ""},
		{`{"a":{"b":1}}`, ".a..b.", "1"},
		{`{"a..b":1,"a":{"b":2}}`, "a..b", "1"},
		{`{"a.b":1}`, "a..b", ""},
	} {
		p := jsonScanner{maxDepth: 100, paths: []jsonPath{parsePath(c.path)}}
		var refs [maxPaths]jsonRef
		err := p.scan([]byte(c.line), &refs)
		require.NoError(t, err)
		require.Equal(t, c.want, c.line[refs[0].start:refs[0].end], "%s in %s", c.path, c.line)
	}
}

func TestPathIndex(t *testing.T) {
	for s, want := range map[string]int{"0": 0, "7": 7, "10": 10, "999999999": 999_999_999, "01": -1, "-1": -1, "1a": -1, "4294967296": -1, "٣": -1} {
		require.Equal(t, want, pathIndex(s), s)
	}
}

func TestMissingKeySaysWhatIsThere(t *testing.T) {
	for _, c := range []struct{ line, path, want string }{
		{`{"id":1,"txt":"x"}`, "text", `no key "text" in the record; did you mean "txt"? keys: "id", "txt"`},
		{`{"Text":"x"}`, "text", `no key "text" in the record; did you mean "Text"? keys: "Text"`},
		{`{"id":1,"body":"x"}`, "text", `no key "text" in the record; keys: "id", "body"`},
		{`{}`, "text", `no key "text" in the record, which is empty`},
		{`[{"text":"x"}]`, "text", `the record is an array of 1, it has no element "text"`},
		{`{"a":{"c":1,"c":2}}`, "a.b", `no key "b" in a; did you mean "c"? keys: "c"`},
		{`{"a":{"b":[1,2]}}`, "a.b.2", `a.b is an array of 2, it has no element "2"`},
		{`{"a":"s"}`, "a.b", `a is a string, it has no key "b"`},
		{`{"a":null}`, "a.b", `a is null, it has no key "b"`},
		{`true`, "text", `the record is a boolean, it has no key "text"`},
		{`-7`, "text", `the record is a number, it has no key "text"`},
		{`{"k1":1,"k2":1,"k3":1,"k4":1,"k5":1,"k6":1,"k7":1,"k8":1,"k9":1}`, "text", `no key "text" in the record; keys: "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", …`},
		{`{"` + strings.Repeat("é", 50) + `":1}`, "text", `no key "text" in the record; keys: "` + strings.Repeat("é", 40) + `…"`},
	} {
		path := parsePath(c.path)
		p := jsonScanner{maxDepth: 100, paths: []jsonPath{path}}
		var refs [maxPaths]jsonRef
		err := p.scan([]byte(c.line), &refs)
		require.NoError(t, err)
		require.False(t, refs[0].found())
		require.Equal(t, c.want, p.missing([]byte(c.line), path))
	}
}
