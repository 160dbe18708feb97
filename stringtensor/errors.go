package stringtensor

import "errors"

var (
	// ErrStringTooLong is returned when a string is longer than a buffer may be.
	ErrStringTooLong = errors.New("stringtensor: string too long")

	// ErrOffsetOverflow is returned when the payload of a column does not fit
	// the offsets it was asked for; split the column, or ask for wider ones.
	ErrOffsetOverflow = errors.New("stringtensor: offset overflow")

	// ErrOutOfRange is returned when a row is not in the column.
	ErrOutOfRange = errors.New("stringtensor: row out of range")

	// ErrInvalid is returned when a column, or bytes it is to be built from,
	// break the layout. The error names the first bad row or offset.
	ErrInvalid = errors.New("stringtensor: invalid layout")

	// ErrInvalidUTF8 is returned when a string is not UTF-8.
	ErrInvalidUTF8 = errors.New("stringtensor: invalid UTF-8")
)
