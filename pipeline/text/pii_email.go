package text

import (
	"bytes"
	"math/bits"
	"unicode/utf8"

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
func findEmails(dst []Span, r *region, anchors []anchorBlock) []Span {
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.at & r.window(a.block); m != 0; m &= m - 1 {
			dst = appendEmail(dst, r, a.block*cpu.BlockSize+bits.TrailingZeros64(m))
		}
	}
	return dst
}

// findEmailsAlone is findEmails where nothing else is searched, so that it pays to look
// for the '@' alone.
func findEmailsAlone(dst []Span, s []byte) []Span {
	r := region{s: s, hi: len(s)}
	for p := 0; ; p++ {
		i := bytes.IndexByte(s[p:], '@')
		if i < 0 {
			return dst
		}
		p += i
		dst = appendEmail(dst, &r, p)
	}
}

// appendEmail appends the address around the '@' at position at, if there is one, and
// moves the region behind it.
func appendEmail(dst []Span, r *region, at int) []Span {
	start := simpleLocalStart(r, at)
	if start == at {
		start = localStart(r, at)
	}
	if start == at {
		return dst
	}
	stop := simpleDomainEnd(r, at+1)
	if stop == 0 {
		stop = domainEnd(r, at+1)
	}
	if stop == 0 {
		return dst
	}
	r.lo = stop
	return append(dst, Span{start, stop, KindEmail})
}

// simpleLocalStart is localStart by the masks, for local parts of the usual kind; of
// others it knows nothing and returns at.
func simpleLocalStart(r *region, at int) int {
	b, i := at/cpu.BlockSize, uint(at%cpu.BlockSize)
	if b == 0 || b >= len(r.blocks) {
		return at
	}
	p, before := &r.blocks[b], &r.blocks[b-1]
	key := p.Key<<(cpu.BlockSize-i) | before.Key>>i // bit 63 is the byte before the '@'
	dot := p.Dot<<(cpu.BlockSize-i) | before.Dot>>i
	n := bits.LeadingZeros64(^key)
	start := at - n
	if n == 0 || n == 64 || start < r.lo {
		return at
	}
	dot >>= uint(64 - n) // those of the run, bit 0 its first byte
	if dot&(dot>>1|1|1<<uint(n-1)) != 0 || !isIn(r.s[start], charWord) {
		return at
	}
	if b := r.at(start - 1); b >= utf8.RuneSelf || isIn(b, charLocal) {
		return at
	}
	return start
}

// simpleDomainEnd is domainEnd by the masks, for domains without '-'; of others it knows
// nothing and returns 0.
func simpleDomainEnd(r *region, p int) int {
	b, i := p/cpu.BlockSize, uint(p%cpu.BlockSize)
	if b+1 >= len(r.blocks) {
		return 0
	}
	x, next := &r.blocks[b], &r.blocks[b+1]
	name := (x.Alnum|x.Dot)>>i | (next.Alnum|next.Dot)<<(cpu.BlockSize-i)
	dot := x.Dot>>i | next.Dot<<(cpu.BlockSize-i)
	digit := x.Digit>>i | next.Digit<<(cpu.BlockSize-i)
	n := bits.TrailingZeros64(^name)
	if n == 64 || p+n > r.hi {
		return 0
	}
	if b := r.at(p + n); b >= utf8.RuneSelf || isIn(b, charScore|charHyphen) {
		return 0
	}
	dot &= 1<<uint(n) - 1
	if n > 0 && dot>>uint(n-1) != 0 { // the end of a sentence
		n--
		dot &= 1<<uint(n) - 1
	}
	last := bits.Len64(dot) // where the last label starts
	if dot&(dot<<1|1) != 0 || last == 0 || n-last < 2 || digit<<uint(64-n)>>uint(64-n+last) != 0 {
		return 0
	}
	return p + n
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
