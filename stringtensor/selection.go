package stringtensor

import (
	"fmt"
	"slices"

	"github.com/rosaline-go/rosaline/cpu"
)

// Selection is a set of rows of a column: their numbers, ascending and unique.
// The Where methods of [Column] make them, And, Or, AndNot and Not combine them,
// [Column.Filter] gives the rows. The nil selection selects nothing.
//
// Methods that end in Into write to the memory of dst, whatever it holds and up to its
// capacity, and allocate only when it is too small; so a loop that keeps its selections
// allocates nothing once they have grown. Unless a method says otherwise, dst
// must not overlap the operands.
//
// Row numbers are uint32. No function of this package makes a column of more rows
// than that from parts, but a caller's [Builder] or Arrow array may (its views
// alone take 64 GiB); methods that select from such a column panic: slice it
// first.
type Selection []uint32

// numberable panics when row numbers do not fit uint32.
func (c *Column) numberable() {
	if uint64(len(c.views)) > maxRows {
		panic(fmt.Sprintf("stringtensor: a selection from a column of %d rows, more than 2³²−1; slice it first", len(c.views)))
	}
}

// SelectMask returns the rows i for which keep[i] is true.
func SelectMask(keep []bool) Selection {
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	s := make(Selection, 0, n)
	for i, k := range keep {
		if k {
			s = append(s, uint32(i))
		}
	}
	return s
}

// SelectBits returns the rows i below n for which bit i of keep is set, least
// significant bit first. It panics when keep has fewer than n bits.
func SelectBits(keep []byte, n int) Selection {
	m := bitmap{bits: keep}
	if n > 0 && !m.holds(n) {
		panic(fmt.Sprintf("stringtensor: %d bytes of selection for %d rows", len(keep), n))
	}
	return m.appendOnes(make(Selection, 0, m.ones(n)), n)
}

// blockRows is how many rows a filter marks before it appends their numbers: enough
// that calls are cheap, few enough that the marks stay in the nearest cache.
const blockRows = 4096

// rowMarks holds a bit for each row of a block: bit i%64 of word i/64 is row i.
type rowMarks [blockRows / 64]uint64

// appendOnes appends the numbers of the rows that are marked, of which the first
// possible one is base.
func (s Selection) appendOnes(marks []uint64, base int) Selection {
	n := cpu.CountOnes(marks)
	if n == 0 {
		return s
	}
	s = slices.Grow(s, n)
	k := len(s)
	cpu.SelectOnes(s[k:cap(s)], marks, uint32(base))
	return s[:k+n]
}

// appendOnes appends the numbers of those of the first n bits that are set.
func (m bitmap) appendOnes(s Selection, n int) Selection {
	var marks rowMarks
	for i := 0; i < n; i += blockRows {
		s = s.appendOnes(m.load(&marks, i, min(n-i, blockRows)), i)
	}
	return s
}

// appendZeros appends the numbers of those of the first n bits that are not set.
func (m bitmap) appendZeros(s Selection, n int) Selection {
	var marks rowMarks
	for i := 0; i < n; i += blockRows {
		k := min(n-i, blockRows)
		words := m.load(&marks, i, k)
		for j := range words {
			words[j] = ^words[j]
		}
		if k%64 != 0 {
			words[k/64] &= 1<<(k%64) - 1
		}
		s = s.appendOnes(words, i)
	}
	return s
}

// Validate checks that s is a selection of a column of n rows. The errors are
// [ErrInvalid] when it is not ascending, and [ErrOutOfRange].
func (s Selection) Validate(n int) error {
	for k := 1; k < len(s); k++ {
		if s[k] <= s[k-1] {
			return fmt.Errorf("%w: entry %d of the selection is %d, after %d", ErrInvalid, k, s[k], s[k-1])
		}
	}
	if k := len(s) - 1; k >= 0 && int64(s[k]) >= int64(n) {
		return fmt.Errorf("%w: entry %d of the selection is %d, the column has %d", ErrOutOfRange, k, s[k], n)
	}
	return nil
}

// Contains reports whether row i is selected, in O(log len(s)) time.
func (s Selection) Contains(i uint32) bool {
	_, ok := slices.BinarySearch(s, i)
	return ok
}

// And returns the rows in both s and t. O(len(s) + len(t)).
func (s Selection) And(t Selection) Selection { return s.AndInto(nil, t) }

// AndInto is [Selection.And] into the memory of dst, which may be that of s or t.
func (s Selection) AndInto(dst, t Selection) Selection {
	dst = dst[:0]
	for i, j := 0, 0; i < len(s) && j < len(t); {
		a, b := s[i], t[j]
		if a <= b {
			i++
		}
		if b <= a {
			j++
		}
		if a == b {
			dst = append(dst, a)
		}
	}
	return dst
}

// AndNot returns the rows in s that are not in t. O(len(s) + len(t)).
func (s Selection) AndNot(t Selection) Selection { return s.AndNotInto(nil, t) }

// AndNotInto is [Selection.AndNot] into the memory of dst, which may be that of
// s.
func (s Selection) AndNotInto(dst, t Selection) Selection {
	dst = dst[:0]
	j := 0
	for _, a := range s {
		for j < len(t) && t[j] < a {
			j++
		}
		if j == len(t) || t[j] != a {
			dst = append(dst, a)
		}
	}
	return dst
}

// Or returns the rows in s or t. O(len(s) + len(t)).
func (s Selection) Or(t Selection) Selection { return s.OrInto(nil, t) }

// OrInto is [Selection.Or] into the memory of dst.
func (s Selection) OrInto(dst, t Selection) Selection {
	dst = slices.Grow(dst[:0], max(len(s), len(t)))
	i, j := 0, 0
	for i < len(s) && j < len(t) {
		a, b := s[i], t[j]
		if a <= b {
			i++
		}
		if b <= a {
			j++
		}
		dst = append(dst, min(a, b))
	}
	dst = append(dst, s[i:]...)
	return append(dst, t[j:]...)
}

// Not returns the rows below n that are not in s, none when n is below 1. Null rows are rows: to leave
// them out, And the result with [Column.WhereValid]. O(n + len(s)).
func (s Selection) Not(n int) Selection { return s.NotInto(nil, n) }

// NotInto is [Selection.Not] into the memory of dst.
func (s Selection) NotInto(dst Selection, n int) Selection {
	dst = dst[:0]
	next := 0 // the first row not decided yet
	for _, r := range s {
		if int64(r) >= int64(n) {
			break
		}
		dst = dst.appendRange(next, int(r))
		next = int(r) + 1
	}
	return dst.appendRange(next, n)
}

// appendRange appends the numbers from lo to hi, hi not included.
func (s Selection) appendRange(lo, hi int) Selection {
	if hi <= lo {
		return s
	}
	k := len(s)
	s = slices.Grow(s, hi-lo)[:k+hi-lo]
	for i := range s[k:] {
		s[k+i] = uint32(lo + i)
	}
	return s
}
