package pipeline

import (
	"errors"
	"fmt"
	"math"
)

// shuffling is a shuffle buffer: it fills up, then each new value takes the place of
// one chosen at random, which leaves; at the end of the epoch the rest leave in
// random order. The choice for the kth value that leaves is a function of
// (seed, epoch, k) alone. So which values are held follows from how many have come, and a
// state is a few counts: see [shuffling.content].
//
// With canonical shards each shard has a buffer of its own, so that its order does
// not depend on which others are shuffled beside it.
type shuffling[T any] struct {
	st    *stage
	canon int // canonical shards; 1 for none
	world int // ranks that share them

	epoch   int64 // of what is held; −1 before the first value
	buffers []*shuffleBuffer[T]
	entries []*shuffleEntry // oldest first

	restored  *shuffleState // to be gone back to, until all that was held has come again
	up        place         // where it begins
	returning int           // buffers to which values that were held have still to come again
}

// shuffleBuffer is the buffer of one canonical shard.
type shuffleBuffer[T any] struct {
	size   int
	seed   uint64 // of the epoch
	slots  []shuffleSlot[T]
	counts shuffleCounts
	// After a state was gone back to: values before this number have been here
	// before, and those that were still held then are wanted in their slots.
	until  uint64
	wanted map[uint64]int
}

type shuffleSlot[T any] struct {
	v     T
	m     meta
	entry *shuffleEntry
}

// shuffleCounts counts the values of an epoch that came into a buffer, and up to
// when it was last empty those that came and those that left.
type shuffleCounts struct {
	Came  uint64 `json:"came"`
	Start uint64 `json:"start,omitempty"`
	Left  uint64 `json:"left,omitempty"`
}

// left is how many values have left a buffer of size n.
func (c shuffleCounts) left(n int) uint64 {
	if held := c.Came - c.Start; held > uint64(n) {
		return c.Left + held - uint64(n)
	}
	return c.Left
}

// shuffleEntry is a chunk of which values are held, from the first of these on.
type shuffleEntry struct {
	turn uint64 // which chunk
	from place
	came []uint64 // into each buffer before it
	held int
}

// shuffleState is what a shuffle remembers.
type shuffleState struct {
	Epoch   int64           `json:"epoch"`
	Buffers []shuffleCounts `json:"buffers"`
	// From counts what had come into each buffer where its input begins again.
	From []uint64 `json:"from"`
}

func newShuffling[T any](st *stage, size int, restored *mark) (*shuffling[T], error) {
	cfg := &st.run.cfg
	s := &shuffling[T]{st: st, canon: max(cfg.canonical, 1), world: 1, epoch: -1}
	if cfg.sharding != nil && cfg.canonical > 0 {
		s.world = cfg.sharding.World
	}
	for range s.canon / s.world {
		s.buffers = append(s.buffers, &shuffleBuffer[T]{size: max(1, (size+s.canon-1)/s.canon)})
	}
	if restored == nil {
		return s, nil
	}
	var state shuffleState
	if err := restored.restore(&state); err != nil {
		return nil, err
	}
	if len(state.Buffers) != len(s.buffers) || len(state.From) != len(s.buffers) {
		return nil, fmt.Errorf("it has %d buffers, the pipeline has %d", len(state.Buffers), len(s.buffers))
	}
	for i, c := range state.Buffers {
		if c.Start > c.Came || c.Left > c.Came || state.From[i] > c.Came {
			return nil, errors.New("its counts contradict each other")
		}
	}
	s.restored, s.up = &state, restored.up
	return s, nil
}

// begin begins an epoch.
func (s *shuffling[T]) begin(epoch int64) error {
	s.epoch, s.entries, s.returning = epoch, nil, 0
	for i, b := range s.buffers {
		shard := s.st.run.cfg.rank()
		if s.canon > 1 {
			shard += i * s.world
		}
		*b = shuffleBuffer[T]{size: b.size, slots: b.slots[:0]}
		b.seed = mix(mix(s.st.run.cfg.seed, uint64(epoch)), uint64(s.st.index)<<32|uint64(shard))
		if s.restored == nil || s.restored.Epoch != epoch {
			continue
		}
		b.counts = s.restored.Buffers[i]
		held := b.content()
		b.until, b.wanted = b.counts.Came, make(map[uint64]int, len(held))
		b.counts.Came = s.restored.From[i]
		for slot, n := range held {
			if n < b.counts.Came {
				return Fatal(fmt.Errorf("%w: the place of %s lies behind a value that it holds", ErrState, s.st.name))
			}
			b.wanted[n] = slot
		}
		b.slots = append(b.slots, make([]shuffleSlot[T], len(held))...)
		if b.counts.Came < b.until {
			s.returning++
		}
	}
	if s.returning == 0 {
		s.restored = nil
	}
	return nil
}

// choose is the random choice among n slots for the kth value that leaves.
func (b *shuffleBuffer[T]) choose(k uint64, n int) int {
	return int(below(mix(b.seed, k), uint64(n)))
}

