package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rosaLine is a line of output of rosaline rosa.
type rosaLine struct {
	ID             any
	Next           []int64
	Length, Source []int
	Candidates     [][]rosaCandidate
}

// rosaCandidate is one of the candidates of a token.
type rosaCandidate struct {
	Source, Length, Frequency int
	Occurrences               []int
}

func rosaLines(t require.TestingT, s string) []rosaLine {
	var out []rosaLine
	for l := range strings.Lines(s) {
		require.True(t, strings.HasSuffix(l, "}\n"), "cut line %q", l)
		var x rosaLine
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&x), "%q", l)
		out = append(out, x)
	}
	return out
}

// bruteLine is what the line about a stream is by definition: the longest suffix that
// occurs earlier, newest first. With no k there are no candidates.
func bruteLine(id any, x []int64, k, r int) rosaLine {
	out := rosaLine{ID: id, Next: []int64{}, Length: []int{}, Source: []int{}}
	if k > 0 {
		out.Candidates = [][]rosaCandidate{}
	}
	for i := range x {
		common := make([]int, i) // length of the common suffix with each earlier place
		for j := range i {
			for common[j] <= j && x[j-common[j]] == x[i-common[j]] {
				common[j]++
			}
		}
		classes := slices.Compact(slices.Sorted(slices.Values(common)))
		slices.Reverse(classes)
		if n := len(classes); n > 0 && classes[n-1] == 0 {
			classes = classes[:n-1]
		}
		length, source, next := 0, -1, int64(-1)
		if len(classes) > 0 {
			length = classes[0]
			for j := range i {
				if common[j] == length {
					source, next = j, x[j+1]
				}
			}
		}
		out.Next, out.Length, out.Source = append(out.Next, next), append(out.Length, length), append(out.Source, source)
		if k == 0 {
			continue
		}
		shown := map[int]bool{}
		list := []rosaCandidate{}
		for _, l := range classes[:min(k, len(classes))] {
			c := rosaCandidate{Length: l}
			for j := i - 1; j >= 0; j-- {
				if common[j] < l {
					continue
				}
				if c.Frequency++; c.Frequency <= r && !shown[j] {
					shown[j] = true
					c.Occurrences = append(c.Occurrences, j)
				}
			}
			if len(c.Occurrences) > 0 {
				c.Source = c.Occurrences[0]
				list = append(list, c)
			}
		}
		out.Candidates = append(out.Candidates, list)
	}
	return out
}

// tokenLine is a line of input.
func tokenLine(id any, tokens []int64) string {
	b, err := json.Marshal(map[string]any{"id": id, "tokens": tokens})
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

func randomTokens(n int, alphabet []int64) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = alphabet[rand.IntN(len(alphabet))]
	}
	return x
}

var alphabets = [][]int64{{0}, {0, 1}, {7, 8, 9, 255}, {-1, math.MinInt64, math.MaxInt64}, {97, 256, -5}}

func TestRosaLines(t *testing.T) {
	var in strings.Builder
	var streams [][]int64
	for i := range 150 {
		streams = append(streams, randomTokens(rand.IntN(60), alphabets[i%len(alphabets)]))
		in.WriteString(tokenLine(fmt.Sprint(i), streams[i]))
	}
	for _, c := range []struct {
		k, r int
		args []string
	}{
		{0, 0, nil},
		{0, 0, []string{"--threads", "3", "--batch", "1"}},
		{1, 1, []string{"--candidates", "1,1", "--threads", "1"}},
		{4, 2, []string{"--candidates", "4,2", "--batch", "7"}},
		{16, 4, []string{"--candidates", "16,4", "--threads", "4"}},
	} {
		r := inProcess(t, in.String(), append([]string{"rosa"}, c.args...)...)
		require.Equal(t, exitDone, r.code, r.err)
		got := rosaLines(t, r.out)
		require.Len(t, got, len(streams))
		for i, x := range streams {
			require.Equal(t, bruteLine(fmt.Sprint(i), x, c.k, c.r), got[i], "%v %v", c.args, x)
		}
	}
}

