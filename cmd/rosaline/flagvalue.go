package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// choiceValue is a flag that takes one of a few words.
type choiceValue struct {
	value string
	words []string
	later map[string]string // words that are not there yet, and what to use meanwhile
}

func choice(value string, words ...string) choiceValue {
	return choiceValue{value: value, words: words}
}

// notYet adds words that will come.
func (v choiceValue) notYet(why string, words ...string) choiceValue {
	v.later = make(map[string]string, len(words))
	for _, w := range words {
		v.later[w] = why
	}
	return v
}

func (v *choiceValue) String() string { return v.value }
func (v *choiceValue) Type() string   { return "NAME" }
func (v *choiceValue) Set(s string) error {
	if why, ok := v.later[s]; ok {
		return &notYetError{why: s + ": " + why}
	}
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(v.words, ", "))
	}
	v.value = s
	return nil
}

// countValue is a flag that takes a number of things, or auto, which is 0.
type countValue struct {
	n, low, high int
	auto         bool // whether auto is allowed
}

func (v *countValue) Type() string { return "N" }
func (v *countValue) String() string {
	if v.n == 0 && v.auto {
		return "auto"
	}
	return strconv.Itoa(v.n)
}
func (v *countValue) Set(s string) error {
	if s == "auto" && v.auto {
		v.n = 0
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < v.low || n > v.high {
		or := ""
		if v.auto {
			or = ", or auto"
		}
		return fmt.Errorf("must be a whole number from %d to %d%s", v.low, v.high, or)
	}
	v.n = n
	return nil
}

// sizeValue is a flag that takes a number of bytes. One that may be off is off
// when n is negative.
type sizeValue struct {
	n, low, high int64
	canBeOff     bool
}

// sizeUnits are powers of 1024; the longer names come first.
var sizeUnits = []struct {
	name string
	n    int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

func (v *sizeValue) Type() string { return "SIZE" }
func (v *sizeValue) String() string {
	if v.n < 0 {
		return "off"
	}
	for _, u := range []int{2, 1, 0} {
		if unit := sizeUnits[u]; v.n > 0 && v.n%unit.n == 0 {
			return strconv.FormatInt(v.n/unit.n, 10) + unit.name
		}
	}
	return strconv.FormatInt(v.n, 10)
}
func (v *sizeValue) Set(s string) error {
	if s == "off" && v.canBeOff {
		v.n = -1
		return nil
	}
	unit, digits := int64(1), s
	for _, u := range sizeUnits {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			unit, digits = u.n, d
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strings.HasPrefix(digits, "+") || n > math.MaxInt64/unit || n*unit < v.low || n*unit > v.high {
		or := ""
		if v.canBeOff {
			or = ", or off"
		}
		return fmt.Errorf("must be a number of bytes from %d to %d, such as 1000, 64KiB or 16MiB%s", v.low, v.high, or)
	}
	v.n = n * unit
	return nil
}

// boundValue is a flag that overrides one bound of a quality preset.
type boundValue struct {
	value float64
	set   bool
	high  float64 // largest value; 0 for none
	whole bool    // takes whole numbers only
}

func (v *boundValue) String() string {
	if !v.set {
		return "preset"
	}
	return strconv.FormatFloat(v.value, 'g', -1, 64)
}
func (v *boundValue) Type() string {
	if v.whole {
		return "N"
	}
	return "X"
}
func (v *boundValue) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || f != f || math.IsInf(f, 0) || f < 0:
		return errors.New("must be a number from 0 on")
	case v.whole && (f != math.Trunc(f) || f > math.MaxInt32):
		return errors.New("must be a whole number from 0 on")
	case v.high > 0 && f > v.high:
		return fmt.Errorf("must be a number from 0 to %g", v.high)
	}
	v.value, v.set = f, true
	return nil
}
