package rosa

import "fmt"

// Batch is many streams that are stepped together, each a [State]. It is uniform: all rows
// have the same number of tokens, or ragged: each has its own, and may be left out of a
// step or begin again. It may be used by several goroutines, one after the other.
//
// A call that fails has changed nothing, but for a panic, after which the batch is of no
// more use: [ErrBroken]. Rows are shared out among threads from 64 on, those of a prefill
// from 4 on, where that many threads are allowed; see [WithThreads].
type Batch struct {
	rows    *rows[*State]
	n       int // rows
	call    batchCall
	step    func(row int)
	prefill func(row int)
	masked  func(row int)
}

// batchCall is the arguments of a call, for threads to see.
type batchCall struct {
	matches       []Match
	tokens        []int64
	active, reset []bool
}

// NewBatch returns a batch of so many empty rows; [ErrRows] for none.
func NewBatch(rows int, opts ...BatchOption) (*Batch, error) {
	var o batchOptions
	o.take(opts)
	r, err := newRows(rows, &o, func() *State {
		s := NewState(o.states...)
		s.limit = o.capacity
		return s
	})
	if err != nil {
		return nil, err
	}
	b := &Batch{rows: r, n: rows}
	b.step, b.prefill, b.masked = b.stepRow, b.prefillRow, b.maskedRow
	return b, nil
}

// Len returns the number of rows.
func (b *Batch) Len() int { return b.n }

// Positions returns how many tokens each row has, as a copy.
func (b *Batch) Positions() ([]int, error) { return b.rows.positions() }

// Step takes a token for each row of a uniform batch and returns its match. Errors:
// [ErrMode], [ErrLength], [ErrFull], [ErrClosed], [ErrBroken].
func (b *Batch) Step(tokens []int64) ([]Match, error) {
	return b.made(len(tokens), func(m []Match) error { return b.StepInto(m, tokens) })
}

// StepInto is Step into memory of the caller, a match for each row.
func (b *Batch) StepInto(matches []Match, tokens []int64) error {
	return b.do(b.step, stepRows, batchCall{matches: matches, tokens: tokens}, func() error {
		if err := b.rows.usable(false); err != nil {
			return err
		}
		if err := b.shape(len(matches), len(tokens)); err != nil {
			return err
		}
		return b.rows.takes(1)
	})
}

// Prefill takes the same number of tokens for each row of a uniform batch, row after row,
// and returns their matches likewise. It may begin at any position, and do nothing.
func (b *Batch) Prefill(tokens []int64) ([]Match, error) {
	return b.made(len(tokens), func(m []Match) error { return b.PrefillInto(m, tokens) })
}

// PrefillInto is Prefill into memory of the caller, as long as the tokens.
func (b *Batch) PrefillInto(matches []Match, tokens []int64) error {
	return b.do(b.prefill, prefillRows, batchCall{matches: matches, tokens: tokens}, func() error {
		if err := b.rows.usable(false); err != nil {
			return err
		}
		if len(matches) != len(tokens) || len(tokens)%b.n != 0 {
			return fmt.Errorf("%w: %d tokens and %d matches for %d rows; all rows take as many",
				ErrLength, len(tokens), len(matches), b.n)
		}
		return b.rows.takes(len(tokens) / b.n)
	})
}

// StepMasked takes a token for each active row of a ragged batch and returns its match;
// the token of another row is not looked at and its match is that of no occurrence. An
// active row that is to be reset is reset first; a row that is not active is not reset.
// reset may be nil for no row. Errors: [ErrMode], [ErrLength], [ErrFull], [ErrClosed],
// [ErrBroken].
func (b *Batch) StepMasked(tokens []int64, active, reset []bool) ([]Match, error) {
	return b.made(len(tokens), func(m []Match) error { return b.StepMaskedInto(m, tokens, active, reset) })
}

// StepMaskedInto is StepMasked into memory of the caller, a match for each row.
func (b *Batch) StepMaskedInto(matches []Match, tokens []int64, active, reset []bool) error {
	return b.do(b.masked, stepRows, batchCall{matches, tokens, active, reset}, func() error {
		if err := b.rows.usable(true); err != nil {
			return err
		}
		if err := b.shape(len(matches), len(tokens)); err != nil {
			return err
		}
		return b.rows.takesMasked(active, reset)
	})
}

// Reset empties all rows of a uniform batch and keeps their memory.
func (b *Batch) Reset() error { return b.rows.resetAll() }

// ResetMasked empties rows of a ragged batch and keeps their memory.
func (b *Batch) ResetMasked(reset []bool) error { return b.rows.resetMasked(reset) }

// Bytes returns the memory that the rows hold, 0 after Close.
func (b *Batch) Bytes() int { return b.rows.bytes() }

// Close ends the threads of the batch and lets the rows go. A batch that is not closed is
// when it is garbage.
func (b *Batch) Close() { b.rows.close() }

// made makes room for n matches and lets f fill it.
func (b *Batch) made(n int, f func([]Match) error) ([]Match, error) {
	m := make([]Match, n)
	if err := f(m); err != nil {
		return nil, err
	}
	return m, nil
}

// do does a call on each row if check has nothing against it.
func (b *Batch) do(f func(row int), enough int, call batchCall, check func() error) error {
	if b.rows == nil {
		return errNotMade
	}
	b.rows.mu.Lock()
	defer b.rows.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	b.call = call
	err := b.rows.each(f, enough)
	b.call = batchCall{}
	return err
}

// shape checks that there are a token and a match for each row.
func (b *Batch) shape(matches, tokens int) error {
	if matches != b.n || tokens != b.n {
		return fmt.Errorf("%w: %d tokens and %d matches for %d rows", ErrLength, tokens, matches, b.n)
	}
	return nil
}

func (b *Batch) stepRow(row int) { b.call.matches[row] = b.take(row, b.call.tokens[row]) }

func (b *Batch) prefillRow(row int) {
	n := len(b.call.tokens) / b.n
	for i := row * n; i < (row+1)*n; i++ {
		b.call.matches[i] = b.take(row, b.call.tokens[i])
	}
}

func (b *Batch) maskedRow(row int) {
	if !b.call.active[row] {
		b.call.matches[row] = none
		return
	}
	if b.call.reset != nil && b.call.reset[row] {
		b.rows.streams[row].Reset()
	}
	b.call.matches[row] = b.take(row, b.call.tokens[row])
}

// take steps a row that has room.
func (b *Batch) take(row int, token int64) Match {
	m, err := b.rows.streams[row].Step(token)
	if err != nil {
		panic(err) // it becomes ErrBroken
	}
	return m
}