// TestRosaText takes lines as they are.
func TestRosaText(t *testing.T) {
	dir := t.TempDir()
	texts := []string{"abcabdab", "", "\xff\xfe\x00\xff\xfe", "  spaces  ", "läßt läßt", `{"id":1,"tokens":[1]}`}
	path := write(t, dir, "prose", strings.Join(texts, "\n")+"\r\nlast without an end")
	texts = append(texts, "last without an end")
	out := filepath.Join(dir, "out.jsonl")
	r := inProcess(t, "", "rosa", "--text", "--candidates", "3,3", path, "-o", out)
	require.Equal(t, exitDone, r.code, r.err)
	require.Empty(t, r.out)
	got := rosaLines(t, read(t, out))
	require.Len(t, got, len(texts))
	for i, s := range texts {
		x := []int64{}
		for j := range len(s) {
			x = append(x, int64(s[j]))
		}
		require.Equal(t, bruteLine(fmt.Sprintf("%s:%d", path, i+1), x, 3, 3), got[i], "%q", s)
	}
	require.NoFileExists(t, out+".partial")
}

// TestRosaIDs has the ids of rosaline run.
func TestRosaIDs(t *testing.T) {
	in := ""
	for _, id := range []string{`"a\"b"`, `""`, `7`, `1.50e2`, `-0`, `true`, `null`, `{"b":1, "a":[2]}`, `[ 1 ]`, `"ä\u0001"`} {
		in += `{"id": ` + id + `, "text": "x", "tokens": [ 1 ,	2 ]}` + "\n\n"
	}
	in += `{"text":"no id","tokens":[]}` + "\n"
	ids := func(out, rest string) (ids []string) {
		for l := range strings.Lines(out) {
			id, _, found := strings.Cut(l, rest)
			require.True(t, found, l)
			ids = append(ids, id)
		}
		return ids
	}
	run := inProcess(t, in, "run", "-", "--stages", "none")
	got := inProcess(t, in, "rosa", "-")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, ids(run.out, `,"text":`), ids(got.out, `,"next":`))
	require.Len(t, ids(got.out, `,"next":`), 11)
}

func TestRosaBadRecords(t *testing.T) {
	for in, want := range map[string]string{
		`{"tokens":null}`:                     `"tokens" is null; make it a list`,
		`{"id":1}`:                            `no key "tokens" in the record`,
		`{"token":[1]}`:                       `did you mean "token"?`,
		`[1,2]`:                               "the record is an array",
		`{"tokens":"[1]"}`:                    `"tokens" is no list`,
		`{"tokens":"\u005b1]"}`:               `"tokens" is no list`,
		`{"t\u006fkens":"[1]"}`:               `"tokens" is no list`,
		`{"tokens":[2],"tokens":"[1]"}`:       `"tokens" is no list`,
		`{"tokens":7}`:                        `"tokens" is no list`,
		`{"tokens":{"a":1}}`:                  `"tokens" is no list`,
		`{"tokens":""}`:                       `"tokens" is no list`,
		`{"tokens":[1,1e3]}`:                  `element 1 of "tokens" is no whole number`,
		`{"tokens":[1.0]}`:                    `element 0 of "tokens" is no whole number`,
		`{"tokens":["1"]}`:                    `element 0 of "tokens" is no whole number`,
		`{"tokens":[1,[2]]}`:                  `element 1 of "tokens" is no whole number`,
		`{"tokens":[1,null]}`:                 `element 1 of "tokens" is no whole number`,
		`{"tokens":[9223372036854775808]}`:    `element 0 of "tokens" is out of range`,
		`{"tokens":[-9223372036854775809]}`:   `element 0 of "tokens" is out of range`,
		`{"tokens":[36893488147419103233]}`:   `element 0 of "tokens" is out of range`,
		`{"tokens":[1`:                        "invalid JSON",
		`{"tokens":[01]}`:                     "invalid JSON",
		`{"tokens":[1]} {"tokens":[1]}`:       "invalid JSON",
		`{"id":"\ud800","tokens":[]}`:         "add --surrogates replace",
		`{"id":"` + "\xff" + `","tokens":[]}`: "add --invalid-utf8 replace",
		`{"tokens":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}`: "raise --max-line",
	} {
		in = tokenLine(1, []int64{5}) + in + "\n" + tokenLine(3, []int64{5})
		r := inProcess(t, in, "rosa", "--max-line", "60")
		require.Equal(t, exitFailed, r.code, in)
		require.Equal(t, `{"id":1,"next":[-1],"length":[0],"source":[-1]}`+"\n", r.out, in)
		require.Contains(t, r.err, "rosaline: -:2: at byte 22: ", in)
		require.Contains(t, r.err, want, in)
		require.Contains(t, r.err, "--on-error skip", in)

		r = inProcess(t, in, "rosa", "--max-line", "60", "--on-error", "skip")
		require.Equal(t, exitDone, r.code, r.err)
		require.Len(t, rosaLines(t, r.out), 2, in)
		require.Contains(t, r.err, "records=1", in)
	}
	for in, tokens := range map[string][]int64{
		`{"tokens":[-0,-9223372036854775808,9223372036854775807]}`: {0, math.MinInt64, math.MaxInt64},
		`{"id":"[","tokens":[3]}`:                                  {3},
		`{"tokens":"[1]","tokens":[1]}`:                            {1},
		`{"a":["[","\u005b"],"x":1e3,"tokens":[ 4 ]}`:              {4},
	} {
		r := inProcess(t, in, "rosa", "--id-key", "none")
		require.Equal(t, exitDone, r.code, r.err)
		require.Equal(t, bruteLine("-:1", tokens, 0, 0), rosaLines(t, r.out)[0])
	}
}