// content tells which values are held: for each slot the number of its value. It
// goes back from the last value that left until each slot is known, for a buffer of n
// about n·ln n steps.
func (b *shuffleBuffer[T]) content() []uint64 {
	c := b.counts
	if held := c.Came - c.Start; held <= uint64(b.size) {
		out := make([]uint64, held)
		for j := range out {
			out[j] = c.Start + uint64(j)
		}
		return out
	}
	const unknown = ^uint64(0)
	out := make([]uint64, b.size)
	for j := range out {
		out[j] = unknown
	}
	missing := b.size
	for k := c.left(b.size); k > c.Left && missing > 0; {
		k--
		if j := b.choose(k, b.size); out[j] == unknown {
			out[j] = c.Start + uint64(b.size) + (k - c.Left)
			missing--
		}
	}
	for j := range out {
		if out[j] == unknown { // since the buffer filled up
			out[j] = c.Start + uint64(j)
		}
	}
	return out
}

func (s *shuffling[T]) push(v T, m meta, o *outlet[T]) error {
	if s.epoch != o.epoch {
		if err := s.begin(o.epoch); err != nil {
			return err
		}
	}
	i := 0
	if s.canon > 1 {
		i = int(m.origin%uint64(s.canon)) / s.world
	}
	b := s.buffers[i]
	n := b.counts.Came
	if n < b.until {
		if slot, ok := b.wanted[n]; ok {
			b.slots[slot] = shuffleSlot[T]{v, m, s.enter(o)}
			delete(b.wanted, n)
		}
		b.counts.Came++
		if b.counts.Came == b.until {
			if s.returning--; s.returning == 0 {
				s.restored = nil
			}
		}
		return nil
	}
	in := shuffleSlot[T]{v, m, s.enter(o)}
	if len(b.slots) < b.size {
		b.slots = append(b.slots, in)
		b.counts.Came++
		return nil
	}
	slot := &b.slots[b.choose(b.counts.left(b.size), b.size)]
	b.counts.Came++
	out := *slot
	*slot = in
	out.leave(o)
	return nil
}

func (s shuffleSlot[T]) leave(o *outlet[T]) {
	s.entry.held--
	o.emit(s.v, s.m)
}

// enter returns the entry of the chunk being pushed, for a value that is held from
// now on and not yet counted.
func (s *shuffling[T]) enter(o *outlet[T]) *shuffleEntry {
	if n := len(s.entries); n > 0 && s.entries[n-1].turn == o.turn {
		s.entries[n-1].held++
		return s.entries[n-1]
	}
	s.forget()
	e := &shuffleEntry{turn: o.turn, from: o.here(), came: make([]uint64, len(s.buffers)), held: 1}
	for i, b := range s.buffers {
		e.came[i] = b.counts.Came
	}
	s.entries = append(s.entries, e)
	return e
}

// forget drops the oldest entries of which nothing is held.
func (s *shuffling[T]) forget() {
	for len(s.entries) > 0 && s.entries[0].held == 0 {
		s.entries[0] = nil
		s.entries = s.entries[1:]
	}
}

func (s *shuffling[T]) finish(o *outlet[T], cut bool) error {
	if s.epoch != o.epoch {
		if err := s.begin(o.epoch); err != nil {
			return err
		}
	}
	switch {
	case s.returning > 0 && cut:
		return nil // what is held has not come again: the state is still the old one
	case s.returning > 0:
		return Fatal(fmt.Errorf("%w: the input of %s is shorter than when the state was taken", ErrStateMismatch, s.st.name))
	}
	for {
		// Those that have given out least come first, so that canonical shards keep
		// their turns.
		least, more := uint64(math.MaxUint64), false
		for _, b := range s.buffers {
			if len(b.slots) > 0 {
				least, more = min(least, b.counts.left(b.size)), true
			}
		}
		if !more {
			break
		}
		for _, b := range s.buffers {
			n, left := len(b.slots), b.counts.left(b.size)
			if n == 0 || left != least {
				continue
			}
			j := b.choose(left, n)
			out := b.slots[j]
			b.slots[j] = b.slots[n-1]
			b.slots[n-1] = shuffleSlot[T]{}
			b.slots = b.slots[:n-1]
			// The buffer counts as empty from here on: what is still in it leaves too.
			b.counts.Left, b.counts.Start = left+1, b.counts.Came
			if out.entry != nil {
				out.leave(o)
			}
		}
	}
	s.entries = nil
	if !cut {
		s.epoch = -1
	}
	return nil
}

// retraced implements [retracer].
func (s *shuffling[T]) retraced() (n uint64) {
	s.forget()
	for i, b := range s.buffers {
		if s.restored != nil && s.epoch == s.restored.Epoch {
			n += b.counts.Came - s.restored.From[i]
		} else if s.restored != nil {
			return 0 // nothing has come again
		} else if len(s.entries) > 0 {
			n += b.counts.Came - s.entries[0].came[i]
		}
	}
	return n
}

func (s *shuffling[T]) snapshot() (any, place, bool) {
	if s.restored != nil {
		return s.restored, s.up, true
	}
	state := &shuffleState{Epoch: s.epoch}
	s.forget()
	held := len(s.entries) > 0
	for i, b := range s.buffers {
		state.Buffers = append(state.Buffers, b.counts)
		if held {
			state.From = append(state.From, s.entries[0].came[i])
		} else {
			state.From = append(state.From, b.counts.Came)
		}
	}
	if held {
		return state, s.entries[0].from, true
	}
	return state, place{}, false
}

// holding implements [holder].
func (s *shuffling[T]) holding() int {
	n := 0
	for _, b := range s.buffers {
		n += len(b.slots)
	}
	return n
}
