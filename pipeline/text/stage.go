package text

import (
	"errors"
	"fmt"
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
	out := []Stage{}
	if list == "none" {
		return out, nil
	}
	seen := [stageCount]bool{}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		s := StageClean
		for s < stageCount && stageNames[s] != name {
			s++
		}
		if s == stageCount {
			return nil, fmt.Errorf("%w: stage %q is not one of clean, quality, dedup, pii, none", ErrOption, name)
		}
		if seen[s] {
			return nil, fmt.Errorf("%w: stage %s is listed twice", ErrOption, s)
		}
		seen[s] = true
		out = append(out, s)
	}
	return out, nil
}
