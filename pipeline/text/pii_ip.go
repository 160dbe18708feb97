package text

import (
	"bytes"
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// findIPs looks at each run of hex digits, dots and colons that has dots among digits,
// or two colons close to each other.
func findIPs(dst []Span, r *region, anchors []anchorBlock) []Span {
	done := r.lo
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.from(done, a.ip&r.window(a.block)); m != 0; m = a.from(done, m&(m-1)) {
			at := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			start, end := numberRun(r, at)
			if start < done || isIn(r.at(start-1), charAddress) || isIn(r.at(end), charAddress) {
				start = r.runStart(at, charAddress, done)
				end = r.runEnd(at, charAddress, r.hi-at)
			}
			done = end
			dst = findIPsInRun(dst, r, start, end)
		}
	}
	return dst
}

// numberRun returns the run of digits and dots that the digit at position at is in, or as
// much of it as lies within 64 bytes on each side.
func numberRun(r *region, at int) (start, end int) {
	b, i := at/cpu.BlockSize, uint(at%cpu.BlockSize)
	x := r.blocks[b].Digit | r.blocks[b].Dot
	before, behind := x<<(cpu.BlockSize-i), x>>i
	if b > 0 {
		p := &r.blocks[b-1]
		before |= (p.Digit | p.Dot) >> i
	}
	if b+1 < len(r.blocks) {
		p := &r.blocks[b+1]
		behind |= (p.Digit | p.Dot) << (cpu.BlockSize - i)
	}
	return at - bits.LeadingZeros64(^before), min(r.hi, at+bits.TrailingZeros64(^behind))
}

// findIPsInRun looks at r.s[start:end], a whole run of the characters of addresses. A
// version 6 address can only be a whole run of hex digits and colons in it, and each
// place where a version 4 address may start is read for 15 bytes at most, so that the
// time is linear.
func findIPsInRun(dst []Span, r *region, start, end int) []Span {
	tried := start // where the runs of hex digits and colons are tried up to
	if bytes.IndexByte(r.s[start:end], ':') < 0 {
		tried = end
	}
	for p := start; p < end; p++ {
		first, e := p, 0
		if p >= tried && r.s[p] != '.' {
			tried = r.runEnd(p, charHex|charColon, end-p)
			first, e = ip6In(r, p, tried)
		}
		if e == 0 {
			first, e = p, ip4At(r, p)
		}
		if e > 0 {
			dst = append(dst, Span{first, e, KindIP})
			r.lo, p, tried = e, e-1, e
		}
	}
	return dst
}

// addressMayStart says whether what stands before p allows an address there.
func addressMayStart(r *region, p int) bool {
	if r.wordBefore(p) {
		return false
	}
	switch r.at(p - 1) {
	case '.':
		return false
	case '-', '/', '+', '~':
		// A bracket may be the end of what was masked: it must not allow more than the
		// word character that stood there.
		return !r.wordBefore(p-1) && r.at(p-2) != ']'
	}
	return true
}

// dottedOn says whether a word or a dot and a word go on at e.
func dottedOn(r *region, e int) bool {
	return r.wordAt(e) || r.at(e) == '.' && r.wordAt(e+1)
}

// ip4At returns the end of the address of version 4 that starts at p, 0 if there is
// none.
func ip4At(r *region, p int) int {
	if !isIn(r.s[p], charDigit) || !addressMayStart(r, p) {
		return 0
	}
	e := quadEnd(r, p)
	if e == 0 || dottedOn(r, e) || isVersion(r, p) {
		return 0
	}
	switch r.at(e) {
	case '-', '+', '~':
		if r.letterAt(e + 1) {
			return 0
		}
	}
	return e
}

// quadEnd returns the end of the four numbers of a version 4 address that start at p,
// 0 if there are not four.
func quadEnd(r *region, p int) int {
	digits := r.digitWindow(p)
	for n := 0; ; n++ {
		size := bits.TrailingZeros64(^digits)
		if size == 0 || size > 3 || size > 1 && r.s[p] == '0' {
			return 0
		}
		if size == 3 && int(r.s[p]-'0')*100+int(r.s[p+1]-'0')*10+int(r.s[p+2]-'0') > 255 {
			return 0
		}
		p += size
		if n == 3 {
			return p
		}
		if r.at(p) != '.' {
			return 0
		}
		p++
		digits >>= uint(size) + 1
	}
}

// versionWords are what stands before a number that is a version, or a section, and not
// an address.
var versionWords = [...]string{
	"v", "ver", "version", "release", "build", "rev", "revision", "firmware", "section", "chapter",
}

