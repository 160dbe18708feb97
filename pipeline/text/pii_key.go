package text

import (
	"bytes"
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// keyPrefix is how the keys of one issuer start, and the least length of the rest.
type keyPrefix struct {
	text string
	rest int
}

// keyPrefixes have distinct starts: none is the prefix of another.
var keyPrefixes = [...]keyPrefix{
	{"AIza", 35}, // Google
	{"dop_v1_", minKeyRun}, {"ghp_", minKeyRun}, {"gho_", minKeyRun}, {"ghu_", minKeyRun},
	{"ghs_", minKeyRun}, {"ghr_", minKeyRun}, {"github_pat_", minKeyRun}, {"glpat-", minKeyRun},
	{"gsk_", minKeyRun}, {"hf_", minKeyRun}, {"lin_api_", minKeyRun}, {"npm_", minKeyRun},
	{"nvapi-", minKeyRun}, {"pk_live_", minKeyRun}, {"pk_test_", minKeyRun}, {"pypi-", minKeyRun},
	{"rk_live_", minKeyRun}, {"rk_test_", minKeyRun}, {"shpat_", minKeyRun}, {"sk-", minKeyRun},
	{"sk_live_", minKeyRun}, {"sk_test_", minKeyRun}, {"whsec_", minKeyRun}, {"xai-", minKeyRun},
	{"xapp-", minKeyRun}, {"xoxa-", minKeyRun}, {"xoxb-", minKeyRun}, {"xoxe-", minKeyRun},
	{"xoxp-", minKeyRun}, {"xoxr-", minKeyRun}, {"xoxs-", minKeyRun},
}

const (
	minKeyRun    = 15 // letters and digits in a row that no word has
	minMixedRun  = 8  // the same if digits are among them
	minSecret    = 20 // a bearer token or named value
	minToken     = 18 // the shortest key with a prefix or a dot
	minKeyAnchor = 16 // the run of classKey that starts a search, a power of two ≤ minToken
)

// keyLike says whether s has an unbroken run of letters and digits that is no word, by
// its length or by its digits.
func keyLike(s []byte) bool {
	run, digits := 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isIn(s[i], charAlnum) {
			run++
			if isIn(s[i], charDigit) {
				digits++
			}
			continue
		}
		if run >= minKeyRun || run >= minMixedRun && digits >= 2 && digits < run {
			return true
		}
		run, digits = 0, 0
	}
	return false
}

const (
	keyBlockBegin = "-----BEGIN "
	keyBlockEnd   = "-----END "
	keyBlockLabel = "PRIVATE KEY-----"
)

// findKeyBlocks searches private keys in the text encoding of RFC 7468. No body has
// five dashes in a row, so that the search goes on where a body stopped.
func findKeyBlocks(dst []Span, r region, _ *classes) []Span {
	for {
		i := bytes.Index(r.s[r.lo:r.hi], []byte(keyBlockBegin))
		if i < 0 {
			return dst
		}
		start := r.lo + i
		r.lo = start + len(keyBlockBegin)
		body := keyBlockLabelEnd(&r, r.lo)
		if body == 0 {
			continue
		}
		p := body
		for dashes := 0; p < r.hi; p++ {
			if r.s[p] == '-' {
				if dashes++; dashes == 5 {
					p++
					break
				}
				continue
			}
			if !isIn(r.s[p], charBlock) {
				break
			}
			dashes = 0
		}
		// The next block may begin with the dashes that ended this body.
		p = r.runStart(p, charHyphen, body)
		r.lo = p
		if !bytes.HasPrefix(r.s[p:r.hi], []byte(keyBlockEnd)) {
			continue
		}
		if e := keyBlockLabelEnd(&r, p+len(keyBlockEnd)); e > 0 {
			dst = append(dst, Span{start, e, KindKey})
			r.lo = e
		}
	}
}

// keyBlockLabelEnd returns the end of the label of a private key that starts at p, 0 if
// there is none.
func keyBlockLabelEnd(r *region, p int) int {
	const maxAlgorithm = 32 // "RSA ", "ENCRYPTED " …
	head := r.s[p:min(r.hi, p+maxAlgorithm+len(keyBlockLabel))]
	i := bytes.Index(head, []byte(keyBlockLabel))
	if i < 0 {
		return 0
	}
	for _, b := range head[:i] {
		if b != ' ' && (b < 'A' || b > 'Z') && !isIn(b, charDigit) {
			return 0
		}
	}
	return p + i + len(keyBlockLabel)
}

