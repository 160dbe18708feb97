package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// ErrTooLong is returned by [BucketTokens] for an element of more tokens than a
// batch may have, and by [Pack] for a sequence that does not fit into a row. It is an
// error about that element: use Skip to leave it out, or make it shorter before.
var ErrTooLong = errors.New("pipeline: longer than a batch or row may be")

// Bucket groups elements of about the same length, so that batches need little
// padding. An element whose length is less than bounds[0] goes to the first bucket, one
// that is at least the last bound to the last; so there are len(bounds)+1 buckets, in
// which batches are made like those of [BatchRaw]: sizes are those of the batches of each
// bucket, or one for all, and 0 is 1. Bounds must be positive and ascend; none make
// one bucket.
//
// A batch is given out when it is full, so batches come in the order of their last
// elements, and elements of a batch in the order of the stream. At the end of an epoch the
// rest come in the order of buckets, see [Pipeline.DropLast] and [Pipeline.AcrossEpochs].
// length is called once for an element, from one goroutine; it must depend on
// the element alone and be quick. It takes O(log buckets) for an element.
//
// A resumed pipeline goes back to the oldest element that is held: a bucket that hardly
// fills makes that long.
func Bucket[T any](p *Pipeline[T], length func(T) int, bounds []int, sizes ...int) *Pipeline[[]T] {
	out := p.bucketed("Bucket", length == nil, bounds)
	if n := len(sizes); n != 1 && n != len(bounds)+1 {
		out = out.complain("Bucket has %d sizes for %d buckets: give one for each, or one for all", n, len(bounds)+1)
	}
	by := make([]int, len(bounds)+1)
	for i := range by {
		n := 1
		switch {
		case len(sizes) == 1:
			n = sizes[0]
		case i < len(sizes):
			n = sizes[i]
		}
		by[i] = max(n, 1)
	}
	for _, n := range sizes {
		if n < 0 {
			out = out.complain("Bucket: the size %d is negative", n)
		}
	}
	return bucketStage(out, fmt.Sprint(bounds, by), bucketing[T]{length: length, bounds: slices.Clone(bounds), sizes: by})
}

// BucketTokens is [Bucket] with batches of as many elements as fit into tokens, at
// least 1, when all are padded to the longest of them: elements × longest ≤ tokens. An
// element of length 0 counts as 1. A batch is given out as soon as no other
// element could fit, or when the next does not. A longer element than tokens
// is an error, [ErrTooLong].
func BucketTokens[T any](p *Pipeline[T], length func(T) int, bounds []int, tokens int) *Pipeline[[]T] {
	out := p.bucketed("BucketTokens", length == nil, bounds)
	if tokens < 1 {
		out = out.complain("BucketTokens(%d): a batch needs room for at least one token", tokens)
	}
	param := fmt.Sprintf("%v tokens %d", bounds, tokens)
	return bucketStage(out, param, bucketing[T]{length: length, bounds: slices.Clone(bounds), tokens: max(tokens, 1)})
}

// maxBuckets bounds what is remembered for each pair of buckets.
const maxBuckets = 1024

// bucketed returns the plan with what is wrong with the buckets.
func (p plan) bucketed(name string, missing bool, bounds []int) plan {
	if missing {
		p = p.complain("%s: there is no function that tells the length", name)
	}
	if len(bounds) >= maxBuckets {
		p = p.complain("%s has %d bounds; at most %d buckets are allowed", name, len(bounds), maxBuckets)
	}
	for i, b := range bounds {
		switch {
		case b < 1:
			p = p.complain("%s: the bound %d is not positive", name, b)
		case i > 0 && b <= bounds[i-1]:
			p = p.complain("%s: the bound %d does not ascend after %d", name, b, bounds[i-1])
		}
	}
	return p
}

