package pipeline

import "sync"

// meta goes with a value of a chunk.
type meta struct {
	// origin is the position in the epoch of the element of the source that the
	// value came from, the first one where it came from several.
	origin uint64
	// from is the number of the input that the value came from, counted from where
	// the chunk's mark stands.
	from uint32
	// sub tells siblings apart where a value became many; the lowest bit says that the
	// value is padding.
	sub uint32
}

const padding = 1

// child is the meta of the nth value made of one.
func (m meta) child(n int) meta {
	m.sub = uint32(mix(uint64(m.sub), uint64(n)+1))&^padding | m.sub&padding
	return m
}

// key is what random choices about the value derive from.
func (m meta) key() uint64 { return mix(m.origin, uint64(m.sub&^padding)) }

// head is what is known of a chunk whatever its values are.
type head struct {
	epoch  int64
	at     *mark  // where the stage that made the chunk stood before it
	inputs uint32 // first number that is not an input of this chunk, as meta.from
	end    *place // behind the values, where that is not what inputs says
	begin  int    // values before this one were delivered before the stream was resumed
	meta   []meta // of each value
	last   bool   // the epoch ends behind the values
	eof    bool   // the stream ends behind the values
	err    error  // the stream fails behind the values
	cutOff bool   // because of an error stages gave out what they held; see [mark.recut]

	elements int   // of the budget
	bytes    int64 // likewise
}

func (h *head) header() *head { return h }

// control reports whether the chunk matters even without values.
func (h *head) control() bool { return h.last || h.eof || h.err != nil }

// place is where value i comes from; i may be the number of values.
func (h *head) place(i int) place {
	if i >= len(h.meta) {
		if h.end != nil {
			return *h.end
		}
		return place{h.at, h.inputs, 0}
	}
	return h.behind(h.meta[i].from, h.meta[:i])
}

// behind is the place of input from, of which the last of the values with these metas may
// have come.
func (h *head) behind(from uint32, made []meta) place {
	p := place{at: h.at, skip: from}
	for j := len(made) - 1; j >= 0 && made[j].from == from; j-- {
		p.drop++
	}
	return p
}

// fail ends the stream behind the values; what failed came from end.
func (h *head) fail(err error, end place) {
	if r, ok := err.(reported); ok {
		err = r.err
	}
	h.last, h.eof, h.err, h.end = false, false, err, &end
}

// move takes over everything but the values and their metas.
func (h *head) move(from *head) {
	own := h.meta
	*h = *from
	h.meta = own
	from.elements, from.bytes = 0, 0
}

// chunk is a run of values of one epoch. It belongs to one goroutine at a time.
type chunk[T any] struct {
	head
	vals []T
	pool *sync.Pool
}

// carrier is a chunk of whatever values.
type carrier interface {
	header() *head
	recycle()
	// front takes the first n values off as a chunk of their own, which comes before
	// this one; it costs n steps.
	front(n int) carrier
}

func (c *chunk[T]) append(v T, m meta) {
	c.vals = append(c.vals, v)
	c.meta = append(c.meta, m)
}

// keep shortens the chunk to n values.
func (c *chunk[T]) keep(n int) {
	clear(c.vals[n:])
	c.vals, c.meta = c.vals[:n], c.meta[:n]
}

// size is that of the values, by the function that says it of one; 0 without it. If that
// panics, at is the value.
func (c *chunk[T]) size(of func(*T) int64) (n int64, at int, err error) {
	if of == nil {
		return 0, 0, nil
	}
	defer caught(&err)
	for at = range c.vals {
		n += max(of(&c.vals[at]), 0)
	}
	return n, at, nil
}

// sizeOrZero is size where it is for statistics alone.
func (c *chunk[T]) sizeOrZero(of func(*T) int64) int64 {
	n, _, _ := c.size(of)
	return n
}

// recycle gives the chunk back to its pool.
func (c *chunk[T]) recycle() {
	clear(c.vals)
	c.vals = c.vals[:0]
	c.head = head{meta: c.meta[:0]}
	c.pool.Put(c)
}

func (c *chunk[T]) front(n int) carrier {
	first := newChunk[T](c.pool)
	own := append(first.meta, c.meta[:n]...)
	first.vals = append(first.vals, c.vals[:n]...)
	first.head = c.head
	first.meta = own
	first.last, first.eof, first.err, first.end = false, false, nil, nil
	first.begin = min(c.begin, n)
	if n < len(c.meta) {
		first.inputs = c.meta[n].from
	}
	first.elements, first.bytes = 0, 0 // stay with the last part
	c.begin = max(c.begin-n, 0)
	clear(c.vals[:n])
	c.vals, c.meta = c.vals[n:], c.meta[n:]
	return first
}

// newChunk takes an empty chunk from a pool of chunks of its type.
func newChunk[T any](pool *sync.Pool) *chunk[T] {
	if c, ok := pool.Get().(*chunk[T]); ok {
		return c
	}
	return &chunk[T]{pool: pool}
}