func TestRosaLongTextLine(t *testing.T) {
	r := inProcess(t, "abc\nabcdef\nabc\n", "rosa", "--text", "--max-line", "5")
	require.Equal(t, exitFailed, r.code)
	require.Len(t, rosaLines(t, r.out), 1)
	require.Contains(t, r.err, "-:2: at byte 4: source: line too long: 6 bytes, the cap is 5; raise --max-line")
}

// TestAnswersInParts are the same whatever is made at once.
func TestAnswersInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := &tokenRows{isText: rapid.Bool().Draw(t, "text")}
		for i := range rapid.IntRange(0, 4).Draw(t, "rows") {
			rows.heads = fmt.Appendf(rows.heads, `{"id":%d`, i)
			for range rapid.IntRange(0, 12).Draw(t, "n") {
				if token := rapid.IntRange(254, 256).Draw(t, "token"); rows.isText {
					rows.text = append(rows.text, byte(token))
				} else {
					rows.tokens = append(rows.tokens, int64(token))
				}
			}
			rows.endRow()
		}
		candidates := candidatesValue{}
		if rapid.Bool().Draw(t, "candidates") {
			candidates = candidatesValue{3, 2}
		}
		all := func(limit int) string {
			var out bytes.Buffer
			a := &answers{rows: rows, matcher: &matcher{candidates: candidates}}
			for {
				a.fill(limit)
				out.Write(a.lines)
				require.Less(t, len(a.lines), limit+300)
				if a.done {
					return out.String()
				}
			}
		}
		require.Equal(t, all(1<<20), all(rapid.IntRange(1, 200).Draw(t, "limit")))
	})
}

// TestRosaMemory writes a line that is hundreds of times as long as its stream, in parts.
func TestRosaMemory(t *testing.T) {
	text := make([]byte, 24_000)
	for i := range text {
		text[i] = 'a' + byte(rand.IntN(2))
	}
	r := process(t, t.TempDir(), string(text), "rosa", "--text", "--candidates", "32,32")
	require.Equal(t, exitDone, r.code, r.err)
	require.Greater(t, len(r.out), maxAnswer, "there are parts")
	require.True(t, json.Valid([]byte(r.out)))
}

func TestRosaPipe(t *testing.T) {
	cmd := exec.Command(binary, "rosa")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for id := range 3 {
		_, err := in.Write([]byte(tokenLine(id, []int64{1, 1})))
		require.NoError(t, err)
		require.True(t, lines.Scan())
		require.Equal(t, fmt.Sprintf(`{"id":%d,"next":[-1,1],"length":[0,1],"source":[-1,0]}`, id), lines.Text())
	}
	require.NoError(t, in.Close())
	require.False(t, lines.Scan())
	require.NoError(t, cmd.Wait())
}

