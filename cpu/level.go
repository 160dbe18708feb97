package cpu

import (
	"errors"
	"fmt"
	"os"
)

// Level says which instructions the loops use.
type Level uint8

// The levels, each with all that the one before has.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2, BMI1, BMI2, POPCNT
	AVX512               // AVX-512 F, BW, DQ, VL
)

var levelNames = [...]string{"generic", "avx2", "avx512"}

// String returns the name that ROSALINE_CPU knows the level by.
func (l Level) String() string { return levelNames[l] }

// levelVariable is the variable of the environment that forces a level.
const levelVariable = "ROSALINE_CPU"

// ErrLevel is returned when ROSALINE_CPU asks for a level that there is not, or not on
// this machine.
var ErrLevel = errors.New("cpu: cannot use the level that " + levelVariable + " asks for")

var (
	best           = detect()
	active, forced = choose(os.Getenv(levelVariable), best)
)

// choose returns the level for what the environment asks: what it says, or else the
// best of the machine that is not above it, with an error.
func choose(name string, best Level) (Level, error) {
	if name == "" {
		return best, nil
	}
	for l, n := range levelNames {
		if n != name {
			continue
		}
		if Level(l) > best {
			return best, fmt.Errorf("%w: %s, which this machine or build lacks; using %s", ErrLevel, name, best)
		}
		return Level(l), nil
	}
	return best, fmt.Errorf("%w: %q is none of generic, avx2, avx512; using %s", ErrLevel, name, best)
}

// Active returns the level that was chosen when the program started.
func Active() Level { return active }

// Best returns the highest level that this machine and build have.
func Best() Level { return best }

// Forced returns what ROSALINE_CPU asks for, "" for nothing, and an error that wraps
// [ErrLevel] if it could not be had. The loops work all the same, at the level that
// [Active] returns.
func Forced() (string, error) { return os.Getenv(levelVariable), forced }
