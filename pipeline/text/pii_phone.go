package text

import (
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// Bounds of ITU-T E.164 on the digits of a number, and the length of a North American
// one with its country code.
const (
	minPhone           = 7
	maxPhone           = 15
	northAmericanPhone = 11
)

// findPhones looks at each run of digits: at an international number if '+' stands before
// it, at a North American one if not. Each place is read for some forty bytes at most.
func findPhones(dst []Span, r *region, anchors []anchorBlock) []Span {
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.phone & r.window(a.block); m != 0; m &= m - 1 {
			p := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			if p < r.lo {
				continue
			}
			start, e := p, 0
			switch r.at(p - 1) {
			case '+':
				start = p - 1
				e = internationalEnd(r, start)
			case '(':
				start = p - 1
				if e = northAmericanEnd(r, start); e > 0 {
					break
				}
				start = p
				fallthrough
			default:
				e = northAmericanEnd(r, start)
			}
			if e > 0 {
				dst = append(dst, Span{start, e, KindPhone})
				r.lo = e
			}
		}
	}
	return dst
}

func isPhoneJoint(b byte) bool { return b == ' ' || b == '.' || b == '-' }

// digits returns the length of the run of digits at p, one more than the longest number
// if it is longer.
func (r *region) digits(p int) int { return r.runEnd(p, charDigit, maxPhone+1) - p }

// phoneMayEnd says whether a number may end at e.
func phoneMayEnd(r *region, e int) bool {
	b := r.at(e)
	return !r.wordAt(e) && (b != '.' && b != '-' || !isIn(r.at(e+1), charDigit))
}

// internationalEnd returns the end of the number whose '+' is at p, 0 if there is none.
func internationalEnd(r *region, p int) int {
	if r.wordBefore(p) || r.at(p-1) == '+' || r.at(p+1) == '0' {
		return 0
	}
	least, most := minPhone, maxPhone
	if r.at(p+1) == '1' {
		least, most = northAmericanPhone, northAmericanPhone
	}
	first := p + 1
	total := r.digits(first)
	if total > most {
		return 0
	}
	e := first + total
	area := false
	if total <= 3 {
		if n, a := areaEnd(r, e); n > 0 && total+n <= most {
			total += n
			e = a
			area = true
		}
	}
	end, decimal := 0, false
	for groups := 0; ; groups++ {
		if total >= least && !decimal && phoneMayEnd(r, e) {
			end = e
		}
		joint := r.at(e)
		n := r.digits(e + 1)
		directly := groups == 0 && !area
		if !isPhoneJoint(joint) || n == 0 || total+n > most || n == 1 && joint != '-' && !directly {
			return end
		}
		decimal = directly && joint == '.'
		total += n
		e += 1 + n
	}
}

// areaEnd returns the number of digits and the end of a group in parentheses and the
// group behind it, which may start with a joint at p; 0 digits if they are not there.
func areaEnd(r *region, p int) (digits, end int) {
	if isPhoneJoint(r.at(p)) {
		p++
	}
	if r.at(p) != '(' {
		return 0, 0
	}
	p++
	n := r.digits(p)
	p += n
	if n < 1 || n > 4 || r.at(p) != ')' {
		return 0, 0
	}
	p++
	if isPhoneJoint(r.at(p)) {
		p++
	}
	behind := r.digits(p)
	if behind == 0 {
		return 0, 0
	}
	return n + behind, p + behind
}

// northAmericanEnd returns the end of the number that starts at p with 1, '(' or the area
// code, 0 if there is none.
func northAmericanEnd(r *region, p int) int {
	if r.wordBefore(p) {
		return 0
	}
	switch r.at(p - 1) {
	case '.', '+', '-':
		return 0
	}
	q := p
	country := r.at(q) == '1' && r.digits(q) == 1
	joined := true
	if country {
		q++
		if joined = isPhoneJoint(r.at(q)); joined {
			q++
		}
	}
	parens := r.at(q) == '('
	if parens {
		q++
	}
	if !parens && !joined || r.digits(q) != 3 || r.at(q) < '2' {
		return 0
	}
	q += 3
	one := r.at(q)
	if parens {
		if one != ')' {
			return 0
		}
		q++
		if isPhoneJoint(r.at(q)) {
			q++
		}
	} else {
		if !isPhoneJoint(one) {
			return 0
		}
		q++
	}
	if r.digits(q) != 3 {
		return 0
	}
	q += 3
	two := r.at(q)
	if !isPhoneJoint(two) || r.digits(q+1) != 4 {
		return 0
	}
	q += 5
	if !parens {
		if one != two && (one != ' ' || two != '-') {
			return 0
		}
		if !country && two == ' ' && r.at(p-1) == ' ' && isIn(r.at(p-2), charDigit) {
			return 0
		}
	}
	if !phoneMayEnd(r, q) {
		return 0
	}
	return q
}