func TestRosaExitCodes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good.jsonl", tokenLine(1, []int64{1}))
	write(t, dir, "bad.jsonl", tokenLine(1, []int64{1})+"{\n")
	write(t, dir, "folder/good.jsonl", "")
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"good.jsonl", "--device", "cpu", "--check", "always"}, 0, ""},
		{[]string{"good.jsonl", "--algorithm", "automaton", "--candidates", "off"}, 0, ""},
		{[]string{"missing.jsonl"}, 1, "missing.jsonl"},
		{[]string{"bad.jsonl", "-o", "out.jsonl"}, 1, "bad.jsonl:2: at byte 22: source: invalid JSON: byte 2: the line ends early"},
		{[]string{"bad.jsonl", "-o", "out.jsonl"}, 1, "what was written before is in out.jsonl.partial"},
		{[]string{"good.jsonl", "-o", "no/such"}, 1, "--output: no/such: cannot write"},
		{[]string{"good.jsonl", "--device", "cuda"}, 1, "this build has no device support"},
		{[]string{"good.jsonl", "bad.jsonl"}, 2, "one FILE, got 2"},
		{[]string{"*.jsonl"}, 2, "matches 2 files; name one"},
		{[]string{"folder"}, 2, "folder is a folder; name a file"},
		{[]string{"good.jsonl", "-o", "folder"}, 2, "name a file"},
		{[]string{"good.jsonl", "-o", "x.parquet"}, 2, "another format than JSON"},
		{[]string{"good.jsonl", "-o", "good.jsonl"}, 2, "overwrite"},
		{[]string{"good.jsonl", "-o", ""}, 2, "--output is empty"},
		{[]string{"--algorithm", "rlbwt"}, 2, "--algorithm: not yet"},
		{[]string{"--algorithm", "rlbwt-compact"}, 2, "--algorithm: not yet"},
		{[]string{"--algorithm", "rlbwt-mc"}, 2, "--algorithm: not yet"},
		{[]string{"--algorithm", "sam"}, 2, "must be one of automaton"},
		{[]string{"--candidates", "16"}, 2, "must be K,R"},
		{[]string{"--candidates", "4097,1"}, 2, "must be K,R"},
		{[]string{"--candidates", "1,0"}, 2, "must be K,R"},
		{[]string{"--candidates", "512,512"}, 2, "must be K,R"},
		{[]string{"--threads", "0"}, 2, "--threads"},
		{[]string{"--check", "maybe"}, 2, "--check"},
		{[]string{"--text-key", "x"}, 2, "--text-key"},
	} {
		r := process(t, dir, "", append([]string{"rosa"}, c.args...)...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.err)
		require.Contains(t, r.err, c.stderr)
		require.NotContains(t, r.err, "goroutine ")
	}
	require.NoFileExists(t, filepath.Join(dir, "out.jsonl"))
	require.Len(t, rosaLines(t, read(t, filepath.Join(dir, "out.jsonl.partial"))), 1)
}

// FuzzTokens takes the lists that encoding/json takes for int64, but for null.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"[]", "[0,-0,12]", "[1e3]", "[1.0]", "[null]", "[[1],2]", `["1",{"a":[]}]`,
		"[9223372036854775807,-9223372036854775808]", "[9223372036854775808]", "[-9223372036854775809]", "[99999999999999999999]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		var compact bytes.Buffer
		if json.Compact(&compact, list) != nil || compact.Len() == 0 || compact.Bytes()[0] != '[' {
			t.Skip()
		}
		var elements []*int64
		want := json.Unmarshal(list, &elements) == nil && !slices.Contains(elements, nil)
		got, err := appendTokens(nil, compact.Bytes())
		require.Equal(t, want, err == nil, "%s: %v", list, err)
		if want {
			require.Len(t, got, len(elements))
			for i, e := range elements {
				require.Equal(t, *e, got[i])
			}
		}
	})
}
