package stringtensor

import "errors"

var (
	// ErrStringTooLong is returned when a string is longer than a buffer, or a
	// part of a split, may be.
	ErrStringTooLong = errors.New("stringtensor: string too long")

	// ErrTooManyRows is returned when a column would have more than 2³²−1 rows,
	// which row numbers could not name, or 2²⁷−1 where int has 32 bits, which
	// memory could not hold.
	ErrTooManyRows = errors.New("stringtensor: too many rows")

	// ErrOffsetOverflow is returned when the payload of a column does not fit
	// the offsets it was asked for; split the column, or ask for wider ones.
	ErrOffsetOverflow = errors.New("stringtensor: offset overflow")

	// ErrOutOfRange is returned when a row is not in the column.
	ErrOutOfRange = errors.New("stringtensor: row out of range")

	// ErrLengthMismatch is returned when a list that goes with the rows of a
	// column, such as a mask, has another length.
	ErrLengthMismatch = errors.New("stringtensor: length mismatch")

	// ErrShortBuffer is returned when memory that the caller gave for a result is
	// too small. Nothing was written.
	ErrShortBuffer = errors.New("stringtensor: short buffer")

	// ErrInvalid is returned when a column, or bytes it is to be built from,
	// break the layout. The error names the first bad row or offset.
	ErrInvalid = errors.New("stringtensor: invalid layout")

	// ErrInvalidUTF8 is returned when a string is not UTF-8.
	ErrInvalidUTF8 = errors.New("stringtensor: invalid UTF-8")
)
