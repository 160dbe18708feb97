package text

import (
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// issuer is a range of the first four digits of a card number and the lengths that
// go with it, bit n for n digits.
type issuer struct {
	low, high uint16
	lengths   uint32
}

// lengths returns the set of the lengths from a to b.
func lengths(a, b uint) uint32 { return 1<<(b+1) - 1<<a }

// The ranges, from ISO/IEC 7812 and what the issuers publish. They may overlap.
var issuers = [...]issuer{
	{2200, 2204, lengths(16, 19)},           // Mir
	{2221, 2720, 1 << 16},                   // Mastercard
	{3000, 3059, lengths(14, 19)},           // Diners Club
	{3095, 3095, lengths(14, 19)},           // Diners Club
	{3400, 3499, 1 << 15},                   // American Express
	{3528, 3589, lengths(16, 19)},           // JCB
	{3600, 3699, lengths(14, 19)},           // Diners Club
	{3700, 3799, 1 << 15},                   // American Express
	{3800, 3999, lengths(14, 19)},           // Diners Club
	{4000, 4999, 1<<13 | 1<<16 | 1<<19},     // Visa
	{5000, 5099, lengths(minCard, maxCard)}, // Maestro
	{5100, 5599, 1 << 16},                   // Mastercard
	{5600, 6999, lengths(minCard, maxCard)}, // Maestro; UnionPay 62
	{6011, 6011, lengths(16, 19)},           // Discover
	{6440, 6599, lengths(16, 19)},           // Discover
}

const (
	minCard = 13
	maxCard = 19
)

// groupings are the ways to write a card number with separators, the one with more
// digits first.
var groupings = [...][5]uint8{
	{4, 4, 4, 4, 3}, {4, 4, 4, 4, 2}, {4, 4, 4, 4, 1}, {4, 4, 4, 4},
	{4, 6, 5}, {4, 6, 4}, {4, 4, 4, 1},
}

// findCards looks at each run of digits that has eight digits, or four and then, behind
// one byte, four more.
func findCards(dst []Span, r region, c *classes) []Span {
	b, end := r.blocks()
	var digit, four, start uint64 // of the block before
	if b > 0 {
		digit = c.blocks[b-1].Digit
		four = fourInARow(digit, 0)
		start = digit &^ (digit << 1)
	}
	for ; b < end; b++ {
		d := c.blocks[b].Digit
		f := fourInARow(d, digit)
		first := d &^ shifted(d, digit, 1)
		long := shifted(f, four, 4) & shifted(first, start, 7)
		grouped := shifted(f, four, 5) & shifted(first, start, 8)
		for m := f & (long | grouped) & r.window(b); m != 0; m &= m - 1 {
			p := b*cpu.BlockSize + bits.TrailingZeros64(m) - 8
			if long&m&-m != 0 {
				p++
			}
			if e := cardEnd(&r, p); e > 0 {
				dst = append(dst, Span{p, e, KindCard})
				r.lo = e
			}
		}
		digit, four, start = d, f, first
	}
	return dst
}

// fourInARow marks each digit with three digits before it.
func fourInARow(d, before uint64) uint64 {
	return d & shifted(d, before, 1) & shifted(d, before, 2) & shifted(d, before, 3)
}

// cardEnd returns the end of the card number that starts at p, 0 if there is none.
func cardEnd(r *region, p int) int {
	if p < r.lo || r.wordBefore(p) {
		return 0
	}
	switch r.at(p - 1) {
	case '.', '+', '-':
		return 0
	}
	e := r.runEnd(p, charDigit, maxCard+1)
	if n := e - p; n >= minCard {
		if n <= maxCard && isCard(r.s[p:e], n) && cardBorder(r, e) {
			return e
		}
		return 0
	}
	sep := r.at(e)
	if e-p != 4 || sep != ' ' && sep != '-' {
		return 0
	}
	// The groups are read once, whatever the number of groupings.
	var sizes [5]uint8
	var ends [5]int
	n := 0
	for q := p; n < len(sizes); n++ {
		e = r.runEnd(q, charDigit, 7)
		if e == q {
			break
		}
		sizes[n], ends[n] = uint8(e-q), e
		if r.at(e) != sep || e >= r.hi {
			n++
			break
		}
		q = e + 1
	}
	for i := range groupings {
		g, k, digits := &groupings[i], 0, 0
		for k < n && g[k] == sizes[k] {
			digits += int(g[k])
			k++
			if k == len(g) || g[k] == 0 {
				if e = ends[k-1]; isCard(r.s[p:e], digits) && cardBorder(r, e) {
					return e
				}
				break
			}
		}
	}
	return 0
}

// cardBorder says whether a card number may end at e.
func cardBorder(r *region, e int) bool {
	switch {
	case r.wordAt(e):
		return false
	case r.at(e) == '.':
		return !isIn(r.at(e+1), charDigit)
	case r.at(e) == '-':
		return !r.wordAt(e + 1)
	}
	return true
}

// isCard says whether s, n digits and separators, has the prefix and the length of an
// issuer and the check digit of ISO/IEC 7812-1, annex B (Luhn).
func isCard(s []byte, n int) bool {
	prefix := uint16(s[0]-'0')*1000 + uint16(s[1]-'0')*100 + uint16(s[2]-'0')*10 + uint16(s[3]-'0')
	known := false
	for i := range issuers {
		x := &issuers[i]
		if prefix >= x.low && prefix <= x.high && x.lengths>>uint(n)&1 != 0 {
			known = true
			break
		}
	}
	if !known {
		return false
	}
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if !isIn(s[i], charDigit) {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}
