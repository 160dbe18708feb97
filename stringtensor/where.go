package stringtensor

import (
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/rosaline-go/rosaline/cpu"
)

// NoBound as a longest length means that there is none.
const NoBound = -1

// WherePrefix returns the rows that begin with prefix, compared as bytes; every
// string begins with "". Null rows never match. Length and the first four bytes
// are compared as one word, so that payload is read only for the rest of a longer
// prefix. O(N), and the prefix's length more for each row that passes the first
// test.
func (c *Column) WherePrefix(prefix string) Selection { return c.WherePrefixInto(nil, prefix) }

// WherePrefixInto is [Column.WherePrefix] into the memory of dst.
func (c *Column) WherePrefixInto(dst Selection, prefix string) Selection {
	c.numberable()
	if prefix == "" {
		return c.WhereValidInto(dst)
	}
	dst = dst[:0]
	n := len(prefix)
	if n > MaxStringLen {
		return dst
	}
	key, mask := prefixKey(prefix)
	dst = c.appendMatches(dst, key, mask)
	if n <= 4 && prefix[n-1] != 0 {
		return dst // a shorter row has padding in its place, which is zero
	}
	k := 0
	for _, r := range dst {
		if uint32(c.views[r].lo) >= uint32(n) && (n <= 4 || c.At(int(r))[4:n] == prefix[4:]) {
			dst[k] = r
			k++
		}
	}
	return dst[:k]
}

// appendMatches appends the rows whose view agrees with key in the bits of mask of
// its first word, null rows among them.
func (c *Column) appendMatches(dst Selection, key, mask uint64) Selection {
	var marks rowMarks
	views := wordsOf(c.views)
	for i := 0; i < len(views); i += blockRows {
		block := views[i:min(i+blockRows, len(views))]
		words := marks[:(len(block)+63)/64]
		cpu.MatchViews(words, block, key, mask)
		dst = dst.appendOnes(words, i)
	}
	return dst
}

// prefixKey returns the first four bytes of s where a view's first word has them,
// and the mask of those bits.
func prefixKey(s string) (key, mask uint64) {
	for i := range min(len(s), 4) {
		key |= uint64(s[i]) << (32 + 8*i)
		mask |= 0xff << (32 + 8*i)
	}
	return key, mask
}

// WhereSuffix returns the rows that end with suffix, compared as bytes; every
// string ends with "". Null rows never match. O(N) and the suffix's length more
// for each row that is long enough.
func (c *Column) WhereSuffix(suffix string) Selection { return c.WhereSuffixInto(nil, suffix) }

