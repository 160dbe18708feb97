package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// errDiffer is returned when the sides did not do the same work.
var errDiffer = errors.New("the sides differ")

// row is a case with so many workers.
type row struct {
	name    string
	workers int
}

// outcome is what was measured.
type outcome struct {
	seconds map[row]map[string][]float64 // by side, in the order of the rounds
	folds   map[string]fold              // by case
}

// fold is the first one of a case, which all others must equal.
type fold struct {
	value uint64
	of    string // whose it is
}

func newOutcome() *outcome {
	return &outcome{map[row]map[string][]float64{}, map[string]fold{}}
}

// check refuses an answer of a side that did other work than the ones before it.
func (o *outcome) check(b bench, system string, a protocol.Answer) error {
	if a.Samples != b.taken() {
		return fmt.Errorf("%w: %s, %d workers: %s took %d samples of %d", errDiffer, b.name, a.Workers, system, a.Samples, b.taken())
	}
	who := fmt.Sprintf("%s with %d workers", system, a.Workers)
	first, seen := o.folds[b.name]
	if !seen {
		o.folds[b.name] = fold{a.Fold, who}
		return nil
	}
	if a.Fold != first.value {
		return fmt.Errorf("%w: %s: fold %d of %s, %d of %s", errDiffer, b.name, first.value, first.of, a.Fold, who)
	}
	return nil
}

// add keeps the time of an answer.
func (o *outcome) add(system string, a protocol.Answer) {
	r := row{a.Case, a.Workers}
	if o.seconds[r] == nil {
		o.seconds[r] = map[string][]float64{}
	}
	o.seconds[r][system] = append(o.seconds[r][system], a.Seconds)
}

// times are the seconds of a row, one a round; empty if it was not measured.
func (o *outcome) times(r row, system string) []float64 { return o.seconds[r][system] }

// ratio is the median of the other side over ours.
func (o *outcome) ratio(r row) (float64, bool) { return o.ratioOf(r, median) }

// ratioOf is what of makes of the times of the other side, over the same of ours.
func (o *outcome) ratioOf(r row, of func([]float64) float64) (float64, bool) {
	t, u := o.times(r, theirs), o.times(r, ours)
	if len(t) == 0 || len(u) == 0 {
		return 0, false
	}
	return of(t) / of(u), true
}

// median of at least one value.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// best is the least of at least one value.
func best(values []float64) float64 { return slices.Min(values) }
