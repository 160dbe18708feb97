package source

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCompactJSONAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := randomJSON(t, 5)
		var v any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		require.NoError(t, d.Decode(&v))
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(v))
		// encoding/json escapes these two for the sake of JavaScript.
		text := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(want.String(), "\n"))
		var w jsonWriter
		got, err := w.append(nil, []byte(line))
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	})
}

func TestCompactJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{ }`: `{}`, `[ ]`: `[]`, `[ 1 , [ ] , { } ]`: `[1,[],{}]`,
		`{"b":1,"a":{"d":2,"c":3}}`:                `{"a":{"c":3,"d":2},"b":1}`,
		`{"a":1,"b":2,"a":{"x":[{"z":1,"y":2}]}}`:  `{"a":{"x":[{"y":2,"z":1}]},"b":2}`,
		`{"a":{"k":[1,{"q":0}]},"a":3,"\u0061":4}`: `{"a":4}`,
		`[1e3,1.50,-0.0,1E-7,10]`:                  `[1000.0,1.5,-0.0,1e-7,10]`,
		`["\u0041\/\u001f","\ud83d\ude00","\\\""]`: "[\"A/\\u001f\",\"😀\",\"\\\\\\\"\"]",
		`{"é":1,"z":2,"Z":3,"":4}`:                 `{"":4,"Z":3,"z":2,"é":1}`,
	} {
		var w jsonWriter
		got, err := w.append([]byte("="), []byte(in))
		require.NoError(t, err)
		require.Equal(t, "="+want, string(got))
	}
	var w jsonWriter
	_, err := w.append(nil, []byte(`{"a":[1e400]}`))
	require.ErrorIs(t, err, ErrNumber)
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "-0", "5": "5", "12345678901234567890": "12345678901234567890", "123456789012345678901234567890": "123456789012345678901234567890",
		"1e3": "1000.0", "1.5": "1.5", "1.50": "1.5", "-0.0": "-0.0", "0e5": "0.0", "1e-400": "0.0", "0.1": "0.1", "1E+2": "100.0", "123.456e1": "1234.56",
		"1e15": "1000000000000000.0", "1e16": "1e16", "1.5e16": "1.5e16", "1234567890123456.5": "1234567890123456.5", "1e-5": "0.00001", "1.25e-5": "0.0000125", "1e-6": "1e-6", "1.5e-7": "1.5e-7",
		"1.7976931348623157e308": "1.7976931348623157e308", "5e-324": "5e-324",
	} {
		got, err := appendNumber(nil, []byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got), in)
	}
	for _, in := range []string{"1e400", "-1e400", "1.8e308"} {
		_, err := appendNumber(nil, []byte(in))
		require.ErrorIs(t, err, ErrNumber)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).Draw(t, "f")
		in := strconv.FormatFloat(f, 'e', -1, 64)
		got, err := appendNumber(nil, []byte(in))
		require.NoError(t, err)
		back, err := strconv.ParseFloat(string(got), 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(back), in)
		require.True(t, json.Valid(got), "%s", got)
		require.True(t, strings.ContainsAny(string(got), ".e"))
	})
}
