package source

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// number is a JSON number on its way: mantissa × 10^exponent.
type number struct {
	mantissa uint64 // of at most 19 digits
	exponent int
	negative bool
	exact    bool // mantissa holds all digits
	integer  bool // no point and no exponent
	end      int
}

// Powers of ten that floats hold exactly.
var (
	tens64 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
	tens32 = [...]float32{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
)

// maxExponent bounds exponents while they are read; no float reaches it.
const maxExponent = 1 << 20

// scanNumber reads the number that begins at raw[i]; ok is false if there is none.
func scanNumber(raw []byte, i int) (n number, ok bool) {
	n.exact, n.integer = true, true
	if i < len(raw) && raw[i] == '-' {
		n.negative = true
		i++
	}
	start, digits := i, 0
	for ; i < len(raw) && raw[i]-'0' < 10; i++ {
		if digits < 19 {
			n.mantissa = n.mantissa*10 + uint64(raw[i]-'0')
			if n.mantissa > 0 {
				digits++
			}
		} else {
			n.exact = false
		}
	}
	if i == start || raw[start] == '0' && i > start+1 {
		return n, false
	}
	if i < len(raw) && raw[i] == '.' {
		n.integer = false
		i++
		start = i
		for ; i < len(raw) && raw[i]-'0' < 10; i++ {
			if digits < 19 {
				n.mantissa = n.mantissa*10 + uint64(raw[i]-'0')
				n.exponent--
				if n.mantissa > 0 {
					digits++
				}
			} else {
				n.exact = false
			}
		}
		if i == start {
			return n, false
		}
	}
	if i < len(raw) && raw[i]|0x20 == 'e' {
		n.integer = false
		i++
		minus := false
		if i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			minus = raw[i] == '-'
			i++
		}
		start = i
		e := 0
		for ; i < len(raw) && raw[i]-'0' < 10; i++ {
			if e < maxExponent {
				e = e*10 + int(raw[i]-'0')
			}
		}
		if i == start {
			return n, false
		}
		if minus {
			e = -e
		}
		n.exponent += e
	}
	n.end = i
	return n, true
}

// float64 is the nearest float64. With few digits one exact operation on exact
// numbers gives it (W. D. Clinger, "How to Read Floating Point Numbers
// Accurately", 1990).
func (n number) float64(text []byte) (float64, error) {
	if n.exact && n.mantissa <= 1<<53 && n.exponent >= -22 && n.exponent <= 22 {
		f := float64(n.mantissa)
		if n.exponent < 0 {
			f /= tens64[-n.exponent]
		} else {
			f *= tens64[n.exponent]
		}
		if n.negative {
			f = -f
		}
		return f, nil
	}
	return nearestFloat(text, 64)
}

// float32 is the nearest float32. It is not that of the nearest float64.
func (n number) float32(text []byte) (float32, error) {
	if n.exact && n.mantissa <= 1<<24 && n.exponent >= -10 && n.exponent <= 10 {
		f := float32(n.mantissa)
		if n.exponent < 0 {
			f /= tens32[-n.exponent]
		} else {
			f *= tens32[n.exponent]
		}
		if n.negative {
			f = -f
		}
		return f, nil
	}
	f, err := nearestFloat(text, 32)
	return float32(f), err
}

func nearestFloat(text []byte, bits int) (float64, error) {
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), bits)
	if err != nil {
		return 0, fmt.Errorf("%w: %s is out of the range of a float%d", ErrNumber, shown(text), bits)
	}
	return f, nil
}

func (n number) int64(text []byte) (int64, error) {
	switch {
	case !n.integer:
		return 0, fmt.Errorf("%w: %s is not an integer", ErrValue, shown(text))
	case n.exact && n.mantissa <= math.MaxInt64 && !n.negative:
		return int64(n.mantissa), nil
	case n.exact && n.mantissa <= 1<<63 && n.negative:
		return -int64(n.mantissa), nil // −2⁶³ is its own negative
	}
	return 0, fmt.Errorf("%w: %s is out of the range of an int64", ErrNumber, shown(text))
}

// shown is as much of a value as an error tells.
func shown(text []byte) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// ParseFloat32s appends the numbers of raw to dst and returns the longer slice: of a
// JSON array of numbers, or one number. Each is the float32 nearest to what is
// written. It allocates nothing when dst has room. The errors are [ErrValue] if raw is
// something else, null and nested arrays among it, and [ErrNumber] for a number out of
// range; dst is returned as it was.
func ParseFloat32s(raw []byte, dst []float32) ([]float32, error) {
	return parseNumbers(raw, dst, number.float32)
}

// ParseFloat64s is [ParseFloat32s] for float64.
func ParseFloat64s(raw []byte, dst []float64) ([]float64, error) {
	return parseNumbers(raw, dst, number.float64)
}

// ParseInt64s is [ParseFloat32s] for integers; a point or an exponent is an
// [ErrValue].
func ParseInt64s(raw []byte, dst []int64) ([]int64, error) {
	return parseNumbers(raw, dst, number.int64)
}

// ParseInt64 returns the integer that raw is, as [ParseInt64s] reads it.
func ParseInt64(raw []byte) (int64, error) { return parseNumber(raw, number.int64) }

// ParseFloat64 returns the number that raw is, as [ParseFloat64s] reads it.
func ParseFloat64(raw []byte) (float64, error) { return parseNumber(raw, number.float64) }

func parseNumber[T any](raw []byte, parse func(number, []byte) (T, error)) (T, error) {
	n, ok := scanNumber(raw, 0)
	if !ok || n.end != len(raw) {
		var zero T
		return zero, notNumbers(raw, "a number")
	}
	return parse(n, raw)
}

func notNumbers(raw []byte, want string) error {
	if len(raw) == 0 {
		return fmt.Errorf("%w: nothing is there, %s was expected", ErrValue, want)
	}
	return fmt.Errorf("%w: %s is not %s", ErrValue, shown(raw), want)
}

func parseNumbers[T any](raw []byte, dst []T, parse func(number, []byte) (T, error)) ([]T, error) {
	if len(raw) == 0 || raw[0] != '[' {
		v, err := parseNumber(raw, parse)
		if err != nil {
			return dst, err
		}
		return append(dst, v), nil
	}
	out := dst
	i := skipWhite(raw, 1)
	for first := true; ; first = false {
		if first && i < len(raw) && raw[i] == ']' {
			break
		}
		n, ok := scanNumber(raw, i)
		if !ok {
			return dst, notNumbers(raw, "an array of numbers")
		}
		v, err := parse(n, raw[i:n.end])
		if err != nil {
			return dst, fmt.Errorf("element %d: %w", len(out)-len(dst), err)
		}
		out = append(out, v)
		i = skipWhite(raw, n.end)
		if i == len(raw) || raw[i] != ',' {
			break
		}
		i = skipWhite(raw, i+1)
	}
	if i != len(raw)-1 || raw[i] != ']' {
		return dst, notNumbers(raw, "an array of numbers")
	}
	return out, nil
}

func skipWhite(raw []byte, i int) int {
	for i < len(raw) && isBlank(raw[i:i+1]) {
		i++
	}
	return i
}
