package rosa

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrFull is returned when a state has as many tokens as it can take.
var ErrFull = errors.New("rosa: state is full")

// ErrRollback is returned when more tokens are to be taken back than there are.
var ErrRollback = errors.New("rosa: cannot take so many tokens back")

// ErrLength is returned when memory for results is not as long as the tokens.
var ErrLength = errors.New("rosa: results and tokens differ in length")

// MaxTokens is how many tokens a state takes at most.
const MaxTokens = math.MaxInt32 - 1

// State finds the match of each token of one stream. Any int64 is a token; streams of
// bytes, 0 to 255, take a quarter of the memory for text and less time. A State is for one
// goroutine at a time. The zero value is an empty state.
//
// Memory grows with use, to 14 to 36 bytes a token of bytes (1 where all repeats), at most
// 50; 60 of other tokens; an eighth of it may be spare.
type State struct {
	bytes *tree[uint8]  // while all tokens are bytes; nil before the first
	codes *tree[uint32] // afterwards: bytes are their own codes
	names dictionary    // of the tokens with codes from 256 on
	order *order        // in place of all these, if steps are bounded
	limit int           // tokens, MaxTokens if 0; less in tests

	rollback, window int // see the options
}

// StateOption is an option of [NewState].
type StateOption func(*State)

// WithRollback makes [State.Rollback] of up to n tokens as fast as they came: what they
// change is noted. Steps take about a third more time then, and the changes of up to 2·n
// tokens are in memory. With a window, Rollback of up to n tokens is possible. Where a long
// match breaks and that step is taken back and made again, it is as long each time: see
// [WithBoundedSteps]. Default 0.
func WithRollback(n int) StateOption {
	return func(s *State) { s.rollback = min(max(n, 0), maxWindow) }
}

// WithWindow makes a state look at the last n tokens only and forget the others: matches
// are those of these tokens as a stream of their own, but sources are still positions in
// all of the stream, which may be endless. Memory is that of up to 2·n tokens. From 1 to
// 2²⁹, what is outside counts as the nearest; default all.
func WithWindow(n int) StateOption { return func(s *State) { s.window = min(max(n, 1), maxWindow) } }

// WithBoundedSteps makes each step take O(log² n) in the worst case, and not only amortised,
// by another structure: a step in which a long match breaks takes microseconds and not time
// of its length. Answers are the same. The mean step takes two to ten times as long, and up
// to thirty where all repeats. Memory is 28 KiB at least and, of many tokens, about 26 bytes
// each, whatever they are, and at most 32. It is that of the most tokens held at a time: to
// take some back frees none, but others have the place. Where tokens come and are taken back
// again and again it is 26 to 31 bytes mostly, and never more than 62. [State.Rollback] of
// any n takes O(log n) a token, and [WithRollback] changes nothing. With a window, this
// option has no effect.
func WithBoundedSteps() StateOption { return func(s *State) { s.order = newOrder() } }

const maxWindow = 1 << 29

// NewState returns an empty state.
func NewState(opts ...StateOption) *State {
	s := new(State)
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	if s.window > 0 {
		s.order = nil
	}
	return s
}

// Len returns the number of tokens that came, those that are forgotten included.
func (s *State) Len() int {
	switch {
	case s.codes != nil:
		return s.codes.gone + len(s.codes.text)
	case s.bytes != nil:
		return s.bytes.gone + len(s.bytes.text)
	case s.order != nil:
		return s.order.gone + int(s.order.places.count)
	}
	return 0
}

// gone returns how many tokens came before those that are held.
func (s *State) gone() int {
	switch {
	case s.codes != nil:
		return s.codes.gone
	case s.bytes != nil:
		return s.bytes.gone
	case s.order != nil:
		return s.order.gone
	}
	return 0
}

// room returns how many tokens may come.
func (s *State) room() int {
	switch {
	case s.window > 0:
		return math.MaxInt - s.Len()
	case s.limit > 0:
		return s.limit - s.Len()
	}
	return MaxTokens - (s.Len() - s.gone())
}

// Step takes a token and returns its match. Amortised O(log n), or as [WithBoundedSteps]
// says. On [ErrFull] nothing has changed.
func (s *State) Step(token int64) (Match, error) {
	t := s.bytes
	if t == nil || uint64(token) > 255 || len(t.text) >= t.plain {
		return s.stepAny(token)
	}
	c, n := uint8(token), len(t.text)
	t.text = t.text[:n+1]
	t.text[n] = c
	if at := int(t.start + t.length); t.length > 0 && t.text[at] == c {
		t.length++
		return Match{Next: int64(t.text[at+1]), Source: at, Length: int(t.length)}, nil
	}
	t.extend(c)
	if t.length == 0 {
		return none, nil
	}
	at := int(t.start + t.length)
	return Match{Next: int64(t.text[at]), Source: at - 1, Length: int(t.length)}, nil
}

