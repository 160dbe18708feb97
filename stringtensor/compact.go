package stringtensor

import (
	"cmp"
	"math/bits"
	"slices"
)

// Compact returns the same rows over memory of their own: views, validity and
// only those bytes of payload that some row uses, each once, so that rows which
// share or overlap still do. The old buffers can then be freed. With
// [WithUseBelow] it copies only when it pays and else returns a column that
// shares all with c; either way the result is released on its own.
//
// It takes O(N + payload) time, and O(N log N) when the rows are not in the order
// of their payload, as after a sorting [Column.Take].
func (c *Column) Compact(opts ...CompactOption) *Column {
	cfg := newCompactConfig(opts)
	plan := c.planCompact(cfg.limit)
	if cfg.below >= 0 && float64(plan.used) >= cfg.below*float64(c.bufferBytes()) {
		return c.derive(c.views, c.valid, c.nulls)
	}
	views := unzeroed[StringView16](len(c.views))
	copy(views, c.views)
	for _, s := range plan.spans {
		views[s.row].hi = s.place
	}
	buffers := make([]*Buffer, len(plan.sizes))
	for i, n := range plan.sizes {
		buffers[i] = NewBuffer(unzeroed[byte](n + Slack)[:0], nil)
	}
	for _, r := range plan.runs {
		to := buffers[r.to]
		to.data = append(to.data, c.data[r.buffer][r.start:r.end]...)
	}
	var valid bitmap
	if c.nulls > 0 {
		valid = newBitmap(len(c.views))
		valid.put(0, c.valid, len(c.views))
	}
	return newColumn(views, buffers, valid, c.nulls)
}

// span is the payload of one row.
type span struct {
	key   uint64 // buffer, and offset in the low half: payload order
	place uint64 // the hi word of its new view
	row   int
	n     uint32
}

// run is a piece of an old buffer that is copied as a whole to the end of a new
// one.
type run struct {
	buffer, start, end int
	to                 int
}

type compactPlan struct {
	spans []span
	runs  []run
	sizes []int // of the new buffers
	used  int64 // sum of the sizes
}

// planCompact says which bytes go where: rows in payload order, those that touch
// or overlap in one run, runs end to end in buffers of at most limit bytes.
func (c *Column) planCompact(limit int) compactPlan {
	var p compactPlan
	sorted, last, long := true, uint64(0), 0
	for i := range c.views {
		v := &c.views[i]
		if v.IsInline() {
			continue
		}
		key := bits.RotateLeft64(v.hi, 32)
		sorted = sorted && last <= key
		last = key
		long = max(long, v.Len())
		p.spans = append(p.spans, span{key: key, row: i, n: uint32(v.lo)})
	}
	if !sorted {
		slices.SortFunc(p.spans, func(a, b span) int { return cmp.Compare(a.key, b.key) })
	}
	limit = max(limit, long) // c has longer rows only if it was made with a higher limit
	base := 0                // where the open run begins in its new buffer
	for i := range p.spans {
		s := &p.spans[i]
		buffer, start := int(s.key>>32), int(uint32(s.key))
		end := start + int(s.n)
		k := len(p.runs) - 1
		if k >= 0 && p.runs[k].buffer == buffer && start <= p.runs[k].end && base+end-p.runs[k].start <= limit {
			p.runs[k].end = max(p.runs[k].end, end)
		} else {
			if k >= 0 {
				base += p.runs[k].end - p.runs[k].start
			}
			if k < 0 || base+end-start > limit {
				p.sizes = append(p.sizes, 0)
				base = 0
			}
			p.runs = append(p.runs, run{buffer: buffer, start: start, end: end, to: len(p.sizes) - 1})
			k = len(p.runs) - 1
		}
		r := p.runs[k]
		p.sizes[r.to] = base + r.end - r.start
		s.place = uint64(uint32(r.to)) | uint64(uint32(base+start-r.start))<<32
	}
	for _, n := range p.sizes {
		p.used += int64(n)
	}
	return p
}
