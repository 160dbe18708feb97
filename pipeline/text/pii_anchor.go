package text

import (
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// anchorBlock says where in a block of 64 bytes personal data may be: bit i of a mask
// is byte i. Each span has an anchor of its kind in it, so that a block without
// anchors is never looked at again, and most texts have none at all.
type anchorBlock struct {
	block  int
	dashes uint64 // the last of five characters in a row out of - and _
	key    uint64 // in a run that may be a key
	at     uint64 // @
	card   uint64 // the last of eight digits, or four and four, at the start of their run
	ip     uint64 // within an address of IP version 4 or 6
	phone  uint64 // the first of a run of digits
}

// from returns the bits of m that stand at p or behind it: a run has many anchors, and is
// read for the first. Where a run ends is not always behind its anchor, so that a loop has
// to clear the bit it has seen as well.
func (a *anchorBlock) from(p int, m uint64) uint64 {
	n := uint(max(p-a.block*cpu.BlockSize, 0))
	return m >> n << n
}

// maskIf returns a mask of ones for true.
func maskIf(on bool) uint64 {
	if on {
		return ^uint64(0)
	}
	return 0
}

// findAnchors appends the blocks of c that hold an anchor of a kind that is on. It
// costs some forty operations a block, and some sixty more where there are digits.
func findAnchors(dst []anchorBlock, c *classes, on *[kindCount]bool) []anchorBlock {
	keys, ats := maskIf(on[KindKey]), maskIf(on[KindEmail])
	cards, ips, phones := maskIf(on[KindCard]), maskIf(on[KindIP]), maskIf(on[KindPhone])
	var k2, k4, k8 uint64 // of the block before: where runs of 2, 4 and 8 end
	before := &cpu.Block{}
	for b := range c.blocks {
		p := &c.blocks[b]
		// A run of 15, as no word of prose is long, or one of 8 with a digit in it. The
		// runs are those of keys with a dot; in a key that may have slashes such a run
		// is a part.
		r2 := p.Key & shifted(p.Key, before.Key, 1)
		r4 := r2 & shifted(r2, k2, 2)
		r8 := r4 & shifted(r4, k4, 4)
		key := r8 & shifted(r8, k8, minKeyRun-8)
		k2, k4, k8 = r2, r4, r8
		dash, dashBefore := dashesOf(p), dashesOf(before)
		dashes := dash & shifted(dash, dashBefore, 1)
		if dashes != 0 {
			dashes &= shifted(dash, dashBefore, 2) & shifted(dash, dashBefore, 3) & shifted(dash, dashBefore, 4)
		}
		card, ip, phone := uint64(0), uint64(0), uint64(0)
		if p.Digit|before.Digit>>(cpu.BlockSize-minMixedRun+1) != 0 {
			key |= r8 & digitWithin8(p.Digit, before.Digit)
			card = cardAnchors(p.Digit, before.Digit) & cards
			ip = ip4Anchors(p, before)
			phone = p.Digit &^ shifted(p.Digit, before.Digit, 1) & phones
		}
		if p.Colon != 0 {
			ip |= p.Colon & withinBack(p.Colon, before.Colon, 1, 5)
		}
		dashes, key, ip = dashes&keys, key&keys, ip&ips
		at := p.At & ats
		if dashes|key|at|card|ip|phone != 0 {
			dst = append(dst, anchorBlock{b, dashes, key, at, card, ip, phone})
		}
		before = p
	}
	return dst
}

// dashesOf marks each - and _.
func dashesOf(b *cpu.Block) uint64 { return b.Key &^ (b.Alnum | b.Dot) }

// digitWithin8 marks each byte that has a digit among itself and the seven before it.
func digitWithin8(d, before uint64) uint64 {
	d |= d << 1
	d |= d << 2
	d |= d << 4
	// The last digit of the block before reaches furthest.
	return d | 1<<bits.Len64(before>>57) - 1
}

// withinBack marks each byte that has one of x from first to last bytes before it.
func withinBack(x, before uint64, first, last uint) uint64 {
	m := uint64(0)
	for n := first; n <= last; n++ {
		m |= shifted(x, before, n)
	}
	return m
}

// cardAnchors marks the eighth digit of each run, and behind a run of four and one byte
// the fourth of the next.
func cardAnchors(d, before uint64) uint64 {
	f, fBefore := fourInARow(d, before), fourInARow(before, 0)
	m := f & (shifted(f, fBefore, 4) | shifted(f, fBefore, 5))
	if m == 0 {
		return 0
	}
	first, firstBefore := d&^shifted(d, before, 1), before&^(before<<1)
	return m & (shifted(f, fBefore, 4)&shifted(first, firstBefore, 7) | shifted(f, fBefore, 5)&shifted(first, firstBefore, 8))
}

// fourInARow marks each digit with three digits before it.
func fourInARow(d, before uint64) uint64 {
	return d & shifted(d, before, 1) & shifted(d, before, 2) & shifted(d, before, 3)
}

// ip4Anchors marks each digit behind a dot and a digit that has another such digit from
// two to four bytes before it: the third and the fourth number of an address have
// one, decimals have none.
func ip4Anchors(p, before *cpu.Block) uint64 {
	m := p.Digit & shifted(p.Dot, before.Dot, 1) & shifted(p.Digit, before.Digit, 2)
	if m == 0 {
		return 0
	}
	// In the block before, what its own first two bits lack is too far back to matter.
	mBefore := before.Digit & (before.Dot << 1) & (before.Digit << 2)
	return m & withinBack(m, mBefore, 2, 4)
}

// search names the search of one kind or form.
type search uint8

const (
	searchKeyBlocks search = iota
	searchBearers
	searchTokens
	searchNamedValues
	searchEmails
	searchCards
	searchIPs
	searchPhones
)

// run appends the spans of one kind or form within a region, in order. Anchors are
// those of the blocks of the region, and may go on behind it. It may move r.lo: what
// it has found is a wall to the rest of its search.
//
// The calls are direct ones, so that the region stays on the stack and is not copied.
func (f search) run(dst []Span, r *region, anchors []anchorBlock) []Span {
	switch f {
	case searchKeyBlocks:
		return findKeyBlocks(dst, r, anchors)
	case searchBearers:
		return findBearers(dst, r, anchors)
	case searchTokens:
		return findTokens(dst, r, anchors)
	case searchNamedValues:
		return findNamedValues(dst, r, anchors)
	case searchEmails:
		return findEmails(dst, r, anchors)
	case searchCards:
		return findCards(dst, r, anchors)
	case searchIPs:
		return findIPs(dst, r, anchors)
	default:
		return findPhones(dst, r, anchors)
	}
}

// searchGaps runs f on what lies between the spans dst[base:] and puts what it
// finds in its place among them. The time is that of f plus O(spans).
func searchGaps(dst []Span, base int, s []byte, c *classes, f search) []Span {
	anchors := c.anchors
	old := len(dst)
	lo := 0
	var r region
	r.s, r.blocks = s, c.blocks
	for i := base; i <= old && len(anchors) > 0; i++ {
		r.lo, r.hi = lo, len(s)
		if i < old {
			r.hi = dst[i].Start
			lo = dst[i].End
		}
		dst = f.run(dst, &r, anchors)
		for len(anchors) > 0 && anchors[0].block < lo/cpu.BlockSize {
			anchors = anchors[1:]
		}
	}
	if old == base || old == len(dst) || dst[old-1].Start < dst[old].Start {
		return dst
	}
	return mergeSpans(dst, base, old)
}

// mergeSpans merges the sorted runs dst[base:mid] and dst[mid:], from the back, with
// a copy of the second behind them as the only scratch.
func mergeSpans(dst []Span, base, mid int) []Span {
	end := len(dst)
	dst = append(dst, dst[mid:]...)
	i, j := mid-1, len(dst)-1
	for w := end - 1; j >= end; w-- {
		if i >= base && dst[i].Start > dst[j].Start {
			dst[w] = dst[i]
			i--
		} else {
			dst[w] = dst[j]
			j--
		}
	}
	return dst[:end]
}

// window returns a mask of the bits of block b that lie in the region, none for a block
// before or behind it.
func (r *region) window(b int) uint64 {
	first, last := r.lo-b*cpu.BlockSize, r.hi-b*cpu.BlockSize
	if first >= cpu.BlockSize || last <= 0 {
		return 0
	}
	m := ^uint64(0) << uint(max(first, 0))
	if last < cpu.BlockSize {
		m &= 1<<uint(last) - 1
	}
	return m
}

// ends says whether block b lies behind the region.
func (r *region) ends(b int) bool { return b*cpu.BlockSize >= r.hi }

// shifted returns the mask x moved up by n bits, 0 < n < 64, with what falls out of
// the mask of the block before.
func shifted(x, before uint64, n uint) uint64 { return x<<n | before>>(64-n) }
