package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrOption is returned when an option is out of its range or contradicts
// another; the error names it.
var ErrOption = errors.New("text: invalid option")

// Stage is one step of the work on a text.
type Stage uint8

// The stages, in the order they run in unless told otherwise. StageSource stands
// for the reader: it drops what is not a record or has no text.
const (
	StageSource Stage = iota
	StageClean
	StageQuality
	StageDedup
	StagePII
	stageCount
)

var stageNames = [stageCount]string{"source", "clean", "quality", "dedup", "pii"}

// String returns the name used on the command line and in reports.
func (s Stage) String() string {
	if s < stageCount {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// DefaultStages returns the four stages in their usual order.
func DefaultStages() []Stage {
	return []Stage{StageClean, StageQuality, StageDedup, StagePII}
}

// ParseStages reads a comma-separated list of stages, "none" for an empty one.
// A name that is unknown or comes twice is an error that wraps [ErrOption].
func ParseStages(list string) ([]Stage, error) {
	if list == "none" {
		return []Stage{}, nil
	}
	return parseNames(list, "stage", stageNames[StageClean:], StageClean, "none")
}

// parseNames reads a comma-separated list of names, the first of which stands for
// first, the next for first+1 and so on. words are what the caller takes besides.
func parseNames[T ~uint8](list, what string, names []string, first T, words ...string) ([]T, error) {
	out := []T{}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: %s %q is not one of %s", ErrOption, what, name, strings.Join(slices.Concat(names, words), ", "))
		}
		x := first + T(i)
		if slices.Contains(out, x) {
			return nil, fmt.Errorf("%w: %s %s is listed twice", ErrOption, what, name)
		}
		out = append(out, x)
	}
	return out, nil
}