// stepCode is Step where there are codes and nothing else is to do.
func (s *State) stepCode(token int64) (Match, error) {
	t := s.codes
	c, n := s.code(token), len(t.text)
	t.text = t.text[:n+1]
	t.text[n] = c
	if t.length > 0 && t.text[t.start+t.length] == c {
		t.length++
	} else if t.extend(c); t.length == 0 {
		return none, nil
	}
	at := int(t.start + t.length)
	return Match{Next: s.token(t.text[at]), Source: at - 1, Length: int(t.length)}, nil
}

// stepAny is Step of a token that is no byte or comes first, or where there is more to do.
func (s *State) stepAny(token int64) (Match, error) {
	if t := s.codes; t != nil && len(t.text) < t.plain {
		return s.stepCode(token)
	}
	if s.room() <= 0 {
		return none, fmt.Errorf("%w: it has %d tokens; reset it or begin another", ErrFull, s.Len())
	}
	if s.order != nil {
		s.order.append(token)
		return s.Predict(), nil
	}
	if s.codes == nil && uint64(token) < 256 {
		if s.bytes == nil {
			s.bytes = newTree[uint8](s.rollback, s.window)
		}
		s.bytes.append(uint8(token), 0)
		s.bytes.setPlain(s.room())
		return s.Predict(), nil
	}
	if s.codes == nil {
		s.widen()
	}
	if s.window > 0 && len(s.names.tokens) > 2*(s.window+s.rollback)+256 {
		// Most of the names are of tokens that are forgotten.
		held := s.held(nil)
		s.rebuild(held[max(len(held)-s.window-s.rollback, 0):], s.Len())
	}
	names := len(s.names.tokens)
	s.codes.append(s.code(token), names)
	s.codes.setPlain(s.room())
	return s.Predict(), nil
}

// widen makes room for tokens that are no bytes.
func (s *State) widen() {
	if s.bytes == nil {
		s.codes = newTree[uint32](s.rollback, s.window)
		return
	}
	s.codes, s.bytes = widened(s.bytes), nil
}

// code returns the code of a token, a new one if it has none.
func (s *State) code(token int64) uint32 {
	if uint64(token) < 256 {
		return uint32(token)
	}
	c, known := s.names.code(token)
	if !known {
		s.names.add(token)
	}
	return c + 256
}

// token returns the token of a code.
func (s *State) token(code uint32) int64 {
	if code < 256 {
		return int64(code)
	}
	return s.names.tokens[code-256]
}

// Predict returns the match of the last token, again. O(1).
func (s *State) Predict() Match {
	if t := s.bytes; t != nil {
		if at := t.next(); at >= 0 {
			return Match{Next: int64(t.text[at]), Source: t.gone + at - 1, Length: int(t.length)}
		}
	} else if t := s.codes; t != nil {
		if at := t.next(); at >= 0 {
			return Match{Next: s.token(t.text[at]), Source: t.gone + at - 1, Length: int(t.length)}
		}
	} else if o := s.order; o != nil && o.length > 0 {
		return Match{Next: o.token(o.source + 1), Source: o.gone + int(o.source), Length: int(o.length)}
	}
	return none
}

// Prefill takes tokens and returns the match of each. It is Step of one after the other,
// from any position. On [ErrFull] nothing has changed.
func (s *State) Prefill(tokens []int64) ([]Match, error) {
	matches := make([]Match, len(tokens))
	if err := s.PrefillInto(matches, tokens); err != nil {
		return nil, err
	}
	return matches, nil
}

// PrefillInto is Prefill into memory of the caller, as long as the tokens.
func (s *State) PrefillInto(matches []Match, tokens []int64) error {
	if len(matches) != len(tokens) {
		return fmt.Errorf("%w: %d and %d", ErrLength, len(matches), len(tokens))
	}
	if len(tokens) > s.room() {
		return fmt.Errorf("%w: it has %d tokens and takes %d more, not %d; reset it or begin another",
			ErrFull, s.Len(), s.room(), len(tokens))
	}
	for i, token := range tokens {
		matches[i], _ = s.Step(token) // there is room
	}
	return nil
}

