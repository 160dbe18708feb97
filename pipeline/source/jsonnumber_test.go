package source

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var hardNumbers = []string{
	"0", "-0", "-0.0", "1", "-1", "0.1", "-3.0", "4e2", "4E+2", "1.25", "1e-3", "0e5", "0.000e-9", "123456789012345678901234567890",
	"9007199254740992", "9007199254740993", "9007199254740993e0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "16777217", "16777219", "0.3e1", "33554433e10", "1e22", "1e23", "8.5e22", "1e-22", "1e-23",
	"1e10", "1e11", "1e-10", "1e-11", "1.17549435e-38", "1e-45", "7e-46", "5e-324", "2e-324", "1e308", "1.7976931348623157e308", "1.8e308", "-1e309",
	"3.4028235e38", "3.4028236e38", "3.5e38", "1e999999999999999999999", "1e-999999999999999999999", "0.00000000000000000000000000000000000000000001",
	"1.00000005960464477539062500", "1.000000059604644775390625001", "2.2250738585072011e-308", strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1",
	"", "-", "+1", "01", "-01", "00", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "1_0", "1 ", " 1", "null", "true", `"1"`, "{}", "1,2", "1]",
}

// requireNumber compares with encoding/json, strconv and math/big.
func requireNumber(t require.TestingT, s string) {
	var valid json.Number
	isNumber := json.Unmarshal([]byte(s), &valid) == nil && strings.TrimSpace(s) == s && s != "" && s != "null" && s[0] != '"'
	f64, err64 := ParseFloat64([]byte(s))
	f32s, err32 := ParseFloat32s([]byte(s), nil)
	i64, errInt := ParseInt64([]byte(s))
	if !isNumber {
		for _, err := range []error{err64, err32, errInt} {
			if s != "" && s[0] == '[' && err == err32 {
				continue
			}
			require.ErrorIs(t, err, ErrValue, "%q", s)
		}
		return
	}
	want64, err := strconv.ParseFloat(s, 64)
	if err != nil {
		require.ErrorIs(t, err64, ErrNumber, "%q", s)
	} else {
		require.NoError(t, err64)
		require.Equal(t, math.Float64bits(want64), math.Float64bits(f64), "%q", s)
	}
	want32, err := strconv.ParseFloat(s, 32)
	if err != nil {
		require.ErrorIs(t, err32, ErrNumber, "%q", s)
	} else {
		require.NoError(t, err32)
		require.Equal(t, math.Float32bits(float32(want32)), math.Float32bits(f32s[0]), "%q", s)
	}
	if strings.ContainsAny(s, ".eE") {
		require.ErrorIs(t, errInt, ErrValue, "%q", s)
		return
	}
	integer, ok := new(big.Int).SetString(s, 10)
	require.True(t, ok)
	if !integer.IsInt64() {
		require.ErrorIs(t, errInt, ErrNumber, "%q", s)
		return
	}
	require.NoError(t, errInt, "%q", s)
	require.Equal(t, integer.Int64(), i64, "%q", s)
}

func TestParseNumbers(t *testing.T) {
	for _, s := range hardNumbers {
		requireNumber(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		requireNumber(t, rapid.StringMatching(`-?[0-9]{1,22}(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number"))
		requireNumber(t, strconv.FormatFloat(rapid.Float64().Draw(t, "float"), 'e', -1, 64))
		requireNumber(t, strconv.FormatFloat(float64(rapid.Float32().Draw(t, "float")), 'f', -1, 32))
		requireNumber(t, strconv.FormatInt(rapid.Int64().Draw(t, "integer"), 10))
	})
}

func FuzzNumbers(f *testing.F) {
	for _, s := range hardNumbers {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		requireNumber(t, s)
		requireArray(t, s)
	})
}

// requireArray compares with encoding/json, to which null is a zero.
func requireArray(t require.TestingT, s string) {
	var want []float64
	err := json.Unmarshal([]byte(s), &want)
	got, gotErr := ParseFloat64s([]byte(s), []float64{9})
	if err != nil || s == "" || s[0] != '[' || strings.HasSuffix(s, "\n") || strings.TrimSpace(s) != s || strings.Contains(s, "null") {
		if s == "" || s[0] == '[' {
			require.Error(t, gotErr, "%q", s)
			require.Equal(t, []float64{9}, got)
		}
		return
	}
	require.NoError(t, gotErr, "%q", s)
	require.Equal(t, append([]float64{9}, want...), got, "%q", s)
}

func TestArraysOfNumbers(t *testing.T) {
	for _, s := range []string{
		"[]", "[ ]", "[1]", "[1,2]", " [1]", "[1] ", "[ 1 ,\t2\r, 3 ]", "[,]", "[1,]", "[,1]", "[1 2]", "[", "[1", "[1,", "]", "[[1]]", "[null]", `["1"]`, "[true]", "[1]]", "[1],", "[1e400]", "[01]", "[-]", "[1,2e-3,-0.5E1]",
	} {
		requireArray(t, s)
	}
	token := rapid.SampledFrom([]string{"[", "]", ",", "1", "-2.5", "1e3", " ", "x", "null"})
	rapid.Check(t, func(t *rapid.T) {
		requireArray(t, "["+strings.Join(rapid.SliceOfN(token, 0, 8).Draw(t, "tokens"), ""))
	})
	got, err := ParseInt64s([]byte("[1,2,3.5]"), []int64{7})
	require.ErrorIs(t, err, ErrValue)
	require.Equal(t, []int64{7}, got)
	require.Contains(t, err.Error(), "element 2")
	_, err = ParseInt64s(nil, nil)
	require.ErrorIs(t, err, ErrValue)
}
