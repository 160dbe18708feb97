package source

import "fmt"

// Policy says what becomes of a text or id that cannot be written as UTF-8.
type Policy uint8

// The policies.
const (
	Reject  Policy = iota // the line is not a record
	Replace               // U+FFFD in its place, counted in [Stats.Replaced]
)

// DecoderOption changes how a [Decoder] works.
type DecoderOption func(*decoderConfig)

type decoderConfig struct {
	textKey, idKey string
	surrogates     Policy
	invalidUTF8    Policy
	maxDepth       int
	metadata       metadataNames
}

// maxNesting is the largest value of [WithMaxDepth].
const maxNesting = 10_000

func defaultDecoderConfig() decoderConfig {
	return decoderConfig{textKey: "text", idKey: "id", maxDepth: 1000}
}

// WithTextKey sets the dotted path of the text; default "text". Segments are
// names, or indexes where the value is an array. A member that is called by the
// whole rest of the path, dots included, wins over one called by the next
// segment. Empty segments do not count: "." is the whole record. The path must
// not be "".
func WithTextKey(path string) DecoderOption {
	return func(c *decoderConfig) { c.textKey = path }
}

// WithIDKey sets the dotted path of the id; default "id". With "" each id is
// "file:line".
func WithIDKey(path string) DecoderOption {
	return func(c *decoderConfig) { c.idKey = path }
}

// WithSurrogates says what becomes of \u escapes that are half of a surrogate
// pair (U+D800 to U+DFFF); default [Reject].
func WithSurrogates(p Policy) DecoderOption {
	return func(c *decoderConfig) { c.surrogates = p }
}

// WithInvalidUTF8 says what becomes of bytes that are not UTF-8, surrogates
// written as three bytes among them; default [Reject]. With [Replace] each byte
// that belongs to no sequence becomes one U+FFFD.
func WithInvalidUTF8(p Policy) DecoderOption {
	return func(c *decoderConfig) { c.invalidUTF8 = p }
}

// WithMaxDepth sets how deep arrays and objects may be nested; default 1000,
// range 1 to 10,000.
func WithMaxDepth(n int) DecoderOption {
	return func(c *decoderConfig) { c.maxDepth = n }
}

func (c decoderConfig) validate() error {
	switch {
	case c.textKey == "":
		return fmt.Errorf("%w: WithTextKey(\"\"); use \".\" for the whole record", ErrOption)
	case c.surrogates > Replace:
		return fmt.Errorf("%w: WithSurrogates(%d)", ErrOption, c.surrogates)
	case c.invalidUTF8 > Replace:
		return fmt.Errorf("%w: WithInvalidUTF8(%d)", ErrOption, c.invalidUTF8)
	case c.maxDepth < 1 || c.maxDepth > maxNesting:
		return fmt.Errorf("%w: WithMaxDepth(%d) is not from 1 to %d", ErrOption, c.maxDepth, maxNesting)
	}
	return c.metadata.validate()
}
