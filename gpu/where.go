package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/rosaline-go/rosaline/kernels"
)

// The predicates are those of stringtensor.Column, with the same answers. Their errors are
// [ErrOutOfMemory], [ErrDevice], [ErrReleased] and [ErrClosed].

// WherePrefix returns the rows that begin with prefix, compared as bytes; every string begins
// with "". Null rows never match. O(N), and the prefix's length more for each row that has its
// beginning. It is [stringtensor.Column.WherePrefix] on the device.
func (d *Column) WherePrefix(prefix string) (*Selection, error) {
	if prefix == "" {
		return d.WhereValid()
	}
	return d.match(wherePrefix, prefix, d.rows, kernels.Block)
}

// WhereSuffix returns the rows that end with suffix, compared as bytes; every string ends with
// "". Null rows never match. O(N), and the suffix's length more for each row whose end has its
// beginning. It is [stringtensor.Column.WhereSuffix] on the device.
func (d *Column) WhereSuffix(suffix string) (*Selection, error) {
	if suffix == "" {
		return d.WhereValid()
	}
	return d.match(whereSuffix, suffix, d.rows, kernels.Block)
}

// WhereEqual returns the rows that are s. Null rows never match, not even "". O(N), and the
// length of s more for each row of that length. It is [stringtensor.Column.WhereEqual] on the
// device.
func (d *Column) WhereEqual(s string) (*Selection, error) {
	if s == "" {
		return d.WhereLength(0, 0)
	}
	return d.match(whereEqual, s, d.rows, kernels.Block)
}

// WhereContains returns the rows that contain sub, compared as bytes; every string contains "".
// Null rows never match. The payload is searched as one text, so long rows among short ones
// cost no more; it takes the length of the payload, times that of sub where its beginning comes
// again and again. It is [stringtensor.Column.WhereContains] on the device.
func (d *Column) WhereContains(sub string) (*Selection, error) {
	if sub == "" {
		return d.WhereValid()
	}
	places := d.size - int64(len(sub)) + 1
	return d.match(whereContains, sub, int(max(places, 0)), kernels.ContainsChunk)
}

// WhereValid returns the rows that are not null. O(N). It is [stringtensor.Column.WhereValid]
// on the device.
func (d *Column) WhereValid() (*Selection, error) { return d.length(0, math.MaxUint32) }

// WhereLength returns the rows of shortest to longest bytes, both included. A shortest below 0
// counts as 0, and a longest below 0, such as [stringtensor.NoBound], means that there is none.
// Null rows never match. O(N). It is [stringtensor.Column.WhereLength] on the device.
func (d *Column) WhereLength(shortest, longest int) (*Selection, error) {
	if longest < 0 {
		return d.length(uint64(max(shortest, 0)), math.MaxUint32)
	}
	return d.length(uint64(max(shortest, 0)), uint64(longest))
}

func (d *Column) length(shortest, longest uint64) (*Selection, error) {
	if d.rows == 0 || shortest > longest {
		return d.none()
	}
	return d.selected(func(s *scratch, mask address) error {
		return d.engine.driver.launch(whereLength, blocksOf(d.rows, kernels.Block), uint64(d.offsets), uint64(d.rows), shortest, longest, uint64(d.valid), uint64(mask))
	})
}

// match runs a kernel of a pattern that is not empty, over units of work of which a block has
// so many.
func (d *Column) match(k kernel, pattern string, units, each int) (*Selection, error) {
	if int64(len(pattern)) > d.size {
		return d.none()
	}
	return d.selected(func(s *scratch, mask address) error {
		at, err := s.upload(pattern)
		if err != nil {
			return err
		}
		if k == whereContains { // it only sets bits
			if err := d.engine.driver.clear(mask, maskWords(d.rows)); err != nil {
				return err
			}
		}
		return d.engine.driver.launch(k, blocksOf(units, each), uint64(d.offsets), uint64(d.payload), uint64(d.rows), uint64(at), uint64(len(pattern)), uint64(mask))
	})
}

func blocksOf(units, each int) int { return (units + each - 1) / each }

// selected returns the selection of the mask that launch has written. It waits for that, since
// the scratch memory is needed until then.
func (d *Column) selected(launch func(s *scratch, mask address) error) (*Selection, error) {
	end, err := d.engine.use()
	if err != nil {
		return nil, err
	}
	defer end()
	sel := &Selection{engine: d.engine, rows: d.rows}
	err = d.engine.do(func() error {
		if d.released {
			return fmt.Errorf("%w: a column", ErrReleased)
		}
		s := scratch{engine: d.engine}
		var err error
		sel.mask, err = s.alloc(4 * int64(maskWords(d.rows)))
		if err == nil {
			err = launch(&s, sel.mask)
		}
		if err == nil {
			err = d.engine.synchronize()
		}
		if err == nil {
			s.keep(sel.mask)
		}
		return errors.Join(err, s.end())
	})
	if err != nil {
		return nil, err
	}
	return sel, nil
}

// none returns the selection of no row, if the column can be used.
func (d *Column) none() (*Selection, error) {
	end, err := d.engine.use()
	if err != nil {
		return nil, err
	}
	defer end()
	err = d.engine.do(func() error {
		if d.released {
			return fmt.Errorf("%w: a column", ErrReleased)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Selection{engine: d.engine, rows: d.rows}, nil
}