// bucketStage adds the stage; what it does is a copy of model.
func bucketStage[T any](p plan, param string, model bucketing[T]) *Pipeline[[]T] {
	return &Pipeline[[]T]{p.batch(serialSpec("bucket", param, func(st *stage, restored *mark, skip uint32) (serial, error) {
		st.across = st.run.cfg.straddle
		op := model
		op.dropLast, op.straddle = st.run.cfg.dropLast, st.run.cfg.straddle
		op.buckets = make([]bucket[T], len(op.bounds)+1)
		for i := range op.buckets {
			op.buckets[i].beside = make([]bucketFill, len(op.buckets))
		}
		if err := op.restore(restored); err != nil {
			return nil, err
		}
		s := newSerial(st, &op, skip)
		s.begun = op.epoch
		return s, nil
	}))}
}

// bucketing groups values by length.
//
// When a batch is full depends on how many values there are in its bucket, and how long
// they are, alone. So a state is how full the buckets were when the oldest held value
// came, and how many batches were given out since: given the input from there on, those
// batches, of which the first values are not known, are made again and left out.
type bucketing[T any] struct {
	length             func(T) int
	bounds             []int
	sizes              []int // of the batches of each bucket; nil: as many as tokens allow
	tokens             int
	dropLast, straddle bool

	buckets []bucket[T]
	came    uint64 // values so far
	given   uint64 // batches so far
	owed    uint64 // batches to be left out still
	ghosts  int    // buckets of which the first values are not known
	held    int    // values
	epoch   int64  // the ends of epochs before this one have been passed on

	restored *bucketState // until the oldest held value has come again, which is the next
}

// bucket is a batch being made.
type bucket[T any] struct {
	bucketFill
	batch []T
	first meta
	ghost bool // the first values are not known

	// When the first value came:
	from   place        // its place
	order  uint64       // values before it
	given  uint64       // batches before it
	beside []bucketFill // how full all buckets were
}

// bucketFill is how full a bucket is.
type bucketFill struct {
	Count   int `json:"count"`
	Longest int `json:"longest,omitempty"` // if batches are by tokens
}

// bucketState is what bucketing remembers. Where batches go over from one epoch to the
// next, the oldest held value may be in an epoch whose end has been passed on.
type bucketState struct {
	Epoch  int64        `json:"epoch"`
	Given  uint64       `json:"given,omitempty"`
	Beside []bucketFill `json:"beside,omitempty"` // if any were given
}

// restore goes back to a mark, which may be nil.
func (s *bucketing[T]) restore(from *mark) error {
	var state bucketState
	if err := from.restore(&state); err != nil {
		return err
	}
	s.epoch = state.Epoch
	if state.Given == 0 {
		return nil // what is held are all values that came since the oldest
	}
	if len(state.Beside) != len(s.buckets) {
		return fmt.Errorf("it has %d buckets, the pipeline has %d", len(state.Beside), len(s.buckets))
	}
	for i, f := range state.Beside {
		b := &s.buckets[i]
		switch {
		case f == bucketFill{}:
			continue
		case f.Count < 1, f.Longest < 0, s.sizes == nil && (f.Longest < 1 || f.Longest > s.tokens), s.full(i, f):
			return fmt.Errorf("bucket %d holds %d values, the longest of %d", i, f.Count, f.Longest)
		}
		b.bucketFill, b.ghost = f, true
		s.ghosts++
	}
	if uint64(s.ghosts) > state.Given {
		return errors.New("its counts contradict each other")
	}
	s.owed, s.restored = state.Given, &state
	return nil
}

// full reports whether no other value can come into bucket i.
func (s *bucketing[T]) full(i int, f bucketFill) bool {
	if s.sizes != nil {
		return f.Count >= s.sizes[i]
	}
	return f.Count >= s.tokens/f.Longest
}

