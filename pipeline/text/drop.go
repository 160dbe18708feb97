package text

import "fmt"

// Reason says why a record was dropped. A reason that is a bound has the bound's
// name, so that it can be matched with the option that set it.
type Reason uint8

// The reasons.
const (
	ReasonNone           Reason = iota // kept
	ReasonNull                         // the record has no text
	ReasonMinBytes                     // clean: fewer bytes than the bound
	ReasonMaxBytes                     // clean: more bytes than the bound
	ReasonMinChars                     // quality: fewer code points than the bound
	ReasonMinWords                     // quality: fewer words than the bound
	ReasonMinEntropy                   // quality: less entropy than the bound, bits per code point
	ReasonMaxRepetition                // quality: larger share of repeated word triples than the bound
	ReasonMaxSymbolRatio               // quality: more symbols per non-space code point than the bound
	ReasonDuplicate                    // dedup: value copies came before, bound 0
	reasonCount
)

var reasonNames = [reasonCount]string{
	"none", "null", "min_bytes", "max_bytes", "min_chars", "min_words", "min_entropy",
	"max_repetition", "max_symbol_ratio", "duplicate",
}

// String returns the code used in reports and rejects.
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Drop is one record that did not survive.
type Drop struct {
	Row    int    // row of the input column
	Stage  Stage  // where it was dropped
	Reason Reason // why
	Value  float64
	Bound  float64 // what Value was held against
}
