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

// The ranges, from ISO/IEC 7812 and what the issuers publish. They may overlap. None goes
// beyond its first digit.
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
	{5600, 5999, lengths(minCard, maxCard)}, // Maestro
	{6000, 6999, lengths(minCard, maxCard)}, // Maestro; UnionPay 62
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
func findCards(dst []Span, r *region, anchors []anchorBlock) []Span {
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.card & r.window(a.block); m != 0; m &= m - 1 {
			eighth := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			p := eighth - 7
			if !isIn(r.at(eighth-4), charDigit) {
				p--
			}
			if e := cardEnd(r, p); e > 0 {
				dst = append(dst, Span{p, e, KindCard})
				r.lo = e
			}
		}
	}
	return dst
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
	digits := r.digitWindow(p)
	n := bits.TrailingZeros64(^digits)
	e := p + n
	if n >= minCard {
		if n <= maxCard && isCard(r.s[p:e], n) && cardBorder(r, e) {
			return e
		}
		return 0
	}
	sep := r.at(e)
	if n != 4 || sep != ' ' && sep != '-' {
		return 0
	}
	// The groups are read once, whatever the number of groupings.
	var sizes [5]uint8
	var ends [5]int
	for q, n := p, 0; ; {
		size := bits.TrailingZeros64(^digits)
		if size == 0 {
			break
		}
		q += size
		sizes[n], ends[n] = uint8(size), q
		if n++; n == len(sizes) || q >= r.hi || r.s[q] != sep {
			break
		}
		q++
		digits >>= uint(size) + 1
	}
	for i := range groupings {
		g, k, count := &groupings[i], 0, 0
		for g[k] == sizes[k] {
			count += int(g[k])
			k++
			if k == len(g) || g[k] == 0 {
				if e = ends[k-1]; isCard(r.s[p:e], count) && cardBorder(r, e) {
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
	if !isIssued(prefix, n) {
		return false
	}
	sum, place := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if d := s[i] - '0'; d < 10 { // not a separator
			sum += int(luhn[place&1][d])
			place++
		}
	}
	return sum%10 == 0
}

// isIssued says whether an issuer has numbers of n digits of which prefix is the first
// four.
func isIssued(prefix uint16, n int) bool {
	for _, x := range issuersBy[prefix/1000] {
		if prefix >= x.low && prefix <= x.high && x.lengths>>uint(n)&1 != 0 {
			return true
		}
	}
	return false
}

// issuersBy has the ranges by their first digit.
var issuersBy = func() (t [10][]issuer) {
	for _, x := range issuers {
		t[x.low/1000] = append(t[x.low/1000], x)
	}
	return t
}()

// luhn is what a digit adds to the sum: itself, and in every second place from the right
// the sum of the digits of its double.
var luhn = [2][10]uint8{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 2, 4, 6, 8, 1, 3, 5, 7, 9}}
