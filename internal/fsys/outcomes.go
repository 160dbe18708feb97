package fsys

import "math/rand/v2"

// Outcomes goes through all the choices of [Disk.Crash] on one disk, or the first of them:
//
//	o := fsys.NewOutcomes(1000)
//	for o.Next() {
//		left := disk.Crash(o.Choose)
//		…
//	}
//	fmt.Println(o.Count(), o.Complete())
//
// It is a walk in depth: what is chosen last changes first, so that a bound leaves the earlier
// choices at what was synced. A bound is best joined by some of [Random].
type Outcomes struct {
	bound   int
	count   int
	choices []choice
	at      int
	done    bool
}

// choice is one that was made, of how many.
type choice struct{ is, of int }

// NewOutcomes goes through at most bound outcomes, or with 0 through all.
func NewOutcomes(bound int) *Outcomes { return &Outcomes{bound: bound} }

// Next goes to the next outcome, and tells whether there is one.
func (o *Outcomes) Next() bool {
	o.at = 0
	if o.count > 0 {
		for len(o.choices) > 0 && o.choices[len(o.choices)-1].is == o.choices[len(o.choices)-1].of-1 {
			o.choices = o.choices[:len(o.choices)-1]
		}
		if len(o.choices) == 0 {
			o.done = true
			return false
		}
		if o.count == o.bound {
			return false
		}
		o.choices[len(o.choices)-1].is++
	}
	o.count++
	return true
}

// Choose chooses for the present outcome.
func (o *Outcomes) Choose(n int) int {
	if o.at == len(o.choices) {
		o.choices = append(o.choices, choice{of: n})
	}
	o.at++
	return o.choices[o.at-1].is
}

// Count returns how many outcomes there were.
func (o *Outcomes) Count() int { return o.count }

// Complete tells, once there is no next, whether those were all.
func (o *Outcomes) Complete() bool { return o.done }

// Random chooses by a generator with a seed: the same seed, the same choices.
func Random(seed uint64) func(n int) int {
	return rand.New(rand.NewPCG(seed, 0)).IntN
}
