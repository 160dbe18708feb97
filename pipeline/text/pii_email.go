package text

import (
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// Bounds of RFC 5321, section 4.5.3.1, and of RFC 1035, section 2.3.4.
const (
	maxLocal  = 64
	maxDomain = 255
	maxLabel  = 63
)

// findEmails searches mail addresses around every '@'. Neither side of an address
// contains one, so that no byte is looked at more than twice.
func findEmails(dst []Span, r region, c *classes) []Span {
	b, end := r.blocks()
	for ; b < end; b++ {
		for m := c.blocks[b].At & r.window(b); m != 0; m &= m - 1 {
			at := b*cpu.BlockSize + bits.TrailingZeros64(m)
			start := localStart(&r, at)
			if start == at {
				continue
			}
			if stop := domainEnd(&r, at+1); stop > 0 {
				dst = append(dst, Span{start, stop, KindEmail})
				r.lo = stop
			}
		}
	}
	return dst
}

// localStart returns the start of the local part before the '@' at position at, or at
// if there is none.
func localStart(r *region, at int) int {
	if r.at(at-1) == '.' {
		return at
	}
	lo := max(r.lo, at-maxLocal)
	p := at
	for p > lo && isIn(r.s[p-1], charToken|charLocal) && (r.s[p-1] != '.' || r.s[p] != '.') {
		p--
	}
	for p < at && (!isIn(r.s[p], charWord) || r.wordBefore(p)) {
		p++
	}
	return p
}

// domainEnd returns the last possible end of the domain that starts at p, 0 if there
// is none.
func domainEnd(r *region, p int) int {
	found := 0
	limit := min(r.hi, p+maxDomain)
	for first := true; ; first = false {
		start := p
		p = r.runEnd(start, charLabel, limit-start)
		if p == start || r.s[start] == '-' {
			return found
		}
		if !first {
			if e := topLabelEnd(r, start, p); e > 0 {
				found = e
			}
		}
		if p-start > maxLabel || r.s[p-1] == '-' || p >= limit || r.s[p] != '.' {
			return found
		}
		p++
	}
}

// topLabelEnd returns the end of the top-level label at the start of the run of label
// characters from start to end, 0 if there is none.
func topLabelEnd(r *region, start, end int) int {
	if end-start > 4 && r.s[start]|0x20 == 'x' && r.s[start+1]|0x20 == 'n' && r.s[start+2] == '-' && r.s[start+3] == '-' {
		for e := min(end, start+maxLabel); e-start > 4; e-- {
			if isIn(r.s[e-1], charAlnum) && !r.wordAt(e) {
				return e
			}
		}
	}
	e := r.runEnd(start, charLetter, end-start)
	if e-start < 2 || e-start > maxLabel || r.wordAt(e) {
		return 0
	}
	return e
}