// findBearers searches what stands behind the word Bearer (RFC 6750, section 2.1).
// Blanks come first, so that each run is read for one Bearer only.
func findBearers(dst []Span, r region, _ *classes) []Span {
	const word = "Bearer"
	for p := r.lo; ; {
		i := bytes.Index(r.s[p:r.hi], []byte(word))
		if i < 0 {
			return dst
		}
		start := p + i
		p = start + len(word)
		q := p
		for q < r.hi && isBlank(r.s[q]) {
			q++
		}
		if q == p || r.wordBefore(start) {
			continue
		}
		e := r.runEnd(q, charToken|charBearer, r.hi-q)
		if r.wordAt(e) {
			continue
		}
		end := r.padEnd(e)
		if end == e {
			for e > q && !isIn(r.s[e-1], charAlnum) {
				e--
			}
			end = e
		}
		if e-q >= minSecret && keyLike(r.s[q:e]) {
			dst = append(dst, Span{start, end, KindKey})
			r.lo, p = end, end
		}
	}
}

// findTokens searches keys with a known start in each run of characters that keys are
// made of. A run is cut at its dots; each piece is read once, and a few times more only
// if it starts like a JSON Web Token.
func findTokens(dst []Span, r region, c *classes) []Span {
	b, end := r.blocks()
	var k1, k2, k4, k8 uint64 // of the block before: runs of 1, 2, 4 and 8 that end at a bit
	if b > 0 {
		k1 = c.blocks[b-1].Key
		k2 = k1 & shifted(k1, 0, 1)
		k4 = k2 & shifted(k2, 0, 2)
		k8 = k4 & shifted(k4, 0, 4)
	}
	done := r.lo
	for ; b < end; b++ {
		r1 := c.blocks[b].Key
		r2 := r1 & shifted(r1, k1, 1)
		r4 := r2 & shifted(r2, k2, 2)
		r8 := r4 & shifted(r4, k4, 4)
		r16 := r8 & shifted(r8, k8, 8)
		k1, k2, k4, k8 = r1, r2, r4, r8
		for m := r16 & r.window(b); m != 0; m &= m - 1 {
			i := b*cpu.BlockSize + bits.TrailingZeros64(m)
			if i < done {
				continue
			}
			// A run that goes on in the next block sets a bit there too: done tells.
			start := max(done, i-minKeyAnchor+1)
			start = r.runStart(start, charToken|charDot, done)
			done = r.runEnd(i, charToken|charDot, r.hi-i)
			dst = findTokensInRun(dst, &r, start, done)
		}
	}
	return dst
}

// findTokensInRun looks at the pieces between the dots of r.s[start:end].
func findTokensInRun(dst []Span, r *region, start, end int) []Span {
	for p := start; end-p >= minToken; {
		e := r.runEnd(p, charToken, end-p)
		for p < e {
			first, stop := tokenIn(r, p, e, end)
			if stop == 0 {
				break
			}
			dst = append(dst, Span{first, stop, KindKey})
			r.lo, p = stop, stop
		}
		p = max(p, e) + 1
	}
	return dst
}

// tokenIn returns the token at the start of the piece r.s[p:e], the dashes before it left
// out; stop 0 if there is none. A token with dots may go on to end.
func tokenIn(r *region, p, e, end int) (first, stop int) {
	first = p
	for first < e && !isIn(r.s[first], charAlnum) {
		first++
	}
	// A ']' may be the end of what was masked: behind it, dashes must not free a key more
	// than the word that stood there did.
	if first == e || r.wordBefore(p) || first > p && r.at(p-1) == ']' {
		return first, 0
	}
	if stop = dottedTokenEnd(r, first, e, end); stop == 0 {
		stop = prefixedKeyEnd(r, first, e)
	}
	return first, stop
}

// dottedTokenEnd returns the end of the token with dots in it whose first piece is
// r.s[p:e], 0 if there is none. It does not look beyond end.
func dottedTokenEnd(r *region, p, e, end int) int {
	var pieces, least, most int // pieces behind the first, the least length of each
	switch head := r.s[p:e]; {
	case string(head) == "SG":
		pieces, most, least = 2, 2, 16
	case string(head) == "ya29":
		pieces, most, least = 1, 1, minSecret
	case len(head) >= 13 && head[0] == 'e' && head[1] == 'y' && head[2] == 'J':
		pieces, most, least = 2, 4, 10
	default:
		return 0
	}
	found := 0
	for k := 1; k <= most && e < end && r.s[e] == '.'; k++ {
		q := e + 1
		e = r.runEnd(q, charToken, end-q)
		if e-q < least {
			break
		}
		if k >= pieces && !r.wordAt(e) {
			found = e
		}
	}
	return found
}

// prefixedKeyEnd returns the end of the key that starts at p if r.s[p:e], a whole run of
// token characters but for its start, is one; 0 if not.
func prefixedKeyEnd(r *region, p, e int) int {
	if e-p < minToken {
		return 0
	}
	if end := p + accessKeyLen; end <= e && isAccessKey(r.s[p:end]) && !r.wordAt(end) {
		return end
	}
	if r.wordAt(e) {
		return 0
	}
	for !isIn(r.s[e-1], charAlnum) {
		e-- // stops at p at the latest
	}
	head := r.s[p:e]
	switch head[0] {
	case 'A', 'd', 'g', 'h', 'l', 'n', 'p', 'r', 's', 'w', 'x':
	default:
		return 0
	}
	for i := range keyPrefixes {
		x := &keyPrefixes[i]
		if len(head) >= len(x.text)+x.rest && string(head[:len(x.text)]) == x.text {
			if keyLike(head[len(x.text):]) {
				return e
			}
			return 0
		}
	}
	return 0
}