// isVersion says whether what stands before the dotted number at p makes it a version.
func isVersion(r *region, p int) bool {
	if r.at(p-1) == '=' {
		switch r.at(p - 2) {
		case '=', '<', '>', '~', '!':
			return true
		}
	}
	p = skipQuoteBack(r, p)
	for n := 0; n < 2 && p > r.lo; n++ {
		switch {
		case isBlank(r.s[p-1]):
			p--
		case r.s[p-1] == 0xa0 && r.at(p-2) == 0xc2: // U+00A0, which typesetters put there
			p -= 2
		}
	}
	switch r.at(p - 1) {
	case '.', ':', '=':
		p--
	}
	p = skipQuoteBack(r, p)
	switch r.at(p-1) | 0x20 {
	case 'v', 'r', 'n', 'e', 'd': // the words end so
	default:
		return false
	}
	const longest = len("revision")
	start := r.runStart(p, charLetter, max(r.lo, p-longest-1))
	if r.wordBefore(start) && r.at(start-1) != '_' {
		return false
	}
	for _, w := range versionWords {
		if equalFold(r.s[start:p], w) {
			return true
		}
	}
	return false
}

// skipQuoteBack returns the position before the quote that ends at p, p if none does.
func skipQuoteBack(r *region, p int) int {
	if b := r.at(p - 1); b == '"' || b == '\'' {
		p--
	}
	return p
}

// equalFold says whether s, letters only, is w in any ASCII case.
func equalFold(s []byte, w string) bool {
	if len(s) != len(w) {
		return false
	}
	for i, b := range s {
		if b|0x20 != w[i] {
			return false
		}
	}
	return true
}

// ip6In returns the address of version 6 in the run of hex digits and colons from p to
// q, with the dotted numbers behind it if they belong to it; end 0 if there is none.
func ip6In(r *region, p, q int) (start, end int) {
	colons, last := 0, 0
	for i := p; i < q; i++ {
		if r.s[i] == ':' {
			colons++
			last = i
		}
	}
	if colons < 2 {
		return p, 0
	}
	// Brackets here for the same reason as in addressMayStart.
	if r.s[p] == ':' && r.at(p-1) == ']' || r.s[q-1] == ':' && r.at(q) == '[' {
		return p, 0
	}
	if r.s[p] == ':' && r.s[p+1] != ':' {
		p++
	}
	if !addressMayStart(r, p) {
		return p, 0
	}
	groups, end, embedded := r.s[p:q], q, false
	if r.at(q) == '.' {
		if e := quadEnd(r, last+1); e > 0 {
			groups, end, embedded = r.s[p:last+1], e, true
		}
	} else if last == q-1 && r.s[q-2] != ':' {
		end = q - 1
		groups = r.s[p:end]
	}
	if dottedOn(r, end) {
		return p, 0
	}
	switch ip6FormOf(groups, embedded) {
	case ip6None:
		return p, 0
	case ip6Short:
		if r.at(p-1) == '[' || r.at(end) == ']' { // x[::2] is a slice
			return p, 0
		}
		if r.at(end-1) == ':' && !(r.at(end) == '/' && isIn(r.at(end+1), charDigit)) { // f64:: is a scope
			return p, 0
		}
	}
	return p, end
}

// ip6Form is how much a text looks like an address of version 6.
type ip6Form uint8

const (
	ip6None  ip6Form = iota
	ip6Short         // as short as what code writes, such as 1::3
	ip6Sure
)

// ip6FormOf says whether s is a text form of RFC 4291, section 2.2, without the
// version 4 part that is embedded behind it, and looks like an address and not like
// code.
func ip6FormOf(s []byte, embedded bool) ip6Form {
	groups, pairs, fours, digits := 0, 0, 0, 0
	compressed := false
	i := 0
	if len(s) >= 2 && s[0] == ':' && s[1] == ':' {
		compressed = true
		i = 2
	}
	for i < len(s) {
		j := i
		for j < len(s) && isIn(s[j], charHex) {
			if isIn(s[j], charDigit) {
				digits++
			}
			j++
		}
		switch j - i {
		case 2:
			pairs++
		case 4:
			fours++
		case 1, 3:
		default:
			return ip6None
		}
		groups++
		switch {
		case j == len(s):
			i = j
		case j+1 < len(s) && s[j+1] == ':':
			if compressed {
				return ip6None
			}
			compressed = true
			i = j + 2
		case j+1 == len(s):
			if !embedded {
				return ip6None
			}
			i = j + 1
		default:
			i = j + 1
		}
	}
	valid := groups == 8
	switch {
	case embedded && compressed:
		valid = groups <= 5
	case embedded:
		valid = groups == 6
	case compressed:
		valid = groups <= 7
	}
	switch {
	case !valid:
		return ip6None
	case embedded:
		return ip6Sure
	case digits == 0 || pairs == 8:
		return ip6None
	case groups < 3 && fours == 0 && string(s) != "::1":
		return ip6Short
	}
	return ip6Sure
}