// Rollback takes the last n tokens back: the state is as it was before they came, and may
// go on otherwise. It takes as long as the tokens took if they are no more than
// [WithRollback] says and there is no window, or by [WithBoundedSteps]; else the state is
// built anew from those that stay. With a window, more tokens than [WithRollback] says
// cannot be taken back once some are forgotten, nor any that were before a [Load].
func (s *State) Rollback(n int) error {
	if n < 0 || n > s.Len() {
		return fmt.Errorf("%w: %d of %d", ErrRollback, n, s.Len())
	}
	if o := s.order; o != nil {
		if n > int(o.places.count) {
			return fmt.Errorf("%w: %d of %d, and others are forgotten", ErrRollback, n, o.places.count)
		}
		o.takeBack(n)
		return nil
	}
	if n <= s.points() {
		for range n {
			if s.codes != nil {
				s.names.truncate(s.codes.takeBack())
			} else {
				s.bytes.takeBack()
			}
		}
		return nil
	}
	end := s.Len() - n
	held := s.held(nil)
	first := s.Len() - len(held)
	if end < first {
		return fmt.Errorf("%w: %d of %d, and what was before these is forgotten", ErrRollback, n, len(held))
	}
	if s.window > 0 && max(end-s.window, 0) < first {
		return fmt.Errorf("%w: %d, with a window of %d tokens and %d to roll back; say more by WithRollback",
			ErrRollback, n, s.window, s.rollback)
	}
	from := first
	if s.window > 0 {
		from = max(first, end-s.window-s.rollback)
	}
	s.rebuild(held[from-first:end-first], end)
	return nil
}

// points returns how many tokens can be taken back one by one.
func (s *State) points() int {
	switch {
	case s.codes != nil && s.codes.undo != nil:
		return len(s.codes.undo.points)
	case s.bytes != nil && s.bytes.undo != nil:
		return len(s.bytes.undo.points)
	}
	return 0
}

// rebuild makes the state that of a stream of so many tokens that ends with the given ones.
func (s *State) rebuild(tokens []int64, length int) {
	s.Reset()
	for _, token := range tokens {
		_, _ = s.Step(token) // they were in it
	}
	s.begins(length - len(tokens))
}

// begins says how many tokens came before the first that was stepped.
func (s *State) begins(before int) {
	if t := s.bytes; t != nil {
		t.gone += before
		t.plain = 0
	}
	if t := s.codes; t != nil {
		t.gone += before
		t.plain = 0
	}
	if s.order != nil {
		s.order.gone += before
	}
}

// Tokens appends the tokens to dst that the state looks at: all, or those of the window.
func (s *State) Tokens(dst []int64) []int64 {
	if s.window == 0 {
		return s.held(dst)
	}
	held := s.held(nil)
	return append(dst, held[max(len(held)-s.window, 0):]...)
}

// held appends the tokens to dst that are in memory.
func (s *State) held(dst []int64) []int64 {
	if t := s.bytes; t != nil {
		dst = slices.Grow(dst, len(t.text))
		for _, c := range t.text {
			dst = append(dst, int64(c))
		}
	} else if t := s.codes; t != nil {
		dst = slices.Grow(dst, len(t.text))
		for _, c := range t.text {
			dst = append(dst, s.token(c))
		}
	} else if o := s.order; o != nil {
		dst = slices.Grow(dst, int(o.places.count))
		for i := range o.places.count {
			dst = append(dst, o.token(i))
		}
	}
	return dst
}

// Reset empties the state and keeps its memory, in time of what it holds.
func (s *State) Reset() {
	if s.bytes != nil {
		s.bytes.reset()
	}
	if s.codes != nil {
		s.codes.reset()
	}
	if s.order != nil {
		s.order.reset()
	}
	s.names.reset()
}

// Clone returns a state that goes on from here on its own.
func (s *State) Clone() *State {
	c := &State{limit: s.limit, rollback: s.rollback, window: s.window, names: s.names.clone()}
	if s.bytes != nil {
		c.bytes = s.bytes.clone()
	}
	if s.codes != nil {
		c.codes = s.codes.clone()
	}
	if s.order != nil {
		c.order = s.order.clone()
	}
	return c
}

// Bytes returns the memory that the state holds, the text included.
func (s *State) Bytes() int {
	n := s.names.bytes()
	if s.bytes != nil {
		n += s.bytes.bytes()
	}
	if s.codes != nil {
		n += s.codes.bytes()
	}
	if s.order != nil {
		n += s.order.bytes()
	}
	return n
}