// accessKeyLen is the length of an access key of AWS: the only key with a fixed one.
const accessKeyLen = 20

// isAccessKey says whether s, accessKeyLen bytes, is an access key of AWS.
func isAccessKey(s []byte) bool {
	if s[0] != 'A' || string(s[1:4]) != "KIA" && string(s[1:4]) != "SIA" {
		return false
	}
	for _, b := range s[4:] {
		if !isIn(b, charDigit) && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}

// padEnd returns the end of the padding of base64 at p, at most two '='.
func (r *region) padEnd(p int) int {
	e := p
	for e < p+2 && r.at(e) == '=' {
		e++
	}
	return e
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// keyNames end the name of a value that is a key, in lower case and without the '_' or
// '-' that may stand before "key".
var keyNames = [...]string{"apikey", "accesskey", "secretkey", "privatekey", "accountkey", "secret", "token", "authorization"}

// keySchemes may stand between a name and its value in an HTTP header.
var keySchemes = [...]string{"Basic", "Token", "ApiKey"}

const maxBlanks = 4 // in a row, on either side of the sign between name and value

// findNamedValues searches values around every ':' and '='. Neither is part of a name or
// a value, and what may stand between is bounded.
func findNamedValues(dst []Span, r region, _ *classes) []Span {
	colon, equal := r.lo-1, r.lo-1
	for p := r.lo; ; p++ {
		colon, equal = r.next(':', colon, p), r.next('=', equal, p)
		if p = min(colon, equal); p >= r.hi {
			return dst
		}
		if !r.keyNameBefore(p) {
			continue
		}
		q := r.valueStart(p)
		e := r.runEnd(q, charToken|charBase64, r.hi-q)
		if e-q < minSecret || !isIn(r.s[q], charAlnum) || r.wordAt(e) || r.at(e) == '(' || r.at(e) == '[' ||
			!isMixed(r.s[q:e]) || !keyLike(r.s[q:e]) {
			continue
		}
		e = r.padEnd(e)
		dst = append(dst, Span{q, e, KindKey})
		r.lo, p = e, e-1
	}
}

// next returns the first b at or after p, or r.hi, given the one it returned before.
func (r *region) next(b byte, last, p int) int {
	if last >= p {
		return last
	}
	if i := bytes.IndexByte(r.s[p:r.hi], b); i >= 0 {
		return p + i
	}
	return r.hi
}

// keyNameBefore says whether one of keyNames stands before the sign at p.
func (r *region) keyNameBefore(p int) bool {
	for n := 0; n < maxBlanks && isBlank(r.at(p-1)) && p > r.lo; n++ {
		p--
	}
	if b := r.at(p - 1); b == '"' || b == '\'' {
		p--
	}
	for _, name := range keyNames {
		if r.endsWith(p, name) {
			return true
		}
	}
	return false
}

// endsWith says whether the name ends at p, in any case, with or without a '_' or '-'
// before its last word if that is "key".
func (r *region) endsWith(p int, name string) bool {
	const key = len("key")
	for i := len(name) - 1; i >= 0; i-- {
		p--
		if i == len(name)-1-key && name[i+1:] == "key" && (r.at(p) == '_' || r.at(p) == '-') {
			p--
		}
		if r.at(p)|0x20 != name[i] {
			return false
		}
	}
	return true
}

// valueStart returns where the value behind the sign at p must start.
func (r *region) valueStart(p int) int {
	sign := r.at(p)
	p++
	if next := r.at(p); sign == ':' && next == '=' || sign == '=' && next == '>' {
		p++
	}
	p = r.skipBlanks(p)
	for _, scheme := range keySchemes {
		if bytes.HasPrefix(r.s[p:r.hi], []byte(scheme)) && isBlank(r.at(p+len(scheme))) {
			p = r.skipBlanks(p + len(scheme))
			break
		}
	}
	if b := r.at(p); b == '"' || b == '\'' || b == '`' {
		p++
	}
	return p
}

// skipBlanks returns where the blanks at p end, or where there are too many of them.
func (r *region) skipBlanks(p int) int {
	for n := 0; n < maxBlanks && p < r.hi && isBlank(r.s[p]); n++ {
		p++
	}
	return p
}

// isMixed says whether s has a letter and two digits, or one digit and letters of
// both cases.
func isMixed(s []byte) bool {
	lower, upper, digits := false, false, 0
	for _, b := range s {
		switch {
		case isIn(b, charDigit):
			digits++
		case isIn(b, charLetter) && b >= 'a':
			lower = true
		case isIn(b, charLetter):
			upper = true
		}
	}
	return digits >= 2 && (lower || upper) || digits == 1 && lower && upper
}
