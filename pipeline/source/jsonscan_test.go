package source

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// validJSON reports whether the scanner takes line, looking for nothing, for the
// whole, and for a path into it: the three ways through its code.
func validJSON(t require.TestingT, line string) bool {
	valid := func(paths ...jsonPath) bool {
		p := jsonScanner{maxDepth: 10_000, paths: paths}
		err := p.scan([]byte(line), new([maxPaths]jsonRef))
		return err == nil
	}
	off := valid()
	require.Equal(t, off, valid(parsePath(".")), line)
	require.Equal(t, off, valid(parsePath("a.0.b"), parsePath("a.b")), line)
	return off
}

var jsonLines = []string{
	``, ` `, `null`, ` true `, `false`, `nul`, `nulll`, `tru`, `True`, `NaN`, `Infinity`, `-Infinity`,
	`0`, `-0`, `00`, `01`, `-`, `+1`, `1.`, `.5`, `1.5`, `1.5e`, `1e+`, `1e-7`, `1E5`, `1e400`, `1..2`, `- 1`, `0x1`, `1 2`, `1,`,
	`""`, `"`, `"a`, `"\"`, `"\""`, `"\\"`, `"\\\"`, `"\u"`, `"\u12"`, `"\u123g"`, `"\u00e9"`, `"\ud800"`, `"\ud83d\ude00"`, `"\x"`, `"\U0041"`,
	"\"\x1f\"", "\"\x20\"", "\"\x7f\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"a\x00b\"", "\"a\tb\"", "\"12345678\x01\"", "'a'",
	`[]`, `[ ]`, `[`, `]`, `[1,]`, `[,1]`, `[1 2]`, `[1,2]`, `[[[]]]`, `[[]`, `[]]`, `[}`, `[1}`, `["a",{"b":[]}]`,
	`{}`, `{ }`, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1]`, `{"a" : [1 , 2] , "b" : { } }`,
	`{"a":{"b":1}}`, `{"a":{"b":1}`, `{"a":[{"b":2}]}`, `{"a":[{"b":2}]`, `{"a":[{"b":2},]}`, `{"a":{"b":1},"a":{"b":2}}`, `{"a":1}x`, `{"a":1}{}`, `{"a":[}`, `{"a":{]`,
	"{\"a\":1}\r", "\ufeff{}", "{}\x00", "{\"a\"\x00:1}", "\v{}", "\u00a0{}", `{"\u0061":1}`, `{"a\ud800":1}`, `{"":1}`, `{"a":"b\n"}`, "{\"a\":\"b\n\"}", `/**/{}`, `{}//`,
	`"日本語の文章です。"`, `"éééééééééé\n"`, `[1e5,-0.0,"x",null,true,false,{}]`,
}

func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	for _, line := range jsonLines {
		require.Equal(t, json.Valid([]byte(line)), validJSON(t, line), "%q", line)
		// Cut anywhere, and with anything in the place of any byte.
		for i := range line {
			require.Equal(t, json.Valid([]byte(line[:i])), validJSON(t, line[:i]), "%q", line[:i])
			for _, c := range "\x00\x1f \"\\,:[]{}0-.etn" {
				bent := line[:i] + string(c) + line[i+1:]
				require.Equal(t, json.Valid([]byte(bent)), validJSON(t, bent), "%q", bent)
			}
		}
	}
}

func TestScannerOnRandomTokens(t *testing.T) {
	tokens := rapid.SampledFrom([]string{`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b"`, `"\n"`, `0`, `-1.5e3`, `true`, `null`, ` `, `"`, `\`, "\t"})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(tokens, 0, 12).Draw(t, "tokens"), "")
		if want, got := json.Valid([]byte(line)), validJSON(t, line); want != got {
			t.Fatalf("%q: encoding/json says %v", line, want)
		}
	})
}

func FuzzScanner(f *testing.F) {
	for _, line := range jsonLines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Count(line, []byte("[")) > 5000 || bytes.Count(line, []byte("{")) > 5000 {
			t.Skip("the depth limits differ")
		}
		require.Equal(t, json.Valid(line), validJSON(t, string(line)), "%q", line)
	})
}

func TestDepthLimit(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, `[{"a":`} {
		each := strings.Count(open, "[") + strings.Count(open, "{")
		shut := strings.NewReplacer("[", "]", `{"a":`, "}").Replace(open)
		if each == 2 {
			shut = "}]"
		}
		for _, n := range []int{100 / each, 100/each + 1} {
			line := strings.Repeat(open, n) + "1" + strings.Repeat(shut, n)
			for _, paths := range [][]jsonPath{nil, {parsePath(strings.Repeat("a.", 200))}, {parsePath(".")}} {
				p := jsonScanner{maxDepth: 100, paths: paths}
				err := p.scan([]byte(line), new([maxPaths]jsonRef))
				if n*each <= 100 {
					require.NoError(t, err)
				} else {
					require.True(t, err.(*syntaxError).deep)
				}
			}
		}
	}
	// Ten million levels cost no stack.
	p := jsonScanner{maxDepth: 1000}
	err := p.scan(bytes.Repeat([]byte("["), 10_000_000), new([maxPaths]jsonRef))
	require.True(t, err.(*syntaxError).deep)
}

func TestSyntaxErrorPlace(t *testing.T) {
	for line, at := range map[string]int{`{"a":1,}`: 7, `{"a":tru}`: 5, `[1,2`: 4, `{"a":"b` + "\t" + `"}`: 7, `{} x`: 3, `"\u12x4"`: 5, `{"long name":01}`: 14} {
		p := jsonScanner{maxDepth: 10}
		err := p.scan([]byte(line), new([maxPaths]jsonRef))
		require.Equal(t, at, err.(*syntaxError).at, line)
	}
}
