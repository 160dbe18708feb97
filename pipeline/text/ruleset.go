package text

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// ruleSet is a published set of rules for quality. It is immutable.
type ruleSet interface {
	name() string
	// ready returns the set as it is used: with a rule for words, and if its
	// bounds are in range.
	ready(Words) (ruleSet, error)
	// apply judges a text. A set that takes parts of a text away returns what is
	// left, in memory of room if it is not a part of s; the others return s.
	apply(m *ruleMemory, s []byte, r room) ([]byte, Verdict)
}

// room gives memory for texts that are rewritten.
type room interface {
	// alloc returns n bytes of unspecified content.
	alloc(n int) []byte
}

// ruleMemory is the scratch memory of rule sets.
type ruleMemory struct {
	words  wordList
	grams  grams
	pieces repeatSet
	lines  lineMemory
}

// release gives up scratch that only an unusually long text needs.
func (m *ruleMemory) release() {
	m.words.release()
	m.grams.release()
	m.pieces.table.release()
	m.lines.release()
}

// countChars returns the number of code points of s; a byte that is not UTF-8 counts
// as one.
func countChars(s []byte) (n int) {
	const upper = 0x8080808080808080
	for len(s) > 0 {
		size := 1
		switch {
		case len(s) >= 8 && binary.LittleEndian.Uint64(s)&upper == 0:
			n, size = n+7, 8
		case s[0] >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(s)
		}
		n++
		s = s[size:]
	}
	return n
}

// checkBounds finds bounds that are not in range.
func checkBounds(preset string, bounds []float64) error {
	for _, x := range bounds {
		if math.IsNaN(x) || x < 0 {
			return fmt.Errorf("%w: a bound of %s is %v, want 0 or more", ErrOption, preset, x)
		}
	}
	return nil
}

// atLeast holds a value to a bound that is inclusive. NaN fails.
func atLeast(r Reason, value, bound float64) Verdict {
	if value >= bound {
		return Verdict{}
	}
	return Verdict{r, value, bound}
}

// atMost holds a value to a bound that is inclusive. NaN fails.
func atMost(r Reason, value, bound float64) Verdict {
	if value <= bound {
		return Verdict{}
	}
	return Verdict{r, value, bound}
}

// firstVerdict returns the first that drops the text.
func firstVerdict(verdicts ...Verdict) Verdict {
	for _, v := range verdicts {
		if !v.Kept() {
			return v
		}
	}
	return Verdict{}
}
