package rosa

import (
	"fmt"
	"slices"
)

// QKV finds matches where what is looked for, where it is looked for and what is answered
// are streams of their own: queries, keys and values, as in RWKV-8.
//
// When q[i], k[i] and v[i] have come, the match is the longest suffix of q[0..i] that occurs
// in k[0..i−1]; its source e is where the newest occurrence ends, and next is v[e+1].
//
// With the same stream thrice it answers as [State] does. The suffix is followed in the
// automaton of the keys: it is one longer than a suffix of the one before, which is why that
// has no key to hear of. If the key splits the class it is in, it may be in the new one; but
// that has the same transitions until the next key, and the next query comes before.
//
// Any int64 is a query, a key or a value. A step costs amortised O(log n), whatever the
// streams. Memory grows with use: 60 to 130 bytes a step. A QKV is for one goroutine at a
// time. The zero value is that of empty streams.
type QKV struct {
	keys   *automaton // nil before the first step
	names  dictionary // of the keys with codes from 256 on
	values []int64
	limit  int // steps, MaxCandidateTokens if 0; less in tests

	at      int32 // class of the match
	matched int32 // its length
}

// NewQKV returns empty streams.
func NewQKV() *QKV { return new(QKV) }

// Len returns the number of steps.
func (s *QKV) Len() int { return len(s.values) }

func (s *QKV) room() int {
	if s.limit > 0 {
		return s.limit - s.Len()
	}
	return MaxCandidateTokens - s.Len()
}

// Step takes a query, a key and a value and returns the match of the query among the keys
// before. On [ErrFull] nothing has changed.
func (s *QKV) Step(query, key, value int64) (Match, error) {
	if s.room() <= 0 {
		return none, fmt.Errorf("%w: it has %d tokens; reset it or begin another", ErrFull, s.Len())
	}
	if s.keys == nil {
		s.keys = newAutomaton(1)
	}
	a := s.keys
	s.values = push(s.values, value)
	s.follow(query)
	m := none
	if s.at != 0 {
		if a.paths.used() {
			a.splay(s.at)
		}
		end := a.classes[s.at].ends
		m = Match{Next: s.values[end+1], Source: int(end), Length: int(s.matched)}
	}
	if v := a.extend(codeFor(key, a, &s.names)); v != 0 {
		if a.paths.used() {
			a.access(v)
		}
		a.touch(v, int32(s.Len())-1)
	}
	return m, nil
}

// follow goes from the match of the query before to that of this one.
func (s *QKV) follow(query int64) {
	a, c := s.keys, uint32(query)
	if uint64(query) >= 256 {
		code, known := s.names.code(query)
		if !known {
			s.at, s.matched = 0, 0
			return
		}
		c = code + 256
	}
	for s.at != 0 {
		n := &a.classes[s.at]
		if t := a.edge(n, c); t != nil {
			s.at = *t
			s.matched++
			return
		}
		s.at = n.link
		s.matched = a.classes[s.at].length
	}
	if int(c) < len(a.root) && a.root[c] != 0 {
		s.at, s.matched = a.root[c], 1
	}
}

// Prefill takes as many queries as keys and values and returns the match of each query. It
// is Step of one after the other, from any position. On [ErrLength] and [ErrFull] nothing
// has changed.
func (s *QKV) Prefill(queries, keys, values []int64) ([]Match, error) {
	matches := make([]Match, len(queries))
	if err := s.PrefillInto(matches, queries, keys, values); err != nil {
		return nil, err
	}
	return matches, nil
}

// PrefillInto is Prefill into memory of the caller, as long as the queries.
func (s *QKV) PrefillInto(matches []Match, queries, keys, values []int64) error {
	n := len(queries)
	if len(matches) != n || len(keys) != n || len(values) != n {
		return fmt.Errorf("%w: %d results, %d queries, %d keys and %d values; give as many of each",
			ErrLength, len(matches), n, len(keys), len(values))
	}
	if n > s.room() {
		return fmt.Errorf("%w: it has %d tokens and takes %d more, not %d; reset it or begin another",
			ErrFull, s.Len(), s.room(), n)
	}
	for i, query := range queries {
		matches[i], _ = s.Step(query, keys[i], values[i]) // there is room
	}
	return nil
}

// Reset empties the streams and keeps their memory, in time of what they hold.
func (s *QKV) Reset() {
	if s.keys != nil {
		s.keys.reset()
	}
	s.names.reset()
	s.values = s.values[:0]
	s.at, s.matched = 0, 0
}

// Clone returns streams that go on from here on their own.
func (s *QKV) Clone() *QKV {
	c := *s
	c.keys, c.names, c.values = s.keys.clone(), s.names.clone(), slices.Clone(s.values)
	return &c
}

// Bytes returns the memory that the streams hold.
func (s *QKV) Bytes() int { return s.keys.bytes() + s.names.bytes() + 8*cap(s.values) }
