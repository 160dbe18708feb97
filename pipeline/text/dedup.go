package text

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// ErrPosition is returned when a position does not name staged entries of a
// deduplicator.
var ErrPosition = errors.New("text: position out of range")

// NullPolicy says what deduplication makes of null. No policy takes null for the
// empty text.
type NullPolicy uint8

const (
	NullsDistinct NullPolicy = iota // no null is a duplicate, and none is remembered
	NullsEqual                      // every null after the first is a duplicate
)

// StreamDeduplicator tells first occurrences from exact duplicates, over a
// stream of any length. It is safe for concurrent use; who comes first among
// concurrent calls is then open.
//
// Texts are known by their 128-bit XXH3, so two different texts are taken for
// equal with a probability of 2⁻¹²⁸ a pair. XXH3 is no cryptographic hash: where
// texts come from somebody who gains by a collision, use [WithByteCheck].
//
// A first occurrence is staged. [StreamDeduplicator.Commit] makes what is staged
// permanent, [StreamDeduplicator.Rollback] forgets it:
//
//	position  0 ······ committed ······▸ Count ······ staged ······▸ Position
//
// Entries keep the order they came in, by which a log can store them: see
// [StreamDeduplicator.AppendHashes] and [StreamDeduplicator.CommitTo].
//
// Memory is at most about 36 bytes an entry, and 46 for the moment in which the
// table doubles. All calls on one text take constant expected time beside
// the hash, the growth of the table spread over the entries.
type StreamDeduplicator struct {
	hash  func([]byte) Hash128
	nulls NullPolicy
	known hashes64 // of another program

	mu        sync.Mutex
	set       hashSet
	committed int
}

type dedupConfig struct {
	capacity  int
	byteCheck bool
	nulls     NullPolicy
	hashes    iter.Seq[[]Hash128]
	known     []uint64
	hash      func([]byte) Hash128
}

// DedupOption changes how a [StreamDeduplicator] works.
type DedupOption func(*dedupConfig)

// maxEntries is how many entries a position can number, and no more than the
// address space of the machine has room for.
const maxEntries = min(positionMask, math.MaxInt/64)

// WithCapacity makes room for n entries from the start. Default 0; range from 0
// to 2⁴⁰−1, or to 2²⁵−1 where int has 32 bits.
func WithCapacity(n int) DedupOption { return func(c *dedupConfig) { c.capacity = n } }

// WithByteCheck sets whether a text whose hash is known is also compared byte by
// byte, for which every text is kept in memory, 32 bytes and its length each.
// Texts of hashes from [WithHashes] are not known, so there the hash decides.
// Default false.
func WithByteCheck(on bool) DedupOption { return func(c *dedupConfig) { c.byteCheck = on } }

// WithNulls sets what becomes of null. Default [NullsDistinct].
func WithNulls(p NullPolicy) DedupOption { return func(c *dedupConfig) { c.nulls = p } }

// WithHashes starts with committed entries, those of an earlier run. One that
// comes twice counts once. Default none.
func WithHashes(hashes iter.Seq[Hash128]) DedupOption {
	if hashes == nil {
		return WithHashBlocks(nil)
	}
	return WithHashBlocks(func(yield func([]Hash128) bool) {
		block := make([]Hash128, 0, lookAhead)
		for h := range hashes {
			if block = append(block, h); len(block) == lookAhead {
				if !yield(block) {
					return
				}
				block = block[:0]
			}
		}
		if len(block) > 0 {
			yield(block)
		}
	})
}

// WithHashBlocks is [WithHashes] of hashes that come in pieces, and takes its place.
// A piece is not kept and may be used again for the next. Memory is asked for ahead
// within a piece, so pieces of 32 hashes and more are fastest.
func WithHashBlocks(blocks iter.Seq[[]Hash128]) DedupOption {
	return func(c *dedupConfig) { c.hashes = blocks }
}

// WithKnown64 counts texts as having come before whose XXH3-64, seed 0, is in a
// list: one that another program kept, which cannot be told from 128 bits. Such a
// text is not staged and has no position, and with [WithByteCheck] the hash decides.
// Null is none of them.
//
// The list must be in ascending order, is kept, and must not be changed; several
// deduplicators may share it. An index takes half a byte a hash at most, which
// [StreamDeduplicator.Bytes] does not count. A look-up takes constant expected time
// beside that of the hash, which only a text of 240 bytes or less needs, and
// logarithmic time whatever the list is. Default none.
func WithKnown64(known []uint64) DedupOption { return func(c *dedupConfig) { c.known = known } }

// withHash lets tests make texts collide. Deduplicators that resolve batches of one
// pipeline must have the same, and those with known texts none.
func withHash(f func([]byte) Hash128) DedupOption { return func(c *dedupConfig) { c.hash = f } }

// NewStreamDeduplicator returns a deduplicator. The error is [ErrOption].
func NewStreamDeduplicator(opts ...DedupOption) (*StreamDeduplicator, error) {
	c := dedupConfig{hash: HashOf}
	for _, o := range opts {
		o(&c)
	}
	switch {
	case c.capacity < 0 || c.capacity > maxEntries:
		return nil, fmt.Errorf("%w: room for %d entries, want from 0 to %d", ErrOption, c.capacity, int64(maxEntries))
	case c.nulls > NullsEqual:
		return nil, fmt.Errorf("%w: unknown null policy %d", ErrOption, c.nulls)
	}
	known, err := newHashes64(c.known)
	if err != nil {
		return nil, err
	}
	d := &StreamDeduplicator{hash: c.hash, nulls: c.nulls, known: known, set: newHashSet(c.capacity, c.byteCheck)}
	if c.hashes != nil {
		for block := range c.hashes {
			d.set.addAll(block)
		}
		d.committed = d.set.n
	}
	return d, nil
}

