package stringtensor

import "fmt"

// Take returns the rows with the given numbers, in that order; a number may
// repeat, and a [Selection] is such a list. Buffers are shared, no payload is
// copied. O(len(rows)). The errors are [ErrOutOfRange], which names the place in
// rows, and [ErrTooManyRows].
func (c *Column) Take(rows []uint32) (*Column, error) {
	if uint64(len(rows)) > maxRows {
		return nil, fmt.Errorf("%w: %d", ErrTooManyRows, len(rows))
	}
	n := uint64(len(c.views))
	for k, r := range rows {
		if uint64(r) >= n {
			return nil, fmt.Errorf("%w: entry %d of the rows to take is %d, the column has %d", ErrOutOfRange, k, r, n)
		}
	}
	return c.gather(rows), nil
}

// gather is Take of rows that are in range.
func (c *Column) gather(rows []uint32) *Column {
	views := unzeroed[StringView16](len(rows))
	var long uint64
	for k, r := range rows {
		v := c.views[r]
		views[k] = v
		long |= MaxInline - uint64(uint32(v.lo)) // negative for a long string
	}
	valid, nulls := bitmap{}, 0
	if c.nulls > 0 {
		valid, nulls = newBitmap(len(rows)), len(rows)
		for k, r := range rows {
			if c.valid.get(int(r)) {
				valid.set(k)
				nulls--
			}
		}
	}
	if long>>63 == 0 {
		// No row needs a buffer, so nothing of c stays in use.
		return newColumn(views, nil, valid, nulls)
	}
	return c.deriveFresh(views, valid, nulls)
}

// Filter returns the selected rows in their order. Buffers are shared, no payload
// is copied, so a small result may keep large buffers alive: see
// [Column.RetainedBytes] and [Column.Compact]. O(len(s)). The errors are
// [ErrOutOfRange], and [ErrInvalid] when s is not ascending.
func (c *Column) Filter(s Selection) (*Column, error) {
	if err := s.Validate(len(c.views)); err != nil {
		return nil, err
	}
	return c.gather(s), nil
}

// FilterMask returns the rows i for which keep[i] is true, as [Column.Filter]
// does. The error is [ErrLengthMismatch].
func (c *Column) FilterMask(keep []bool) (*Column, error) {
	if len(keep) != len(c.views) {
		return nil, fmt.Errorf("%w: a mask of %d rows for a column of %d", ErrLengthMismatch, len(keep), len(c.views))
	}
	c.numberable()
	return c.gather(SelectMask(keep)), nil
}

// FilterBits is [Column.FilterMask] with one bit per row, least significant bit
// first; bits after the last row are ignored. The error is [ErrLengthMismatch].
func (c *Column) FilterBits(keep []byte) (*Column, error) {
	if m := (bitmap{bits: keep}); !m.holds(len(c.views)) {
		return nil, fmt.Errorf("%w: a mask of %d bytes for a column of %d rows", ErrLengthMismatch, len(keep), len(c.views))
	}
	c.numberable()
	return c.gather(SelectBits(keep, len(c.views))), nil
}

// FilterByPrefix returns the rows that begin with prefix; see
// [Column.WherePrefix].
func (c *Column) FilterByPrefix(prefix string) *Column {
	return c.gather(c.WherePrefix(prefix))
}

// FilterByLength returns the rows of shortest to longest bytes; see
// [Column.WhereLength].
func (c *Column) FilterByLength(shortest, longest int) *Column {
	return c.gather(c.WhereLength(shortest, longest))
}
