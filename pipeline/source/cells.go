package source

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rosaline-go/rosaline/cpu"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// cells are the values of a column as texts. The zero value has none.
type cells struct {
	column   *stringtensor.Column
	number   bool           // the values are numbers
	faults   map[int]*fault // of rows whose value is no text
	replaced map[int]int    // of rows: U+FFFD put in place of bytes that are not UTF-8
}

// fault says why a value is no text.
type fault struct {
	reason BadReason
	detail string
}

func (c *cells) fault(row int) *fault { return c.faults[row] }

// has reports whether there is a value in a row.
func (c *cells) has(row int) bool { return c.column != nil && !c.column.IsNull(row) }

func (c *cells) release() {
	if c.column != nil {
		c.column.Release()
	}
}

// cellsOf returns the values of a column. Strings are not copied: those of any Arrow type
// of strings or bytes, and of dictionaries of them. Numbers and truth values become the
// text they have in JSON; numbers with a fraction are written as [Decoder] does, but as
// they stand if verbatim.
func cellsOf(a arrow.Array, cfg *decoderConfig, verbatim bool) (cells, error) {
	column, err := stringtensor.FromArrow(a, stringtensor.WithUTF8Check(true))
	switch {
	case err == nil:
		return cells{column: column}, nil
	case errors.Is(err, stringtensor.ErrInvalidUTF8):
		return dubiousCells(a, cfg)
	case !errors.Is(err, stringtensor.ErrUnsupportedType):
		return cells{}, corrupt(err)
	}
	if err := ValidateArray(a); err != nil {
		return cells{}, corrupt(err)
	}
	write := numberWriter(a, verbatim)
	if write == nil {
		return cells{}, fmt.Errorf("its values are %v, which is no text; name another column", a.DataType())
	}
	c := cells{number: a.DataType().ID() != arrow.BOOL}
	var b stringtensor.Builder
	b.Reserve(a.Len(), 0)
	var buf []byte
	for row := range a.Len() {
		if a.IsNull(row) {
			b.AppendNull()
			continue
		}
		var err error
		if buf, err = write(buf[:0], row); err != nil {
			c.set(row, BadNumber, err.Error())
		}
		if err := b.Append(buf); err != nil {
			return cells{}, err
		}
	}
	c.column = b.Finish()
	return c, nil
}

func (c *cells) set(row int, reason BadReason, detail string) {
	if c.faults == nil {
		c.faults = make(map[int]*fault)
	}
	c.faults[row] = &fault{reason, detail}
}

// dubiousCells are the values of a column of which some are not UTF-8.
func dubiousCells(a arrow.Array, cfg *decoderConfig) (cells, error) {
	raw, err := stringtensor.FromArrow(a, stringtensor.WithRawBinary(true))
	if err != nil {
		return cells{}, corrupt(err)
	}
	c := cells{column: raw}
	if cfg.invalidUTF8 == Reject {
		for row := range raw.Len() {
			if s := raw.Bytes(row); !cpu.ValidUTF8(s) {
				c.set(row, BadUTF8, invalidDetail(s))
			}
		}
		return c, nil
	}
	defer raw.Release()
	c.replaced = make(map[int]int)
	var b stringtensor.Builder
	b.Reserve(raw.Len(), 0)
	var buf []byte
	for row := range raw.Len() {
		s := raw.Bytes(row)
		switch {
		case raw.IsNull(row):
			b.AppendNull()
			continue
		case !cpu.ValidUTF8(s):
			c.replaced[row], _ = invalidBytes(s)
			buf = appendValid(buf[:0], s)
			s = buf
		}
		if err := b.Append(s); err != nil {
			return cells{}, err
		}
	}
	c.column = b.Finish()
	return c, nil
}

// invalidDetail says what is wrong with bytes that are not UTF-8.
func invalidDetail(s []byte) string {
	n, first := invalidBytes(s)
	return fmt.Sprintf("bytes that are not UTF-8: %d, the first is 0x%02x at byte %d", n, s[first], first+1)
}

var errNotFinite = errors.New("it is not a finite number")

// numberWriter returns what appends the text of a row of a; nil if its values are no
// numbers and no truth values.
func numberWriter(a arrow.Array, verbatim bool) func(dst []byte, row int) ([]byte, error) {
	switch a := a.(type) {
	case *array.Boolean:
		return func(dst []byte, row int) ([]byte, error) { return strconv.AppendBool(dst, a.Value(row)), nil }
	case *array.Int8:
		return signed(a.Value)
	case *array.Int16:
		return signed(a.Value)
	case *array.Int32:
		return signed(a.Value)
	case *array.Int64:
		return signed(a.Value)
	case *array.Uint8:
		return unsigned(a.Value)
	case *array.Uint16:
		return unsigned(a.Value)
	case *array.Uint32:
		return unsigned(a.Value)
	case *array.Uint64:
		return unsigned(a.Value)
	case *array.Float16:
		return func(dst []byte, row int) ([]byte, error) {
			return appendFloat(dst, float64(a.Value(row).Float32()), 32, verbatim)
		}
	case *array.Float32:
		return func(dst []byte, row int) ([]byte, error) {
			return appendFloat(dst, float64(a.Value(row)), 32, verbatim)
		}
	case *array.Float64:
		return func(dst []byte, row int) ([]byte, error) { return appendFloat(dst, a.Value(row), 64, verbatim) }
	case *array.Decimal32:
		return decimals(a, a.Value)
	case *array.Decimal64:
		return decimals(a, a.Value)
	case *array.Decimal128:
		return decimals(a, a.Value)
	case *array.Decimal256:
		return decimals(a, a.Value)
	}
	return nil
}

func signed[T int8 | int16 | int32 | int64](value func(int) T) func([]byte, int) ([]byte, error) {
	return func(dst []byte, row int) ([]byte, error) { return strconv.AppendInt(dst, int64(value(row)), 10), nil }
}

// decimals writes as many digits behind the point as the type has.
func decimals[T interface{ ToString(scale int32) string }](a arrow.Array, value func(int) T) func([]byte, int) ([]byte, error) {
	scale := a.DataType().(arrow.DecimalType).GetScale()
	return func(dst []byte, row int) ([]byte, error) { return append(dst, value(row).ToString(scale)...), nil }
}

func unsigned[T uint8 | uint16 | uint32 | uint64](value func(int) T) func([]byte, int) ([]byte, error) {
	return func(dst []byte, row int) ([]byte, error) { return strconv.AppendUint(dst, uint64(value(row)), 10), nil }
}

// appendFloat appends the shortest decimal of a number of so many bits.
func appendFloat(dst []byte, f float64, bits int, verbatim bool) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, errNotFinite
	}
	if verbatim {
		return strconv.AppendFloat(dst, f, 'g', -1, bits), nil
	}
	var buf [32]byte
	return appendNumber(dst, strconv.AppendFloat(buf[:0], f, 'e', -1, bits))
}
