package main

import (
	"fmt"
	"time"
)

// goal is what is wanted of a case.
type goal struct {
	text string
	// judge says whether a row meets it, and what was measured, in the words of the
	// text. ok is false where the goal says nothing of the row, or it was not measured.
	judge func(o *outcome, b bench, workers int) (measured string, met, ok bool)
}

// faster wants the median of the other side to be so many times ours.
func faster(times float64) goal {
	return goal{
		text: fmt.Sprintf("≥ %g×", times),
		judge: func(o *outcome, b bench, workers int) (string, bool, bool) {
			r, ok := o.ratio(row{b.name, workers})
			if !ok {
				return "", false, false
			}
			return number(r, 3) + "×", r >= times, true
		},
	}
}

// scales wants two workers of ours to be so many times as fast as one.
func scales(times float64) goal {
	return goal{
		text: fmt.Sprintf("two workers ≥ %g× one", times),
		judge: func(o *outcome, b bench, workers int) (string, bool, bool) {
			one, two := o.times(row{b.name, 1}, ours), o.times(row{b.name, 2}, ours)
			if workers != 2 || len(one) == 0 || len(two) == 0 {
				return "", false, false
			}
			r := median(one) / median(two)
			return number(r, 3) + "×", r >= times, true
		},
	}
}

// over wants the whole run of ours to take at most this share more than its consumer alone.
func over(share float64) goal {
	return goal{
		text: fmt.Sprintf("≤ %g %% over the consumer", share*100),
		judge: func(o *outcome, b bench, workers int) (string, bool, bool) {
			s := o.times(row{b.name, workers}, ours)
			if len(s) == 0 {
				return "", false, false
			}
			more := median(s)/b.consumed().Seconds() - 1
			return percent(more), more <= share, true
		},
	}
}

// within wants ours to take at most so long.
func within(d time.Duration) goal {
	return goal{
		text: fmt.Sprintf("≤ %g ms", d.Seconds()*1e3),
		judge: func(o *outcome, b bench, workers int) (string, bool, bool) {
			s := o.times(row{b.name, workers}, ours)
			if len(s) == 0 {
				return "", false, false
			}
			return latency(b, median(s)), median(s) <= d.Seconds(), true
		},
	}
}

// rate shows a time as samples a second.
func rate(b bench, seconds float64) string {
	r := float64(b.taken()) / seconds
	if r >= 1e6 {
		return number(r/1e6, 3) + " M/s"
	}
	return number(r/1e3, 3) + " k/s"
}

// excess shows a time as what it is over that of the consumer alone.
func excess(b bench, seconds float64) string {
	return "+" + percent(seconds/b.consumed().Seconds()-1)
}

// latency shows a time in milliseconds.
func latency(_ bench, seconds float64) string { return number(seconds*1e3, 3) + " ms" }