// WhereSuffixInto is [Column.WhereSuffix] into the memory of dst.
func (c *Column) WhereSuffixInto(dst Selection, suffix string) Selection {
	c.numberable()
	if suffix == "" {
		return c.WhereValidInto(dst)
	}
	dst = dst[:0]
	for i := range c.views {
		if uint64(uint32(c.views[i].lo)) >= uint64(len(suffix)) && strings.HasSuffix(c.At(i), suffix) {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}

// WhereContains returns the rows that contain sub, compared as bytes; every
// string contains "". Null rows never match. It takes time linear in the payload
// of the rows that are long enough.
func (c *Column) WhereContains(sub string) Selection { return c.WhereContainsInto(nil, sub) }

// WhereContainsInto is [Column.WhereContains] into the memory of dst.
func (c *Column) WhereContainsInto(dst Selection, sub string) Selection {
	c.numberable()
	if sub == "" {
		return c.WhereValidInto(dst)
	}
	dst = dst[:0]
	for i := range c.views {
		if uint64(uint32(c.views[i].lo)) >= uint64(len(sub)) && strings.Contains(c.At(i), sub) {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}

// WhereEqual returns the rows that are s. Null rows never match, not even "". The
// payload is read only of rows that have the length and prefix of s. O(N), and
// the length of s more for each of those.
func (c *Column) WhereEqual(s string) Selection { return c.WhereEqualInto(nil, s) }

// WhereEqualInto is [Column.WhereEqual] into the memory of dst.
func (c *Column) WhereEqualInto(dst Selection, s string) Selection {
	c.numberable()
	if s == "" {
		return c.WhereLengthInto(dst, 0, 0)
	}
	dst = dst[:0]
	if len(s) > MaxStringLen {
		return dst
	}
	dst = c.appendMatches(dst, lengthAndPrefix(s), math.MaxUint64)
	if len(s) <= 4 {
		return dst
	}
	v, inline := InlineView(unsafe.Slice(unsafe.StringData(s), len(s)))
	k := 0
	for _, r := range dst {
		if inline && c.views[r].hi == v.hi || !inline && c.At(int(r))[4:] == s[4:] {
			dst[k] = r
			k++
		}
	}
	return dst[:k]
}

// lengthAndPrefix returns the first word of the view of s.
func lengthAndPrefix(s string) uint64 {
	key, _ := prefixKey(s)
	return key | uint64(uint32(len(s)))
}

// WhereIn returns the rows that are members of set. Null rows never match, not
// even where "" is a member. Rows are turned away by length and prefix before
// their payload is read. O(N) and the payload of the rows that pass that test,
// whatever the number of members.
func (c *Column) WhereIn(set *Set) Selection { return c.WhereInInto(nil, set) }

// WhereInInto is [Column.WhereIn] into the memory of dst.
func (c *Column) WhereInInto(dst Selection, set *Set) Selection {
	c.numberable()
	dst = dst[:0]
	for i := range c.views {
		if set.mayContain(c.views[i].lo) && set.Contains(c.At(i)) {
			dst = append(dst, uint32(i))
		}
	}
	if c.nulls > 0 && set.Contains("") {
		return c.dropNulls(dst)
	}
	return dst
}

// WhereLength returns the rows of shortest to longest bytes, both included. A
// shortest below 0 counts as 0, and a longest below 0, such as [NoBound], means
// that there is none. Null rows never match. O(N).
func (c *Column) WhereLength(shortest, longest int) Selection {
	return c.WhereLengthInto(nil, shortest, longest)
}

// WhereLengthInto is [Column.WhereLength] into the memory of dst.
func (c *Column) WhereLengthInto(dst Selection, shortest, longest int) Selection {
	c.numberable()
	dst = dst[:0]
	lo, hi := uint64(max(shortest, 0)), uint64(MaxStringLen)
	if longest >= 0 {
		hi = min(hi, uint64(longest))
	}
	switch {
	case lo > hi:
		return dst
	case lo == hi:
		dst = c.appendMatches(dst, lo, math.MaxUint32)
	default:
		dst = c.appendLengths(dst, lo, hi)
	}
	if lo == 0 {
		return c.dropNulls(dst)
	}
	return dst
}

// appendLengths appends the rows of lo to hi bytes, null rows as those of none.
func (c *Column) appendLengths(dst Selection, lo, hi uint64) Selection {
	var marks rowMarks
	for i := 0; i < len(c.views); i += blockRows {
		block := c.views[i:min(i+blockRows, len(c.views))]
		words := marks[:(len(block)+63)/64]
		for w := range words {
			var outside uint64
			rows := block[64*w : min(64*w+64, len(block))]
			for k := range rows {
				// Lengths below lo wrap around to far above hi. There is no branch, which
				// lengths in any order would make the processor guess wrong.
				_, far := bits.Sub64(hi-lo, uint64(uint32(rows[k].lo))-lo, 0)
				outside |= far << (k & 63)
			}
			words[w] = ^outside & (math.MaxUint64 >> (64 - len(rows)))
		}
		dst = dst.appendOnes(words, i)
	}
	return dst
}

// dropNulls removes null rows from s in place. Only predicates that hold for ""
// need it, since the view of a null row is that of "".
func (c *Column) dropNulls(s Selection) Selection {
	if c.nulls == 0 {
		return s
	}
	k := 0
	for _, r := range s {
		if c.valid.get(int(r)) {
			s[k] = r
			k++
		}
	}
	return s[:k]
}

// WhereNull returns the null rows. O(N).
func (c *Column) WhereNull() Selection { return c.WhereNullInto(nil) }

// WhereNullInto is [Column.WhereNull] into the memory of dst.
func (c *Column) WhereNullInto(dst Selection) Selection {
	c.numberable()
	if c.nulls == 0 {
		return dst[:0]
	}
	return c.valid.appendZeros(dst[:0], len(c.views))
}

// WhereValid returns the rows that are not null. O(N).
func (c *Column) WhereValid() Selection { return c.WhereValidInto(nil) }

// WhereValidInto is [Column.WhereValid] into the memory of dst.
func (c *Column) WhereValidInto(dst Selection) Selection {
	c.numberable()
	if c.nulls == 0 {
		return Selection(nil).NotInto(dst, len(c.views))
	}
	return c.valid.appendOnes(dst[:0], len(c.views))
}
