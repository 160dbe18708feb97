package pipeline

import (
	"fmt"
	"reflect"
)

// Packed is a row of tokens that [Pack] made of sequences. Its slices have the same
// length, and are the receiver's to keep.
//
//	Tokens      a  b  c  d  e  f  g  ·     · is the pad token
//	Segments    1  1  1  2  2  3  3  0
//	Positions   0  1  2  0  1  0  1  0
type Packed[E any] struct {
	Tokens []E
	// Segments tells which sequence of the row each token is of, from 1; 0 is padding.
	// Tokens attend to those of their own segment.
	Segments []int32
	// Positions tells which token of its segment each one is, from 0; that of padding
	// is 0. What goes on from the row before begins with 0 again.
	Positions []int32
}

// PackMode says how sequences are put into rows; the zero value is that of
// [PackConcat].
type PackMode struct {
	rows     int // open at once; 0: sequences are cut
	truncate bool
}

// PackConcat puts sequences one behind the other. One that does not fit into the row
// goes on in the next, as a segment of its own there. Only the last row of an epoch is
// padded, or left out by [Pipeline.DropLast].
func PackConcat() PackMode { return PackMode{} }

// PackWhole keeps sequences whole and in order: one that does not fit into what is
// left of the row begins the next (next fit). All rows may be padded, so DropLast leaves
// none out.
func PackWhole() PackMode { return PackMode{rows: 1} }

// PackBestFit keeps sequences whole, like PackWhole: each goes into the row with the least room among
// those, at most rows, that are being filled and have enough. If there is none a
// new row is begun, and the oldest is given out if there are too many. A row that is full is
// given out at once, so rows come in about the order of their first sequences. It
// takes O(rows) for a sequence; rows is from 1, which is [PackWhole], to 1024, and 0 is 1. With
// 16 rows little padding is left.
func PackBestFit(rows int) PackMode {
	if rows == 0 {
		rows = 1
	}
	return PackMode{rows: rows}
}

// Truncate cuts a sequence that is longer than a row to its beginning. By default it
// is an error, [ErrTooLong]. It needs a mode that keeps sequences whole.
func (m PackMode) Truncate() PackMode {
	m.truncate = true
	return m
}

func (m PackMode) String() string {
	name := "concat"
	switch {
	case m.rows == 1:
		name = "whole"
	case m.rows != 0:
		name = fmt.Sprintf("best fit of %d", m.rows)
	}
	if m.truncate {
		name += ", truncated"
	}
	return name
}

// PackOption changes how [Pack] works.
type PackOption[E any] func(*packConfig[E])

type packConfig[E any] struct {
	length int
	pad    E
	eos    E
	hasEOS bool
}

// WithPadToken sets what fills rows up; default the zero value of E.
func WithPadToken[E any](pad E) PackOption[E] {
	return func(c *packConfig[E]) { c.pad = pad }
}

// WithEOS sets a token that is put behind each sequence, as its last token; default none.
// Truncate leaves room for it. An empty sequence becomes that token alone.
func WithEOS[E any](eos E) PackOption[E] {
	return func(c *packConfig[E]) { c.eos, c.hasEOS = eos, true }
}

// Pack makes rows of length tokens, from 1 to 2^24, of sequences of tokens. A sequence
// of no tokens is left out, unless there is [WithEOS]. Rows do not go over from one epoch to the
// next, see [Pipeline.AcrossEpochs]. It allocates the rows and nothing else.
//
// A resumed pipeline goes back to the sequence with which the oldest row that was being
// filled began.
func Pack[E any](p *Pipeline[[]E], length int, mode PackMode, opts ...PackOption[E]) *Pipeline[Packed[E]] {
	c := packConfig[E]{length: length}
	for _, set := range opts {
		if set != nil {
			set(&c)
		}
	}
	out := p.plan
	if length < 1 || length > 1<<24 {
		out = out.complain("Pack(%d): the length of a row is from 1 to %d", length, 1<<24)
	}
	switch {
	case mode.rows < 0 || mode.rows > 1024:
		out = out.complain("PackBestFit(%d) is not from 0 to 1024", mode.rows)
	case mode.truncate && mode.rows == 0:
		out = out.complain("Truncate needs a mode that keeps sequences whole, PackWhole or PackBestFit")
	}
	param := fmt.Sprintf("%d %v, pad %s", length, mode, literal(c.pad))
	if c.hasEOS {
		param += ", eos " + literal(c.eos)
	}
	return &Pipeline[Packed[E]]{out.batch(serialSpec("pack", param, func(st *stage, restored *mark, skip uint32) (serial, error) {
		cfg := &st.run.cfg
		st.across = cfg.straddle
		if mode.rows == 0 {
			op := &concatenation[E]{packConfig: c, dropLast: cfg.dropLast, straddle: cfg.straddle}
			if err := op.restore(restored); err != nil {
				return nil, err
			}
			s := newSerial(st, op, skip)
			s.begun = op.epoch
			return s, nil
		}
		op := &fitting[E]{packConfig: c, most: mode.rows, truncate: mode.truncate, straddle: cfg.straddle}
		if err := op.restore(restored); err != nil {
			return nil, err
		}
		s := newSerial(st, op, skip)
		s.begun = op.epoch
		return s, nil
	}))}
}

// literal writes a token that a program could write too; others have no form that
// is the same in every process.
func literal(v any) string {
	switch k := reflect.ValueOf(v).Kind(); {
	case k >= reflect.Bool && k <= reflect.Complex128, k == reflect.String:
		return fmt.Sprintf("%#v", v)
	}
	return fmt.Sprintf("%T", v)
}

// tokens is how many tokens a sequence has.
func (c *packConfig[E]) tokens(seq []E) int {
	if c.hasEOS {
		return len(seq) + 1
	}
	return len(seq)
}

// row begins a row.
func (c *packConfig[E]) row() Packed[E] {
	numbers := make([]int32, 2*c.length)
	return Packed[E]{make([]E, c.length), numbers[:c.length:c.length], numbers[c.length:]}
}

// fill writes n tokens of a sequence from token from on into a row, as a segment at at.
func (c *packConfig[E]) fill(row *Packed[E], at int, segment int32, seq []E, from, n int) {
	if copied := copy(row.Tokens[at:at+n], seq[min(from, len(seq)):]); copied < n {
		row.Tokens[at+n-1] = c.eos
	}
	for i := range n {
		row.Segments[at+i], row.Positions[at+i] = segment, int32(i)
	}
}

// finish pads a row that is filled up to used.
func (c *packConfig[E]) finish(row Packed[E], used int) Packed[E] {
	for i := used; i < c.length; i++ {
		row.Tokens[i] = c.pad
	}
	return row
}
