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
	ReasonMaxChars                     // quality: more code points than the bound
	ReasonMinWords                     // quality: fewer words than the bound
	ReasonMinEntropy                   // quality: less entropy than the bound, bits per code point
	ReasonMaxRepetition                // quality: larger share of repeated word triples than the bound
	ReasonMaxSymbolRatio               // quality: more symbols per non-space code point than the bound
	ReasonDuplicate                    // dedup: the text has come before (value 1, bound 0)
	reasonCount
)

var reasonNames = [reasonCount]string{
	"none", "null", "min_bytes", "max_bytes", "min_chars", "max_chars", "min_words",
	"min_entropy", "max_repetition", "max_symbol_ratio", "duplicate",
}

// String returns the code used in reports and rejects.
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Verdict is what a stage says of one text. The zero value keeps it.
type Verdict struct {
	Reason Reason  // why it is dropped; ReasonNone when it is kept
	Value  float64 // what was measured
	Bound  float64 // what Value was held against
}

// Kept reports whether the text is kept.
func (v Verdict) Kept() bool { return v.Reason == ReasonNone }

// Drop is one record that did not survive.
type Drop struct {
	Row   int   // row of the input column
	Stage Stage // where it was dropped
	Verdict
}
