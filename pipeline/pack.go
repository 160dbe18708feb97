package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
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

// concatenation packs by PackConcat. Its state is the place of the sequence with which the
// row begins, and how many tokens of that are in rows before.
type concatenation[E any] struct {
	packConfig[E]
	dropLast, straddle bool

	row      Packed[E]
	used     int
	segments int32
	first    meta
	from     place  // of the first sequence
	offset   int    // where in it the row begins
	came     uint64 // sequences so far
	order    uint64 // sequences before the first
	epoch    int64  // the ends of epochs before this one have been passed on

	restored *concatState // until the first sequence has come again, which is the next
}

// concatState is what concatenation remembers.
type concatState struct {
	Epoch  int64 `json:"epoch"`
	Offset int   `json:"offset,omitempty"`
}

func (s *concatenation[E]) restore(from *mark) error {
	var state concatState
	if err := from.restore(&state); err != nil {
		return err
	}
	if state.Offset < 0 {
		return fmt.Errorf("a row begins %d tokens into a sequence", state.Offset)
	}
	s.epoch = state.Epoch
	if state.Offset > 0 {
		s.restored = &state
	}
	return nil
}

func (s *concatenation[E]) push(seq []E, m meta, o *outlet[Packed[E]]) error {
	n := s.tokens(seq)
	at := 0
	if s.restored != nil {
		if at = s.restored.Offset; at >= n {
			return Fatal(fmt.Errorf("%w: a sequence before %s has %d tokens; when the state was taken it had more than %d", ErrStateMismatch, o.st.name, n, at))
		}
	}
	s.restored, s.epoch = nil, max(s.epoch, o.epoch)
	for at < n {
		if s.used == 0 {
			s.row = s.packConfig.row()
			s.first, s.from, s.order, s.offset, s.segments = m, o.here(), s.came, at, 0
			if at > 0 {
				s.first = m.child(at)
			}
		}
		part := min(n-at, s.length-s.used)
		s.segments++
		s.fill(&s.row, s.used, s.segments, seq, at, part)
		s.used += part
		at += part
		if s.used == s.length {
			s.give(o)
		}
	}
	s.came++
	return nil
}

func (s *concatenation[E]) give(o *outlet[Packed[E]]) {
	o.emit(s.packConfig.finish(s.row, s.used), s.first)
	s.row, s.used = Packed[E]{}, 0
}

func (s *concatenation[E]) finish(o *outlet[Packed[E]], cut bool) error {
	if !cut {
		s.epoch = max(s.epoch, o.epoch+1)
	}
	switch {
	case !cut && s.straddle && !o.st.final(o.epoch):
		return nil
	case s.restored != nil && cut:
		return nil
	case s.restored != nil:
		return Fatal(fmt.Errorf("%w: the input of %s is shorter than when the state was taken", ErrStateMismatch, o.st.name))
	case s.used == 0, s.dropLast && cut: // the row may become full when the stream is resumed
		return nil
	case s.dropLast:
		s.row, s.used = Packed[E]{}, 0
		return nil
	}
	s.give(o)
	return nil
}

func (s *concatenation[E]) snapshot() (any, place, bool) {
	switch {
	case s.restored != nil:
		return s.restored, place{}, false
	case s.used == 0:
		return concatState{Epoch: s.epoch}, place{}, false
	}
	return concatState{s.epoch, s.offset}, s.from, true
}

// retraced implements [retracer].
func (s *concatenation[E]) retraced() uint64 {
	if s.used == 0 {
		return 0
	}
	return s.came - s.order
}

// holding implements [holder].
func (s *concatenation[E]) holding() int {
	if s.used == 0 {
		return 0
	}
	return int(s.segments)
}

// fitting packs by PackWhole and PackBestFit.
//
// Where a sequence goes depends on how much room the open rows have, alone. So
// a state is how far the rows were filled when the oldest of them was begun, and how
// many were given out since: given the input from there on, those rows, of which the
// first sequences are not known, are made again and left out.
type fitting[E any] struct {
	packConfig[E]
	most               int // rows open at once
	truncate, straddle bool

	rows  []*openRow[E] // oldest first
	spare []*openRow[E]
	came  uint64 // sequences so far
	given uint64 // rows so far
	owed  uint64 // rows to be left out still
	held  int    // sequences
	epoch int64  // the ends of epochs before this one have been passed on

	restored *fitState // until the oldest held sequence has come again, which is the next
}

// openRow is a row being filled.
type openRow[E any] struct {
	row      Packed[E]
	used     int
	segments int32
	first    meta
	ghost    bool // the first sequences are not known

	// When the first sequence came:
	from   place  // its place
	order  uint64 // sequences before it
	given  uint64 // rows before it
	beside []int  // how far the other rows were filled, oldest first
}

// fitState is what fitting remembers.
type fitState struct {
	Epoch  int64  `json:"epoch"`
	Given  uint64 `json:"given,omitempty"`
	Beside []int  `json:"beside,omitempty"` // if any were given
}