func (s *bucketing[T]) push(v T, m meta, o *outlet[[]T]) error {
	n := s.length(v)
	switch {
	case n < 0:
		return fmt.Errorf("pipeline: the length %d is negative", n)
	case s.sizes == nil && n > s.tokens:
		return fmt.Errorf("%w: %d tokens, a batch has at most %d", ErrTooLong, n, s.tokens)
	}
	i := sort.Search(len(s.bounds), func(i int) bool { return n < s.bounds[i] })
	b := &s.buckets[i]
	longest := 0
	if s.sizes == nil {
		longest = max(b.Longest, n, 1)
		if b.Count >= s.tokens/longest {
			if err := s.give(b, o); err != nil {
				return err
			}
			longest = max(n, 1)
		}
	}
	if b.Count == 0 {
		s.open(i, n, m, o)
	} else if s.restored != nil {
		return s.mismatch(o)
	}
	s.restored, s.epoch = nil, max(s.epoch, o.epoch)
	s.came++
	b.Count++
	b.Longest = longest
	if !b.ghost {
		b.batch = append(b.batch, v)
		s.held++
	}
	if s.full(i, b.bucketFill) {
		return s.give(b, o)
	}
	return nil
}

// open begins a batch whose first value has length n.
func (s *bucketing[T]) open(i, n int, m meta, o *outlet[[]T]) {
	b := &s.buckets[i]
	b.first, b.from, b.order, b.given = m, o.here(), s.came, s.given
	for j := range s.buckets {
		b.beside[j] = s.buckets[j].bucketFill
	}
	var size int
	if s.sizes != nil {
		size = s.sizes[i]
	} else {
		size = s.tokens / max(n, 1)
	}
	b.batch = make([]T, 0, min(size, 1024))
}

// give gives a batch out, unless that was done before the state was taken.
func (s *bucketing[T]) give(b *bucket[T], o *outlet[[]T]) error {
	s.given++
	ghost := b.ghost
	if s.owed == 0 && !ghost {
		o.emit(b.batch, b.first)
	}
	s.empty(b)
	if s.owed > 0 {
		s.owed--
		if ghost {
			s.ghosts--
		}
		ghost = s.owed == 0 && s.ghosts > 0
	}
	if ghost { // it should have come among those that were owed
		return s.mismatch(o)
	}
	return nil
}

func (s *bucketing[T]) empty(b *bucket[T]) {
	s.held -= len(b.batch)
	b.bucketFill, b.ghost, b.batch = bucketFill{}, false, nil
}

func (s *bucketing[T]) mismatch(o *outlet[[]T]) error {
	return Fatal(fmt.Errorf("%w: the input of %s, or the lengths of its elements, are not those of when the state was taken", ErrStateMismatch, o.st.name))
}

func (s *bucketing[T]) finish(o *outlet[[]T], cut bool) error {
	if !cut {
		s.epoch = max(s.epoch, o.epoch+1)
	}
	switch {
	case !cut && s.straddle && !o.st.final(o.epoch):
		return nil
	case s.owed > 0 && cut:
		return nil // the batches that are to come next have not all come again
	case s.owed > 0:
		return s.mismatch(o)
	case s.dropLast && cut:
		return nil // the batches may become full when the stream is resumed
	}
	for i := range s.buckets {
		b := &s.buckets[i]
		if s.dropLast {
			s.empty(b)
		}
		if b.Count > 0 {
			if err := s.give(b, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *bucketing[T]) snapshot() (any, place, bool) {
	if s.restored != nil {
		return s.restored, place{}, false
	}
	oldest := s.oldest()
	if oldest == nil {
		return &bucketState{Epoch: s.epoch}, place{}, false
	}
	state := &bucketState{Epoch: s.epoch, Given: s.given - oldest.given + s.owed}
	if state.Given > 0 {
		state.Beside = slices.Clone(oldest.beside)
	}
	return state, oldest.from, true
}

// oldest is the bucket with the oldest held value, nil if none is held.
func (s *bucketing[T]) oldest() *bucket[T] {
	var oldest *bucket[T]
	for i := range s.buckets {
		if b := &s.buckets[i]; b.Count > 0 && !b.ghost && (oldest == nil || b.order < oldest.order) {
			oldest = b
		}
	}
	return oldest
}

// retraced implements [retracer].
func (s *bucketing[T]) retraced() uint64 {
	if oldest := s.oldest(); oldest != nil {
		return s.came - oldest.order
	}
	return 0
}

// holding implements [holder].
func (s *bucketing[T]) holding() int { return s.held }