// knows reports whether a text, of which h is the hash, is known to another program.
func (d *StreamDeduplicator) knows(h Hash128, s []byte) bool {
	return len(d.known.sorted) > 0 && d.known.has(sum64(h, s))
}

// stage adds an entry unless it is there, and reports whether it did. The text
// may be nil if the set keeps none. The lock must be held.
func (d *StreamDeduplicator) stage(h Hash128, s []byte) bool {
	slot, found := d.set.find(h, s)
	if !found {
		d.set.add(slot, h, s)
	}
	return !found
}

// stageNull is stage of null.
func (d *StreamDeduplicator) stageNull() bool {
	if d.set.null != 0 {
		return false
	}
	d.set.addNull()
	return true
}

// uniqueNull applies the policy to a null. The lock must be held.
func (d *StreamDeduplicator) uniqueNull() bool {
	return d.nulls == NullsDistinct || d.stageNull()
}

// present makes an empty text that may be nil one that is not.
func present(s []byte) []byte {
	if s == nil {
		return []byte{}
	}
	return s
}

// IsUnique reports whether s has not come before, and stages it then. A nil
// slice is the empty text.
func (d *StreamDeduplicator) IsUnique(s []byte) bool {
	h := d.hash(s)
	if d.knows(h, s) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stage(h, present(s))
}

// IsUniqueNull is [StreamDeduplicator.IsUnique] of null, by the policy.
func (d *StreamDeduplicator) IsUniqueNull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.uniqueNull()
}

// IsSeen reports whether s is committed, staged, or of [WithKnown64]. It stages
// nothing.
func (d *StreamDeduplicator) IsSeen(s []byte) bool {
	h := d.hash(s)
	if d.knows(h, s) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.set.find(h, present(s))
	return found
}

// Filter returns the rows of col that are first occurrences, and stages them.
// The column as a whole is one step to other goroutines.
func (d *StreamDeduplicator) Filter(col *stringtensor.Column) stringtensor.Selection {
	return d.FilterInto(make(stringtensor.Selection, 0, col.Len()), col)
}

// FilterInto is [StreamDeduplicator.Filter] that appends to keep.
func (d *StreamDeduplicator) FilterInto(keep stringtensor.Selection, col *stringtensor.Column) stringtensor.Selection {
	var (
		hashes [lookAhead]Hash128
		near   nearby
	)
	d.mu.Lock()
	defer d.mu.Unlock()
	for lo := 0; lo < col.Len(); lo += lookAhead {
		n := min(lookAhead, col.Len()-lo)
		for i := range n {
			hashes[i] = d.hash(col.Bytes(lo + i))
			d.set.expect(&near, hashes[i])
		}
		near.fetch()
		for i := range n {
			row := lo + i
			unique := false
			switch {
			case col.IsNull(row):
				unique = d.uniqueNull()
			case d.knows(hashes[i], col.Bytes(row)):
			case d.set.texts == nil:
				unique = d.stage(hashes[i], nil)
			default:
				unique = d.stage(hashes[i], present(col.Bytes(row)))
			}
			if unique {
				keep = append(keep, uint32(row))
			}
		}
	}
	return keep
}

// Commit makes all staged entries permanent and returns how many there were.
func (d *StreamDeduplicator) Commit() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.set.n - d.committed
	d.committed = d.set.n
	return n
}

// CommitTo makes the staged entries before a position permanent, which is what
// [StreamDeduplicator.Position] was after some batch, and returns how many they
// were. Batches that were read ahead stay staged. The error is [ErrPosition].
func (d *StreamDeduplicator) CommitTo(position int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if position < d.committed || position > d.set.n {
		return 0, fmt.Errorf("%w: cannot commit to %d, %d to %d are staged", ErrPosition, position, d.committed, d.set.n)
	}
	n := position - d.committed
	d.committed = position
	return n, nil
}

// Rollback forgets all staged entries and returns how many there were.
func (d *StreamDeduplicator) Rollback() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.set.n - d.committed
	for d.set.n > d.committed {
		d.set.pop()
	}
	return n
}

// Count returns the number of committed entries.
func (d *StreamDeduplicator) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.committed
}

// Position returns the number of entries, committed and staged.
func (d *StreamDeduplicator) Position() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set.n
}

// AppendHashes appends the hashes of the entries from one position up to
// another to dst, in the order they came in. What is staged lies from Count to
// Position. Null has the hash of a null row, [stringtensor.NullHash] twice. The
// error is [ErrPosition].
func (d *StreamDeduplicator) AppendHashes(dst []Hash128, from, to int) ([]Hash128, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if from < 0 || to < from || to > d.set.n {
		return dst, fmt.Errorf("%w: [%d:%d] of %d entries", ErrPosition, from, to, d.set.n)
	}
	for p := from; p < to; p++ {
		dst = append(dst, *d.set.at(p))
	}
	return dst, nil
}

// Bytes returns the memory that the entries take, in bytes.
func (d *StreamDeduplicator) Bytes() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set.bytes()
}
