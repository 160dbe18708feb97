package rosa

import "fmt"

// CandidateBatch is many streams that are stepped together, each a [Candidates], and
// otherwise a [Batch]: uniform or ragged, on threads from as many rows on, and a call that
// fails has changed nothing, but for a panic. Results are a row of slots for each stream,
// or for each token or query of each stream, stream after stream.
type CandidateBatch struct {
	rows     *rows[*Candidates]
	n, slots int // streams, slots of a result
	call     candidateCall
	step     func(row int)
	prefill  func(row int)
	selected func(row int)
	masked   func(row int)
}

// candidateCall is the arguments of a call, for threads to see.
type candidateCall struct {
	out             *CandidateRows
	results         int  // rows that it has
	fresh           bool // it is made for the call, all zero
	tokens, queries []int64
	order           [][]int // of the queries of each stream
	active, reset   []bool
}

// NewCandidateBatch returns a batch of so many empty streams; [ErrRows] for none.
func NewCandidateBatch(rows int, opts ...BatchOption) (*CandidateBatch, error) {
	var o batchOptions
	o.take(opts)
	slots := 0
	r, err := newRows(rows, &o, func() *Candidates {
		c := NewCandidates(o.candidates...)
		c.limit = min(o.capacity, MaxCandidateTokens)
		slots = c.Slots()
		return c
	})
	if err != nil {
		return nil, err
	}
	b := &CandidateBatch{rows: r, n: rows, slots: slots}
	b.step, b.prefill, b.selected, b.masked = b.stepRow, b.prefillRow, b.selectedRow, b.maskedRow
	return b, nil
}

// Len returns the number of streams.
func (b *CandidateBatch) Len() int { return b.n }

// Slots returns K·R, the places for candidates of a result.
func (b *CandidateBatch) Slots() int { return b.slots }

// Positions returns how many tokens each stream has, as a copy.
func (b *CandidateBatch) Positions() ([]int, error) { return b.rows.positions() }

// Step takes a token for each stream of a uniform batch. Errors: [ErrMode], [ErrLength],
// [ErrFull], [ErrClosed], [ErrBroken].
func (b *CandidateBatch) Step(tokens []int64) (CandidateRows, error) {
	return b.made(b.doStep, candidateCall{tokens: tokens})
}

// StepInto is Step into memory of the caller, as many rows as streams; or [ErrOverlap].
func (b *CandidateBatch) StepInto(out *CandidateRows, tokens []int64) error {
	return b.doStep(&candidateCall{out: out, tokens: tokens})
}

func (b *CandidateBatch) doStep(c *candidateCall) error {
	return b.do(b.step, stepRows, c, func() error {
		if err := b.rows.usable(false); err != nil {
			return err
		}
		if err := b.shape(c, b.n, b.n); err != nil {
			return err
		}
		return b.rows.takes(1)
	})
}

// Prefill takes the same number of tokens for each stream of a uniform batch, stream after
// stream. It may begin at any position, and do nothing. Errors are those of Step.
func (b *CandidateBatch) Prefill(tokens []int64) (CandidateRows, error) {
	return b.made(b.doPrefill, candidateCall{tokens: tokens})
}

// PrefillInto is Prefill into memory of the caller, as many rows as tokens; or
// [ErrOverlap].
func (b *CandidateBatch) PrefillInto(out *CandidateRows, tokens []int64) error {
	return b.doPrefill(&candidateCall{out: out, tokens: tokens})
}

func (b *CandidateBatch) doPrefill(c *candidateCall) error {
	return b.do(b.prefill, prefillRows, c, func() error {
		if err := b.rows.usable(false); err != nil {
			return err
		}
		if err := b.shape(c, len(c.tokens), len(c.tokens)); err != nil {
			return err
		}
		return b.rows.takes(len(c.tokens) / b.n)
	})
}

// PrefillSelected is Prefill that gives the candidates of some tokens only: of each stream
// as many queries, stream after stream: one at least, each from 0 to the number of its
// tokens − 1 and at most once, in any order. Errors are those of Step and [ErrQuery].
func (b *CandidateBatch) PrefillSelected(tokens, queries []int64) (CandidateRows, error) {
	return b.made(b.doSelected, candidateCall{tokens: tokens, queries: queries})
}

// PrefillSelectedInto is PrefillSelected into memory of the caller, as many rows as
// queries; or [ErrOverlap].
func (b *CandidateBatch) PrefillSelectedInto(out *CandidateRows, tokens, queries []int64) error {
	return b.doSelected(&candidateCall{out: out, tokens: tokens, queries: queries})
}

func (b *CandidateBatch) doSelected(c *candidateCall) error {
	return b.do(b.selected, prefillRows, c, func() error {
		if err := b.rows.usable(false); err != nil {
			return err
		}
		if err := b.shape(c, len(c.tokens), len(c.queries)); err != nil {
			return err
		}
		c.order = make([][]int, b.n)
		for row := range c.order {
			var err error
			if c.order[row], err = queryOrder(part(c.queries, row, b.n), len(c.tokens)/b.n); err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
		}
		return b.rows.takes(len(c.tokens) / b.n)
	})
}