func (s *fitting[E]) restore(from *mark) error {
	var state fitState
	if err := from.restore(&state); err != nil {
		return err
	}
	s.epoch = state.Epoch
	if state.Given == 0 {
		return nil // all sequences since the oldest one held are held
	}
	if len(state.Beside) >= s.most {
		return fmt.Errorf("it has %d rows beside the oldest, the pipeline has %d at most", len(state.Beside), s.most-1)
	}
	if uint64(len(state.Beside)) > state.Given {
		return errors.New("its counts contradict each other")
	}
	for _, used := range state.Beside {
		if used < 1 || used >= s.length {
			return fmt.Errorf("a row of %d has %d tokens", s.length, used)
		}
		s.rows = append(s.rows, &openRow[E]{used: used, ghost: true})
	}
	s.owed, s.restored = state.Given, &state
	return nil
}

func (s *fitting[E]) push(seq []E, m meta, o *outlet[Packed[E]]) error {
	n := s.tokens(seq)
	switch {
	case n == 0:
		s.came++
		return nil
	case n > s.length && !s.truncate:
		return fmt.Errorf("%w: %d tokens, a row has %d", ErrTooLong, n, s.length)
	case n > s.length:
		seq = seq[:len(seq)-(n-s.length)]
		n = s.length
	}
	best := -1
	for i, r := range s.rows {
		if r.used+n <= s.length && (best < 0 || r.used > s.rows[best].used) {
			best = i
		}
	}
	switch {
	case best < 0:
		if len(s.rows) == s.most {
			if err := s.give(0, o); err != nil {
				return err
			}
		}
		best = s.open(m, o)
	case s.restored != nil:
		return s.mismatch(o) // the oldest one held began a row
	}
	s.restored, s.epoch = nil, max(s.epoch, o.epoch)
	s.came++
	r := s.rows[best]
	if !r.ghost {
		r.segments++
		s.held++
		s.fill(&r.row, r.used, r.segments, seq, 0, n)
	}
	r.used += n
	if r.used == s.length {
		return s.give(best, o)
	}
	return nil
}

// open begins a row and returns its index.
func (s *fitting[E]) open(m meta, o *outlet[Packed[E]]) int {
	var r *openRow[E]
	if n := len(s.spare); n > 0 {
		r = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		r = new(openRow[E])
	}
	beside := r.beside[:0]
	for _, other := range s.rows {
		beside = append(beside, other.used)
	}
	*r = openRow[E]{row: s.packConfig.row(), first: m, from: o.here(), order: s.came, given: s.given, beside: beside}
	s.rows = append(s.rows, r)
	return len(s.rows) - 1
}

// give gives a row out, unless that was done before the state was taken.
func (s *fitting[E]) give(i int, o *outlet[Packed[E]]) error {
	r := s.rows[i]
	s.rows = slices.Delete(s.rows, i, i+1)
	s.spare = append(s.spare, r)
	s.given++
	s.held -= int(r.segments)
	switch {
	case s.owed > 0:
		s.owed--
		if s.owed == 0 && len(s.rows) > 0 && s.rows[0].ghost {
			return s.mismatch(o)
		}
	case r.ghost:
		return s.mismatch(o)
	default:
		o.emit(s.packConfig.finish(r.row, r.used), r.first)
	}
	r.row = Packed[E]{}
	return nil
}

func (s *fitting[E]) mismatch(o *outlet[Packed[E]]) error {
	return Fatal(fmt.Errorf("%w: the input of %s is not that of when the state was taken", ErrStateMismatch, o.st.name))
}

func (s *fitting[E]) finish(o *outlet[Packed[E]], cut bool) error {
	if !cut {
		s.epoch = max(s.epoch, o.epoch+1)
	}
	switch {
	case !cut && s.straddle && !o.st.final(o.epoch):
		return nil
	case s.owed > 0 && cut:
		return nil // the rows that are to come next have not all come again
	case s.owed > 0:
		return s.mismatch(o)
	}
	for len(s.rows) > 0 {
		if err := s.give(0, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *fitting[E]) snapshot() (any, place, bool) {
	if s.restored != nil {
		return s.restored, place{}, false
	}
	oldest := s.oldest()
	if oldest == nil {
		return fitState{Epoch: s.epoch}, place{}, false
	}
	state := fitState{Epoch: s.epoch, Given: s.given - oldest.given + s.owed}
	if state.Given > 0 {
		state.Beside = slices.Clone(oldest.beside)
	}
	return state, oldest.from, true
}

// oldest is the row with the oldest held sequence, nil if none is held.
func (s *fitting[E]) oldest() *openRow[E] {
	for _, r := range s.rows {
		if !r.ghost {
			return r
		}
	}
	return nil
}

// retraced implements [retracer].
func (s *fitting[E]) retraced() uint64 {
	if oldest := s.oldest(); oldest != nil {
		return s.came - oldest.order
	}
	return 0
}

// holding implements [holder].
func (s *fitting[E]) holding() int { return s.held }
