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
	minKeyRun   = 15 // letters and digits in a row that no word has
	minMixedRun = 8  // the same if digits are among them
	minSecret   = 20 // a bearer token or named value
	minToken    = 18 // the shortest key with a prefix or a dot
)

// keyLike says whether s has an unbroken run of letters and digits that is no word, by
// its length or by its digits.
func keyLike(s []byte) bool {
	run, digits := 0, 0
	for _, b := range s {
		if !isIn(b, charAlnum) {
			run, digits = 0, 0
			continue
		}
		run++
		if isIn(b, charDigit) {
			digits++
		}
		if run >= minKeyRun || run >= minMixedRun && digits >= 2 && digits < run {
			return true
		}
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
func findKeyBlocks(dst []Span, r *region, anchors []anchorBlock) []Span {
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.dashes & r.window(a.block); m != 0; m &= m - 1 {
			start := a.block*cpu.BlockSize + bits.TrailingZeros64(m) - 4
			if start < r.lo || !bytes.HasPrefix(r.s[start:r.hi], []byte(keyBlockBegin)) {
				continue
			}
			if e := keyBlockEndAt(r, start); e > 0 {
				dst = append(dst, Span{start, e, KindKey})
			}
		}
	}
	return dst
}

// keyBlockEndAt returns the end of the private key that begins at start, 0 if there is
// none, and moves the region to where the search goes on.
func keyBlockEndAt(r *region, start int) int {
	r.lo = start + len(keyBlockBegin)
	body := keyBlockLabelEnd(r, r.lo)
	if body == 0 {
		return 0
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
		return 0
	}
	e := keyBlockLabelEnd(r, p+len(keyBlockEnd))
	if e > 0 {
		r.lo = e
	}
	return e
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

// findBearers searches what stands behind the word Bearer (RFC 6750, section 2.1): it
// looks in front of each run that may be a key.
func findBearers(dst []Span, r *region, anchors []anchorBlock) []Span {
	done := r.lo
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.from(done, a.key&r.window(a.block)); m != 0; m = a.from(done, m&(m-1)) {
			at := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			start := r.runStart(max(done, keyRunStart(r.blocks, at)), charToken|charBearer, done)
			done = min(r.hi, keyRunEnd(r.blocks, at, len(r.s)))
			done = r.runEnd(done, charToken|charBearer, r.hi-done)
			if x := bearerIn(r, start, done); x.End > 0 {
				dst = append(dst, x)
				r.lo = x.End
			}
		}
	}
	return dst
}

// bearerIn returns the span of the bearer token that is the run r.s[q:e], End 0 if it is
// none.
func bearerIn(r *region, q, e int) (x Span) {
	if e-q < minSecret {
		return x
	}
	word := q
	for word > r.lo && isBlank(r.s[word-1]) {
		word--
	}
	start := word - len(bearerWord)
	if word == q || start < r.lo || string(r.s[start:word]) != bearerWord || r.wordBefore(start) || r.wordAt(e) {
		return x
	}
	end := r.padEnd(e)
	if end == e {
		for e > q && !isIn(r.s[e-1], charAlnum) {
			e--
		}
		end = e
	}
	if e-q < minSecret || !r.keyLike(q, e) {
		return x
	}
	return Span{start, end, KindKey}
}

const bearerWord = "Bearer"

// findTokens searches keys with a known start in each run of characters that keys are
// made of. A run is cut at its dots; each piece is read once, and a few times more only
// if it starts like a JSON Web Token.
func findTokens(dst []Span, r *region, anchors []anchorBlock) []Span {
	done := r.lo
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.from(done, a.key&r.window(a.block)); m != 0; m = a.from(done, m&(m-1)) {
			at := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			start := max(done, keyRunStart(r.blocks, at))
			done = min(r.hi, keyRunEnd(r.blocks, at, len(r.s)))
			dst = findTokensInRun(dst, r, start, done)
		}
	}
	return dst
}

// findTokensInRun looks at the pieces between the dots of r.s[start:end].
func findTokensInRun(dst []Span, r *region, start, end int) []Span {
	for p := start; end-p >= minToken; {
		e := end
		if dot := bytes.IndexByte(r.s[p:end], '.'); dot >= 0 {
			e = p + dot
		}
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
	for _, x := range keyPrefixesBy[head[0]] {
		if len(head) >= len(x.text)+x.rest && string(head[:len(x.text)]) == x.text {
			if r.keyLike(p+len(x.text), e) {
				return e
			}
			return 0
		}
	}
	return 0
}

// keyPrefixesBy has the prefixes by their first byte.
var keyPrefixesBy = func() (t [256][]keyPrefix) {
	for _, x := range keyPrefixes {
		t[x.text[0]] = append(t[x.text[0]], x)
	}
	return t
}()

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

const (
	maxBlanks = 4 // in a row, on either side of the sign between name and value

	// maxSignGap is the most that may stand between the begin of a sign and a value: two
	// bytes of the sign, blanks, a scheme, blanks, a quote.
	maxSignGap = 2 + maxBlanks + len("ApiKey") + maxBlanks + 1
)

// findNamedValues searches values behind a name and a sign: it looks in front of each run
// that may be a key. Neither ':' nor '=' is part of a value, and what may stand
// between is bounded.
func findNamedValues(dst []Span, r *region, anchors []anchorBlock) []Span {
	done := r.lo
	for i := range anchors {
		a := &anchors[i]
		if r.ends(a.block) {
			break
		}
		for m := a.from(done, a.key&r.window(a.block)); m != 0; m = a.from(done, m&(m-1)) {
			at := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			start := r.runStart(at, charToken|charBase64, done)
			done = r.runEnd(at, charToken|charBase64, r.hi-at)
			if r.isNamedValue(start, done) {
				r.lo = r.padEnd(done)
				dst = append(dst, Span{start, r.lo, KindKey})
			}
		}
	}
	return dst
}

// isNamedValue says whether the run r.s[q:e] is a key with a name before it.
func (r *region) isNamedValue(q, e int) bool {
	return e-q >= minSecret && isIn(r.s[q], charAlnum) && r.signBefore(q) &&
		!r.wordAt(e) && r.at(e) != '(' && r.at(e) != '[' && isMixed(r.s[q:e]) && r.keyLike(q, e)
}

// signBefore says whether there is a sign before q whose value starts there and whose
// name is that of a key.
func (r *region) signBefore(q int) bool {
	end := r.at(q - 1)
	if end == '"' || end == '\'' || end == '`' {
		end = r.at(q - 2)
	}
	for p := q - 2; isBlank(end) && p >= r.lo && p >= q-maxSignGap; p-- {
		end = r.s[p]
	}
	switch end {
	case ':', '=', '>', 'c', 'n', 'y': // signs and schemes end so
	default:
		return false
	}
	for p := q - 1; p >= r.lo && p >= q-maxSignGap; p-- {
		if (r.s[p] == ':' || r.s[p] == '=') && r.valueStart(p) == q && r.keyNameBefore(p) {
			return true
		}
	}
	return false
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
