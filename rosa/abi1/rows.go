package abi1

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rosaline-go/rosaline/rosa"
	"github.com/rosaline-go/rosaline/rosa/internal/workers"
)

// ErrNotEmpty is returned when a prefill is to begin in rows that have tokens.
var ErrNotEmpty = errors.New("abi1: prefill needs an empty state")

// From so many rows on, those of a step or of a prefill are shared out among threads.
const (
	stepRows    = 64
	prefillRows = 4
)

// Option is an option of [Bind] and [BindCandidates].
type Option func(*options)

type options struct{ threads int }

// WithThreads lets a state use n threads; see [rosa.WithThreads].
func WithThreads(n int) Option { return func(o *options) { o.threads = max(n, 1) } }

// bound is a row of arrays.
type bound interface {
	counters(row int, tokens int64) error
	sound(row int) error
	reset()
}

// rows is what states are whatever their rows: which calls are for them, their positions
// and threads.
type rows[T bound] struct {
	mu        sync.Mutex
	rows      []T
	ragged    bool
	capacity  int64
	position  *int64
	positions []int64
	workers   *workers.Rows
	memory    []span // of the arrays, in order
	err       error  // why they are of no more use
}

// bind checks arrays, makes rows of them, and checks what they hold.
func bind[T bound](a *Automaton, arrays []named, ragged bool, opts []Option, newRow func(row int) T) (*rows[T], error) {
	memory, err := a.check(arrays, ragged)
	if err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	r := &rows[T]{
		rows: make([]T, a.BatchSize), ragged: ragged, capacity: int64(a.MaxLength),
		position: a.Position, positions: a.Positions.Data, workers: workers.New(a.BatchSize, o.threads),
		memory: memory,
	}
	for i := range r.rows {
		r.rows[i] = newRow(i)
	}
	if err := r.counters(nil); err != nil {
		return nil, err
	}
	for i, row := range r.rows {
		if err := row.sound(i); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// usable checks that the rows can be used in a mode.
func (r *rows[T]) usable(ragged bool) error {
	switch {
	case r.err != nil:
		return fmt.Errorf("%w; bind other arrays", r.err)
	case r.ragged && !ragged:
		return fmt.Errorf("%w: rows have positions of their own; use the masked calls", rosa.ErrMode)
	case !r.ragged && ragged:
		return fmt.Errorf("%w: rows have one position; bind positions", rosa.ErrMode)
	}
	return nil
}

// at returns how many tokens a row has.
func (r *rows[T]) at(row int) int64 {
	if r.ragged {
		return r.positions[row]
	}
	return *r.position
}

// counters checks the positions and counters of rows, of all if active is nil.
func (r *rows[T]) counters(active []uint8) error {
	for i, row := range r.rows {
		if active != nil && active[i] == 0 {
			continue
		}
		if !r.ragged && r.positions != nil && r.positions[i] != *r.position {
			return fmt.Errorf("%w: row %d: position %d, of all %d", ErrCounters, i, r.positions[i], *r.position)
		}
		if err := row.counters(i, r.at(i)); err != nil {
			return err
		}
	}
	return nil
}

// takes checks that uniform rows can take n tokens.
func (r *rows[T]) takes(n int) error {
	if err := r.counters(nil); err != nil {
		return err
	}
	if int64(n) > r.capacity-*r.position {
		return fmt.Errorf("%w: each row has %d tokens and takes %d more, not %d; bind larger arrays",
			rosa.ErrFull, *r.position, r.capacity-*r.position, n)
	}
	return nil
}

// begins checks that uniform rows are empty and can take n tokens.
func (r *rows[T]) begins(n int) error {
	if *r.position != 0 {
		return fmt.Errorf("%w: it has %d tokens; step instead, or reset it", ErrNotEmpty, *r.position)
	}
	return r.takes(n)
}

// takesMasked checks the masks, and that each active row can take a token after its reset.
func (r *rows[T]) takesMasked(active, reset []uint8) error {
	if len(active) != len(r.rows) || reset != nil && len(reset) != len(r.rows) {
		return fmt.Errorf("%w: masks of %d and %d for %d rows", rosa.ErrLength, len(active), len(reset), len(r.rows))
	}
	if err := r.counters(active); err != nil {
		return err
	}
	for i := range r.rows {
		if active[i] != 0 && (reset == nil || reset[i] == 0) && r.at(i) >= r.capacity {
			return fmt.Errorf("%w: row %d has %d tokens; reset it or leave it out", rosa.ErrFull, i, r.at(i))
		}
	}
	return nil
}

// each calls f with each row, on threads if there are rows enough. f may only panic where
// the arrays were changed by others to hold no automaton.
func (r *rows[T]) each(f func(row int), enough int) error {
	if err := r.workers.Each(f, enough); err != nil {
		r.err = rosa.ErrBroken
		return fmt.Errorf("%w: %w", rosa.ErrBroken, err)
	}
	return nil
}

// apart checks that what a call writes overlaps neither the rest of it nor the arrays.
// Arguments that are read may be the same.
func (r *rows[T]) apart(written []span, read ...span) error {
	for i, w := range written {
		for _, others := range [2][]span{written[:i], read} {
			for _, o := range others {
				if w.overlaps(o) {
					return fmt.Errorf("%w: %s and %s", ErrOverlap, w.name, o.name)
				}
			}
		}
		if err := r.apartFromArrays(w); err != nil {
			return err
		}
	}
	for _, q := range read {
		if err := r.apartFromArrays(q); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows[T]) apartFromArrays(s span) error {
	// Of the arrays, which are in order, the first that ends behind where s begins.
	from, to := 0, len(r.memory)
	for from < to {
		if m := (from + to) / 2; r.memory[m].to > s.from {
			to = m
		} else {
			from = m + 1
		}
	}
	if from < len(r.memory) && s.overlaps(r.memory[from]) {
		return fmt.Errorf("%w: %s and %s", ErrOverlap, s.name, r.memory[from].name)
	}
	return nil
}

// advance moves the position of uniform rows.
func (r *rows[T]) advance(n int) {
	*r.position += int64(n)
	for i := range r.positions {
		r.positions[i] = *r.position
	}
}

// begin empties a row; a ragged one is at 0 then.
func (r *rows[T]) begin(row int) {
	r.rows[row].reset()
	if r.ragged {
		r.positions[row] = 0
	}
}

// resetAll empties uniform rows.
func (r *rows[T]) resetAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.usable(false); err != nil {
		return err
	}
	if err := r.counters(nil); err != nil {
		return err
	}
	if err := r.each(r.begin, prefillRows); err != nil {
		return err
	}
	r.advance(-int(*r.position))
	return nil
}

// resetMasked empties ragged rows.
func (r *rows[T]) resetMasked(reset []uint8) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.usable(true); err != nil {
		return err
	}
	if len(reset) != len(r.rows) {
		return fmt.Errorf("%w: a mask of %d for %d rows", rosa.ErrLength, len(reset), len(r.rows))
	}
	if err := r.counters(reset); err != nil {
		return err
	}
	return r.each(func(row int) {
		if reset[row] != 0 {
			r.begin(row)
		}
	}, prefillRows)
}

// copied returns how many tokens each row has.
func (r *rows[T]) copied() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.rows) == 0:
		return nil
	case r.ragged:
		return slices.Clone(r.positions)
	}
	return slices.Repeat([]int64{*r.position}, len(r.rows))
}

// close ends the threads and lets the arrays go.
func (r *rows[T]) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers.Close()
	r.rows, r.position, r.positions, r.err = nil, nil, nil, rosa.ErrClosed
}
