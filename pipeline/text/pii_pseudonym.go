package text

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"net/netip"
	"slices"
	"sync"
	"unsafe"
)

const (
	// pseudonymDigits is the length of a pseudonym: 62 bits, so that among a million
	// values two share one with a chance of one in ten million. Twenty digits would be a
	// key behind the word that stands before them.
	pseudonymDigits = 16

	// minPseudonymKey is the least length of a key in bytes.
	minPseudonymKey = 16
)

// WithPseudonyms lets values of the kinds, of all kinds and rules if none is named, be
// replaced by pseudonyms, such as [EMAIL:c31f08e4a5b7d296]: the same value gets the same
// one wherever it stands, and who lacks the key cannot tell the value, nor whether a value
// that he guesses is the right one. It is HMAC-SHA-256 of the kind and the value, cut to 16
// hexadecimal digits; docs/pii.md has what counts as the same value. The key must be of 16
// bytes at least, from a source of randomness, and is copied.
//
// Options that come later win, so that [WithReplacement] can take a kind out again.
func WithPseudonyms(key []byte, kinds ...Kind) PIIOption {
	return func(m *PIIMasker) error {
		if len(key) < minPseudonymKey {
			return fmt.Errorf("%w: a key of %d bytes is too short for pseudonyms, which need %d", ErrOption, len(key), minPseudonymKey)
		}
		if m.pseudonyms != nil && !hmac.Equal(m.pseudonyms.key, key) {
			return fmt.Errorf("%w: there are two keys for pseudonyms; use one", ErrOption)
		}
		m.pseudonyms = &pseudonyms{key: slices.Clone(key)}
		if len(kinds) == 0 {
			for k := range m.replacements {
				m.replacements[k].pseudonym = true
			}
		}
		for _, k := range kinds {
			if int(k) >= maskedKinds {
				return fmt.Errorf("%w: no kind of personal data has the number %d", ErrOption, k)
			}
			m.replacements[k] = replacement{pseudonym: true, given: true}
		}
		return nil
	}
}

// pseudonyms makes pseudonyms by a key.
type pseudonyms struct {
	key  []byte
	pool sync.Pool // of *pseudonymScratch
}

// pseudonymScratch is what one goroutine makes a pseudonym with.
type pseudonymScratch struct {
	mac   hash.Hash
	value []byte
	sum   [sha256.Size]byte
}

// pseudonymLen returns the length of a pseudonym with its label.
func pseudonymLen(label string) int { return len("[:]") + len(label) + pseudonymDigits }

// append appends the pseudonym of a value of kind k, which the masker m knows.
func (p *pseudonyms) append(dst []byte, m *PIIMasker, k Kind, value []byte) []byte {
	x, _ := p.pool.Get().(*pseudonymScratch)
	if x == nil {
		x = &pseudonymScratch{mac: hmac.New(sha256.New, p.key)}
	}
	x.value = append(append(x.value[:0], m.names[k]...), 0)
	x.value = appendNormal(x.value, k, value)
	x.mac.Reset()
	x.mac.Write(x.value)
	sum := x.mac.Sum(x.sum[:0])

	dst = append(dst, '[')
	dst = append(dst, m.labels[k]...)
	dst = append(dst, ':')
	// A letter first: sixteen digits could be the number of a card.
	dst = append(dst, "abcdef"[sum[0]>>4%6], hexDigits[sum[0]&15])
	for _, b := range sum[1 : pseudonymDigits/2] {
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	p.pool.Put(x)
	return append(dst, ']')
}

const hexDigits = "0123456789abcdef"

// appendNormal appends the form of a value that all ways to write it share.
func appendNormal(dst []byte, k Kind, value []byte) []byte {
	switch k {
	case KindEmail:
		for _, b := range value {
			if b >= 'A' && b <= 'Z' {
				b |= 0x20
			}
			dst = append(dst, b)
		}
		return dst
	case KindCard:
		return appendDigits(dst, value)
	case KindPhone:
		// Without a country code a number is a North American one.
		n := len(dst)
		dst = appendDigits(dst, value)
		if value[0] != '+' && len(dst)-n == northAmericanPhone-1 {
			dst = slices.Insert(dst, n, '1')
		}
		return dst
	case KindIP:
		// The parser takes a string and keeps none unless it fails.
		if a, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(value), len(value))); err == nil {
			return a.AppendTo(dst)
		}
	case KindKey:
		if rest, ok := cutBearer(value); ok {
			value = rest
		}
	}
	return append(dst, value...)
}

func appendDigits(dst, value []byte) []byte {
	for _, b := range value {
		if isIn(b, charDigit) {
			dst = append(dst, b)
		}
	}
	return dst
}

// cutBearer returns the token of a value that begins with Bearer.
func cutBearer(value []byte) ([]byte, bool) {
	n := len(bearerWord)
	if len(value) <= n || string(value[:n]) != bearerWord || !isBlank(value[n]) {
		return value, false
	}
	for n < len(value) && isBlank(value[n]) {
		n++
	}
	return value[n:], true
}
