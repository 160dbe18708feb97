package stringtensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Validate checks the layout of every row in O(N) time, reading at most four
// bytes of payload a row: the padding of inline views is zero; long ones name a
// buffer that there is, lie within it, and have its first four bytes as prefix;
// null rows are zero; the validity covers the rows. After it no access to a row
// within range can fail. The error is [ErrInvalid] and names the first bad row.
//
// Columns made by this package are valid; Validate is for memory that others may
// have written to.
func (c *Column) Validate() error { return c.validate(MaxStringLen, false) }

// ValidateUTF8 is [Column.Validate] and checks that every row is UTF-8, in
// time linear in the memory, also where rows share bytes. The error is
// [ErrInvalid] or [ErrInvalidUTF8] and names the first bad row.
func (c *Column) ValidateUTF8() error { return c.validate(MaxStringLen, true) }

// validate checks the layout of buffers of at most limit bytes and of the rows, and
// whether these are text if they are to be.
func (c *Column) validate(limit int, isText bool) error {
	for i, b := range c.buffers {
		switch {
		case b == nil:
			return fmt.Errorf("%w: buffer %d is nil", ErrInvalid, i)
		case b.Len() > limit:
			return fmt.Errorf("%w: buffer %d has %d bytes, the limit is %d", ErrInvalid, i, b.Len(), limit)
		}
	}
	if c.nulls != 0 {
		if !c.valid.present() || !c.valid.holds(len(c.views)) {
			return fmt.Errorf("%w: %d rows are null but the validity does not cover %d rows", ErrInvalid, c.nulls, len(c.views))
		}
		if n := len(c.views) - c.valid.ones(len(c.views)); n != c.nulls {
			return fmt.Errorf("%w: %d rows are null, not %d", ErrInvalid, n, c.nulls)
		}
	}
	var text viewText
	if isText {
		text = newViewText(c.views, dataOf(c.buffers))
	}
	for i := range c.views {
		v := &c.views[i]
		if c.nulls > 0 && !c.valid.get(i) {
			if *v != (StringView16{}) {
				return fmt.Errorf("%w: row %d is null but its view is not zero", ErrInvalid, i)
			}
			continue
		}
		if isText {
			text.read(v) // in order, before the row is looked up anywhere in it
		}
		if err := v.check(c.buffers); err != nil {
			return fmt.Errorf("%w: row %d: %w", ErrInvalid, i, err)
		}
		if isText && !text.valid(v) {
			return rowUTF8(i, text.row(v))
		}
	}
	return nil
}

// check says what is wrong with a view into buffers.
func (v StringView16) check(buffers []*Buffer) error {
	// Unsigned: a length of 2³¹ and more is negative where int has 32 bits.
	n := uint32(v.lo)
	if n <= MaxInline {
		if padded := v.pad(); v != padded {
			return fmt.Errorf("padding after %d bytes is not zero", n)
		}
		return nil
	}
	buffer, offset := uint32(v.hi), uint32(v.hi>>32)
	switch {
	case n > math.MaxInt32:
		return fmt.Errorf("length %d is more than a string may have", n)
	case uint64(buffer) >= uint64(len(buffers)):
		return fmt.Errorf("buffer %d of %d", int32(buffer), len(buffers))
	case uint64(offset)+uint64(n) > uint64(buffers[buffer].Len()):
		return fmt.Errorf("%d bytes at %d are not in buffer %d of %d bytes", n, int32(offset), buffer, buffers[buffer].Len())
	case binary.LittleEndian.Uint32(buffers[buffer].data[offset:]) != v.Prefix():
		return fmt.Errorf("prefix %#08x differs from the payload's %#08x", v.Prefix(), binary.LittleEndian.Uint32(buffers[buffer].data[offset:]))
	}
	return nil
}

// pad returns an inline view with its padding zeroed.
func (v StringView16) pad() StringView16 {
	n := uint(uint32(v.lo))
	// Of the bytes 0…3 in lo and 4…11 in hi, keep the first n.
	v.lo &= 1<<(32+8*min(n, 4)) - 1
	v.hi &= 1<<(8*(max(n, 4)-4)) - 1
	return v
}