// StepMasked takes a token for each active stream of a ragged batch; the token of another
// is not looked at and has no candidates. An active stream that is to be reset is reset
// first; one that is not active is not reset. reset may be nil for none. Errors are those
// of Step.
func (b *CandidateBatch) StepMasked(tokens []int64, active, reset []bool) (CandidateRows, error) {
	return b.made(b.doMasked,
		candidateCall{tokens: tokens, active: active, reset: reset})
}

// StepMaskedInto is StepMasked into memory of the caller, as many rows as streams; or
// [ErrOverlap].
func (b *CandidateBatch) StepMaskedInto(out *CandidateRows, tokens []int64, active, reset []bool) error {
	return b.doMasked(&candidateCall{out: out, tokens: tokens, active: active, reset: reset})
}

func (b *CandidateBatch) doMasked(c *candidateCall) error {
	return b.do(b.masked, stepRows, c, func() error {
		if err := b.rows.usable(true); err != nil {
			return err
		}
		if err := b.shape(c, b.n, b.n); err != nil {
			return err
		}
		return b.rows.takesMasked(c.active, c.reset)
	})
}

// Reset empties all streams of a uniform batch and keeps their memory.
func (b *CandidateBatch) Reset() error { return b.rows.resetAll() }

// ResetMasked empties streams of a ragged batch and keeps their memory.
func (b *CandidateBatch) ResetMasked(reset []bool) error { return b.rows.resetMasked(reset) }

// Close ends the threads of the batch and lets the streams go. A batch that is not closed
// is when it is garbage.
func (b *CandidateBatch) Close() { b.rows.close() }

// Bytes returns the memory that the streams hold, 0 after Close.
func (b *CandidateBatch) Bytes() int { return b.rows.bytes() }

// made does a call whose results get memory of their own once nothing is against it.
func (b *CandidateBatch) made(f func(*candidateCall) error, c candidateCall) (CandidateRows, error) {
	c.fresh = true
	if err := f(&c); err != nil {
		return CandidateRows{}, err
	}
	return *c.out, nil
}

// do does a call on each stream if check has nothing against it.
func (b *CandidateBatch) do(f func(row int), enough int, c *candidateCall, check func() error) error {
	if b.rows == nil {
		return errNotMade
	}
	b.rows.mu.Lock()
	defer b.rows.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	if c.fresh {
		out, err := newRowsOf(c.results, b.slots)
		if err != nil {
			return err
		}
		c.out = &out
	}
	b.call = *c
	err := b.rows.each(f, enough)
	b.call = candidateCall{}
	return err
}

// shape checks that there are so many tokens and results, the same for each stream.
func (b *CandidateBatch) shape(c *candidateCall, tokens, results int) error {
	if len(c.tokens) != tokens || tokens%b.n != 0 || results%b.n != 0 {
		return fmt.Errorf("%w: %d tokens and %d results for %d rows; all rows have as many",
			ErrLength, len(c.tokens), results, b.n)
	}
	if c.results = results; c.fresh {
		return nil
	}
	return c.out.check(results, b.slots, c.tokens, c.queries)
}

// part returns what is that of a row in equal parts for n rows.
func part[T any](all []T, row, n int) []T {
	each := len(all) / n
	return all[row*each : (row+1)*each : (row+1)*each]
}

// results returns the results of a row.
func (b *CandidateBatch) results(row int) CandidateRows {
	o := b.call.out
	return CandidateRows{
		Source: part(o.Source, row, b.n), Length: part(o.Length, row, b.n),
		State: part(o.State, row, b.n), Frequency: part(o.Frequency, row, b.n), Count: part(o.Count, row, b.n),
	}
}

// stream returns a stream that is ready for tokens.
func (b *CandidateBatch) stream(row int) *Candidates {
	c := b.rows.streams[row]
	c.begin()
	return c
}

func (b *CandidateBatch) stepRow(row int) {
	b.stream(row).step(b.call.tokens[row], b.call.out, row, b.call.fresh)
}

func (b *CandidateBatch) prefillRow(row int) {
	out := b.results(row)
	b.stream(row).prefill(&out, part(b.call.tokens, row, b.n), b.call.fresh)
}

func (b *CandidateBatch) selectedRow(row int) {
	out := b.results(row)
	b.stream(row).prefillSelected(&out, part(b.call.tokens, row, b.n),
		part(b.call.queries, row, b.n), b.call.order[row], b.call.fresh)
}

func (b *CandidateBatch) maskedRow(row int) {
	if !b.call.active[row] {
		out := b.results(row)
		for i := range out.Source {
			out.Source[i], out.State[i] = -1, -1
		}
		clear(out.Length)
		clear(out.Frequency)
		clear(out.Count)
		return
	}
	if b.call.reset != nil && b.call.reset[row] {
		b.rows.streams[row].Reset()
	}
	b.stepRow(row)
}
