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

	// Of the rule sets of quality, see [GopherMetrics], [C4Metrics] and [FinewebMetrics].
	ReasonGopherMinWords                   // fewer words than the bound
	ReasonGopherMaxWords                   // more words than the bound
	ReasonGopherMinMeanWordLength          // shorter words than the bound
	ReasonGopherMaxMeanWordLength          // longer words than the bound
	ReasonGopherMaxHashRatio               // more # a word than the bound
	ReasonGopherMaxEllipsisRatio           // more ellipses a word than the bound
	ReasonGopherMaxBulletLines             // larger share of lines that begin with a bullet
	ReasonGopherMaxEllipsisLines           // larger share of lines that end with an ellipsis
	ReasonGopherMinAlphabeticWords         // smaller share of words with a letter
	ReasonGopherMinStopWords               // fewer of the stop words than the bound
	ReasonGopherMaxDuplicateParagraphs     // larger share of repeated paragraphs
	ReasonGopherMaxDuplicateParagraphChars // larger share of code points in them
	ReasonGopherMaxDuplicateLines          // larger share of repeated lines
	ReasonGopherMaxDuplicateLineChars      // larger share of code points in them
	ReasonGopherMaxTop2Grams               // larger share of the most frequent 2 words in a row
	ReasonGopherMaxTop3Grams               // larger share of the most frequent 3 words in a row
	ReasonGopherMaxTop4Grams               // larger share of the most frequent 4 words in a row
	ReasonGopherMaxDuplicate5Grams         // larger share of repeated 5 words in a row
	ReasonGopherMaxDuplicate6Grams         // larger share of repeated 6 words in a row
	ReasonGopherMaxDuplicate7Grams         // larger share of repeated 7 words in a row
	ReasonGopherMaxDuplicate8Grams         // larger share of repeated 8 words in a row
	ReasonGopherMaxDuplicate9Grams         // larger share of repeated 9 words in a row
	ReasonGopherMaxDuplicate10Grams        // larger share of repeated 10 words in a row
	ReasonC4LoremIpsum                     // a line says lorem ipsum (value 1, bound 0)
	ReasonC4CurlyBracket                   // a line has a { (value 1, bound 0)
	ReasonC4MinSentences                   // fewer sentences in the lines that stay than the bound
	ReasonFinewebMinPunctuatedLines        // smaller share of lines that end a sentence
	ReasonFinewebMaxShortLines             // larger share of short lines
	ReasonFinewebMaxDuplicateLineChars     // larger share of code points in repeated lines
	ReasonFinewebMaxNewlineRatio           // more ends of lines a word than the bound
	reasonCount
)

var reasonNames = [reasonCount]string{
	"none", "null", "min_bytes", "max_bytes", "min_chars", "max_chars", "min_words",
	"min_entropy", "max_repetition", "max_symbol_ratio", "duplicate",
	"gopher_min_words",
	"gopher_max_words",
	"gopher_min_mean_word_length",
	"gopher_max_mean_word_length",
	"gopher_max_hash_ratio",
	"gopher_max_ellipsis_ratio",
	"gopher_max_bullet_lines",
	"gopher_max_ellipsis_lines",
	"gopher_min_alphabetic_words",
	"gopher_min_stop_words",
	"gopher_max_duplicate_paragraphs",
	"gopher_max_duplicate_paragraph_chars",
	"gopher_max_duplicate_lines",
	"gopher_max_duplicate_line_chars",
	"gopher_max_top_2_grams",
	"gopher_max_top_3_grams",
	"gopher_max_top_4_grams",
	"gopher_max_duplicate_5_grams",
	"gopher_max_duplicate_6_grams",
	"gopher_max_duplicate_7_grams",
	"gopher_max_duplicate_8_grams",
	"gopher_max_duplicate_9_grams",
	"gopher_max_duplicate_10_grams",
	"c4_lorem_ipsum",
	"c4_curly_bracket",
	"c4_min_sentences",
	"fineweb_min_punctuated_lines",
	"fineweb_max_short_lines",
	"fineweb_max_duplicate_line_chars",
	"fineweb_max_newline_ratio",
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
