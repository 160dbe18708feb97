package stringtensor

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

var (
	// ErrUnsupportedType is returned when an Arrow type holds no strings, or an
	// [ArrowType] does not exist or does not fit the call.
	ErrUnsupportedType = errors.New("stringtensor: unsupported Arrow type")
)

// ArrowType is the Arrow type a column is exported as.
type ArrowType uint8

// The types of [Column.ToArrow]. The views share the column's memory; the
// others are packed into new offsets and payload.
const (
	ArrowStringView  ArrowType = iota // utf8_view
	ArrowString                       // utf8: int32 offsets, at most 2³¹−1 bytes
	ArrowLargeString                  // large_utf8: int64 offsets
	ArrowStringAuto                   // ArrowString where the payload fits, else ArrowLargeString
	ArrowBinaryView                   // binary_view
	ArrowBinary                       // binary: int32 offsets, at most 2³¹−1 bytes
	ArrowLargeBinary                  // large_binary: int64 offsets
	ArrowBinaryAuto                   // ArrowBinary where the payload fits, else ArrowLargeBinary
)

// String returns the name of the type as Arrow writes it.
func (t ArrowType) String() string {
	names := [...]string{"utf8_view", "utf8", "large_utf8", "utf8 or large_utf8",
		"binary_view", "binary", "large_binary", "binary or large_binary"}
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("ArrowType(%d)", uint8(t))
}

// ArrowOption changes how arrays are taken from Arrow and given to it.
type ArrowOption func(*arrowConfig)

type arrowConfig struct {
	rawBinary bool
	checkUTF8 bool
	limit     int
}

// WithRawBinary takes binary arrays as they are when v is true. By default
// their rows must be UTF-8.
func WithRawBinary(v bool) ArrowOption { return func(c *arrowConfig) { c.rawBinary = v } }

// WithUTF8Check checks the rows of string arrays for UTF-8 when v is true. By
// default the producer is trusted to have kept Arrow's rule that they are;
// whatever they hold, reading them is safe.
func WithUTF8Check(v bool) ArrowOption { return func(c *arrowConfig) { c.checkUTF8 = v } }

// WithArrowLimit sets how many payload bytes one buffer, or one array with
// int32 offsets, may hold, from MaxInline+1 to [MaxStringLen], the default;
// values outside are moved to the nearer end. Tests lower it to reach the limits
// with little memory.
func WithArrowLimit(n int) ArrowOption {
	return func(c *arrowConfig) { c.limit = min(max(n, MaxInline+1), MaxStringLen) }
}

func newArrowConfig(opts []ArrowOption) arrowConfig {
	c := arrowConfig{limit: MaxStringLen}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// isStringLike reports whether [FromArrow] takes arrays of type t.
func isStringLike(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return isStringLike(t.StorageType())
	case *arrow.DictionaryType:
		return t.ValueType.ID() != arrow.DICTIONARY && isStringLike(t.ValueType)
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW,
		arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.NULL:
		return true
	}
	return false
}

// recovered turns a panic of the Arrow library into an error. It is deferred at
// every border where bytes that nobody has checked reach that library.
func recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%w: %w", ErrInvalid, p)
	default:
		*err = fmt.Errorf("%w: %v", ErrInvalid, p)
	}
}

// claimAllocator lets an Arrow buffer give claims back: Arrow frees a buffer's
// memory by its allocator when the last user is gone.
type claimAllocator struct{ claims []*Buffer }

var _ arrowmem.Allocator = claimAllocator{}

// Allocate is never called: the buffers of a claimAllocator do not grow.
func (claimAllocator) Allocate(int) []byte { panic("stringtensor: a borrowed buffer cannot grow") }

// Reallocate is never called either.
func (claimAllocator) Reallocate(int, []byte) []byte {
	panic("stringtensor: a borrowed buffer cannot grow")
}

// Free gives the claims back.
func (a claimAllocator) Free([]byte) {
	for _, b := range a.claims {
		b.Release()
	}
}

// lend wraps data in an Arrow buffer that holds claims until Arrow releases it.
func lend(data []byte, claims []*Buffer) *arrowmem.Buffer {
	if len(claims) == 0 {
		return arrowmem.NewBufferBytes(data)
	}
	for _, b := range claims {
		b.Retain()
	}
	return arrowmem.NewBufferWithAllocator(data, claimAllocator{claims})
}
